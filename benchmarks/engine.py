"""Training through `dgme.engine`."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from benchmarks import workload
from dgme.engine import (
    NegativeLogLikelihood,
    Optimiser,
    Rows,
    ShuffledOrders,
    Trained,
    initialise_lanes,
    train,
)
from dgme.nn import MLP, FlatNetwork, GaussianHead

NETWORK = FlatNetwork(
    MLP((workload.N_HIDDEN,)), (workload.N_INPUTS,), GaussianHead(workload.MIN_SCALE).n_outputs
)


@dataclass(frozen=True)
class Training:
    """Members that start from given parameters and see the rows in given orders."""

    params: Float32[np.ndarray, "members size"]
    orders: ShuffledOrders

    @classmethod
    def of(cls, n_members: int, seed: int = 0) -> "Training":
        params = np.asarray(initialise_lanes(NETWORK, n_members, seed))
        return cls(params, ShuffledOrders(workload.N_ROWS, (seed,)))

    @property
    def weight(self) -> float:
        """The weight of every row in every member: equal responsibilities."""
        return 1 / len(self.params)

    def run(self, learning_rate: float = workload.LEARNING_RATE) -> Trained:
        x, y = workload.table()
        return train(
            NegativeLogLikelihood(GaussianHead(workload.MIN_SCALE)),
            NETWORK,
            self.params,
            Rows(x[None], y[None, :, None]),
            np.full((len(self.params), workload.N_ROWS), self.weight, np.float32),
            self.orders,
            epochs=workload.EPOCHS,
            batch_size=workload.BATCH_SIZE,
            optimiser=Optimiser(learning_rate),
        )

    def losses(self) -> Float32[np.ndarray, "members epochs"]:
        """Mean negative log-likelihood of the rows in every epoch."""
        return self.run().losses / self.weight
