import matplotlib.pyplot as plt
import numpy as np
import pytest

from dgme.datasets import mnist as images
from dgme.paper import mnist
from dgme.paper.mnist import CLOTHES, KNOWN, METHODS, SETS, UNKNOWN, MnistExperiment
from dgme.paper.settings import MNIST

TINY = MNIST(
    runs=2,
    hidden_sizes=(16,),
    passes=4,
    n_components=2,
    epochs=8,
    batch_size=32,
    train_rows=300,
    rows=50,
)


def drawn(seed, n):
    """A bright bar at a place of its own for each of ten classes, and noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 10
    X = 0.3 * rng.random((n, 784))
    for row, digit in zip(X, y, strict=True):
        row[60 * digit : 60 * digit + 40] += 0.7
    return images.Images(X.astype(np.float32), y)


@pytest.fixture(scope="module", autouse=True)
def small_images():
    """Drawn images in place of the real ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(images, "load", lambda train=True: drawn(0, 400) if train else drawn(1, 200))
        noise = np.random.default_rng(2).random((100, 784), dtype=np.float32)
        patch.setattr(images, "load_fashion", lambda: images.Images(noise, np.zeros(100, int)))
        forget()
        yield
        forget()


def forget():
    mnist.load.cache_clear()
    mnist.outcome.cache_clear()


@pytest.fixture(scope="module")
def results(small_images):
    return [result for task in MnistExperiment(TINY, 0).tasks() for result in task.run()]


def test_digits_but_4_are_numbered_anew():
    known = mnist.known_digits(drawn(0, 20))
    assert known.y.tolist() == 2 * [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert known.X[4] == pytest.approx(drawn(0, 20).X[5])


def test_pixels_share_one_unit():
    sets = mnist.load()
    assert (sets.train.X.mean(), sets.train.X.std()) == pytest.approx((0, 1), abs=1e-5)
    raw = mnist.known_digits(images.load(train=False)).X
    assert np.corrcoef(raw.ravel(), sets.test.X.ravel())[0, 1] == pytest.approx(1)
    assert (len(sets.unknown), len(sets.clothes)) == (20, 100)


def test_the_area_under_the_curve_counts_pairs():
    # Of the four pairs two are in order and one is even.
    assert mnist.auroc(np.array([0.0, 2.0]), np.array([1.0, 2.0])) == 0.625


def test_every_method_and_run_is_scored(results):
    assert {(r.of["method"], r.of["run"]) for r in results} == {
        (method, run) for method in METHODS for run in range(2)
    }
    for result in results:
        assert all(type(score) is float for score in result.scores.values())
        # The bars are easy to tell apart, and nothing tells of the one that was never seen.
        assert result.scores["error rate"] < 0.1
        assert result.scores[KNOWN] < min(result.scores[UNKNOWN], result.scores[CLOTHES])
        assert result.scores["MNIST (Unknown): average entropy"] > 0.8


def test_runs_differ_and_do_not_depend_on_those_before(results):
    by_run = {(r.of["method"], r.of["run"]): r.scores for r in results}
    assert by_run["DGME", 0] != by_run["DGME", 1]
    task = next(
        t for t in MnistExperiment(TINY, 0).tasks() if t.name == {"method": "DGME", "run": 1}
    )
    forget()
    [again] = task.run()
    assert again.scores == by_run["DGME", 1]


def test_tables_hold_everything(results):
    entropy, scores, areas = MnistExperiment(TINY, 0).tables(results)
    for table, rows in ((entropy, 3), (scores, 4), (areas, 6)):
        assert len(table.rows) == rows
        assert set(table.cells) == {(row, method) for row in table.rows for method in METHODS}
    assert entropy.cells[KNOWN, "DGME"].paper == (0.015, 0.002)
    own = [r.scores[KNOWN] for r in results if r.of["method"] == "DGME"]
    assert entropy.cells[KNOWN, "DGME"].mean == pytest.approx(np.mean(own))
    assert "of 8 fits" in entropy.note


def test_the_figure_shows_the_first_run_without_another_fit(results, monkeypatch):
    for method in METHODS:
        mnist.outcome(TINY, 0, method, 0)
    monkeypatch.setattr(mnist, "classifier", None)
    [figure] = MnistExperiment(TINY, 0).figures()
    drawing = figure.draw()
    assert [ax.get_title(loc="left") for ax in drawing.axes] == list(METHODS)
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == list(SETS)
    for ax in drawing.axes:
        # Triangles stand at the means; the shares of each set sum to one.
        means = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "^"]
        scores = mnist.outcome(TINY, 0, ax.get_title(loc="left"), 0).scores
        assert means == pytest.approx([scores[name] for name in SETS])
    plt.close(drawing)


def test_quick_is_quick():
    tasks = MnistExperiment(MNIST().quick(), 0).tasks()
    assert sum(task.cost for task in tasks) < 60
