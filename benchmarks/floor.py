"""The floor: the arithmetic of one member in C++, on one core."""

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from benchmarks import workload
from benchmarks.engine import Training

SOURCE = Path(__file__).with_name("floor.cpp")
SIZES = {
    "N_ROWS": workload.N_ROWS,
    "N_INPUTS": workload.N_INPUTS,
    "N_HIDDEN": workload.N_HIDDEN,
    "BATCH_SIZE": workload.BATCH_SIZE,
    "EPOCHS": workload.EPOCHS,
    "LEARNING_RATE": f"{workload.LEARNING_RATE}f",
    "VARIANCE_FLOOR": f"{workload.MIN_SCALE**2}f",
}


class Floor(NamedTuple):
    microseconds: float
    """Per optimiser step, in the fastest repetition."""
    losses: np.ndarray
    """Mean negative log-likelihood of the rows in every epoch."""


def measure_floor(training: Training, repetitions: int) -> Floor | None:
    """Train the first member in C++ from the same start and orders; None without a compiler."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    with TemporaryDirectory() as folder:
        program, data = Path(folder, "floor"), Path(folder, "input")
        sizes = [f"-D{name}={value}" for name, value in SIZES.items()]
        options = ["-std=c++17", "-O3", "-march=native", "-ffast-math"]
        subprocess.run([compiler, *options, *sizes, SOURCE, "-o", program], check=True)
        data.write_bytes(_input(training))
        done = subprocess.run(
            [program, data, str(repetitions)], check=True, capture_output=True, text=True
        )
    result = json.loads(done.stdout)
    return Floor(result["microseconds"], np.array(result["losses"]) / training.weight)


def _input(training: Training) -> bytes:
    x, y = workload.table()
    weights = np.full(workload.N_ROWS, training.weight, np.float32)
    orders = training.orders(0, 0, workload.EPOCHS)
    return b"".join(part.tobytes() for part in (x, y, weights, training.params[0], orders))
