"""Scores of predictive laws, in the units of the target.

Every score takes a forecast and the targets, ``score(forecast, y)``. A forecast is

- a law: what ``predict_dist`` returns, or anything else with the verbs that the score needs;
- a tuple ``(mean, std)``: what ``predict(X, return_std=True)`` returns, scored as Gaussians;
- quantiles, as `from_quantiles` of their levels and values;
- draws, as `from_samples`.

An array alone is none of them, since it does not tell what it holds. The last two are laws as well,
without a density: what needs one, says so.

A score is the mean over rows, weighted by ``sample_weight`` if that is given; laws of vectors are
scored target by target, but for ``nll`` and ``energy_score``. Of all but ``coverage`` and ``pit``
smaller is better; scorers for scikit-learn change the sign.
"""

from dgme.metrics._calibration import coverage as coverage
from dgme.metrics._calibration import interval_calibration_error as interval_calibration_error
from dgme.metrics._calibration import mean_width as mean_width
from dgme.metrics._calibration import pit as pit
from dgme.metrics._calibration import quantile_calibration_error as quantile_calibration_error
from dgme.metrics._calibration import sharpness as sharpness
from dgme.metrics._classes import brier as brier
from dgme.metrics._classes import calibration_error as calibration_error
from dgme.metrics._forecasts import from_quantiles as from_quantiles
from dgme.metrics._forecasts import from_samples as from_samples
from dgme.metrics._forecasts import from_std as from_std
from dgme.metrics._scorers import make_density_scorer as make_density_scorer
from dgme.metrics._scorers import neg_crps as neg_crps
from dgme.metrics._scorers import neg_log_score as neg_log_score
from dgme.metrics._scorers import predicted_law as predicted_law
from dgme.metrics._scores import crps as crps
from dgme.metrics._scores import energy_score as energy_score
from dgme.metrics._scores import gaussian_nll as gaussian_nll
from dgme.metrics._scores import interval_score as interval_score
from dgme.metrics._scores import mae as mae
from dgme.metrics._scores import nll as nll
from dgme.metrics._scores import pinball_loss as pinball_loss
from dgme.metrics._scores import rmse as rmse
