"""Regressors and their laws as skpro knows them, so that its tools see the exact mixture."""

from typing import Any, no_type_check

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from dgme._optional import installed_by
from dgme.distributions import GaussianMixture, VectorGaussianMixture
from dgme.estimators import DGMERegressor

with installed_by("skpro"):
    import pandas as pd
    from skpro.distributions.base import BaseDistribution
    from skpro.regression.base import BaseProbaRegressor


class SkproDistribution(BaseDistribution):
    """Predictive laws as a distribution of skpro: a row for each law, a column for each target.

    All but ``pdfnorm(a)`` for ``a`` other than 1 and 2 is exact. The density, the quantiles and so
    on are those of single targets, as skpro has it; samples of several targets are joint.

    Parameters
    ----------
    law : GaussianMixture or VectorGaussianMixture
        What `predict_dist` returns.
    index, columns : pandas.Index, optional
        Names of the rows and of the targets; without them, their numbers.

    Examples
    --------
    >>> from dgme import GaussianMixture
    >>> from dgme.skpro import SkproDistribution
    >>> law = GaussianMixture([0.5, 0.5], [[-1.0, 1.0], [0.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]])
    >>> SkproDistribution(law, columns=["price"]).mean()
       price
    0    0.0
    1    2.0
    """

    _tags = {  # noqa: RUF012
        "capabilities:exact": ["mean", "var", "energy", "pdf", "log_pdf", "cdf", "ppf"],
        "capabilities:approx": ["pdfnorm"],
        "distr:measuretype": "continuous",
        "distr:paramtype": "nonparametric",
    }

    @no_type_check  # skpro reads the signature, which type checks at run time would hide
    def __init__(self, law, index=None, columns=None):
        self.law = law
        if isinstance(law, VectorGaussianMixture) and not law.shape:
            raise ValueError("law must have an axis of rows: pass laws[i : i + 1] and not laws[i].")
        if law.shape:
            index = pd.RangeIndex(len(law)) if index is None else index
            columns = pd.RangeIndex(len(self._targets)) if columns is None else columns
        super().__init__(index=index, columns=columns)
        if law.shape and self.shape != (len(law), len(self._targets)):
            raise ValueError(
                f"index and columns must name {len(law)} rows and {len(self._targets)} targets of "
                f"the law, but they name {self.shape[0]} and {self.shape[1]}."
            )

    @property
    def _targets(self) -> list[GaussianMixture]:
        if isinstance(self.law, VectorGaussianMixture):
            return [self.law.marginal(target) for target in range(self.law.n_targets)]
        return [self.law]

    def _of_targets(self, verb, *values):
        """What a function gives for the laws of every target, in columns."""
        if not self.ndim:
            return verb(self.law, *values)
        columns = zip(self._targets, *(np.asarray(table, float).T for table in values), strict=True)
        return np.stack([verb(*column) for column in columns], axis=1)

    def _mean(self):
        return self._of_targets(GaussianMixture.mean)

    def _var(self):
        return self._of_targets(GaussianMixture.var)

    def _pdf(self, x):
        return self._of_targets(GaussianMixture.pdf, x)

    def _log_pdf(self, x):
        return self._of_targets(GaussianMixture.logpdf, x)

    def _cdf(self, x):
        return self._of_targets(GaussianMixture.cdf, x)

    def _surv(self, x):
        return self._of_targets(GaussianMixture.sf, x)

    def _ppf(self, p):
        return self._of_targets(GaussianMixture.ppf, p)

    def _energy_self(self):
        return self._sum(self._of_targets(GaussianMixture.mean_absolute_difference))

    def _energy_x(self, x):
        def distance(law, x):
            return law.crps(x) + law.mean_absolute_difference() / 2

        return self._sum(self._of_targets(distance, x))

    def _sum(self, energies):
        return energies.sum(axis=1, keepdims=True) if self.ndim else energies

    def pdfnorm(self, a=2):
        if a != 2:
            return super().pdfnorm(a)
        return self._boilerplate("_squared_norm")

    def _squared_norm(self):
        return self._of_targets(_expected_density)

    def _sample(self, n_samples=None):
        # The generator that all distributions of skpro draw from is NumPy's global one.
        draws: Any = self.law.rvs(n_samples, random_state=check_random_state(None))
        if n_samples is None:
            table = (draws.reshape(self.shape), self.index, self.columns)
            return pd.DataFrame(*table) if self.ndim else draws
        if not self.ndim:
            return pd.DataFrame(draws)
        index: Any = self.index
        names = (index.get_level_values(level) for level in range(index.nlevels))
        rows = pd.MultiIndex.from_arrays(
            [np.repeat(range(n_samples), len(self)), *(np.tile(name, n_samples) for name in names)],
            names=[None, *index.names],
        )
        return pd.DataFrame(draws.reshape(len(rows), -1), rows, self.columns)

    def _subset_params(self, rowidx, colidx, coerce_scalar=False):
        law = self.law
        if coerce_scalar:
            return {"law": self._targets[colidx][rowidx]}
        if colidx is not None and isinstance(law, VectorGaussianMixture):
            means, scales = (table[..., list(colidx)] for table in (law.means, law.scales))
            law = VectorGaussianMixture(law.weights, means, scales, law.groups)
        return {"law": law if rowidx is None else law[np.asarray(rowidx)]}

    @classmethod
    def get_test_params(cls, parameter_set="default") -> Any:
        """Laws for skpro's own checks."""
        weights, means = [0.3, 0.7], np.array([[0.0, 3.0], [1.0, 1.0], [-2.0, 0.5]])
        law = GaussianMixture(weights, means, np.ones((3, 2)))
        vectors = VectorGaussianMixture(
            weights, np.stack([means, means - 1], axis=2), np.ones((3, 2, 2)), groups=[0, 1]
        )
        names = {"index": pd.Index([1, 2, 5]), "columns": pd.Index(["a", "b"])}
        return [{"law": law}, {"law": vectors, **names}, {"law": law[0]}]


def _expected_density(law: GaussianMixture) -> Any:
    """E p(X), the integral of the squared density."""
    total = 0.0
    for weight, mean, scale in zip(law.weights.T, law.means.T, law.scales.T, strict=True):
        # The density of X at a draw of one component is that of a wider mixture at its mean.
        wider = GaussianMixture(law.weights, law.means, np.hypot(law.scales, scale[..., None]))
        total += weight * wider.pdf(mean)
    return total


class SkproRegressor(BaseProbaRegressor):
    """A regressor of dgme as one of skpro.

    Parameters
    ----------
    regressor : regressor of dgme, optional
        What to fit, by default ``DGMERegressor()``. It is cloned.

    Attributes
    ----------
    regressor_
        The fitted clone.

    Examples
    --------
    >>> import pandas as pd
    >>> from dgme import DGMERegressor
    >>> from dgme.datasets import toy
    >>> from dgme.skpro import SkproRegressor
    >>> data = toy.load("gaussian", 200, random_state=0)
    >>> X, y = pd.DataFrame(data.X, columns=["x"]), pd.DataFrame({"y": data.y})
    >>> model = SkproRegressor(DGMERegressor(n_components=2, n_rounds=2, random_state=0)).fit(X, y)
    >>> law = model.predict_proba(X)
    >>> law.log_pdf(y).shape
    (200, 1)
    """

    _tags = {"capability:missing": False, "capability:multioutput": True}  # noqa: RUF012

    @no_type_check  # as above
    def __init__(self, regressor=None):
        self.regressor = regressor
        super().__init__()

    def _fit(self, X, y, C=None):
        regressor: Any = DGMERegressor() if self.regressor is None else clone(self.regressor)
        self._target_names = y.columns
        self.regressor_ = regressor.fit(_named(X), y.iloc[:, 0] if y.shape[1] == 1 else y)
        return self

    def _predict_proba(self, X) -> Any:
        law = self.regressor_.predict_dist(_named(X))
        return SkproDistribution(law, index=X.index, columns=self._target_names)

    @classmethod
    def get_test_params(cls, parameter_set="default") -> Any:
        """Regressors for skpro's own checks, as quick to fit as possible."""
        quick = {"n_components": 2, "n_rounds": 1, "epochs_per_round": 2, "hidden_sizes": (4,)}
        return [{"regressor": DGMERegressor(**quick, annealing=start)} for start in (0.5, 1.0)]


def _named(X: pd.DataFrame) -> pd.DataFrame:
    """skpro lets columns be numbers, scikit-learn wants names."""
    return X.rename(columns=str)
