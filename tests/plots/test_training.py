import numpy as np
import pytest

from dgme import plots

ROUNDS = {
    "round": np.arange(1, 5),
    "log_likelihood": np.array([-3.0, -2.5, -2.2, -2.0]),
    "held_out_score": np.array([-3.1, -2.6, -2.7, -2.8]),
    "weight_0": np.array([0.5, 0.6, 0.7, 0.7]),
    "weight_1": np.array([0.5, 0.4, 0.3, 0.3]),
}
EPOCHS = {
    "epoch": np.array([10, 20]),
    "loss": np.array([2.0, 1.5]),
    "held_out_score": np.full(2, np.nan),
}


def labels(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_round_that_predicts_is_marked(ax):
    assert plots.training_history(ROUNDS, ax=ax) is ax
    training, held_out, chosen = ax.lines
    np.testing.assert_array_equal(training.get_ydata(), ROUNDS["log_likelihood"])
    np.testing.assert_array_equal(held_out.get_ydata(), ROUNDS["held_out_score"])
    assert [*chosen.get_xdata(), *chosen.get_ydata()] == [2, -2.6]
    assert labels(ax) == ["training rows", "held-out rows", "round 2 predicts"]
    assert ax.get_xlabel() == "round"


def test_without_held_out_rows_the_last_epoch_predicts(ax):
    plots.training_history(EPOCHS, ax=ax, label="alone")
    training, chosen = ax.lines
    np.testing.assert_array_equal(training.get_ydata(), [-2.0, -1.5])
    assert [*chosen.get_xdata(), *chosen.get_ydata()] == [20, -1.5]
    assert labels(ax) == ["alone: training rows", "alone: epoch 20 predicts"]


def test_weights_are_stacked_to_one(ax):
    plots.training_weights(ROUNDS, ax=ax)
    first, whole = ax.lines
    np.testing.assert_array_equal(first.get_ydata(), ROUNDS["weight_0"])
    np.testing.assert_allclose(whole.get_ydata(), 1)
    assert labels(ax) == ["component 0", "component 1"]


def test_other_histories_are_refused(ax):
    with pytest.raises(ValueError, match=r"history must be the history_ .* columns \['loss'\]"):
        plots.training_history({"loss": np.ones(2)}, ax=ax)
    with pytest.raises(ValueError, match="history holds no weights, which only methods that are"):
        plots.training_weights(EPOCHS, ax=ax)
