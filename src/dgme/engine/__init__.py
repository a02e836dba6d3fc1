"""One compiled trainer of many independent lanes.

A lane is one network with its own parameters, optimiser state, weights of rows and order of
minibatches. Members of an ensemble, restarts, seeds and train-test splits are all lanes. Lanes
never talk to each other, so they are vectorised within a program, and spread over cores and
devices.
"""

from dgme.engine._apply import CHUNK_ROWS as CHUNK_ROWS
from dgme.engine._apply import apply_lanes as apply_lanes
from dgme.engine._lanes import find_device as find_device
from dgme.engine._lanes import initialise_lanes as initialise_lanes
from dgme.engine._objectives import Adversarial as Adversarial
from dgme.engine._objectives import NegativeLogLikelihood as NegativeLogLikelihood
from dgme.engine._objectives import Prediction as Prediction
from dgme.engine._optimiser import SCHEDULES as SCHEDULES
from dgme.engine._optimiser import Optimiser as Optimiser
from dgme.engine._orders import Orders as Orders
from dgme.engine._orders import ShuffledOrders as ShuffledOrders
from dgme.engine._random import wrapped as wrapped
from dgme.engine._train import Callback as Callback
from dgme.engine._train import Rows as Rows
from dgme.engine._train import Trained as Trained
from dgme.engine._train import TrainState as TrainState
from dgme.engine._train import train as train
