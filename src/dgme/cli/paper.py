import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt, PositiveInt
from rich.console import Console

from dgme.cli._app import STOPPED, fail


def paper(
    experiment: Literal["toy", "uci", "finance", "mnist", "ablations", "all"] = "all",
    *,
    splits: PositiveInt | None = None,
    runs: PositiveInt | None = None,
    quick: Annotated[bool, Parameter(negative="")] = False,
    seed: NonNegativeInt = 0,
    out: Path = Path("dgme-paper"),
    resume: bool = True,
) -> None:
    """Reproduce the paper: every table and figure, ours beside theirs.

    Results are kept in the folder as they come. A run that was stopped goes on where it was.

    Parameters
    ----------
    experiment
        What to run.
    splits
        Train-test splits of each UCI table, at most 20.
    runs
        Repetitions of the other experiments.
    quick
        A few runs of each, to see that all works.
    seed
        Seed of all training.
    out
        The folder for results, figures and the report.
    resume
        Whether to take up what the folder holds already; otherwise begin anew.
    """
    from dgme.paper import report, runner
    from dgme.paper.experiments import NAMES, make

    names = NAMES if experiment == "all" else (experiment,)
    chosen = [make(name, quick=quick, seed=seed, splits=splits, runs=runs) for name in names]
    if not resume:
        (out / runner.JOURNAL).unlink(missing_ok=True)
    try:
        outputs = runner.run(chosen, out, seed=seed)
    except KeyboardInterrupt:
        fail("Stopped. Run the same again to go on.", code=STOPPED)
    except OSError as error:
        fail(str(error), code=1)
    console = Console(width=None if sys.stdout.isatty() else 200)
    report.show(outputs, console)
    for path in report.write(outputs, out):
        console.print(f"wrote {path}", highlight=False)
