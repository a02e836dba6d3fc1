"""Settings of the paper's experiments: what the paper says, or why something else was chosen."""
