"""RadGraph rewards for radiology reports, by RadGraph or on graphs that are given."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
RadGraph rewards compare the entities and relations of two reports. radgraph_simple, radgraph_partial and
radgraph_complete are the F1 scores of the package radgraph on graphs of RadGraph-XL; radgraph_combined, on graphs of
the first RadGraph, is the component of RadCliQ. All are means over the reports and lie in [0, 1]; higher is better.
RadGraph runs here once its weights are there; or the graphs are given with the option features.
"""

_EXAMPLE = """\
>>> radgraph = evaluate.load("rexrank/radgraph")
>>> scar = {"1": {"tokens": "scar", "label": "Observation::definitely present", "relations": []}}
>>> none = {}
>>> result = radgraph.compute(
...     predictions=["Scar.", "As before."],
...     references=["There is a scar.", "Scar."],
...     features={"radgraph_xl_graphs": {"predictions": [scar, none], "references": [scar, scar]}},
... )
>>> result["radgraph_partial"]
0.5
"""

_CITATION = """\
@inproceedings{jain2021radgraph,
  title = {{RadGraph}: Extracting Clinical Entities and Relations from Radiology Reports},
  author = {Jain, Saahil and others},
  booktitle = {NeurIPS Datasets and Benchmarks}, year = {2021}
}
@inproceedings{delbrouck2022improving,
  title = {Improving the Factual Correctness of Radiology Report Generation with Semantic Rewards},
  author = {Delbrouck, Jean-Benoit and others},
  booktitle = {Findings of EMNLP}, year = {2022}
}
"""


class Radgraph(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.radgraph as an evaluate metric."""

    metric = "radgraph"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=["https://arxiv.org/abs/2106.14463", "https://arxiv.org/abs/2210.12186"],
            code=["https://github.com/Stanford-AIMI/radgraph", "https://github.com/rajpurkarlab/CXR-Report-Metric"],
        )
