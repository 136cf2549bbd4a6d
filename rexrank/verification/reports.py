"""Invented chest X-ray reports, ordinary and odd, and pairs of them.

No sentence here comes from a report of a patient: the parts were written for this file.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

_SUBJECTS = (
    "The heart", "The cardiac silhouette", "The left lung base", "The right upper lobe", "The mediastinum",
    "The trachea", "The aortic arch", "The left hemidiaphragm", "The right hilum", "The pulmonary artery",
    "The right costophrenic angle", "The lingula", "The minor fissure", "The left apex", "The thoracic spine",
)  # fmt: skip
_STATES = (
    "is normal in size", "is mildly enlarged", "remains clear", "shows a patchy opacity", "is unchanged",
    "is shifted to the left", "appears tortuous and calcified", "is blunted by a small effusion",
    "shows streaky atelectasis", "is obscured by overlying leads", "has improved since the earlier film",
    "is not well seen", "shows interstitial edema", "is prominent but stable", "shows a healed fracture",
)  # fmt: skip
_TAILS = (
    "", "", "", " on the frontal view", " compared with the earlier film", ", possibly from rotation",
    " without evidence of pneumonia", ", worse on the right", " and there is no pneumothorax", "; follow-up is advised",
)  # fmt: skip
_FINDINGS = (
    "No pleural effusion.", "No focal consolidation.", "No pneumothorax is seen.", "Low lung volumes.",
    "Mild vascular congestion.", "Small left pleural effusion.", "Bibasilar atelectasis.", "Possible early pneumonia.",
    "Old rib fractures on the right.", "Calcified granuloma in the right apex.", "No acute disease.",
    "Large hiatal hernia.", "Cardiomegaly with edema.", "Moderate emphysema.", "Stable scar in the lingula.",
)  # fmt: skip
_DEVICES = (
    "An endotracheal tube ends 3.5 cm above the carina.", "The feeding tube passes below the diaphragm.",
    "A right-sided port ends at the cavo-atrial junction.", "Two chest tubes are in place on the left.",
    "Sternal wires are intact.", "A dual-lead pacemaker projects over the left chest.",
    "The left PICC line has been pulled back by 2.25 cm.",
)  # fmt: skip
_HEADERS = (
    "Findings: {0} Impression: {1}", "FINDINGS: {0}\n\nIMPRESSION: {1}", "IMPRESSION:\n1. {1}\n2. {0}",
    "FINDINGS AND IMPRESSION: {0} {1}", "INDICATION: Cough.\nCOMPARISON: None.\nFINDINGS:\n{0}\nIMPRESSION:\n{1}",
    "Findings:{0}Impression:{1}",
)  # fmt: skip

_ODD = (
    "",
    "",
    " ",
    "\t\n  \r\n",
    "\u00a0\u2003",
    "Cardiomegaly",
    "cardiomegaly",
    "Cardiomegaly.",
    "CARDIOMEGALY.",
    ".",
    "...",
    "?!",
    "- , ; : ( ) / %",
    "()",
    "No.",
    "Normal chest.",
    "Normal chest.",
    "Normal  chest.",
    "NORMAL CHEST.",
    "normal chest",
    "No acute disease.No change.",
    "Nodule of 4.5 mm (previously 3.75 mm) in the right lower lobe.",
    "Effusion fills about half of the hemithorax (50%). Edema in 25%, scar in 10%.",
    "Opacity covers 30%, and (on the left) 12.5%) of the lung.",
    "Lines/tubes: none. AP/lateral views; PA and/or LL not done.",
    "Left-sided, ill-defined, ground-glass opacity in the left-lower-lobe; post-operative, non-specific.",
    "Film taken on 03/04 at 05:30; compared with 11/12.",
    "1. Small effusion. 2. Mild edema. 3. No pneumothorax.",
    "1.Small effusion.2.Mild edema.3.No pneumothorax.",
    "1) Low volumes 2) Scar at the left base 3) Otherwise clear",
    "- Low volumes\n- Scar at the left base\n- Otherwise clear",
    "Findings:\n\n\tLungs:\tclear\n\tHeart:\tlarge\r\n\tBones:\tintact",
    "The XXXX is stable. No XXXX effusion. Compared to XXXX, the scar in the XXXX lobe is smaller.",
    "Compared with ___, the effusion is larger. Dr. ___ was told at ___.",
    "The tube ends 2 cm above the carina, the line ends in the s.v.c., i.e. in good position, vs. earlier.",
    'The word "stable" and the mark \'clear\' stand in quotes; so does "no change.".',
    "The reader\u2019s note said \u201cno effusion\u201d \u2013 it is small \u2014 but real\u2026",
    "Patient couldn't hold still, so the base isn't seen; it's likely clear.",
    "Temperature 38 \u00b0C, nodule 4\u00d75 mm, change of \u00b12 mm, \u2265 3 ribs, \u00b5m scale, \u00bd lung.",
    "\u0397 \u03ba\u03b1\u03c1\u03b4\u03b9\u03ac \u03b5\u03af\u03bd\u03b1\u03b9 \u03bc\u03b5\u03b3\u03ac\u03bb\u03b7.",
    "\u4e24\u80ba\u6e05\u6670\uff0c\u5fc3\u5f71\u4e0d\u5927\u3002",
    "\u0421\u0435\u0440\u0434\u0446\u0435 \u043d\u0435 \u0440\u0430\u0441\u0448\u0438\u0440\u0435\u043d\u043e.",
    "C\u0153ur de taille normale, pas d'\u00e9panchement pleural.",
    "Ge\u0301ne\u0301ral : e\u0301panchement minime.",
    "All clear \U0001f642\U0001fac1.",
    "Zero\u200bwidth and soft\u00adhyphen marks, and a no\u00a0break space.",
    "\ufeffThe lungs are clear.",
    "Stray marks \u200b stand \u00ad alone \u2060 between the words of this report.",
    "Pneumonoultramicroscopicsilicovolcanoconiosis with hydropneumothoracopericardiomediastinitis.",
    "A" * 130 + " is one word of the recorder, and the lungs are clear.",
    "clear " * 40 + "lungs",
    "no no no no effusion effusion effusion no effusion",
    "The right right hilum hilum is is normal.",
    "Lungs\nare\nclear\nHeart\nis\nnormal",
    'Lungs clear \\n heart \\"normal\\" \\f bones \\u2122 intact',
    "Edema (mild). Effusion (small). Scar (old).' Nodule (new).",
    "Is there a nodule? Maybe! Repeat: the film /. and the view /? are poor.",
    "Rib 7. Rib 8. T 12. The nodule measures 12.",
    "h/o CHF s/p CABG w/ R>L effusions, c/w edema; r/o PNA.",
    "[CLS] The heart is normal. [SEP] [MASK] [UNK] [PAD]",
    "<s> The lungs are clear. </s> <mask> <unk>",
    "No evidence of acute disease" + "." * 12,
    "##ing un##able @@ %% $$ ^^ ~~ `` || \\ {} [] <>",
    "nan",
    "None",
)

_RARE = (
    "hydropneumothorax", "lymphangioleiomyomatosis", "bronchovascular", "costochondritis", "thoracoabdominal",
    "pseudodiaphragmatic", "retrocardiac", "aortopulmonary", "peribronchovascular", "interlobular",
    "spondylosteophytosis", "pneumomediastinum", "fibrocavitary", "reticulonodular", "subsegmental",
)  # fmt: skip
_COUNT = 200


class _Chance:
    """Choices that are the same in every version of Python, which promises that of `random()` alone."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def below(self, end: int) -> int:
        return int(self._random.random() * end)

    def choice(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]


def _sentence(chance: _Chance) -> str:
    kind = chance.below(6)
    if kind < 3:
        return f"{chance.choice(_SUBJECTS)} {chance.choice(_STATES)}{chance.choice(_TAILS)}."
    return chance.choice(_DEVICES if kind == 3 else _FINDINGS)


def _report(chance: _Chance, sentences: int) -> str:
    return " ".join(_sentence(chance) for _ in range(sentences))


def _long(chance: _Chance, sentences: int) -> str:
    """A report of rare words, about 24 word pieces a sentence."""
    return " ".join(
        f"{chance.choice(_RARE).capitalize()} of {chance.below(9)}.{10 + chance.below(90)} cm "
        f"beside {chance.choice(_RARE)} {chance.choice(_RARE)}, {chance.choice(_RARE)}."
        for _ in range(sentences)
    )


def _garbled(chance: _Chance, words: int) -> str:
    """One sentence of words that no vocabulary has: few words, but too many pieces for every model."""
    letters = "abcdefghilmnoprstuvxy"
    return " ".join("".join(chance.choice(letters) for _ in range(40)) for _ in range(words))


def _reports() -> Iterator[str]:
    chance = _Chance("reports")
    yield from _ODD
    for sentences in (18, 22, 30):
        yield _long(chance, sentences)
    yield _garbled(chance, 50)
    yield _report(chance, 48)
    made = [_report(chance, 1 + chance.below(9)) for _ in range(_COUNT)]
    for header in _HEADERS * 2:
        yield header.format(_report(chance, 3), _sentence(chance))
    yield from (made[0], made[0].upper(), made[1].lower(), made[2].replace(" ", "  "), made[3].replace(". ", ".\n"))
    yield from made


def _pairs() -> Iterator[tuple[str, str]]:
    chance = _Chance("pairs")
    for position, reference in enumerate(REPORTS):
        kind = position % 5
        if kind == 0:
            yield reference, reference
        elif kind == 1:
            yield _edited(reference, chance), reference
        else:
            yield chance.choice(REPORTS), reference


def _edited(text: str, chance: _Chance) -> str:
    """One word of a text left out, doubled or turned around."""
    words = text.split(" ")
    position = chance.below(len(words))
    word = words[position]
    words[position : position + 1] = chance.choice(([], [word, word], [word[::-1]], ["no", word]))
    return " ".join(words)


REPORTS: tuple[str, ...] = tuple(islice(_reports(), _COUNT))
"""200 reports, in the same order everywhere; the odd ones come first, and some occur twice."""

PAIRS: tuple[tuple[str, str], ...] = tuple(_pairs())
"""200 pairs (prediction, reference): equal ones, ones with a word changed, unrelated ones, empty ones on each side."""
