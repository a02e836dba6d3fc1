import numpy as np
from scipy import stats

from dgme.engine import ShuffledOrders


def test_every_epoch_sees_every_row_once():
    orders = ShuffledOrders(101, seed=(3,))(lane=2, first=0, stop=7)
    assert orders.shape == (7, 101)
    np.testing.assert_array_equal(np.sort(orders), np.tile(np.arange(101), (7, 1)))


def test_a_range_of_epochs_is_a_part_of_the_whole():
    orders = ShuffledOrders(77, seed=(5, 1))
    whole = orders(4, 0, 12)
    for first, stop in [(0, 1), (3, 9), (11, 12)]:
        np.testing.assert_array_equal(orders(4, first, stop), whole[first:stop])


def test_lanes_seeds_and_epochs_differ():
    orders = ShuffledOrders(50, seed=(0,))
    rows = [
        *orders(0, 0, 3),
        *orders(1, 0, 3),
        *ShuffledOrders(50, seed=(1,))(0, 0, 3),
        *ShuffledOrders(50, seed=(0, 0, 1))(0, 0, 3),
    ]
    assert len({tuple(row) for row in rows}) == len(rows)


def test_orders_are_uniform():
    """Chi-square of the 24 orders of four rows over 24,000 epochs; p < 1e-4 would be a fault."""
    drawn = ShuffledOrders(4, seed=(0,))(0, 0, 24_000)
    _, counts = np.unique(drawn @ [1000, 100, 10, 1], return_counts=True)
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > 1e-4
