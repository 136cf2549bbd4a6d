"""FineRadScore for radiology reports, from corrections of its judge that are given."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
FineRadScore lets a language model correct a report line by line and rates each correction by its severity, 1 to 4.
fineradscore is the worst severity of a report, fineradscore_mean the mean over its lines; both are means over the
reports, 0 to 4, and lower is better. The judge's answer for each report, a JSON object or the text that holds it, is
given with the option features: this version runs no judge.
"""

_EXAMPLE = """\
>>> fineradscore = evaluate.load("rexrank/fineradscore")
>>> answer = {"1": {"corrections": "No effusion.", "clinical severity": "Urgent error", "comments": ""}}
>>> result = fineradscore.compute(
...     predictions=["Lungs clear. Large effusion."],
...     references=["Lungs clear. No effusion."],
...     features={"fineradscore_answer": [answer]},
... )
>>> result["fineradscore"], result["fineradscore_mean"]
(3.0, 1.5)
"""

_CITATION = """\
@article{huang2024fineradscore,
  title = {{FineRadScore}: A Radiology Report Line-by-Line Evaluation Technique
    Generating Corrections with Severity Scores},
  author = {Huang, Alyssa and Banerjee, Oishi and Wu, Kay and Reis, Eduardo Pontes and Rajpurkar, Pranav},
  journal = {arXiv:2405.20613}, year = {2024}
}
"""


class Fineradscore(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.fineradscore as an evaluate metric."""

    metric = "fineradscore"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/2405.20613"],
            code=["https://github.com/rajpurkarlab/FineRadScore"],
        )
