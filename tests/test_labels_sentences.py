"""Sentences of a report with the places of their mentions."""

import pytest

from rexrank.errors import WrongType
from rexrank.labels import mentions, read_sentences

REPORT = (
    "FINDINGS: Small left pleural effusion, no pneumothorax. Heart size is normal.\nIMPRESSION: Possible pneumonia."
)


def test_places_are_those_of_the_phrases() -> None:
    found = read_sentences(REPORT)
    assert [len(one.mentions) for one in found] == [2, 1, 1]
    for sentence in found:
        for mention, (start, end) in zip(sentence.mentions, sentence.places, strict=True):
            assert " ".join(sentence.words[start:end]) == mention.phrase
    assert [one for sentence in found for one in sentence.mentions] == mentions(REPORT)


def test_sentences_without_a_finding_are_there_too() -> None:
    (only,) = read_sentences("Thank you, doctor.")
    assert (only.words, only.mentions, only.places) == (("thank", "you", ",", "doctor"), (), ())
    assert read_sentences("") == []
    with pytest.raises(WrongType, match="text: expected str"):
        read_sentences(3)  # type: ignore[arg-type]
