"""Networks, heads and initialisers: what one expert of a mixture is made of."""

from dgme.nn._activations import ACTIVATIONS as ACTIVATIONS
from dgme.nn._flat import FlatNetwork as FlatNetwork
from dgme.nn._heads import GaussianHead as GaussianHead
from dgme.nn._initialisers import INITIALISERS as INITIALISERS
from dgme.nn._mlp import MLP as MLP
from dgme.nn._mlp import MLPFactory as MLPFactory
