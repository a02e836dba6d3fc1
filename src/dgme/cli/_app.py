"""The application: how arguments are read, and how errors and interruptions end it."""

import sys
from collections.abc import Sequence
from typing import NoReturn

from cyclopts import App, CycloptsError
from rich.console import Console

BAD_INPUT = 2
STOPPED = 130

app = App(
    name="dgme",
    help="Full predictive densities from deep Gaussian mixture ensembles.",
    help_format="markdown",
)


def main(arguments: Sequence[str] | None = None) -> None:
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        fail(f"{error} See dgme --help." if str(error) else "See dgme --help.")


def say(words: str) -> None:
    """To people, who watch standard error; results go to standard output."""
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    console.print(words)


def fail(words: str, code: int = BAD_INPUT) -> NoReturn:
    say(words)
    sys.exit(code)
