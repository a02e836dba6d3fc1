from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Float32, Float64

from dgme.em import Experts
from dgme.engine import Prediction, apply_lanes
from dgme.estimators._scaling import Scaling
from dgme.nn import FlatNetwork, GaussianHead, MLPFactory

# Rows that are scaled and predicted together, so that memory does not grow with the table.
_ROWS_AT_ONCE = 2**16


@dataclass(frozen=True)
class Ensemble:
    """Trained networks with their weights, and the units in which they see rows and targets.

    It is all that prediction needs, and what a file holds; parameters that a user sets on the
    estimator after the fit do not reach it.
    """

    experts: Experts
    params: Float32[np.ndarray, "K size"]
    weights: Float64[np.ndarray, " K"]
    x_scaling: Scaling
    y_scaling: Scaling

    def components(
        self, rows: Float64[np.ndarray, "n features"], device: jax.Device | None
    ) -> tuple[Float64[np.ndarray, "K n"], Float64[np.ndarray, "K n"]]:
        """Means and scales of the components in the target's units."""
        network, head = self.experts
        unit = self.y_scaling
        means, scales = (np.empty((len(self.weights), len(rows))) for _ in range(2))
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            block = slice(start, start + _ROWS_AT_ONCE)
            x = self.x_scaling.forward(rows[block]).astype(np.float32)
            of_block = apply_lanes(Prediction(head), network, self.params, x[None], device=device)
            means[:, block] = of_block[0] * unit.scale + unit.center
            scales[:, block] = of_block[1] * unit.scale
        return means, scales

    def dump(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The ensemble as plain values and arrays."""
        layers = self.experts.network.split(self.params)
        return describe(self.experts), {
            **{f"network.{name}": layer for name, layer in layers.items()},
            "weights": self.weights,
            "x.center": self.x_scaling.center,
            "x.scale": self.x_scaling.scale,
            "y.center": self.y_scaling.center,
            "y.scale": self.y_scaling.scale,
        }

    @classmethod
    def load(cls, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "Ensemble":
        """What `dump` gave, if all of it is there and fits together."""
        recipe = facts["network"] | {"hidden_sizes": tuple(facts["network"]["hidden_sizes"])}
        factory = MLPFactory(**recipe)
        network, head = FlatNetwork(factory), GaussianHead(float(facts["min_scale"]))
        weights = arrays.get("weights", np.empty(0))
        if weights.dtype.kind != "f" or (weights < 0).any() or not np.isclose(weights.sum(), 1):
            raise ValueError("array 'weights' is missing or holds no probabilities")
        members = (weights.size,)

        def scaling(of: str, columns: tuple[int, ...]) -> Scaling:
            found = Scaling(*(_take(arrays, f"{of}.{part}", columns) for part in Scaling._fields))
            if not found.usable:
                raise ValueError(f"array '{of}.scale' must be positive")
            return found

        layers = [
            _take(arrays, f"network.{name}", members + shape).reshape(weights.size, -1)
            for name, shape in network.shapes.items()
        ]
        return cls(
            Experts(network, head),
            np.concatenate(layers, axis=1),
            _take(arrays, "weights", members),
            scaling("x", (factory.n_inputs,)),
            scaling("y", ()),
        )


def describe(experts: Experts) -> dict[str, Any]:
    """What kind of networks these are, as plain values."""
    factory: Any = experts.network.factory
    return {"network": asdict(factory), "min_scale": experts.head.min_scale}


def _take(arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array, which must be there, have this shape and hold finite numbers."""
    if name not in arrays:
        raise ValueError(f"array {name!r} is missing")
    if arrays[name].shape != shape:
        raise ValueError(f"array {name!r} has shape {arrays[name].shape} instead of {shape}")
    if not np.isfinite(arrays[name]).all():
        raise ValueError(f"array {name!r} holds numbers that are not finite")
    return arrays[name]
