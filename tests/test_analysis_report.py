"""The report: one page that needs nothing else, says what there is to see, and holds no report text."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import rexrank
from rexrank.analysis import NamesClash, UnknownTexts
from rexrank.analysis.blocks import Paragraph, Picture, Section, safely
from rexrank.analysis.cards import card_sets
from rexrank.analysis.lengths import count
from rexrank.analysis.page import page, section_html, text
from rexrank.analysis.report import report
from rexrank.figures import Figure, Row, intervals
from rexrank.published.record import UnknownTable
from rexrank.scoring import ScoreCard

SENTINEL = "quokka"
METRICS = ("bleu2", "rouge_l", "cider", "temporal_f1")
LENGTHS = ("report_words", "reference_words")
WORDS = ["lungs", "clear", "no", "effusion", "heart", "normal", "small", "left", "opacity", "stable", SENTINEL]
NAMES = ["ant", "bee", "cat", "floor"]


def studies(seed: int, n: int = 40) -> dict[str, dict[str, str]]:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(4, 20, size=(n, 2))
    return {
        f"s{seed}{number:02d}": {
            "findings": f"{' '.join(generator.choice(WORDS, lengths[number, 0]))}.",
            "impression": f"{' '.join(generator.choice(WORDS, lengths[number, 1]))}.",
        }
        for number in range(n)
    }


def predictions(references: dict[str, dict[str, str]], spoilt: float, seed: int) -> dict[str, str]:
    """The findings with a share of their words replaced."""
    generator = np.random.default_rng(seed)
    return {
        study: " ".join(
            word if generator.uniform() > spoilt else str(generator.choice(WORDS)) for word in one["findings"].split()
        )
        for study, one in references.items()
    }


def cards_of(seed: int, track: str = "findings", metrics: tuple[str, ...] = METRICS + LENGTHS) -> list[ScoreCard]:
    references = studies(seed)
    made = [predictions(references, spoilt, seed) for spoilt in (0.1, 0.4, 0.7)]
    made.append(dict.fromkeys(references, "lungs clear."))
    return [
        rexrank.score(one, references, track=track, metrics=metrics, progress=False)  # type: ignore[arg-type]
        for one in made
    ]


@pytest.fixture(scope="module")
def cards() -> list[ScoreCard]:
    """Four systems on two benchmarks, on the first one also whole reports."""
    return [*cards_of(1), *cards_of(2), *cards_of(1, "report")]


@pytest.fixture(scope="module")
def html(cards: list[ScoreCard]) -> str:
    first, second = (cards[place].inputs["references"]["sha256"][:12] for place in (0, 4))
    return report(cards, NAMES * 3, {first: "north", second: "south"}, ["floor"])


class Reader(HTMLParser):
    """Collects tags, attributes and words of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def headings(html: str, level: int) -> list[str]:
    return re.findall(rf"<h{level}>(.*?)</h{level}>", html)


def test_the_page_needs_nothing_else(html: str) -> None:
    read = Reader(html)
    assert not set(read.tags) & {"script", "img", "link", "iframe", "image", "object"}
    asked = [value for name, value in read.attributes if name in ("src", "href", "xlink:href", "data", "action")]
    assert asked
    assert all(value.startswith("#") for value in asked)
    assert "url(" not in html.split("<body>")[0]
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'") in (
        read.attributes
    )


def test_every_id_is_there_once_and_every_link_has_its_target(html: str) -> None:
    read = Reader(html)
    ids = [value for name, value in read.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    links = {value[1:] for name, value in read.attributes if name in ("href", "xlink:href")}
    assert links <= set(ids)


def test_no_report_text_is_in_the_page(html: str) -> None:
    assert SENTINEL not in html
    assert "lungs clear" not in html


def test_the_parts_stand_in_order(html: str) -> None:
    assert headings(html, 2) == [
        "In short",
        "north · findings",
        "south · findings",
        "north · report",
        "Between benchmarks and tracks",
        "Not computed, and why",
        "How the numbers came about",
    ]
    own = ["Scores and ranks", "Spread over single studies", "Do the scores agree?", "Does length matter?"]
    in_parts = list(headings(html.split("<main>")[1], 3))
    assert in_parts == [*own * 3, "From benchmark to benchmark · findings", "Findings or whole report · north"]


def test_everything_was_drawn_and_computed(html: str) -> None:
    assert "No picture" not in html
    assert "Not computed:" not in html
    # Pictures of a set: score, three more; hills of four; two or three of agreement; three of length.
    assert html.count("<svg") == html.count("<figcaption>") >= 3 * 12 + 3


def test_the_summary_says_in_words_who_is_best_and_how_sure_that_is(html: str, cards: list[ScoreCard]) -> None:
    summary = html.split('class="summary"')[1].split("</section>")[0]
    low, high = cards[0].intervals["bleu2"]
    said = f"ant scores best: BLEU-2 {cards[0].summary['bleu2']:.3f} (95% interval {low:.3f} to {high:.3f})."
    assert said in summary
    assert "It is ahead of every other system beyond chance." in summary
    assert "north: BLEU-2 is worse for ant, bee and cat on whole reports than on findings alone." in summary
    assert "the order of systems holds well from benchmark to benchmark" in summary


def test_ranks_have_ranges_and_floors_are_marked(html: str) -> None:
    part = html.split("<h3>Scores and ranks</h3>")[1].split("<h3>")[0]
    rows = re.findall(r'<th scope="row">(\w+)</th><td>[^<]*</td><td>([^<]*)</td>', part)
    assert [name for name, _ in rows] == NAMES
    assert rows[0][1] == "1 (1)"
    assert "Hollow dots are reference points and no models." in part


def test_the_same_cards_give_the_same_page(cards: list[ScoreCard]) -> None:
    assert report(cards[:4], NAMES) == report(cards[:4], NAMES)


def test_a_difference_between_tracks_is_that_of_the_scores(html: str, cards: list[ScoreCard]) -> None:
    part = html.split("Findings or whole report · north</h3>")[1]
    shift = cards[8].summary["bleu2"] - cards[0].summary["bleu2"]
    assert f"{shift:.3f}".replace("-", "\u2212") in part.split("</table>")[0]


def test_names_are_text_whatever_they_hold(cards: list[ScoreCard]) -> None:
    name = "<script>alert(1)</script>\u202eevil\"'&"
    page = report(cards[:2], [name, "bee"])
    assert "<script" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page


def test_where_lower_is_better_the_lowest_is_best(cards: list[ScoreCard]) -> None:
    turned = [_as_radcliq(card) for card in cards[:3]]
    page = report(turned, NAMES[:3])
    assert "cat scores best: RadCliQ-v1" in page
    assert "further left is better" in page


def _as_radcliq(card: ScoreCard) -> ScoreCard:
    """A card whose only score is RadCliQ-v1, with the values of BLEU-2."""
    keys = {"radcliq_v1": "bleu2"}
    signature = "radcliq_v1|conv:published|v:1"
    return replace(
        card,
        summary={"radcliq_v1": card.summary["bleu2"]},
        intervals={"radcliq_v1": card.intervals["bleu2"]},
        counts={"radcliq_v1": card.counts["bleu2"]},
        signatures={"radcliq_v1": signature},
        per_study=pa.table(
            {
                "study_id": card.per_study.column("study_id"),
                **{key: card.per_study.column(old) for key, old in keys.items()},
            }
        ),
        statistics=None,
    )


def test_one_card_alone_has_a_report(cards: list[ScoreCard]) -> None:
    page = report(cards[:1], ["ant"])
    assert "there is no other system to compare it with" in page
    assert "No picture" not in page


def test_a_single_study_ranks_nobody_and_says_nothing_of_length() -> None:
    keys = ["bleu2", "rouge_l", *LENGTHS]
    texts = ("Heart.", "No.")
    made = [rexrank.score({"a": one}, {"a": "Heart normal."}, metrics=keys, progress=False) for one in texts]
    page = report(made, ["ant", "bee"])
    assert "too few to say whether the order is more than chance" in page
    assert "has no clear effect" not in page
    assert "Not computed: samples" not in page


def test_nobody_is_ahead_on_nine_studies() -> None:
    references = studies(1, 9)
    systems = [predictions(references, 0.1, 1), dict.fromkeys(references, "Mass.")]
    made = [rexrank.score(one, references, metrics=["bleu2"], progress=False) for one in systems]
    page = report(made, ["ant", "bee"])
    assert "too few to say whether the order is more than chance" in page
    assert "beyond chance" not in page


def test_cards_that_disagree_on_patients_are_not_set_side_by_side() -> None:
    references = studies(1, 12)
    made = [
        rexrank.score(
            predictions(references, 0.1, 1),
            references,
            metrics=["bleu2"],
            progress=False,
            groups={study: number // size for number, study in enumerate(references)},
        )
        for size in (2, 3)
    ]
    page = report(made, ["ant", "bee"])
    assert "Not computed: bee and ant say differently which studies are of one patient" in page


def test_systems_that_cannot_be_told_apart_are_named_as_such(cards: list[ScoreCard]) -> None:
    references = studies(1)
    made = [predictions(references, 0.4, seed) for seed in (7, 8)]
    close = [rexrank.score(one, references, metrics=["bleu2"], progress=False) for one in made]
    page = report([cards[2], *close], ["cat", "ant", "bee"])
    assert re.search(r"These studies do not tell it apart from (ant|bee)\.", page)
    assert page.count("(1–2)") == 2


def test_systems_of_one_score_share_the_place(cards: list[ScoreCard]) -> None:
    page = report([cards[0], cards[0], cards[1]], ["ant", "bee", "cat"])
    assert "bee has the same score." in page
    assert page.count("1 (1)") == 2


def test_a_model_behind_a_floor_is_said_to_be(cards: list[ScoreCard]) -> None:
    assert "cat and floor do not score better than bee, which is only a reference point." in report(
        cards[:4], NAMES, baselines=["bee"]
    )


def test_an_order_is_that_of_models_and_not_of_floors(cards: list[ScoreCard]) -> None:
    page = report(cards[:8], NAMES * 2, baselines=["bee", "floor"])
    assert "2 systems and 2 reference points, 40 studies." in page
    assert "is shown from 4 systems on, baselines not counted" in page
    assert "Not computed: only 2 systems stand on all of references" in page
    assert "order of systems" not in page
    page = report(cards[:8], NAMES * 2, baselines=["floor"])
    part = page.split("<h3>From benchmark to benchmark · findings</h3>")[1].split("</section>")[0]
    assert "order the 3 systems" in part
    assert "floor" not in part


def test_what_is_lacking_stands_with_its_reason(cards: list[ScoreCard]) -> None:
    reason = "radcliq_v1 needs weights that are not here"
    card = rexrank.score(predictions(studies(1), 0.1, 1), studies(1), metrics=["bleu2"], progress=False)
    page = report([replace(card, unavailable={"radcliq_v1": reason})], ["ant"])
    part = page.split("<h2>Not computed, and why</h2>")[1].split("</section>")[0]
    assert "references · findings: radcliq_v1: needs weights that are not here." in part
    assert "that takes cards of at least two benchmarks" in part
    assert "the cards do not say how long the texts are" in page
    assert "it takes two scores with a value for each study" in page


def test_scores_that_lack_the_same_are_named_together() -> None:
    given = studies(1)
    keys = ["bleu2", "report_distinct", "reference_distinct"]
    cards = [
        rexrank.score(predictions(given, *spoilt), given, metrics=keys, progress=False)
        for spoilt in ((0.1, 1), (0.5, 2))
    ]
    part = report(cards, ["ant", "bee"]).split("<h2>Not computed, and why</h2>")[1].split("</section>")[0]
    assert "findings: report_distinct and reference_distinct are not compared: only the whole set" in part
    assert part.count("only the whole set") == 1


def test_lengths_counted_in_files_are_those_of_the_metric(tmp_path: Path, cards: list[ScoreCard]) -> None:
    references = studies(1)
    given = predictions(references, 0.4, 1)
    (tmp_path / "refs.json").write_text(json.dumps(references))
    (tmp_path / "preds.json").write_text(json.dumps(given))
    files = [tmp_path / "preds.json", tmp_path / "refs.json"]
    card = rexrank.score(*files, metrics=["bleu2", "rouge_l"], progress=False)
    lengths = count(files, [card])
    for role, key in (("predictions", "report_words"), ("references", "reference_words")):
        known = dict(
            zip(
                cards[1].per_study.column("study_id").to_pylist(),
                cards[1].per_study.column(key).to_pylist(),
                strict=True,
            )
        )
        assert lengths[card.inputs[role]["sha256"], "findings"] == known
    assert "Left of the dashed line" in report([card], ["bee"], lengths=lengths)


def test_a_file_that_no_card_was_made_of_is_refused(tmp_path: Path, cards: list[ScoreCard]) -> None:
    (tmp_path / "other.json").write_text('{"a": "Normal."}')
    with pytest.raises(UnknownTexts, match=r'"other\.json": no card was made of this file'):
        count([tmp_path / "other.json"], cards)
    with pytest.raises(UnknownTexts, match=r'"none\.json" cannot be read'):
        count([tmp_path / "none.json"], cards)


def test_cards_of_other_rules_stand_apart(cards: list[ScoreCard]) -> None:
    other = replace(cards[1], protocol="plain", protocol_version="2")
    sets = card_sets([cards[0], other, cards[2]], ["ant", "bee", "cat"])
    assert [one.names for one in sets] == [("ant", "cat"), ("bee",)]


def test_names_that_clash_are_refused(cards: list[ScoreCard]) -> None:
    with pytest.raises(NamesClash, match=r'two cards of .* are called "ant"; give each a name with --names'):
        card_sets(cards[:2], ["ant", "ant"])
    with pytest.raises(NamesClash, match=r'no card has the references "typo\.json"; these are references'):
        card_sets(cards[:2], ["ant", "bee"], {"typo.json": "north"})
    with pytest.raises(NamesClash, match='baseline "dog" is no card\'s name; these are ant, bee'):
        card_sets(cards[:2], ["ant", "bee"], baselines=["dog"])


def test_benchmarks_of_one_file_name_are_told_apart(cards: list[ScoreCard]) -> None:
    names = [one.benchmark for one in card_sets([cards[0], cards[4]], ["ant", "ant"])]
    assert len(set(names)) == 2
    assert all(re.fullmatch(r"references \([0-9a-f]{6}\)", name) for name in names)


def test_a_hub_address_gives_the_benchmark_its_name(cards: list[ScoreCard]) -> None:
    source = {"source": "hf://datasets/rexrank/iu-xray@0123456/data/test.parquet", "sha256": "0" * 64}
    card = replace(cards[0], inputs={**cards[0].inputs, "references": source})
    assert card_sets([card], ["ant"])[0].benchmark == "iu-xray"


def test_a_picture_that_fails_leaves_a_sentence_and_not_a_broken_page() -> None:
    def fails() -> Figure:
        raise KeyError(SENTINEL)

    def refuses() -> Figure:
        return intervals([Row("ant", None)], "BLEU-2")

    pictures = (Picture(fails, "See one."), Picture(refuses, "See two."), Paragraph("Still here."))
    found = section_html(Section("Part", pictures))
    assert "No picture: drawing failed with KeyError" in found
    assert "No picture: BLEU-2: there is no value to draw." in found
    assert "Still here." in found
    assert SENTINEL not in found


def test_a_part_that_fails_costs_no_other() -> None:
    def fails() -> Section:
        raise ZeroDivisionError(SENTINEL)

    found = page("Report", "", [safely("Part", fails), Section("Next", (Paragraph("Still here."),))], "")
    assert "Not computed: it failed with ZeroDivisionError" in found
    assert "Still here." in found
    assert SENTINEL not in found


def test_an_unknown_snapshot_is_refused() -> None:
    with pytest.raises(UnknownTable, match="no snapshot"):
        report([], [], snapshot="1999")


def test_the_published_tables_alone_make_a_report() -> None:
    found = report([], [], snapshot="newest")
    assert headings(found, 2) == ["In short", "The published tables"]
    assert "Findings: some metrics order the models otherwise" in found
    assert "No picture" not in found


def test_progress_counts_to_its_end(cards: list[ScoreCard]) -> None:
    told: list[tuple[int, int]] = []
    report(cards[:4], NAMES, progress=lambda stage, done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert max(done for done, _ in told[:-1]) < told[-1][1]


@pytest.mark.parametrize(
    ("given", "safe"),
    [("a<b", "a&lt;b"), ('"', "&quot;"), ("\u202e", "\ufffd"), ("\x1b", "\ufffd"), ("\u061c", "\ufffd"), ("ü", "ü")],
)
def test_words_are_made_harmless(given: str, safe: str) -> None:
    assert text(given) == safe


def test_a_real_system_and_blind_floors_make_a_whole_report(shared_data: Path) -> None:
    folder = shared_data / "iu_xray"
    references = folder / "ReXRank_IUXray_test.json"
    keys = ["bleu2", "rouge_l", *LENGTHS]
    card = rexrank.score(folder / "predictions/moerad/preds.csv", references, metrics=keys, progress=False)
    ids = card.per_study.column("study_id").to_pylist()
    floor = rexrank.score(dict.fromkeys(ids, "The lungs are clear."), references, metrics=keys, progress=False)
    found = report([card, floor], ["moerad", "constant"], baselines=["constant"])
    assert "moerad scores best: BLEU-2 0.263" in found
    assert "moerad has only 25 different texts for 590 studies." in found
    assert "constant has one text for 590 studies." in found
    assert "The longer the radiologist&#x27;s report, the worse BLEU-2 gets for moerad." in found
    assert "No picture" not in found
