"""Data frames and table files, and what makes rows of numbers of them."""

from importlib import import_module
from typing import TYPE_CHECKING

from dgme.tables._errors import TableError as TableError
from dgme.tables._read import read as read
from dgme.tables._read import read_batches as read_batches
from dgme.tables._target import split_target as split_target
from dgme.tables._write import check_writable as check_writable
from dgme.tables._write import write as write
from dgme.tables._write import writer as writer

if TYPE_CHECKING:
    from dgme.tables._column import Column as Column
    from dgme.tables._encoder import TableEncoder as TableEncoder
    from dgme.tables._profile import Profile as Profile
    from dgme.tables._regressor import TableRegressor as TableRegressor

# Files are read without scikit-learn and JAX, so that what is wrong with one is told at once.
_HOMES = {
    "Column": "_column",
    "Profile": "_profile",
    "TableEncoder": "_encoder",
    "TableRegressor": "_regressor",
}

__all__ = [
    "Column",
    "Profile",
    "TableEncoder",
    "TableError",
    "TableRegressor",
    "check_writable",
    "read",
    "read_batches",
    "split_target",
    "write",
    "writer",
]


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'dgme.tables' has no attribute {name!r}")
    return getattr(import_module(f"dgme.tables.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
