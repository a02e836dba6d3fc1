"""Run the examples of plots.md, and draw the picture that follows each.

.venv/bin/python docs/make_plots.py
"""

import re
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

PAGE = Path(__file__).with_name("plots.md")
PIECE = re.compile(r"^```python\n(.*?)^```|^!\[.*?\]\((.*?)\)", re.M | re.S)


def main() -> None:
    names = {}
    plt.rcParams.update({"figure.figsize": (5, 3.5), "figure.constrained_layout.use": True})
    for block, picture in PIECE.findall(PAGE.read_text("utf-8")):
        if block:
            exec(compile(block, PAGE.name, "exec"), names)
        else:
            plt.savefig(PAGE.parent / picture, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
