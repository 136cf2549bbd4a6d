"""How various the texts of a system are: one that writes a few templates has no findings of its own to be judged by.

Counts and shares only, never a text. Two texts are the same as `rexrank.metrics.report_statistics` has it: equal
after NFC, without section headers, every run of white space as one space.

Self-BLEU (Zhu et al., "Texygen", SIGIR 2018): BLEU-4 of each text against all others of a sample as its references
(counts clipped at the largest of any other text, the closest length for the brevity penalty), mean of the texts.
Without a match of some length of n-gram a tenth of one stands there (Chen and Cherry, WMT 2014, method 1); a text of
fewer than four words has fewer lengths. Words are those of the tokeniser ``unicode-words``. It is from 0 to 1, where
each text stands there twice, and grows with the size of the sample: compare it with that of the references beside it.
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rexrank.metrics.report_statistics import same_form
from rexrank.metrics.tokenizers import unicode_tokens, word
from rexrank.reports.studies import is_blank

# A system is flagged below this share of distinct texts, and above this share of one text …
FEW_DISTINCT, ONE_TEXT = 0.10, 0.20
# … in a set of at least so many studies; shares of fewer say nothing.
LEAST_STUDIES = 10
SELF_BLEU_TEXTS, SEED = 200, 0
_ORDERS = (1, 2, 3, 4)
_NO_MATCH = 0.1


@dataclass(frozen=True)
class Variety:
    """Counts over the texts of one side, one text a study.

    Attributes:
        n: Texts.
        distinct: Different texts.
        most_frequent: How often the most frequent text stands there.
        in_training: Texts that are the same as a training report, blank ones never; None where no training is known.
        self_bleu: Self-BLEU of a sample, 0 to 1; None with fewer than two texts that say something.
        self_bleu_texts: Texts of that sample.
    """

    n: int
    distinct: int
    most_frequent: int
    in_training: int | None
    self_bleu: float | None
    self_bleu_texts: int

    @property
    def distinct_share(self) -> float:
        """Different texts over texts, in (0, 1]."""
        return self.distinct / self.n

    @property
    def most_frequent_share(self) -> float:
        """Share of the texts that are the most frequent one, in (0, 1]."""
        return self.most_frequent / self.n

    @property
    def in_training_share(self) -> float | None:
        """Share of the texts that stand in training, or None."""
        return None if self.in_training is None else self.in_training / self.n

    def to_json(self) -> dict[str, Any]:
        """Counts and shares for ``json.dumps(…, allow_nan=False)``."""
        shares = {
            "distinct_share": self.distinct_share,
            "most_frequent_share": self.most_frequent_share,
            "in_training_share": self.in_training_share,
        }
        return {**asdict(self), **shares}


@dataclass(frozen=True)
class Diversity:
    """The predictions beside the references.

    Attributes:
        predictions: Of the predictions.
        references: Of the references, of each study the first; `in_training` counts the test reports that a system
            could have learnt by heart.
        training_texts: Different training reports that texts were compared with; None where none are known.
    """

    predictions: Variety
    references: Variety
    training_texts: int | None

    @property
    def flags(self) -> tuple[str, ...]:
        """What a reader has to know before the scores, one short sentence each."""
        return flags(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps(…, allow_nan=False)``; a score card keeps this."""
        return {
            "predictions": self.predictions.to_json(),
            "references": self.references.to_json(),
            "training_texts": self.training_texts,
            "self_bleu_seed": SEED,
        }


def diversity(
    predictions: Sequence[str], references: Sequence[Sequence[str]], training: Iterable[str] | None = None
) -> Diversity:
    """Count what the texts of a system and of the radiologists have in common.

    Args:
        predictions: One text a study, at least one.
        references: One or more texts a study, in the same order.
        training: Texts of training reports; None where they are not known.
    """
    known = None if training is None else {form for text in training if not is_blank(form := same_form(text))}
    first = [texts[0] for texts in references]
    return Diversity(_variety(predictions, known), _variety(first, known), None if known is None else len(known))


def flags(found: dict[str, Any]) -> tuple[str, ...]:
    """The flags of what a score card keeps as its diversity; none of a card that was made without it."""
    said = found.get("predictions")
    if not said or said["n"] < LEAST_STUDIES:
        return ()
    sentences = []
    if said["distinct_share"] < FEW_DISTINCT:
        sentences.append(
            f"only {said['distinct']:,} distinct text{'s' * (said['distinct'] > 1)} among {said['n']:,} predictions"
        )
    if said["most_frequent_share"] > ONE_TEXT:
        shares = said["most_frequent_share"], found["references"]["most_frequent_share"]
        sentences.append(f"one text is {shares[0]:.0%} of the predictions; of the references {shares[1]:.0%}")
    return tuple(sentences)


def lines(found: dict[str, Any]) -> list[str]:
    """What a score card keeps as its diversity, in a few lines for people; none of a set too small to say anything."""
    said, known = found.get("predictions"), found.get("references")
    if not said or not known or said["n"] < LEAST_STUDIES:
        return []
    shares = [
        f"{one['distinct_share']:.1%}, the most frequent {one['most_frequent_share']:.1%}" for one in (said, known)
    ]
    told = [
        f"distinct predictions: {said['distinct']:,} of {said['n']:,} ({shares[0]})",
        f"distinct references: {known['distinct']:,} of {known['n']:,} ({shares[1]})",
    ]
    if said["self_bleu"] is not None and known["self_bleu"] is not None:
        told.append(
            f"self-BLEU of {said['self_bleu_texts']:,} predictions: {said['self_bleu']:.3f}, "
            f"of {known['self_bleu_texts']:,} references: {known['self_bleu']:.3f}"
        )
    if said["in_training"] is not None:
        told.append(
            f"word for word in training: {said['in_training']:,} predictions ({said['in_training_share']:.1%}), "
            f"{known['in_training']:,} references ({known['in_training_share']:.1%})"
        )
    return told + [f"flag: {flag}" for flag in flags(found)]


def self_bleu(texts: Sequence[str], most: int = SELF_BLEU_TEXTS, seed: int = SEED) -> tuple[float | None, int]:
    """Self-BLEU of a sample of texts.

    Args:
        texts: Blank ones are left out.
        most: Texts of the sample; all where there are no more.
        seed: Of the draw.

    Returns:
        Self-BLEU, 0 to 1, or None with fewer than two texts; and the number of texts in the sample.
    """
    sample = _drawn([text for text in texts if not is_blank(text)], most, seed)
    if len(sample) < 2:
        return None, len(sample)
    words = [[one for token in unicode_tokens(text) if (one := word(token))] for text in sample]
    counts = [[Counter(_ngrams(one, order)) for one in words] for order in _ORDERS]
    matches = [_matches(of_order) for of_order in counts]
    lengths = Counter(map(len, words))
    scores = [
        _bleu([of_order[place] for of_order in matches], len(one), _closest(len(one), lengths))
        for place, one in enumerate(words)
    ]
    return math.fsum(scores) / len(scores), len(sample)


def _variety(texts: Sequence[str], training: set[str] | None) -> Variety:
    counts = Counter(map(same_form, texts))
    known = None if training is None else sum(number for form, number in counts.items() if form in training)
    return Variety(len(texts), len(counts), max(counts.values()), known, *self_bleu(texts))


def _drawn(texts: Sequence[str], most: int, seed: int) -> list[str]:
    """Some of the texts, without replacement; the same ones on every machine."""
    generator = random.Random(seed)
    # random() is the one method whose sequence Python promises to keep for a seed.
    order = sorted(range(len(texts)), key=[generator.random() for _ in texts].__getitem__)
    return [texts[place] for place in sorted(order[:most])]


def _ngrams(words: Sequence[str], order: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + order]) for start in range(len(words) - order + 1)]


def _matches(counts: Sequence[Counter[tuple[str, ...]]]) -> list[int]:
    """Of each text the n-grams that some other text has, each at most as often as that text that has it most."""
    largest: dict[tuple[str, ...], tuple[int, int, int]] = {}
    for place, found in enumerate(counts):
        for ngram, number in found.items():
            first, owner, second = largest.get(ngram, (0, -1, 0))
            largest[ngram] = (number, place, first) if number > first else (first, owner, max(second, number))
    return [
        sum(min(number, _of_others(largest[ngram], place)) for ngram, number in found.items())
        for place, found in enumerate(counts)
    ]


def _of_others(largest: tuple[int, int, int], place: int) -> int:
    first, owner, second = largest
    return second if owner == place else first


def _closest(length: int, lengths: Counter[int]) -> int:
    """The length of another text that is closest; the shorter of two."""
    others = (other for other, number in lengths.items() if number > (other == length))
    return min(others, key=lambda other: (abs(other - length), other))


def _bleu(matches: Sequence[int], length: int, reference_length: int) -> float:
    if not length:
        return 0.0
    logarithms = [
        math.log((found or _NO_MATCH) / (length - order + 1))
        for order, found in zip(_ORDERS, matches, strict=True)
        if order <= length
    ]
    brevity = min(0.0, 1.0 - reference_length / length)
    return math.exp(brevity + math.fsum(logarithms) / len(logarithms))
