"""Compare the sentences that RaTEScore reads with those of the original splitter, PyRuSH in medspaCy, and time both.

    python -m bench.sentences --python ORIGINALS [--data DATA] [--record FILE]

ORIGINALS is the interpreter of the environment that holds the original packages (docs/verify.md); DATA is the folder
with ``NLMCXR_reports.tgz`` (default: ``data/iu_xray`` in the folder of real data that the tests use). Of each of the
3,955 reports of Open-i three texts are split: FINDINGS, IMPRESSION, and both as MIMIC-CXR lays a report out, with
headers and in lines. Where sentences differ, the number of the report and the characters are printed, and no word.

FILE is what tests/test_encoders_sentences.py compares with: a digest a report, and the sentences of invented texts. The
invented texts stay as they are in it.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rexrank.benchmarks import openi
from rexrank.encoders.sentences import sentence_spans

Spans = list[tuple[int, int]]

ARCHIVE = "NLMCXR_reports.tgz"
_DIGEST = 8
_WIDTH = 78
_ORIGINAL = """
import json, logging, sys, time
from importlib.metadata import version
from loguru import logger
logger.remove()
import medspacy
nlp = medspacy.load(medspacy_enable=["medspacy_pyrush", "medspacy_context"])
texts, found = json.load(sys.stdin), []
start = time.perf_counter()
for text in texts:
    found.append([])
    for sentence in nlp(text).sents:
        words = sentence.text.strip()
        if words:
            begin = text.index(words[0], sentence.start_char)
            found[-1].append([begin, begin + len(words)])
seconds = time.perf_counter() - start
names = {name: version(name) for name in ("PyRuSH", "medspacy", "spacy")}
json.dump({"spans": found, "seconds": seconds, "versions": names}, sys.stdout)
"""


def texts_of(report: openi.OpenIReport) -> list[str]:
    """Findings, impression, and both in the layout of MIMIC-CXR; empty where the report lacks a section."""
    findings, impression = report.findings or "", report.impression or ""
    indication = report.indication or "Cough."
    comparison = report.comparison or "None."
    parts = [f" INDICATION:  {indication}", f" COMPARISON:  {comparison}", f" FINDINGS: \n \n{_lines(findings)}"]
    listed = "\n \n".join(_lines(f"{number}.  {item}") for number, item in enumerate(impression.split(". "), 1))
    laid_out = "\n \n".join(["FINAL REPORT", *parts, f" IMPRESSION: \n \n{listed}"])
    return [findings, impression, laid_out]


def _lines(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=" ", subsequent_indent=" ")


def digest(spans: Sequence[Sequence[Sequence[int]]]) -> str:
    """Digest of the ends of all sentences of the texts of a report."""
    ends = [[end for _, end in text] for text in spans]
    return hashlib.sha256(json.dumps(ends).encode()).hexdigest()[:_DIGEST]


def split_by_original(python: str, texts: Sequence[str]) -> dict[str, Any]:
    """Sentences of texts by the original packages, with the time they took and their versions."""
    done = subprocess.run(
        [python, "-c", _ORIGINAL], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Compare, print and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = Path(os.environ.get("REXRANK_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--python", required=True, help="interpreter of the originals")
    parser.add_argument("--data", type=Path, default=shared / "data" / "iu_xray")
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    reports = openi.read_reports(arguments.data / ARCHIVE)
    texts = [text for report in reports.values() for text in texts_of(report)]
    theirs = split_by_original(arguments.python, texts)
    sentence_spans(texts[0])  # reads the rules
    start = time.perf_counter()
    ours: list[Spans] = [sentence_spans(text) for text in texts]
    seconds = time.perf_counter() - start
    differing = 0
    for place, (one, other) in enumerate(zip(ours, theirs["spans"], strict=True)):
        if off := set(one) ^ set(map(tuple, other)):
            differing += 1
            print(f"report {list(reports)[place // 3]}, text {place % 3}: characters {sorted(off)}")
    sentences = sum(map(len, theirs["spans"]))
    print(f"{len(reports):,} reports, {len(texts):,} texts, {sentences:,} sentences: {differing} texts differ")
    print(f"ours {1e3 * seconds / len(texts):.2f} ms a text, theirs {1e3 * theirs['seconds'] / len(texts):.2f} ms")
    if arguments.record:
        record = json.loads(arguments.record.read_text(encoding="utf-8"))
        invented = [text for text, _ in record["invented"]]
        found = split_by_original(arguments.python, invented)["spans"]
        numbers = {
            str(number): digest(theirs["spans"][3 * place : 3 * place + 3]) for place, number in enumerate(reports)
        }
        record = {"versions": theirs["versions"], "invented": list(zip(invented, found, strict=True)), "openi": numbers}
        arguments.record.write_text(json.dumps(record, separators=(",", ":")).replace('],["', '],\n["') + "\n")


if __name__ == "__main__":
    sys.exit(main())
