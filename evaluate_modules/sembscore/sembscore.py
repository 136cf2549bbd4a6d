"""SembScore for radiology reports, by CheXbert or from embeddings that are given."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
SembScore is the cosine of the CheXbert embeddings of two reports; the score is the mean over the reports, and higher
is better. CheXbert runs here once its weights are there; or its embeddings, one vector a text, are given with the
option features.
"""

_EXAMPLE = """\
>>> sembscore = evaluate.load("rexrank/sembscore")
>>> result = sembscore.compute(
...     predictions=["Mild edema."],
...     references=["No edema."],
...     features={"chexbert_cls": {"predictions": [[3.0, 4.0]], "references": [[4.0, 3.0]]}},
... )
>>> round(result["sembscore"], 6)
0.96
"""

_CITATION = """\
@inproceedings{smit2020chexbert,
  title = {Combining Automatic Labelers and Expert Annotations for Accurate Radiology Report Labeling Using {BERT}},
  author = {Smit, Akshay and others},
  booktitle = {EMNLP}, year = {2020}
}
@article{yu2023evaluating,
  title = {Evaluating Progress in Automatic Chest {X}-Ray Radiology Report Generation},
  author = {Yu, Feiyang and others},
  journal = {Patterns}, volume = {4}, number = {9}, year = {2023}
}
"""


class Sembscore(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.sembscore as an evaluate metric."""

    metric = "sembscore"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/2004.09167", "https://doi.org/10.1016/j.patter.2023.100802"],
            code=["https://github.com/rajpurkarlab/CXR-Report-Metric"],
        )
