"""Solvers in floating point, which look for witnesses; nothing that they find is believed before it is checked."""
