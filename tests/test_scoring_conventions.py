"""Faults of the originals, both ways and on real encoders: `published` reproduces them, `corrected` does not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rexrank.metrics import InvalidCall, KeyScores, compute
from rexrank.scoring.encoding import EncoderSettings, Encoding
from rexrank.verification.reports import REPORTS

FLOOR = -0.8473319 / (1 - 0.8473319)


@pytest.fixture(scope="module")
def settings(seeded_weights: Path, tmp_path_factory: pytest.TempPathFactory) -> EncoderSettings:
    return EncoderSettings("cpu", tmp_path_factory.mktemp("store"), weights=seeded_weights, download=False)


def scored(
    settings: EncoderSettings, key: str, predictions: list[str], references: list[str], convention: Any
) -> KeyScores:
    with Encoding(predictions, references, convention, settings) as encoding:
        features = encoding.features(key, {})
        return compute(key, predictions, references, convention, features=features)[key]


def test_a_report_without_sentences_moves_no_other_to_a_wrong_partner(settings: EncoderSettings) -> None:
    texts = [text for text in REPORTS if 30 < len(text) < 200 and text.isascii()][:6]
    predictions, references = [texts[0], "a.", texts[2]], texts[3:6]
    found = scored(settings, "ratescore", predictions, references, "published")
    alone = [
        scored(settings, "ratescore", [one], [other], "published")
        for one, other in zip(texts[:3:2], texts[3:6:2], strict=True)
    ]
    assert found.values[[0, 2]].tolist() == pytest.approx([one.values[0] for one in alone], abs=1e-6)
    assert found.values[1] == 0.5
    assert scored(settings, "ratescore", ["a. "], [""], "published").values.tolist() == [0.5]
    assert scored(settings, "ratescore", [""], references[:1], "corrected").values.tolist() == [0]


def test_a_blank_report_falls_to_the_rescaled_floor(settings: EncoderSettings) -> None:
    predictions, references = ["", " \n "], ["Mild edema.", "Clear lungs."]
    published = scored(settings, "bertscore", predictions, references, "published")
    assert published.values.tolist() == pytest.approx([FLOOR, FLOOR])
    assert published.counts["n_empty"] == 2
    assert scored(settings, "bertscore", predictions, references, "corrected").values.tolist() == [0, 0]
    radcliq = scored(settings, "radcliq_v1", predictions, references, "published").values
    semb = scored(settings, "sembscore", predictions, references, "published").values
    np.testing.assert_allclose(radcliq, 11.612594 - 0.994772 * semb, atol=1e-5)
    assert scored(settings, "radcliq_v1", predictions, references, "corrected").values.tolist() == pytest.approx(
        [2.4501430833271307] * 2
    )


def test_rarity_of_words_cannot_empty_bertscore(settings: EncoderSettings) -> None:
    with pytest.raises(InvalidCall, match='unknown option "idf"'):
        compute("bertscore", ["Edema."], ["Edema."], idf=True)
    found = scored(settings, "bertscore", ["Edema."], ["Edema."], "published")
    assert found.values.tolist() == pytest.approx([1], abs=1e-5)
    assert "|idf:no|" in found.signature


@pytest.mark.parametrize("key", ["radgraph_simple", "radgraph_combined"])
def test_case_counts_in_radgraph_only_as_published(settings: EncoderSettings, key: str) -> None:
    texts = [text for text in REPORTS if 40 < len(text) < 200 and text.isascii()][:5]
    shouted = [text.upper() for text in texts]
    published = scored(settings, key, shouted, texts, "published").values
    corrected = scored(settings, key, shouted, texts, "corrected").values
    # The models fold case themselves, so the graphs are equal but for the letters of their words.
    assert (published < 1).any()
    np.testing.assert_allclose(corrected[~np.isnan(corrected)], 1)
    assert (corrected == 1).any()


def test_equal_reports_without_relations_are_half_right_in_radcliqs_component(settings: EncoderSettings) -> None:
    texts = [text for text in dict.fromkeys(REPORTS) if 3 < len(text) < 120]
    with Encoding(texts, texts, "published", settings) as encoding:
        features = encoding.features("radgraph_combined", {})
        graphs = list(features["radgraph_v1_graphs"].predictions)
        published = compute("radgraph_combined", texts, texts, "published", features=features)["radgraph_combined"]
        corrected = compute("radgraph_combined", texts, texts, "corrected", features=features)["radgraph_combined"]
    entities = [list(graph["entities"].values()) for graph in graphs]
    lonely = [bool(some) and not any(one["relations"] for one in some) for some in entities]
    linked = [any(one["relations"] for one in some) for some in entities]
    assert any(lonely)
    assert any(linked)
    assert set(published.values[lonely]) == {0.5}
    assert set(published.values[linked]) == {1}
    assert set(corrected.values[[one or other for one, other in zip(lonely, linked, strict=True)]]) == {1}


@pytest.mark.parametrize("convention", ["published", "corrected"])
@pytest.mark.parametrize("key", ["bertscore", "sembscore"])
def test_what_lies_behind_512_tokens_is_not_seen_but_counted(
    settings: EncoderSettings, key: str, convention: Any
) -> None:
    start = "The heart size is normal and the lungs are clear. " * 60
    first, second = f"{start}No effusion.", f"{start}Large effusion and a nodule."
    found = scored(settings, key, [first, "Edema."], [second, "Scar."], convention)
    assert found.values[0] == pytest.approx(1, abs=1e-5)
    assert found.counts["n_truncated"] == 2
    # What is read depends on where it stands: the same sentences in another order are another text.
    turned = scored(settings, key, [f"Large effusion and a nodule. {start}"], [second], convention)
    assert turned.values[0] < 1 - 1e-5
