"""A progress bar that shows only where somebody watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dgme.rounds import Round


@contextmanager
def round_progress(n_rounds: int, *, visible: bool) -> Iterator[Callable[[Round], None]]:
    """Yields a callback for `dgme.em.fit` that moves a bar by one round."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rounds, log-likelihood {task.fields[score]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not (visible and console.is_terminal)) as bar:
        task = bar.add_task("Expectation-maximisation", total=n_rounds, score="-")

        def advance(done: Round) -> None:
            bar.update(task, advance=1, score=f"{done.score.max():.3f}")

        yield advance
