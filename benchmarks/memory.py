"""The most memory that a piece of work held at a time."""

import sys
from collections.abc import Callable
from pathlib import Path

_PROCESS = Path("/proc/self")


def peak_growth(work: Callable[[], object]) -> float | None:
    """Mebibytes above what the process held before; None where the system does not tell.

    `getrusage` would not do: its peak cannot be reset, and a new process inherits that of the
    process that started it.
    """
    if sys.platform != "linux":
        work()
        return None
    before = _status("VmRSS")
    (_PROCESS / "clear_refs").write_text("5")  # the peak begins anew, at what is held now
    work()
    return (_status("VmHWM") - before) / 1024


def _status(name: str) -> int:
    """A field of the process's status, in kibibytes."""
    lines = (_PROCESS / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
