"""Arrays of Gaussian mixtures over vectors of targets."""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dgme.distributions import _quantiles, _vectors
from dgme.distributions._arrays import (
    Array,
    Generator,
    Labels,
    Numbers,
    Seed,
    Values,
    blocks,
    generator,
)
from dgme.distributions._gaussian_mixture import GaussianMixture
from dgme.distributions._gaussians import Gaussians


class VectorGaussianMixture(Gaussians):
    r"""An immutable array of n laws over vectors of d targets, each a mixture of K Gaussians.

    Parameters
    ----------
    weights : array (n, K) or (K,)
        Probabilities of the components; (K,) is shared by all laws. A component has one weight
        for all its targets.
    means, scales : array (n, K, d)
        Means and standard deviations of the components. With arrays of shape (K, d) the result is
        a single law of shape ().
    groups : integers (K,), optional
        Which components belong to the same posterior sample; without it, all do.

    Notes
    -----
    Within a component the targets are independent; in the law they are correlated through the
    choice of the component. ``logpdf``, ``pdf``, ``rvs``, ``responsibilities``, ``energy_score``
    and the covariances see the joint law. All other verbs are those of `GaussianMixture` for every
    ``marginal`` law by itself, with the targets in the last axis of the result.

    An outcome y has the targets in its last axis; the axes before it broadcast against the laws
    as in `GaussianMixture`: for n laws, ``logpdf`` of an array (n, d) has shape (n,), of an array
    (m, 1, d) it has shape (m, n), and ``cdf`` has shapes (n, d) and (m, n, d).

    *Covariance split.* Let group g have the weight :math:`W_g`, and let :math:`m_g` and
    :math:`C_g` be the mean and the covariance of its own mixture. With :math:`m = \sum_g W_g m_g`,

    .. math::
        \underbrace{\textstyle\sum_g W_g C_g}_{\text{aleatoric}} +
        \underbrace{\textstyle\sum_g W_g (m_g - m)(m_g - m)^T}_{\text{epistemic}}
        = \text{covariance},

    whose diagonals are the variance split of the marginals.

    Examples
    --------
    >>> import numpy as np
    >>> means = [[[-1.0, -1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 3.0]]]
    >>> law = VectorGaussianMixture([0.5, 0.5], means, np.ones((2, 2, 2)))
    >>> law
    VectorGaussianMixture(shape=(2,), n_components=2, n_targets=2)
    >>> law.mean()
    array([[0. , 0. ],
           [0. , 1.5]])
    >>> law[0].covariance()
    array([[2., 1.],
           [1., 2.]])
    >>> law.logpdf([0.0, 0.0]).round(2)
    array([-2.84, -2.52])
    >>> law.marginal(1)
    GaussianMixture(shape=(2,), n_components=2)
    """

    __slots__ = ()

    _axes = "Kd"
    _sizes = ("n_components", "n_targets")

    @property
    def n_targets(self) -> int:
        """Number d of targets."""
        return len(self._components[1])

    def marginal(self, target: int | np.integer) -> GaussianMixture:
        """The laws of one target; a negative number counts from the last."""
        n_targets = self.n_targets
        if not -n_targets <= operator.index(target) < n_targets:
            raise IndexError(
                f"target must be between {-n_targets} and {n_targets - 1}, but it is {target}; "
                f"the law has n_targets={n_targets}, counted from 0"
            )
        weights, means, scales = self._components
        tables = weights, means[target], scales[target]
        return GaussianMixture._trusted(tables, self._shape, self._groups)

    def logpdf(self, y: Numbers) -> Values:
        """Logarithm of the joint density at y, finite as far as y squared is."""
        return self._evaluate(_vectors.log_pdf, *np.moveaxis(self._outcomes(y), -1, 0))

    def pdf(self, y: Numbers) -> Values:
        """Joint density at y."""
        with np.errstate(all="ignore"):
            return np.exp(self.logpdf(y))

    def responsibilities(self, y: Numbers) -> Array:
        """Probability, in the last axis, that each component made the outcome y, all of it."""
        targets = np.moveaxis(self._outcomes(y), -1, 0)
        return self._by_component(_vectors.responsibilities, *targets)

    def energy_score(self, y: Numbers, n_samples: int = 1000, random_state: Seed = 0) -> Values:
        r"""Energy score of the outcome y, which generalises ``crps`` to vectors, by Monte Carlo.

        The score is :math:`E\|X - y\| - E\|X - X'\| / 2` with independent draws X and X' of the
        law. The estimate is the mean over ``n_samples`` independent pairs of draws of
        :math:`(\|X - y\| + \|X' - y\| - \|X - X'\|) / 2`, so it is unbiased and never negative,
        and its error falls with the root of ``n_samples``. All outcomes share the draws. Distances
        add up the units of the targets: rescale targets that differ in size.
        """
        if n_samples < 1:
            raise ValueError(
                f"n_samples must be at least 1, but it is {n_samples}; "
                "it is the number of pairs of draws"
            )
        y = self._outcomes(y)
        shape = np.broadcast_shapes(self._shape, y.shape[:-1])
        rng = generator(random_state)
        ones = (1,) * (len(shape) - len(self._shape))
        total = np.zeros(shape)
        for block in blocks(n_samples, 2 * total.size * self.n_targets):
            draws = self.rvs((2, block.stop - block.start, *ones), rng)
            total += np.linalg.norm(draws - y, axis=-1).sum(axis=(0, 1))
            total -= np.linalg.norm(draws[0] - draws[1], axis=-1).sum(axis=0)
        return total[()] / (2 * n_samples)

    def covariance(self) -> Array:
        """Covariance of the targets, (n, d, d) or (d, d); it does not cancel far from zero."""
        return self._covariances(np.zeros_like(self._groups))[0]

    def aleatoric_covariance(self) -> Array:
        """Mean over groups of the covariance of a group's mixture: the noise."""
        return self._covariances(self._groups)[0]

    def epistemic_covariance(self) -> Array:
        """Covariance over groups of the mean of a group's mixture: what the model does not know."""
        return self._covariances(self._groups)[1]

    def correlation(self) -> Array:
        """Correlation of the targets, (n, d, d) or (d, d)."""
        covariance = self.covariance()
        std = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
        # rounding must not make a correlation above one
        return np.clip(covariance / (std[..., :, None] * std[..., None, :]), -1.0, 1.0)

    def mean(self) -> Array:
        """Expectation, (n, d)."""
        return self._stack(GaussianMixture.mean)

    def var(self) -> Array:
        """Variance of every target."""
        return self._stack(GaussianMixture.var)

    def std(self) -> Array:
        """Standard deviation of every target."""
        return self._stack(GaussianMixture.std)

    def skewness(self) -> Array:
        """Third standardised moment of every target."""
        return self._stack(GaussianMixture.skewness)

    def kurtosis(self) -> Array:
        """Excess kurtosis of every target."""
        return self._stack(GaussianMixture.kurtosis)

    def aleatoric_variance(self) -> Array:
        """The diagonal of ``aleatoric_covariance``."""
        return self._stack(GaussianMixture.aleatoric_variance)

    def epistemic_variance(self) -> Array:
        """The diagonal of ``epistemic_covariance``."""
        return self._stack(GaussianMixture.epistemic_variance)

    def between_component_variance(self) -> Array:
        """Variance over components of their means, whatever the groups, of every target."""
        return self._stack(GaussianMixture.between_component_variance)

    def cdf(self, y: Numbers) -> Array:
        """Probability of a value up to y, of every target by itself."""
        return self._stack(GaussianMixture.cdf, self._outcomes(y))

    def sf(self, y: Numbers) -> Array:
        """Probability of a value above y, of every target by itself."""
        return self._stack(GaussianMixture.sf, self._outcomes(y))

    def logcdf(self, y: Numbers) -> Array:
        """Logarithm of ``cdf``, accurate in both tails."""
        return self._stack(GaussianMixture.logcdf, self._outcomes(y))

    def logsf(self, y: Numbers) -> Array:
        """Logarithm of ``sf``, accurate in both tails."""
        return self._stack(GaussianMixture.logsf, self._outcomes(y))

    def pit(self, y: Numbers) -> Array:
        """Probability integral transform of every target: ``cdf``."""
        return self.cdf(y)

    def crps(self, y: Numbers) -> Array:
        """Continuous ranked probability score of every target; ``energy_score`` is the joint one.

        It is blind to how targets depend on each other.
        """
        return self._stack(GaussianMixture.crps, self._outcomes(y))

    def ppf(self, q: Numbers) -> Array:
        """Quantiles of every target: the shape of q with the laws, followed by (d,)."""
        return self._stack(partial(GaussianMixture.ppf, q=q))

    def median(self) -> Array:
        """Median of every target."""
        return self._stack(GaussianMixture.median)

    def interval(self, confidence: Numbers = 0.9) -> tuple[Array, Array]:
        """Lower and upper ends of the interval of every target with equal tails outside.

        Each interval holds its own target with this probability; all of them at once hold less.
        """
        lower, upper = self._stack(partial(GaussianMixture.interval, confidence=confidence))
        return lower, upper

    def entropy(self) -> Array:
        """Differential entropy of every target by itself, in nats.

        They are the entropies of the marginals. Their sum is at least that of the joint law, which
        has no closed form.
        """
        return self._stack(GaussianMixture.entropy)

    def to_gaussian(self) -> "VectorGaussianMixture":
        """The single component with the same means and variances; covariances are dropped."""
        mean, std = (a[..., None, :] for a in (self.mean(), self.std()))
        return VectorGaussianMixture([1.0], mean, std)

    def _draw(self, rng: Generator, shape: tuple[int, ...]) -> Array:
        uniform, normal = rng.random(shape), rng.standard_normal((*shape, self.n_targets))

        # the same uniform number chooses the same component for every target
        def draw(law: GaussianMixture, normal: Values) -> Values:
            return law._evaluate(_quantiles.draw, uniform, normal)

        return self._stack(draw, normal)

    def _stack(self, verb: Callable[..., Any], *arguments: Array) -> Array:
        """What a verb of the marginals returns, in the last axis, for arguments that end in it."""
        marginals = map(self.marginal, range(self.n_targets))
        columns = (np.moveaxis(a, -1, 0) for a in arguments)
        return np.stack([verb(*row) for row in zip(marginals, *columns, strict=True)], axis=-1)

    def _outcomes(self, y: Numbers) -> Array:
        """Outcomes as an array that ends in the targets and broadcasts with the laws."""
        y = np.asarray(y, dtype=np.float64)
        if y.shape[-1:] != (self.n_targets,):
            raise ValueError(
                f"y must have the {self.n_targets} targets of the law in its last axis, but it has "
                f"shape {y.shape}; put them there with numpy.stack(targets, axis=-1)"
            )
        try:
            np.broadcast_shapes(self._shape, y.shape[:-1])
        except ValueError:
            raise ValueError(
                f"y must broadcast with the shape {(*self._shape, self.n_targets)} of the laws and "
                f"their targets, but it has shape {y.shape}; pass one row for each law, or shape "
                f"(m, 1, {self.n_targets}) for m outcomes of every law"
            ) from None
        return y

    def _covariances(self, groups: Labels) -> Array:
        """The covariance within groups of components and between them, (2, n, d, d)."""
        d = self.n_targets
        split = self._evaluate(
            partial(_vectors.covariance_split, groups=groups),
            leading=(2, d, d),
            cost=d * (d + self.n_components),
        )
        return np.moveaxis(split, (1, 2), (-2, -1))
