"""One small model, with a posterior, and one report of it, for all tests of this folder."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dgme import DGMERegressor, report

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="session")
def subject() -> SimpleNamespace:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (400, 3))
    y = X[:, 0] ** 3 + rng.normal(size=400) * np.exp(0.5 * X[:, 1])
    X = pd.DataFrame(X, columns=["slope", "noise", HOSTILE])
    model = DGMERegressor(
        n_components=2, n_rounds=3, epochs_per_round=8, epistemic="laplace", random_state=0
    ).fit(X[:300], y[:300])
    return SimpleNamespace(model=model, X=X[300:], y=y[300:])


@pytest.fixture(scope="session")
def path(subject, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    report.write(path, subject.model, subject.X, subject.y, title=f"Cubes {HOSTILE}")
    return path


@pytest.fixture(scope="session")
def page(path) -> str:
    return path.read_text("utf-8")
