"""RadCliQ for radiology reports, from texts or from component scores that are given."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
RadCliQ predicts from four scores of a report how many errors radiologists would find in it: radcliq_v0 and radcliq_v1
are means over the reports, and lower is better. inv_radcliq_v1 is 1 divided by the mean, as ReXrank shows it. RadGraph,
CheXbert and the encoder of BERTScore run here once their weights are there; or the three scores of each report are
given with the option features.
"""

_EXAMPLE = """\
>>> radcliq = evaluate.load("rexrank/radcliq")
>>> result = radcliq.compute(
...     predictions=["Mild edema."],
...     references=["No edema."],
...     features={"radgraph_combined": [0.2], "bertscore": [0.35], "sembscore": [0.6]},
... )
>>> round(result["radcliq_v1"], 6)
1.026441
"""

_CITATION = """\
@article{yu2023evaluating,
  title = {Evaluating Progress in Automatic Chest {X}-Ray Radiology Report Generation},
  author = {Yu, Feiyang and others},
  journal = {Patterns}, volume = {4}, number = {9}, year = {2023}
}
"""


class Radcliq(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.radcliq as an evaluate metric."""

    metric = "radcliq"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://doi.org/10.1016/j.patter.2023.100802", "https://rexrank.ai"],
            code=["https://github.com/rajpurkarlab/CXR-Report-Metric"],
        )
