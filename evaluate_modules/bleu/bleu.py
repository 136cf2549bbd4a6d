"""BLEU for radiology reports: ReXrank's BLEU-2 and COCO's BLEU-1 to BLEU-4."""

import evaluate

from rexrank.modules.inputs import Checked, text_features

_DESCRIPTION = """\
BLEU compares the words and word sequences of two reports. bleu2 is the mean of the sentence BLEU-2 of ReXrank;
coco_bleu1 to coco_bleu4 are the corpus scores of the COCO caption tools. All lie in [0, 1]; higher is better.
"""

_INPUTS = """\
Args:
    predictions: list of str, the reports to score.
    references: list as long, of str or of list of str.
    convention: "published" (the numbers the originals print) or "corrected".
    keys: score keys to compute; by default bleu2, coco_bleu1, coco_bleu2, coco_bleu3, coco_bleu4.
    ids: unique names of the reports, used in messages.
Returns:
    For each key its value (float or None) and "<key>_per_report" (list, None where undefined), "signature" (one a key,
    blanks between them), "n_empty", "n_truncated" and "n_undefined".
Example:
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

    keys = ("bleu2", "coco_bleu1", "coco_bleu2", "coco_bleu3", "coco_bleu4")

    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=text_features(),
            reference_urls=["https://rexrank.ai", "https://aclanthology.org/P02-1040"],
            codebase_urls=[
                "https://github.com/rajpurkarlab/CXR-Report-Metric",
                "https://github.com/salaniz/pycocoevalcap",
            ],
            license="apache-2.0",
        )
