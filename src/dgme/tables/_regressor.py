"""A regressor for tables as they come."""

from typing import Any, no_type_check

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from dgme.distributions import GaussianMixture, VectorGaussianMixture
from dgme.estimators import DensityRegressor, DGMERegressor
from dgme.tables._encoder import TableEncoder
from dgme.tables._frames import frame_of
from dgme.tables._profile import Profile
from dgme.tables._target import named_target, split_target


class TableRegressor(DensityRegressor):
    """Predict a density for each row of a data frame, whatever its columns hold.

    A `TableEncoder` makes numbers of the columns, and any density regressor of this library
    predicts from them. Frames may be of pandas, polars, Arrow, or any other library that narwhals
    knows; an array is taken as it is.

    Parameters
    ----------
    regressor : DensityRegressor, optional
        What predicts from the numbers; `DGMERegressor()` by default.
    kinds : dict of str to str, optional
        Kinds of columns that look like another one, as in `TableEncoder`.

    Attributes
    ----------
    encoder_ : TableEncoder
        What makes numbers of the columns; its `columns_` tell what was found in each.
    regressor_ : DensityRegressor
        The fitted regressor.
    target_name_ : str or None
        The name of the target, if it came with one.
    profile_ : Profile
        A summary of the training rows.
    """

    encoder_: TableEncoder
    regressor_: DensityRegressor
    target_name_: str | None
    profile_: Profile

    # Constructors of scikit-learn store whatever they get; `fit` is where it is checked.
    @no_type_check
    def __init__(
        self, regressor: DensityRegressor | None = None, kinds: dict[str, str] | None = None
    ):
        self.regressor = regressor
        self.kinds = kinds

    def fit(self, X, y, sample_weight=None):
        """Train on a table. `y` may be the name of the column of X that is to be predicted.

        Rows of weight zero are as if they were not there.
        """
        regressor = self._fresh_regressor()
        if isinstance(y, str):
            name = y
            X, y = split_target(X, name)
        else:
            name, y = named_target(y)
        _refuse_missing(y)
        encoder = TableEncoder(self.kinds).fit(_weighted(X, sample_weight))
        features = encoder.transform(X)
        regressor.fit(features, y, sample_weight)
        self.encoder_, self.regressor_, self.target_name_ = encoder, regressor, name
        self.profile_ = Profile.of(
            _weighted(features, sample_weight), _weighted(np.asarray(y, float), sample_weight)
        )
        return self

    def predict_dist(
        self, X, n_posterior_samples: int | None = None
    ) -> GaussianMixture | VectorGaussianMixture:
        """The predictive law of every row of a table, which may have further columns."""
        check_is_fitted(self)
        return self.regressor_.predict_dist(self.encoder_.transform(X), n_posterior_samples)

    @property
    def n_features_in_(self) -> int:
        return self.encoder_.n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        return self.encoder_.feature_names_in_

    def dump_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What `fit` learned: plain values, estimators within this one, and arrays."""
        facts, arrays = self.profile_.dump()
        return {
            "encoder": self.encoder_,
            "regressor": self.regressor_,
            "target_name": self.target_name_,
            "profile": facts,
        }, {f"profile.{name}": array for name, array in arrays.items()}

    def load_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Become fitted again, if all that `dump_state` gave is there and fits together."""
        encoder, regressor, name = facts["encoder"], facts["regressor"], facts["target_name"]
        if not isinstance(encoder, TableEncoder) or not isinstance(regressor, DensityRegressor):
            raise ValueError("the encoder or the regressor is of another kind")
        n_features = sum(len(column.features) for column in encoder.columns_)
        if getattr(regressor, "n_features_in_", None) != n_features:
            raise ValueError(f"the regressor does not take the {n_features} features there are")
        if not isinstance(name, str | None):
            raise ValueError(f"target_name must be text, but is {name!r}")
        prefix = "profile."
        own = {key.removeprefix(prefix): a for key, a in arrays.items() if key.startswith(prefix)}
        self.profile_ = Profile.load(facts["profile"], own, n_features)
        self.encoder_, self.regressor_, self.target_name_ = encoder, regressor, name

    def _fresh_regressor(self) -> Any:
        if self.regressor is None:
            return DGMERegressor()
        if not isinstance(self.regressor, DensityRegressor):
            raise TypeError(
                "regressor must be a density regressor of this library, such as DGMERegressor(), "
                f"but is {self.regressor!r}."
            )
        return clone(self.regressor)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "regressor_")

    def __sklearn_tags__(self):
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        if self.regressor is not None:
            tags.target_tags = get_tags(self.regressor).target_tags
        return tags


def _refuse_missing(y) -> None:
    if isinstance(y, np.ndarray) and y.ndim and y.dtype.kind == "f":
        n_missing = np.isnan(y).reshape(len(y), -1).any(axis=1).sum()
        if n_missing:
            raise ValueError(f"y is missing in {n_missing} of {len(y)} rows. Drop these rows.")


def _weighted(rows, sample_weight):
    """The rows of positive weight."""
    used = np.asarray(sample_weight) > 0 if sample_weight is not None else np.True_
    # Weights that cannot be used are the regressor's to refuse.
    if used.ndim != 1 or used.all() or not used.any():
        return rows
    frame = frame_of(rows)
    return np.asarray(rows)[used] if frame is None else frame.filter(used.tolist()).to_native()
