"""CRIMSON for radiology reports, from evaluations of its judge that are given."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
CRIMSON weighs the findings of two reports by what they mean for the patient, as a language model has listed and
matched them; the score is the mean over the reports, lies in (-1, 1], and higher is better. The judge's evaluation of
each report, a JSON object or the text that holds it, is given with the option features: this version runs no judge.
"""

_EXAMPLE = """\
>>> crimson = evaluate.load("rexrank/crimson")
>>> finding = {"id": "R1", "finding": "effusion", "clinical_significance": "urgent"}
>>> evaluation = {
...     "reference_findings": [finding],
...     "predicted_findings": [{**finding, "id": "P1"}],
...     "matched_findings": [{"ref_id": "R1", "pred_id": "P1"}],
...     "errors": {"false_findings": [], "missing_findings": [], "attribute_errors": []},
... }
>>> result = crimson.compute(
...     predictions=["Effusion."], references=["An effusion."], features={"crimson_evaluation": [evaluation]}
... )
>>> result["crimson"]
1.0
"""

_CITATION = """\
@article{baharoon2026crimson,
  title = {{CRIMSON}: A Clinically-Grounded {LLM}-Based Metric for Generative Radiology Report Evaluation},
  author = {Baharoon, Mohammed and others},
  journal = {arXiv:2603.06183}, year = {2026}
}
"""


class Crimson(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.crimson as an evaluate metric."""

    metric = "crimson"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/2603.06183"],
            code=["https://github.com/rajpurkarlab/CRIMSON"],
        )
