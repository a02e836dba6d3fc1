"""The parameters of all estimators: what each means and which values it may have.

An estimator lists its parameters with their defaults as fields of a class; `estimator` makes of
them the constructor that scikit-learn expects, the constraints that `fit` checks, and the section
on parameters of the docstring.
"""

from dataclasses import dataclass, fields
from inspect import cleandoc, getdoc
from numbers import Integral, Real
from textwrap import fill, indent
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from sklearn.utils._param_validation import Interval, StrOptions

from dgme.nn import ACTIVATIONS, INITIALISERS

C = TypeVar("C", bound=type)

POSITIVE_INTEGER = [Interval(Integral, 1, None, closed="left")]
POSITIVE = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]


class Parameter(NamedTuple):
    type: str
    meaning: str
    allowed: list


def _choice(names) -> str:
    *most, last = (f'"{name}"' for name in names)
    return f"{', '.join(most)} or {last}"


PARAMETERS = {
    "n_components": Parameter("int", "Number K of components in the mixture.", POSITIVE_INTEGER),
    "n_members": Parameter("int", "Number K of networks in the ensemble.", POSITIVE_INTEGER),
    "n_rounds": Parameter(
        "int", "Largest number J of rounds of expectation and maximisation.", POSITIVE_INTEGER
    ),
    "epochs_per_round": Parameter(
        "int", "Passes E over the rows in each maximisation step.", POSITIVE_INTEGER
    ),
    "epochs": Parameter("int", "Largest number of passes over the rows.", POSITIVE_INTEGER),
    "hidden_sizes": Parameter(
        "tuple of int", "Widths of the hidden layers of each network.", ["array-like"]
    ),
    "activation": Parameter(
        "str", f"One of {_choice(ACTIVATIONS)}.", [StrOptions(set(ACTIVATIONS))]
    ),
    "dropout": Parameter(
        "float",
        "Probability of dropping a hidden unit while training.",
        [Interval(Real, 0, 1, closed="left")],
    ),
    "init": Parameter(
        "str",
        f"Initialisation of the weights: {_choice(INITIALISERS)}.",
        [StrOptions(set(INITIALISERS))],
    ),
    "network": Parameter(
        "callable or None",
        "Another kind of network, in place of the perceptron that `hidden_sizes`, `activation`, "
        "`dropout` and `init` describe: `dgme.nn.MLP`, `dgme.nn.LSTM` for sequences, or a function "
        "of a key, the shape of a row and a number of outputs that makes an Equinox module (see "
        "`dgme.nn.FlatNetwork`).",
        [callable, None],
    ),
    "learning_rate": Parameter("float", "Step size of Adam.", POSITIVE),
    "weight_decay": Parameter("float", "Decoupled weight decay of Adam.", NOT_NEGATIVE),
    "batch_size": Parameter(
        "int", "Rows per optimiser step; all rows where there are fewer.", POSITIVE_INTEGER
    ),
    "adversarial_eps": Parameter(
        "float",
        "Adversarial training: how far, in units of each feature's range, rows are moved in the "
        "direction that makes them worst; the loss is the mean of a row's and its neighbour's. "
        "Zero does without.",
        NOT_NEGATIVE,
    ),
    "min_scale": Parameter(
        "float",
        "The smallest standard deviation that a component can have, in units of the standardised "
        "target. It keeps components from collapsing on repeated targets.",
        POSITIVE,
    ),
    "noise_scale": Parameter(
        "float or None",
        "Standard deviation of the noise, the same for all rows, in units of the target. By "
        "default the one that makes the held-out rows most likely, or the training rows if none "
        "are held out.",
        [*POSITIVE, None],
    ),
    "heteroscedastic": Parameter(
        "bool",
        "Whether networks predict a variance for each row, and are trained by the likelihood. By "
        "default they predict means, are trained by squared errors, and `noise_scale` applies.",
        ["boolean"],
    ),
    "spread_means": Parameter(
        "bool",
        "Whether the components' means begin at different quantiles of the target, so that no "
        "component takes all rows before the others have begun to learn.",
        ["boolean"],
    ),
    "standardize": Parameter(
        "bool",
        "Whether to bring features, and the target of a regression, to mean zero and variance one, "
        "which is undone exactly in the predictions.",
        ["boolean"],
    ),
    "validation_fraction": Parameter(
        "float or None",
        "Share of the rows that is held out to choose the length of the training: what scores best "
        "on them is what predicts. None, or fewer than ten held-out rows: all rows are trained on "
        "for exactly as long as was asked for.",
        [Interval(Real, 0, 1, closed="neither"), None],
    ),
    "patience": Parameter(
        "int",
        "Training stops when the held-out score has not improved for so long: a number of rounds "
        "for mixtures trained by EM, of epochs otherwise.",
        POSITIVE_INTEGER,
    ),
    "annealing": Parameter(
        "float",
        "Inverse temperature of the first expectation step, in (0, 1]. Below one, responsibilities "
        "begin soft and harden over the first half of the rounds.",
        [Interval(Real, 0, 1, closed="right")],
    ),
    "n_init": Parameter(
        "int",
        "Number of restarts, of which the best is kept. They are trained side by side, for which "
        "each of the `n_components` networks of each takes the memory of one more copy of X.",
        POSITIVE_INTEGER,
    ),
    "epistemic": Parameter(
        "str",
        'What the model does not know: "dropout" averages over thinned networks, "swag" over a '
        'Gaussian from the iterates of one more stretch of training, "laplace" over a Gaussian '
        'for the last layer; "none" takes the trained parameters as certain. "auto" is "dropout" '
        'where units are dropped in training, as in the paper, and "none" otherwise.',
        [StrOptions({"auto", "none", "dropout", "swag", "laplace"})],
    ),
    "n_posterior_samples": Parameter(
        "int",
        "How many samples of the parameters the predictions average over, if there is anything to "
        "sample: dropout, SWAG or Laplace.",
        POSITIVE_INTEGER,
    ),
    "swag_epochs": Parameter(
        "int",
        "Passes over the rows after the training, of whose iterates, one for each, SWAG makes its "
        "Gaussian.",
        [Interval(Integral, 2, None, closed="left")],
    ),
    "swag_rank": Parameter(
        "int",
        "Rank of the low-rank part of SWAG's covariance.",
        [Interval(Integral, 2, None, closed="left")],
    ),
    "swag_learning_rate": Parameter(
        "float or None",
        "Step size while SWAG gathers; by default `learning_rate`.",
        [*POSITIVE, None],
    ),
    "swag_schedule": Parameter(
        "str",
        '"constant" keeps the step size while SWAG gathers; "cyclic" lets it fall to a twentieth '
        "within every epoch, so that iterates are gathered where it is smallest.",
        [StrOptions({"constant", "cyclic"})],
    ),
    "warm_start": Parameter(
        "bool",
        "Whether `fit` goes on from the present state, with the seed of the first fit, so that the "
        "same rows are held out.",
        ["boolean"],
    ),
    "random_state": Parameter(
        "int, RandomState or None",
        "Seed of initialisation, held-out rows, order of minibatches and posterior samples.",
        ["random_state"],
    ),
    "verbose": Parameter("int", "Above zero, a progress bar is shown on a terminal.", ["verbose"]),
    "device": Parameter(
        "str or None",
        'Where to train, "cpu" or "gpu", with an optional index as in "gpu:1". By default on all '
        "devices of JAX's default kind.",
        [str, None],
    ),
}


@dataclass_transform(kw_only_default=True)
def estimator(cls: C) -> C:
    """Make the fields of a class the parameters of an estimator."""
    made: Any = dataclass(repr=False, eq=False, kw_only=True)(cls)
    # scikit-learn's constructors store whatever they get; `fit` is where it is checked.
    made.__no_type_check__ = True
    own = [field for field in fields(made) if field.init]
    made._parameter_constraints = {field.name: PARAMETERS[field.name].allowed for field in own}
    if "{parameters}" in (text := getdoc(made) or ""):
        described = "\n".join(_described(field.name, field.default) for field in own)
        made.__doc__ = cleandoc(text).replace("{parameters}", described)
    return made


def _described(name: str, default: object) -> str:
    kind, meaning, _ = PARAMETERS[name]
    return f"{name} : {kind}, default {default!r}\n{indent(fill(meaning, 92), '    ')}"
