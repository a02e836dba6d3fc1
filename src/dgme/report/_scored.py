"""Every row scored, part by part."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from dgme.evaluation import Evaluation, Evaluator, costly_share
from dgme.report._subject import Subject


@dataclass(frozen=True)
class Scored:
    """The scores of all rows, and what is kept of each."""

    scores: Evaluation
    log_score: Float64[np.ndarray, " n"]
    mean: Float64[np.ndarray, " n"]
    aleatoric: Float64[np.ndarray, " n"]
    """As a variance, like the next."""
    epistemic: Float64[np.ndarray, " n"]

    has_posterior: bool

    @property
    def epistemic_share(self) -> float | None:
        if not self.has_posterior:
            return None
        return float(self.epistemic.sum() / (self.aleatoric + self.epistemic).sum())


def score(subject: Subject) -> Scored:
    first = subject.take(slice(0, 1)).law()
    evaluator = Evaluator(share=costly_share(len(subject), first.n_components))
    log_score, mean, aleatoric, epistemic = kept = np.empty((4, len(subject)))
    for part, rows in subject.parts():
        law = rows.law()
        evaluator.add(law, rows.y)
        split = law.aleatoric_variance(), law.epistemic_variance()
        kept[:, part] = law.logpdf(rows.y), law.mean(), *split
    return Scored(
        evaluator.evaluation(), log_score, mean, aleatoric, epistemic, bool(np.ptp(first.groups))
    )
