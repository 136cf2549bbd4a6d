"""What reports look like as texts: length, variety, and copies of training reports."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
Nothing here is better or worse: report_words is the mean number of words, report_distinct the share of different
reports, report_vocabulary the number of different words, and report_in_training the share of reports that stand word
for word among the training reports given with the option training. reference_words and the others say the same of the
references.
"""

_EXAMPLE = """\
>>> report_statistics = evaluate.load("rexrank/report_statistics")
>>> result = report_statistics.compute(
...     predictions=["Clear lungs.", "Clear lungs."], references=["Small effusion.", "Old rib fracture."]
... )
>>> result["report_distinct"], result["reference_distinct"]
(0.5, 1.0)
"""

_CITATION = """\
@misc{rexrank,
  title = {rexrank: an open leaderboard for radiology report generation},
  year = {2026}
}
"""


class ReportStatistics(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.report_statistics as an evaluate metric."""

    metric = "report_statistics"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=[],
            code=[],
        )
