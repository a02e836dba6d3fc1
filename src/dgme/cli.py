"""The command line."""

import sys
from pathlib import Path

from cyclopts import App
from cyclopts.types import NonNegativeInt
from rich.console import Console

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


def main() -> None:
    app()
