"""Random draws that depend on nothing but (seed, round), so no block size or restart shows in them."""

from __future__ import annotations

GAMMA = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_MASK = 0xFFFFFFFFFFFFFFFF


def unsigned(n: int) -> int:
    """Return n modulo 2⁶⁴ (in compiled code: as an unsigned integer)."""
    return int(n) & _MASK


def mix(z: int) -> int:
    """Scramble 64 bits (the finaliser of splitmix64)."""
    z = ((z ^ (z >> 30)) * _MIX_1) & _MASK
    z = ((z ^ (z >> 27)) * _MIX_2) & _MASK
    return z ^ (z >> 31)


def uniform(seed: int, t: int) -> float:
    """Return the draw of round t, uniform on [0, 1)."""
    # The seed is scrambled first: seeds 1, 2, 3, … must not give the same stream, one round apart.
    z = (mix((unsigned(seed) + GAMMA) & _MASK) + (unsigned(t) * GAMMA & _MASK)) & _MASK
    return (mix(z) >> 11) * 2.0**-53
