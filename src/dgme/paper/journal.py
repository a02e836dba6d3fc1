"""Results as JSON lines, kept as soon as they are known, so that a run that is killed goes on."""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dgme.paper.experiment import Result

Line = dict[str, Any]


class Journal:
    """A file to which the results of a task are appended together.

    Every line says which part of its task it is, and of how many. Of what a killed run left half
    written the task counts as not done; when it is run again, its lines replace the earlier ones.
    """

    def __init__(self, path: Path):
        self._path = path
        tasks: dict[str, dict[int, Line]] = defaultdict(dict)
        for line in _lines(path):
            tasks[line["key"]][line["part"]] = line
        self._tasks = {
            key: [parts[number] for number in sorted(parts)]
            for key, parts in tasks.items()
            if len(parts) == parts[min(parts)]["parts"]
        }

    def __contains__(self, key: str) -> bool:
        return key in self._tasks

    def results(self, keys: Iterable[str]) -> list[Result]:
        """The results of these tasks, in this order."""
        return [Result(line["of"], line["scores"]) for key in keys for line in self._tasks[key]]

    def append(self, key: str, facts: Mapping[str, Any], results: Sequence[Result]) -> None:
        lines = [
            {
                "key": key,
                "part": part,
                "parts": len(results),
                "of": dict(result.of),
                "scores": dict(result.scores),
                **facts,
            }
            for part, result in enumerate(results)
        ]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            # A line that was cut off by a kill must not swallow the next.
            if file.tell() and not _ends_in_newline(self._path):
                file.write(b"\n")
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        self._tasks[key] = json.loads(f"[{','.join(text.splitlines())}]")


def key_of(**facts: Any) -> str:
    """What results are found again by: all that they depend on."""
    text = json.dumps(facts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _lines(path: Path) -> list[Line]:
    if not path.exists():
        return []
    lines = []
    for text in path.read_bytes().splitlines():
        try:
            line = json.loads(text)
        except ValueError:  # cut off
            continue
        if isinstance(line, dict) and {"key", "part", "parts", "of", "scores"} <= set(line):
            lines.append(line)
    return lines


def _ends_in_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"
