"""Temporal F1 for radiology reports: whether two reports speak of change in the same words."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
Temporal F1 takes the words of each report that speak of change (stable, new, larger: 44 in all) and gives the F1 of
the two sets; the score is the mean over the reports. It lies in [0, 1]; higher is better. English only.
"""

_EXAMPLE = """\
>>> temporal_f1 = evaluate.load("rexrank/temporal_f1")
>>> result = temporal_f1.compute(
...     predictions=["Stable nodule."], references=["Stable nodule, no new scar."], convention="corrected"
... )
>>> round(result["temporal_f1"], 6)
0.666667
"""

_CITATION = """\
@inproceedings{zhang2025libra,
  title = {Libra: Leveraging Temporal Images for Biomedical Radiology Analysis},
  author = {Zhang, Xi and others},
  booktitle = {Findings of ACL}, year = {2025}
}
"""


class TemporalF1(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.temporal_f1 as an evaluate metric."""

    metric = "temporal_f1"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/2411.19378"],
            code=["https://github.com/X-iZhang/Libra", "https://github.com/jbdel/RadEval"],
        )
