"""What every trainer here trains: one table, one network, one optimiser."""

import math

import numpy as np
from jaxtyping import Float32, Int

N_ROWS, N_INPUTS, N_HIDDEN = 1000, 13, 50
BATCH_SIZE, EPOCHS = 32, 40
LEARNING_RATE, MIN_SCALE = 0.01, 0.01
MEMBERS = (5, 100)

N_STEPS = 30
N_IMAGES, IMAGE_HIDDEN, N_CLASSES, IMAGE_BATCH = 2560, (200, 200, 200), 9, 128

STEPS = EPOCHS * math.ceil(N_ROWS / BATCH_SIZE)


def table(
    n_rows: int = N_ROWS, seed: int = 0
) -> tuple[Float32[np.ndarray, "n inputs"], Float32[np.ndarray, " n"]]:
    """Rows whose target is a smooth function of three features, with noise that grows."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_rows, N_INPUTS))
    noise = 0.2 * np.exp(0.3 * x[:, 3]) * rng.standard_normal(n_rows)
    y = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + noise
    return x.astype(np.float32), (y / y.std()).astype(np.float32)


def sequences() -> tuple[Float32[np.ndarray, "n steps 1"], Float32[np.ndarray, " n"]]:
    """Noisy waves, and where each goes next."""
    rng = np.random.default_rng(0)
    frequency, phase = rng.uniform(0.1, 0.5, (N_ROWS, 1)), rng.uniform(0, 6, (N_ROWS, 1))
    waves = np.sin(frequency * np.arange(N_STEPS + 1) + phase)
    waves = (waves + 0.1 * rng.standard_normal(waves.shape)).astype(np.float32)
    return waves[:, :-1, None], waves[:, -1]


def images() -> tuple[Float32[np.ndarray, "n 784"], Int[np.ndarray, " n"]]:
    """Rows of the size of MNIST's images, in nine clusters."""
    rng = np.random.default_rng(0)
    labels = np.arange(N_IMAGES) % N_CLASSES
    centers = rng.standard_normal((N_CLASSES, 784))
    return (centers[labels] + rng.standard_normal((N_IMAGES, 784))).astype(np.float32), labels


def microseconds_per_step(seconds: float, n_members: int) -> float:
    """From the seconds that training took, per member and optimiser step."""
    return 1e6 * seconds / (n_members * STEPS)
