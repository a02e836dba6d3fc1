"""Libraries that only an extra installs."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def installed_by(extra: str) -> Iterator[None]:
    """Where a library that is imported in this block is missing, say how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(f"{error.name} is missing: pip install 'dgme[{extra}]'.") from error
