"""The entities that RaTEScore compares: found by RaTE-NER in sentence after sentence, turned into vectors by BioLORD.

Zhao et al., EMNLP 2024; as RaTEScore 0.6.0 runs both models. RaTE-NER is a DeBERTa that gives every token of a sentence
its most likely label: O, or B- or I- with a type. The vector of an entity is BioLORD's last hidden state of the first
token. Each distinct sentence and each distinct entity of all texts is read once, here and in later runs.

The package loses entities: those in sentences of less than three characters, and the one that the end of a sentence
leaves open where another one ended just before. Records have them too, and say so; `published` leaves them out.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rexrank.encoders.batching import budget_of, in_batches
from rexrank.encoders.encoder import Encoded, Encoder, EncoderFailure, Model, Record
from rexrank.encoders.inventory import BIOLORD, RATE_NER
from rexrank.encoders.loading import (
    config_in,
    fill,
    on_device,
    padded,
    safetensors_in,
    tokenizer_in,
    transformer_in,
    unfilled,
)
from rexrank.encoders.parts import Parts
from rexrank.encoders.recent import Records
from rexrank.encoders.sentences import sentence_spans
from rexrank.encoders.weights import Located
from rexrank.errors import shown

if TYPE_CHECKING:
    import torch
    from tokenizers import Encoding, Tokenizer

TYPES = ("ABNORMALITY", "NON-ABNORMALITY", "DISEASE", "NON-DISEASE", "ANATOMY")
SENTENCE_TOKENS = 512
ENTITY_TOKENS = 30

_FEATURE = "ratescore_entities"
_LEAST_CHARACTERS = 3
_MARKS = ("[CLS]", "[SEP]")
_OUTSIDE, _BEGIN, _INSIDE = "O", "B-", "I-"
_TOKENIZER = "tokenizer.json"
# SentencePiece's token for a space alone, which its tokenizers place on the character behind.
_BLANK = "\u2581"
# So many records are made at once; what their sentences and entities gave is kept for the next ones.
_REPORTS_AT_ONCE = 1000

Vector = NDArray[np.float32]


class Entity(NamedTuple):
    """An entity of a report in the form of the metric: its words, its type and its vector, [d]."""

    text: str
    type: str
    vector: Vector


class Span(NamedTuple):
    """Tokens of a sentence that make an entity.

    Attributes:
        first: The first one.
        last: The last one.
        type: Type of the entity.
        published: Whether the package has it.
    """

    first: int
    last: int
    type: str
    published: bool


class _Mention(NamedTuple):
    """An entity of a sentence.

    Attributes:
        name: What BioLORD reads.
        type: Place of its type in `TYPES`.
        begin: Its first character in the sentence.
        end: The one behind its last.
        published: Whether the package has it.
    """

    name: str
    type: int
    begin: int
    end: int
    published: bool


class _Sentence(NamedTuple):
    mentions: list[_Mention]
    is_cut: bool


class _Embedded(NamedTuple):
    vector: Vector
    is_cut: bool


class _Place(NamedTuple):
    sentence: str
    begin: int


def spans_of(labels: Sequence[str], marks: Container[int]) -> list[Span]:
    """The entities that the labels of a sentence say, as the package reads them.

    A label is looked at together with the one that follows; that of the mark at the end counts like any other.

    Args:
        labels: One a token: O, or B- or I- with a type.
        marks: Places of the tokenizer's marks, where no entity begins or ends.
    """
    found: list[Span] = []
    entity: tuple[int, str] | None = None
    # Whether an entity ended just before: at the end of the sentence the package then forgets this one.
    adjoins = False
    for at, (label, following) in enumerate(pairwise(labels)):
        if at in marks or label == _OUTSIDE:
            continue
        begins, kind = label.startswith(_BEGIN), label[len(_BEGIN) :]
        if following.startswith(_INSIDE):
            entity = (at, kind) if begins else entity
            continue
        if begins:
            found.append(Span(at, at, kind, True))
        elif entity:
            found.append(Span(entity[0], at, entity[1], True))
        entity, adjoins = ((at, kind), True) if following.startswith(_BEGIN) else (None, False)
    if entity and (not adjoins or labels[-1].startswith(_INSIDE)):
        found.append(Span(entity[0], len(labels) - 2, entity[1], not adjoins))
    return found


class _Reader:
    """A model with its tokenizer."""

    def __init__(self, tokenizer: "Tokenizer", module: Any, limit: int, device: str, part: str) -> None:
        self.tokenizer = tokenizer
        self.config = module.config
        self._module = module
        self._pad = self.config.pad_token_id or 0
        self._limit = limit
        self._device = device
        self.parts = Parts(part)

    def tokens(self, texts: Sequence[str]) -> "tuple[list[Encoding], list[list[int]]]":
        """Encodings of texts, and the ids that are read: of too many all but the last before the mark at the end."""
        encodings = self.tokenizer.encode_batch(texts)
        ids = [encoding.ids for encoding in encodings]
        return encodings, [one if len(one) <= self._limit else [*one[: self._limit - 1], one[-1]] for one in ids]

    def run(
        self, rows: Sequence[list[int]], take: "Callable[[Any], torch.Tensor]", per_token: bool = False
    ) -> Iterator[tuple[int, NDArray[Any] | None]]:
        """Run rows of ids in batches.

        Args:
            rows: Ids of the tokens of each text.
            take: Takes the model's output and gives the wanted tensor, [rows, …].
            per_token: Whether that is [rows, tokens, labels]; of each token, the place of the largest is given.

        Yields:
            Number of a row and what it gave; None where the memory does not suffice, or for numbers that are none.
        """

        def made(new: list[list[int]]) -> Iterator[tuple[int, NDArray[Any] | None]]:
            return in_batches(new, list(map(len, new)), partial(self._batch, take, per_token), budget_of(self._device))

        return self.parts.outputs(rows, made)

    def _batch(
        self, take: "Callable[[Any], torch.Tensor]", per_token: bool, rows: list[list[int]]
    ) -> list[NDArray[Any] | None]:
        import torch

        ids, mask = padded(rows, self._pad, self._device)
        with torch.inference_mode():
            taken = take(self._module(input_ids=ids, attention_mask=mask)).cpu().numpy()
        parts = [part[: len(row)] if per_token else part for row, part in zip(rows, taken, strict=True)]
        return [self._output(part, per_token) if np.isfinite(part).all() else None for part in parts]

    @staticmethod
    def _output(part: NDArray[Any], per_token: bool) -> NDArray[Any]:
        # A copy, so that a row that is kept does not keep its batch.
        return part.argmax(axis=-1).astype(np.int16) if per_token else part.copy()


class RateScore(Model):
    """RaTE-NER and BioLORD in memory.

    A record holds of m entities ``types``, int8 [m], places in `TYPES`; ``vectors``, float32 [m, d]; ``published``,
    bool [m], whether the package has them; ``places``, int32 [m, 2], where they begin and end in the report. Further
    ``n_truncated``, sentences cut at `SENTENCE_TOKENS`, and ``n_truncated_entities``, entities cut at `ENTITY_TOKENS`.
    """

    def __init__(self, finder: _Reader, labels: Sequence[str], embedder: _Reader, dimensions: int) -> None:
        """Take the filled parts.

        Args:
            finder: RaTE-NER.
            labels: Its labels, in order.
            embedder: BioLORD.
            dimensions: Numbers of its vectors.
        """
        self._finder = finder
        self._labels = labels
        self._embedder = embedder
        self._dimensions = dimensions

    def keep_parts_in(self, records: Records, shelf: str) -> None:
        """Keep the labels of sentences and the vectors of entities; see `Model.keep_parts_in`."""
        for reader in (self._finder, self._embedder):
            reader.parts.keep_in(records, shelf)

    def encode(self, texts: Sequence[str]) -> Iterator[Encoded]:
        """Encode texts; see `Model.encode`."""
        sentences: dict[str, _Sentence | None] = {}
        entities: dict[str, _Embedded | None] = {}
        vectors: dict[tuple[int, ...], Vector | None] = {}
        for start in range(0, len(texts), _REPORTS_AT_ONCE):
            reports = [_places(text) for text in texts[start : start + _REPORTS_AT_ONCE]]
            asked = dict.fromkeys(place.sentence for report in reports for place in report)
            sentences.update(self._found([one for one in asked if one not in sentences]))
            known = [found for one in asked if (found := sentences[one])]
            names = dict.fromkeys(mention.name for found in known for mention in found.mentions)
            entities.update(self._embedded([name for name in names if name not in entities], vectors))
            for number, report in enumerate(reports, start):
                yield number, self._record(report, sentences, entities)

    def _found(self, texts: Sequence[str]) -> Iterator[tuple[str, _Sentence | None]]:
        """The entities of sentences; None where the model gave nothing."""
        encodings, rows = self._finder.tokens(texts)
        for number, labels in self._finder.run(rows, lambda output: output.logits, True):
            row = rows[number]
            yield texts[number], None if labels is None else self._sentence(encodings[number], row, labels)

    def _sentence(self, encoding: "Encoding", ids: list[int], labels: NDArray[Any]) -> _Sentence:
        tokenizer = self._finder.tokenizer
        tokens = [tokenizer.id_to_token(one) for one in ids]
        marks = {at for at, token in enumerate(tokens) if token in _MARKS}
        mentions = []
        for span in spans_of([self._labels[label] for label in labels], marks):
            own = range(span.first, span.last + 1)
            name = tokenizer.decoder.decode([tokens[at] for at in own])
            written = [encoding.offsets[at] for at in own if tokens[at] != _BLANK] or [(0, 0)]
            mentions.append(
                _Mention(name, TYPES.index(span.type), written[0][0], written[-1][1], published=span.published)
            )
        return _Sentence(mentions, len(encoding.ids) > len(ids))

    def _embedded(
        self, names: Sequence[str], vectors: dict[tuple[int, ...], Vector | None]
    ) -> Iterator[tuple[str, _Embedded | None]]:
        """The vectors of entities; None where the model gave nothing.

        Args:
            names: What BioLORD reads.
            vectors: By ids of tokens, filled here: names of the same ids have the very same, and are equally similar.
        """
        encodings, rows = self._embedder.tokens(names)
        new = [list(ids) for ids in dict.fromkeys(map(tuple, rows)) if ids not in vectors]
        for number, vector in self._embedder.run(new, lambda output: output.last_hidden_state[:, 0]):
            vectors[tuple(new[number])] = vector
        for name, encoding, row in zip(names, encodings, rows, strict=True):
            vector = vectors[tuple(row)]
            yield name, None if vector is None else _Embedded(vector, len(encoding.ids) > len(row))

    def _record(
        self,
        report: Sequence[_Place],
        sentences: Mapping[str, _Sentence | None],
        entities: Mapping[str, _Embedded | None],
    ) -> Record | None:
        """Put a report together; None where one of its sentences or entities failed."""
        found: list[tuple[_Mention, int, bool]] = []
        n_truncated = 0
        for sentence, begin in report:
            known = sentences[sentence]
            if known is None:
                return None
            n_truncated += known.is_cut
            kept = len(sentence) >= _LEAST_CHARACTERS
            found += [(mention, begin, kept and mention.published) for mention in known.mentions]
        embedded = [one for mention, _, _ in found if (one := entities[mention.name])]
        if len(embedded) < len(found):
            return None
        places = [(begin + mention.begin, begin + mention.end) for mention, begin, _ in found]
        vectors = [one.vector for one in embedded]
        return {
            "types": np.array([mention.type for mention, _, _ in found], dtype=np.int8),
            "vectors": np.array(vectors, dtype=np.float32).reshape(-1, self._dimensions),
            "published": np.array([published for _, _, published in found], dtype=np.bool_),
            "places": np.array(places, dtype=np.int32).reshape(-1, 2),
            "n_truncated": np.array(n_truncated),
            "n_truncated_entities": np.array(sum(one.is_cut for one in embedded)),
        }


def _readable(text: str) -> str:
    """A text without halves of surrogate pairs, at which tokenizers fail."""
    return text.encode("utf-8", "ignore").decode()


def _places(text: str) -> list[_Place]:
    report = _readable(text)
    return [_Place(report[begin:end], begin) for begin, end in sentence_spans(report)]


def _entities(record: Record, text: str, published: bool) -> Any:
    """The entities of a report; those that the package loses only where it is not followed."""
    report = _readable(text)
    return [
        Entity(" ".join(report[begin:end].split()), TYPES[kind], vector)
        for kind, vector, (begin, end), kept in zip(
            record["types"], record["vectors"], record["places"], record["published"], strict=True
        )
        if kept or not published
    ]


def _load(located: Sequence[Located], device: str) -> RateScore:
    finding, embedding = located
    finder = _reader(finding, _finder_in(finding), SENTENCE_TOKENS, device, "sentences")
    embedder = _reader(embedding, transformer_in(embedding), ENTITY_TOKENS, device, "entities")
    return RateScore(finder, _labels_of(finder.config, finding), embedder, embedder.config.hidden_size)


def _finder_in(located: Located) -> Any:
    """Build RaTE-NER."""
    import torch
    from transformers import AutoModelForTokenClassification

    repo = located.checkpoint.repo
    config = config_in(located)
    try:
        with unfilled():
            module = AutoModelForTokenClassification.from_config(config, dtype=torch.float32, trust_remote_code=False)
    except Exception as error:
        raise EncoderFailure(f"{repo}/config.json describes no model ({type(error).__name__})") from None
    fill(module, safetensors_in(located), f"{repo}/model.safetensors")
    return module.float().eval().requires_grad_(False)


def _labels_of(config: Any, located: Located) -> list[str]:
    labels = [config.id2label[number] for number in sorted(config.id2label)]
    for label in labels:
        if label != _OUTSIDE and not (label[:2] in (_BEGIN, _INSIDE) and label[2:] in TYPES):
            raise EncoderFailure(
                f"{located.checkpoint.repo}/config.json names a label {shown(label)}, and RaTEScore has none such; get "
                "the published file"
            )
    return labels


def _reader(located: Located, module: Any, limit: int, device: str, part: str) -> _Reader:
    repo = located.checkpoint.repo
    tokenizer = _tokenizer_in(located)
    if tokenizer.get_vocab_size() > module.get_input_embeddings().num_embeddings:
        raise EncoderFailure(f"{repo}: its tokenizer knows more tokens than its model, so they do not belong together")
    return _Reader(tokenizer, on_device(module, device, repo), limit, device, part)


def _tokenizer_in(located: Located) -> "Tokenizer":
    """The tokenizer as its file says; the classes of transformers 5 put another one in place of some."""
    from tokenizers import Tokenizer

    repo = located.checkpoint.repo
    if _TOKENIZER not in located.files:
        tokenizer = getattr(tokenizer_in(located), "backend_tokenizer", None)
        if tokenizer is None:
            raise EncoderFailure(f"{repo} holds no {_TOKENIZER}; get the published file")
    else:
        try:
            tokenizer = Tokenizer.from_file(str(located.files[_TOKENIZER]))
        except Exception as error:
            raise EncoderFailure(f"{repo}/{_TOKENIZER} is not readable ({type(error).__name__})") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


_PUBLISHED = Encoder(
    name="ratescore",
    label="RaTE-NER and BioLORD",
    version="2",
    checkpoints=(RATE_NER, BIOLORD),
    features={_FEATURE: partial(_entities, published=True)},
    load=_load,
    signature={"enc": "rate-ner+biolord", "max": f"{SENTENCE_TOKENS}+{ENTITY_TOKENS}", "split": "builtin"},
    counts=("n_truncated", "n_truncated_entities"),
)
_CORRECTED = replace(_PUBLISHED, features={_FEATURE: partial(_entities, published=False)})
ENCODERS = (_PUBLISHED,)


def find(feature: str, options: Mapping[str, Any]) -> Encoder | None:
    """The encoder of a feature, or None.

    Args:
        feature: ``ratescore_entities``.
        options: ``convention``: that of the score, ``published`` where none is given. Both share their records.
    """
    if feature != _FEATURE:
        return None
    return _CORRECTED if options.get("convention") == "corrected" else _PUBLISHED
