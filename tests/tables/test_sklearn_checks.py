"""scikit-learn's checks, with a regressor that takes no time: the networks have their own."""

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from dgme import GaussianMixture, TableEncoder, TableRegressor
from dgme.estimators import DensityRegressor


class Line(DensityRegressor):
    """Least squares, with noise of variance one."""

    def fit(self, X, y, sample_weight=None):
        X, y = validate_data(self, X, y, multi_output=False, y_numeric=True)
        self.line_ = LinearRegression().fit(X, y, sample_weight)
        return self

    def predict_dist(self, X, n_posterior_samples=None):
        check_is_fitted(self)
        means = self.line_.predict(validate_data(self, X, reset=False))
        return GaussianMixture([1.0], means[:, None], np.ones((len(means), 1)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


@parametrize_with_checks([TableEncoder(), TableRegressor(Line())])
def test_scikit_learn_check(estimator, check):
    check(estimator)
