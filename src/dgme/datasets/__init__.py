"""Data of the paper's experiments."""

from dgme.datasets import toy as toy
from dgme.datasets import uci as uci
