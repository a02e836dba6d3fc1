"""Where Optuna looks for better settings than the defaults."""

from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.base import BaseEstimator, clone

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

E = TypeVar("E", bound=BaseEstimator)

_SHAPE = ("hidden_sizes", "activation", "dropout")


def suggest(trial: "BaseTrial", estimator: E) -> E:
    """A clone of an estimator with the settings that a trial of Optuna proposes.

    Of the best trial of a study it is the best estimator.

    Parameters
    ----------
    trial : optuna.trial.BaseTrial
        Asked for a value of every parameter that the estimator has and that is worth a search.
    estimator : estimator of dgme
        Its other parameters stay as they are; so does the shape of its `network`, if it has one. If
        it drops units, it goes on to drop some.

    Returns
    -------
    estimator of dgme
        It is not fitted.
    """
    now = estimator.get_params(deep=False)
    least_dropout = 0.05 if now.get("dropout") else 0.0

    def width() -> int:
        return 2 ** trial.suggest_int("log2_width", 4, 8)

    # docs/ecosystem.md has the reason for every range.
    space: dict[str, Any] = {
        "n_components": lambda: trial.suggest_int("n_components", 2, 10),
        "hidden_sizes": lambda: (width(),) * trial.suggest_int("depth", 1, 3),
        "activation": lambda: trial.suggest_categorical("activation", ["relu", "silu"]),
        "dropout": lambda: trial.suggest_float("dropout", least_dropout, 0.2, step=0.05),
        "learning_rate": lambda: trial.suggest_float("learning_rate", 1e-3, 3e-2, log=True),
        "weight_decay": lambda: trial.suggest_float("weight_decay", 1e-6, 1e-2, log=True),
        "batch_size": lambda: 2 ** trial.suggest_int("log2_batch_size", 4, 8),
        "epochs_per_round": lambda: 10 * 2 ** trial.suggest_int("log2_epochs_per_round", 0, 3),
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
