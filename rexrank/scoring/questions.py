"""Answers to questions scored and looked into: categories, negations, and letters that a model likes too much."""

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from rexrank.errors import RefusedInput
from rexrank.metrics.polarity import Polarity, polarity
from rexrank.metrics.registry import keys_named, metric_of, score_keys
from rexrank.metrics.vqa import lettered, letters, repeats_a_letter
from rexrank.reports.problems import Problem, shown_id
from rexrank.reports.questions import (
    Question,
    Questions,
    are_questions,
    read_answers,
    read_questions,
    refuse_unreadable,
)
from rexrank.reports.reading import Source
from rexrank.reports.studies import Limits, is_blank
from rexrank.scoring.card import ScoreCard
from rexrank.scoring.progress import Progress, Report, reporting
from rexrank.scoring.table import MOST_UNREAD
from rexrank.statistics.bootstrap import intervals
from rexrank.statistics.inputs import Floats
from rexrank.statistics.paired import Pair, holm, paired_tests
from rexrank.statistics.power import ALPHA
from rexrank.statistics.sample import Flags, Sample
from rexrank.terms import Convention


@dataclass(frozen=True)
class Asked:
    """Questions with the model's answers, as `rexrank.score` takes them.

    Attributes:
        questions: The file of questions.
        answers: Question id to answer.
        right: Question id to right answer: the letter where there are options.
        inputs: Name and sha256 of both files, as a score card keeps them; empty sha256 for objects.
    """

    questions: Questions
    answers: Mapping[str, str]
    right: Mapping[str, str]
    inputs: Mapping[str, tuple[str, str]]

    @property
    def options(self) -> dict[str, Any]:
        """Options of the metric."""
        known = {"choices": self.questions.options, "categories": self.questions.categories}
        return {name: value for name, value in known.items() if value is not None}

    @property
    def groups(self) -> dict[str, Hashable] | None:
        """Patient or study of each question, where all are known: questions of one hang together."""
        groups = self.questions.groups
        ids = [one.question_id for one in self.questions.questions]
        return None if groups is None else dict(zip(ids, groups, strict=True))

    def named(self, card: ScoreCard) -> ScoreCard:
        """The card of a scoring of `answers` and `right`, under the names of the files and of what was drawn."""
        inputs = {
            side: {"source": name, "sha256": sha256 or card.inputs[side]["sha256"]}
            for side, (name, sha256) in self.inputs.items()
        }
        interval = {**card.interval, **({} if self.groups is None else {"unit": self.questions.unit})}
        return replace(card, inputs={**card.inputs, **inputs}, interval=interval)


def asks_questions(metrics: object) -> bool:
    """Whether nothing but scores of answers to questions is asked for."""
    named = [metrics] if isinstance(metrics, str) else metrics
    if not isinstance(named, Sequence) or not named or not all(isinstance(name, str) for name in named):
        return False
    keys = [key for name in named for key in keys_named(name) or [name]]
    return all(key in score_keys() and metric_of(key).task == "vqa" for key in keys)


def asked(answers: Source, questions: Source, limits: Limits | None = None) -> Asked | None:
    """Read questions, and the answers from the same file or another.

    Args:
        answers: The model's answers; the file of questions itself where it holds them.
        questions: The questions.
        limits: What a file may hold at most.

    Returns:
        Both; None where `questions` holds none but reports or bare answers.

    Raises:
        RefusedInput: With every fault: also a right answer that is none of its options.
    """
    if not are_questions(questions, limits):
        return None
    found = read_questions(questions, limits)
    said, name, sha256 = found.answers, found.source, found.sha256
    if answers is not questions and answers != questions:
        said, name, sha256 = read_answers(answers, found, limits)
    if said is None:
        message = "it has questions and no answers; add model_prediction to each, or give the answers as their own file"
        raise RefusedInput([Problem("wrong_columns", found.source, None, "model_prediction", message)])
    inputs = {"predictions": (name, sha256), "references": (found.source, found.sha256)}
    return Asked(found, said, _right(found), inputs)


def _right(found: Questions) -> dict[str, str]:
    """The right answers; where there are options their letters, so that none is lost as a word for nothing."""
    ids = [one.question_id for one in found.questions]
    words = [one.right for one in found.questions]
    if found.options is None:
        return dict(zip(ids, words, strict=True))
    problems, right = [], {}
    read = letters(words, found.options, "corrected")
    for question_id, letter, options in zip(ids, read, found.options, strict=True):
        if repeats_a_letter(options):
            message = "two options have the same letter; give each its own"
            problems.append(Problem("wrong_type", found.source, shown_id(question_id), "options", message))
        elif letter is None:
            message = "the right answer is none of the options, or several"
            problems.append(Problem("wrong_type", found.source, shown_id(question_id), "correct_answer", message))
        right[question_id] = letter or ""
    if problems:
        raise RefusedInput(problems)
    return right


@dataclass(frozen=True)
class Rate:
    """A share of cases.

    Attributes:
        value: In [0, 1]; None without a case.
        interval: 95 % bootstrap interval, or None.
        n: Number of cases.
        left_out: Cases with an answer that cannot be read.
    """

    value: float | None
    interval: tuple[float, float] | None
    n: int
    left_out: int = 0


@dataclass(frozen=True)
class Category:
    """Accuracy within one category.

    Attributes:
        name: Of the category.
        accuracy: Share of right answers.
        n_unparsed: Answers that cannot be read, which are wrong.
    """

    name: str
    accuracy: Rate
    n_unparsed: int


@dataclass(frozen=True)
class Letter:
    """How often a letter is chosen, and how often it is right.

    Attributes:
        letter: ``A`` …
        chosen: Share of the readable answers that name it.
        right: Share of the same questions whose right answer it is.
        interval: 95 % bootstrap interval of chosen minus right, or None.
        p: Of a randomisation test of the difference, by Holm for all letters; None where it cannot be tested.
    """

    letter: str
    chosen: float
    right: float
    interval: tuple[float, float] | None
    p: float | None


@dataclass(frozen=True)
class Answered:
    """What is known of the answers beyond their accuracy.

    Attributes:
        card: The score card.
        chance: Accuracy of guessing, the mean of 1 / number of options; None without options.
        categories: Accuracy of each category, in order of their first question; empty where one question has none.
        unread: Share of answers that cannot be read.
        reversed_options: Of the questions that offer the opposite of the right answer, and another wrong answer beside
            it: share of readable answers that choose the opposite.
        unmoved_pairs: Of the pairs of questions of one study that differ in a negation alone, and whose right answers
            differ: share of readable pairs with the same answer to both.
        letters: Chosen and right letters, of questions with options.
        bias: Total variation distance between chosen and right letters, half the sum of the differences: 0 where each
            letter is chosen as often as it is right, 1 at most. Chance alone makes it positive.
        flags: What a reader should not overlook, one sentence each.
    """

    card: ScoreCard
    chance: float | None
    categories: tuple[Category, ...]
    unread: Rate
    reversed_options: Rate | None
    unmoved_pairs: Rate | None
    letters: tuple[Letter, ...]
    bias: Rate | None
    flags: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Everything for JSON; the card without its table of questions."""
        told = asdict(replace(self, card=None))  # type: ignore[arg-type]
        return {"card": self.card.to_json(), **{name: value for name, value in told.items() if name != "card"}}


def score_questions(
    source: Source,
    questions: Source | None = None,
    convention: Convention = "published",
    limits: Limits | None = None,
    progress: bool | Progress = False,
) -> Answered:
    """Score answers to questions, and look into them.

    Args:
        source: File of questions with ``model_prediction``; or the answers alone, where `questions` is given.
        questions: File of the questions.
        convention: How answers are read: ``published`` or ``corrected``.
        limits: What a file may hold at most.
        progress: As for `rexrank.score`.

    Raises:
        RefusedInput: With every fault of the files.
        InvalidCall: No such convention.
    """
    with reporting(progress, total=3) as report:
        report("read")
        found = asked(source, source if questions is None else questions, limits)
        if found is None:
            message = 'it holds no questions: records with "question", "options" and "correct_answer" are expected'
            given = source if questions is None else questions
            refuse_unreadable(given, limits)
            raise RefusedInput([Problem("wrong_columns", _shown(given), None, "correct_answer", message)])
        report("score")
        card = found.named(_card(found, convention, limits))
        return _answered(card, found, report)


def _card(found: Asked, convention: Convention, limits: Limits | None) -> ScoreCard:
    from rexrank.scoring.score import score

    return score(
        found.answers,
        found.right,
        protocol="plain",
        metrics=["vqa"],
        convention=convention,
        progress=False,
        limits=limits,
        options=found.options,
        groups=found.groups or "study",
    )


def _shown(source: Source) -> str:
    return Path(source).name if isinstance(source, str | os.PathLike) else "questions"


def _answered(card: ScoreCard, found: Asked, report: Report) -> Answered:
    report("negations and letters")
    convention: Convention = "corrected" if card.convention == "corrected" else "published"
    known = _Known.of(found, convention)
    correct = card.per_study.column("vqa_accuracy_micro").to_numpy()
    unread = known.rate(known.unread.astype(np.float64))
    categories = tuple(_categories(known, correct, found.questions.categories))
    if known.options is None:
        return Answered(card, None, categories, unread, None, None, (), None, tuple(_flags(unread, None, None, ())))
    reversed_options = _reversed(known)
    unmoved = _unmoved(known)
    by_letter, bias = _position(known)
    chance = float(np.mean([1 / len(own) for own in known.options]))
    flags = tuple(_flags(unread, reversed_options, unmoved, by_letter))
    return Answered(card, chance, categories, unread, reversed_options, unmoved, by_letter, bias, flags)


@dataclass(frozen=True)
class _Known:
    """Questions and answers in one order.

    Attributes:
        questions: The questions.
        options: Letter to text of the options of each; None where there are none.
        chosen: Letter of each answer; None where it cannot be read, and everywhere without options.
        right: Right answer of each.
        unread: Which answers cannot be read, [n].
        groups: Patient or study of each.
    """

    questions: Sequence[Question]
    options: Sequence[Mapping[str, str]] | None
    chosen: Sequence[str | None]
    right: Sequence[str]
    unread: Flags
    groups: Sequence[Hashable] | None

    @classmethod
    def of(cls, found: Asked, convention: Convention) -> "_Known":
        questions = found.questions.questions
        said = [found.answers[one.question_id] for one in questions]
        right = [found.right[one.question_id] for one in questions]
        offered = found.questions.options
        if offered is None:
            unread = np.array([is_blank(text) for text in said], dtype=bool)
            return cls(questions, None, [None] * len(said), right, unread, found.questions.groups)
        chosen = letters(said, offered, convention)
        unread = np.array([letter is None for letter in chosen], dtype=bool)
        return cls(questions, [lettered(own) for own in offered], chosen, right, unread, found.questions.groups)

    def rate(self, values: Floats, left_out: int = 0) -> Rate:
        """The mean of values of questions, nan where it is no case."""
        return _rate(values, self.groups, left_out)


def _rate(values: Floats, groups: Sequence[Hashable] | None, left_out: int = 0) -> Rate:
    sample = Sample.of_values(values)
    (ends,) = intervals([sample], groups=groups) if len(values) else (None,)
    return Rate(sample.score, (ends.low, ends.high) if ends else None, int(sample.defined.sum()), left_out)


def _categories(known: _Known, correct: Floats, names: Sequence[str] | None) -> list[Category]:
    found = []
    for name in dict.fromkeys(names or ()):
        own = np.array([category == name for category in names or ()])
        accuracy = known.rate(np.where(own, correct, np.nan))
        found.append(Category(name, accuracy, int((known.unread & own).sum())))
    return found


def _reversed(known: _Known) -> Rate:
    """How often the opposite of the right answer is chosen where it is offered."""
    values = np.full(len(known.questions), np.nan)
    left_out = 0
    for position, (options, right) in enumerate(zip(known.options or (), known.right, strict=True)):
        said = {letter: polarity(text) for letter, text in options.items()}
        opposites = {letter for letter, one in said.items() if one.is_opposite(said[right])}
        # Of "yes" and "no" alone, each wrong answer is the opposite: that is the accuracy once more.
        if len(opposites) + 1 == len(options):
            continue
        if opposites and known.unread[position]:
            left_out += 1
        elif opposites:
            values[position] = known.chosen[position] in opposites
    return known.rate(values, left_out)


def _unmoved(known: _Known) -> Rate:
    """How often a question and its negation get the same answer, though the right ones differ."""
    pairs = [
        pair
        for pair in _pairs(known.questions)
        if _content(known, pair[0], known.right[pair[0]]) != _content(known, pair[1], known.right[pair[1]])
    ]
    values, groups, left_out = [], [], 0
    for one, other in pairs:
        first, second = known.chosen[one], known.chosen[other]
        if first is None or second is None:
            left_out += 1
            continue
        values.append(float(_content(known, one, first) == _content(known, other, second)))
        groups.append(known.groups[one] if known.groups else known.questions[one].study_id)
    return _rate(np.array(values, dtype=np.float64), groups, left_out)


def _content(known: _Known, position: int, letter: str) -> Polarity:
    """What a letter stands for; the same content may have another letter in another question."""
    assert known.options is not None
    return polarity(known.options[position][letter])


def _pairs(questions: Sequence[Question]) -> list[tuple[int, int]]:
    """Questions of one study that differ in a negation alone, each in one pair at most."""
    cases = []
    for position, one in enumerate(questions):
        if one.study_id is not None and one.question is not None:
            core, denies = polarity(one.question)
            cases.append(((one.study_id, core), denies, position))
    pairs = []
    for _, own in groupby(sorted(cases), key=lambda case: case[0]):
        members = list(own)
        plain, denying = ([place for _, denies, place in members if denies is which] for which in (False, True))
        pairs += list(zip(plain, denying, strict=False))
    return pairs


def _position(known: _Known) -> tuple[tuple[Letter, ...], Rate]:
    """Chosen letters against right ones, over the answers that can be read."""
    names = sorted({letter for own in known.options or () for letter in own})
    read = ~known.unread
    chosen = np.array([[letter == name for name in names] for letter in known.chosen], dtype=np.float64)[read]
    right = np.array([[letter == name for name in names] for letter in known.right], dtype=np.float64)[read]
    left_out = int(known.unread.sum())
    if not len(chosen):
        return (), Rate(None, None, 0, left_out)
    groups = None if known.groups is None else [one for one, is_read in zip(known.groups, read, strict=True) if is_read]
    pairs = [
        Pair.of(Sample.of_values(chosen[:, place]), Sample.of_values(right[:, place])) for place in range(len(names))
    ]
    tested = paired_tests(pairs, groups=groups)
    known_p = [one.p for one in tested if one.p is not None]
    corrected = iter(holm(known_p))
    found = tuple(
        Letter(name, float(own_chosen), float(own_right), one.interval, None if one.p is None else next(corrected))
        for name, own_chosen, own_right, one in zip(names, chosen.mean(axis=0), right.mean(axis=0), tested, strict=True)
    )
    apart = Sample(np.column_stack([chosen - right, np.ones(len(chosen))]), _total_variation, range=(0.0, 1.0))
    (ends,) = intervals([apart], groups=groups)
    return found, Rate(apart.score, (ends.low, ends.high) if ends else None, len(chosen), left_out)


def _total_variation(sums: Floats) -> Floats:
    """From sums of differences of each letter and the number of questions, [b, letters + 1] to [b]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.abs(sums[:, :-1]).sum(axis=1) / 2 / sums[:, -1])


def _flags(unread: Rate, reversed_options: Rate | None, unmoved: Rate | None, by_letter: Sequence[Letter]) -> list[str]:
    flags = []
    if unread.value is not None and unread.value > MOST_UNREAD:
        flags.append(
            f"{unread.value:.1%} of the answers cannot be read and count as wrong; more than {MOST_UNREAD:.0%} says "
            "that their form is judged, not what they say"
        )
    biased = [one for one in by_letter if one.p is not None and one.p <= ALPHA]
    flags += [
        f"{one.letter} is chosen in {one.chosen:.1%} of the answers and right in {one.right:.1%} of them: "
        f"{'more' if one.chosen > one.right else 'less'} often than chance explains"
        for one in biased
    ]
    for rate, words in (
        (reversed_options, "where the opposite of the right answer is offered, it is chosen in"),
        (unmoved, "a question and its negation get the same answer in"),
    ):
        if rate and rate.interval and rate.interval[0] > 0.5:
            flags.append(f"{words} {rate.value:.1%} of the cases, more than half: negations are not read")
    return flags
