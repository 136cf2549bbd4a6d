"""CIDEr-D for radiology reports, as the COCO caption tools compute it."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
CIDEr-D compares the n-grams of two reports and lets rare ones count most. How rare an n-gram is follows from the
references of the call, or from a table given with the option df. A study scores from 0 to 10; higher is better.
"""

_EXAMPLE = """\
>>> cider = evaluate.load("rexrank/cider")
>>> texts = ["Small hiatal hernia seen today.", "No acute bony abnormality.", "Lungs are clear bilaterally."]
>>> cider.compute(predictions=texts, references=texts)["cider"]
10.0
"""

_CITATION = """\
@inproceedings{vedantam2015cider,
  title = {{CIDEr}: Consensus-based Image Description Evaluation},
  author = {Vedantam, Ramakrishna and Zitnick, C. Lawrence and Parikh, Devi},
  booktitle = {CVPR}, year = {2015}
}
"""


class Cider(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.cider as an evaluate metric."""

    metric = "cider"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/1411.5726"],
            code=["https://github.com/salaniz/pycocoevalcap"],
        )
