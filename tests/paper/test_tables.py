import json
from importlib.resources import files

import numpy as np
import pytest

from dgme.paper.tables import Cell, Published, ResultTable, published


def table(better=-1, **cells):
    return ResultTable(
        "T", ["row"], list(cells), {("row", c): v for c, v in cells.items()}, better=better
    )


def test_a_cell_is_the_mean_and_the_spread():
    assert Cell.of([1.0, 2.0, 6.0])[:2] == pytest.approx((3.0, np.sqrt(14 / 3)))
    assert Cell.of([1.0, 3.0], standard_error=True).spread == pytest.approx(1 / np.sqrt(2))


@pytest.mark.parametrize(
    ("mean", "n_paper", "reached"),
    [
        (1.0, 1, True),
        (2.0, 1, True),
        (2.39, 1, True),
        (2.41, 1, False),
        # The standard error of 16 scores is a quarter of their standard deviation.
        (2.09, 16, True),
        (2.11, 16, False),
    ],
)
def test_a_cell_reaches_the_papers_within_its_standard_error(mean, n_paper, reached):
    cell = Cell.of([mean], Published(2.0, 0.4), n_paper=n_paper)
    assert table(a=cell).reached("row", "a") is reached
    # The other way round where more is better.
    mirrored = Cell.of([4.0 - mean], Published(2.0, 0.4), n_paper=n_paper)
    assert table(better=1, a=mirrored).reached("row", "a") is reached


def test_half_of_the_last_digit_is_no_difference():
    for mean, reached in ((0.074, True), (0.076, False)):
        cell = Cell.of([mean], Published(0.07, 0.0), n_paper=20)
        assert table(a=cell).reached("row", "a") is reached


def test_cells_without_a_counterpart_are_not_marked():
    found = table(a=Cell.of([1.0]), b=Cell.of([1.0], Published(2.0, 0.1)))
    assert found.reached("row", "a") is None
    assert found.reached("row", "nowhere") is None
    assert found.counts() == (1, 1)
    assert found.texts("row", "a") == ("1.00 ± 0.00",)
    assert found.texts("row", "b") == ("1.00 ± 0.00", "2.00 ± 0.10 ✓")
    assert found.texts("row", "nowhere") == ()
    neither = table(better=0, b=Cell.of([1.0], Published(2.0, 0.1)))
    assert neither.reached("row", "b") is None


def test_the_best_of_a_row_is_the_best_as_shown():
    cells = {"a": Cell(1.001, 0), "b": Cell(1.004, 0), "c": Cell(2.0, 0)}
    assert table(**cells).best("row") == {"a", "b"}
    assert table(better=1, **cells).best("row") == {"c"}
    assert table(better=0, **cells).best("row") == set()
    assert table(a=cells["a"]).best("row") == set()


def test_the_papers_tables_are_complete():
    names = json.loads(files("dgme.paper").joinpath("published.json").read_text())
    assert len(names) == 10
    assert published("uci_rmse")["yacht"]["DGME_J10"] == (0.70, 0.26)
    for name in names:
        widths = {len(cells) for cells in published(name).values()}
        assert len(widths) == 1
