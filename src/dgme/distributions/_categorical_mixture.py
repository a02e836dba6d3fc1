"""Arrays of mixtures of categorical laws: what classifiers predict."""

import math
from functools import partial

import numpy as np

from dgme.distributions import _categorical
from dgme.distributions._arrays import Array, Generator, Numbers, Seed, Values, choose, generator
from dgme.distributions._laws import Laws
from dgme.distributions._validation import categoricals


class CategoricalMixture(Laws):
    r"""An immutable array of n laws, each a mixture of K categorical laws over C classes.

    Parameters
    ----------
    weights : array (n, K) or (K,)
        Probabilities of the components; (K,) is shared by all laws. They may be zero and must sum
        to one within 1e-6; what rounding left of that is divided away.
    probabilities : array (n, K, C)
        Probabilities that each component gives to the classes 0, ..., C - 1, under the same
        conditions. With an array (K, C) the result is a single law of shape ().
    groups : integers (K,), optional
        Which components belong to the same posterior sample; without it, all do.

    Notes
    -----
    A law broadcasts against an argument as an array of its shape would: for n laws, ``logpmf`` of
    an array (n,) or a number has shape (n,), and of an array (m, 1) it has shape (m, n). A single
    law returns NumPy scalars. As in scipy.stats, what is no class (a class out of range, 1.5,
    infinity) has probability zero, and a missing outcome gives NaN. Entropies are in nats. A slice
    shares the memory of its laws.

    *Entropy split.* Let group g have the weight :math:`W_g = \sum_{k \in g} w_k` and the mean
    probabilities :math:`p_g`. With :math:`p = \sum_g W_g p_g` and H the entropy,

    .. math::
        \underbrace{\textstyle\sum_g W_g H(p_g)}_{\text{expected entropy}} +
        \underbrace{\textstyle\sum_g W_g \mathrm{KL}(p_g \| p)}_{\text{mutual information}} =
        \underbrace{H(p)}_{\text{entropy}}.

    A group is one posterior sample of the model: what it calls chance is the expected entropy, and
    where samples disagree the model does not know. A mixture from a single model is one group, and
    has no mutual information. The paper averages over components whatever the groups, and without
    mixing them first: ``component_entropy`` is :math:`\sum_k w_k H(p_k)`, and ``average_entropy``
    is its estimate from draws.

    Examples
    --------
    Two members of an ensemble that contradict each other, then two that agree on even odds:

    >>> odds = [[[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]]]
    >>> law = CategoricalMixture([0.5, 0.5], odds, groups=[0, 1])
    >>> law
    CategoricalMixture(shape=(2,), n_components=2, n_classes=2, n_groups=2)
    >>> law.mean()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> law.entropy().round(3)
    array([0.693, 0.693])
    >>> law.mutual_information().round(3)
    array([0.368, 0.   ])
    >>> law[0].pmf([0, 1, 2]).round(3)
    array([0.5, 0.5, 0. ])
    """

    __slots__ = ()

    _axes = "KC"
    _sizes = ("n_components", "n_classes")

    def __init__(
        self, weights: Numbers, probabilities: Numbers, groups: Numbers | None = None
    ) -> None:
        self._set(*categoricals(weights, probabilities, groups, self._axes))

    @property
    def probabilities(self) -> Array:
        """Probabilities of the classes under each component, (n, K, C) or (K, C); read-only."""
        return self._public(self._components[1])

    @property
    def n_classes(self) -> int:
        """C, the number of classes."""
        return len(self._components[1])

    def pmf(self, y: Numbers) -> Values:
        """Probability of the class y."""
        return self._evaluate(_categorical.pmf, y)

    def logpmf(self, y: Numbers) -> Values:
        """Logarithm of the probability of the class y; minus infinity where that is zero."""
        return self._evaluate(_categorical.log_pmf, y)

    def responsibilities(self, y: Numbers) -> Array:
        """Probability, in the last axis, that each component made the class y."""
        return self._by_component(_categorical.responsibilities, y)

    def mean(self) -> Array:
        """Predictive probabilities of the classes, (n, C) or (C,)."""
        return self._public(self._mean())

    def mode(self) -> Values:
        """The most probable class, the first of several."""
        return self._evaluate(_categorical.mode, dtype=np.intp)

    def entropy(self) -> Values:
        """Entropy of the predictive probabilities."""
        return self._evaluate(_categorical.entropy)

    def expected_entropy(self) -> Values:
        """Mean over groups of the entropy of a group's mean probabilities: chance."""
        return self._evaluate(partial(_categorical.expected_entropy, groups=self._groups))

    def mutual_information(self) -> Values:
        """Entropy minus expected entropy: what the model does not know."""
        return self._evaluate(partial(_categorical.mutual_information, groups=self._groups))

    def component_entropy(self) -> Values:
        """Mean over components of their entropy, whatever the groups."""
        return self._evaluate(_categorical.component_entropy)

    def average_entropy(self, n_samples: int = 100, random_state: Seed = None) -> Values:
        """The paper's estimate of ``component_entropy``: the mean entropy of drawn components.

        Each law draws its own ``n_samples`` components by their weights.
        """
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, but it is {n_samples}; the paper: 100")
        k, rng = self.n_components, generator(random_state)
        n = math.prod(self._shape)
        entropies = self._evaluate(_categorical.component_entropies, leading=(k,)).reshape(k, n)
        counts = _categorical.draw_counts(n_samples, self._components[0], n, rng)
        return ((counts * entropies).sum(axis=0) / n_samples).reshape(self._shape)[()]

    def brier(self, y: Numbers) -> Values:
        """Brier score of the class y: squared distance to probability one there, from 0 to 2."""
        return self._evaluate(_categorical.brier, y, tables=(self._mean(),))

    def _draw(self, rng: Generator, shape: tuple[int, ...]) -> Values:
        return self._evaluate(choose, rng.random(shape), tables=(self._mean(),), dtype=np.intp)

    def _mean(self) -> Array:
        """Predictive probabilities as a table, (C, n) or (C, 1)."""
        c = self.n_classes
        return self._evaluate(_categorical.mean, leading=(c,)).reshape(c, math.prod(self._shape))
