"""Inference of DyGIE++ over many reports at once: entities in the spans of a report, and relations between them.

Wadden et al., EMNLP 2019; github.com/dwadden/dygiepp as radgraph 0.1.18 runs it, to which a report is one sentence. A
word is the mean of its pieces, a span [first word; last word; vector of its width]. Each span is scored for every label
of an entity, with 0 for none. Half as many spans as there are words, the best by a score of their own, are paired for
relations: [a; b; a∘b] is scored for every type, plus the scores of both spans, with 0 for none.

Here the words of all reports of a batch stand in one table, so nothing is padded but what the encoder reads. The first
layer of a network is linear in the parts of a span, so each word goes through it once and not with each of its spans.
Only pairs of entities are scored for relations, since no other reaches the graph.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rexrank.encoders.loading import padded
from rexrank.encoders.radgraph_archive import Settings
from rexrank.encoders.radgraph_pieces import Integers, Layout

if TYPE_CHECKING:
    import torch
    from torch import Tensor

BACKBONE = "_embedder.token_embedder_bert._matched_embedder.transformer_model"
# Parts of the original that do not reach the graph.
UNUSED = ("_coref.", "_events.", f"{BACKBONE}.pooler.")
_WIDTHS = "_endpoint_span_extractor._span_width_embedding"
# Pairs that are scored at a time; more leave a processor's caches.
_PAIRS = 2048


class Graph(NamedTuple):
    """Entities and relations of a report.

    Attributes:
        spans: First and last word of each entity, int32 [entities, 2], by the first and then by the last.
        labels: Number of each one's label, int16 [entities].
        relations: Number of an entity, of another or the same, and of the type, int32 [relations, 3], by the entities.
    """

    spans: NDArray[np.int32]
    labels: NDArray[np.int16]
    relations: NDArray[np.int32]


EMPTY = Graph(np.zeros((0, 2), np.int32), np.zeros(0, np.int16), np.zeros((0, 3), np.int32))


class _Network(NamedTuple):
    """The layers of a network behind its first, as weight and bias; before each is a ReLU, and the last one scores."""

    layers: "list[tuple[Tensor, Tensor]]"

    def __call__(self, values: "Tensor") -> "Tensor":
        """Scores [n, scores] from what the first layer gave, [n, width], which is overwritten."""
        from torch.nn.functional import linear

        for weight, bias in self.layers:
            values = linear(values.relu_(), weight, bias)
        return values


class _Spans(NamedTuple):
    """The spans of all reports of a batch.

    Attributes:
        first: First word of each, by its number in the batch, int64 [spans].
        last: Last word of each.
        words: For each report where its words begin, and after the last one where they end, int64 [reports + 1].
        bounds: The same of its spans.
    """

    first: Integers
    last: Integers
    words: Integers
    bounds: Integers


def module_of(backbone: "torch.nn.Module", settings: Settings) -> "torch.nn.Module":
    """All parts that reach the graph, unfilled, under the names that they have in the archive.

    Args:
        backbone: The encoder, without pooler.
        settings: Of the archive.
    """
    import torch

    root = torch.nn.Module()
    _put(root, BACKBONE, backbone)
    _put(root, _WIDTHS, torch.nn.Embedding(settings.span_width, settings.feature_size))
    span = 2 * _hidden_size(backbone) + settings.feature_size
    ends = ((span, len(settings.labels)), (span, 1), (3 * span, len(settings.types)))
    for names, (inputs, outputs) in zip(_networks(settings), ends, strict=True):
        for name, size in zip(names, pairwise((inputs, *settings.inner, outputs)), strict=True):
            _put(root, name, torch.nn.Linear(*size))
    return root


def _put(root: "torch.nn.Module", path: str, part: "torch.nn.Module") -> None:
    import torch

    *folders, name = path.split(".")
    for folder in folders:
        if not hasattr(root, folder):
            root.add_module(folder, torch.nn.Module())
        root = root.get_submodule(folder)
    root.add_module(name, part)


def _networks(settings: Settings) -> tuple[list[str], list[str], list[str]]:
    """Names of the layers that score a span for labels, a span for being paired, and a pair for types."""
    ner = f"_ner._ner_scorers.{settings.ner}"
    mention = f"_relation._mention_pruners.{settings.relation}._scorer"
    inner = [f"_linear_layers.{number}" for number in range(len(settings.inner))]
    return (
        [*(f"{ner}.0._module.{layer}" for layer in inner), f"{ner}.1._module"],
        [*(f"{mention}.0._module.{layer}" for layer in inner), f"{mention}.1._module"],
        [
            *(f"_relation._relation_feedforwards.{settings.relation}.{layer}" for layer in inner),
            f"_relation._relation_scorers.{settings.relation}",
        ],
    )


def _hidden_size(backbone: Any) -> int:
    return int(backbone.config.hidden_size)


class Dygie:
    """A model in memory."""

    def __init__(self, module: "torch.nn.Module", settings: Settings, pad_id: int, device: str) -> None:
        """Take a model apart.

        Args:
            module: As `module_of` makes it; filled, in evaluation mode, on the device.
            settings: Of its archive.
            pad_id: Id of the padding token.
            device: Torch device.
        """
        import torch

        self._backbone: Any = module.get_submodule(BACKBONE)
        self._settings = settings
        self._pad_id = pad_id
        self._device = device
        ner, mention, relation = ([_weights(module, name) for name in names] for names in _networks(settings))
        self._ner, self._mention, self._relation = (_Network(layers[1:]) for layers in (ner, mention, relation))
        self._width_vectors = module.get_parameter(f"{_WIDTHS}.weight")
        self._hidden = _hidden_size(self._backbone)
        weight, bias = (torch.cat(both) for both in zip(ner[0], mention[0], strict=True))
        of_first, of_last, of_width = weight.split([self._hidden, self._hidden, settings.feature_size], dim=1)
        self._of_word = torch.cat([of_first, of_last])
        self._of_width = self._width_vectors @ of_width.T + bias
        pair, self._pair_bias = relation[0]
        self._of_head, self._of_tail, self._of_product = (part.contiguous() for part in pair.chunk(3, dim=1))

    def graphs(self, reports: Sequence[Layout]) -> list[Graph | None]:
        """Graphs of reports, each of which has words; None where the model gives what is no number."""
        import torch

        spans = _spans([len(report.lengths) for report in reports], self._settings.span_width)
        with torch.inference_mode():
            words = self._words(reports)
            labels, mention = self._scored(words, spans)
            found = labels.cpu().numpy()
            paired = self._paired(mention.cpu(), found, spans)
            types = self._types(words, mention, spans, paired)
        return [
            _graph(found, spans, report, chosen, kinds)
            for report, (chosen, kinds) in enumerate(zip(paired, types, strict=True))
        ]

    def _words(self, reports: Sequence[Layout]) -> "Tensor":
        """Vectors of the words of all reports, [words, hidden]; zero for a word without pieces."""
        import torch
        from torch.nn.functional import embedding_bag

        rows = [row for report in reports for row in report.rows]
        lengths = np.concatenate([report.lengths for report in reports])
        if not rows:
            return torch.zeros(len(lengths), self._hidden, device=self._device)
        states, begins = self._states(rows)
        places = self._on_device(_places(reports, begins, self._settings.max_length))
        return embedding_bag(places, states, self._on_device(np.cumsum(lengths) - lengths), mode="mean")

    def _states(self, rows: Sequence[Sequence[int]]) -> "tuple[Tensor, Integers]":
        """Last hidden states of all rows one after another, [tokens, hidden], and where each row begins.

        The last row of a long report is not padded to the length of those before it.
        """
        import torch

        states: list[Tensor] = []
        begins = np.zeros(len(rows), np.int64)
        for full in (True, False):
            group = [number for number, row in enumerate(rows) if (len(row) == self._settings.max_length) is full]
            if group:
                ids, mask = padded([rows[number] for number in group], self._pad_id, self._device)
                begins[group] = sum(len(one) for one in states) + np.arange(len(group)) * ids.shape[1]
                states.append(self._backbone(input_ids=ids, attention_mask=mask).last_hidden_state.flatten(0, 1))
        return torch.cat(states), begins

    def _scored(self, words: "Tensor", spans: _Spans) -> "tuple[Tensor, Tensor]":
        """Label of each span, int64 [spans], as `_best`, and its score for being paired, float [spans]."""
        of_first, of_last = (words @ self._of_word.T).chunk(2, dim=1)
        first, last = self._on_device(spans.first), self._on_device(spans.last)
        inner = of_first[first].add_(of_last[last]).add_(self._of_width[last - first])
        ner, mention = inner.chunk(2, dim=1)
        scores = self._mention(mention).squeeze(1)
        return _best(self._ner(ner)).masked_fill(scores.isnan(), -1), scores

    def _paired(self, mention: "Tensor", labels: Integers, spans: _Spans) -> list[Integers]:
        """Those spans of each report that are entities and among the best for relations."""
        numbers = np.diff(spans.words).astype(np.float32) * np.float32(self._settings.spans_per_word)
        chosen = []
        for number, (start, end) in zip(np.ceil(numbers), pairwise(spans.bounds), strict=True):
            best = mention[start:end].topk(min(int(number), end - start)).indices.sort().values.numpy() + start
            chosen.append(best[labels[best] > 0])
        return chosen

    def _types(self, words: "Tensor", mention: "Tensor", spans: _Spans, paired: list[Integers]) -> list[Integers]:
        """Types of the relations within each report, int64 [paired, paired], 0 for none."""
        import torch

        sizes = [len(one) for one in paired]
        if not any(sizes):
            return [np.zeros((0, 0), np.int64)] * len(paired)
        chosen = np.concatenate(paired)
        first, last = self._on_device(spans.first[chosen]), self._on_device(spans.last[chosen])
        vectors = torch.cat([words[first], words[last], self._width_vectors[last - first]], dim=1)
        scores = mention[self._on_device(chosen)]
        heads = (vectors @ self._of_head.T).add_(self._pair_bias)
        tails = vectors @ self._of_tail.T
        parts = zip(*(table.split(sizes) for table in (vectors, heads, tails, scores)), strict=True)
        found = torch.cat([types for part in parts for types in self._types_within(*part)]).cpu().numpy()
        bounds = np.cumsum([size * size for size in sizes])[:-1]
        return [kinds.reshape(size, size) for kinds, size in zip(np.split(found, bounds), sizes, strict=True)]

    def _types_within(
        self, vectors: "Tensor", heads: "Tensor", tails: "Tensor", scores: "Tensor"
    ) -> "Iterator[Tensor]":
        """Types of the relations of one report, some heads at a time."""
        from torch.nn.functional import linear

        step = max(1, _PAIRS // max(1, len(vectors)))
        for start in range(0, len(vectors), step):
            some = slice(start, start + step)
            products = linear(vectors[some, None] * vectors, self._of_product)
            inner = products.add_(heads[some, None]).add_(tails)
            types = self._relation(inner.flatten(0, 1))
            yield _best(types.add_((scores[some, None] + scores).flatten()[:, None]))

    def _on_device(self, numbers: Integers) -> "Tensor":
        import torch

        return torch.from_numpy(numbers).to(self._device)


def _weights(module: "torch.nn.Module", name: str) -> "tuple[Tensor, Tensor]":
    return module.get_parameter(f"{name}.weight"), module.get_parameter(f"{name}.bias")


def _best(scores: "Tensor") -> "Tensor":
    """Number from 1 of the largest score, 0 where none is above 0, -1 where one is no number; [n] of [n, scores]."""
    largest, number = scores.max(dim=1)
    return (number + 1) * (largest > 0) - largest.isnan().long()


def _spans(words: Sequence[int], width: int) -> _Spans:
    """Spans of reports by first and then by last word.

    Args:
        words: Number of words of each report.
        width: Most words of a span.
    """
    begins = np.concatenate([[0], np.cumsum(words)])
    left = np.repeat(begins[1:], words) - np.arange(begins[-1])
    spans = np.minimum(left, width)
    bounds = np.concatenate([[0], np.cumsum(spans)])
    first = np.repeat(np.arange(begins[-1]), spans)
    last = first + np.arange(bounds[-1]) - np.repeat(bounds[:-1], spans)
    return _Spans(first, last, begins, bounds[begins])


def _places(reports: Sequence[Layout], begins: Integers, max_length: int) -> Integers:
    """Where the vectors of all pieces stand among the states of a batch.

    Args:
        reports: Of the batch.
        begins: Where each row begins.
        max_length: Most tokens of a row.
    """
    places, before = [], 0
    for report in reports:
        rows, columns = np.divmod(report.places, max_length)
        places.append(begins[before + rows] + columns)
        before += len(report.rows)
    return np.concatenate(places)


def _graph(labels: Integers, spans: _Spans, report: int, paired: Integers, types: Integers) -> Graph | None:
    """Put the graph of one report together; None where a score is no number."""
    start, end = spans.bounds[report : report + 2]
    if (labels[start:end] < 0).any() or (types < 0).any():
        return None
    entities = np.flatnonzero(labels[start:end]) + start
    words = np.stack([spans.first[entities], spans.last[entities]], axis=1) - spans.words[report]
    heads, tails = np.nonzero(types)
    numbers = np.searchsorted(entities, paired)
    relations = np.stack([numbers[heads], numbers[tails], types[heads, tails] - 1], axis=1)
    return Graph(words.astype(np.int32), (labels[entities] - 1).astype(np.int16), relations.astype(np.int32))
