"""Models as the commands meet them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgme.cli._app import fail

if TYPE_CHECKING:
    from dgme.tables import TableRegressor


def load_model(path: Path) -> Any:
    from dgme.io import load

    if path.is_dir():
        fail(f"{path} is a folder. Give the name of a model file.")
    return load(path)


def load_table_model(path: Path) -> "TableRegressor":
    from dgme.tables import TableRegressor

    model = load_model(path)
    if not isinstance(model, TableRegressor):
        fail(
            f"{path} holds a {type(model).__name__}, which knows no columns. Make models of tables "
            "by dgme fit, or by TableRegressor."
        )
    return model
