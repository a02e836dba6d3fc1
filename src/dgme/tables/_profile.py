"""What the training rows looked like, to compare others with them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

LEVELS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
# Quantiles of more rows would take long, and tell no more.
_ROWS = 100_000


@dataclass(frozen=True)
class Profile:
    """A summary of the training rows: of the target, and of the features that were made of them.

    The mean of an indicator is the share of its level.
    """

    n_rows: int
    target_quantiles: Float64[np.ndarray, "q ..."]
    """At `LEVELS`; with several targets, a column for each."""
    feature_means: Float64[np.ndarray, " k"]
    feature_quantiles: Float64[np.ndarray, "q k"]
    """At `LEVELS`; the names are the encoder's `get_feature_names_out()`."""

    @classmethod
    def of(cls, features: np.ndarray, target: np.ndarray) -> "Profile":
        step = max(1, len(features) // _ROWS)
        return cls(
            len(features),
            np.quantile(target[::step], LEVELS, axis=0),
            features.mean(axis=0),
            np.quantile(features[::step], LEVELS, axis=0),
        )

    def dump(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        parts = dict(vars(self))
        return {"n_rows": parts.pop("n_rows")}, parts

    @classmethod
    def load(cls, facts: dict[str, Any], arrays: dict[str, np.ndarray], n_features: int):
        """What `dump` gave, if it is all there and of the right shapes."""
        shapes = {
            "target_quantiles": (len(LEVELS), *arrays["target_quantiles"].shape[1:]),
            "feature_means": (n_features,),
            "feature_quantiles": (len(LEVELS), n_features),
        }
        for name, shape in shapes.items():
            if arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
                raise ValueError(f"array 'profile.{name}' must hold finite numbers of {shape}")
        return cls(n_rows=int(facts["n_rows"]), **arrays)
