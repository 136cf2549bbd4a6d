"""Laterality: whether two radiology reports agree on left and right."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
Laterality agreement takes the findings that both reports place on a side (left, right, or both) and gives the share of
sides that they have in common, the mean over these findings; the score is the mean over the reports. It lies in
[0, 1]; higher is better. A report without such a finding has no value. English only.
"""

_EXAMPLE = """\
>>> laterality = evaluate.load("rexrank/laterality")
>>> result = laterality.compute(
...     predictions=["Small left effusion.", "Opacity in the right base."],
...     references=["Small right effusion.", "Right basal opacity. Left effusion."],
... )
>>> result["laterality"]
0.5
"""

_CITATION = """\
@misc{rexrank,
  title = {rexrank: an open leaderboard for radiology report generation},
  year = {2026}
}
"""


class Laterality(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.laterality as an evaluate metric."""

    metric = "laterality"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=[],
            code=[],
        )
