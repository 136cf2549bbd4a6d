"""BERTScore for radiology reports in ReXrank's preset and others."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
BERTScore matches the token vectors of two reports greedily and gives the harmonic mean of precision and recall; the
score is the mean over the reports, and higher is better. bertscore is ReXrank's preset (distilroberta-base, layer 5,
rescaled); bertscore_minilm takes vectors of MiniLM, is not comparable with it, and is computed where keys names it.
The encoder runs here once its weights are there; or the vectors of each text, special tokens first and last, are given
with the option features.
"""

_EXAMPLE = """\
>>> bertscore = evaluate.load("rexrank/bertscore")
>>> start = end = [1.0, 0.0]
>>> result = bertscore.compute(
...     predictions=["Scar."],
...     references=["Scars."],
...     features={
...         "bertscore_tokens": {"predictions": [[start, [3.0, 4.0], end]], "references": [[start, [2.0, 4.0], end]]}
...     },
... )
>>> round(result["bertscore"], 6)
0.894345
"""

_CITATION = """\
@inproceedings{zhang2020bertscore,
  title = {{BERTScore}: Evaluating Text Generation with {BERT}},
  author = {Zhang, Tianyi and Kishore, Varsha and Wu, Felix and Weinberger, Kilian Q. and Artzi, Yoav},
  booktitle = {ICLR}, year = {2020}
}
"""


class Bertscore(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.bertscore as an evaluate metric."""

    metric = "bertscore"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/1904.09675"],
            code=["https://github.com/Tiiiger/bert_score", "https://github.com/rajpurkarlab/CXR-Report-Metric"],
        )
