import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter
from cyclopts.types import NonNegativeInt
from cyclopts.validators import Number
from rich.table import Table
from rich.text import Text

from dgme.cli._app import STOPPED, Json, fail, failing_in_words, results_console, say
from dgme.cli._lists import Names
from dgme.cli._methods import METHODS, Preset

if TYPE_CHECKING:
    from dgme.cli._tables import Known

HEADS = {
    "rmse": "RMSE",
    "log_score": "log score",
    "crps": "CRPS",
    "coverage_0.9": "in 90 % interval",
    "seconds": "seconds",
}
_WORSE: dict[str, Callable[[float], float]] = {
    "rmse": lambda value: value,
    "log_score": lambda value: -value,
    "crps": lambda value: value,
    "coverage_0.9": lambda value: abs(value - 0.9),
    "seconds": lambda value: value,
}


def compare(
    table: Path,
    *,
    target: str,
    folds: Annotated[int, Parameter(validator=Number(gte=2))] = 5,
    methods: Names = (),
    preset: Preset = "default",
    drop: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    seed: NonNegativeInt = 0,
    as_json: Json = False,
) -> None:
    """Compare methods by cross-validation: ours, and NGBoost, LightGBM and a Gaussian process.

    Prints the mean and the standard deviation of each score over the folds. Log scores are natural
    logarithms of densities, where more is better; so is less of RMSE and CRPS.

    `dgme compare houses.csv --target price --folds 5 --methods dgme,lightgbm`

    Parameters
    ----------
    table
        CSV, TSV, Parquet or Arrow, with names of columns. Rows without a target are left out.
    target
        The column to predict.
    folds
        Parts of the rows, each of which is predicted once from the others.
    methods
        Names, separated by commas, of dgme, mdn, mc-dropout, deep-ensemble, multi-swag, ngboost,
        lightgbm and gaussian-process; by default all that are installed. The last is trained on at
        most 1000 rows.
    preset
        How much work to give to our methods, as in `dgme fit`.
    drop
        Columns not to learn from.
    seed
        Seed of folds and of training.
    as_json
        Print a JSON object.
    """
    with failing_in_words():
        from dgme import tables
        from dgme.cli._tables import training_rows

        chosen = _choose(methods)
        training = training_rows(tables.read(table), target, drop or [])
        if len(training.y) < folds:
            fail(f"--folds {folds} are more than the {len(training.y)} rows. Take fewer.")
        results, stopped = {name: [] for name in chosen}, False
        try:
            for name, scores in _cross_validated(training, chosen, folds, preset, seed):
                results[name].append(scores)
        except KeyboardInterrupt:
            stopped = True
    done = {name: _summary(scores) for name, scores in results.items() if scores}
    if as_json:
        print(json.dumps({"rows": len(training.y), "folds": folds, "methods": done}, indent=2))
    else:
        _show(done, f"{folds} folds of {len(training.y):,} rows")
    if stopped:
        fail("Stopped: some folds are missing.", STOPPED)


def _choose(methods: Sequence[str]) -> list[str]:
    from dgme.peers import PEERS, installed

    known = (*METHODS, *PEERS)
    if unknown := [name for name in methods if name not in known]:
        fail(f"--methods: there is no {unknown[0]!r}. There are {', '.join(known)}.")
    missing = [name for name in methods or known if name in PEERS and not installed(name)]
    if missing:
        say(f"Not installed: {', '.join(missing)}. They come with: pip install 'dgme[peers]'")
    chosen = [name for name in methods or known if name not in missing]
    if not chosen:
        fail("--methods names nothing that is installed.")
    return chosen


def _cross_validated(
    training: "Known", methods: Sequence[str], folds: int, preset: Preset, seed: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """The scores of every method on one fold after the other."""
    import pyarrow as pa
    from rich.console import Console
    from sklearn.model_selection import KFold

    from dgme.cli._methods import make
    from dgme.peers import PEERS
    from dgme.tables import TableRegressor

    def regressor(name: Any):
        if name in PEERS:
            return PEERS[name](random_state=seed)
        return make(name, preset, validation=0.1, seed=seed, verbose=0)

    rows, y, _ = training
    parts = KFold(folds, shuffle=True, random_state=seed).split(y)
    with Console(stderr=True).status("") as status:
        for fold, (train, test) in enumerate(parts, start=1):
            for name in methods:
                status.update(f"fold {fold} of {folds}: {name}")
                begin = time.perf_counter()
                with warnings.catch_warnings():
                    # Of many fits; a single one, by `dgme fit`, tells of its troubles.
                    warnings.simplefilter("ignore")
                    try:
                        model = TableRegressor(regressor(name)).fit(
                            rows.take(pa.array(train)), y[train]
                        )
                        law = model.predict_dist(rows.take(pa.array(test)))
                    except ValueError as error:
                        raise ValueError(f"{name}, fold {fold}: {error}") from error
                seconds = time.perf_counter() - begin
                yield name, {**_scores(law, y[test]), "seconds": seconds}


def _scores(law, y: np.ndarray) -> dict[str, float]:
    from dgme import metrics

    return {
        "rmse": metrics.rmse(law, y),
        "log_score": -metrics.nll(law, y),
        "crps": metrics.crps(law, y),
        "coverage_0.9": metrics.coverage(law, y, 0.9),
    }


def _summary(scores: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    columns = {name: [fold[name] for fold in scores] for name in HEADS}
    return {
        name: {"mean": float(np.mean(column)), "sd": float(np.std(column))}
        for name, column in columns.items()
    }


def _show(methods: Mapping[str, Mapping[str, Mapping[str, float]]], title: str) -> None:
    table = Table(title=f"{title}: mean ± standard deviation")
    table.add_column("method", no_wrap=True)
    for head in HEADS.values():
        table.add_column(head, justify="right")
    best = {
        name: min(methods, key=lambda method: worse(methods[method][name]["mean"]))
        for name, worse in _WORSE.items()
        if methods
    }
    for method, scores in methods.items():
        cells = [f"{score['mean']:.4g} ± {score['sd']:.2g}" for score in scores.values()]
        styled = [
            Text(cell, style="bold" if best[name] == method else "")
            for name, cell in zip(scores, cells, strict=True)
        ]
        table.add_row(method, *styled)
    results_console().print(table)
