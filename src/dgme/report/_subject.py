"""The model, the rows and the targets of a report, and what the model tells of its training."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64

from dgme._finite import finite
from dgme.distributions import GaussianMixture
from dgme.report._rows import Rows

# Laws of so many rows are held at once.
_ROWS_AT_ONCE = 2**14

# A value is called far so many standard deviations from the mean of training, or, where the range
# of training is known, this share of it outside.
_FAR = 5.0
_MARGIN = 0.1


class Range(NamedTuple):
    low: Float64[np.ndarray, " p"]
    high: Float64[np.ndarray, " p"]
    words: str
    """What it means to be outside."""


@dataclass(frozen=True)
class Subject:
    model: Any
    rows: Rows
    y: Float64[np.ndarray, " n"]
    target: int | None
    """Which of several targets."""

    @classmethod
    def of(cls, model, X, y, target: int | None) -> "Subject":
        if not hasattr(model, "predict_dist"):
            raise TypeError(
                f"model must be a fitted regressor with predict_dist, but it is {model!r}"
            )
        rows = Rows(X, list(getattr(model, "feature_names_in_", ())))
        y = np.asarray(y, dtype=np.float64)
        if y.ndim == 2 and y.shape[1] == 1 and target is None:
            y = y[:, 0]
        if y.ndim == 2 and target is None:
            raise ValueError(
                f"y has {y.shape[1]} targets, but a report is of one: pass target=0 to "
                f"target={y.shape[1] - 1}"
            )
        if target is not None:
            if y.ndim != 2 or not 0 <= target < y.shape[1]:
                raise ValueError(
                    f"target={target} needs y of shape (n, d) with d > {target}, but y has shape "
                    f"{y.shape}"
                )
            y = y[:, target]
        if y.shape != (len(rows),) or len(y) < 2:
            raise ValueError(
                f"y must hold one target for each of the {len(rows)} rows of X, two at least, but "
                f"has shape {y.shape}"
            )
        return cls(model, rows, finite(y), target)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: np.ndarray | slice) -> "Subject":
        return Subject(self.model, self.rows.take(rows), self.y[rows], self.target)

    def law(self, n_posterior_samples: int | None = None) -> GaussianMixture:
        return self.law_of(self.rows.native, n_posterior_samples)

    def law_of(self, X, n_posterior_samples: int | None = None) -> GaussianMixture:
        law = self.model.predict_dist(X, n_posterior_samples=n_posterior_samples)
        return law if self.target is None else law.marginal(self.target)

    def parts(self) -> Iterator[tuple[slice, "Subject"]]:
        for start in range(0, len(self), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            yield part, self.take(part)

    @property
    def regressor(self) -> Any:
        """The networks' estimator, which a model of tables holds inside."""
        return getattr(self.model, "regressor_", self.model)

    @property
    def method(self) -> str:
        return type(self.regressor).__name__

    @property
    def target_name(self) -> str:
        return str(getattr(self.model, "target_name_", None) or "target")

    def encoded(self) -> tuple[Float64[np.ndarray, "n p"], list[str]]:
        """Rows as the networks' estimator sees them, with names."""
        encoder = getattr(self.model, "encoder_", None)
        if encoder is None:
            return self.rows.matrix(), self.rows.names
        names = [str(name) for name in encoder.get_feature_names_out()]
        return np.asarray(encoder.transform(self.rows.native), dtype=np.float64), names

    @property
    def training_units(self) -> tuple[Any, Any] | None:
        """Centers and scales of features and target in training, if it standardised them."""
        ensemble = getattr(self.regressor, "ensemble_", None)
        if ensemble is None or not getattr(self.regressor, "standardize", False):
            return None
        return ensemble.x_scaling, ensemble.y_scaling

    @property
    def training_range(self) -> "Range | None":
        """Where training has seen features: exactly, if the model keeps a profile of its rows."""
        profile, units = getattr(self.model, "profile_", None), self.training_units
        if profile is not None:
            low, high = profile.feature_quantiles[[0, -1]]
            margin = _MARGIN * (high - low)
            words = "outside the range of the training rows by more than a tenth of it"
            return Range(low - margin, high + margin, words)
        if units is not None:
            center, reach = units[0].center, _FAR * units[0].scale
            words = f"more than {_FAR:g} training standard deviations from its training mean"
            return Range(center - reach, center + reach, words)
        return None
