"""A progress bar that shows only where somebody watches."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from dgme._watch import stop_requested
from dgme.engine import TrainState
from dgme.rounds import Check, Round


class Bar(NamedTuple):
    """Callbacks that move a bar over the epochs of all rounds, and tell when to stop."""

    bar: Progress
    task: TaskID
    rounds: int
    epochs_per_round: int
    log_unit: float
    """Logarithm of the unit in which the networks see the target."""

    def on_epochs(self, state: TrainState) -> bool:
        done = self.bar.tasks[self.task].fields["done"]
        self.bar.update(self.task, completed=done * self.epochs_per_round + state.epoch)
        if self.rounds == 1:
            loss = state.losses[:, -1].mean() + self.log_unit
            status = f"epoch {state.epoch} of {self.epochs_per_round}  loss {loss:.3f}"
            self.bar.update(self.task, status=status)
        return stop_requested()

    def on_round(self, done: Round) -> bool:
        rounds = self.bar.tasks[self.task].fields["done"] + 1
        score = f"log-likelihood {done.log_likelihood.max() - self.log_unit:.3f}"
        status = f"{rounds} of {self.rounds} rounds  {score}"
        self.bar.update(self.task, done=rounds, status=status, held_out=self._held_out(done))
        return stop_requested()

    def on_check(self, done: Check) -> None:
        self.bar.update(self.task, held_out=self._held_out(done))

    def _held_out(self, done: Round | Check) -> str:
        if done.held_out_score is None:
            return ""
        return f"held out {done.held_out_score.max() - self.log_unit:.3f}"


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
        TextColumn("{task.fields[held_out]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not (visible and console.is_terminal)) as bar:
        task = bar.add_task(
            "Training", total=rounds * epochs_per_round, done=0, status="", held_out=""
        )
        yield Bar(bar, task, rounds, epochs_per_round, log_unit)
        # Training may end before its last round; a bar that stands still would look like a failure.
        bar.update(task, total=bar.tasks[task].completed)
