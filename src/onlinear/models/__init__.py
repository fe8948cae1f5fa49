"""What has been learned, at rest: the state in memory, the model file, and checkpoints."""
