class TableError(ValueError):
    """A table cannot be used as it stands; one line says where, why, and what helps."""


def name_some(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:8])) or "no columns"
    return shown + (f" and {len(names) - 8} others" if len(names) > 8 else "")
