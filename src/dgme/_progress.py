"""A progress bar that shows only where somebody watches."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from dgme.engine import TrainState
from dgme.rounds import Round


class EMProgress(NamedTuple):
    """Callbacks for `dgme.em.fit` that move a bar over the epochs of all rounds."""

    bar: Progress
    task: TaskID
    epochs_per_round: int
    log_unit: float
    """Logarithm of the unit in which the networks see the target."""

    def on_epochs(self, state: TrainState) -> None:
        done = self.bar.tasks[self.task].fields["rounds"] * self.epochs_per_round
        self.bar.update(self.task, completed=done + state.epoch)

    def on_round(self, done: Round) -> None:
        rounds = self.bar.tasks[self.task].fields["rounds"] + 1
        kind = "log-likelihood" if done.held_out_score is None else "held-out log-likelihood"
        score = f"{kind} {done.score.max() - self.log_unit:.3f}"
        self.bar.update(self.task, rounds=rounds, score=score)


@contextmanager
def em_progress(
    n_rounds: int, epochs_per_round: int, log_unit: float, *, visible: bool
) -> Iterator[EMProgress]:
    """A bar on standard error, if it is a terminal and `visible`."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rounds]} of {task.fields[of]} rounds"),
        TextColumn("{task.fields[score]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not (visible and console.is_terminal)) as bar:
        total = n_rounds * epochs_per_round
        task = bar.add_task("Training", total=total, rounds=0, of=n_rounds, score="")
        yield EMProgress(bar, task, epochs_per_round, log_unit)
        # Training may end before its last round; a bar that stands still would look like a failure.
        bar.update(task, total=bar.tasks[task].completed)
