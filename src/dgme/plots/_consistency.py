"""How far the shares of a calibrated law stray by chance."""

import numpy as np

CONFIDENCE = 0.95
_SAMPLES = 20_000


def simultaneous_band(n: int, n_cells: int, *, cumulative: bool) -> np.ndarray:
    """The lowest and the highest share of n independent uniform numbers in each of equal cells.

    All shares at once stay inside in 95 % of samples, or more where n is so small that few
    shares are possible. If `cumulative`, the shares are those up to the end of each cell but the
    last. Every share may stray by as many of its standard deviations; how many is simulated.
    """
    p = np.full(n_cells, 1 / n_cells)
    counts = np.random.default_rng(0).multinomial(n, p, _SAMPLES)
    if cumulative:
        counts, p = counts.cumsum(axis=1)[:, :-1], p.cumsum()[:-1]
    center, spread = n * p, np.sqrt(n * p * (1 - p))
    farthest = (np.abs(counts - center) / spread).max(axis=1)
    # A share that strays exactly so far shall not fall out by rounding.
    reach = np.quantile(farthest, CONFIDENCE, method="higher") * (1 + 1e-9)
    return np.clip((center + np.array([[-reach], [reach]]) * spread) / n, 0, 1)
