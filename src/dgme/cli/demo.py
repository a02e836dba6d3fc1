from pathlib import Path

from cyclopts.types import NonNegativeInt
from rich.console import Console

from dgme.cli._app import fail


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
    from dgme import demo as first_run

    console = Console()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"The folder {out} cannot be made: {error.strerror}.")
    result = first_run.run(seed, verbose=1)
    first_run.show(result, console)
    for path in first_run.write(result, out):
        console.print(f"wrote {path}", highlight=False)
