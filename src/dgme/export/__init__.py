"""Predictive laws in files of other runtimes, which need no dgme.

Such a file holds one function: from raw rows of features, in double precision, to the components of
each row's law, in the target's own units.
"""

from dgme.export._onnx import to_onnx as to_onnx
from dgme.export._stablehlo import to_stablehlo as to_stablehlo
