"""The faces that River's users know."""
