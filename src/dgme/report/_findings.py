"""What a reader should be warned of."""

from collections.abc import Iterator

import numpy as np

from dgme.distributions import GaussianMixture
from dgme.evaluation import Evaluation
from dgme.report._subject import Subject
from dgme.report._verdict import FEW, SIGNIFICANT, percent

# A mean that moved by so many standard deviations has shifted.
_SHIFTED = 0.25


def findings(
    scores: Evaluation, sample: Subject, sample_law: GaussianMixture, trained_law: GaussianMixture
) -> list[str]:
    """Sentences, the gravest first. Laws are those of the sample, with and without a posterior."""
    return [
        *_miscalibrated(scores),
        *_components(sample, trained_law),
        *_outliers(sample.y, sample_law),
        *_outside(sample),
        *_shifted(sample),
        *_unfinished(sample),
        *_repeated(sample.y),
        *_few(scores),
    ]


def _miscalibrated(scores: Evaluation) -> Iterator[str]:
    p = scores.calibration_p_value
    if p < SIGNIFICANT:
        shown = f"p = {p:.2g}" if p >= 1e-16 else "p < 1e-16"
        yield (
            f"A calibrated model would deviate so much in {scores.n_rows:,} rows with {shown} "
            "(Kolmogorov-Smirnov, for independent rows)."
        )


def _components(sample: Subject, law: GaussianMixture) -> Iterator[str]:
    weights = law.weights.mean(axis=0)
    if starved := np.flatnonzero(weights < 0.1 / law.n_components).tolist():
        told = ", ".join(f"{k} (weight {weights[k]:.2g})" for k in starved[:5])
        more = f" and {len(starved) - 5} more" if len(starved) > 5 else ""
        yield (
            f"Starved components explain next to nothing: {told}{more}. Use fewer components or "
            "more restarts (n_init)."
        )
    units, floor = sample.training_units, getattr(sample.regressor, "min_scale", None)
    if units is None or floor is None:
        return
    smallest = 1.001 * floor * units[1].scale[sample.target or 0]
    at_floor = (law.responsibilities(sample.y) * (law.scales <= smallest)).sum(axis=0)
    explained = law.responsibilities(sample.y).sum(axis=0)
    if collapsed := np.flatnonzero(at_floor > 0.5 * np.maximum(explained, 1)).tolist():
        yield (
            f"Collapsed components sit at the smallest allowed scale: {_listed(collapsed)}. Their "
            "log scores say how narrow they may be, not how well they know. Raise min_scale if "
            "such a narrow density is not what you mean."
        )


def _outliers(y: np.ndarray, law: GaussianMixture) -> Iterator[str]:
    """Targets in tails of one in a million, of which a calibrated law has next to none."""
    tail = np.minimum(law.cdf(y), law.sf(y))
    extreme = int((tail < 0.5e-6).sum())
    if extreme > max(1, 1e-5 * len(y)):
        yield (
            f"{extreme} of {len(y):,} targets lie where their law puts less than one in a million: "
            "outliers, or tails that are too light. They dominate the log score."
        )


def _outside(sample: Subject) -> Iterator[str]:
    """Rows that the model has to extrapolate to."""
    known = sample.training_range
    if known is None:
        return
    matrix, names = sample.encoded()
    with np.errstate(invalid="ignore"):
        far = (matrix < known.low) | (matrix > known.high)
    if far.any():
        worst = names[far.sum(axis=0).argmax()]
        yield (
            f"{percent(far.any(axis=1).mean())} of the rows have a feature {known.words}, most "
            f"often {worst}: there the model has seen few rows, or none."
        )


def _shifted(sample: Subject) -> Iterator[str]:
    """Features and a target that are not where they were in training."""
    if sample.training_units is None:
        return
    (x_units, y_units), (matrix, names) = sample.training_units, sample.encoded()
    z = (matrix - x_units.center) / x_units.scale
    target = sample.target or 0
    y = (sample.y - y_units.center[target]) / y_units.scale[target]
    moved = [
        (name, mean)
        for name, column in [*zip(names, z.T, strict=True), (sample.target_name, y)]
        if abs(mean := column.mean()) > max(_SHIFTED, 4 / np.sqrt(len(column)))
    ]
    if moved:
        moved.sort(key=lambda one: -abs(one[1]))
        told = ", ".join(f"{name} ({mean:+.2f})" for name, mean in moved[:5])
        more = f" and {len(moved) - 5} more" if len(moved) > 5 else ""
        yield (
            "These rows are not like those of training. Means have moved, in training standard "
            f"deviations: {told}{more}."
        )


def _unfinished(sample: Subject) -> Iterator[str]:
    history = getattr(sample.regressor, "history_", {})
    held_out = np.asarray(history.get("held_out_score", ()))
    if len(held_out) > 1 and np.isfinite(held_out[-1]) and held_out.argmax() == len(held_out) - 1:
        clock = "n_rounds" if "round" in history else "epochs"
        yield (
            "The held-out score was still rising when training ended. "
            f"More training ({clock}) may help."
        )


def _repeated(y: np.ndarray) -> Iterator[str]:
    n_values = len(np.unique(y))
    if n_values < min(len(y) / 5, 100):
        yield (
            f"The target takes only {n_values} values in {len(y):,} rows. A density may put a "
            "narrow peak on each, whose height only min_scale bounds: compare log scores of such "
            "targets with care, and prefer the CRPS."
        )


def _few(scores: Evaluation) -> Iterator[str]:
    if scores.n_rows < FEW:
        yield (
            f"There are only {scores.n_rows} rows. Mind the intervals of the scores; what looks "
            "like a pattern in a figure is mostly chance unless it leaves the shaded band."
        )


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
