"""Text options: each by its definition, the recipes by the published references, both sides and the signature alike."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rexrank
from rexrank.benchmarks import iu_xray, openi
from rexrank.cli import main
from rexrank.protocols import UnknownProtocol, load, prepare
from rexrank.protocols.texts import (
    OPTIONS,
    clean,
    collapse_space,
    drop_deid_marks,
    mark_deid_marks,
    mark_numbers,
    treat,
)
from rexrank.reports import Study
from rexrank.reports.studies import is_blank

RECIPES = ["iu", "mimic_r2gen", "mimic_r2gengpt", "iu_literal_hyphen"]
MRG_RL = "iu_xray/predictions/mrg_rl/qwen_dino_sft_rag_top20_number_cw1_lr5e5_infer_beam1"


def same(text: str) -> dict[str, str]:
    return dict.fromkeys(RECIPES, text)


CLEANED = {
    "1. Heart size normal. 2. No effusion.": same("heart size normal . no effusion ."),
    "AP/lateral views: 3.5 cm nodule.": same("aplateral views 35 cm nodule .")
    | {"mimic_r2gengpt": "aplateral views : 35 cm nodule ."},
    "T1. Next. 6. Stable.": same("tnext . 6 . stable ."),
    "Clear lungs.\nNo  effusion.": same("clear lungs . no effusion .")
    | dict.fromkeys(["iu", "iu_literal_hyphen"], "clear lungs\nno  effusion ."),
    "X-ray <B> on ____ : stable.": same("x-ray b on   stable .")
    | {"mimic_r2gengpt": "x-ray <b> on   : stable .", "iu_literal_hyphen": "xray <b> on   stable ."},
    "": same(" ."),
    # Seven passes leave two of 200 underscores, and six leave two of 100 blanks; three passes leave two of nine stops.
    "a" + "_" * 200 + "b": same("ab ."),
    "a" + " " * 100 + "b.": same("a  b .") | dict.fromkeys(["iu", "iu_literal_hyphen"], "a" + " " * 100 + "b ."),
    "No edema... Clear": same("no edema . clear ."),
    '"Clear" (it\'s [so] @ 2 % = 50_50)': same("clear its so  2   5050 .")
    | dict.fromkeys(["mimic_r2gengpt", "iu_literal_hyphen"], "clear its so @ 2  = 5050 ."),
}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("text", CLEANED)
def test_recipes_as_specified(text: str, recipe: str) -> None:
    assert clean(text, recipe) == CLEANED[text][recipe]


def test_published_references_are_those_of_the_literal_hyphen(shared_data: Path) -> None:
    published = json.loads((shared_data / MRG_RL / "test_refs.json").read_text(encoding="utf-8"))
    reports = openi.read_reports(openi.archive_path())
    texts = {
        number: " ".join(filter(None, [reports[int(number)].findings, reports[int(number)].impression]))
        for number in published
    }
    equal = {recipe: sum(clean(texts[n], recipe) == published[n][0] for n in published) for recipe in RECIPES}
    assert (equal["iu_literal_hyphen"], equal["iu"]) == (382, 350)


@pytest.mark.parametrize("recipe", ["iu", "iu_literal_hyphen"])
def test_cleaned_reports_hold_no_deleted_character(recipe: str) -> None:
    reports = openi.read_reports(openi.archive_path())
    for entry in iu_xray.split():
        cleaned = clean(reports[entry.xml_number].findings or "", recipe)
        assert cleaned.endswith(" .")
        rest = cleaned.replace(" . ", "").removesuffix(" .")
        assert not set(rest) & set(".,?;*!%^&_+()[]{}\"/\\':"), f"study {entry.study_id}"
        assert rest == rest.lower()


@pytest.mark.parametrize(
    ("text", "dropped", "marked"),
    [
        ("Seen on XXXX.", "Seen on.", "Seen on deid."),
        ("XXXX is clear.", "is clear.", "deid is clear."),
        ("A XXXX-year-old in ___ , (XXXX mm)", "A -year-old in, (mm)", "A deid-year-old in deid , (deid mm)"),
        ("on XXXXXXXX and _____ again", "on and again", "on deid and deid again"),
        ("Chest x-XXXX is XXXX XXXX.", "Chest x- is.", "Chest x-deid is deid deid."),
        ("xxxx of the chest", "of the chest", "deid of the chest"),
        ("a\nXXXX\nb", "a\n\nb", "a\ndeid\nb"),
        ("XXXX", "", "deid"),
        ("XXX stays, __ stays, Xxxx stays", "XXX stays, __ stays, Xxxx stays", "XXX stays, __ stays, Xxxx stays"),
    ],
)
def test_deidentification_marks(text: str, dropped: str, marked: str) -> None:
    assert drop_deid_marks(text) == dropped
    assert mark_deid_marks(text) == marked


def test_blanks_without_a_mark_take_no_longer_than_other_text() -> None:
    # With the square of their number this would take days.
    blanks = " \t" * 1_000_000
    assert drop_deid_marks(f"a{blanks}b XXXX{blanks}.") == f"a{blanks}b."


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("A 3.5 cm nodule, 12 of 1,200.", "A num cm nodule, num of num."),
        ("3.5cm and 4x5 mm, 4 x 5 mm", "num cm and num x num mm, num x num mm"),
        ("T12 to L1-2, COVID-19, 2-3", "T12 to L1-num, COVID-19, num-num"),
        ("1. Clear. 2. Normal.", "num. Clear. num. Normal."),
        ("on 12/31/2010 at 10:30", "on num/num/num at num:num"),
        ("No nodule.", "No nodule."),
    ],
)
def test_numbers(text: str, marked: str) -> None:
    assert mark_numbers(text) == marked


def test_white_space_and_headers() -> None:
    assert collapse_space(" a\n\tb\u00a0 c ") == "a b c"
    drop = OPTIONS["headers-drop"].treat
    assert drop("FINDINGS: Clear.\n\nIMPRESSION:\n Normal.") == "Clear. Normal."
    assert drop("INDICATION: Cough. FINDINGS: Clear. ") == "Cough. Clear."
    assert drop("HALLAZGOS: Normal.") == "Normal."
    assert drop("  No header here: none. ") == "  No header here: none. "


@given(st.text(alphabet=" \n\t\u200b\u00a0\x00", max_size=5), st.sets(st.sampled_from(sorted(OPTIONS))))
def test_a_blank_text_stays_as_it_is(text: str, words: set[str]) -> None:
    assert treat(text, [option for word, option in OPTIONS.items() if word in words]) == text


@settings(deadline=None)
@given(st.text(alphabet="aB1X_.:-<> \n\"'éß肺", max_size=60), st.sampled_from(sorted(OPTIONS)))
def test_every_option_gives_a_text_whatever_it_gets(text: str, word: str) -> None:
    treated = treat(text, [OPTIONS[word]])
    assert isinstance(treated, str)
    if word in RECIPES and not is_blank(text):
        assert treated.endswith(" .")


def test_nothing_is_left_to_clean() -> None:
    assert treat("XXXX", [OPTIONS["deid-drop"], OPTIONS["iu"]]) == ""


STUDIES = {"a": Study("a", "Clear. 2 cm, XXXX."), "b": Study("b", "XXXX")}
PREDICTIONS = {"a": "FINDINGS: Clear. 3 CM.", "b": ""}


def test_both_sides_are_treated_alike_and_the_name_pins_how() -> None:
    result = prepare(load(), "findings", STUDIES, PREDICTIONS, option="collapse+lower+sections+numbers-mark+deid-drop")
    assert result.references == [("clear. num cm,.",), ("",)]
    assert result.predictions == ["clear. num cm.", ""]
    assert result.name == "sections+deid-drop.1+numbers-mark.1+lower.1+collapse.1"
    assert str(result.option) == "sections+deid-drop+numbers-mark+lower+collapse"


def test_alone_they_follow_the_conventions_own_preparation() -> None:
    published = prepare(load(), "findings", STUDIES, PREDICTIONS, option="lower")
    assert published.references[0] == ("findings: clear. 2 cm, xxxx.",)
    assert published.predictions[0] == "findings: clear. 3 cm."
    assert published.name == "findings-ref+lower.1"
    corrected = prepare(load(), "findings", STUDIES, PREDICTIONS, "corrected", "lower")
    assert (corrected.predictions[0], corrected.name) == ("clear. 3 cm.", "sections+lower.1")
    plain = prepare(load("plain"), "findings", STUDIES, PREDICTIONS, option="iu")
    assert plain.references == [("clear . 2 cm xxxx .",), ("xxxx .",)]
    assert (plain.predictions, plain.name) == (["findings clear . 3 cm .", ""], "iu.2")


def test_alternatives_are_treated_too() -> None:
    studies = {"a": Study("a", "One.", alternatives=("TWO.",))}
    assert prepare(load("plain"), "findings", studies, {"a": "X"}, option="lower").references == [("one.", "two.")]


def test_a_study_is_treated_as_if_it_were_alone() -> None:
    option = "sections+headers-drop+deid-mark+numbers-mark+mimic_r2gengpt+lower+collapse"
    together = prepare(load(), "findings", STUDIES, PREDICTIONS, option=option)
    for position, study_id in enumerate(together.study_ids):
        alone = prepare(load(), "findings", {study_id: STUDIES[study_id]}, PREDICTIONS, option=option)
        assert alone.predictions == together.predictions[position : position + 1]
        assert alone.references == together.references[position : position + 1]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("lowr", 'no text preparation "lowr"; it has reference, both, none, sections, and joined .* lower, collapse'),
        ("sections+", "no text preparation an empty text"),
        ("none+Lower", '"Lower"'),
        ("none+both", "both and none say which texts are compared; choose one"),
        ("deid-drop+deid-mark", "deid-drop and deid-mark treat marks of de-identification; choose one"),
        ("iu+mimic_r2gen", "iu and mimic_r2gen are both cleaning recipes; choose one"),
        ("lower+lower", "lower stands there twice"),
        ("sections,lower", "join words with \\+, as in sections\\+lower"),
        ("sections + lower", "join words with"),
        ("sections,lowr", "it has reference, both, none, sections"),
    ],
)
def test_what_cannot_be_asked_for(option: str, words: str) -> None:
    with pytest.raises(UnknownProtocol, match=words):
        load().option("published", option)


def test_the_signature_and_the_card_name_the_options() -> None:
    card = rexrank.score(
        {"a": "Clear.", "b": " "},
        {"a": "CLEAR.", "b": "XXXX"},
        metrics="bleu2",
        convention="corrected",
        text_preparation="sections+deid-drop+iu",
        progress=False,
    )
    assert card.signatures["bleu2"] == "bleu2|conv:corrected|tok:unicode|prep:sections+deid-drop.1+iu.2|v:1"
    assert card.text_preparation == {
        "option": "sections+deid-drop+iu",
        "name": "sections+deid-drop.1+iu.2",
        "version": 1,
    }
    # The reference of b is blank once its mark is gone: the study stays and the policy gives it no value.
    assert (card.n, card.counts["bleu2"]["n_undefined"], card.summary["bleu2"]) == (2, 1, 1.0)


@pytest.mark.parametrize(
    ("track", "convention", "option", "name"),
    [
        ("findings", "published", None, "findings-ref"),
        ("findings", "published", "both", "findings-both"),
        ("findings", "published", "none", None),
        ("report", "published", None, "report-verbatim"),
        ("findings", "corrected", None, "sections"),
    ],
)
def test_names_without_options_are_what_they_were(track: str, convention: str, option: str, name: str) -> None:
    assert prepare(load(), track, STUDIES, PREDICTIONS, convention, option).name == name  # type: ignore[arg-type]


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = tmp_path / "texts.json"
    texts.write_text('{"a": "Clear."}')
    words = ["score", str(texts), "--references", str(texts), "--metrics", "bleu2", "--quiet", "--text-preparation"]
    assert main([*words, "none+lower"]) == 0
    assert "prep:lower.1" in capsys.readouterr().out
    assert main([*words, "none+upper"]) == 2
    assert 'no text preparation "upper"' in capsys.readouterr().err


def test_the_documentation_lists_every_option() -> None:
    page = (Path(__file__).resolve().parents[1] / "docs/score.md").read_text(encoding="utf-8")
    for option in OPTIONS.values():
        assert f"| `{option.word}` | {option.version} |" in page
        assert option.word in load("rexrank").text_preparation.options
        assert option.word in load("plain").text_preparation.options
