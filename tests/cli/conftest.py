from typing import NamedTuple

import pytest

from dgme import cli


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def dgme(capsys):
    """Run a command in this process."""

    def run(*arguments) -> Done:
        with pytest.raises(SystemExit) as end:
            cli.main([str(argument) for argument in arguments])
        return Done(end.value.code or 0, *capsys.readouterr())

    return run
