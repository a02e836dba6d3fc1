"""Figures as SVG that stands in a page and takes its colours from it, by light and by dark."""

import io
import re
from collections.abc import Callable
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dgme.plots import PALETTE

# Near black, and none of the colours of a figure: what is drawn so takes the colour of text.
_INK = "#010203"
_STYLE = {
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}
WIDTH = 5.2  # inches: a font of ten points stays readable on a phone
HEIGHT = 3.7


def svg(
    draw: Callable[[Axes], object], name: str, title: str, words: str, height: float = HEIGHT
) -> str:
    """What ``draw`` draws into its axes, and in words for those who do not see it.

    The name tells the figure's parts from those of others.
    """
    style: Any = _STYLE | {"svg.hashsalt": name}
    with mpl.rc_context(style):
        figure = Figure((WIDTH, height), layout="constrained")
        draw(figure.subplots())
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = file.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
    text = re.sub(rf"{_INK}|#000000", "currentColor", text)
    for number, color in enumerate(PALETTE):
        text = text.replace(color, f"var(--series-{number})")
    opening = re.match(r"<svg[^>]*>", text)
    assert opening is not None
    box = re.search(r'viewBox="[^"]*"', opening[0])
    assert box is not None
    label = escape(f"{title}. {words}")
    return (
        f'<svg {box[0]} role="img" aria-label="{label}" xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<title>{escape(title)}</title>{text[opening.end() :]}"
    )
