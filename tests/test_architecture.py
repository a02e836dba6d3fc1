"""Rooms know only the rooms before them: a reader follows a row of data in one direction."""

import ast
from pathlib import Path

import pytest

import dgme

SOURCE = Path(dgme.__file__).parent
# In the order in which a row of data passes them; see CONTRIBUTING.md.
ROOMS = [
    "_files",
    "_finite",
    "_optional",
    "_watch",
    "distributions",
    "nn",
    "engine",
    "experts",
    "rounds",
    "em",
    "independent",
    "posterior",
    "_progress",
    "estimators",
    "tables",
    "metrics",
    "calibration",
    "evaluation",
    "plots",
    "datasets",
    "io",
    "export",
    "peers",
    "search",
    "skpro",
    "demo",
    "report",
    "paper",
    "cli",
]
# Saving is a verb of every estimator; its room is asked only when it is used.
EXCEPTIONS = {("estimators", "io")}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_knows_only_those_before_it(path):
    room = room_of(path)
    known = {room, *ROOMS[: ROOMS.index(room)]}
    met = {name.split(".")[1] for name in imports(path) if name.startswith("dgme.")}
    assert not {other for other in met - known if (room, other) not in EXCEPTIONS}


@pytest.mark.parametrize(
    ("room", "library"),
    [
        ("distributions", "jax"),
        ("distributions", "sklearn"),
        ("nn", "sklearn"),
        ("engine", "sklearn"),
        ("em", "sklearn"),
        ("metrics", "jax"),
    ],
)
def test_rooms_without_some_libraries(room, library):
    for path in MODULES:
        if room_of(path) == room:
            assert library not in {name.split(".")[0] for name in imports(path)}, path
