"""What every format is made from: a model with its posterior samples drawn once and for all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from jaxtyping import Float64, UInt32
from sklearn.utils.validation import check_is_fitted

from dgme.estimators import Ensemble, NetworkEstimator
from dgme.nn import BatchModule, CategoricalHead, CategoricalMixtureHead

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Frozen:
    """The networks of all draws from a posterior; of the trained parameters alone, as one draw."""

    model: NetworkEstimator
    networks: BatchModule
    """Parameters have axes of draws and of members in front; one that all draws share has one."""
    keys: UInt32[np.ndarray, "draws K 2"] | None
    n_draws: int
    feature_names: list[str] | None
    target_name: str | None

    @property
    def ensemble(self) -> Ensemble:
        return self.model.ensemble_

    @property
    def shares(self) -> Float64[np.ndarray, " K"]:
        """What each member weighs within the whole law, in one draw."""
        return self.ensemble.weights / self.n_draws

    @property
    def n_own(self) -> int:
        """Components of a single network."""
        return getattr(self.ensemble.experts.head, "n_components", 1)

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Name and shape, for one row, of what the exported function returns."""
        head = self.ensemble.experts.head
        components = (self.n_draws * len(self.ensemble.weights) * self.n_own,)
        if isinstance(head, CategoricalHead | CategoricalMixtureHead):
            return {"weights": components, "probabilities": (*components, head.n_classes)}
        values = (*components, head.n_targets) if self.ensemble.vector else components
        return {"weights": components, "means": values, "scales": values}

    @property
    def metadata(self) -> str:
        """What a reader of the file wants to know of it, as JSON."""
        (n_components,) = self.outputs["weights"]
        facts: dict[str, Any] = {
            "format": "dgme law",
            "format_version": FORMAT_VERSION,
            "dgme_version": version("dgme"),
            "model": type(self.model).__name__,
            "inputs": {"X": ["n", *self.ensemble.experts.network.input_shape]},
            "outputs": {name: ["n", *shape] for name, shape in self.outputs.items()},
            "feature_names": self.feature_names,
            "target_name": self.target_name,
            "groups": self.ensemble.groups(self.n_draws, n_components).tolist(),
        }
        if (classes := getattr(self.model, "classes_", None)) is not None:
            facts["classes"] = classes.tolist()
        return json.dumps(facts, ensure_ascii=False)


def freeze(model: Any, n_posterior_samples: int | None) -> Frozen:
    """A fitted estimator with the draws that its `predict_dist` takes."""
    if hasattr(model, "predict_dist"):
        check_is_fitted(model)
    names, target_name = getattr(model, "feature_names_in_", None), None
    if hasattr(model, "encoder_"):
        # A model of tables: its regressor reads what the encoder makes of them.
        names, target_name = model.encoder_.get_feature_names_out(), model.target_name_
        model = model.regressor_
    if not isinstance(model, NetworkEstimator):
        raise TypeError(
            f"model={model!r} cannot be exported. Pass a fitted regressor or classifier of dgme."
        )
    params, keys = model.draw_parameters(n_posterior_samples)
    network = model.ensemble_.experts.network
    return Frozen(
        model,
        network.assemble(_shared(network.split(params))),
        keys,
        len(params),
        None if names is None else list(map(str, names)),
        target_name,
    )


def _shared(layers: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Store once what all draws have in common, but for the last array, which tells their number.

    Laplace's approximation moves the last layer alone, and dropout no parameter at all.
    """
    *_, last = layers
    return {
        name: layer if name == last or (layer != layer[:1]).any() else layer[:1]
        for name, layer in layers.items()
    }
