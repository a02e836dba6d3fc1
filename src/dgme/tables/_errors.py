class TableError(ValueError):
    """A table cannot be used as it stands; one line says where, why, and what helps."""
