"""Examples on their way to a pass: matrices, labels, chunks and their checksums."""
