"""A million predictive laws of five components: how long they take, and how much memory."""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import workload
from benchmarks.memory import peak_growth
from benchmarks.rows import Bar, Row
from benchmarks.timing import best_of, isolated, progress
from dgme import DGMERegressor, GaussianMixture

N_LAWS, N_COMPONENTS = 1_000_000, 5
REPETITIONS = 3
BARS = {"logpdf": Bar(1), "cdf": Bar(1), "crps": Bar(6)}
MODEL_BAR = Bar(2)

Cost = tuple[float, float | None]


def measure() -> Iterator[Row]:
    for function, bar in BARS.items():
        progress(f"  {function} of a million laws")
        cost = isolated(_of_laws, function)
        yield from _rows(f"{function}, a million laws", cost, bar)
    progress("  predict_dist and logpdf of a million rows")
    yield from _rows("predict_dist(X).logpdf(y), a million rows", isolated(_of_a_model), MODEL_BAR)


def _rows(what: str, cost: Cost, bar: Bar | None) -> Iterator[Row]:
    seconds, mebibytes = cost
    yield Row(what, seconds, "s", f"K = {N_COMPONENTS}; best of {REPETITIONS}", bar)
    how = "growth at the peak; the laws take 76 MiB, the result 8 MiB"
    if mebibytes is None:
        how = "not measured: only Linux tells"
    yield Row(f"{what}: memory", mebibytes, "MiB", how)


def _of_laws(function: str) -> Cost:
    rng = np.random.default_rng(0)
    shape = (N_LAWS, N_COMPONENTS)
    law = GaussianMixture(
        rng.dirichlet(np.ones(N_COMPONENTS)),
        rng.standard_normal(shape),
        rng.uniform(0.1, 2.0, shape),
    )
    y = 2 * rng.standard_normal(N_LAWS)
    getattr(law[:1000], function)(y[:1000])
    return _cost(lambda: getattr(law, function)(y))


def _of_a_model() -> Cost:
    model = DGMERegressor(n_components=N_COMPONENTS, n_rounds=1, random_state=0)
    model.fit(*workload.table())
    x, y = (column.astype(np.float64) for column in workload.table(N_LAWS))
    model.predict_dist(x[:1000])
    return _cost(lambda: model.predict_dist(x).logpdf(y))


def _cost(work: Callable[[], object]) -> Cost:
    mebibytes = peak_growth(work)
    return best_of(REPETITIONS, work).wall, mebibytes
