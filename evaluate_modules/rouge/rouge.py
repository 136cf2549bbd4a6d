"""ROUGE for radiology reports: COCO's ROUGE-L, and ROUGE-1, -2 and -L as rouge_score computes them."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
ROUGE compares the words that two reports share, in order. rouge_l is the ROUGE-L of the COCO caption tools (beta 1.2);
rouge1, rouge2 and rouge_l_f1 are the F-measures of the package rouge_score with its stemmer on. All are means over the
reports and lie in [0, 1]; higher is better.
"""

_EXAMPLE = """\
>>> rouge = evaluate.load("rexrank/rouge")
>>> rouge.compute(predictions=["Stable right scar"], references=["stable right scar"])["rouge_l_f1"]
1.0
"""

_CITATION = """\
@inproceedings{lin2004rouge,
  title = {{ROUGE}: A Package for Automatic Evaluation of Summaries},
  author = {Lin, Chin-Yew},
  booktitle = {Text Summarization Branches Out}, year = {2004}
}
@article{chen2015coco,
  title = {{Microsoft COCO} Captions: Data Collection and Evaluation Server},
  author = {Chen, Xinlei and others},
  journal = {arXiv:1504.00325}, year = {2015}
}
"""


class Rouge(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.rouge as an evaluate metric."""

    metric = "rouge"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://aclanthology.org/W04-1013"],
            code=[
                "https://github.com/salaniz/pycocoevalcap",
                "https://github.com/google-research/google-research/tree/master/rouge",
            ],
        )
