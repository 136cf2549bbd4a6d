"""Invented device: the share of radiology reports with a tube, line or other device that is not there."""

import evaluate

from rexrank.modules.checked import Checked

_DESCRIPTION = """\
Invented device is the share of predictions that state a device (tube, line, pacemaker, valve, hardware) of a kind that
the reference does not know. It lies in [0, 1]; lower is better. English only.
"""

_EXAMPLE = """\
>>> invented_device = evaluate.load("rexrank/invented_device")
>>> result = invented_device.compute(
...     predictions=["Pacemaker in place.", "A right PICC."],
...     references=["Clear lungs.", "A central venous catheter."],
... )
>>> result["invented_device"]
0.5
"""

_CITATION = """\
@misc{rexrank,
  title = {rexrank: an open leaderboard for radiology report generation},
  year = {2026}
}
"""


class InventedDevice(Checked, evaluate.Metric):
    """The scores of rexrank.metrics.invented_device as an evaluate metric."""

    metric = "invented_device"

    def _info(self):
        return self.describe(
            _DESCRIPTION,
            _CITATION,
            _EXAMPLE,
            papers=[],
            code=[],
        )
