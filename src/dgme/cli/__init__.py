"""The command line: one file for each command, which imports what it needs when it is called.

Help and errors come at once. Standard output holds results alone; what went wrong is one line on
standard error.
"""

from importlib import import_module

from dgme.cli._app import app as app
from dgme.cli._app import main as main

COMMANDS = (
    *("fit", "predict", "evaluate", "compare", "info", "export"),
    *("demo", "datasets", "paper"),
)

for _position, _name in enumerate(COMMANDS):
    app.command(getattr(import_module(f"dgme.cli.{_name}"), _name), sort_key=_position)
