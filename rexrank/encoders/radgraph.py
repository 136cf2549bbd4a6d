"""RadGraph: entities and relations of reports, by its first model, by RadGraph-XL and by that on ModernBERT.

Jain et al., NeurIPS Datasets and Benchmarks 2021; Delbrouck et al., Findings of ACL 2024; weights and rules of radgraph
0.1.18 (github.com/Stanford-AIMI/radgraph), whose graphs are equal to these. Case counts as the tokenizer has it, and no
text is cut: what exceeds the encoder's length is encoded in parts (`n_chunked`). A text of white space, on which the
package fails, has a graph without entities.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rexrank.encoders.batching import budget_of, in_batches
from rexrank.encoders.dygie import BACKBONE, EMPTY, UNUSED, Dygie, Graph, module_of
from rexrank.encoders.encoder import Encoded, Encoder, Model, Record
from rexrank.encoders.inventory import RADGRAPH_MODERN, RADGRAPH_V1, RADGRAPH_XL, Checkpoint, tokenizer_of
from rexrank.encoders.loading import body_in, fill, on_device, tokenizer_in
from rexrank.encoders.onednn import pack
from rexrank.encoders.radgraph_archive import (
    Settings,
    folder_of,
    place_of,
    read_settings,
    read_tensors,
    unpacked_by_user,
)
from rexrank.encoders.radgraph_pieces import Pieces, lay_out, marks_of, pieces_of, tokens_in
from rexrank.encoders.radgraph_words import Form, words_of
from rexrank.encoders.weights import Located

if TYPE_CHECKING:
    from rexrank.encoders.weights import Weights


class RadGraph(Model):
    """A model of RadGraph in memory.

    Its records hold what `Graph` does, ``label_names`` and ``type_names``, the names in its vocabularies as bytes of
    UTF-8 with a line break between two, and ``n_chunked``: 1 where the report was encoded in parts, else 0.
    """

    def __init__(self, tokenizer: Any, repo: str, dygie: Dygie, settings: Settings, form: Form, device: str) -> None:
        """Take the filled parts.

        Args:
            tokenizer: Of the encoder.
            repo: Where it is from.
            dygie: On the device.
            settings: Of its archive.
            form: How reports are split into words.
            device: Torch device.
        """
        self._tokenizer = tokenizer
        self._marks = marks_of(tokenizer, repo)
        self._dygie = dygie
        self._max_length = settings.max_length
        self._form = form
        self._names = {"label_names": _packed(settings.labels), "type_names": _packed(settings.types)}
        self._budget = budget_of(device)

    def encode(self, texts: Sequence[str]) -> Iterator[Encoded]:
        """Encode texts; see `Model.encode`."""
        words = [words_of(text, self._form) for text in texts]
        pieces = pieces_of(self._tokenizer, (word for report in words for word in report))
        positions = [position for position, report in enumerate(words) if report]
        reports: list[list[Pieces]] = [[pieces[word] for word in words[position]] for position in positions]
        yield from ((position, self._record(EMPTY, 1)) for position, report in enumerate(words) if not report)
        lengths = [tokens_in(report, self._marks, self._max_length) for report in reports]
        for index, record in in_batches(reports, lengths, self._records, self._budget):
            yield positions[index], record

    def _records(self, batch: list[list[Pieces]]) -> list[Record | None]:
        layouts = [lay_out(report, self._marks, self._max_length) for report in batch]
        graphs = self._dygie.graphs(layouts)
        return [
            None if graph is None else self._record(graph, len(layout.rows))
            for graph, layout in zip(graphs, layouts, strict=True)
        ]

    def _record(self, graph: Graph, rows: int) -> Record:
        return {**graph._asdict(), **self._names, "n_chunked": np.array(int(rows > 1))}


@dataclass(frozen=True)
class RadGraphEncoder(Encoder):
    """A model of RadGraph; its archive says whose configuration and tokenizer belong to it."""

    def locate(self, weights: "Weights") -> list[Located]:
        """Find the archive, or the folder into which the user unpacked it, and the tokenizer; see `Encoder.locate`.

        Raises:
            MissingWeights: One is not here and cannot be fetched.
            EncoderFailure: The archive is damaged, or cannot be unpacked.
        """
        archive = weights.find(unpacked_by_user(self.checkpoints[0])) or weights.locate(self.checkpoints[0])
        backbone = read_settings(folder_of(archive), place_of(archive)).backbone
        return [archive, weights.locate(tokenizer_of(backbone))]


def _load(form: Form) -> Callable[[Sequence[Located], str], RadGraph]:
    def load(located: Sequence[Located], device: str) -> RadGraph:
        archive, texts = located
        folder, where = folder_of(archive), place_of(archive)
        settings = read_settings(folder, where)
        module = module_of(body_in(texts), settings)
        fill(module, read_tensors(folder, where), where, UNUSED)
        on_device(module.float().eval().requires_grad_(False), device, where)
        pack(module.get_submodule(BACKBONE), device)
        tokenizer = tokenizer_in(texts)
        dygie = Dygie(module, settings, tokenizer.pad_token_id, device)
        return RadGraph(tokenizer, texts.checkpoint.repo, dygie, settings, form, device)

    return load


def _packed(names: Sequence[str]) -> Any:
    return np.frombuffer("\n".join(names).encode(), dtype=np.uint8)


def _unpacked(names: Any) -> list[str]:
    return bytes(names).decode().split("\n")


def _item(form: Form) -> Callable[[Record, str], dict[str, Any]]:
    def item(record: Record, text: str) -> dict[str, Any]:
        """The graph as the radgraph package writes it."""
        words, labels, types = words_of(text, form), _unpacked(record["label_names"]), _unpacked(record["type_names"])
        entities = {
            str(number): {
                "tokens": " ".join(words[start : end + 1]),
                "label": labels[label],
                "start_ix": start,
                "end_ix": end,
                "relations": [],
            }
            for number, ((start, end), label) in enumerate(
                zip(record["spans"].tolist(), record["labels"].tolist(), strict=True), start=1
            )
        }
        for head, tail, kind in record["relations"].tolist():
            entities[str(head + 1)]["relations"].append([types[kind], str(tail + 1)])
        return {"text": " ".join(words), "entities": entities}

    return item


def _encoder(name: str, label: str, checkpoint: Checkpoint, form: Form) -> RadGraphEncoder:
    return RadGraphEncoder(
        name=f"radgraph-{name}",
        label=label,
        version="1",
        checkpoints=(checkpoint,),
        features={f"radgraph_{name}_graphs": _item(form)},
        load=_load(form),
        signature={"enc": f"radgraph-{name}"},
        counts=("n_chunked",),
    )


ENCODERS = (
    _encoder("v1", "RadGraph", RADGRAPH_V1, "v1"),
    _encoder("xl", "RadGraph-XL", RADGRAPH_XL, "xl"),
    _encoder("modern", "RadGraph on ModernBERT", RADGRAPH_MODERN, "xl"),
)


def find(feature: str, options: Mapping[str, Any]) -> Encoder | None:
    """The encoder of a feature, or None."""
    return next((encoder for encoder in ENCODERS if feature in encoder.features), None)
