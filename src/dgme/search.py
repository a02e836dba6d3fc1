"""Where Optuna looks for better settings than the defaults."""

from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.base import BaseEstimator, clone

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

E = TypeVar("E", bound=BaseEstimator)

_SHAPE = ("hidden_sizes", "activation", "dropout")


def suggest(trial: "BaseTrial", estimator: E) -> E:
    """A clone of an estimator of dgme with the settings that a trial of Optuna proposes.

    Given the best trial of a study, this is the best estimator. What the space does not hold stays
    as it is: the length of training, which held-out rows decide in every fit; `n_init`, `n_members`
    and `n_posterior_samples`, which buy accuracy for time; and the shape of a `network` that is
    set. An estimator that drops units goes on to drop some.
    """
    now = estimator.get_params(deep=False)

    def width() -> int:
        # Powers of two, so that trials share compiled programs.
        return 2 ** trial.suggest_int("log2_width", 4, 8)

    space: dict[str, Any] = {
        # Those that are not needed lose their weight; one alone is a single Gaussian.
        "n_components": lambda: trial.suggest_int("n_components", 2, 10),
        "hidden_sizes": lambda: (width(),) * trial.suggest_int("depth", 1, 3),
        "activation": lambda: trial.suggest_categorical("activation", ["relu", "silu"]),
        # More leaves narrow networks too little to learn with.
        "dropout": lambda: trial.suggest_float(
            "dropout", 0.05 if now["dropout"] else 0.0, 0.2, step=0.05
        ),
        # The default suits one layer of 50; deep and wide networks want smaller steps.
        "learning_rate": lambda: trial.suggest_float("learning_rate", 1e-3, 3e-2, log=True),
        # From next to none.
        "weight_decay": lambda: trial.suggest_float("weight_decay", 1e-6, 1e-2, log=True),
        # Small batches regularise by their noise, and cost more steps.
        "batch_size": lambda: 2 ** trial.suggest_int("log2_batch_size", 4, 8),
        # Few let responsibilities follow the networks; many let networks settle before.
        "epochs_per_round": lambda: 10 * 2 ** trial.suggest_int("log2_epochs_per_round", 0, 3),
        # Repeated targets draw components down to it; beyond a tenth no law can be sharp.
        "min_scale": lambda: trial.suggest_float("min_scale", 1e-3, 1e-1, log=True),
    }
    if not space.keys() & now:
        raise TypeError(
            "estimator must be one of dgme, such as DGMERegressor(), but is a "
            f"{type(estimator).__name__}. Suggest settings for the one inside of it."
        )
    kept = () if now["network"] is None else _SHAPE
    chosen = {name: ask() for name, ask in space.items() if name in now and name not in kept}
    found: Any = clone(estimator)
    return found.set_params(**chosen)
