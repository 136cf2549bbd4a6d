"""Unsupported prior: the share of radiology reports that compare with an earlier study that nobody knows of."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
Unsupported prior is the share of predictions that speak of change or of an earlier study (stable, new, compared to),
among the studies of which no earlier one is known: not by the option prior, nor by a reference that compares. It lies
in [0, 1]; lower is better. English only.
"""

_EXAMPLE = """\
>>> unsupported_prior = evaluate.load("rexrank/unsupported_prior")
>>> result = unsupported_prior.compute(
...     predictions=["The nodule is stable.", "A nodule."],
...     references=["A nodule.", "A nodule."],
... )
>>> result["unsupported_prior"]
0.5
"""

_CITATION = """\
@misc{rexrank,
  title = {rexrank: an open leaderboard for radiology report generation},
  year = {2026}
}
"""


class UnsupportedPrior(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.unsupported_prior as an evaluate metric."""

    metric = "unsupported_prior"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=[],
            code=[],
        )
