"""The examples of the pages, and the pictures that they draw: `make pictures`.

A picture below a block of Python is the figure that the block leaves open, so that what is seen
comes from the code above it.
"""

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
PIECE = re.compile(r"^```python\n(.*?)^```|^!\[[^]]*\]\((.*?)\)", re.M | re.S)


def pieces(page: Path) -> list[tuple[str, Path | None]]:
    """The blocks of Python on a page, each with the picture that follows it."""
    found: list[tuple[str, Path | None]] = []
    for block, picture in PIECE.findall(page.read_text("utf-8")):
        if block:
            found.append((block, None))
        elif found:
            found[-1] = (found[-1][0], page.parent / picture)
    return found


def run(page: Path, draw: bool = False) -> None:
    """Runs the blocks of a page, which follow each other in one namespace."""
    names = {}
    style = {"figure.figsize": (5, 3.5), "figure.constrained_layout.use": True}
    with plt.rc_context(style):
        plt.close("all")
        for block, picture in pieces(page):
            exec(compile(block, str(page), "exec"), names)
            if draw and picture:
                plt.savefig(picture, dpi=120, metadata={"Software": None})
                print(picture.relative_to(ROOT))
        plt.close("all")


PAGES = {
    str(page.relative_to(ROOT)): page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if pieces(page)
}


def main() -> None:
    plt.switch_backend("Agg")
    for page in PAGES.values():
        if any(picture for _, picture in pieces(page)):
            with TemporaryDirectory() as folder:
                os.chdir(folder)
                run(page, draw=True)
                os.chdir(ROOT)


if __name__ == "__main__":
    main()
