"""HTML pages that need nothing but themselves, in one style for all of ours."""

from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined


def render(package: str, template: str, **values: Any) -> str:
    """Fill in the template of a package; it finds the style in ``style``."""
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    page = environment.from_string(files(package).joinpath(template).read_text("utf-8"))
    style = files("dgme.report").joinpath("style.css").read_text("utf-8")
    return page.render(style=style, **values)
