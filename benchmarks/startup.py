"""What a fresh process takes: to import, and to fit for the first time."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.rows import Bar, Row
from benchmarks.timing import progress

FIT = """
import numpy as np
from dgme import DGMERegressor
X = np.random.default_rng(0).standard_normal((500, 13))
y = X[:, 0] + 0.3 * X[:, 1] ** 2
model = DGMERegressor(n_rounds=10, epochs_per_round=40, validation_fraction=None, random_state=0)
mean, std = model.fit(X, y).predict(X, return_std=True)
assert np.isfinite(mean).all() and (std > 0).all()
"""
PEERS = "import jax, sklearn"
IMPORTS = {"import dgme": Bar(1.2), "from dgme import DGMERegressor": Bar(1.2)}
N_FITS, N_IMPORTS = 3, 5


def measure() -> Iterator[Row]:
    progress("  imports")
    programs = (PEERS, *IMPORTS)
    # Taken in turns, so that a busy spell of the machine does not fall on one alone.
    turns = [[_seconds(program) for program in programs] for _ in range(1 + N_IMPORTS)]
    seconds = dict(zip(programs, map(min, zip(*turns[1:], strict=True)), strict=True))
    how = f"whole process; best of {N_IMPORTS}"
    for program in programs:
        yield Row(program, seconds[program], "s", how)
    for program, bar in IMPORTS.items():
        yield Row(f"{program} / {PEERS}", seconds[program] / seconds[PEERS], "×", how, bar)

    progress("  first fits")
    yield Row(
        "first fit and prediction, 500 × 13, J = 10, E = 40",
        min(_seconds(FIT) for _ in range(N_FITS)),
        "s",
        f"from starting python to the prediction; best of {N_FITS}",
        Bar(3),
    )


def _seconds(program: str) -> float:
    """From the start of a fresh interpreter until it has run the program."""
    # Settings of JAX could bring in a cache of compiled programs.
    ignored = ("JAX_", "XLA_")
    environment = {name: v for name, v in os.environ.items() if not name.startswith(ignored)}
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", program + "\nprint('done', flush=True)"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        answer = process.stdout.readline() if process.stdout else ""
        seconds = time.perf_counter() - start
    if process.returncode or answer != "done\n":
        raise RuntimeError(f"this failed in a fresh process:\n{program}")
    return seconds
