"""What all commands have in common."""

import subprocess
import sys

import pytest

from dgme import cli


def test_help_names_the_commands(dgme):
    done = dgme("--help")
    assert done.code == 0
    assert all(name in done.out for name in cli.COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("dance",), "dance"),
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


def test_the_program_is_quiet_about_its_insides():
    command = [sys.executable, "-m", "dgme.cli", "dance"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
