"""Displays in the manner of scikit-learn's, for figures in which models stand side by side.

A figure has a display if a second model can be drawn into the same axes and both remain readable.
What shades areas over an input (a fan chart, a band, a density map) would cover the first model,
and histograms take all of theirs at once.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes

from dgme.metrics import predicted_law
from dgme.plots._calibration import interval_reliability, pit_histogram, reliability
from dgme.plots._densities import predictive_density
from dgme.plots._spread import sharpness, uncertainty_split
from dgme.plots._training import training_history


class _Display:
    """Keeps what a figure shows, so that it can be drawn again, also beside others.

    Attributes
    ----------
    ax_ : matplotlib axes
        Those that were drawn into last.
    figure_ : matplotlib figure
        Theirs.
    """

    _draw: ClassVar[Callable[..., Axes]]
    ax_: Axes

    def __init__(self, *shown, name: str | None = None) -> None:
        self._shown, self.name = shown, name

    @property
    def figure_(self):
        return self.ax_.figure

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **options):
        """Draw into `ax`, or into a figure of its own, and return the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
        name : str, optional
            Instead of the display's, in the legend.
        **options
            Those of the figure's function.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots()[1]
        named = {"label": name or self.name} if name or self.name else {}
        self.ax_ = self._draw(*self._shown, ax=ax, **named, **options)
        return self


class _OfLaws(_Display):
    def __init__(self, law, y=None, *, name: str | None = None) -> None:
        super().__init__(law, y, name=name)

    @classmethod
    def from_estimator(
        cls, estimator, X, y=None, *, ax: Axes | None = None, name: str | None = None, **options
    ):
        """Draw the laws that a fitted estimator predicts; it may be in a pipeline or a search.

        Parameters
        ----------
        estimator : fitted estimator
        X : n rows
        y : n targets
        ax : matplotlib axes, optional
            Without it, those of a new figure.
        name : str, optional
            In the legend; without it, that of the estimator's class.
        **options
            Those of the figure's function.
        """
        law, name = predicted_law(estimator, X), name or type(estimator).__name__
        return cls.from_predictions(y, law, ax=ax, name=name, **options)

    @classmethod
    def from_predictions(
        cls, y, law, *, ax: Axes | None = None, name: str | None = None, **options
    ):
        """Draw laws that were predicted.

        Parameters
        ----------
        y : n targets
        law : array of n laws
        ax : matplotlib axes, optional
            Without it, those of a new figure.
        name : str, optional
            In the legend.
        **options
            Those of the figure's function.
        """
        return cls(law, y, name=name).plot(ax, **options)


class PITDisplay(_OfLaws):
    """`pit_histogram` of one model after the other.

    Examples
    --------
    >>> import numpy as np
    >>> from dgme import GaussianMixture, plots
    >>> y = np.random.default_rng(0).normal(size=200)
    >>> truth = GaussianMixture([1.0], np.zeros((200, 1)), np.ones((200, 1)))
    >>> narrow = GaussianMixture([1.0], np.zeros((200, 1)), np.full((200, 1), 0.5))
    >>> display = plots.PITDisplay.from_predictions(y, truth, name="truth")
    >>> _ = plots.PITDisplay.from_predictions(y, narrow, name="narrow", ax=display.ax_)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['calibrated, n = 200 (95%)', 'truth', 'narrow']
    """

    _draw = staticmethod(pit_histogram)


class ReliabilityDisplay(_OfLaws):
    """`reliability` of one model after the other."""

    _draw = staticmethod(reliability)


class IntervalReliabilityDisplay(_OfLaws):
    """`interval_reliability` of one model after the other."""

    _draw = staticmethod(interval_reliability)


class SharpnessDisplay(_OfLaws):
    """`sharpness` of one model after the other."""

    _draw = staticmethod(sharpness)


class PredictiveDensityDisplay(_OfLaws):
    """`predictive_density` of one model after the other, for a handful of rows."""

    _draw = staticmethod(predictive_density)


class UncertaintySplitDisplay(_OfLaws):
    """`uncertainty_split` of one model after the other, as points; it needs no targets."""

    @staticmethod
    def _draw(law, y, **options) -> Axes:
        return uncertainty_split(law, **options)


class TrainingHistoryDisplay(_Display):
    """`training_history` of one model after the other."""

    _draw = staticmethod(training_history)

    @classmethod
    def from_estimator(
        cls, estimator, *, ax: Axes | None = None, name: str | None = None, **options
    ):
        """Draw how a fitted estimator was trained.

        Parameters
        ----------
        estimator : fitted estimator
            With a ``history_``.
        ax : matplotlib axes, optional
            Without it, those of a new figure.
        name : str, optional
            In the legend; without it, that of the estimator's class.
        **options
            Those of `training_history`.
        """
        kind = type(estimator).__name__
        if not hasattr(estimator, "history_"):
            raise TypeError(
                f"estimator must be a fitted estimator of dgme, but this {kind} has no history_; "
                "of a pipeline pass the last step, of a search best_estimator_"
            )
        return cls.from_history(estimator.history_, ax=ax, name=name or kind, **options)

    @classmethod
    def from_history(
        cls,
        history: Mapping[str, np.ndarray],
        *,
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ):
        """Draw the ``history_`` of an estimator."""
        return cls(history, name=name).plot(ax, **options)
