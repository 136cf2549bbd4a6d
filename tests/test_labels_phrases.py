"""The files of phrases: nothing in them is ambiguous, and nothing in them is out of reach."""

import math
from collections import defaultdict
from collections.abc import Iterator

from rexrank.labels.names import NAMES
from rexrank.labels.phrases import Meaning, Slots, entries, find, tree
from rexrank.labels.roles import Role


def _spellings(slots: Slots, start: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if not slots:
        yield start
        return
    (words, optional), rest = slots[0], slots[1:]
    for word in words:
        yield from _spellings(rest, (*start, word))
    if optional:
        yield from _spellings(rest, start)


def test_words_have_one_meaning_or_are_findings_of_two_classes() -> None:
    meanings: dict[tuple[str, ...], set[Meaning]] = defaultdict(set)
    for meaning, slots in entries():
        for spelling in _spellings(slots):
            meanings[spelling].add(meaning)
    several = {words: found for words, found in meanings.items() if len(found) > 1}
    assert ("hydropneumothorax",) in several
    for words, found in several.items():
        assert {meaning.role for meaning in found} == {Role.FINDING}, words
        assert len({meaning.label for meaning in found}) == len(found), words


def test_every_spelling_is_found_as_what_it_is() -> None:
    root = tree()
    for meaning, slots in entries():
        spellings = list(_spellings(slots))
        for spelling in spellings[:: max(1, len(spellings) // 50)]:
            assert spelling, meaning
            found = find(root, spelling)
            assert meaning in [phrase.meaning for phrase in found], spelling
            assert {(phrase.start, phrase.end) for phrase in found} == {(0, len(spelling))}, spelling


def test_every_class_but_no_finding_has_phrases() -> None:
    assert {meaning.label for meaning, _ in entries()} == {-1, *range(len(NAMES) - 1)}


def test_phrases_have_few_spellings() -> None:
    # Each place of a phrase multiplies its paths through the tree, which is built whenever a process labels.
    spellings = [math.prod(len(words) + optional for words, optional in slots) for _, slots in entries()]
    assert sum(spellings) < 100_000


def test_phrases_are_written_as_reports_are_read() -> None:
    for _, slots in entries():
        for words, _ in slots:
            for word in words:
                assert word == word.lower() == word.strip(), word
                assert word, slots
                assert not set(word) & set("-.;!()"), word


def test_the_longest_phrase_counts() -> None:
    found = find(tree(), ["small", "pericardial", "effusion"])
    assert [(phrase.meaning.concept, phrase.start, phrase.end) for phrase in found][-1] == (
        "pericardial effusion",
        1,
        3,
    )


def test_a_phrase_that_breaks_off_gives_its_words_back() -> None:
    # "no significant change" begins like "no significant effusion".
    found = find(tree(), ["no", "significant", "effusion"])
    assert [phrase.meaning.role for phrase in found] == [Role.ABSENT_AFTER, Role.FINDING]
