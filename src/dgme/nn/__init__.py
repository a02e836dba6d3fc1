"""Networks, heads and initialisers: what one expert of a mixture is made of."""

from dgme.nn._activations import ACTIVATIONS as ACTIVATIONS
from dgme.nn._flat import Design as Design
from dgme.nn._flat import FlatNetwork as FlatNetwork
from dgme.nn._heads import CategoricalHead as CategoricalHead
from dgme.nn._heads import CategoricalMixtureHead as CategoricalMixtureHead
from dgme.nn._heads import GaussianHead as GaussianHead
from dgme.nn._heads import Head as Head
from dgme.nn._heads import HomoscedasticHead as HomoscedasticHead
from dgme.nn._heads import MixtureHead as MixtureHead
from dgme.nn._initialisers import INITIALISERS as INITIALISERS
from dgme.nn._lstm import LSTM as LSTM
from dgme.nn._lstm import LSTMModule as LSTMModule
from dgme.nn._mlp import MLP as MLP
from dgme.nn._mlp import MLPModule as MLPModule
from dgme.nn._modules import BatchModule as BatchModule
from dgme.nn._modules import fold_in as fold_in
from dgme.nn._modules import inverted_dropout as inverted_dropout
