"""F1-CheXbert and clinical efficacy for radiology reports, by CheXbert or from labels that are given."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
F1-CheXbert compares the 14 CheXpert labels of two reports: micro, macro, weighted and samples averages of F1 over 14
labels or the five of the CheXpert competition, and each label alone. ce_precision, ce_recall and ce_f1 are the
clinical efficacy of R2Gen. All lie in [0, 1]; higher is better. CheXbert runs here once its weights are there; or the
labels of each text, 14 codes in the order of rexrank.labels.NAMES (0 blank, 1 positive, 2 negative, 3 uncertain), are
given with the option features.
"""

_EXAMPLE = """\
>>> f1chexbert = evaluate.load("rexrank/f1chexbert")
>>> edema = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
>>> blank = [0] * 14
>>> result = f1chexbert.compute(
...     predictions=["Edema.", "As before."],
...     references=["Mild edema.", "Edema."],
...     features={"chexbert_labels": {"predictions": [edema, blank], "references": [edema, edema]}},
... )
>>> round(result["f1chexbert_micro_14"], 6), round(result["ce_recall"], 6)
(0.666667, 0.035714)
"""

_CITATION = """\
@inproceedings{smit2020chexbert,
  title = {Combining Automatic Labelers and Expert Annotations for Accurate Radiology Report Labeling Using {BERT}},
  author = {Smit, Akshay and others},
  booktitle = {EMNLP}, year = {2020}
}
@inproceedings{chen2020generating,
  title = {Generating Radiology Reports via Memory-driven Transformer},
  author = {Chen, Zhihong and Song, Yan and Chang, Tsung-Hui and Wan, Xiang},
  booktitle = {EMNLP}, year = {2020}
}
"""


class F1chexbert(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.f1chexbert as an evaluate metric."""

    metric = "f1chexbert"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/2004.09167", "https://arxiv.org/abs/2010.16056"],
            code=["https://github.com/Stanford-AIMI/f1chexbert", "https://github.com/cuhksz-nlp/R2Gen"],
        )
