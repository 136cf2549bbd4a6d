"""METEOR 1.5 for radiology reports, computed by the original Java program."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
METEOR aligns the words of two reports by form, stem, synonym and paraphrase, and takes off for scattered matches.
meteor is what the Java program and pycocoevalcap print in published, and the mean of the reports in corrected;
meteor_corpus and meteor_mean are always the one and the other. All lie in [0, 1]; higher is better. English only;
needs Java.
"""

_EXAMPLE = """\
>>> meteor = evaluate.load("rexrank/meteor")
>>> meteor.compute(predictions=["Stable right scar"], references=["stable right scar"])["meteor"]
1.0
"""

_CITATION = """\
@inproceedings{denkowski2014meteor,
  title = {Meteor Universal: Language Specific Translation Evaluation for Any Target Language},
  author = {Denkowski, Michael and Lavie, Alon},
  booktitle = {WMT}, year = {2014}
}
"""


class Meteor(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.meteor as an evaluate metric."""

    metric = "meteor"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://aclanthology.org/W14-3348"],
            code=["https://github.com/salaniz/pycocoevalcap", "https://www.cs.cmu.edu/~alavie/METEOR"],
        )
