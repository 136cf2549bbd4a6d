"""BLEU for radiology reports: ReXrank's BLEU-2 and COCO's BLEU-1 to BLEU-4."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
BLEU compares the words and word sequences of two reports. bleu2 is the mean of the sentence BLEU-2 of ReXrank;
coco_bleu1 to coco_bleu4 are the corpus scores of the COCO caption tools. All lie in [0, 1]; higher is better.
"""

_EXAMPLE = """\
>>> bleu = evaluate.load("rexrank/bleu")
>>> bleu.compute(predictions=["Small left effusion."], references=["Small right effusion."])["bleu2"]
0.5
"""

_CITATION = """\
@inproceedings{papineni2002bleu,
  title = {{BLEU}: a Method for Automatic Evaluation of Machine Translation},
  author = {Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing},
  booktitle = {ACL}, year = {2002}
}
@article{zhang2024rexrank,
  title = {{ReXrank}: A Public Leaderboard for {AI}-Powered Radiology Report Generation},
  author = {Zhang, Xiaoman and others},
  journal = {arXiv:2411.15122}, year = {2024}
}
"""


class Bleu(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.bleu as an evaluate metric."""

    metric = "bleu"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://rexrank.ai", "https://aclanthology.org/P02-1040"],
            code=["https://github.com/rajpurkarlab/CXR-Report-Metric", "https://github.com/salaniz/pycocoevalcap"],
        )
