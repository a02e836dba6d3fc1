"""What all commands have in common."""

import subprocess
import sys
from pathlib import Path

import pytest

from dgme import cli
from dgme.cli import _app


def test_help_names_the_commands(dgme):
    done = dgme("--help")
    assert done.code == 0
    assert all(name in done.out for name in cli.COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("dance",), "dance"),
        (("predict", "--dance"), "See dgme predict --help."),
        (("demo", "--out", "/dev/null/x"), "cannot be made"),
        (("demo", "--seed", "-1"), "-1"),
        (("demo", "--seed", "x"), "x"),
    ],
)
def test_bad_arguments_end_at_once_in_one_line(arguments, words, dgme):
    done = dgme(*arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("to", "words"),
    [
        (">&-", "Standard output is closed"),
        pytest.param(
            ">/dev/full",
            "No space left",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device"),
        ),
    ],
)
@pytest.mark.parametrize("more", ["", "--json"])
def test_output_that_cannot_be_written(house_model, to, words, more):
    command = f"'{sys.executable}' -m dgme.cli info '{house_model.model}' {more} {to}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_names_are_no_markup(capsys):
    _app.say("[red] :smile:")
    _app.results_console().print("[red] :smile:")
    assert capsys.readouterr() == ("[red] :smile:\n", "[red] :smile:\n")


def test_the_program_is_quiet_about_its_insides():
    command = [sys.executable, "-m", "dgme.cli", "dance"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
