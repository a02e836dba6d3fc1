"""The experiments of the paper, ours beside theirs."""
