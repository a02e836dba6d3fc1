"""Arrays of one-dimensional Gaussian mixtures."""

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr

from dgme._optional import installed_by
from dgme.distributions import _densities, _entropy, _modality, _moments, _quantiles, _regions
from dgme.distributions._arrays import Array, Edges, Generator, Numbers, Values, blocks, take
from dgme.distributions._crps import crps, mean_absolute_difference
from dgme.distributions._gaussians import Gaussians

if TYPE_CHECKING:
    import numpyro.distributions


class GaussianMixture(Gaussians):
    r"""An immutable array of n laws, each a mixture of K Gaussians.

    Parameters
    ----------
    weights : array (n, K) or (K,)
        Probabilities of the components; (K,) is shared by all laws. They may be zero and must sum
        to one within 1e-6; what rounding left of that is divided away.
    means, scales : array (n, K)
        Means and standard deviations of the components. With arrays of shape (K,) the result is a
        single law of shape ().
    groups : integers (K,), optional
        Which components belong to the same posterior sample; without it, all do.

    Notes
    -----
    A law broadcasts against an argument as an array of its shape would: for n laws, ``logpdf`` of
    an array (n,) or a number has shape (n,), and ``ppf`` of an array (m, 1) has shape (m, n). A
    single law returns NumPy scalars. Infinite and missing outcomes give their limits and NaN
    without a warning. A slice shares the memory of its laws.

    *Variance split.* Let group g have the weight :math:`W_g = \sum_{k \in g} w_k`, and let
    :math:`m_g` and :math:`v_g` be the mean and the variance of its own mixture. With
    :math:`m = \sum_g W_g m_g`,

    .. math::
        \underbrace{\textstyle\sum_g W_g v_g}_{\text{aleatoric}} +
        \underbrace{\textstyle\sum_g W_g (m_g - m)^2}_{\text{epistemic}} = \text{variance}.

    A group is one posterior sample of the model: what it calls noise is aleatoric, and where
    samples disagree about the mean the model does not know. A mixture from a single model is one
    group, and its modes are noise. ``between_component_variance`` is
    :math:`\sum_k w_k (\mu_k - m)^2` whatever the groups.

    Examples
    --------
    >>> import numpy as np
    >>> law = GaussianMixture([0.5, 0.5], [[-2.0, 2.0], [0.0, 1.0]], np.ones((2, 2)))
    >>> law
    GaussianMixture(shape=(2,), n_components=2)
    >>> law.mean(), law.var()
    (array([0. , 0.5]), array([5.  , 1.25]))
    >>> law[0].cdf(0.0).round(3)
    np.float64(0.5)
    >>> law.ppf([[0.1], [0.9]]).round(2)
    array([[-2.84, -0.94],
           [ 2.84,  1.94]])
    """

    __slots__ = ()

    _axes = "K"

    def pdf(self, y: Numbers) -> Values:
        """Density at y."""
        return self._evaluate(_densities.pdf, y)

    def logpdf(self, y: Numbers) -> Values:
        """Logarithm of the density at y, finite as far as y squared is."""
        return self._evaluate(_densities.log_pdf, y)

    def cdf(self, y: Numbers) -> Values:
        """Probability of a value up to y."""
        return self._evaluate(_densities.cdf, y)

    def sf(self, y: Numbers) -> Values:
        """Probability of a value above y, accurate where it is small."""
        return self._evaluate(_densities.sf, y)

    def logcdf(self, y: Numbers) -> Values:
        """Logarithm of ``cdf``, accurate in both tails."""
        return self._evaluate(_densities.log_cdf, y)

    def logsf(self, y: Numbers) -> Values:
        """Logarithm of ``sf``, accurate in both tails."""
        return self._evaluate(_densities.log_sf, y)

    def ppf(self, q: Numbers) -> Values:
        """Quantiles; NaN for q outside [0, 1].

        They are exact to a relative 1e-11 in q and in 1 - q, as far as doubles resolve the result.
        """
        return self._evaluate(_quantiles.quantile, q)

    def normal_score(self, y: Numbers) -> Values:
        """The standard normal quantile of ``cdf(y)``, accurate in both tails.

        Of one Gaussian it is (y - mean) / std. Where ``cdf`` has long rounded to 0 or 1 it still
        tells how far out an outcome lies.
        """
        return self._evaluate(_quantiles.normal_score, y)

    def at_normal_score(self, z: Numbers) -> Values:
        """The outcome whose ``normal_score`` is z, to 1e-13 in z: the quantile of normal cdf(z)."""
        return self._evaluate(_quantiles.at_normal_score, z)

    def median(self) -> Values:
        """The quantile of one half."""
        return self.ppf(0.5)

    def interval(self, confidence: Numbers = 0.9) -> tuple[Values, Values]:
        """Lower and upper end of the interval with equal tails outside."""
        inside = np.asarray(confidence, dtype=np.float64)
        if not ((inside >= 0) & (inside <= 1)).all():
            raise ValueError(f"confidence must be between 0 and 1, but it is {confidence}")
        return self.ppf((1 - inside) / 2), self.ppf((1 + inside) / 2)

    def mean(self) -> Values:
        """Expectation."""
        return self._evaluate(_moments.mean)

    def var(self) -> Values:
        """Variance; it does not cancel however far the law is from zero."""
        return self._evaluate(_moments.var)

    def std(self) -> Values:
        """Standard deviation."""
        return self._evaluate(_moments.std)

    def skewness(self) -> Values:
        """Third standardised moment."""
        return self._evaluate(_moments.skewness)

    def kurtosis(self) -> Values:
        """Excess kurtosis: fourth standardised moment minus 3."""
        return self._evaluate(_moments.excess_kurtosis)

    def aleatoric_variance(self) -> Values:
        """Mean over groups of the variance of a group's mixture: the noise."""
        return self._evaluate(partial(_moments.aleatoric_variance, groups=self._groups))

    def epistemic_variance(self) -> Values:
        """Variance over groups of the mean of a group's mixture: what the model does not know."""
        return self._evaluate(partial(_moments.epistemic_variance, groups=self._groups))

    def between_component_variance(self) -> Values:
        """Variance over components of their means, whatever the groups."""
        return self._evaluate(_moments.between_component_variance)

    def entropy(self) -> Values:
        """Differential entropy in nats, by quadrature with an error below 1e-10."""
        return self._evaluate(_entropy.entropy, cost=_entropy.cost(self.n_components))

    def crps(self, y: Numbers) -> Values:
        """Continuous ranked probability score of the outcome y, in closed form."""
        return self._evaluate(crps, y)

    def mean_absolute_difference(self) -> Values:
        """Expected distance of two independent draws, in closed form."""
        return self._evaluate(mean_absolute_difference)

    def responsibilities(self, y: Numbers) -> Array:
        """Probability, in the last axis, that each component made the outcome y."""
        return self._by_component(_densities.responsibilities, y)

    def pit(self, y: Numbers) -> Values:
        """Probability integral transform: ``cdf``, uniform over outcomes of a calibrated law."""
        return self.cdf(y)

    def modes(self) -> Array:
        """All local maxima of the density, ascending: (n, M), padded with NaN, or (M,).

        Every one counts, however low; M is the largest number that one of the laws has. Two maxima
        less than 1e-5 of a scale apart may be told from one or not, as rounding decides.
        """
        return self._collect(_modality.modes)

    def hdr(self, coverage: float = 0.9) -> Array:
        """The smallest region that holds the coverage, as disjoint intervals in ascending order.

        Ends are in the last axis of the result (n, M, 2), or (M, 2); laws with fewer than M
        intervals are padded with NaN. The mass is exact to 1e-8, and intervals with less than
        1e-10 of it are left out.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage must be strictly between 0 and 1, but it is {coverage}")
        return self._region(np.log1p(-coverage))

    def hdr_score(self, y: Numbers) -> Values:
        """How far out y lies by its density: 0 at the highest mode, infinite from 37 or so on.

        The region of all outcomes that are denser than y leaves out as much mass as a standard
        normal law has outside ±score. Of one Gaussian it is abs(y - mean) / std.
        """
        cost = _modality.cost(self.n_components)
        return self._evaluate(_regions.score, y, cost=cost)

    def hdr_at_score(self, z: float) -> Array:
        """The highest-density region of the outcomes whose ``hdr_score`` is at most z; see ``hdr``.

        It holds the mass that a standard normal law has within ±z.
        """
        if not z > 0:
            raise ValueError(f"z must be positive, but it is {z}; at 0 there are but the modes")
        if z > _regions.FURTHEST_SCORE:
            return np.broadcast_to([-np.inf, np.inf], (*self._shape, 1, 2)).copy()
        return self._region(np.log(2) + log_ndtr(-z))

    def _region(self, log_outside: float) -> Array:
        kernel = partial(_regions.highest_density_region, log_outside=float(log_outside))
        ends = self._collect(kernel)
        return ends.reshape(*ends.shape[:-1], ends.shape[-1] // 2, 2)

    def to_gaussian(self) -> "GaussianMixture":
        """The single Gaussian with the same mean and variance."""
        mean, std = np.asarray(self.mean()), np.asarray(self.std())
        return GaussianMixture([1.0], mean[..., None], std[..., None])

    def to_numpyro(self) -> "numpyro.distributions.MixtureSameFamily":
        """The same laws as a batch for numpyro.

        It computes in the precision of JAX, which is single unless ``jax_enable_x64`` is set.
        """
        with installed_by("numpyro"):
            from numpyro.distributions import CategoricalProbs, MixtureSameFamily, Normal
        return MixtureSameFamily(CategoricalProbs(self.weights), Normal(self.means, self.scales))

    def _draw(self, rng: Generator, shape: tuple[int, ...]) -> Values:
        return self._evaluate(_quantiles.draw, rng.random(shape), rng.standard_normal(shape))

    def _collect(self, kernel: Callable[..., Edges]) -> Array:
        """Run a kernel whose tables have as many rows as the block needs."""
        n = math.prod(self._shape)
        with np.errstate(all="ignore"):
            tables = [
                kernel(*take(self._components, block))
                for block in blocks(n, _modality.cost(self.n_components))
            ]
        height = max((len(table) for table in tables), default=0)
        out = np.full((n, height), np.nan)
        start = 0
        for table in tables:
            out[start : start + table.shape[1], : len(table)] = table.T
            start += table.shape[1]
        return out.reshape(*self._shape, height)
