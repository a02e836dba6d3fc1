"""Scorers for cross_val_score, GridSearchCV and the like, and what they score."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from dgme.metrics._scores import crps, nll
from dgme.metrics._transformed import Transformed


def predicted_law(estimator, X, **arguments) -> Any:
    """The laws that a fitted estimator predicts, also from inside of what is wrapped around it.

    Pipelines transform X with all steps but the last and ask that one; searches ask their best
    estimator. Laws of a `TransformedTargetRegressor` are moved back to the scale of the target.
    Arguments are those of `predict_dist`.
    """
    if hasattr(estimator, "predict_dist"):
        return estimator.predict_dist(X, **arguments)
    if isinstance(estimator, Pipeline):
        if len(estimator) > 1:
            X = estimator[:-1].transform(X)
        return predicted_law(estimator[-1], X, **arguments)
    if isinstance(estimator, TransformedTargetRegressor):
        return Transformed(
            predicted_law(estimator.regressor_, X, **arguments), estimator.transformer_
        )
    if hasattr(estimator, "best_estimator_"):
        return predicted_law(estimator.best_estimator_, X, **arguments)
    raise TypeError(
        f"{type(estimator).__name__} has no predict_dist, so it predicts no law to score. "
        "Put an estimator of dgme at its end."
    )


@dataclass(frozen=True)
class DensityScorer:
    """A scorer ``(estimator, X, y, sample_weight=None)`` of predicted laws."""

    metric: Callable[..., float]
    greater_is_better: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, estimator, X, y, sample_weight=None) -> float:
        law = predicted_law(estimator, X)
        score = self.metric(law, y, sample_weight=sample_weight, **self.arguments)
        return score if self.greater_is_better else -score


def make_density_scorer(
    metric: Callable[..., float], *, greater_is_better: bool = False, **arguments
) -> DensityScorer:
    """A scorer of the laws that an estimator predicts, as ``scoring=`` takes it.

    Parameters
    ----------
    metric : callable
        A score of this module, or any ``metric(law, y, *, sample_weight, **arguments)``.
    greater_is_better : bool
        Whether the metric grows with the quality of the law. Losses change their sign, since
        scikit-learn looks for the greatest score.
    **arguments
        Passed to the metric.

    Examples
    --------
    >>> from dgme import metrics
    >>> winkler = metrics.make_density_scorer(metrics.interval_score, confidence=0.8)
    """
    return DensityScorer(metric, greater_is_better, arguments)


neg_log_score = make_density_scorer(nll)
neg_crps = make_density_scorer(crps)
