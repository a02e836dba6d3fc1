"""Laws from exported files, beside those of the model itself."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
import onnxruntime

from benchmarks import workload
from benchmarks.rows import Row
from benchmarks.timing import best_of, isolated, progress
from dgme import DGMERegressor
from dgme.export import to_onnx, to_stablehlo

N_COMPONENTS, N_ROWS, BATCH, SINGLES, REPETITIONS = 5, 2**17, 2**10, 100, 20
HOW = f"K = {N_COMPONENTS}, 13-50-2; best of {REPETITIONS}"

Law = Callable[[np.ndarray], object]


class Cost(NamedTuple):
    """Of one way to compute laws: seconds for many rows and for one, bytes of its file."""

    many: float
    one: float
    size: int


def measure() -> Iterator[Row]:
    for name, open_law in {"dgme": _dgme, "StableHLO": _stablehlo, "ONNX": _onnx}.items():
        progress(f"  laws from {name}")
        cost = isolated(_cost, open_law)
        batches = "one call" if open_law is _dgme else f"batches of {BATCH}"
        yield Row(f"{name}: rows per second", N_ROWS / cost.many, "rows/s", f"{HOW}; {batches}")
        yield Row(f"{name}: a single row", 1e3 * cost.one, "ms", f"{HOW}; mean of {SINGLES} calls")
        yield Row(f"{name}: size of the file", cost.size / 1024, "KiB", HOW)


def _cost(open_law: Callable[[DGMERegressor, Path], tuple[Law, int]]) -> Cost:
    model = DGMERegressor(n_components=N_COMPONENTS, n_rounds=1, random_state=0)
    model.fit(*workload.table())
    X = workload.table(N_ROWS)[0].astype(np.float64)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "law"
        law, rows_at_once = open_law(model, path)
        size = path.stat().st_size

    def run(n_rows: int, at_once: int) -> None:
        for start in range(0, n_rows, at_once):
            law(X[start : start + at_once])

    many = best_of(REPETITIONS, lambda: run(N_ROWS, rows_at_once))
    ones = best_of(REPETITIONS, lambda: run(SINGLES, 1))
    return Cost(many.wall, ones.wall / SINGLES, size)


def _dgme(model: DGMERegressor, path: Path) -> tuple[Law, int]:
    model.save(path)
    return model.predict_dist, N_ROWS


def _stablehlo(model: DGMERegressor, path: Path) -> tuple[Law, int]:
    to_stablehlo(model, path)
    jax.config.update("jax_enable_x64", True)
    law = jax.jit(jax.export.deserialize(path.read_bytes()).call)
    return lambda X: jax.block_until_ready(law(X)), BATCH


def _onnx(model: DGMERegressor, path: Path) -> tuple[Law, int]:
    to_onnx(model, path)
    options = onnxruntime.SessionOptions()
    # A second thread costs small networks more than it gives.
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    return lambda X: session.run(None, {"X": X}), BATCH
