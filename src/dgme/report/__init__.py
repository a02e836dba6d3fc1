"""What a model is worth on rows whose targets are known, as one HTML file that explains itself."""

from dgme.report._page import render
from dgme.report._write import write

__all__ = ["render", "write"]
