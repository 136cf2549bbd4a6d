"""CIDEr-D: how alike the n-grams of two reports are, rare ones counting most.

An n-gram g weighs w(g) = count(g) * (ln N - ln max(1, df(g))) in a text, where df(g) is the
number of documents that hold g and N the number of documents: the references of this very
call, those of one study being one document, unless the option ``df`` gives a table. With
s_n = sum_g min(w_h, w_r) w_r / (|w_h| |w_r|) for n = 1 … 4 (0 where a norm is 0) and d the
difference between the numbers of bigrams of prediction h and reference r, a study scores
10 * exp(-d² / 72) * mean of s_1 … s_4, averaged over its references; the aggregate is the
mean of studies. Range [0, 10]. With frequencies from the references, a study's score depends
on the other studies' references; the signature shows their number, ``df:refs(590)``, or the
table, ``df:<first 8 digits of its sha256>``.

- `published`: tokens between white space, case kept (github.com/salaniz/pycocoevalcap). Where
  no reference says anything the original fails; the score is 0, as for any blank reference.
- `corrected`: tokeniser `unicode`; studies without a reference are no documents; orders of
  which neither text has a weighted n-gram are left out of the mean, so that an identical
  report scores 10 however short. Where no n-gram of any reference carries weight (fewer
  than two documents, or all alike), the metric does not exist for this set: every study is
  null, identical ones too, with the reason ``degenerate_reference_statistics``.

A blank prediction scores 0. CIDEr: Vedantam et al., CVPR 2015.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rexrank.errors import RexrankError, shown
from rexrank.files import json_bytes, user_path, write_atomically
from rexrank.metrics.inputs import InvalidCall, check_choice, check_references
from rexrank.metrics.ngrams import ngram_totals
from rexrank.metrics.outcome import Flags, Floats, Outcome
from rexrank.metrics.pairs import Integers, Pairs, PairTokens
from rexrank.metrics.registry import Example, Metric, Option, ScoreKey
from rexrank.metrics.tokenizers import SPLIT, UNICODE, Tokenizer
from rexrank.terms import CONVENTIONS, Convention

_ORDERS = 4
_SIGMA = 6.0
_SCALE = 10.0
_MOST_DOCUMENTS = 1 << 53  # as many as floating point tells apart
_DEGENERATE = "degenerate_reference_statistics"
_TOKENIZERS: Mapping[Convention, Tokenizer] = {"published": SPLIT, "corrected": UNICODE}


@dataclass(frozen=True)
class DocumentFrequencies:
    """In how many documents of a corpus each n-gram stands.

    Attributes:
        n: Number of documents, 2 to 2^53 - 1.
        df: Number of documents that hold an n-gram, by its 1 to 4 words with one space between them.
        tok: Name of the tokeniser that made the words; None where it is not known.

    Raises:
        InvalidCall: Anything is of another form, or no n-gram is rarer than another could be: one document, or every
            n-gram in every document. Names the position of an n-gram and never its words.
    """

    n: int
    df: Mapping[str, int]
    tok: str | None = None

    def __post_init__(self) -> None:
        """Check the form."""
        if not _is_whole(self.n) or not 2 <= self.n < _MOST_DOCUMENTS:
            raise InvalidCall(f'df: "n" must be the number of documents, 2 or more and below 2^53, got {shown(self.n)}')
        if not isinstance(self.df, Mapping) or not self.df:
            raise InvalidCall('df: "df" must be an object {"ngram words": number of documents} that is not empty')
        if self.tok is not None:
            check_choice("df: tok", self.tok, [tokenizer.name for tokenizer in _TOKENIZERS.values()])
        for position, (ngram, count) in enumerate(self.df.items()):
            if not _is_ngram(ngram):
                raise InvalidCall(
                    f'df: entry {position} of "df" is not 1 to {_ORDERS} words with one space between them'
                )
            if not _is_whole(count) or not 1 <= count <= self.n:
                raise InvalidCall(
                    f'df: entry {position} of "df" must be a number of documents from 1 to "n" ({self.n}), '
                    f"got {shown(count)}"
                )
        if all(count == self.n for count in self.df.values()):
            raise InvalidCall("df: every n-gram stands in every document, so none has a weight; give a larger corpus")

    @cached_property
    def sha8(self) -> str:
        """First eight digits of the sha256 of the numbers, whatever their order; stands in signatures."""
        return sha256(json.dumps([self.n, sorted(self.df.items())]).encode()).hexdigest()[:8]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table as the JSON file that the option ``df`` reads.

        Raises:
            OSError: The file cannot be written.
        """
        tok = {} if self.tok is None else {"tok": self.tok}
        write_atomically(user_path(path), json_bytes({"n": self.n, **tok, "df": dict(self.df)}, ascii_only=True))


def document_frequencies(
    reports: Sequence[str | Sequence[str]], convention: Convention = "published"
) -> DocumentFrequencies:
    """Count in how many reports of a corpus each n-gram stands.

    Args:
        reports: One text, or a list of texts that count as one document, a study.
        convention: Whose tokeniser cuts the words: the one the table will be used with. `corrected` passes over
            documents without a word.

    Raises:
        InvalidCall: Not a list of texts, or too few or too equal ones to weigh n-grams by.
    """
    name = cast(Convention, check_choice("convention", convention, CONVENTIONS))
    tokenizer = _TOKENIZERS[name]
    counts: Counter[str] = Counter()
    documents = 0
    for texts in check_references(reports):
        held = {ngram for text in texts for ngram in _ngrams(tokenizer.split(text))}
        counts.update(held)
        documents += bool(held) or name == "published"
    return DocumentFrequencies(documents, dict(counts), tokenizer.name)


def _ngrams(tokens: Sequence[str]) -> Iterator[str]:
    for order in range(1, _ORDERS + 1):
        for start in range(len(tokens) - order + 1):
            yield " ".join(tokens[start : start + order])


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_ngram(value: object) -> bool:
    return isinstance(value, str) and value.count(" ") < _ORDERS and bool(value) and " ".join(value.split()) == value


def _read_frequencies(given: Any, tokenizer: Tokenizer) -> DocumentFrequencies:
    """The table that the option `df` gives.

    Raises:
        InvalidCall: It cannot be read, has another form or was made with another tokeniser.
    """
    if isinstance(given, str | os.PathLike):
        given = _read_json(given)
    if not isinstance(given, DocumentFrequencies):
        if not isinstance(given, Mapping) or not {"n", "df"} <= set(given):
            raise InvalidCall(
                'df: expected a path to a JSON file {"n": documents, "df": {"ngram words": number of documents}}, '
                f"such an object, or rexrank.metrics.cider.document_frequencies(reports); got {shown(given)}"
            )
        given = DocumentFrequencies(given["n"], given["df"], given.get("tok"))
    if given.tok not in (None, tokenizer.name):
        raise InvalidCall(
            f"df: the table was made with the tokeniser {given.tok} and this convention has {tokenizer.name}; "
            "make it with document_frequencies(reports, convention)"
        )
    return given


def _read_json(path: str | os.PathLike[str]) -> Any:
    try:
        file = user_path(path)
        if not file.is_file():
            raise InvalidCall("df: there is no file at the path given; write one with document_frequencies(…).save")
        return json.loads(file.read_bytes())
    except OSError as error:
        raise InvalidCall(f"df: the file cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, RexrankError):
            raise
        raise InvalidCall("df: the file is not valid JSON; write one with document_frequencies(…).save") from None


@dataclass(frozen=True)
class _Ngrams:
    """The n-grams of one order of all texts, predictions first.

    Attributes:
        distinct: Number of different n-grams.
        text: Text of each entry; an entry is a text with one of its n-grams, in this order.
        number: N-gram of each entry, below `distinct`.
        count: How often the text has it.
        names: Words of the n-grams by number; empty where nobody asks.
    """

    distinct: int
    text: Integers
    number: Integers
    count: Integers
    names: Sequence[str]


def _by_order(tokens: PairTokens, named: bool) -> Iterator[_Ngrams]:
    """N-grams of order 1 … 4, each order numbered from the one before."""
    lengths = np.concatenate([tokens.predictions.lengths, tokens.references.lengths])
    ids = np.concatenate([tokens.predictions.ids, tokens.references.ids])
    text = np.repeat(np.arange(len(lengths)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(ids))
    size = max(1, tokens.vocabulary)
    at, numbers, distinct = np.arange(len(ids)), ids, size
    names: Sequence[str] = tokens.words if named else ()
    for order in range(1, _ORDERS + 1):
        if order > 1:
            kept = left[at] >= order
            at = at[kept]
            codes, numbers = np.unique(numbers[kept] * size + ids[at + order - 1], return_inverse=True)
            distinct = max(1, len(codes))
            if named:
                starts, ends = (part.tolist() for part in np.divmod(codes, size))
                names = [f"{names[start]} {tokens.words[end]}" for start, end in zip(starts, ends, strict=True)]
        keys, count = np.unique(text[at] * distinct + numbers, return_counts=True)
        yield _Ngrams(distinct, *np.divmod(keys, distinct), count, names)


def _document_counts(ngrams: _Ngrams, tokens: PairTokens) -> Integers:
    """Number of studies whose references hold each n-gram, int64 [distinct]."""
    first = len(tokens.predictions.lengths)
    of_references = ngrams.text >= first
    number = ngrams.number[of_references]
    if not tokens.single:
        owners = tokens.owners[ngrams.text[of_references] - first]
        number = np.unique(owners * ngrams.distinct + number) % ngrams.distinct
    return np.bincount(number, minlength=ngrams.distinct)


def _rarity(counts: Integers, documents: int) -> Floats:
    """The natural logarithm of documents / counts; exactly 0 for what stands in every document."""
    logarithms = np.log(max(documents, 1)) - np.log(np.maximum(counts, 1))
    return np.where(counts >= documents, 0.0, logarithms) if documents > 1 else np.zeros(len(counts))


def _similarities(ngrams: _Ngrams, rarity: Floats, tokens: PairTokens) -> tuple[Floats, Floats, Floats]:
    """Clipped cosine of every reference with its prediction, [references], and the norms of either side."""
    studies, texts = len(tokens.predictions.lengths), len(tokens.predictions.lengths) + len(tokens.references.lengths)
    weights = ngrams.count * rarity[ngrams.number]
    norms = np.sqrt(np.bincount(ngrams.text, weights=weights**2, minlength=texts))
    split = int(np.searchsorted(ngrams.text, studies))
    predicted = ngrams.text[:split] * ngrams.distinct + ngrams.number[:split]
    reference = ngrams.text[split:] - studies
    wanted = tokens.owners[reference] * ngrams.distinct + ngrams.number[split:]
    found = np.searchsorted(predicted, wanted)
    shared = np.flatnonzero(np.append(predicted, -1)[found] == wanted)
    ours, theirs = weights[found[shared]], weights[split + shared]
    sums = np.bincount(reference[shared], weights=np.minimum(ours, theirs) * theirs, minlength=texts - studies)
    of_predictions, of_references = norms[:studies], norms[studies:]
    product = of_predictions[tokens.owners] * of_references
    return np.divide(sums, product, out=np.zeros(len(sums)), where=product > 0), of_predictions, of_references


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    tokenizer = _TOKENIZERS[convention]
    table = _read_frequencies(options["df"], tokenizer) if "df" in options else None
    tokens = pairs.tokens(tokenizer)
    documents = table.n if table else _number_documents(tokens, convention)
    total, orders, predicted, referred = _over_orders(tokens, table, documents)
    if convention == "published":
        orders[:] = _ORDERS
    degenerate = convention == "corrected" and table is None and not referred.any()
    if degenerate:
        predicted[:] = referred[:] = True  # the set lacks contrast; no text is to blame
    each = _SCALE * np.minimum(total / np.maximum(orders, 1), 1.0) * _same_length(tokens)
    counted = f"refs({documents})" if table is None else table.sha8
    return {
        "cider": Outcome(
            values=_mean_over_references(each, tokens),
            signature={"tok": tokenizer.name, "n": str(_ORDERS), "sigma": f"{_SIGMA:g}", "df": counted},
            prediction_content=predicted,
            reference_content=np.logical_or.reduceat(referred, tokens.first_reference[:-1]),
            undefined=_DEGENERATE if degenerate else None,
        )
    }


def _over_orders(
    tokens: PairTokens, table: DocumentFrequencies | None, documents: int
) -> tuple[Floats, Integers, Flags, Flags]:
    """Sums over the orders.

    Returns:
        The similarity of each reference with its prediction and the number of orders in which either has weight,
        [references] both; which predictions, [n], and which references have any weight, [references].
    """
    owners, studies = tokens.owners, len(tokens.predictions.lengths)
    total, orders = np.zeros(len(owners)), np.zeros(len(owners), dtype=np.int64)
    predicted, referred = np.zeros(studies, dtype=bool), np.zeros(len(owners), dtype=bool)
    for ngrams in _by_order(tokens, named=table is not None):
        counts = _looked_up(ngrams.names, table.df) if table else _document_counts(ngrams, tokens)
        similarity, of_predictions, of_references = _similarities(ngrams, _rarity(counts, documents), tokens)
        total += similarity
        orders += (of_predictions[owners] > 0) | (of_references > 0)
        predicted |= of_predictions > 0
        referred |= of_references > 0
    return total, orders, predicted, referred


def _number_documents(tokens: PairTokens, convention: Convention) -> int:
    if convention == "published":
        return len(tokens.predictions.lengths)
    return int(np.logical_or.reduceat(tokens.references.lengths > 0, tokens.first_reference[:-1]).sum())


def _looked_up(names: Sequence[str], df: Mapping[str, int]) -> Integers:
    return np.array([df.get(name, 0) for name in names] or [0], dtype=np.int64)


def _same_length(tokens: PairTokens) -> Floats:
    """The factor, at most 1, for the difference between the numbers of bigrams; float64 [references]."""
    bigrams: tuple[NDArray[np.int64], ...] = tuple(
        ngram_totals(rows, 2)[:, 1] for rows in (tokens.predictions, tokens.references)
    )
    difference = (bigrams[0][tokens.owners] - bigrams[1]).astype(np.float64)
    return np.exp(-(difference**2) / (2 * _SIGMA**2))


def _mean_over_references(values: Floats, tokens: PairTokens) -> Floats:
    if tokens.single:
        return values
    return np.add.reduceat(values, tokens.first_reference[:-1]) / np.diff(tokens.first_reference)


_EXAMPLE_TABLE = {"n": 100, "df": {"hernia": 5, "stable": 20}}

METRIC = Metric(
    name="cider",
    version="1",
    keys=(
        ScoreKey(
            key="cider",
            label="CIDEr",
            direction="higher",
            ranges={"published": (0.0, _SCALE), "corrected": (0.0, _SCALE)},
            kind="mean",
            digits=3,
            modality=("any",),
            language=("any",),
            description=(
                "Clipped cosine of n-gram weights up to n = 4, rare n-grams weighing most, times a factor for equal "
                "length; mean of studies, from 0 to 10."
            ),
        ),
    ),
    compute=_compute,
    source="Vedantam et al., CVPR 2015; github.com/salaniz/pycocoevalcap",
    options=(
        Option(
            name="df",
            values=(
                'path to a JSON file `{"n": documents, "df": {"ngram words": number of documents}}`, such an object, '
                "or what `rexrank.metrics.cider.document_frequencies(reports)` gives"
            ),
            default="the references of the call",
            description="Where the document frequencies come from; a table makes scores comparable across test sets.",
        ),
    ),
    examples=(
        Example("Hernia.", "Hernia.", options={"df": _EXAMPLE_TABLE}),
        Example("stable hernia", "Stable hernia", options={"df": _EXAMPLE_TABLE}),
        Example("Stable small hiatal hernia.", "Stable small hiatal hernia."),
    ),
    faults=(
        "pycocoevalcap prints 0, even for perfect output, where there is one study or all references are equal.",
        "pycocoevalcap cannot give 10 to a report of fewer than four words: one word reaches 2.5, two reach 5.",
        "pycocoevalcap ends with an exception where every reference is blank.",
        "Frequencies come from the references of the test set, so a study's score changes with the other studies.",
        "Some papers print the score times 10, others divided by 10.",
    ),
)
