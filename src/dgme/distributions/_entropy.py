"""Differential entropy of Gaussian mixtures by composite Gauss-Legendre quadrature."""

from typing import TypeAlias

import numpy as np
from jaxtyping import Float64
from scipy.special import entr

from dgme.distributions._arrays import Indices, Row, Table, supported
from dgme.distributions._moments import standardised, std

Ends: TypeAlias = Float64[np.ndarray, " panels"]

# Beyond nine standard deviations of all components lies 2e-19 of the mass.
_REACH = 9.0
# Of a panel, in standard deviations of the narrowest component that reaches into it.
_LONGEST = 1.5
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def cost(n_components: int) -> int:
    """Density evaluations per law and component, where components are much alike."""
    return n_components * 2 * int(_REACH / _LONGEST) * _NODES.size


def entropy(weights: Table, means: Table, scales: Table) -> Row:
    """Integrate -p log p of the standardised law, whose errors do not depend on the units."""
    weights, means, scales = supported(weights, means, scales)
    offsets, spreads = standardised(weights, means, scales)
    law, left, right = _panels(offsets, spreads)
    half = (right - left) / 2
    x = left + half * (1 + _NODES[:, None])
    density = np.zeros_like(x)
    heights = weights / (np.sqrt(2 * np.pi) * spreads)
    for height, offset, spread in zip(heights, offsets, spreads, strict=True):
        z = (x - offset[law]) / spread[law]
        density += height[law] * np.exp(-0.5 * z * z)
    integrals = half * (_WEIGHTS @ entr(density))
    integral = np.bincount(law, integrals, minlength=weights.shape[1])
    return integral + np.log(std(weights, means, scales))


def _panels(offsets: Table, spreads: Table) -> tuple[Indices, Ends, Ends]:
    """Panels that are short next to every component in them: their laws, left and right ends.

    Halving makes as many as the density needs, and not more of them the more components there are.
    """
    starts, stops = offsets - _REACH * spreads, offsets + _REACH * spreads
    law, left, right = np.arange(offsets.shape[1]), starts.min(axis=0), stops.max(axis=0)
    done = []
    while law.size:
        inside = (starts[:, law] < right) & (left < stops[:, law])
        longest = _LONGEST * np.where(inside, spreads[:, law], np.inf).min(axis=0)
        middle = (left + right) / 2
        # doubles may be too coarse for a component that is very narrow
        halve = (right - left > longest) & (left < middle) & (middle < right)
        done.append((law[~halve], left[~halve], right[~halve]))
        law, middle = np.tile(law[halve], 2), middle[halve]
        left, right = np.append(left[halve], middle), np.append(middle, right[halve])
    laws, lefts, rights = zip(*done, strict=True)
    return np.concatenate(laws), np.concatenate(lefts), np.concatenate(rights)
