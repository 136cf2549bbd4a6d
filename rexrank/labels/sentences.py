"""From a report to the words of its sentences."""

import re
import unicodedata

from rexrank.reports.sections import read_sections

# A full stop ends a sentence before white space, and between two words without any ("normal.No"), but not in "vs."; a
# line break does before an empty line and before an item of a list. The first character decides where to look at all.
_END = re.compile(
    r"[.!;\n](?:(?<=;)"
    r"|(?<=!)(?=[\s.!?]|$)"
    r"|(?<=\.)(?:(?=[\s.!?]|$)(?<!\bvs\.)(?<!\bdr\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bapprox\.)"
    r"|(?<=[^\W\d_]{2}\.)(?=[^\W\d_]{2}))"
    r"|(?<=\n)(?:\s*\n|(?=[-*\u2022]|\d{1,2}[.)]\s)))"
)
# Only a text with a colon, or with a short line that ends in no full stop, can have headers.
_HEADER = re.compile(r":|^[^\n.]{1,60}$", re.MULTILINE)
# A question mark behind a word says that the word is in doubt, and ends its sentence.
_QUESTION = re.compile(r"(?<=\w)\?(?=\s|$)")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[,:?/]")
_DEIDENTIFIED = re.compile(r"x{2,}")
_SPLIT_WORDS = str.maketrans(
    {"\u2019": "'", "\u00ad": None, "\u200b": None, "\u200c": None, "\u200d": None, "\ufeff": None}
)
# Words of cues.yaml that no report can hold: the end of a sentence, and a question mark inside one.
END, QUERY = "<end>", "<query>"


def sentences(text: str) -> list[str]:
    """The sentences of what a report says of its images, lower-case.

    Where the text has headers, these are its findings and impression: what was asked and what the images were
    compared with is no finding. A line break is a space, but ends a sentence in a text without any full stop.
    """
    if (":" in text or "\n" in text) and _HEADER.search(text):
        text = _read_parts(text)
    if "\n" in text and "." not in text:
        text = text.replace("\n", "\n\n")
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_SPLIT_WORDS)
    if "?" in text:
        text = _QUESTION.sub("?.", text)
    text = text.lower()
    if "n't" in text:
        text = text.replace("can't", "cannot").replace("n't", " not")
    return [sentence for part in _END.split(text) if (sentence := part.strip())]


def _read_parts(text: str) -> str:
    sections = read_sections(text)
    return "\n\n".join(part for part in (sections.findings, sections.impression) if part)


def words(sentence: str) -> list[str]:
    """Words, commas, colons, slashes and question marks; marks of de-identification are left out."""
    found = [word for word in _WORD.findall(sentence) if not _DEIDENTIFIED.fullmatch(word)]
    return [QUERY if word == "?" else word for word in found] if "?" in found else found
