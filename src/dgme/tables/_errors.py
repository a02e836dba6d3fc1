class TableError(ValueError):
    """A table cannot be used as it stands; one line says where, why, and what helps."""


def name_some(names: list[str]) -> str:
    first = ", ".join(map(repr, names[:8])) or "no columns"
    return first + (f" and {len(names) - 8} others" if len(names) > 8 else "")


def shown(value: object) -> str:
    """A value within one line, however long it is."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
