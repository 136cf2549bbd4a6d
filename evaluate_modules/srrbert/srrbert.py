"""SRR-BERT scores for radiology reports, by its classifier or from label names that are given."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
SRR-BERT compares the labels that a classifier finds in the sentences of two reports: precision, recall and F1 over
all reports, averaged over the labels by how often the references have them. All lie in [0, 1]; higher is better.
SRR-BERT runs here once its weights are there; or the labels of each text are given with the option features.
"""

_EXAMPLE = """\
>>> srrbert = evaluate.load("rexrank/srrbert")
>>> result = srrbert.compute(
...     predictions=["Effusion.", "Seen."],
...     references=["Pleural effusion.", "Old scar."],
...     features={"srrbert_labels": {"predictions": [["effusion"], []], "references": [["effusion"], ["scar"]]}},
... )
>>> result["srrbert_f1"]
0.5
"""

_CITATION = """\
@inproceedings{delbrouck2025automated,
  title = {Automated Structured Radiology Report Generation},
  author = {Delbrouck, Jean-Benoit and others},
  booktitle = {ACL}, year = {2025}
}
"""


class Srrbert(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.srrbert as an evaluate metric."""

    metric = "srrbert"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/2505.24223"],
            code=["https://github.com/jbdel/RadEval"],
        )
