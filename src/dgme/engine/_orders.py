from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int32

# (lane, first epoch, last epoch + 1) -> for each epoch, the order in which the lane sees its rows.
Orders = Callable[[int, int, int], Int32[np.ndarray, "epochs rows"]]


@dataclass(frozen=True)
class ShuffledOrders:
    """An independent random order of the rows for every lane and epoch.

    Any range of epochs can be asked for and is always the same, which is what makes a run
    independent of the chunks it is cut into. Made on the host: sorting random keys there costs a
    tenth of a compiled permutation, and the threads that train the lanes share the work.
    """

    n_rows: int
    seed: Sequence[int]

    def __call__(self, lane: int, first: int, stop: int) -> Int32[np.ndarray, "epochs rows"]:
        words = -(-self.n_rows // 8) * 8
        key = np.random.SeedSequence((*self.seed, lane)).generate_state(2, np.uint64)
        # One step of the counter gives four words of 64 bits: eight keys to sort by.
        stream = np.random.Philox(key=key).advance(first * words // 8)
        keys = stream.random_raw((stop - first) * words // 2).view(np.uint32)
        return np.argsort(keys.reshape(stop - first, words)[:, : self.n_rows]).astype(np.int32)
