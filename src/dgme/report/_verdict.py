"""What scores mean, in words: is the model calibrated, biased, too narrow, too wide?"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from dgme.evaluation import Estimate, Evaluation, IntervalScores

# A deviation is believed if chance makes it once in a hundred times, and matters if this large.
SIGNIFICANT = 0.01
_RELEVANT = 0.02
_BELIEVED = norm.isf(SIGNIFICANT / 2)
# Rows below which only gross errors can be seen.
FEW = 200


@dataclass(frozen=True)
class Verdict:
    grade: str
    """good, fair or bad: calibrated, nearly so, or not."""
    headline: str
    sentences: tuple[str, ...]


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def judge(scores: Evaluation, target_variance: float, epistemic_share: float | None) -> Verdict:
    """The variance of the targets tells what a model without features could do.

    The epistemic share of the predicted variance is None where there is no posterior.
    """
    grade, headline = _calibration(scores)
    gain = _gain(scores.log_score, target_variance)
    if gain.upper < 0:
        grade, headline = "bad", f"{headline} But one Gaussian for all rows would predict better."
    interval = min(scores.intervals, key=lambda one: abs(one.coverage - 0.9))
    sentences = [
        _width(interval, scores.n_rows),
        _bias(scores),
        _accuracy(scores, target_variance, gain),
        _shape(scores),
        _ignorance(epistemic_share),
    ]
    return Verdict(grade, headline, tuple(sentences))


def _calibration(scores: Evaluation) -> tuple[str, str]:
    error, n = scores.calibration_error.value, scores.n_rows
    if scores.calibration_p_value >= SIGNIFICANT:
        doubt = ", which are so few that only a gross error would show" if n < FEW else ""
        return "good", f"Calibrated, as far as {n:,} rows can tell{doubt}."
    if error < _RELEVANT:
        return "fair", (
            f"Nearly calibrated: quantiles miss their level by {percent(error)} on average, which "
            f"is small, but more than chance makes in {n:,} rows."
        )
    return "bad", (
        f"Not calibrated: quantiles miss their level by {percent(error)} on average, where chance "
        f"makes {percent(scores.chance_calibration_error)}."
    )


def _width(interval: IntervalScores, n: int) -> str:
    promised, covered = interval.coverage, interval.covered
    off = covered.value - promised
    believed = abs(off) > _BELIEVED * np.sqrt(promised * (1 - promised) / n)
    if not believed:
        meaning = "as promised, within chance"
    elif abs(off) < _RELEVANT / 2:
        meaning = f"slightly too {'few' if off < 0 else 'many'}"
    else:
        meaning = "the densities are too narrow" if off < 0 else "the densities are too wide"
    return (
        f"{percent(promised, 0)} intervals hold {percent(covered.value)} of the targets "
        f"({percent(covered.lower)} to {percent(covered.upper)}): {meaning}."
    )


def _bias(scores: Evaluation) -> str:
    """By the targets above their median, which outliers do not sway."""
    n = scores.n_rows
    above = sum(scores.pit_counts[50:]) / n
    if abs(above - 0.5) > max(_BELIEVED * 0.5 / np.sqrt(n), _RELEVANT):
        side, word = ("low", "above") if above > 0.5 else ("high", "below")
        return (
            f"Biased: predictions are too {side}; {percent(max(above, 1 - above))} of the targets "
            f"lie {word} their predicted median."
        )
    return (
        f"Not biased: {percent(above)} of the targets lie above their predicted median, near "
        "enough to half."
    )


def _gain(log_score: Estimate, variance: float) -> Estimate:
    """By how many nats a row's density beats one Gaussian for all rows, fitted to their targets."""
    entropy = 0.5 * np.log(2 * np.pi * np.e * variance) if variance > 0 else -np.inf
    return Estimate(*(float(value + entropy) for value in log_score))


def _accuracy(scores: Evaluation, variance: float, gain: Estimate) -> str:
    rmse = f"The root mean squared error is {scores.rmse.value:.4g}"
    if variance == 0:
        return f"{rmse}; all targets are the same."
    explained = 1 - scores.rmse.value**2 / variance
    means = (
        f"the means explain {percent(explained)} of the target's variance"
        if explained >= 0
        else "the means explain none of the target's variance"
    )
    compared = "more" if gain.value >= 0 else "less"
    return (
        f"{rmse}: {means}. The densities give each target {abs(gain.value):.2f} nats {compared} "
        "than one Gaussian for all rows."
    )


def _shape(scores: Evaluation) -> str:
    gain = scores.shape_gain
    shown = "{:+.3f} nats per row ({:+.3f} to {:+.3f})".format(*gain).replace("-", "−")
    if gain.lower > 0:
        verb = "gain"
    elif gain.upper < 0:
        verb = "lose"
    else:
        return (
            "The shapes of the densities (skew, tails, modes) make no difference that these rows "
            f"can show: {shown} against "
            "Gaussians with the same means and variances."
        )
    return (
        f"The shapes of the densities (skew, tails, modes) {verb} against Gaussians with the same "
        f"means and variances: {shown}."
    )


def _ignorance(epistemic_share: float | None) -> str:
    if epistemic_share is None:
        return (
            "All of the predicted variance is noise: this model has no posterior over its "
            'parameters, so it does not tell what it does not know (epistemic="laplace" or '
            '"swag" would).'
        )
    return (
        f"{percent(epistemic_share)} of the predicted variance is epistemic, what the model does "
        "not know; the rest is noise."
    )
