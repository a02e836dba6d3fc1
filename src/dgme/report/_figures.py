"""The figures of a report, each with what it shows in words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import spearmanr

from dgme import plots
from dgme.distributions import GaussianMixture
from dgme.report._importance import Importance
from dgme.report._svg import HEIGHT, svg

_MOST_FEATURES = 20


class Figure(NamedTuple):
    title: str
    caption: str
    svg: str


def calibration(law: GaussianMixture, y: np.ndarray, of: str) -> Iterator[Figure]:
    yield _figure(
        "pit",
        "Probability integral transform",
        "Where the targets lie in their laws, as probabilities. Flat is calibrated; a valley says "
        f"too narrow, a hill too wide, a slope biased. {of}",
        lambda ax: plots.pit_histogram(law, y, ax=ax),
    )
    yield _figure(
        "quantiles",
        "Reliability of quantiles",
        "The share of targets below each predicted quantile. On the diagonal is calibrated; above "
        f"it predictions are too high, below it too low. {of}",
        lambda ax: plots.reliability(law, y, ax=ax),
    )
    yield _figure(
        "intervals",
        "Reliability of intervals",
        "The share of targets in equal-tailed intervals. Below the diagonal intervals are too "
        f"narrow, above it too wide. {of}",
        lambda ax: plots.interval_reliability(law, y, ax=ax),
    )


def fan(law: GaussianMixture, y: np.ndarray, of: str) -> Figure:
    return _figure(
        "fan",
        "Intervals and targets",
        "Rows in the order of their predicted mean. Of the targets, half should lie in the inner "
        f"and nine in ten in the outer band. {of}",
        lambda ax: _fan(ax, law, y),
    )


def _fan(ax: Axes, law: GaussianMixture, y: np.ndarray) -> None:
    mean = law.mean()
    plots.fan_chart(law, mean, y, ax=ax)
    ax.set(xlabel="predicted mean", ylabel="target")


def sharpness(law: GaussianMixture, y: np.ndarray, of: str) -> Figure:
    std, error = law.std(), np.abs(law.mean() - y)
    told = ""
    if np.ptp(std) > 1e-9 * std.max():
        told = f" Their rank correlation is {spearmanr(std, error)[0]:.2f}."
    return _figure(
        "sharpness",
        "Errors against predicted standard deviations",
        "Rows whose law is wide should err more: the line, errors in groups of rows, should follow "
        f"the diagonal within the grey bars.{told} {of}",
        lambda ax: plots.sharpness(law, y, ax=ax),
    )


def split(law: GaussianMixture, of: str) -> Figure:
    share = law.epistemic_variance().sum() / law.var().sum()
    return _figure(
        "split",
        "Noise and ignorance",
        "For each row the standard deviation of what the data cannot tell (aleatoric) and of what "
        "the model does not know (epistemic), which more data would reduce. "
        f"{100 * share:.1f} % of these rows' variance is epistemic. {of}",
        lambda ax: plots.uncertainty_split(law, ax=ax, legend=False),
    )


def training(history: Mapping[str, np.ndarray]) -> Iterator[Figure]:
    clock = next((name for name in ("round", "epoch") if name in history), None)
    if clock is None or len(history[clock]) < 2:
        return
    held_out = np.isfinite(history["held_out_score"]).any()
    yield _figure(
        "training",
        f"Likelihood after every {clock}",
        "Mean log-likelihood of the training rows"
        + (
            " and of held-out rows; the best by the latter predicts. A gap that widens is overfit."
            if held_out
            else "; no rows were held out, so the last predicts."
        ),
        lambda ax: plots.training_history(history, ax=ax),
    )
    if "weight_1" in history:
        yield _figure(
            "weights",
            "Mixture weights after every round",
            "The share of the rows that each component explains. A band that vanishes is a "
            "component that has starved.",
            lambda ax: plots.training_weights(history, ax=ax),
        )


def importances(found: Sequence[Importance], names: Sequence[str], n_rows: int) -> Figure:
    shown = found[:_MOST_FEATURES]
    left_out = len(found) - len(shown)
    first, rest = shown[0], f" {left_out} less important features are left out." if left_out else ""
    return _figure(
        "importance",
        "What the densities rest on",
        "The log score that is lost when one feature is shuffled among the rows, in nats per row, "
        f"with two standard errors. The most important is {names[first.feature]} "
        f"({first.loss:.2f}). Features that tell the same share their importance. From {n_rows} "
        f"rows.{rest}",
        lambda ax: _bars(ax, shown, [_short(names[one.feature]) for one in shown]),
        height=max(2.0, 0.8 + 0.22 * len(shown)),
    )


def densities(
    law: GaussianMixture, y: np.ndarray, rows: np.ndarray, name: str, title: str, which: str
) -> Figure:
    return _figure(
        name,
        title,
        f"{which} Each curve is the predicted density of one row, scaled to the same height; the "
        "shaded region holds 90 % of it, and the upright line is the target.",
        lambda ax: plots.predictive_density(law, y, ax=ax, rows=[f"row {row}" for row in rows]),
        height=HEIGHT + 0.6,
    )


def _bars(ax: Axes, shown: Sequence[Importance], names: Sequence[str]) -> None:
    place = np.arange(len(shown))
    losses, errors = np.array([[one.loss, 2 * one.error] for one in shown]).T
    ax.barh(place, losses, xerr=errors, color=plots.PALETTE[0], ecolor="#777777", height=0.7)
    ax.axvline(0, color="black", lw=0.8)
    ax.set_yticks(place, names)
    ax.invert_yaxis()
    ax.set_xlabel("log score lost [nats]")
    ax.tick_params(axis="y", length=0)


def _short(name: str) -> str:
    return name if len(name) <= 24 else name[:23] + "…"


def _figure(
    name: str, title: str, caption: str, draw: Callable[[Axes], object], height: float = HEIGHT
) -> Figure:
    caption = caption.strip()
    return Figure(title, caption, svg(draw, name, title, caption, height))
