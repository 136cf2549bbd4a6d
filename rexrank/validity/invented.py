"""Invented reports of chest radiographs, as a radiologist might write them, for use where no real ones may be read.

No sentence comes from a report of a patient: the parts were written for this file. They name sides, sizes, degrees,
measures and doubts, so that every edit finds something to change.
"""

from rexrank.validity.edits.edit import Chance

_HEART = (
    "The heart is normal in size.", "Heart size is within normal limits.", "The cardiac silhouette is mildly enlarged.",
    "There is moderate cardiomegaly.", "The cardiomediastinal silhouette is unremarkable.",
    "The heart is severely enlarged.", "The cardiac silhouette is normal in size and contour.",
)  # fmt: skip
_LUNGS = (
    "The lungs are clear.", "There is a patchy opacity in the left lower lobe, which may represent pneumonia.",
    "Mild bibasilar atelectasis.", "There is a 6 mm nodule in the right upper lobe.",
    "Streaky opacities at the right lung base are likely atelectasis.", "No focal consolidation is seen.",
    "There is a small area of airspace disease in the right middle lobe.", "The lungs are hyperexpanded.",
    "A calcified granuloma measures 4 mm in the left midlung.", "There is moderate pulmonary edema.",
    "Lung volumes are low.", "Possible consolidation in the left upper lobe.",
    "The lungs are clear without focal airspace opacity.", "There is mild interstitial prominence, possibly edema.",
)  # fmt: skip
_PLEURA = (
    "No pleural effusion or pneumothorax.", "There is no pneumothorax.", "Small left pleural effusion.",
    "There is a moderate right pleural effusion.", "There is a tiny right apical pneumothorax.",
    "No pleural effusion is identified.", "Costophrenic angles are sharp.",
    "Blunting of the left costophrenic angle is suspicious for a small effusion.",
)  # fmt: skip
_REST = (
    "The osseous structures are intact.", "There are mild degenerative changes of the thoracic spine.",
    "No acute bony abnormality.", "An old fracture of the right seventh rib is present.",
    "There is a left chest port with its tip 2 cm below the XXXX.", "Surgical clips are seen at the right hilum.",
    "The endotracheal tube ends 4.5 cm above the carina.", "The XXXX are unremarkable.",
    "Mild scoliosis of the thoracic spine.", "A hiatal hernia is possible.", "",
)  # fmt: skip


def reports(number: int, seed: int = 0) -> list[str]:
    """Different invented reports, the same for a seed in every version of Python.

    Args:
        number: How many, at most 5,000.
        seed: Of the choice.
    """
    chance = Chance("invented", seed)
    found: dict[str, None] = {}
    while len(found) < number:
        said = [chance.choice(part) for part in (_HEART, _LUNGS, _LUNGS, _PLEURA, _REST, _REST)]
        # A few begin with the lungs, as some radiologists do.
        said = said if chance.below(3) else [said[1], said[0], *said[2:]]
        found[" ".join(one for one in dict.fromkeys(said) if one)] = None
    return list(found)
