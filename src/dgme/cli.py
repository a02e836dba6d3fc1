"""The command line."""

import json
import sys
from pathlib import Path
from typing import Annotated, Literal, NoReturn

from cyclopts import App, Parameter
from cyclopts.types import NonNegativeInt, PositiveInt
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

app = App(name="dgme", help="Full predictive densities from deep Gaussian mixture ensembles.")


@app.command
def demo(*, out: Path = Path("dgme-demo"), seed: NonNegativeInt = 0) -> None:
    """Recover a density with two branches and its weights, in a few seconds.

    Prints what was learned beside the truth, and writes a picture, the predictions as CSV and the
    model to a folder.

    Parameters
    ----------
    out
        The folder to write.
    seed
        Seed of the data and of the training.
    """
    # Imported here, so that help and errors come at once.
    from dgme import demo as first_run

    console = Console()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        Console(stderr=True).print(f"The folder {out} cannot be made: {error.strerror}.")
        sys.exit(2)
    result = first_run.run(seed, verbose=1)
    first_run.show(result, console)
    for path in first_run.write(result, out):
        console.print(f"wrote {path}", highlight=False)


@app.command
def datasets(
    *names: str,
    download: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """List the data of the paper's experiments: what is here, and where the rest would come from.

    Data are looked for in the folder that the environment variable DGME_DATA names, then in the
    user's cache.

    Parameters
    ----------
    names
        Datasets to list; all by default.
    download
        First download those that are missing into the user's cache.
    as_json
        Print a JSON list instead of a table.
    """
    from dgme.datasets import DATASETS, status

    errors = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    if unknown := [name for name in names if name not in DATASETS]:
        errors.print(f"There is no dataset {unknown[0]!r}. There are {', '.join(DATASETS)}.")
        sys.exit(2)
    try:
        found = [status(name) for name in names or DATASETS]
        if download:
            failures = _download([each for each in found if each.missing])
            for failure in failures:
                errors.print(str(failure))
            if failures:
                sys.exit(1)
            found = [status(name) for name in names or DATASETS]
    except OSError as error:
        errors.print(str(error))
        sys.exit(1)
    if as_json:
        print(json.dumps([_facts(each) for each in found], indent=2))
    else:
        _show(found)


def _download(wanted) -> list[OSError]:
    """Fetch what is missing, with a bar where somebody watches. Returns what went wrong."""
    from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn

    from dgme.datasets import find

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    failures = []
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        total = sum(source.size for each in wanted for source in each.missing)
        task = bar.add_task("", total=total)
        for each in wanted:
            bar.update(task, description=each.name)
            try:
                find(each.sources, lambda source: bar.advance(task, source.size))
            except OSError as error:
                failures.append(error)
    return failures


def _facts(status) -> dict:
    return {
        "name": status.name,
        "path": status.place and str(status.place),
        "files": len(status.sources),
        "missing": len(status.missing),
        "original": status.original,
        "size": status.size,
        "homes": list(status.homes),
    }


def _show(found) -> None:
    console = Console(width=None if sys.stdout.isatty() else 150)
    table = Table(title="Data of the paper's experiments")
    table.add_column("dataset", no_wrap=True)
    table.add_column("here", overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("home", overflow="fold")
    for each in found:
        here = str(each.place) if each.place else "missing"
        if each.place and each.missing:
            here += f"\n{len(each.missing)} of {len(each.sources)} files missing"
        if each.original is False:
            here += "\nnot what its home sends"
        table.add_row(each.name, here, decimal(each.size), each.homes[0])
    console.print(table)


@app.command
def paper(
    experiment: Literal["toy", "uci", "finance", "mnist", "ablations", "all"] = "all",
    *,
    splits: PositiveInt | None = None,
    runs: PositiveInt | None = None,
    quick: Annotated[bool, Parameter(negative="")] = False,
    seed: NonNegativeInt = 0,
    out: Path = Path("dgme-paper"),
    resume: bool = True,
) -> None:
    """Reproduce the paper: every table and figure, ours beside theirs.

    Results are kept in the folder as they come. A run that was stopped goes on where it was.

    Parameters
    ----------
    experiment
        What to run.
    splits
        Train-test splits of each UCI table, at most 20.
    runs
        Repetitions of the other experiments.
    quick
        A few runs of each, to see that all works.
    seed
        Seed of all training.
    out
        The folder for results, figures and the report.
    resume
        Whether to take up what the folder holds already; otherwise begin anew.
    """
    from dgme.paper import report, runner
    from dgme.paper.experiments import NAMES, make

    names = NAMES if experiment == "all" else (experiment,)
    chosen = [make(name, quick=quick, seed=seed, splits=splits, runs=runs) for name in names]
    if not resume:
        (out / runner.JOURNAL).unlink(missing_ok=True)
    try:
        outputs = runner.run(chosen, out, seed=seed)
    except KeyboardInterrupt:
        _fail("Stopped. Run the same again to go on.", code=130)
    except OSError as error:
        _fail(str(error))
    console = Console(width=None if sys.stdout.isatty() else 200)
    report.show(outputs, console)
    for path in report.write(outputs, out):
        console.print(f"wrote {path}", highlight=False)


def _fail(words: str, code: int = 1) -> NoReturn:
    Console(stderr=True).print(words, highlight=False)
    sys.exit(code)


def main() -> None:
    app()
