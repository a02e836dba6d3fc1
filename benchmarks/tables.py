"""What the command line takes on tables of many rows, from the file to the file."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from benchmarks import workload
from benchmarks.rows import Bar, Row
from benchmarks.timing import progress
from dgme import tables

TRAINING, BLOCK, MILLION = 10_000, 500_000, 1_000_000
N_COLUMNS = 4


def measure() -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        train, few, many = (folder / f"{size}.csv" for size in ("train", "million", "ten"))
        tables.write(train, _rows(TRAINING))
        tables.write(few, (_rows(BLOCK, seed) for seed in range(2)))
        tables.write(many, (_rows(BLOCK, seed) for seed in range(20)))
        model = folder / "model.dgme"

        progress("  dgme fit")
        seconds, _ = _run("fit", train, "--target", "y", "--out", model)
        yield Row(f"dgme fit, {TRAINING} rows", seconds, "s", f"CSV, {N_COLUMNS} features; once")

        for samples in ("10", "0"):
            progress(f"  dgme predict --samples {samples}")
            seconds, mebibytes = _run(
                "predict", model, many, "--samples", samples, "--out", folder / "out.parquet"
            )
            what = f"dgme predict --samples {samples}, ten million rows"
            how = "mean, median, spreads and an interval, CSV to Parquet; once"
            yield Row(what, 10 * MILLION / seconds, "rows/s", how)
            yield Row(f"{what}: memory", mebibytes, "MiB", "the whole process", Bar(2000))

        progress("  dgme evaluate")
        seconds, mebibytes = _run("evaluate", model, few, "--report", folder / "report.html")
        what = "dgme evaluate --report, a million rows"
        yield Row(what, seconds, "s", "all scores, and the page; once", Bar(60))
        yield Row(f"{what}: memory", mebibytes, "MiB", "the whole process")


def _rows(n_rows: int, seed: int = 0) -> pa.Table:
    x, y = workload.table(n_rows, seed)
    columns = {f"x{i}": x[:, i] for i in range(N_COLUMNS)} | {"y": y}
    return pa.table(columns)


def _run(*arguments: object) -> tuple[float, float]:
    """Seconds and the peak of memory of a command in a process of its own."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "dgme.cli", *map(str, arguments)], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"dgme {' '.join(map(str, arguments))} failed")
    # Linux counts kibibytes, macOS bytes.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return time.perf_counter() - start, usage.ru_maxrss / unit
