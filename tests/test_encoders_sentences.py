"""The sentences that RaTEScore reads are those of PyRuSH in medspaCy."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.sentences import ARCHIVE, digest, texts_of
from rexrank.benchmarks import openi
from rexrank.encoders.sentences import sentence_spans, split

# What the original gave; `python -m bench.sentences --record` writes it.
RECORD = json.loads((Path(__file__).parent / "fixtures" / "sentences.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n\t ", []),
        ("Clear.", ["Clear."]),
        ("Heart is normal. Lungs are clear.", ["Heart is normal.", "Lungs are clear."]),
        ("heart is normal. lungs are clear.", ["heart is normal.", "lungs are clear."]),
        ("heart is normal . lungs are clear .", ["heart is normal . lungs are clear ."]),
        ("Heart is normal.Lungs are clear.", ["Heart is normal.Lungs are clear."]),
        ("Nodule of 3.5 cm. No effusion", ["Nodule of 3.5 cm.", "No effusion"]),
        ("Discussed with Dr. Miller. Stable.", ["Discussed with Dr. Miller.", "Stable."]),
        ("Is it edema? No.", ["Is it edema? No."]),
        ("Is it edema or a scar? The heart is large.", ["Is it edema or a scar?", "The heart is large."]),
        # Lines: only where the next one does not go on.
        ("Lungs are\nclear. Heart is\nnormal.", ["Lungs are\nclear.", "Heart is\nnormal."]),
        ("Lungs are clear\nHeart is normal", ["Lungs are clear", "Heart is normal"]),
        ("FINDINGS:\nlungs clear", ["FINDINGS:", "lungs clear"]),
        ("FINDINGS: Lungs clear.", ["FINDINGS: Lungs clear."]),
        ("1. Edema.\n2. Scar.", ["1.", "Edema.", "2. Scar."]),
        ("- Edema\n- No scar", ["- Edema", "- No scar"]),
        # Marks at the end of a report belong to no sentence, unless they make a face with what is before.
        ("No effusion:", ["No effusion", ":"]),
        ("CHEST (PA AND LAT):", ["CHEST (PA AND LAT):"]),
        ("Lungs are clear.\r\nHeart is normal.", ["Lungs are clear.", "Heart is normal."]),
        # Line breaks that were written out, as an export may leave them, and what a wrong encoding leaves.
        ("Lungs are clear. \\n Heart is normal.", ["Lungs are clear. \\n", "Heart is normal."]),
        ("Lungs are clear.\\nHeart is normal.", ["Lungs are clear.\\nHeart", "is normal."]),
        ("Lungs are clear. \\n2. Heart is normal.", ["Lungs are clear. \\n2", ". Heart is normal."]),
        ("Lungs are clear. \\t Heart is normal.", ["Lungs are clear.", "\\t Heart is normal."]),
        ("Clear.\ufffd The heart is large. It is.", ["Clear.", "\ufffd", "The heart is large.", "It is."]),
        ("Œdème pulmonaire. État stable.", ["Œdème pulmonaire.", "État stable."]),
        ("两肺清晰，心影不大。", ["两肺清晰，心影不大", "。"]),
    ],
)
def test_invented_reports(text: str, sentences: Sequence[str]) -> None:
    assert split(text) == sentences


def test_texts_that_every_rule_decides() -> None:
    differing = [text for text, spans in RECORD["invented"] if sentence_spans(text) != [tuple(span) for span in spans]]
    assert differing == []


def differing_reports(data: Path, step: int) -> list[int]:
    """Numbers of the reports of Open-i whose sentences are others than the original's; one of so many is looked at."""
    reports = openi.read_reports(data / "iu_xray" / ARCHIVE)
    return [
        number
        for number in list(reports)[::step]
        if digest([sentence_spans(text) for text in texts_of(reports[number])]) != RECORD["openi"][str(number)]
    ]


def test_real_reports(shared_data: Path) -> None:
    assert differing_reports(shared_data, 8) == []


@pytest.mark.slow
def test_all_real_reports(shared_data: Path) -> None:
    assert len(RECORD["openi"]) == 3955
    assert differing_reports(shared_data, 1) == []


@pytest.mark.parametrize(
    "part",
    ["a. ", "A", " ", "\n", "\nA", ".", "(", "1) ", "**", "....a", "\u2003", "x\n\n", "):", "\\n", ". \\n", "\\s\\"],
)
def test_the_longest_report_takes_no_time(part: str) -> None:
    text = (part * 20_000)[:20_000]
    start = time.perf_counter()
    split(text)
    assert time.perf_counter() - start < 5
