"""The tables of a report, as text."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from dgme.evaluation import Evaluation
from dgme.report._importance import Importance
from dgme.report._scored import Scored
from dgme.report._subject import Subject

# Rows and features of a table of single rows.
_LISTED = 10
_MOST_COLUMNS = 12


class Table(NamedTuple):
    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def score_table(scores: Evaluation) -> Table:
    told = {
        "rmse": ("root mean squared error", "of the mean"),
        "mae": ("mean absolute error", "of the median"),
        "bias": ("bias", "mean prediction minus mean target"),
        "log_score": ("log score", "mean log density of the target in nats; more is better"),
        "gaussian_log_score": ("log score, Gaussian", "of Gaussians with the same moments"),
        "shape_gain": ("gain by shape", "the former minus the latter"),
        "crps": ("CRPS", "continuous ranked probability score, in units of the target"),
        "calibration_error": (
            "calibration error",
            "mean distance of quantiles from their levels; chance alone makes "
            f"{_score_text(scores.chance_calibration_error)}",
        ),
    }
    rows = []
    for attribute, (name, meaning) in told.items():
        estimate = getattr(scores, attribute)
        rows.append([name, *map(_score_text, estimate), meaning])
    note = "The range holds 95 % of bootstrap resamples of the rows, taken as independent."
    if scores.n_costly_rows < scores.n_rows:
        note += (
            " Absolute errors, CRPS, widths and interval scores come from "
            f"{scores.n_costly_rows:,} of the {scores.n_rows:,} rows, drawn at random; all other "
            "scores from all rows."
        )
    return Table("Points and densities", note, ["", "score", "from", "to", "words: meaning"], rows)


def interval_table(scores: Evaluation) -> Table:
    rows = [
        [
            f"{100 * one.coverage:g} %",
            f"{100 * one.covered.value:.1f} %",
            f"{100 * one.covered.lower:.1f} to {100 * one.covered.upper:.1f} %",
            _score_text(one.width.value),
            f"{_score_text(one.width.lower)} to {_score_text(one.width.upper)}",
            _score_text(one.score.value),
            f"{_score_text(one.score.lower)} to {_score_text(one.score.upper)}",
        ]
        for one in scores.intervals
    ]
    note = (
        "Equal-tailed intervals: what they promise to hold, the share of targets that they do "
        "hold, their mean width, and the interval score, which adds a penalty for targets outside."
    )
    columns = ["promised", "held", "", "width", "", "interval score", ""]
    return Table("Intervals", note, columns, rows)


def column_tables(subject: Subject) -> list[Table]:
    """What a model of tables made of the columns, if it is one."""
    columns = getattr(getattr(subject.model, "encoder_", None), "columns_", ())
    if not columns:
        return []
    rows = [(one.name, one.kind, str(one.n_missing), one.note) for one in columns]
    note = "What training found in the columns, and in how many rows it found nothing."
    return [Table("Columns", note, ["column", "words: kind", "missing", "words: note"], rows)]


def row_tables(subject: Subject, scored: Scored, important: Sequence[Importance]) -> list[Table]:
    features = [one.feature for one in important[:_MOST_COLUMNS]]
    note = "Rows are counted from 0."
    if len(features) < len(important):
        note += f" The {len(features)} most important of {len(important)} features are shown."
    orders = [("Rows that surprised the model most", "lowest log density", scored.log_score)]
    if scored.has_posterior:
        orders.append(
            (
                "Rows that the model knows least about",
                "largest epistemic standard deviation",
                -scored.epistemic,
            )
        )
    return [
        _row_table(
            subject,
            scored,
            np.argsort(order, kind="stable")[:_LISTED],
            features,
            title,
            f"Those of the {which}. {note}",
        )
        for title, which, order in orders
    ]


def _row_table(
    subject: Subject,
    scored: Scored,
    rows: Int[np.ndarray, " m"],
    features: Sequence[int],
    title: str,
    note: str,
) -> Table:
    some = subject.take(rows)
    stds = {"std": scored.aleatoric + scored.epistemic}
    if scored.has_posterior:
        stds = {"aleatoric std": scored.aleatoric, "epistemic std": scored.epistemic}
    columns = {
        "row": map(str, rows),
        subject.target_name: map(number, some.y),
        "predicted": map(number, scored.mean[rows]),
        **{name: map(number, np.sqrt(variance[rows])) for name, variance in stds.items()},
        "log density": map(number, scored.log_score[rows]),
    }
    names = [subject.rows.names[feature] for feature in features]
    values = [map(_shown, some.rows.values(feature)) for feature in features]
    cells = list(zip(*columns.values(), *values, strict=True))
    return Table(title, note, [*columns, *names], cells)


def number(value: float, zeros: str = "") -> str:
    """Four digits, without an exponent where people do not write one."""
    value = float(value)
    if value == 0 or 1e-4 <= abs(value) < 1e4:
        shown = f"{value:{zeros}.4g}".rstrip(".")
    else:
        shown = f"{value:,.0f}" if abs(value) < 1e7 and value.is_integer() else f"{value:.4g}"
    return shown.replace("-", "−")


def _score_text(value: float) -> str:
    """With the zeros at its end, which tell how much of it is known."""
    return number(value, zeros="#")


def _shown(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    if isinstance(value, float):
        return number(value)
    text = str(value)
    return text if len(text) <= 32 else text[:31] + "…"
