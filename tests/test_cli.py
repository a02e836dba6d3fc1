import subprocess
import sys

import pytest

from dgme import cli


def dgme(*arguments):
    return subprocess.run(
        [sys.executable, "-c", "from dgme.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_demo_writes_its_folder_and_says_so(tmp_path):
    done = dgme("demo", "--out", str(tmp_path / "out"), "--seed", "1")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "entropy" in done.stdout
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"demo.png", "predictions.csv", "model.dgme"}
    for name in names:
        assert name in done.stdout.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--out", "/dev/null/x"), "cannot be made"),
        (("--seed", "-1"), "-1"),
        (("--seed", "x"), "x"),
    ],
)
def test_bad_arguments_end_at_once_in_words(arguments, words):
    done = dgme("demo", *arguments)
    assert done.returncode != 0
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit) as end:
        cli.app("--help")
    assert end.value.code == 0
    assert "demo" in capsys.readouterr().out


def test_an_unknown_command_fails():
    done = dgme("dance")
    assert done.returncode != 0
    assert "dance" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
