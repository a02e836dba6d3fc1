"""What targets must be before anything is scored."""

import numpy as np


def finite(y: np.ndarray) -> np.ndarray:
    """Targets, none of which is missing or infinite."""
    if (bad := np.atleast_1d(~np.isfinite(y))).any():
        raise ValueError(
            f"y must be finite, but {bad.sum()} of its {bad.size} entries are not, the first in "
            f"row {np.argwhere(bad)[0, 0]}; leave these rows out"
        )
    return y
