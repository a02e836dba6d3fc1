import json
import sys
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from dgme.cli._app import fail, say


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

    if unknown := [name for name in names if name not in DATASETS]:
        fail(f"There is no dataset {unknown[0]!r}. There are {', '.join(DATASETS)}.")
    try:
        found = [status(name) for name in names or DATASETS]
        if download:
            failures = _download([each for each in found if each.missing])
            for failure in failures:
                say(str(failure))
            if failures:
                sys.exit(1)
            found = [status(name) for name in names or DATASETS]
    except OSError as error:
        fail(str(error), code=1)
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
