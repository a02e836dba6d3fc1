"""Split conformal prediction with predicted laws."""

import math
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, check_consistent_length, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import _check_sample_weight, _check_y, check_is_fitted

from dgme.calibration._regions import Regions
from dgme.distributions import GaussianMixture
from dgme.estimators import DensityRegressor
from dgme.metrics import predicted_law

# Ends are solved for, so they carry rounding; what lies on them as far as scores tell is to be in.
_SLACK = 1e-9


class ConformalRegressor(MetaEstimatorMixin, DensityRegressor):
    r"""A regressor whose intervals and regions are calibrated on rows that it was not trained on.

    If rows are exchangeable, an interval or region for a new row holds its target with a
    probability of at least `coverage`, and of at most `coverage` + 1 / (n + 1) if no scores are
    tied, for n calibration rows: whatever the model, the noise and n are. The probability is that
    over calibration sets and new rows together, not for every value of X.

    Parameters
    ----------
    estimator : regressor
        What predicts laws: an estimator of this library, or a pipeline or search that ends in one.
    calibration_fraction : float, default 0.2
        Share of the rows that `fit` takes away from training, at random, to calibrate on.
    random_state : int, RandomState or None
        Seed of that choice.

    Attributes
    ----------
    estimator_ : regressor
        What predicts the laws.
    interval_scores_, region_scores_ : arrays of shape (n_calibration,)
        Scores of the calibration rows, ascending.

    Notes
    -----
    A row's score says how far out its target lies in its law, in standard normal units. For
    intervals it is :math:`|\Phi^{-1}(F(y))|`, which orders targets as \|PIT − 1/2\| does
    (Chernozhukov, Wüthrich and Zhu, 2021) but still tells them apart where the PIT rounds to 0 or
    1; of a Gaussian law it is the residual over the std. The interval is the one with equal tails
    in the law at the :math:`\lceil (n + 1) \cdot \text{coverage} \rceil`-th smallest score, so it
    follows the law's scale and skew. For regions it is the mass of all that is denser than
    the target (Izbicki, Shimizu and Stern, 2022), and the region is the law's highest-density
    region of the calibrated mass: where the law has several modes, a union of intervals.

    `predict_dist`, and all that follows from the law, is that of `estimator_`.

    Examples
    --------
    >>> import numpy as np
    >>> from dgme import DGMERegressor
    >>> from dgme.calibration import ConformalRegressor
    >>> from dgme.datasets import toy
    >>> data = toy.load("bimodal", 300, random_state=0)
    >>> model = DGMERegressor(n_components=2, n_rounds=2, random_state=0)
    >>> calibrated = ConformalRegressor(model, random_state=0).fit(data.X, data.y)
    >>> calibrated.predict_interval(data.X, coverage=0.9).shape
    (300, 2)
    >>> calibrated.predict_region(data.X, coverage=0.9).contains(data.y).shape
    (300,)
    """

    estimator_: Any
    interval_scores_: np.ndarray
    region_scores_: np.ndarray

    _parameter_constraints: ClassVar[dict[str, list]] = {
        "estimator": [HasMethods(["fit"])],
        "calibration_fraction": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator, *, calibration_fraction=0.2, random_state=None):
        self.estimator = estimator
        self.calibration_fraction = calibration_fraction
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Train a clone of the estimator on some of the rows and calibrate it on the others.

        Weights go to the training. Calibration rows count once each, but those of weight zero not
        at all.
        """
        self._validate_params()
        y = np.asarray(_check_y(y, y_numeric=True, estimator=self))
        indexed: Any = indexable(X, y)
        X, y = indexed
        rows, weight = np.arange(len(y)), None
        if sample_weight is not None:
            weight = np.asarray(_check_sample_weight(sample_weight, X))
            rows = np.flatnonzero(weight)
        train, held_out = train_test_split(
            rows, test_size=self.calibration_fraction, random_state=self.random_state
        )
        weights = {} if weight is None else {"sample_weight": weight[train]}
        model: Any = clone(self.estimator)
        model.fit(_safe_indexing(X, train), y[train], **weights)
        return self._calibrate(model, _safe_indexing(X, held_out), y[held_out])

    def calibrate(self, X, y):
        """Calibrate on these rows, none of which the estimator may have been trained on.

        Before any `fit` this takes `estimator` as it is, which must be fitted; afterwards
        `estimator_` stays and only its calibration is replaced.
        """
        model = getattr(self, "estimator_", self.estimator)
        check_is_fitted(model)
        y = np.asarray(_check_y(y, y_numeric=True, estimator=self))
        check_consistent_length(X, y)
        return self._calibrate(model, X, y)

    def _calibrate(self, model, X, y: np.ndarray):
        law = _laws(model, X)
        return self._keep(model, *map(np.sort, (np.abs(law.normal_score(y)), law.hdr_score(y))))

    def _keep(self, model, interval_scores: np.ndarray, region_scores: np.ndarray):
        self.estimator_ = model
        self.interval_scores_, self.region_scores_ = interval_scores, region_scores
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        return self

    def predict_dist(self, X, n_posterior_samples: int | None = None) -> GaussianMixture:
        """The predictive law of every row, as `estimator_` gives it: it is not recalibrated."""
        check_is_fitted(self)
        asked = {} if n_posterior_samples is None else {"n_posterior_samples": n_posterior_samples}
        return _laws(self.estimator_, X, **asked)

    def predict_interval(self, X, coverage: float = 0.9) -> np.ndarray:
        """An interval for every row that holds its target with this probability: (n, 2)."""
        check_is_fitted(self)
        reach = _smallest_that_covers(self.interval_scores_, coverage) + _SLACK
        return self.predict_dist(X).at_normal_score([[-reach], [reach]]).T

    def predict_region(self, X, coverage: float = 0.9) -> Regions:
        """A union of intervals for every row that holds its target with this probability.

        It is the shorter, compared to the interval, the more modes the law has and the further
        these are apart.
        """
        check_is_fitted(self)
        reach = _smallest_that_covers(self.region_scores_, coverage) + _SLACK
        return Regions(self.predict_dist(X).hdr_at_score(reach))

    def dump_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What `fit` and `calibrate` learned: the estimator, and arrays."""
        scores = {"interval": self.interval_scores_, "region": self.region_scores_}
        return {"estimator": self.estimator_}, scores

    def load_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Become fitted again, if all that `dump_state` gave is there and fits together."""
        scores = arrays["interval"], arrays["region"]
        for each in scores:
            if each.shape != scores[0].shape or each.ndim != 1 or not (np.diff(each) >= 0).all():
                raise ValueError("the scores of calibration rows are not two ascending lists")
        self._keep(facts["estimator"], *scores)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "interval_scores_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.target_tags.multi_output = False
        return tags


def _laws(model, X, **arguments) -> GaussianMixture:
    law = predicted_law(model, X, **arguments)
    if not isinstance(law, GaussianMixture):
        raise TypeError(
            f"{type(model).__name__} predicts a {type(law).__name__}, but only a GaussianMixture "
            "can be calibrated: one target at a time, and no classes."
        )
    return law


def _smallest_that_covers(scores: np.ndarray, coverage: float) -> float:
    """The score that a further one exceeds with a probability of at most 1 - coverage."""
    if np.ndim(coverage) or not 0 < coverage < 1:
        raise ValueError(f"coverage must lie strictly between 0 and 1, but is {coverage!r}.")
    # rounded, since 0.07 * 100 is a little above 7 in doubles
    rank = math.ceil(round((len(scores) + 1) * coverage, 9))
    if rank > len(scores):
        raise ValueError(
            f"coverage={coverage} needs at least {math.ceil(round(coverage / (1 - coverage), 9))} "
            f"calibration rows, but there are {len(scores)}. Raise calibration_fraction, calibrate "
            "on more rows, or ask for less."
        )
    return float(scores[rank - 1])
