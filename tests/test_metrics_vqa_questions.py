"""Files of questions: reading them, what is refused, negations, letters, and the command."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rexrank
from rexrank.errors import RefusedInput
from rexrank.metrics.polarity import polarity
from rexrank.reports.questions import read_questions
from rexrank.scoring.question_table import table
from rexrank.scoring.questions import asks_questions, score_questions

YES_NO = ["A. Yes", "B. No"]
STATEMENTS = ["A. There is an effusion.", "B. There is no effusion.", "C. The heart is large.", "D. None of these"]


def record(right: str, said: str | None = None, **fields: Any) -> dict[str, Any]:
    found = {"question": "What is it?", "options": STATEMENTS, "correct_answer": right, "category": "Presence"} | fields
    return found if said is None else {**found, "model_prediction": said}


def test_right_answers_are_counted_over_all_and_by_category(tmp_path: Path) -> None:
    questions = {
        "1": record("A", "A"),
        "2": record("A", "(B)"),
        "3": record("B. There is no effusion.", "There is no effusion.", category="Negation"),
        "4": record("D", "None of these", category="Negation"),
        "5": record("C", "", category="Negation"),
    }
    found = score_questions(questions)
    assert found.card.summary == {
        "vqa_accuracy_micro": pytest.approx(3 / 5),
        "vqa_accuracy_macro": pytest.approx((1 / 2 + 2 / 3) / 2),
    }
    assert [(one.name, one.accuracy.value, one.n_unparsed) for one in found.categories] == [
        ("Presence", 0.5, 0),
        ("Negation", pytest.approx(2 / 3), 1),
    ]
    assert (found.unread.value, found.chance) == (0.2, 0.25)
    assert found.flags[0].startswith("20.0% of the answers cannot be read")
    assert "resamples of 5 questions" in table(found)
    # The same through `rexrank.score`, from a file.
    (tmp_path / "q.json").write_text(json.dumps(questions))
    path = str(tmp_path / "q.json")
    card = rexrank.score(path, path, protocol="plain", metrics="vqa", progress=False)
    assert (card.summary, card.inputs["references"]["source"]) == (found.card.summary, "q.json")
    assert card.diversity == {}
    assert "warning: 1 answer of 5 (20.0%) cannot be read" in str(card)
    assert rexrank.ScoreCard.load(card.save(tmp_path / "card")).summary == card.summary


def test_an_answer_that_is_a_word_for_nothing_is_not_lost() -> None:
    questions = {"1": record("None", "None", options=["None", "Some"]), "2": record("A", "B", options=["None", "Some"])}
    assert score_questions(questions).card.summary["vqa_accuracy_micro"] == 0.5


def test_letters_without_a_text_and_letters_that_are_not_offered() -> None:
    questions = {
        "1": record("B", "B", options=["A.", "B."]),
        "2": record("C", "three", options={"A": "one", "B": None, "C": "three"}),
    }
    found = score_questions(questions)
    assert (found.card.summary["vqa_accuracy_micro"], found.unread.value, found.chance) == (1.0, 0.0, 0.5)


def test_names_of_scores_may_come_in_any_order_or_form() -> None:
    questions = {"1": record("A", "A"), "2": record("A", "B")}
    for names in ({"vqa_accuracy_micro"}, iter(["vqa"]), dict.fromkeys(["vqa"]).keys()):
        card = rexrank.score(questions, questions, protocol="plain", metrics=names, progress=False)
        assert card.summary["vqa_accuracy_micro"] == 0.5


def test_one_unread_answer_of_a_hundred_is_no_flag() -> None:
    questions = {str(number): record("A", "A") for number in range(99)}
    assert score_questions({**questions, "x": record("A", "who knows")}).flags == ()
    assert score_questions({**questions, "x": record("A", " "), "y": record("A", "")}).flags != ()


def test_every_form_of_file_gives_the_same(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    rows = [{"question_id": f"{number:03d}", **record("A", said)} for number, said in enumerate(["A", "B", "?"])]
    (tmp_path / "q.json").write_text(json.dumps({row["question_id"]: row for row in rows}))
    (tmp_path / "list.json").write_text(json.dumps(rows))
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with (tmp_path / "q.csv").open("w", newline="") as handle:
        writer = csv.DictWriter(handle, rows[0])
        writer.writeheader()
        writer.writerows([{**row, "options": json.dumps(row["options"])} for row in rows])
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "q.parquet")
    by_letter = [{**row, "options": {"A": "There is an effusion.", "B": "No."}} for row in rows]
    for source in ([tmp_path / name for name in ("q.json", "list.json", "q.jsonl", "q.csv", "q.parquet")], [rows]):
        for one in source:
            found = score_questions(one)
            assert found.card.per_study.to_pydict()["vqa_accuracy_micro"] == [1, 0, 0]
            assert found.card.per_study.to_pydict()["study_id"] == ["000", "001", "002"]
    assert read_questions(by_letter).questions[0].options == ("A. There is an effusion.", "B. No.")


def test_answers_from_a_file_of_their_own_are_joined_by_id(tmp_path: Path) -> None:
    questions = {"1": record("A"), "2": record("B")}
    (tmp_path / "a.csv").write_text("question_id,prediction\n2,B\n1,B\n")
    found = score_questions(tmp_path / "a.csv", questions)
    assert found.card.per_study.to_pydict()["vqa_accuracy_micro"] == [0, 1]
    assert found.card.inputs["predictions"]["source"] == "a.csv"
    card = rexrank.score(tmp_path / "a.csv", questions, protocol="plain", metrics="vqa", progress=False)
    assert card.summary == found.card.summary
    (tmp_path / "a.csv").write_text("question_id,prediction\n2,B\n7,B\n")
    with pytest.raises(RefusedInput) as refused:
        score_questions(tmp_path / "a.csv", questions)
    assert [(problem.code, problem.study_id) for problem in refused.value.problems] == [
        ("missing_ids", "1"),
        ("extra_ids", "7"),
    ]


@pytest.mark.parametrize(
    ("question", "code", "field", "message"),
    [
        (record("E", "A"), "wrong_type", "correct_answer", "none of the options"),
        (record("", "A"), "wrong_type", "correct_answer", "blank"),
        (record(3, "A"), "wrong_type", "correct_answer", "expected text, got a number"),  # type: ignore[arg-type]
        (record("A", "A", options=["A. one"]), "wrong_type", "options", "2 to 26 texts"),
        (record("A", "A", options="A or B"), "wrong_type", "options", "2 to 26 texts"),
        (record("A", "A", options=["one", 2]), "wrong_type", "options", "expected text"),
        (record("A", "A", options=["one", " "]), "wrong_type", "options", "blank"),
        (record("A", "A", options=["A. one", "B. "]), "wrong_type", "options", "blank"),
        (record("A", "A", options={"A": "one", "B": ""}), "wrong_type", "options", "blank"),
        (record("A", "A", options={"A": "one", "B": 2, "C": "three"}), "wrong_type", "options", "expected text"),
        (record("A", "A", options=["A. one", "a) two"]), "wrong_type", "options", "the same letter"),
        (record("A", "A", options=None), "wrong_columns", "options", "1 of 2 questions have; score them apart"),
        (record("A", "A", question=["x"]), "wrong_type", "question", "expected text"),
        (record("A", 7), "wrong_type", "model_prediction", "expected text"),  # type: ignore[arg-type]
        ("A", "wrong_type", None, 'a record with "correct_answer"'),
    ],
)
def test_faults_name_the_question_and_the_field(question: Any, code: str, field: str | None, message: str) -> None:
    with pytest.raises(RefusedInput) as refused:
        score_questions({"good": record("A", "A"), "bad": question})
    (problem,) = refused.value.problems
    assert (problem.code, problem.study_id, problem.field) == (code, "bad", field)
    assert message in problem.message


def test_a_file_that_cannot_be_read_is_told_apart_from_one_without_questions(tmp_path: Path) -> None:
    with pytest.raises(RefusedInput, match="no such file"):
        score_questions(tmp_path / "nowhere.json")
    cut = tmp_path / "cut.json"
    cut.write_text('[{"question_id": "a", "ques', encoding="utf-8")
    with pytest.raises(RefusedInput, match=r"cut\.json") as refused:
        score_questions(cut)
    assert "holds no questions" not in str(refused.value)


def test_files_that_hold_something_else_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedInput, match="it holds no questions"):
        score_questions({"a": "The lungs are clear."})
    with pytest.raises(RefusedInput, match="questions and no answers"):
        score_questions({"a": record("A")})
    reports = tmp_path / "reports.json"
    reports.write_text('{"a": {"findings": "Clear."}}', encoding="utf-8")
    with pytest.raises(RefusedInput, match=r"reports\.json.*no questions"):
        score_questions(reports)
    # Reports, and bare answers, go their own way.
    assert rexrank.score(["A"], ["A"], protocol="plain", metrics="vqa", progress=False).summary
    assert asks_questions("vqa")
    assert asks_questions(["vqa_accuracy_micro"])
    assert not any(map(asks_questions, (None, "all", ["vqa", "bleu2"], [], [3], "no such thing")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("There is an effusion.", "There is no effusion."),
        ("Pleural effusion is present", "No evidence of pleural effusion"),
        ("Yes", "No"),
        ("Present", "Absent"),
        ("Yes, there is an effusion.", "No, there is no effusion."),
        ("Is there a fracture?", "Isn't there a fracture?"),
        ("The heart is normal", "The heart is abnormal"),
        ("The lungs are free of effusion", "The lungs have effusion"),
    ],
)
def test_opposites(one: str, other: str) -> None:
    assert polarity(one).is_opposite(polarity(other))
    assert polarity(other).is_opposite(polarity(one))
    assert not polarity(one).is_opposite(polarity(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("There is an effusion.", "There is no pneumothorax."),
        ("Left effusion", "No right effusion"),
        ("Left", "Right"),
        ("There is an effusion.", "An effusion is seen"),
        ("None of these", "All of these"),
        ("No effusion", "No, not an effusion"),
    ],
)
def test_no_opposites(one: str, other: str) -> None:
    assert not polarity(one).is_opposite(polarity(other))


def test_choosing_the_opposite_is_told_from_other_mistakes() -> None:
    def rate(said: list[str], options: list[str] = STATEMENTS) -> Any:
        return score_questions(
            {str(number): record("B", one, options=options) for number, one in enumerate(said)}
        ).reversed_options

    assert (rate(["A", "C", "D", "B"]).value, rate(["A", "C", "D", "B"]).n) == (0.25, 4)
    # What cannot be read is no case, and is counted.
    assert (rate(["A", "?"]).value, rate(["A", "?"]).n, rate(["A", "?"]).left_out) == (1, 1, 1)
    # Of "yes" and "no" each wrong answer is the opposite, so there is nothing to tell.
    assert (rate(["A", "B"], YES_NO).value, rate(["A", "B"], YES_NO).n) == (None, 0)
    assert rate(["A", "B"], ["A. Left", "B. Right", "C. Both"]).n == 0


def pairs(said: list[tuple[str, str]], study: Any = lambda number: f"s{number}") -> Any:
    questions = {}
    for number, both in enumerate(said):
        fields = {"options": YES_NO, "study_id": study(number)}
        questions[f"{number}+"] = record("A", both[0], question="Is there an effusion?", **fields)
        questions[f"{number}-"] = record("B", both[1], question="Is there no effusion?", **fields)
    return score_questions(questions)


def test_a_question_and_its_negation() -> None:
    assert pairs([("A", "B"), ("B", "A")]).unmoved_pairs.value == 0
    found = pairs([("A", "A"), ("B", "B"), ("A", "B"), ("A", "?")]).unmoved_pairs
    assert (found.value, found.n, found.left_out) == (pytest.approx(2 / 3), 3, 1)
    assert "same answer to its negation" in table(pairs([("A", "A")] * 30))
    assert any("negations are not read" in flag for flag in pairs([("A", "A")] * 29 + [("A", "B")]).flags)
    # Without the study nobody knows which questions belong together; two of one study make one pair each.
    assert pairs([("A", "A")] * 3, lambda _: None).unmoved_pairs.n == 0
    assert pairs([("A", "A")] * 3, lambda _: "s").unmoved_pairs.n == 3


def test_questions_of_one_study_are_drawn_together() -> None:
    found = pairs([("A", "A"), ("A", "B"), ("B", "A"), ("A", "B")], lambda number: f"s{number % 2}")
    assert (found.card.interval["unit"], found.card.interval["units"]) == ("study", 2)


def test_letters_that_a_model_likes() -> None:
    right = list("ABCD" * 50)
    fair = right[1:] + right[:1]  # always wrong, and each letter as often as it is right
    found = score_questions({str(number): record(one, fair[number]) for number, one in enumerate(right)})
    assert (found.card.summary["vqa_accuracy_micro"], found.bias.value) == (0, 0)  # type: ignore[union-attr]
    assert found.flags == ()
    always = score_questions({str(number): record(one, "A") for number, one in enumerate(right)})
    assert always.bias is not None
    assert always.bias.value == pytest.approx(0.75)
    assert always.bias.interval is not None
    assert always.bias.interval[0] < 0.75 < always.bias.interval[1]
    first = always.letters[0]
    assert (first.letter, first.chosen, first.right) == ("A", 1, 0.25)
    assert first.p is not None
    assert first.p < 0.01
    assert any("A is chosen in 100.0% of the answers and right in 25.0%" in flag for flag in always.flags)
    # Random answers are no bias, though their distance is above 0.
    generator = np.random.default_rng(0)
    said = generator.choice(list("ABCD"), len(right)).tolist()
    guessed = score_questions({str(number): record(one, said[number]) for number, one in enumerate(right)})
    assert guessed.bias is not None
    assert guessed.bias.value is not None
    assert 0 < guessed.bias.value < 0.15
    assert not any("is chosen in" in flag for flag in guessed.flags)


def test_answers_in_words_have_no_letters() -> None:
    found = score_questions(
        {"1": record("left lung", "left lung", options=None), "2": record("heart", "", options=None)}
    )
    assert found.card.summary["vqa_accuracy_micro"] == 0.5
    assert (found.chance, found.letters, found.bias, found.reversed_options) == (None, (), None, None)
    assert found.unread.value == 0.5
    assert "letter" not in table(found)


def test_nothing_that_can_be_read() -> None:
    found = score_questions({"1": record("A", "?"), "2": record("B", "")})
    assert found.card.summary["vqa_accuracy_micro"] == 0
    assert (found.letters, found.bias.value, found.bias.left_out) == ((), None, 2)  # type: ignore[union-attr]
    json.dumps(found.to_json(), allow_nan=False)


def test_without_categories_the_mean_of_them_is_absent_with_a_reason() -> None:
    found = score_questions({"1": record("A", "A", category=None), "2": record("A", "A")})
    assert list(found.card.summary) == ["vqa_accuracy_micro"]
    assert "needs the option categories" in table(found)


def test_on_the_command_line(tmp_path: Path) -> None:
    example = Path(__file__).resolve().parents[1] / "examples/questions.json"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "rexrank", "vqa", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    done = run(str(example), "--out", "card")
    assert done.returncode == 0
    assert "32 questions · answers read as published" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert rexrank.ScoreCard.load(tmp_path / "card").n == 32
    told = json.loads(run(str(example), "--json", "--convention", "corrected").stdout)
    assert told["card"]["convention"] == "corrected"
    assert told["unmoved_pairs"]["n"] == 12
    (tmp_path / "bad.json").write_text(json.dumps({"secret": record("E", "hidden words")}))
    refused = run("bad.json")
    assert refused.returncode == 1
    assert 'refused: wrong_type: bad.json, study "secret", field "correct_answer"' in refused.stderr
    assert "hidden" not in refused.stdout + refused.stderr
