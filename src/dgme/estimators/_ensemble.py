import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import jax
import numpy as np
from jaxtyping import Float32, Float64, Int

from dgme import nn
from dgme.distributions import CategoricalMixture, GaussianMixture, VectorGaussianMixture
from dgme.engine import Prediction, apply_lanes
from dgme.estimators._scaling import Scaling
from dgme.experts import Experts
from dgme.nn import Design, FlatNetwork
from dgme.posterior import POSTERIORS, Draws, Posterior

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Rows that are scaled and predicted together, and parameters of a posterior that are drawn
# together, so that memory does not grow with the table or with the number of samples.
_ROWS_AT_ONCE = 2**16
_PARAMETERS_AT_ONCE = 2**24
_LANES_AT_ONCE = 64

_DESIGNS = {"MLP": nn.MLP, "LSTM": nn.LSTM}
_HEADS: dict[str, Any] = {
    head.__name__: head
    for head in (
        nn.GaussianHead,
        nn.HomoscedasticHead,
        nn.MixtureHead,
        nn.CategoricalHead,
        nn.CategoricalMixtureHead,
    )
}


class Mixtures(NamedTuple):
    """The components of each row's law, in standardised units."""

    weights: Float64[np.ndarray, "n K"] | Float64[np.ndarray, " K"]
    parts: list[Float64[np.ndarray, "n K d"]]
    """Means and scales, or probabilities of classes."""
    groups: Int[np.ndarray, " K"]


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
    vector: bool = False
    """Whether targets came as rows, so that the law is one of vectors."""
    posterior: Posterior | None = None
    members_are_samples: bool = False
    """Whether every member is a posterior sample of its own, as in a deep ensemble."""
    seed: int = 0

    @property
    def noise_scale(self) -> np.ndarray | float:
        """Standard deviation of the noise that all rows share, in the target's units."""
        head = self.experts.head
        if not isinstance(head, nn.HomoscedasticHead):
            raise AttributeError("these networks predict a noise of its own for every row")
        scale = np.asarray(head.scale, np.float64) * self.y_scaling.scale
        return scale if self.vector else float(scale[0])

    def gaussian_law(
        self, rows: np.ndarray, n_samples: int, device: jax.Device | None
    ) -> GaussianMixture | VectorGaussianMixture:
        weights, (means, scales), groups = self.mixtures(rows, n_samples, device)
        means = means * self.y_scaling.scale + self.y_scaling.center
        scales = scales * self.y_scaling.scale
        if self.vector:
            return VectorGaussianMixture(weights, means, scales, groups)
        return GaussianMixture(weights, means[..., 0], scales[..., 0], groups)

    def categorical_law(
        self, rows: np.ndarray, n_samples: int, device: jax.Device | None
    ) -> CategoricalMixture:
        weights, (probabilities,), groups = self.mixtures(rows, n_samples, device)
        probabilities /= probabilities.sum(axis=2, keepdims=True)
        return CategoricalMixture(weights, probabilities, groups)

    def mixtures(self, rows: np.ndarray, n_samples: int, device: jax.Device | None) -> Mixtures:
        """Every member's components under every posterior sample, sample by sample.

        Without a posterior, or with no samples of it, under the parameters as they were trained.
        """
        posterior = self.posterior if n_samples else None
        n_members, n_samples = len(self.weights), n_samples if posterior else 1
        n_lanes, lane = n_members * n_samples, 0
        found: list[np.ndarray] = []
        for draws in self._draws(posterior, n_samples):
            drawn = min(draws.params.shape[0] * n_members, n_lanes - lane)
            for start in range(0, max(len(rows), 1), _ROWS_AT_ONCE):
                block = slice(start, start + _ROWS_AT_ONCE)
                outputs = self._apply(draws, rows[block], device)
                if not found:
                    # Laws keep their components in front; so do these, and the copy is cheap.
                    found = [
                        np.empty((n_lanes, part.shape[2], len(rows), *part.shape[3:]))
                        for part in outputs
                    ]
                for whole, part in zip(found, outputs, strict=True):
                    whole[lane : lane + drawn, :, block] = np.moveaxis(part[:drawn], 2, 1)
            lane += drawn
        n_own = found[0].shape[1]
        weights, *parts = (part.reshape(-1, *part.shape[2:]) for part in found)
        shares = np.repeat(np.tile(self.weights, n_samples) / n_samples, n_own)
        if n_own > 1:
            # Single precision lets the weights of a row miss one by more than a law allows.
            weights = weights.T.reshape(-1, n_lanes, n_own)
            weights /= weights.sum(axis=2, keepdims=True)
            shares = shares * weights.reshape(-1, n_lanes * n_own)
        groups = self.groups(n_samples, len(parts[0]))
        return Mixtures(shares, [np.moveaxis(part, 0, 1) for part in parts], groups)

    def groups(self, n_draws: int, n_components: int) -> Int[np.ndarray, " K"]:
        """Which posterior sample each of all components belongs to."""
        n_groups = n_draws * len(self.weights) if self.members_are_samples else n_draws
        return np.repeat(np.arange(n_groups), n_components // n_groups)

    def draws(self, n_samples: int) -> Draws:
        """All the parameters that `mixtures` predicts with, at once."""
        if self.posterior is None or n_samples == 0:
            return Draws(self.params[None])
        return self.posterior.draw(self.params, n_samples, np.random.default_rng(self.seed))

    def _draws(self, posterior: Posterior | None, n_samples: int) -> Iterator[Draws]:
        """The posterior's samples in blocks of equal size, which one program serves."""
        if posterior is None:
            yield Draws(self.params[None])
            return
        at_once = min(_LANES_AT_ONCE // len(self.weights), _PARAMETERS_AT_ONCE // self.params.size)
        n_blocks = math.ceil(n_samples / max(1, at_once))
        rng = np.random.default_rng(self.seed)
        for _ in range(n_blocks):
            yield posterior.draw(self.params, math.ceil(n_samples / n_blocks), rng)

    def _apply(
        self, draws: Draws, rows: np.ndarray, device: jax.Device | None
    ) -> tuple[np.ndarray, ...]:
        network, head, _ = self.experts
        x = self.x_scaling.forward(rows).astype(np.float32)
        keys = None if draws.keys is None else draws.keys.reshape(-1, 2)
        params = draws.params.reshape(-1, draws.params.shape[-1])
        return apply_lanes(Prediction(head), network, params, x[None], keys=keys, device=device)

    def dump(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The ensemble as plain values and arrays."""
        layers = self.experts.network.split(self.params)
        facts = describe(self.experts) | {
            "vector": self.vector,
            "members_are_samples": self.members_are_samples,
            "posterior": next(
                (name for name, kind in POSTERIORS.items() if isinstance(self.posterior, kind)),
                None,
            ),
            "posterior_seed": self.seed,
        }
        arrays = {f"network.{name}": layer for name, layer in layers.items()} | {
            "weights": self.weights,
            "x.center": self.x_scaling.center,
            "x.scale": self.x_scaling.scale,
            "y.center": self.y_scaling.center,
            "y.scale": self.y_scaling.scale,
        }
        if self.posterior is not None:
            arrays |= {f"posterior.{name}": part for name, part in vars(self.posterior).items()}
        return facts, arrays

    @classmethod
    def load(
        cls, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray], design: Design | None
    ) -> "Ensemble":
        """What `dump` gave, if all of it is there and fits together."""
        kind = dict(facts["head"])
        head = _HEADS[kind.pop("kind")](
            **{k: np.array(v, np.float32) if isinstance(v, list) else v for k, v in kind.items()}
        )
        shape = tuple(facts["input_shape"])
        network = FlatNetwork(load_design(facts["network"], design), shape, head.n_outputs)
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
            _take(arrays, f"network.{name}", members + layer).reshape(weights.size, -1)
            for name, layer in network.shapes.items()
        ]
        posterior = None
        if facts["posterior"] is not None:
            posterior_kind = POSTERIORS[facts["posterior"]]
            posterior = posterior_kind(
                **{
                    field.name: _take(arrays, f"posterior.{field.name}", None)
                    for field in fields(posterior_kind)
                }
            )
        found = cls(
            Experts(network, head),
            np.concatenate(layers, axis=1),
            _take(arrays, "weights", members),
            scaling("x", shape[-1:]),
            scaling("y", (head.n_targets,)),
            bool(facts["vector"]),
            posterior,
            bool(facts["members_are_samples"]),
            int(facts["posterior_seed"]),
        )
        if posterior is not None:
            draw = posterior.draw(found.params, 1, np.random.default_rng(0))
            if draw.params.shape != (1, *found.params.shape):
                raise ValueError("the arrays of the posterior do not fit the network")
        return found


def describe(experts: Experts) -> dict[str, Any]:
    """What kind of networks these are, as plain values."""
    fields_of_head = asdict(cast("DataclassInstance", experts.head))
    head = {name: np.asarray(value).tolist() for name, value in fields_of_head.items()}
    return {
        "network": describe_design(experts.network.design),
        "input_shape": list(experts.network.input_shape),
        "head": {"kind": type(experts.head).__name__} | head,
    }


def describe_design(design: Design) -> dict[str, Any]:
    """A kind of network as plain values; of a user's own, only that it is one."""
    name = type(design).__name__
    if _DESIGNS.get(name) is type(design) and is_dataclass(design):
        return {"kind": name} | asdict(design)
    return {"kind": "custom", "name": getattr(design, "__qualname__", name)}


def load_design(facts: Mapping[str, Any], given: Design | None) -> Design:
    """The kind of network that `describe_design` described; a user's own must be given again."""
    values = dict(facts)
    kind = values.pop("kind")
    if kind == "custom":
        if given is None:
            raise ValueError(
                f"its networks are of a kind of your own, {facts['name']!r}, and files hold no "
                "code: pass it as dgme.load(path, network=...)"
            )
        return given
    return _DESIGNS[kind](**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})


def _take(arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...] | None) -> np.ndarray:
    """An array, which must be there, have this shape and hold finite numbers."""
    if name not in arrays:
        raise ValueError(f"array {name!r} is missing")
    if shape is not None and arrays[name].shape != shape:
        raise ValueError(f"array {name!r} has shape {arrays[name].shape} instead of {shape}")
    if not np.isfinite(arrays[name]).all():
        raise ValueError(f"array {name!r} holds numbers that are not finite")
    return arrays[name]
