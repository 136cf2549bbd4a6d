"""F1 of the 14 CheXpert labels, read from radiology reports by rules, without weights."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
The 14 CheXpert labels of each report are read by rexrank's own rules, and the F1 scores are those of F1-CheXbert:
micro, macro, weighted and samples averages over 14 labels or the five of the CheXpert competition, and each label
alone. All lie in [0, 1]; higher is better. English chest X-ray reports; comparable only with scores of the same
rules, which the signature names.
"""

_EXAMPLE = """\
>>> f1labels = evaluate.load("rexrank/f1labels")
>>> result = f1labels.compute(
...     predictions=["Pulmonary edema.", "Edema."], references=["Pulmonary edema.", "Edema, cardiomegaly."]
... )
>>> result["f1labels_micro_14"]
0.8
"""

_CITATION = """\
@inproceedings{irvin2019chexpert,
  title = {{CheXpert}: A Large Chest Radiograph Dataset with Uncertainty Labels and Expert Comparison},
  author = {Irvin, Jeremy and others},
  booktitle = {AAAI}, year = {2019}
}
@inproceedings{smit2020chexbert,
  title = {Combining Automatic Labelers and Expert Annotations for Accurate Radiology Report Labeling Using {BERT}},
  author = {Smit, Akshay and others},
  booktitle = {EMNLP}, year = {2020}
}
"""


class F1labels(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.f1labels as an evaluate metric."""

    metric = "f1labels"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/1901.07031", "https://arxiv.org/abs/2004.09167"],
            code=["https://github.com/Stanford-AIMI/f1chexbert"],
        )
