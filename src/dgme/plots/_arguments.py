"""What figures are given, checked, and brought into the order in which it is drawn."""

from datetime import date
from typing import Any

import numpy as np

from dgme.distributions import CategoricalMixture, VectorGaussianMixture


def of_numbers(law):
    """The law, unless it is one of classes or of several targets."""
    if isinstance(law, CategoricalMixture):
        raise TypeError(
            "law is one of classes, a CategoricalMixture, but this figure is of laws of a number"
        )
    if isinstance(law, VectorGaussianMixture):
        raise ValueError(
            f"law is one of {law.n_targets} targets, but a figure shows one: pass law.marginal(0) "
            "and y[:, 0], and so on for the others"
        )
    # Either is enough for some figures.
    if not (hasattr(law, "cdf") or hasattr(law, "ppf")):
        raise TypeError(
            f"law must be laws, as predict_dist(X) returns them, but is a {type(law).__name__}; of "
            "means and standard deviations make them by dgme.metrics.from_std(mean, std)"
        )
    return law


def rows_of(law):
    """The law, unless it is a single one."""
    if not shape_of(of_numbers(law)):
        raise ValueError("law is a single law, but this figure needs an array of them, one per row")
    return law


def shape_of(law) -> tuple[int, ...]:
    """(n,), or () for a single law; laws that are known in part have a length alone."""
    return law.shape if hasattr(law, "shape") else (len(law),)


def targets(law, y, missing: bool = False) -> np.ndarray:
    """One number per law; only where it may be missing, it may be NaN."""
    y = np.asarray(y, dtype=np.float64)
    if y.shape != (shape := shape_of(law)):
        hint = "; pass y.ravel()" if (y.size,) == shape else ""
        raise ValueError(
            f"y must have shape {shape}, one target per law, but has shape {y.shape}{hint}"
        )
    bad = np.isinf(y) if missing else ~np.isfinite(y)
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"y must hold finite numbers, but y[{first}] is {y.flat[first]} ({bad.sum()} of "
            f"{y.size} are not finite); leave these rows out of law and y"
        )
    return y


def inputs(law, x) -> np.ndarray:
    """One number or date per law."""
    x = np.asarray(x)
    if x.shape not in ((len(law),), (len(law), 1)):
        raise ValueError(f"x must have shape ({len(law)},), one input per law, but has {x.shape}.")
    x = x.ravel()
    if not are_dates(x):
        try:
            x = x.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"x must hold numbers or dates, but x[0] is {x[0]!r}; pass one numeric column"
            ) from None
    if x.dtype != object and not np.isfinite(x).all():
        first = int(np.flatnonzero(~np.isfinite(x))[0])
        raise ValueError(f"x must be known for every law, but x[{first}] is {x[first]}")
    return x


def are_dates(x: np.ndarray) -> bool:
    return x.dtype.kind == "M" or (
        x.dtype == object and len(x) > 0 and all(isinstance(value, date) for value in x)
    )


def along(law, x) -> tuple[Any, np.ndarray]:
    """The laws in the order of their input, and the inputs."""
    x = inputs(rows_of(law), x)
    order = np.argsort(x, kind="stable")
    return law[order], x[order]
