"""What mixtures of Gaussians are made from, whether of numbers or of vectors."""

from dgme.distributions._arrays import Array, Numbers
from dgme.distributions._laws import Laws
from dgme.distributions._validation import gaussians


class Gaussians(Laws):
    """Laws whose components have weights, means and standard deviations."""

    __slots__ = ()

    def __init__(
        self,
        weights: Numbers,
        means: Numbers,
        scales: Numbers,
        groups: Numbers | None = None,
    ) -> None:
        self._set(*gaussians(weights, means, scales, groups, self._axes))

    @property
    def means(self) -> Array:
        """Means of the components, (n, K) or (n, K, d), of a single law without n; read-only."""
        return self._public(self._components[1])

    @property
    def scales(self) -> Array:
        """Standard deviations of the components, of the same shape; read-only."""
        return self._public(self._components[2])
