"""Rewards by the contract of TRL's trainers: how they are called, what they give, and what they refuse."""

import inspect
import math
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from rexrank import rewards
from rexrank.errors import RexrankError
from rexrank.metrics import InvalidCall, Unavailable, compute, score_keys
from rexrank.metrics.cider import document_frequencies
from rexrank.metrics.features import FEATURES
from rexrank.rewards.keys import Scale

REFERENCE = "Small left pleural effusion. No pneumothorax."
NEAR = "Left pleural effusion is small. No pneumothorax."
FAR = "Heart size is normal."
# What a trainer passes beside the columns of the data set, TRL 1.9; a reward must not mind any of it.
BESIDE = {"trainer_state": object(), "log_extra": print, "log_metric": print, "environments": None}


def call_as_trl(
    functions: Sequence[Any], prompts: list[Any], completions: list[Any], columns: dict[str, list[Any]]
) -> list[list[float]]:
    """Call reward functions as ``GRPOTrainer._calculate_rewards`` does: rewards by completion, then function.

    Written after huggingface/trl v1.9.2, trl/trainer/grpo_trainer.py.
    """
    named = [function.__name__ for function in functions]
    assert all(isinstance(name, str) for name in named)
    table = []
    for function in functions:
        assert callable(function)
        assert not inspect.iscoroutinefunction(function)
        given = function(
            prompts=prompts,
            completions=completions,
            completion_ids=[[1, 2, 3] for _ in completions],
            **columns,
            **BESIDE,
        )
        assert isinstance(given, list)
        assert len(given) == len(completions)
        table.append([math.nan if value is None else float(value) for value in given])
    return [list(row) for row in zip(*table, strict=True)]


def chat(text: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}]


def test_a_trainer_gets_one_number_a_completion() -> None:
    functions = [rewards.make("bleu2"), rewards.make("rouge_l"), rewards.make({"bleu2": 0.5, "rouge_l": 0.5})]
    table = call_as_trl(functions, ["p"] * 3, [REFERENCE, NEAR, FAR], {"reference": [REFERENCE] * 3, "site": [1, 2, 3]})
    assert table[0] == [1.0, 1.0, 1.0]
    assert table[0] > table[1] > table[2]
    for bleu, rouge, both in table:
        assert both == pytest.approx((bleu + rouge) / 2)
    assert [function.__name__ for function in functions] == ["bleu2", "rouge_l", "bleu2+rouge_l"]
    assert rewards.make("bleu2", name="words").__name__ == "words"


def test_what_trainers_count_on_without_keywords() -> None:
    reward = rewards.make("bleu2")
    assert reward(["p"], [NEAR], [[1]], reference=[REFERENCE]) == reward(completions=[NEAR], reference=[REFERENCE])
    assert reward(completions=[], reference=[]) == []


@pytest.mark.parametrize(
    "completion",
    [
        NEAR,
        chat(NEAR),
        chat([{"type": "text", "text": NEAR[:9]}, {"type": "text", "text": NEAR[9:]}]),
        [{"content": NEAR}],
        [{"role": "assistant", "content": None}, {"role": "tool", "content": FAR}, *chat(NEAR)],
        [*chat(NEAR), {"role": "tool", "content": FAR}],
    ],
)
def test_the_assistants_last_text_counts(completion: Any) -> None:
    reward = rewards.make("bleu2")
    assert reward(completions=[completion], reference=[REFERENCE]) == reward(completions=[NEAR], reference=[REFERENCE])


@pytest.mark.parametrize("completion", ["", chat(""), chat(None), [], [{"role": "tool", "content": REFERENCE}]])
def test_a_completion_without_text_has_the_worst_reward(completion: Any) -> None:
    reward = rewards.make("rouge_l")
    assert reward(completions=[completion], reference=[REFERENCE]) == [0.0]
    assert reward.counts.n_empty == 1


@pytest.mark.parametrize(
    ("columns", "asked", "used"),
    [
        ({"reference": [REFERENCE], "report": [FAR]}, None, "reference"),
        ({"ground_truth": [REFERENCE], "findings": [FAR]}, None, "ground_truth"),
        ({"report": [REFERENCE]}, None, "report"),
        ({"reference": [FAR], "findings": [REFERENCE]}, "findings", "findings"),
    ],
)
def test_the_column_with_references(columns: dict[str, Any], asked: str | None, used: str) -> None:
    assert rewards.make("bleu2", column=asked)(completions=[REFERENCE], **columns) == [1.0], used


@pytest.mark.parametrize(
    ("columns", "asked", "said"),
    [
        ({"report": [FAR], "ground_truth": [FAR]}, None, "both ground_truth and report could hold the references"),
        ({"findings": [FAR]}, None, 'make(…, column=…) says; there are "findings"'),
        ({}, None, "remove_unused_columns=False"),
        ({"reference": [FAR]}, "findings", 'there is no column "findings" with references; there are "reference"'),
        ({"reference": [FAR, FAR]}, None, "reference has 2 items and completions 1"),
        ({"reference": FAR}, None, "reference: expected a list with one item a completion"),
        ({"reference": [3]}, None, "reference[0]: expected a text, a list of texts or None, got 3"),
        ({"reference": [[FAR, 3]]}, None, "reference[0]: expected a text, a list of texts or None"),
    ],
)
def test_wrong_references_are_refused(columns: dict[str, Any], asked: str | None, said: str) -> None:
    with pytest.raises(InvalidCall) as caught:
        rewards.make("bleu2", column=asked)(completions=[NEAR], **columns)
    assert said in str(caught.value)
    assert FAR not in str(caught.value)


@pytest.mark.parametrize("wrong", [3, None, {"content": NEAR}, ["a"], chat(3), chat([{"type": "text", "text": 3}])])
def test_wrong_completions_are_refused_by_position(wrong: Any) -> None:
    with pytest.raises(InvalidCall, match=r"^completions\[1\]: "):
        rewards.make("bleu2")(completions=[NEAR, wrong], reference=[FAR, FAR])


def test_completions_have_to_be_a_list() -> None:
    for wrong in (None, NEAR):
        with pytest.raises(InvalidCall, match=r"^completions: expected a list with one item a completion"):
            rewards.make("bleu2")(completions=wrong, reference=[FAR])


def test_rows_that_have_no_value_are_none_and_counted() -> None:
    reward = rewards.make({"bleu2": 1, "temporal_f1": 1})
    found = reward(
        completions=["New edema.", NEAR, NEAR, NEAR, NEAR],
        reference=["New edema.", None, [], " ", REFERENCE],
    )
    assert found == [2.0, None, None, None, None]
    assert (reward.counts.n, reward.counts.n_no_reference, reward.counts.n_undefined) == (5, 2, 2)
    assert reward.counts.reasons["bleu2", "empty_reference"] == 1
    assert reward.counts.reasons["temporal_f1", "no_temporal_terms"] == 1
    assert reward(completions=[NEAR, NEAR], reference=[None, None]) == [None, None]
    assert reward.counts.n == 7


def test_repeated_rows_are_counted_as_often_as_they_stand_there() -> None:
    reward = rewards.make("temporal_f1")
    reward(completions=[FAR, FAR, FAR, "Edema."], reference=[REFERENCE] * 4)
    assert reward.counts.n_undefined == 4
    assert sum(reward.counts.reasons.values()) == 4


def test_several_references_count_by_the_best() -> None:
    assert rewards.make("rouge_l")(completions=[NEAR, NEAR], reference=[[FAR, NEAR], (FAR,)])[0] == 1.0


def test_the_report_is_taken_out_of_a_completion() -> None:
    reward = rewards.make("bleu2", extract=answer)
    thought = "<think>Effusion?</think>"
    found = reward(
        completions=[f"{thought}<answer>{REFERENCE}</answer>", f"{thought}{REFERENCE}"], reference=[REFERENCE] * 2
    )
    assert found == [1.0, 0.0]
    assert pickle.loads(pickle.dumps(reward))(completions=[f"<answer>{NEAR}</answer>"], reference=[NEAR]) == [1.0]
    with pytest.raises(InvalidCall, match=r"extract gave None for completions\[0\]"):
        rewards.make("bleu2", extract=lambda text: None)(completions=[NEAR], reference=[NEAR])  # type: ignore[arg-type,return-value]


def answer(text: str) -> str:
    return text.partition("<answer>")[2].partition("</answer>")[0]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("coco_bleu4", "computed from all reports together and not a mean of studies; choose bleu2"),
        ("inv_radcliq_v1", "choose radcliq_v0 or radcliq_v1"),
        ("meteor", "choose meteor_mean"),
        ("f1labels_micro_14", "choose f1labels_samples_14 or f1labels_samples_5"),
        ("srrbert_f1", "choose another score"),
        ("report_words", "neither more nor less of it is better"),
        ("report_vocabulary", "neither more nor less of it is better"),
        ("cider", "without the option df"),
        ("rouge", "choose one: rouge_l, rouge1, rouge2, rouge_l_f1"),
        ("radgraph", "choose one: radgraph_simple, radgraph_partial, radgraph_complete, radgraph_combined"),
        ("bleu_2", "there is no reward"),
        ("radgraph_part", "did you mean radgraph_partial?"),
        (3, "got 3"),
        ({}, "a value of type dict"),
        ({"bleu2": 0}, 'the weight of "bleu2" has to be a number above 0, got 0'),
        ({"bleu2": -1}, "above 0"),
        ({"bleu2": math.nan}, "above 0"),
        ({"bleu2": True}, "above 0"),
        ({"bleu2": 1, "bleu": 1}, "bleu2 stands twice"),
    ],
)
def test_what_is_no_reward_is_refused_with_the_reason(what: Any, said: str) -> None:
    with pytest.raises(InvalidCall) as caught:
        rewards.make(what)
    assert said in str(caught.value)


@pytest.mark.parametrize("what", ["green", "crimson", "fineradscore"])
def test_judges_are_not_run(what: str) -> None:
    with pytest.raises(Unavailable, match=r"which rexrank .* does not run"):
        rewards.make(what)


@pytest.mark.parametrize(
    "options",
    [
        {"stemmer": True},
        {"on_empty_reference": "zero"},
        {"convention": "plain"},
        {"rouge.stemmer": True},
    ],
)
def test_wrong_options_are_refused_before_training(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidCall):
        rewards.make("bleu2", **options)
    with pytest.raises(InvalidCall):
        rewards.make("rouge1", stemmer="porter")


def test_options_reach_the_metric_that_has_them() -> None:
    plain = rewards.make({"rouge1": 1, "bleu2": 1})
    own: dict[str, Any] = {"rouge.stemmer": True}
    stemmed = rewards.make({"rouge1": 1, "bleu2": 1}, **own)
    batch: dict[str, Any] = {"completions": ["Effusions."], "reference": ["Effusion."]}
    assert plain(**batch) != stemmed(**batch)
    assert "stem:porter" in stemmed.signature


def test_a_blank_may_be_refused_by_its_place_in_the_batch() -> None:
    reward = rewards.make("bleu2", on_empty_prediction="error", on_empty_reference="error")
    with pytest.raises(InvalidCall, match=r"^completions\[3\]: the text is blank"):
        reward(completions=[NEAR, NEAR, FAR, " "], reference=[REFERENCE] * 4)
    with pytest.raises(InvalidCall, match=r"^reference\[2\]: the text is blank"):
        reward(completions=[NEAR] * 3, reference=[REFERENCE, REFERENCE, " "])


def test_names_that_mean_one_score() -> None:
    for name, key in {"bleu": "bleu2", "temporal_f1": "temporal_f1", "vqa": "vqa_accuracy_micro"}.items():
        assert [part.key for part in rewards.make(name).parts] == [key]


def test_cider_is_a_reward_with_the_frequencies_of_a_corpus() -> None:
    corpus = [REFERENCE, FAR, "Mild edema. The heart is enlarged.", NEAR]
    reward = rewards.make("cider", df=document_frequencies(corpus, "corrected"))
    alone = reward(completions=[NEAR], reference=[REFERENCE])
    among = reward(completions=[FAR, NEAR, REFERENCE], reference=[FAR, REFERENCE, REFERENCE])
    assert among[1:] == [*alone, 1.0]
    assert alone[0] is not None
    assert 0 < alone[0] < 1


def test_a_scale_turns_round_what_is_better_when_lower() -> None:
    scale = Scale.of("radcliq_v1")
    assert scale == Scale(2.4501430833271307, -1.4406902828047017)
    assert scale.rewards(np.array([2.4501430833271307, -1.4406902828047017, 11.6, -1.45])).tolist() == [0, 1, 0, 1]
    assert scale.signature == "reward:0=2.450143,1=-1.44069"


def test_every_score_of_studies_that_runs_is_a_reward() -> None:
    found = rewards.reward_keys()
    judged = {key for key, one in score_keys().items() if not all(FEATURES[name].runs for name in one.needs)}
    assert {"green", "crimson", "fineradscore", "fineradscore_mean", "findings_recall"} <= judged
    means = {
        key
        for key, one in score_keys().items()
        if one.kind == "mean" and one.of_mean is None and one.direction != "none"
    }
    assert means - judged <= set(found)
    assert {key for key in set(found) - means if "_samples_" not in key} == set()


def test_a_score_between_0_and_1_is_the_reward_itself_or_1_less_it() -> None:
    stretched = {"cider", "radcliq_v0", "radcliq_v1"}
    for key in set(rewards.reward_keys()) - stretched:
        ends = (0.0, 1.0) if score_keys()[key].direction == "higher" else (1.0, 0.0)
        assert Scale.of(key) == Scale(*ends), key


def test_what_is_known_of_a_study_comes_from_its_column() -> None:
    reward = rewards.make({"unsupported_prior": 1, "bleu2": 1})
    text, reference = "The effusion is unchanged.", "There is an effusion."
    rows: dict[str, Any] = {"completions": [text] * 3, "reference": [reference] * 3}
    unknown = reward(**rows)
    assert unknown[0] is not None
    assert "prior:unknown" in reward.signature
    assert reward(**rows, prior=["no", "yes", None]) == [unknown[0], None, unknown[0]]
    assert "prior:given" in reward.signature
    assert reward.counts.reasons["unsupported_prior", "prior_known"] == 1
    with pytest.raises(InvalidCall, match=r"^prior\[2\]: expected yes, no or None"):
        reward(**rows, prior=["no", "no", "perhaps"])
    with pytest.raises(InvalidCall, match=r"^prior\[1\]: expected a text, a number or None"):
        reward(**rows, prior=["no", ["no"], "no"])
    with pytest.raises(InvalidCall, match=r"^prior has 1 items and completions 3"):
        reward(**rows, prior=["no"])
    with pytest.raises(InvalidCall, match="give it as a column prior of the data set"):
        rewards.make("unsupported_prior", prior=["no"])


@pytest.mark.parametrize("number", [14, 5])
def test_f1_of_samples_is_a_mean_of_studies(number: int) -> None:
    texts = [REFERENCE, NEAR, FAR, "Cardiomegaly and edema."]
    found = compute(f"f1labels_samples_{number}", texts, texts[::-1], "corrected")[f"f1labels_samples_{number}"]
    defined = [value for value in found.values.tolist() if not math.isnan(value)]
    assert found.aggregate == pytest.approx(sum(defined) / len(defined))
    reward = rewards.make(f"f1labels_samples_{number}")(completions=texts, reference=texts[::-1])
    assert reward == [None if math.isnan(value) else value for value in found.values.tolist()]


def test_the_signature_pins_score_convention_and_scale() -> None:
    assert rewards.make("bleu2").signature == "1*bleu2|conv:corrected|tok:unicode|v:1|reward:0=0,1=1"
    both = rewards.make({"bleu2": 0.25, "rouge_l": 2}, convention="published").signature
    assert both.startswith("0.25*bleu2|conv:published|")
    assert " + 2*rouge_l|conv:published|" in both


def test_a_reward_travels_to_another_process() -> None:
    reward = rewards.make({"bleu2": 0.5, "rouge1": 0.5}, column="truth", stemmer=True)
    code = (
        "import pickle, sys; reward = pickle.load(sys.stdin.buffer); "
        f"print(reward.__name__, reward(completions=[{NEAR!r}], truth=[{REFERENCE!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(reward), capture_output=True, check=True)
    assert done.stdout.decode().strip() == f"bleu2+rouge1 {reward(completions=[NEAR], truth=[REFERENCE])}"


def test_threads_may_share_a_reward() -> None:
    reward = rewards.make({"bleu2": 1, "rouge_l": 1})
    expected = reward(completions=[NEAR, FAR], reference=[REFERENCE] * 2)
    found: list[Any] = []

    def work() -> None:
        for _ in range(10):
            found.append(reward(completions=[NEAR, FAR], reference=[REFERENCE] * 2))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 40
    assert reward.counts.n == 82


def test_importing_rewards_costs_nothing() -> None:
    code = "import sys, rexrank; rexrank.rewards; print({'numpy', 'torch', 'pyarrow', 'pydantic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_lexical_rewards_need_no_torch() -> None:
    code = (
        "import sys, rexrank; print(rexrank.rewards.make('bleu2')(completions=['a b'], reference=['a b'])); "
        "print({'torch', 'transformers', 'sqlite3'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[1.0]\nset()\n"


def test_every_error_is_meant_for_readers() -> None:
    assert issubclass(InvalidCall, RexrankError)
    assert issubclass(Unavailable, RexrankError)
