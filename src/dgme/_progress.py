"""A progress bar that shows only where somebody watches."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from dgme.engine import TrainState
from dgme.rounds import Round


class Bar(NamedTuple):
    """A callback of the engine that moves a bar over the epochs of all rounds."""

    bar: Progress
    task: TaskID
    rounds: int
    epochs_per_round: int
    log_unit: float
    """Logarithm of the unit in which the networks see the target."""

    def on_epochs(self, state: TrainState) -> None:
        done = self.bar.tasks[self.task].fields["done"]
        self.bar.update(self.task, completed=done * self.epochs_per_round + state.epoch)
        if self.rounds == 1:
            loss = state.losses[:, -1].mean() + self.log_unit
            self.bar.update(self.task, status=f"epoch {state.epoch}, loss {loss:.3f}")

    def on_round(self, done: Round) -> None:
        rounds = self.bar.tasks[self.task].fields["done"] + 1
        kind = "log-likelihood" if done.held_out_score is None else "held-out log-likelihood"
        score = f"{kind} {done.score.max() - self.log_unit:.3f}"
        status = f"{rounds} of {self.rounds} rounds  {score}"
        self.bar.update(self.task, done=rounds, status=status)


@contextmanager
def progress_bar(
    rounds: int, epochs_per_round: int, log_unit: float, *, visible: bool
) -> Iterator[Bar]:
    """A bar on standard error, if it is a terminal and `visible`."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[status]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not (visible and console.is_terminal)) as bar:
        task = bar.add_task("Training", total=rounds * epochs_per_round, done=0, status="")
        yield Bar(bar, task, rounds, epochs_per_round, log_unit)
        # Training may end before its last round; a bar that stands still would look like a failure.
        bar.update(task, total=bar.tasks[task].completed)
