"""Contradiction: the share of radiology reports that contradict themselves."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
Contradiction is the share of predictions that state a finding in one place and deny it in another; the references
are not looked at. It lies in [0, 1]; lower is better. A prediction that speaks of no finding has no value. English
only.
"""

_EXAMPLE = """\
>>> contradiction = evaluate.load("rexrank/contradiction")
>>> result = contradiction.compute(
...     predictions=["Small left effusion. No effusion.", "No large effusion. Small effusion."],
...     references=["Left effusion.", "Small effusion."],
... )
>>> result["contradiction"]
0.5
"""

_CITATION = """\
@misc{rexrank,
  title = {rexrank: an open leaderboard for radiology report generation},
  year = {2026}
}
"""


class Contradiction(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.contradiction as an evaluate metric."""

    metric = "contradiction"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=[],
            code=[],
        )
