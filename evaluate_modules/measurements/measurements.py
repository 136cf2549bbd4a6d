"""Measurements: whether two radiology reports measure the same lengths."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
Measurement agreement is the F1 of the lengths in mm and cm that two reports state, which match within 1 mm or 10 %
where their sentences do not speak of different findings; the score is the mean over the reports. It lies in [0, 1];
higher is better. Where neither report measures anything there is no value. English only.
"""

_EXAMPLE = """\
>>> measurements = evaluate.load("rexrank/measurements")
>>> result = measurements.compute(
...     predictions=["8 mm nodule.", "A 2 cm mass."],
...     references=["0.8 cm nodule.", "A 3 cm mass."],
... )
>>> result["measurements"]
0.5
"""

_CITATION = """\
@misc{rexrank,
  title = {rexrank: an open leaderboard for radiology report generation},
  year = {2026}
}
"""


class Measurements(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.measurements as an evaluate metric."""

    metric = "measurements"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=[],
            code=[],
        )
