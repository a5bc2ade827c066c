"""Training over a stream: what the labels ask for, the loop, its curve and its summary."""
