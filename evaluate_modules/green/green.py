"""GREEN for radiology reports, from completions of its judge that are given."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
GREEN counts matched findings and clinically significant errors in what a language model writes about two reports, and
gives matched / (matched + errors); the score is the mean over the reports, lies in [0, 1], and higher is better. The
judge's completion for each report is given with the option features: this version runs no judge.
"""

_EXAMPLE = """\
>>> green = evaluate.load("rexrank/green")
>>> completion = (
...     "[Clinically Significant Errors]:\\n(b) Missing a finding: 1. Old fracture\\n\\n"
...     "[Matched Findings]:\\n1. Effusion"
... )
>>> result = green.compute(
...     predictions=["Small effusion."],
...     references=["Small effusion. Old rib fracture."],
...     features={"green_completion": [completion]},
... )
>>> result["green"]
0.5
"""

_CITATION = """\
@inproceedings{ostmeier2024green,
  title = {{GREEN}: Generative Radiology Report Evaluation and Error Notation},
  author = {Ostmeier, Sophie and others},
  booktitle = {Findings of EMNLP}, year = {2024}
}
"""


class Green(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.green as an evaluate metric."""

    metric = "green"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/2405.03595"],
            code=["https://github.com/Stanford-AIMI/GREEN"],
        )
