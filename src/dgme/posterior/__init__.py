"""What the model does not know: distributions over the parameters of trained members.

Each posterior starts from K trained members and draws sets of parameters for them. A draw is one
function of the inputs, the same for all rows.
"""

from dgme.posterior._draws import Draws as Draws
from dgme.posterior._draws import Posterior as Posterior
from dgme.posterior._dropout import DropoutPosterior as DropoutPosterior
from dgme.posterior._laplace import LaplacePosterior as LaplacePosterior
from dgme.posterior._laplace import fit_laplace as fit_laplace
from dgme.posterior._swag import SwagMoments as SwagMoments
from dgme.posterior._swag import SwagPosterior as SwagPosterior

POSTERIORS = {
    "dropout": DropoutPosterior,
    "swag": SwagPosterior,
    "laplace": LaplacePosterior,
}
