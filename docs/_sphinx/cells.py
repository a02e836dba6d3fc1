"""Numbers in tables stay in one piece: 2.88 ± 0.90 | 2.83 ± 0.91 ✓ is cut after the bar alone."""

from docutils import nodes
from sphinx.transforms import SphinxTransform

BLANK = "\N{NO-BREAK SPACE}"


class NumbersHold(SphinxTransform):
    default_priority = 400

    def apply(self) -> None:
        for entry in self.document.findall(nodes.entry):
            for text in list(entry.findall(nodes.Text)):
                held = text
                for sign in ("± ", " ±", " |", " ✓", " ✗"):
                    held = held.replace(sign, sign.replace(" ", BLANK))
                if held != text:
                    text.parent.replace(text, nodes.Text(held))


def setup(app) -> dict[str, bool]:
    app.add_transform(NumbersHold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
