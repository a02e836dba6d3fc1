"""Ends training before its time: at a deadline, or when somebody presses Ctrl-C.

Training asks `stop_requested` wherever it could end well: between its compiled chunks of epochs and
between its rounds. It then ends as if it had been asked for no more, at its best state.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Watch:
    deadline: float = math.inf
    interrupted: bool = False
    stopped: bool = False
    """Whether training was told to stop; a deadline may also pass after its end."""


_current: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def stopping(
    after: float | None = None, on_interrupt: Callable[[], None] = lambda: None
) -> Iterator[Watch]:
    """Within, training ends at its best state after so many seconds, or at the first Ctrl-C.

    The second Ctrl-C raises KeyboardInterrupt, as does the first one outside of the main thread,
    which alone hears signals.
    """
    watch = Watch(math.inf if after is None else time.monotonic() + after)

    def interrupt(number, frame):
        if watch.interrupted:
            raise KeyboardInterrupt
        watch.interrupted = True
        on_interrupt()

    hears = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, interrupt) if hears else None
    token = _current.set(watch)
    try:
        yield watch
    finally:
        _current.reset(token)
        if before is not None:
            signal.signal(signal.SIGINT, before)


def watched() -> bool:
    """Whether somebody may ask training to stop."""
    return _current.get() is not None


def stop_requested() -> bool:
    watch = _current.get()
    if watch is None or not (watch.interrupted or time.monotonic() >= watch.deadline):
        return False
    watch.stopped = True
    return True
