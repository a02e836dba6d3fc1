"""The examples of the pages, and the pictures that they draw: `make pictures`.

A page that saves a picture shows it, so that what is seen comes from the code beside it.
"""

import os
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"


def examples(page: Path) -> list[str]:
    """The blocks of Python on a page, which follow each other in one namespace."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


def run(page: Path) -> None:
    names = {}
    for block in examples(page):
        exec(compile(block, str(page), "exec"), names)


PAGES = {
    str(page.relative_to(ROOT)): page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if examples(page)
}


def main() -> None:
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    PICTURES.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        if not any("savefig(" in block for block in examples(page)):
            continue
        plt.close("all")
        with TemporaryDirectory() as folder:
            os.chdir(folder)
            run(page)
            for picture in Path(folder).glob("*.png"):
                print(f"{name}: {shutil.copy(picture, PICTURES)}")
            os.chdir(ROOT)


if __name__ == "__main__":
    main()
