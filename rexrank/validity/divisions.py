"""Ways to part the studies of a set: by what people or rules found, by what is known of each, by length of the report.

Each division has a word for ``--by``. Its groups are disjoint, and studies of which the division knows nothing are a
group too, so that its numbers add up to all studies.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rexrank.benchmarks import BenchmarkError
from rexrank.errors import shown
from rexrank.labels import NAMES, POSITIVE, RULE_VERSION, label
from rexrank.metrics import compute, score_keys
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.outcome import Floats
from rexrank.reports.problems import shown_id
from rexrank.reports.reading import LABEL_PREFIX
from rexrank.scoring.scope import Scope
from rexrank.scoring.table import counted
from rexrank.statistics.sample import Flags
from rexrank.terms import Track
from rexrank.validity.sets import EvaluationSet

UNKNOWN = "not known"
OTHERS = "others"
_NO_FINDING = NAMES.index("No Finding")
# A score that comes from the rules alone, and so is made for what they are made for.
_RULES = "f1labels_micro_14"
# A host with a hundred scanners wants a table all the same.
_MOST_GROUPS = 12
_QUARTERS = 4
_SHOWN_IDS = 3
_WORD_CHARACTERS = 40
_SEXES = {"f": "female", "m": "male"}
# DICOM writes 061Y, 006M, 003W, 010D.
_AGE = re.compile(r"0*(?P<number>\d{1,3})(?:\.\d+)?\s*(?P<unit>[dwmy])?[a-z]*", re.IGNORECASE)
_AGES = ((18, "under 18"), (40, "18 to 39"), (65, "40 to 64"), (80, "65 to 79"))
_OLDEST = "80 and older"
_NORMAL = ("normal", "abnormal")
_TRUE, _FALSE = {"1", "true", "yes"}, {"0", "false", "no"}


@dataclass(frozen=True, eq=False)
class Stratum:
    """One group of studies.

    Attributes:
        name: For readers, distinct within its division.
        rows: Which studies are in it, [n].
        is_listed: Whether it has a row of its own; else it is only what is left beside the others.
        veiled: Name where the group stays hidden, as its own tells something of single studies; None for its own.
    """

    name: str
    rows: Flags
    is_listed: bool = True
    veiled: str | None = None

    @property
    def n(self) -> int:
        """Number of studies."""
        return int(self.rows.sum())


@dataclass(frozen=True, eq=False)
class Division:
    """All studies, parted.

    Attributes:
        name: Its word for ``--by``; each finding is a division of its own, all with the word ``finding``.
        source: Where it is known from, for readers.
        strata: Groups without a study in common, together all studies; none is empty.
    """

    name: str
    source: str
    strata: tuple[Stratum, ...]


def divisions(
    evaluation_set: EvaluationSet,
    study_ids: Sequence[str],
    by: Iterable[str] | None = None,
    scope: Scope | None = None,
) -> tuple[list[Division], dict[str, str]]:
    """Part studies in every way that is asked for.

    Args:
        evaluation_set: What is known of the studies.
        study_ids: The studies that have scores.
        by: Words of divisions, see ``NAMES_OF_DIVISIONS``; None for all.
        scope: What the reports are, which may be nothing that rule labels are made for; None where nobody said.

    Returns:
        The divisions, in the order asked; and word to the sentence that says why a division is not there.

    Raises:
        InvalidCall: Unknown words.
        BenchmarkError: There are studies that the set does not have.
    """
    asked = list(NAMES_OF_DIVISIONS) if by is None else list(dict.fromkeys(by))
    unknown = [name for name in asked if name not in NAMES_OF_DIVISIONS]
    if unknown or not asked:
        named = shown(unknown[0]) if unknown else "nothing"
        raise InvalidCall(f"by: expected some of {', '.join(NAMES_OF_DIVISIONS)}, got {named}")
    studies = _Studies.of(evaluation_set, study_ids, scope or Scope())
    found: list[Division] = []
    absent: dict[str, str] = {}
    for name in asked:
        parted = _MAKERS[name](studies)
        if isinstance(parted, str):
            absent[name] = parted
        else:
            found += parted
    return found, absent


@dataclass(frozen=True, eq=False)
class _Studies:
    """The studies that have scores, in their order."""

    set_name: str
    track: Track
    texts: Sequence[Sequence[str]]
    attributes: Sequence[Mapping[str, str]]
    why_no_rules: str | None

    @classmethod
    def of(cls, evaluation_set: EvaluationSet, study_ids: Sequence[str], scope: Scope) -> "_Studies":
        lacking = [study_id for study_id in study_ids if study_id not in evaluation_set.studies]
        if lacking:
            named = ", ".join(map(shown_id, lacking[:_SHOWN_IDS])) + (" …" if len(lacking) > _SHOWN_IDS else "")
            raise BenchmarkError(
                f"{evaluation_set.name}: {len(lacking):,} of the {len(study_ids):,} studies that have scores are not "
                f"there ({named}); give the benchmark, or the references, that they were scored on"
            )
        studies = [evaluation_set.studies[study_id] for study_id in study_ids]
        return cls(
            evaluation_set.name,
            evaluation_set.track,
            [study.texts(evaluation_set.track) for study in studies],
            [evaluation_set.attributes.get(study_id, {}) for study_id in study_ids],
            scope.excludes("the rule labeller", score_keys()[_RULES].modality, score_keys()[_RULES].language),
        )

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def rule_labels(self) -> np.ndarray:
        """Labels of each study's first reference, int8 [n, 14]; blank where it has none."""
        return label([texts[0] if texts else "" for texts in self.texts])

    @property
    def by_rules(self) -> str:
        """Whose labels those are, for readers."""
        return f"rule labels (version {RULE_VERSION}) of the reference's {self.track}"

    def column(self, name: str) -> list[str | None]:
        """What the set says of each study, or None."""
        return [known.get(name) for known in self.attributes]

    def human(self, name: str) -> list[bool | None]:
        """Whether people found something in each study, or None where nobody said."""
        return [_yes_or_no(said) for said in self.column(f"{LABEL_PREFIX}{name}")]

    def human_names(self) -> list[str]:
        """What people looked for, ``normal`` aside, in the order of the set."""
        names = dict.fromkeys(name for known in self.attributes for name in known if name.startswith(LABEL_PREFIX))
        every = [name.removeprefix(LABEL_PREFIX) for name in names]
        return [name for name in every if name != "normal" and any(said is not None for said in self.human(name))]


def _yes_or_no(said: str | None) -> bool | None:
    word = (said or "").strip().lower().removesuffix(".0")
    return True if word in _TRUE else False if word in _FALSE else None


def _normal(studies: _Studies) -> list[Division] | str:
    said = studies.human("normal")
    if any(one is not None for one in said):
        return [_division("normal", f"human labels of {studies.set_name}", _words(said, *_NORMAL), order=_NORMAL)]
    if studies.why_no_rules:
        return studies.why_no_rules
    marked = studies.rule_labels[:, _NO_FINDING] == POSITIVE
    words = _words((bool(one) if texts else None for one, texts in zip(marked, studies.texts, strict=True)), *_NORMAL)
    return [_division("normal", studies.by_rules, words, order=_NORMAL)]


def _findings(studies: _Studies) -> list[Division] | str:
    human = studies.human_names()
    if human:
        source, columns = f"human labels of {studies.set_name}", {_title(name): studies.human(name) for name in human}
    elif studies.why_no_rules:
        return studies.why_no_rules
    else:
        source = studies.by_rules
        stated = {name: studies.rule_labels[:, place] for place, name in enumerate(NAMES) if place != _NO_FINDING}
        columns = {name: [bool(code == POSITIVE) for code in codes] for name, codes in stated.items()}
    found = [_present(name, source, column) for name, column in columns.items() if any(column)]
    # The finding that most studies have first: it is the one that most can be said of.
    found.sort(key=lambda division: -division.strata[0].n)
    return found or "no study has a finding"


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _present(name: str, source: str, column: Sequence[bool | None]) -> Division:
    present = np.array([said is True for said in column])
    strata = [Stratum(name, present)]
    for beside in (False, None):
        rows = np.array([said is beside for said in column])
        if rows.any():
            strata.append(Stratum(f"no {name}" if beside is False else UNKNOWN, rows, is_listed=False))
    return Division("finding", source, tuple(strata))


def _said(name: str, noun: str, read: Callable[[str], str | None]) -> Callable[[_Studies], list[Division] | str]:
    """A division by what the set says of each study."""

    def part(studies: _Studies) -> list[Division] | str:
        words = [read(said) if said else None for said in studies.column(name)]
        if all(word is None for word in words):
            return f"{studies.set_name} does not say the {noun} of any study"
        return [_division(name, f"as {studies.set_name} says", words, order=_ORDERS.get(name, ()))]

    return part


_ORDERS = {
    "prior": ("prior", "no prior"),
    "age": (*(name for _, name in _AGES), _OLDEST),
}


def _plain(word: str) -> str | None:
    """A word of the set that can stand in a table."""
    kept = "".join(character for character in word.strip() if character.isprintable())
    return f"{kept[: _WORD_CHARACTERS - 1]}…" if len(kept) > _WORD_CHARACTERS else kept or None


def _views(word: str) -> str | None:
    return _plain(" + ".join(sorted({view.strip().lower() for view in word.split(",") if view.strip()})))


def _sex(word: str) -> str | None:
    return _SEXES.get(word.strip().lower(), _plain(word.lower()))


def _prior(word: str) -> str:
    return "prior" if word == "yes" else "no prior"


def _age(word: str) -> str | None:
    match = _AGE.fullmatch(word.strip())
    if match is None:
        return None
    years = int(match["number"]) if (match["unit"] or "y").lower() == "y" else 0
    return next((name for end, name in _AGES if years < end), _OLDEST)


def _length(studies: _Studies) -> list[Division] | str:
    with_text = [place for place, texts in enumerate(studies.texts) if texts]
    if not with_text:
        return f"no study of {studies.set_name} has {studies.track}"
    words = np.full(len(studies), np.nan)
    texts = [studies.texts[place] for place in with_text]
    words[with_text] = compute(["reference_words"], [""] * len(texts), texts)["reference_words"].values
    edges = np.unique(np.quantile(words[with_text], np.linspace(0, 1, _QUARTERS + 1)[1:]))
    between = [_between(words, low, high) for low, high in zip([-np.inf, *edges], edges, strict=False)]
    kept = [one for one in between if one.n]
    strata = [replace(one, veiled=f"length {place} of {len(kept)}") for place, one in enumerate(kept, 1)]
    if len(with_text) < len(studies):
        strata.append(Stratum(UNKNOWN, np.isnan(words)))
    source = f"words of the reference's {studies.track}, quarters of the studies"
    return [Division("length", source, tuple(strata))]


def _between(words: Floats, low: float, high: float) -> Stratum:
    rows = (words > low) & (words <= high)
    if not rows.any():
        return Stratum("", rows)
    least, most = (round(float(end)) for end in (words[rows].min(), words[rows].max()))
    return Stratum(counted(least, "word") if least == most else f"{least} to {most} words", rows)


def _words(said: Iterable[bool | None], yes: str, no: str) -> list[str | None]:
    return [None if one is None else yes if one else no for one in said]


def _division(name: str, source: str, words: Sequence[str | None], order: Sequence[str] = ()) -> Division:
    """Groups of equal words: in an order of their own, else the largest first; then the rest, and what is not known."""
    words = [None if word == UNKNOWN else word for word in words]
    counts = Counter(word for word in words if word is not None)
    names = [word for word in order if word in counts] or [word for word, _ in counts.most_common()]
    kept = names if len(names) <= _MOST_GROUPS else names[: _MOST_GROUPS - 1]
    strata = [Stratum(word, np.array([one == word for one in words])) for word in kept]
    known = set(kept)
    further = {
        f"{OTHERS} ({len(names) - len(kept)})": [one is not None and one not in known for one in words],
        UNKNOWN: [one is None for one in words],
    }
    strata += [Stratum(label, np.array(rows)) for label, rows in further.items() if any(rows)]
    return Division(name, source, tuple(strata))


_MAKERS: Mapping[str, Callable[[_Studies], list[Division] | str]] = {
    "normal": _normal,
    "finding": _findings,
    "site": _said("site", "site", _plain),
    "view": _said("view", "view", _views),
    "prior": _said("prior", "prior study, or that there is none,", _prior),
    "sex": _said("sex", "sex", _sex),
    "age": _said("age", "age", _age),
    "length": _length,
}
NAMES_OF_DIVISIONS = tuple(_MAKERS)
