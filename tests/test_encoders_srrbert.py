"""SRR-BERT on seeded weights: cleaning and sentences, labels of whole reports, names, wrong files, both conventions."""

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rexrank.encoders import find, srrbert
from rexrank.encoders.encoder import Encoder, EncoderFailure, Model, Record
from rexrank.encoders.inventory import tokenizer_of
from rexrank.encoders.srr_sentences import sentences
from rexrank.encoders.weights import Weights
from rexrank.metrics import compute
from rexrank.metrics.computation import KeyScores
from rexrank.metrics.srrbert import METRIC
from rexrank.scoring.encoding import EncoderSettings, Encoding
from rexrank.terms import CONVENTIONS, Convention
from rexrank.verification.reports import REPORTS

torch = pytest.importorskip("torch")

TEXTS = list(dict.fromkeys(REPORTS))
TOKENIZER = tokenizer_of("microsoft/BiomedVLP-CXR-BERT-general")
COUNTS = {"leaves": 55, "upper": 25, "leaves_with_statuses": 163, "upper_with_statuses": 73}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A marker at the beginning, after a word with a full stop, after a word, behind white space, after a stop.
        ("1. Small effusion", ["Small effusion."]),
        (" \n12.Small effusion.", ["Small effusion."]),
        ("Edema.2. Scar.", ["Edema.", "Scar."]),
        ("Edema2.Scar.", ["Edema.", "Scar."]),
        ("Edema 2. Scar.", ["Edema.", "Scar."]),
        ("Edema! 2. Scar? 3.Hernia.", ["Edema!", "Scar?", "Hernia."]),
        ("1. Edema. 2. Scar. 3. Hernia.", ["Edema.", "Scar.", "Hernia."]),
        ("1.Edema.2.Scar.3.Hernia.", ["Edema.", "Scar.", "Hernia."]),
        # Decimals are none.
        ("Nodule of 3.5 mm.", ["Nodule of 3.5 mm."]),
        ("2.5 mm nodule.", ["2.5 mm nodule."]),
        # What the rules do besides: a number at the end is taken for a marker, and its first digit for one once more.
        ("Effusion since 2. Edema.", ["Effusion since.", "Edema."]),
        ("Seen in 2012. Edema.", ["Seen in.", "Edema."]),
        ("Ends at T12. Edema.", ["Ends at T. Edema."]),
        ("Seen (in +12. Edema).", ["Seen (in +1.", "Edema)."]),
        ("Grade 1.2. Edema.", ["Grade.", "Edema."]),
        # White space that is missing, a stop that is missing.
        ("No edema.No effusion", ["No edema.", "No effusion."]),
        ("No edema.no effusion", ["No edema.no effusion."]),
        ("Hernia?", ["Hernia?"]),
        ("Edema;\nscar\n", ["Edema;\nscar."]),
        ("", ["."]),
        (" \t\n", ["."]),
        ("3.", ["."]),
    ],
)
def test_numbers_of_lists_are_taken_out(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # As NLTK's English model of Punkt cuts these.
        ("Seen by Dr. Left at noon. Clear.", ["Seen by Dr. Left at noon.", "Clear."]),
        ("Compare with CT. There is edema.", ["Compare with CT.", "There is edema."]),
        ("Compare with CT. no edema.", ["Compare with CT. no edema."]),
        ("Larger vs. earlier. Clear.", ["Larger vs. earlier.", "Clear."]),
        ("Told at 5 p.m. by phone. Clear.", ["Told at 5 p.m. by phone.", "Clear."]),
        ("Tip in the s.v.c. region, i.e. well placed.", ["Tip in the s.v.c.", "region, i.e.", "well placed."]),
        ("Hepatitis C. No edema.", ["Hepatitis C. No edema."]),
        ("Type B. No edema.", ["Type B.", "No edema."]),
        ("Nodule of 4 cm. no edema.", ["Nodule of 4 cm.", "no edema."]),
        ("Of size (12. no change).", ["Of size (1. no change)."]),
        ("Scar.. Heart large.", ["Scar.. Heart large."]),
        ("Scar... The heart is large.", ["Scar...", "The heart is large."]),
        ("Clear (as before.) No edema.", ["Clear (as before.)", "No edema."]),
        ('Read as "clear." No edema.', ['Read as "clear."', "No edema."]),
        ('So is "clear.". No edema.', ['So is "clear.".', "No edema."]),
        ("Edema?! No.", ["Edema?!", "No."]),
        ("Really?) No.", ["Really?)", "No."]),
        ("Lungs:clear.Heart:large.", ["Lungs:clear.", "Heart:large."]),
        ("...", ["..."]),
        ("No edema .", ["No edema ."]),
    ],
)
def test_reports_are_cut_where_punkt_cuts_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text", ["1" * 20_000, "1 " * 10_000, "." * 20_000, "a." * 10_000, " " * 20_000 + "x", "(.'" * 7_000]
)
def test_no_text_takes_long_to_cut(text: str) -> None:
    began = time.perf_counter()
    sentences(text)
    assert time.perf_counter() - began < 1


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def encoder(**options: Any) -> Encoder:
    found = find("srrbert_labels", options)
    assert found is not None
    return found


def loaded(folder: Path, **options: Any) -> Model:
    chosen = encoder(**options)
    return chosen.load(chosen.locate(Weights(folder, download=False)), "cpu")


@pytest.fixture(scope="module")
def model(seeded_weights: Path) -> Model:
    return loaded(seeded_weights)


def records(model: Model, texts: Sequence[str]) -> list[Record]:
    made = dict(model.encode(texts))
    assert sorted(made) == list(range(len(texts)))
    found = [made[position] for position in range(len(texts))]
    assert all(one is not None for one in found)
    return [one for one in found if one is not None]


def labels(model: Model, texts: Sequence[str]) -> list[list[str]]:
    """Names of the labels of each text, as the metric gets them."""
    return [encoder().features["srrbert_labels"](record, "") for record in records(model, texts)]


@pytest.fixture(scope="module")
def whole(seeded_weights: Path) -> Any:
    """Labels of one sentence, as transformers' own classifier sees it."""
    from transformers import AutoTokenizer, BertForSequenceClassification

    folder = seeded_weights / srrbert.MODELS["leaves_with_statuses"].repo
    classifier = BertForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(seeded_weights / TOKENIZER.repo)

    def of(sentence: str) -> set[str]:
        with torch.inference_mode():
            logits = classifier(**tokenizer(sentence, truncation=True, max_length=512, return_tensors="pt")).logits[0]
        return {classifier.config.id2label[number] for number in torch.nonzero(logits.sigmoid() > 0.5)[:, 0].tolist()}

    return of


def test_a_report_has_the_labels_of_all_its_sentences(model: Model, whole: Any) -> None:
    texts = TEXTS[::5]
    found = labels(model, texts)
    for text, names in zip(texts, found, strict=True):
        assert len(set(names)) == len(names)
        assert set(names) == set().union(*map(whole, sentences(text)))
    # Seeded sentences differ, and have some labels and not all.
    assert len({frozenset(names) for names in found}) > len(texts) / 2
    assert all(len(names) < COUNTS["leaves_with_statuses"] for names in found)
    assert sum(map(len, found)) > len(texts)


def test_labels_of_a_report_do_not_depend_on_other_reports(model: Model) -> None:
    together = labels(model, TEXTS)
    order = np.random.default_rng(1).permutation(len(TEXTS))
    assert labels(model, [TEXTS[at] for at in order]) == [together[at] for at in order]
    for at in range(0, len(TEXTS), 12):
        assert labels(model, [TEXTS[at]]) == [together[at]]
    assert list(model.encode([])) == []


def test_each_sentence_is_read_once(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    inner = srrbert.FirstStates.of
    monkeypatch.setattr(srrbert.FirstStates, "of", lambda self, rows: read.append(len(rows)) or inner(self, rows))
    list(model.encode(["Edema. Scar. Edema.", "Scar.  Edema.", "1. Edema. 2. Hernia.", "Hernia."]))
    assert sum(read) == 3


def test_blank_and_odd_texts_have_labels_too(model: Model, whole: Any) -> None:
    blanks = ["", " ", "\t\n", "\u00a0", "."]
    assert [set(names) for names in labels(model, blanks)] == [whole(".")] * len(blanks)
    one, other = labels(model, ["Caf\u00e9 \ud83d. No\u200bdule.", "Cafe\u0301 . Nodule."])
    assert one == other


@pytest.mark.parametrize("limit", [512, 128, 3])
def test_tokens_of_a_sentence_beyond_the_limit_are_left_out_and_counted(seeded_weights: Path, limit: int) -> None:
    short = loaded(seeded_weights, max_length=limit)
    # The full stop is a token, and so are the two special ones.
    fitting = " ".join(["heart"] * (limit - 3))
    exact, over, far, twice = (
        f"{fitting}.",
        f"{fitting} heart.",
        f"{fitting} heart" + " lung" * 700 + ".",
        f"{fitting} heart. Clear. {fitting} lung lung.",
    )
    cut = [int(record["n_truncated"]) for record in records(short, [exact, over, far, twice])]
    assert cut == [0, 1, 1, 2 if limit > 3 else 3]
    assert labels(short, [over]) == labels(short, [far])


def test_names_of_encoders_differ_where_records_do() -> None:
    names = {encoder(model=model, max_length=length).name for model in srrbert.MODELS for length in (128, 512)}
    assert len(names) == 8
    assert encoder() == encoder(model="leaves_with_statuses", max_length=512, convention="published")
    assert [one.name for one in srrbert.ENCODERS] == [encoder(model=model).name for model in srrbert.MODELS]
    assert find("chexbert_labels", {"model": "leaves"}) is not encoder(model="leaves")


def test_the_metric_offers_the_models_that_there_are() -> None:
    offered = {option.name: option for option in METRIC.options}
    assert offered["model"].values == "leaves, upper, leaves_with_statuses or upper_with_statuses"
    assert offered["model"].default == srrbert.DEFAULT_MODEL
    assert offered["max_length"].default == str(srrbert.DEFAULT_LENGTH)
    assert {*METRIC.encoder_options, "several"} == set(offered)
    assert set(srrbert.MODELS) == set(COUNTS)


def copied(source: Path, target: Path, model: str) -> Path:
    for repo in (srrbert.MODELS[model].repo, TOKENIZER.repo):
        shutil.copytree(source / repo, target / repo)
    return target / srrbert.MODELS[model].repo


def without_names(folder: Path) -> None:
    """What training leaves that was told nothing but the number of labels."""
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["id2label"] = {number: f"LABEL_{number}" for number in config["id2label"]}
    config["label2id"] = {name: int(number) for number, name in config["id2label"].items()}
    path.write_text(json.dumps(config), encoding="utf-8")


@pytest.mark.parametrize("name", COUNTS)
def test_names_come_from_the_configuration_or_are_the_published_ones(
    seeded_weights: Path, tmp_path: Path, name: str
) -> None:
    stated = loaded(seeded_weights, model=name)
    config = json.loads((seeded_weights / srrbert.MODELS[name].repo / "config.json").read_text(encoding="utf-8"))
    names = list(config["id2label"].values())
    assert len(names) == COUNTS[name]
    without_names(copied(seeded_weights, tmp_path, name))
    published = srrbert._names(name, {})
    assert len(set(published)) == COUNTS[name]
    assert labels(stated, TEXTS[20:60]) != labels(loaded(tmp_path, model=name), TEXTS[20:60])
    seen = labels(loaded(tmp_path, model=name), TEXTS[20:60])
    assert seen == [[published[names.index(one)] for one in found] for found in labels(stated, TEXTS[20:60])]


def test_published_names_stand_in_radevals_order() -> None:
    leaves, upper = srrbert._names("leaves", {}), srrbert._names("upper", {})
    assert (leaves[0], leaves[2], leaves[8], leaves[54]) == (
        "No Finding",
        "Edema",
        "Air space opacity\u2013multifocal",
        "Pneumoperitoneum",
    )
    assert (upper[0], upper[4], upper[24]) == ("Pleural Effusion", "No Finding", "Musculoskeletal finding")
    with_statuses = srrbert._names("leaves_with_statuses", {})
    assert [with_statuses[at] for at in (0, 53, 54, 108, 161, 162)] == [
        "Lung Lesion (Present)",
        "Pneumoperitoneum (Present)",
        "Lung Lesion (Uncertain)",
        "Lung Lesion (Absent)",
        "Pneumoperitoneum (Absent)",
        "No Finding",
    ]
    assert srrbert._names("upper_with_statuses", {})[72] == "No Finding"


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("classifier.bias", None, r"lacks the tensor classifier\.bias"),
        ("bert.pooler.dense.weight", None, r"lacks the tensor bert\.pooler\.dense\.weight"),
        ("classifier.weight", (55, 32), r"classifier\.weight has the shape \[55, 32\] and not \[163, 32\]"),
        ("head.weight", (1, 1), r"has a tensor head\.weight that the model has not"),
    ],
)
def test_another_file_is_refused_by_the_first_wrong_tensor(
    seeded_weights: Path, tmp_path: Path, name: str, shape: tuple[int, ...] | None, message: str
) -> None:
    from safetensors.torch import load_file, save_file

    path = copied(seeded_weights, tmp_path, "leaves_with_statuses") / "model.safetensors"
    tensors = load_file(path)
    tensors.pop(name, None)
    save_file(tensors | ({name: torch.zeros(shape)} if shape else {}), path)
    where = r"StanfordAIMI/SRR-BERT-Leaves-with-Statuses/model\.safetensors"
    with pytest.raises(EncoderFailure, match=rf"^{where}:? .*{message}"):
        loaded(tmp_path)


def test_a_classifier_with_fewer_positions_is_refused_by_the_option(seeded_weights: Path, tmp_path: Path) -> None:
    path = copied(seeded_weights, tmp_path, "leaves_with_statuses") / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(config | {"max_position_embeddings": 256}), encoding="utf-8")
    with pytest.raises(EncoderFailure, match=r"reads 256 tokens; set max_length to less"):
        loaded(tmp_path)


def scored(
    seeded_weights: Path, pairs: Sequence[tuple[str, str]], convention: Convention, **options: Any
) -> dict[str, KeyScores]:
    """SRR-BERT's scores of pairs of a prediction and a reference, by way of the encoder."""
    predictions, references = [list(side) for side in zip(*pairs, strict=True)]
    keys = ["srrbert_precision", "srrbert_recall", "srrbert_f1"]
    settings = EncoderSettings(device="cpu", cache=False, weights=seeded_weights, download=False)
    with Encoding(predictions, references, convention, settings) as encoding:
        features = encoding.features("srrbert_f1", options)
        return compute(keys, predictions, references, convention, features=features, **options)


def test_conventions_differ_as_the_table_says(seeded_weights: Path, model: Model, whole: Any) -> None:
    pairs = [("Small effusion.", "Small effusion."), ("", "Small effusion."), ("Edema. Scar.", "No edema.")]
    published, corrected = (scored(seeded_weights, pairs, one)["srrbert_f1"] for one in CONVENTIONS)
    found = [[set(labels(model, [text])[0]) for text in pair] for pair in pairs]
    shares = [len(one & other) / len(one | other) for one, other in found]
    assert found[1][0] == whole(".")
    assert found[1][0]
    # A blank report is a full stop to the original, and says nothing in the corrected convention.
    assert published.values.tolist() == pytest.approx(shares, abs=1e-7)
    assert published.values[0] == pytest.approx(1 - 5e-9, abs=1e-12)
    assert corrected.values.tolist() == pytest.approx([1, 0, shares[2]], abs=1e-12)
    assert corrected.values[0] == 1
    assert "|enc:srr-bert|model:leaves_with_statuses|max:512|split:builtin|" in published.signature


def test_a_report_without_a_label_is_1_in_published_and_null_in_corrected(seeded_weights: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = copied(seeded_weights, tmp_path, "upper") / "model.safetensors"
    tensors = load_file(path)
    save_file(tensors | {"classifier.bias": tensors["classifier.bias"] - 1000}, path)
    pairs = [("Small effusion.", "No edema.")]
    published, corrected = (scored(tmp_path, pairs, one, model="upper")["srrbert_f1"] for one in CONVENTIONS)
    assert published.values.tolist() == [1]
    assert published.aggregate == 0
    assert corrected.reasons == {0: "no_content"}
    assert corrected.aggregate is None


def test_options_choose_the_classifier_and_the_limit(seeded_weights: Path) -> None:
    long = " ".join(["heart"] * 200) + "."
    for name in COUNTS:
        scores = scored(seeded_weights, [(long, "Clear.")], "published", model=name, max_length=128)["srrbert_f1"]
        assert f"|model:{name}|max:128|" in scores.signature
        assert scores.counts["n_truncated"] == 1
