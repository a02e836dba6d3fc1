"""The report from a model and rows: every row is scored, a random sample is drawn."""

from importlib.metadata import version
from os import PathLike
from pathlib import Path

import numpy as np

from dgme._files import write_atomically
from dgme.evaluation import Evaluation
from dgme.report import _figures
from dgme.report._figures import Figure
from dgme.report._findings import findings
from dgme.report._importance import importance
from dgme.report._page import render
from dgme.report._scored import Scored, score
from dgme.report._subject import Subject
from dgme.report._tables import column_tables, interval_table, number, row_tables, score_table
from dgme.report._verdict import judge

# Rows behind figures of shares, of points, and behind warnings.
_SAMPLE = 10_000
_POINTS = 1000
_FANNED = 200
_DENSITIES = 8


def write(
    path: str | PathLike, model, X, y, *, title: str | None = None, target: int | None = None
) -> Evaluation:
    """Write a report of a fitted regressor on rows whose targets are known, as one HTML file.

    The file needs nothing but itself: no network, no scripts. It says in words whether the
    densities are calibrated, and shows scores with bootstrap intervals, figures and warnings. Rows
    should be new to the model; on those that it was trained on it looks better than it is.

    Parameters
    ----------
    path : path
        The file, in a folder that exists.
    model : fitted regressor
        Any that has ``predict_dist``.
    X : array or data frame
        Rows in the form in which the model takes them.
    y : array of shape (n,)
        Their targets; of shape (n, d) if `target` says which of them.
    title : str, optional
    target : int, optional
        Of a model of several targets, the one that the report is of.

    Returns
    -------
    Evaluation
        The scores that the report shows.
    """
    path = Path(path)
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent}. Create it first.")
    subject = Subject.of(model, X, y, target)
    scored = score(subject)
    write_atomically(path, _page(subject, scored, title).encode())
    return scored.scores


def _page(subject: Subject, scored: Scored, title: str | None) -> str:
    rng = np.random.default_rng(0)
    drawn = rng.permutation(len(subject))[:_SAMPLE]
    sample, of_sample = subject.take(drawn), _told(len(subject), _SAMPLE)
    law, trained_law = sample.law(), sample.law(n_posterior_samples=0)
    points, of_points = slice(0, _POINTS), _told(len(subject), _POINTS)
    important, n_shuffled = importance(
        lambda rows, y: subject.law_of(rows).logpdf(y), sample.rows, sample.y, rng
    )
    return render(
        "dgme.report",
        "report.html.jinja",
        title=title or f"{subject.method} of {subject.target_name} on {len(subject):,} rows",
        version=version("dgme"),
        verdict=judge(scored.scores, float(subject.y.var()), scored.epistemic_share),
        warnings=findings(scored.scores, sample, law, trained_law),
        data=_data(subject),
        columns=column_tables(subject),
        scores=score_table(scored.scores),
        intervals=interval_table(scored.scores),
        training=list(_figures.training(getattr(subject.regressor, "history_", {}))),
        calibration=[
            *_figures.calibration(law, sample.y, of_sample),
            _figures.fan(law[:_FANNED], sample.y[:_FANNED], _told(len(subject), _FANNED)),
        ],
        uncertainty=[
            _figures.sharpness(law[points], sample.y[points], of_points),
            *([_figures.split(law[points], of_points)] if scored.has_posterior else []),
        ],
        has_posterior=scored.has_posterior,
        importance=_figures.importances(important, subject.rows.names, n_shuffled),
        densities=_densities(subject, scored),
        tables=row_tables(subject, scored, important),
    )


def _told(n: int, limit: int) -> str:
    return f"All {n:,} rows." if n <= limit else f"{limit:,} of {n:,} rows, at random."


def _data(subject: Subject) -> list[tuple[str, str]]:
    y, regressor = subject.y, subject.regressor
    low, quarter, middle, three_quarters, high = np.quantile(y, [0, 0.25, 0.5, 0.75, 1])
    facts = {
        "rows": f"{len(y):,}",
        "features": f"{len(subject.rows.names)}",
        subject.target_name: f"mean {number(y.mean())}, standard deviation {number(y.std())}",
        f"{subject.target_name}, quartiles": f"{number(quarter)}, {number(middle)}, "
        f"{number(three_quarters)}; from {number(low)} to {number(high)}",
        "method": subject.method,
    }
    if profile := getattr(subject.model, "profile_", None):
        facts["training rows"] = f"{profile.n_rows:,}"
    for attribute, name in {
        "n_components": "components",
        "n_members": "members",
        "n_rounds_": "round that predicts",
        "n_epochs_": "epoch that predicts",
        "epistemic": "epistemic part",
    }.items():
        if hasattr(regressor, attribute):
            facts[name] = str(getattr(regressor, attribute))
    return list(facts.items())


def _densities(subject: Subject, scored: Scored) -> list[Figure]:
    n = min(_DENSITIES, len(subject))
    by_mean = np.argsort(scored.mean, kind="stable")
    usual = by_mean[np.linspace(0, len(subject) - 1, n + 2).astype(int)[1:-1]]
    usual = usual[np.sort(np.unique(usual, return_index=True)[1])]
    worst = np.argsort(scored.log_score, kind="stable")[:n]
    chosen = {
        ("usual", "From low to high predictions"): (
            usual,
            "Rows at even steps of the predicted mean, the lowest first.",
        ),
        ("worst", "The most surprising rows"): (worst, "Rows of the lowest log density."),
    }
    figures = []
    for (name, title), (rows, which) in chosen.items():
        law = subject.take(rows).law()
        figures.append(_figures.densities(law, subject.y[rows], rows, name, title, which))
    return figures
