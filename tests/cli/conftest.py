import csv
import io
from contextlib import redirect_stdout
from typing import NamedTuple

import numpy as np
import pytest

from dgme import cli


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def one_line(self) -> bool:
        """Whether it ended for bad input, with nothing but a line of words."""
        return (self.code, self.out, self.err.count("\n")) == (2, "", 1)


def call(*arguments) -> int:
    with pytest.raises(SystemExit) as end:
        cli.main([str(argument) for argument in arguments])
    return end.value.code or 0


@pytest.fixture
def dgme(capsys):
    """Run a command in this process."""

    def run(*arguments) -> Done:
        return Done(call(*arguments), *capsys.readouterr())

    return run


def write(path, columns):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))
    return path


def houses(n, seed):
    rng = np.random.default_rng(seed)
    area = rng.uniform(30, 200, n).round(1)
    town = rng.choice(["Ulm", "Bonn", "Kiel"], n)
    price = 2 * area + 50 * (town == "Bonn") + 10 * rng.normal(size=n)
    return {
        "id": [f"house {i}" for i in range(n)],
        "area": area,
        "town": town,
        "empty": [""] * n,
        "price": price.round(2),
    }


class Houses(NamedTuple):
    train: object
    test: object
    model: object
    fitted: str
    """What fitting printed."""


@pytest.fixture(scope="session")
def house_model(tmp_path_factory):
    """Tables with text, gaps and a target, and a model of it."""
    folder = tmp_path_factory.mktemp("houses")
    columns = houses(150, 0)
    columns["area"] = ["" if i % 10 == 0 else area for i, area in enumerate(columns["area"])]
    columns["price"] = ["" if i < 5 else price for i, price in enumerate(columns["price"])]
    train = write(folder / "train.csv", columns)
    test = write(folder / "test.csv", houses(40, 1))
    model, shown = folder / "houses.dgme", io.StringIO()
    with redirect_stdout(shown):
        code = call("fit", train, "--target", "price", "--preset", "fast", "-o", model, "--json")
    assert code == 0
    return Houses(train, test, model, shown.getvalue())
