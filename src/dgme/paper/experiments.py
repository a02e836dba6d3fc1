"""All experiments of the paper, by name."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from dgme.paper import settings
from dgme.paper.ablations import AblationsExperiment
from dgme.paper.experiment import Experiment
from dgme.paper.finance import FinanceExperiment
from dgme.paper.mnist import MnistExperiment
from dgme.paper.toy import ToyExperiment
from dgme.paper.uci import UciExperiment

_EXPERIMENTS: Mapping[str, tuple[Callable[[Any, int], Experiment], Callable[[], Any]]] = (
    MappingProxyType(
        {
            "toy": (ToyExperiment, settings.Toy),
            "uci": (UciExperiment, settings.UCI),
            "finance": (FinanceExperiment, settings.Finance),
            "mnist": (MnistExperiment, settings.MNIST),
            "ablations": (AblationsExperiment, settings.Ablations),
        }
    )
)
NAMES = tuple(_EXPERIMENTS)


def make(name: str, *, quick: bool = False, seed: int = 0, **changes: int | None) -> Experiment:
    """An experiment with its settings; `splits` and `runs` change those that have them."""
    experiment, defaults = _EXPERIMENTS[name]
    chosen = defaults().quick() if quick else defaults()
    known = {field.name for field in fields(chosen)}
    asked = {key: value for key, value in changes.items() if value is not None and key in known}
    return experiment(replace(chosen, **asked), seed)
