"""The application: how arguments are read, and how errors and interruptions end it."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

from cyclopts import App, CycloptsError, Parameter
from rich.console import Console

BAD_INPUT = 2
STOPPED = 130
# Names of columns and files are no markup, whatever they look like.
_AS_IT_STANDS: Any = {"highlight": False, "markup": False, "emoji": False}

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
    if sys.stdout is None:
        fail("Standard output is closed. Send it to a file, or to /dev/null.")
    try:
        try:
            app(arguments, exit_on_error=False, print_error=False)
        finally:
            sys.stdout.flush()
    except CycloptsError as error:
        command = " ".join(["dgme", *(error.command_chain or ())])
        # An ellipsis keeps its points.
        fail(f"{str(error).removesuffix('.')}. See {command} --help.")
    except KeyboardInterrupt:
        fail("Stopped.", STOPPED)
    except BrokenPipeError:
        # Whoever read standard output has had enough.
        _forget_output()
        sys.exit(1)
    except OSError as error:
        _forget_output()
        fail(f"Standard output: {_in_words(error)}")


def _forget_output() -> None:
    """What is still to be written goes nowhere; else Python would complain when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(words: str) -> None:
    """To people, who watch standard error; results go to standard output."""
    console = Console(stderr=True, soft_wrap=True, **_AS_IT_STANDS)
    console.print(words)


def results_console() -> Console:
    """Standard output, where lines are not broken at 80 characters if it is no terminal."""
    return Console(width=None if sys.stdout.isatty() else 120, **_AS_IT_STANDS)


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
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return str(error) or "Memory does not suffice."


def check_output(path: Path, *inputs: Path, option: str = "--out") -> None:
    """Refuse what cannot be written, or would overwrite an input, before any work is done."""
    if path.is_dir():
        fail(f"{option} {path} is a folder. Give the name of a file.")
    if path.exists() and not path.is_file():
        fail(f"{option} {path} is a pipe or a device. Give the name of a file.")
    if not path.parent.is_dir():
        fail(f"{option} {path}: there is no folder {path.parent}. Create it first.")
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        fail(f"{option} {path} cannot be written. Give another name.")
    if any(path.exists() and each.exists() and path.samefile(each) for each in inputs):
        fail(f"{option} {path} would overwrite what is read. Give another name.")
