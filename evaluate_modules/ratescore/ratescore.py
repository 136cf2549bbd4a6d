"""RaTEScore for radiology reports, by its encoders or from entities that are given."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
RaTEScore matches the entities of two reports by their embeddings, weighs each match by the types of both, and takes
off where one is present and the other absent; the score is the mean over the reports, and higher is better. RaTE-NER
and BioLORD run here once their weights are there; or the entities of each text, with type and vector, are given with
the option features.
"""

_EXAMPLE = """\
>>> ratescore = evaluate.load("rexrank/ratescore")
>>> effusion = {"text": "effusion", "type": "ABNORMALITY", "vector": [1.0, 0.0]}
>>> result = ratescore.compute(
...     predictions=["Effusion."],
...     references=["An effusion."],
...     features={"ratescore_entities": {"predictions": [[effusion]], "references": [[effusion]]}},
... )
>>> round(result["ratescore"], 6)
1.0
"""

_CITATION = """\
@inproceedings{zhao2024ratescore,
  title = {{RaTEScore}: A Metric for Radiology Report Generation},
  author = {Zhao, Weike and Wu, Chaoyi and Zhang, Xiaoman and Zhang, Ya and Wang, Yanfeng and Xie, Weidi},
  booktitle = {EMNLP}, year = {2024}
}
"""


class Ratescore(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.ratescore as an evaluate metric."""

    metric = "ratescore"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://aclanthology.org/2024.emnlp-main.836"],
            code=["https://github.com/MAGIC-AI4Med/RaTEScore"],
        )
