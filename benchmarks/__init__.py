"""How fast dgme is, next to PyTorch and to the floor that the arithmetic sets: `make bench`."""
