"""RaTE-NER and BioLORD on seeded weights: entities from labels, records, limits, both conventions, wrong files."""

import hashlib
import itertools
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rexrank.encoders import find
from rexrank.encoders import ratescore as module
from rexrank.encoders.encoder import Encoder, EncoderFailure, Model, Record
from rexrank.encoders.ratescore import ENCODERS, TYPES, Entity, RateScore, spans_of
from rexrank.encoders.sentences import split
from rexrank.encoders.weights import Weights
from rexrank.metrics import compute
from rexrank.scoring.encoding import EncoderSettings, Encoding
from rexrank.terms import Convention
from rexrank.verification.reports import REPORTS

torch = pytest.importorskip("torch")

TEXTS = list(dict.fromkeys(REPORTS))[:60]
LABELS = ("O", "B-ANATOMY", "B-DISEASE", "I-ANATOMY", "I-DISEASE")
# Of the package's own function on the same labels.
PUBLISHED_SPANS = "a5a33b7c3c3f4bbf19f2a46dedaaf4760df52683453e6629982bf8f9daac57b9"


def spans(labels: str) -> list[tuple[int, int, str, bool]]:
    """Spans of labels in short, a letter a token: upper case begins, lower case goes on; types A, D and O for none."""
    names = {"A": "B-ANATOMY", "a": "I-ANATOMY", "D": "B-DISEASE", "d": "I-DISEASE", "-": "O"}
    return [tuple(span) for span in spans_of([names[one] for one in labels], {0, len(labels) - 1})]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("----", []),
        ("-A--", [(1, 1, "ANATOMY", True)]),
        ("-Aa--", [(1, 2, "ANATOMY", True)]),
        # The type is that of the first token, whatever the others say.
        ("-Ad--", [(1, 2, "ANATOMY", True)]),
        ("-AD--", [(1, 1, "ANATOMY", True), (2, 2, "DISEASE", True)]),
        ("-Aad-Dd--", [(1, 3, "ANATOMY", True), (5, 6, "DISEASE", True)]),
        # What goes on without a beginning is nothing.
        ("-aa-D--", [(4, 4, "DISEASE", True)]),
        # The label of the mark at the end counts. What it leaves open is an entity all the same,
        ("-Aaa", [(1, 2, "ANATOMY", True)]),
        ("-A-Aaa", [(1, 1, "ANATOMY", True), (3, 4, "ANATOMY", True)]),
        # but the package forgets it where another one ended just before.
        ("-DAaa", [(1, 1, "DISEASE", True), (2, 3, "ANATOMY", False)]),
        ("-DdAaa", [(1, 2, "DISEASE", True), (3, 4, "ANATOMY", False)]),
        ("-DdAA", [(1, 2, "DISEASE", True), (3, 3, "ANATOMY", True)]),
        ("-AaD", [(1, 2, "ANATOMY", True)]),
    ],
)
def test_entities_of_labels(labels: str, expected: list[tuple[int, int, str, bool]]) -> None:
    assert spans(labels) == expected


def test_the_package_reads_all_labels_of_short_sentences_alike() -> None:
    digest = hashlib.sha256()
    for length in range(1, 6):
        for rest in itertools.product(LABELS, repeat=length + 1):
            found = [span[:3] for span in spans_of(["O", *rest], {0, length + 1}) if span.published]
            digest.update(json.dumps(found).encode())
    assert digest.hexdigest() == PUBLISHED_SPANS


@pytest.fixture(scope="module")
def weights(seeded_weights: Path) -> Weights:
    return Weights(seeded_weights, download=False)


def load(weights: Weights, encoder: Encoder = ENCODERS[0]) -> RateScore:
    model = encoder.load(encoder.locate(weights), "cpu")
    assert isinstance(model, RateScore)
    return model


@pytest.fixture(scope="module")
def model(weights: Weights) -> RateScore:
    return load(weights)


def encoded(model: Model, texts: Sequence[str]) -> list[Record]:
    records = dict(model.encode(texts))
    assert sorted(records) == list(range(len(texts)))
    found = [record for _, record in sorted(records.items()) if record is not None]
    assert len(found) == len(texts)
    return found


@pytest.fixture(scope="module")
def records(model: RateScore) -> list[Record]:
    return encoded(model, TEXTS)


def items(record: Record, text: str, convention: Convention = "published") -> list[Entity]:
    encoder = find("ratescore_entities", {"convention": convention})
    assert encoder is not None
    made: list[Entity] = encoder.features["ratescore_entities"](record, text)
    return made


def test_records_are_numbers_of_every_kind(records: list[Record]) -> None:
    for record in records:
        assert {name: array.dtype.name for name, array in record.items()} == {
            "types": "int8",
            "vectors": "float32",
            "published": "bool",
            "places": "int32",
            "n_truncated": "int64",
            "n_truncated_entities": "int64",
        }
        assert len(record["types"]) == len(record["vectors"]) == len(record["published"]) == len(record["places"])
    assert {TYPES[kind] for record in records for kind in record["types"]} == set(TYPES)


def test_an_entity_stands_in_its_report(records: list[Record]) -> None:
    for text, record in zip(TEXTS, records, strict=True):
        found = items(record, text, "corrected")
        assert [TYPES.index(entity.type) for entity in found] == record["types"].tolist()
        words = "".join(text.split())
        assert all("".join(entity.text.split()) in words for entity in found)
        assert all((entity.vector == vector).all() for entity, vector in zip(found, record["vectors"], strict=True))
    names = {entity.text for text, record in zip(TEXTS, records, strict=True) for entity in items(record, text)}
    assert sum(" " in name for name in names) > 10


def test_a_report_does_not_depend_on_its_neighbours(model: RateScore, records: list[Record]) -> None:
    for position in range(0, len(TEXTS), 5):
        (alone,) = encoded(model, [TEXTS[position]])
        together = records[position]
        for name in ("types", "published", "places", "n_truncated", "n_truncated_entities"):
            np.testing.assert_array_equal(alone[name], together[name])
        np.testing.assert_allclose(alone["vectors"], together["vectors"], atol=1e-5)


def test_reports_in_parts_are_those_of_one_call(
    model: RateScore, records: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_REPORTS_AT_ONCE", 7)
    for one, other in zip(encoded(model, TEXTS), records, strict=True):
        np.testing.assert_array_equal(one["types"], other["types"])
        np.testing.assert_allclose(one["vectors"], other["vectors"], atol=1e-5)


def rows_of(model: RateScore, texts: Sequence[str], part: str) -> int:
    """Rows that a part of the model reads for texts."""
    count = 0

    def add(module: Any, arguments: Any, named: dict[str, Any]) -> None:
        nonlocal count
        count += len(named["input_ids"])

    hook = getattr(model, part)._module.register_forward_pre_hook(add, with_kwargs=True)
    try:
        encoded(model, texts)
    finally:
        hook.remove()
    return count


def test_each_sentence_and_each_entity_is_read_once(model: RateScore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_REPORTS_AT_ONCE", 7)
    once = TEXTS[40:52]
    twice = [*once, *(f"No acute disease. {text}" for text in once)]
    assert rows_of(model, twice, "_finder") == len({sentence for text in twice for sentence in split(text)})
    assert rows_of(model, twice, "_embedder") <= rows_of(model, once, "_embedder") + 10


def test_names_of_the_same_tokens_have_the_very_same_vector(model: RateScore) -> None:
    vectors: dict[tuple[int, ...], Any] = {}
    names = ["effusion", "small pleural effusion on the left", "Effusion", " effusion "]
    found = dict(model._embedded(names[:2], vectors)) | dict(model._embedded(names[2:], vectors))
    one, _, *others = (found[name] for name in names)
    assert one
    assert all(other and (other.vector == one.vector).all() for other in others)


@pytest.mark.parametrize("text", ["", "  \n\t", "\ud800", "\u200b"])
def test_a_report_without_words(model: RateScore, text: str) -> None:
    (record,) = encoded(model, [text])
    assert record["vectors"].shape == (len(record["types"]), 32)
    assert len(items(record, text)) == record["published"].sum()


def test_halves_of_surrogate_pairs_are_left_out(model: RateScore) -> None:
    whole, broken = encoded(model, ["No effusion. Scar.", "No eff\udc80usion. Scar."])
    np.testing.assert_array_equal(whole["places"], broken["places"])
    assert [one.text for one in items(broken, "No eff\udc80usion. Scar.", "corrected")] == [
        one.text for one in items(whole, "No effusion. Scar.", "corrected")
    ]


def test_long_sentences_and_entities_are_cut_and_counted(model: RateScore, records: list[Record]) -> None:
    sentence = "no " + "edema and " * 300
    texts = ["No effusion.", f"{sentence}.", f"{sentence}. The end. Of {sentence}. No edema."]
    assert [record["n_truncated"] for record in encoded(model, texts)] == [0, 1, 2]
    tokens, rows = model._embedder.tokens(["lung " * 28, "lung " * 29])
    assert [len(one.ids) for one in tokens] == [30, 31]
    assert [len(row) for row in rows] == [30, 30]
    assert rows[0] == rows[1]
    found = dict(model._embedded(["lung " * 28, "lung " * 29], {}))
    assert [one.is_cut for one in found.values() if one] == [False, True]


def test_the_limit_of_a_sentence_is_512_tokens(model: RateScore) -> None:
    tokens, rows = model._finder.tokens(["a " * 600])
    assert len(tokens[0].ids) > 600
    assert len(rows[0]) == 512
    assert rows[0][-1] == tokens[0].ids[-1]
    assert rows[0][:-1] == tokens[0].ids[:511]


def test_short_sentences_count_in_corrected_alone(model: RateScore) -> None:
    reports = [f"Lungs are clear.\n\n{short}\n\nHeart is normal." for short in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    found = encoded(model, reports)
    begin, end = reports[0].index("A"), reports[0].index("A") + 1
    assert split(reports[0])[1] == "A"
    inside = [(record["places"][:, 0] >= begin) & (record["places"][:, 1] <= end) for record in found]
    assert any(marks.any() for marks in inside)
    assert not any((record["published"] & marks).any() for record, marks in zip(found, inside, strict=True))


def test_corrected_keeps_what_the_package_loses(records: list[Record]) -> None:
    lost = 0
    for text, record in zip(TEXTS, records, strict=True):
        published, corrected = items(record, text), items(record, text, "corrected")
        lost += len(corrected) - len(published)
        kept = [entity for entity, counts in zip(corrected, record["published"], strict=True) if counts]
        assert [entity[:2] for entity in kept] == [entity[:2] for entity in published]
    assert lost > 0


def test_both_conventions_share_their_records() -> None:
    published, corrected, neither = (
        find("ratescore_entities", {"convention": one}) for one in ("published", "corrected", None)
    )
    assert published
    assert corrected
    assert neither is published is ENCODERS[0]
    assert (published.name, published.version, published.load) == (corrected.name, corrected.version, corrected.load)
    assert module.find("chexbert_labels", {}) is None


def test_scores_of_both_conventions(seeded_weights: Path, tmp_path: Path) -> None:
    predictions, references = TEXTS[20:40], TEXTS[21:41]
    found: dict[str, Any] = {}
    for convention in ("published", "corrected"):
        settings = EncoderSettings(weights=seeded_weights, cache_dir=tmp_path, download=False)
        with Encoding(predictions, references, convention, settings) as encoding:
            features = encoding.features("ratescore", {})
            found[convention] = compute("ratescore", predictions, references, convention, features=features)[
                "ratescore"
            ]
    for scores in found.values():
        assert "|enc:rate-ner+biolord|max:512+30|split:builtin|" in scores.signature
    assert (found["published"].values != found["corrected"].values).any()


@pytest.fixture
def copied(seeded_weights: Path, tmp_path: Path) -> Path:
    for repo in ("Angelakeke/RaTE-NER-Deberta", "FremyCompany/BioLORD-2023-C"):
        shutil.copytree(seeded_weights / repo, tmp_path / repo)
    return tmp_path


def rewrite(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


def faults() -> Iterator[tuple[str, dict[str, Any], str]]:
    finder, embedder = "Angelakeke/RaTE-NER-Deberta", "FremyCompany/BioLORD-2023-C"
    labels = {str(number): name for number, name in enumerate(("O", "B-PERSON", *"ABCDEFGHI"))}
    yield finder, {"id2label": labels}, 'names a label "B-PERSON"'
    yield finder, {"vocab_size": 7}, "has the shape"
    yield finder, {"num_hidden_layers": 3}, "lacks the tensor"
    yield finder, {"model_type": "nothing"}, "config.json is not usable"
    yield embedder, {"num_hidden_layers": 1}, "has a tensor"
    yield embedder, {"hidden_size": 31}, "config.json describes no model"


@pytest.mark.parametrize(("repo", "changes", "sentence"), list(faults()))
def test_another_configuration_is_refused(copied: Path, repo: str, changes: dict[str, Any], sentence: str) -> None:
    rewrite(copied / repo / "config.json", **changes)
    with pytest.raises(EncoderFailure, match=sentence) as caught:
        load(Weights(copied, download=False))
    assert repo in str(caught.value)


@pytest.mark.parametrize("repo", ["Angelakeke/RaTE-NER-Deberta", "FremyCompany/BioLORD-2023-C"])
def test_another_tokenizer_is_refused(copied: Path, repo: str) -> None:
    tokenizer = copied / repo / "tokenizer.json"
    tokenizer.write_text("{}", encoding="utf-8")
    with pytest.raises(EncoderFailure, match=f"{repo}/tokenizer.json is not readable"):
        load(Weights(copied, download=False))


def test_a_sentence_without_memory_fails_its_report_alone(weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    own = load(weights)
    forward = own._finder._module.forward

    def failing(input_ids: Any, attention_mask: Any) -> Any:
        if input_ids.shape[1] > 60:
            raise RuntimeError("out of memory")
        return forward(input_ids=input_ids, attention_mask=attention_mask)

    monkeypatch.setattr(own._finder._module, "forward", failing)
    found = dict(own.encode(["No effusion.", "pleural effusion " * 60, "Scar."]))
    assert found[1] is None
    assert found[0] is not None
    assert found[2] is not None


def test_vectors_that_are_no_numbers_fail_their_reports(weights: Weights) -> None:
    own = load(weights)
    with torch.no_grad():
        own._embedder._module.get_input_embeddings().weight.fill_(float("nan"))
    found = dict(own.encode(TEXTS[20:30]))
    assert any(record is None for record in found.values())
    assert all(record is None or len(record["types"]) == 0 for record in found.values())
