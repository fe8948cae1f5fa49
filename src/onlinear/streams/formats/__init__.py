"""The formats that files come in."""
