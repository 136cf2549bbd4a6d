"""Hedging: whether two radiology reports state, hedge or deny alike."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
Hedging agreement takes the findings that both reports speak of and gives the share that both state, both hedge
(possible, may represent) or both deny; the score is the mean over the reports. It lies in [0, 1]; higher is better. A
report without a common finding has no value. English only.
"""

_EXAMPLE = """\
>>> hedging = evaluate.load("rexrank/hedging")
>>> result = hedging.compute(
...     predictions=["Possible pneumonia. No effusion.", "No pneumothorax."],
...     references=["Pneumonia. No effusion.", "No pneumothorax."],
... )
>>> result["hedging"]
0.75
"""

_CITATION = """\
@misc{rexrank,
  title = {rexrank: an open leaderboard for radiology report generation},
  year = {2026}
}
"""


class Hedging(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.hedging as an evaluate metric."""

    metric = "hedging"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=[],
            code=[],
        )
