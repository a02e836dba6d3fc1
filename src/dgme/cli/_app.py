"""The application: how arguments are read, and how errors and interruptions end it."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

from cyclopts import App, CycloptsError, Parameter
from rich.console import Console

BAD_INPUT = 2
STOPPED = 130

Flag = Annotated[bool, Parameter(negative="")]
Json = Annotated[bool, Parameter(name="--json", negative="")]
Out = Annotated[Path, Parameter(name=("--out", "-o"), allow_leading_hyphen=True)]

app = App(
    name="dgme",
    help="Full predictive densities from deep Gaussian mixture ensembles.",
    help_format="markdown",
    suppress_keyboard_interrupt=False,
)


def main(arguments: Sequence[str] | None = None) -> None:
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        fail(f"{str(error).rstrip('.')}. See dgme --help.")
    except KeyboardInterrupt:
        fail("Stopped.", STOPPED)
    except BrokenPipeError:
        # Whoever read standard output has had enough; Python would complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def say(words: str) -> None:
    """To people, who watch standard error; results go to standard output."""
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    console.print(words)


def results_console() -> Console:
    """Standard output, where lines are not broken at 80 characters if it is no terminal."""
    return Console(width=None if sys.stdout.isatty() else 120, markup=False, highlight=False)


def fail(words: str, code: int = BAD_INPUT) -> NoReturn:
    say(" ".join(words.split()))
    sys.exit(code)


@contextmanager
def failing_in_words() -> Iterator[None]:
    """Input that cannot be used, and libraries that are not there, end the program in one line."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (ValueError, ImportError, OSError, MemoryError) as error:
        fail(_in_words(error))


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    return str(error) or "Memory does not suffice."


def check_output(path: Path, option: str = "--out") -> None:
    """Refuse what cannot be written before any work is done."""
    if path.is_dir():
        fail(f"{option} {path} is a folder. Give the name of a file.")
    if not path.parent.is_dir():
        fail(f"{option} {path}: there is no folder {path.parent}. Create it first.")
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        fail(f"{option} {path} cannot be written. Give another name.")
