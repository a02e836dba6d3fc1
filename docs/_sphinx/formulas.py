"""Formulas as pictures in the page.

The usual renderers fetch scripts from elsewhere or need TeX, and browsers draw MathML well only
where a mathematical font is installed. So formulas are set while the pages are built.
"""

from html import escape

import ziamath
from docutils import nodes

SIZE = 18


def svg(tex: str, *, inline: bool) -> str:
    formula = ziamath.Latex(tex, size=SIZE, color="currentColor", inline=inline)
    style = f"vertical-align: {formula.getyofst():.1f}px" if inline else ""
    label = escape(" ".join(tex.split()), quote=True)
    attributes = f'role="img" aria-label="{label}" style="{style}"'
    return formula.svg().replace("<svg ", f"<svg {attributes} ", 1)


def write_inline(writer, node: nodes.math) -> None:
    writer.body.append(svg(node.astext(), inline=True))
    raise nodes.SkipNode


def write_block(writer, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{svg(node.astext(), inline=False)}</div>')
    raise nodes.SkipNode


def setup(app) -> dict[str, bool]:
    app.add_html_math_renderer("formulas", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
