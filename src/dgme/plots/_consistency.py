"""How far the shares of a calibrated law stray by chance."""

import numpy as np
from scipy.stats import binom

CONFIDENCE = 0.95
_SAMPLES = 4000


def simultaneous_band(n: int, n_cells: int, *, cumulative: bool) -> np.ndarray:
    """The lowest and the highest share of n independent uniform numbers in each of equal cells.

    All shares at once stay inside in at least 95 % of samples. If `cumulative`, the shares are
    those up to the end of each cell but the last. A share's count is binomial; how rare a count
    must be to lie outside is found by simulation, as by Säilynoja, Bürkner and Vehtari (2022).
    """
    counts = np.random.default_rng(0).multinomial(n, np.full(n_cells, 1 / n_cells), _SAMPLES)
    p = np.full(n_cells, 1 / n_cells)
    if cumulative:
        counts, p = counts.cumsum(axis=1)[:, :-1], np.arange(1, n_cells) / n_cells
    tails = np.minimum(binom.cdf(counts, n, p), binom.sf(counts - 1, n, p))
    rare = np.quantile(tails.min(axis=1), 1 - CONFIDENCE, method="lower")
    # A count that is exactly so rare shall not fall out by rounding.
    rare *= 1 - 1e-9
    return np.stack([binom.ppf(rare, n, p), binom.isf(rare, n, p)]) / n
