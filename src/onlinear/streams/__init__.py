"""Where examples come from: sources of rows, their labels, and the blocks that passes run over."""
