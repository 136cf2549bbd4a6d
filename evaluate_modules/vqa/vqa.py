"""Accuracy of answers to questions about images, as ReXVQA counts them."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
The share of questions that are answered rightly: vqa_accuracy_micro over all questions, vqa_accuracy_macro as the
mean over their categories, which the option categories gives. Answers are letters of choices or short texts. Both lie
in [0, 1]; higher is better.
"""

_EXAMPLE = """\
>>> vqa = evaluate.load("rexrank/vqa")
>>> vqa.compute(predictions=["A", "(B)"], references=["A", "D"])["vqa_accuracy_micro"]
0.5
"""

_CITATION = """\
@article{pal2025rexvqa,
  title = {{ReXVQA}: A Large-scale Visual Question Answering Benchmark for Generalist Chest {X}-ray Understanding},
  author = {Pal, Ankit and others},
  journal = {arXiv:2506.04353}, year = {2025}
}
"""


class Vqa(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.vqa as an evaluate metric."""

    metric = "vqa"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/2506.04353"],
            code=["https://github.com/rajpurkarlab/ReXrank"],
        )
