"""What a set of reports is, images and language, and which scores are made for it.

Each score names in the registry the modalities and languages it is made for. Outside of them a number would come out
all the same, and mean nothing; so it is refused with the reason.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rexrank.errors import RefusedInput, shown
from rexrank.metrics import score_keys
from rexrank.metrics.inputs import InvalidCall
from rexrank.reports.languages import Guess, guess
from rexrank.reports.problems import Problem
from rexrank.reports.sources import describing
from rexrank.reports.studies import Limits
from rexrank.terms import DESCRIPTION_FILE

ANY = "any"
_MODALITY = re.compile(r"[A-Za-z][A-Za-z0-9 _-]{0,31}")
_LANGUAGE = re.compile(r"([A-Za-z]{2})(?:[-_][A-Za-z0-9]{1,8})*")
_SAME_MODALITY = {"MRI": "MR", "CHEST X-RAY": "CXR", "CHEST XRAY": "CXR"}
_NAMES = {
    "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fr": "French", "he": "Hebrew", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pt": "Portuguese", "th": "Thai", "zh": "Chinese",
}  # fmt: skip


@dataclass(frozen=True)
class Scope:
    """What the reports of a set are about and how they are written.

    Attributes:
        modality: What the images show (``CXR``, ``CT``, ``MR``); ``any`` where nothing shall be refused; None where
            nobody said.
        language: ISO 639-1 code of the texts, or the same words.
        source: Who said so: ``given``, ``benchmark.yaml``, or None.
        guessed: What the references look like, where they say it plainly: a code or a script.
        warning: What does not fit, in one sentence, or None.
    """

    modality: str | None = None
    language: str | None = None
    source: str | None = None
    guessed: str | None = None
    warning: str | None = None

    @classmethod
    def of(cls, modality: str | None, language: str | None, references: Any = None) -> "Scope":
        """The scope that a caller names, and for what he leaves open that of the references' benchmark.

        Args:
            modality: ``CXR``, ``CT``, ``MR`` or another; ``any``; None for that of the benchmark.
            language: Two letters, a region behind them does not count; ``any``; None for that of the benchmark.
            references: Where they come from: a folder of ``rexrank benchmark build``, or the file in it, has a
                ``benchmark.yaml`` that says both.

        Raises:
            InvalidCall: A name of another form.
            RefusedInput: The benchmark's file cannot be read.
        """
        given = cls(_modality(modality), _language(language))
        described = {} if given.modality and given.language else _described(references)
        full = cls(given.modality or described.get("modality"), given.language or described.get("language"))
        if full == cls():
            return full
        return replace(full, source="given" if given != cls() else DESCRIPTION_FILE)

    def why_not(self, key: str) -> str | None:
        """Why a score means nothing here, in one sentence; None where it is made for such reports or nobody knows."""
        known = score_keys().get(key)
        return None if known is None else self.excludes(key, known.modality, known.language)

    def excludes(self, what: str, modality: Sequence[str], language: Sequence[str]) -> str | None:
        """Why something means nothing here, in one sentence; None where it is made for such reports or nobody knows.

        Args:
            what: What it is, in the singular.
            modality: Modalities that it is made for, or ``any``.
            language: Languages, likewise.
        """
        parts = []
        if not _fits(self.modality, modality):
            parts.append((f"reports of {_listed(modality)}", f"of {self.modality}", "modality"))
        if not _fits(self.language, language):
            made = _listed([named(one) for one in language])
            parts.append((f"texts in {made}", f"in {named(self.language or '')}", "language"))
        if not parts:
            return None
        made_for, these, options = (" and ".join(words) for words in zip(*parts, strict=True))
        return f"{what} is made for {made_for}, and these are {these}; {ANY} as {options} computes it all the same"

    def looked_at(self, references: Sequence[str | Sequence[str]]) -> "Scope":
        """The same with what the references look like, and a warning where that is something else.

        A guess refuses nothing: it is for people.
        """
        texts = [one if isinstance(one, str) else one[0] for one in references if one]
        found = None if self.language == ANY else guess(texts)
        if found is None:
            return self
        return replace(self, guessed=found.language or found.script, warning=self._warning(found))

    def to_json(self) -> dict[str, Any]:
        """The part of a score card that tells of it; what is not known is left out."""
        fields = ("modality", "language", "source", "guessed", "warning")
        return {name: value for name in fields if (value := getattr(self, name)) is not None}

    def _warning(self, found: Guess) -> str | None:
        looks = f"the references look {named(found.language)}" if found.language else f"they are in {found.script}"
        if self.language is None:
            if found.language == "en":
                return None
            return f"{looks}, and scores made for English were not refused; name the language (language=…)"
        if found.language == self.language:
            return None
        if found.language is None:
            is_known_otherwise = self.language not in _NAMES
            return None if is_known_otherwise else f"{looks} script, and the language is said to be {self.language}"
        return f"{looks}, and the language is said to be {named(self.language)}"


def named(language: str) -> str:
    """A language for readers: its English name, else its code."""
    return _NAMES.get(language, language)


def _fits(of_set: str | None, of_score: Sequence[str]) -> bool:
    return of_set in (None, ANY) or ANY in of_score or of_set in of_score


def _modality(asked: object) -> str | None:
    if asked is None:
        return None
    if not isinstance(asked, str) or not _MODALITY.fullmatch(asked.strip()):
        raise InvalidCall(f"modality: expected a short name such as CXR, CT or MR, got {shown(asked)}")
    name = asked.strip()
    return ANY if name.lower() == ANY else _SAME_MODALITY.get(name.upper(), name.upper())


def _language(asked: object) -> str | None:
    if asked is None:
        return None
    if isinstance(asked, str) and asked.strip().lower() == ANY:
        return ANY
    match = _LANGUAGE.fullmatch(asked.strip()) if isinstance(asked, str) else None
    if match is None:
        raise InvalidCall(f"language: expected two letters of ISO 639-1 such as en or de, got {shown(asked)}")
    return match[1].lower()


def _described(references: Any) -> Mapping[str, str]:
    """Modality and language in the ``benchmark.yaml`` that belongs to the references, where there is one."""
    content = describing(references, Limits()) if isinstance(references, str | os.PathLike) else None
    if content is None:
        return {}
    import yaml

    try:
        found = yaml.safe_load(content)
    except (ValueError, yaml.YAMLError):
        found = None
    if not isinstance(found, Mapping):
        raise _refused(None, "it cannot be read; build the benchmark again")
    readers = {"modality": _modality, "language": _language}
    described = {}
    for field, read in readers.items():
        try:
            value = read(found.get(field))
        except InvalidCall as error:
            # An unquoted `no` is Norwegian to its writer and False to YAML.
            raise _refused(field, f"{str(error).partition(': ')[2]}; write it in quotes") from None
        if value is not None:
            described[field] = value
    return described


def _refused(field: str | None, message: str) -> RefusedInput:
    return RefusedInput([Problem("wrong_type", DESCRIPTION_FILE, None, field, message)])


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
