"""Checkers: whatever is called proven is computed here, from the examples and a witness, and rounded outward."""
