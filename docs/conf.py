"""The documentation as a site: `make site` builds it, and a warning is an error."""

import sys
from pathlib import Path

import dgme

sys.path.insert(0, str(Path(__file__).parent / "_sphinx"))

project = "dgme"
author = copyright = "The dgme developers"
version = release = dgme.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "cells",
    "formulas",
    "reference",
    "links",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_sphinx"]

# Pages and docstrings come in the order of the source, without types: docstrings tell what they
# need, and those of arrays are long.
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# What a class only overrides is told with the class that it comes from.
autodoc_inherit_docstrings = False
autosummary_generate = False
numpydoc_show_class_members = False
# All of numpydoc's rules but two kinds: sections and descriptions for what the signature tells, and
# a summary that begins with a verb, on a line of its own, with a capital letter: n laws need none.
numpydoc_validation_checks = {"all"} | {
    *("ES01", "EX01", "PR01", "PR07", "PR08", "RT01", "SA01", "YD01"),
    *("GL01", "GL02", "SS02", "SS05"),
}

# `name` in a docstring is a link where it names something of ours, and code otherwise; a full name
# that leads nowhere is an error.
default_role = "py:obj"
nitpicky = True
nitpick_ignore_regex = [("py:obj", r"(?!dgme\.).*")]

html_theme = "furo"
html_title = "dgme"
pygments_dark_style = "github-dark"
html_math_renderer = "formulas"
html_static_path = ["_sphinx/static"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_copyright = False
