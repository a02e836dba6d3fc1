"""How long and how much memory training takes, from ten thousand rows to a million."""

from collections.abc import Iterator

import numpy as np

from benchmarks import workload
from benchmarks.memory import peak_growth
from benchmarks.rows import Row
from benchmarks.timing import best_of, isolated, progress
from dgme import DGMERegressor

SIZES = (10_000, 100_000, 1_000_000)
N_COMPONENTS, EPOCHS = 5, 4


def measure() -> Iterator[Row]:
    for n_rows in SIZES:
        progress(f"  fit of {n_rows} rows")
        seconds, mebibytes = isolated(_of_a_fit, n_rows)
        what = f"fit, {n_rows} rows"
        how = f"K = {N_COMPONENTS}, one round of {EPOCHS} epochs, all of it; second fit"
        yield Row(what, seconds, "s", how)
        how = f"growth at the peak; X takes {n_rows * workload.N_INPUTS * 8 / 2**20:.0f} MiB"
        if mebibytes is None:
            how = "not measured: only Linux tells"
        yield Row(f"{what}: memory", mebibytes, "MiB", how)


def _of_a_fit(n_rows: int) -> tuple[float, float | None]:
    x, y = (column.astype(np.float64) for column in workload.table(n_rows))
    model = DGMERegressor(
        n_components=N_COMPONENTS, n_rounds=1, epochs_per_round=EPOCHS, random_state=0
    )
    # The first fit compiles, and its peak is that of training as well.
    mebibytes = peak_growth(lambda: model.fit(x, y))
    return best_of(1, lambda: model.fit(x, y)).wall, mebibytes
