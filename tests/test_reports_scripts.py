"""Which texts count as written in another script than Latin: 30 % of their letters decide, nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexrank.reports.scripts import outside_latin


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\u200b",
        "Lungs are clear.",
        "12.5 % — ½ ± 3 → ✓ 🫁 … (1)",
        "Cœur élargi, épanchement à gauche; größer, não há, señal ÄÖÜ İı ﬁ",
        "Re\u0301sultats: poumons clairs",
        "ＦＩＮＤＩＮＧＳ： ｃｌｅａｒ",
        "5 µm nodule, SpO₂ 98 %, 37 ℃, 2ª",
        "Stable α β lesion of the lung",
        "abcdefg" + "я" * 2,
        "12 肺" + " clear lungs",
    ],
)
def test_latin(text: str) -> None:
    assert not outside_latin(text)


@pytest.mark.parametrize(
    "text",
    [
        "Лёгкие без очаговых теней.",
        "肺野清晰。",
        "胸部X線",
        "하부 폐야 정상",
        "हृदय सामान्य है",
        "صدر طبيعي",
        "חזה תקין",
        "Πνεύμονες καθαροί",
        "ปอดปกติ",
        "я",
        "abcdefg" + "я" * 3,
        "No edema: без отёка лёгких",
        "12.5 % 肺",
    ],
)
def test_other_scripts(text: str) -> None:
    assert outside_latin(text)


@given(st.integers(0, 60), st.integers(0, 60))
def test_three_letters_in_ten_decide(latin: int, other: int) -> None:
    text = "a" * latin + "ж" * other
    assert outside_latin(text) == (other > 0 and 10 * other >= 3 * (latin + other))


@given(st.text(max_size=40), st.text(alphabet=" .,;:!?0123456789%\n\u200b\u2028—…🫁", max_size=20))
def test_what_is_no_letter_changes_nothing(text: str, rest: str) -> None:
    assert outside_latin(text) == outside_latin(rest + text + rest)


@given(st.text(max_size=40))
def test_case_and_order_change_nothing(text: str) -> None:
    assert outside_latin(text) == outside_latin(text[::-1])
    assert outside_latin("Лёгкие" + "А" * len(text)) == outside_latin("лёгкие" + "а" * len(text))
