"""Data of the paper's experiments."""
