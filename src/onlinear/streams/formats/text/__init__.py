"""Numbers and libsvm lines out of bytes."""
