"""Scores over the findings of radiology reports, from matches that a judge made and that are given."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
Precision, recall and F1 over the findings of two reports, by what each finding means for the patient, and how many
findings are missed or false in a report, from a judge's list of the findings and of those that match, in the forms of
RadFact and RadMatch. The judge's matches, a JSON object or the text that holds it, are given with the option features:
this version runs no judge.
"""

_EXAMPLE = """\
>>> finding_matches = evaluate.load("rexrank/finding_matches")
>>> matches = {
...     "reference_findings": [{"id": "R1", "significance": "urgent"}, {"id": "R2", "significance": "routine"}],
...     "predicted_findings": [{"id": "P1", "significance": "urgent"}],
...     "matches": [{"ref_id": "R1", "pred_id": "P1", "errors": "minor"}],
... }
>>> result = finding_matches.compute(
...     predictions=["Effusion."],
...     references=["An effusion. Normal heart."],
...     features={"finding_matches": [matches]},
... )
>>> result["findings_recall"]
0.5
"""

_CITATION = """\
@article{bannur2024maira2,
  title = {{MAIRA-2}: Grounded Radiology Report Generation},
  author = {Bannur, Shruthi and others},
  journal = {arXiv:2406.04449}, year = {2024}
}
@inproceedings{corbiere2026radmatch,
  title = {{RadMatch}: Auditable Radiology Report Evaluation via Finding-Level Matching},
  author = {Corbi{\\`e}re, Charles and others},
  booktitle = {ECCV Workshops}, year = {2026}
}
"""


class FindingMatches(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.finding_matches as an evaluate metric."""

    metric = "finding_matches"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/2406.04449"],
            code=["https://github.com/microsoft/RadFact", "https://github.com/raidium-med/RadMatch"],
        )
