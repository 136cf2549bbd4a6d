"""The sentences of a report as RaTEScore reads them: those of PyRuSH 1.0.13 in medspaCy 1.3.1.

RuSH (Shi et al., github.com/jianlins/PyRuSH) finds by rules where sentences begin and end; sentences.yaml has them. Its
spans become sentences by way of spaCy's English tokens: a sentence begins at a token at which a span begins and at the
one behind a span, so none begins inside what is a single token to spaCy. All that is done here without either.
"""

import re
import string
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import yaml

_KINDS = ("begin", "no_begin", "no_end", "end")
_REPEATS = 50
# A shorter piece between two sentences belongs to the one before.
_LEAST_GAP = 5
_CLOSING = '.!?)]"'

# Characters beyond ASCII are alike within a class, and one of each stands for all; some rules know these by name.
_NAMED = "\xa0\u00b7\u2022"
_SPACE, _LOWER, _UPPER, _DIGIT, _OTHER = "\u2003", "\u00e9", "\u00c9", "\u00b2", "\u00a7"
_WHITE = r"\t-\r\x1c- "
_CLASSES = {
    "c": f"[a-z{_LOWER}]",
    "C": f"[A-Z{_UPPER}]",
    "d": f"[0-9{_DIGIT}]",
    "p": f"[{re.escape(string.punctuation)}]",
    "a": f"[^{_WHITE}\xa0{_SPACE}]",
    "u": "[^\\x00-~\xa0]",
    "s": "[ \\t\xa0]",
    "n": r"\n",
    "w": f"[{_WHITE}\\x7f-\U0010ffff]",
    "b": r"\A",
    "e": r"\Z",
    "_": " ",
}
_SYMBOL = re.compile(r"\\.|.")
_CHOICE = re.compile(r"(?<!\\)\[((?:[^\\\]]|\\.)*)\]")
_BAR = re.compile(r"(?<!\\)\|")


class _Rule(NamedTuple):
    """A rule: what it finds, whether it marks an end, whether it marks anything, and characters it needs."""

    pattern: re.Pattern[str]
    of_end: bool
    marks: bool
    needs: frozenset[str]


class _Mark(NamedTuple):
    """A marked part of the text; `at` is where the rule that found it begins."""

    at: int
    begin: int
    end: int
    marks: bool


def split(text: str) -> list[str]:
    """The sentences of a report, stripped; none is blank."""
    return [text[begin:end] for begin, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where the stripped sentences of a report begin and end, in characters."""
    spans = _spans(text)
    starts = _starts(text, _tokens(text, sorted({edge for span in spans for edge in span})), spans)
    found = []
    for begin, end in pairwise([*starts, len(text)]):
        piece = text[begin:end].strip()
        if piece:
            begin = text.index(piece[0], begin)
            found.append((begin, begin + len(piece)))
    return found


def _spans(text: str) -> list[list[int]]:
    """RuSH's sentences, which leave out white space between them and marks at the end of the text.

    A begin opens a sentence, and the next end closes it; further ends before the next begin move its end there.
    """
    begins, ends = _found(text)
    made: list[list[int]] = []
    open_, begin, end, first = False, 0, 0, 0
    for number, mark in enumerate(begins):
        if mark.begin < end:
            continue
        if not open_:
            begin, open_ = mark.begin, True
        _close_gap(made, text, begin)
        following = begins[number + 1].begin if number + 1 < len(begins) else None
        for index in range(first, len(ends)):
            is_last = index + 1 == len(ends)
            if following is not None and not is_last and following <= ends[index].begin:
                break
            first, end = index, len(text[: ends[index].begin + 1].rstrip())
            if end < begin:
                continue
            if not open_:
                made[-1] = [begin, end]
                continue
            made.append([begin, end])
            open_ = False
            if following is not None and (is_last or following <= ends[index + 1].end):
                break
    return _with_edges(made, text, ends)


def _close_gap(made: list[list[int]], text: str, begin: int) -> None:
    """Make a sentence of what lies between the last one and the next, or give it to the last."""
    gap = _content(text, made[-1][1] if made else 0, begin)
    if gap and gap[1] - gap[0] > _LEAST_GAP:
        made.append(gap)
    elif gap and made:
        made[-1][1] = gap[1]


def _with_edges(made: list[list[int]], text: str, ends: Sequence[_Mark]) -> list[list[int]]:
    """Add what stands before the first sentence and behind the last one."""
    if made and (before := _content(text, 0, made[0][0])):
        if made[0][0] <= ends[0].begin:
            made[0][0] = before[0]
        else:
            made.insert(0, before)
    _close_gap(made, text, len(text))
    return made


def _content(text: str, begin: int, end: int) -> list[int] | None:
    """The part of a gap from its first character to the last letter, digit or closing mark; None for less than two."""
    piece = text[begin:end]
    first = begin + len(piece) - len(piece.lstrip())
    for last in range(end - 1, first, -1):
        if text[last].isalnum() or text[last] in _CLOSING:
            return [first, last + 1]
    return None


def _found(text: str) -> tuple[list[_Mark], list[_Mark]]:
    """Marks of begins and of ends, in the order of the rules' places."""
    reduced = text.replace("\r", "\n")
    if not text.isascii():
        reduced = reduced.translate(_Reduction())
    have = frozenset(reduced)
    found: tuple[list[_Mark], list[_Mark]] = ([], [])
    for rule in _rules(written="\\" in have):
        if rule.needs <= have:
            found[rule.of_end].extend(_matches(rule, reduced))
    begins, ends = (_longest(sorted(marks, key=lambda mark: mark.at)) for marks in found)
    return begins, ends


def _matches(rule: _Rule, text: str) -> Iterator[_Mark]:
    """What a rule marks, from every place at which it fits."""
    search, groups = rule.pattern.search, rule.pattern.groupindex
    has_begin, has_end = "begin" in groups, "end" in groups
    match = search(text)
    while match:
        at = match.start()
        begin = match.start("begin") if has_begin else at
        end = match.start("end") if has_end else match.end()
        yield _Mark(at, min(begin, end), max(begin, end), rule.marks)
        match = search(text, at + 1)


def _longest(marks: Sequence[_Mark]) -> list[_Mark]:
    """Of marks that overlap the longest, of equally long ones the first; those without effect are left out.

    One that gives way leaves its place taken, and the very first takes one character less: RuSH's tree of intervals
    has it so.
    """
    kept: list[_Mark] = []
    taken: list[tuple[int, int, int]] = []
    for mark in marks:
        taken = [place for place in taken if place[1] >= mark.at]
        number = next((place[2] for place in reversed(taken) if _overlap(mark.begin, mark.end, *place[:2])), None)
        if number is None:
            taken.append((mark.begin, mark.end if kept else mark.end - 1, len(kept)))
            kept.append(mark)
        elif mark.end - mark.begin > kept[number].end - kept[number].begin:
            taken.append((mark.begin, mark.end, number))
            kept[number] = mark
    return [mark for mark in kept if mark.marks]


def _overlap(begin: int, end: int, other_begin: int, other_end: int) -> bool:
    if other_begin == other_end == begin or begin == end == other_begin:
        return True
    return other_end > begin and other_begin < end


def _starts(text: str, tokens: Sequence[int], spans: Sequence[Sequence[int]]) -> list[int]:
    """Tokens at which sentences begin: those of the spans, what follows them, and white space behind the last."""
    starts = set(tokens[:1])
    number, index = 0, 0
    while index < len(tokens):
        token = tokens[index]
        if number + 1 < len(spans) and spans[number][1] <= token < spans[number + 1][0]:
            stop = index
            while stop < len(tokens) and tokens[stop] < spans[number + 1][0]:
                stop += 1
            gap = tokens[index:stop]
            starts.add(next((one for one in gap if text[one].isspace()), token))
            index = stop
            continue
        while number < len(spans) and token >= spans[number][1]:
            number += 1
        if number == len(spans):
            if text[token].isspace():
                starts.add(token)
        elif token >= spans[number][0]:
            if token == spans[number][0]:
                starts.add(token)
            if index + 1 < len(tokens) and tokens[index + 1] >= spans[number][1]:
                starts.add(tokens[index + 1])
        index += 1
    return sorted(starts)


def _tokens(text: str, edges: Sequence[int]) -> list[int]:
    """Where spaCy's tokens begin; inside words only of those that have one of the edges inside."""
    tokens = []
    for chunk in _CHUNK.finditer(text):
        begin, end = chunk.span()
        if text[begin].isspace():
            # The space behind a word belongs to the word.
            begin += begin > 0 and text[begin] == " "
            if begin < end:
                tokens.append(begin)
            continue
        tokens.append(begin)
        inside = bisect_right(edges, begin)
        if inside < len(edges) and edges[inside] < end:
            tokens.extend(begin + cut for cut in _cuts(chunk[0]))
    return tokens


_CHUNK = re.compile(r"\s+|\S+")
# spaCy's English punctuation, as far as it stands in Latin script.
_QUOTES = "'\"\u201d\u201c`\u2018\u00b4\u2019\u201a\u201e\u00bb\u00ab"
_MARKS = r"\u2026,:;!?\u00bf\u00a1()\[\]{}<>_#*&\u00b7"
_MARKS += r"\u3002\uff1f\uff01\uff0c\u3001\uff1b\uff1a\uff5e\u0964\u060c\u06d4\u061b\u066a\u061f"
# The last two kinds are in texts that were read in a wrong encoding, and faces.
_SIGNS = "\u00b0\u00a9\u00ae\u00a6\u2122\ufffd\U0001f300-\U0001f3fa\U0001f400-\U0001faff"
_MONEY = "$\u00a3\u20ac\u00a5"
_SMALL, _LETTER = "a-z\u00df-\u00f6\u00f8-\u00ff", "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff"
_UNITS = "km/h|kmh|[kdcmnµ]?m|m/s|ha|yd|in|ft|[kmµ]?g|t|lb|oz|mph|h?Pa|mbar|mb|[kKMGT]B|[kgt]b|[TGMK%]"
_LONGEST_SUFFIX = 8
_PREFIX = re.compile(rf"[\u00a7%=\u2014\u2013{_MARKS}{_QUOTES}{_SIGNS}{_MONEY}]|\+(?!\d)|\.\.+")
_SUFFIX = re.compile(
    rf"(?:['\u2019][sS]|[\u2014\u2013{_MARKS}{_QUOTES}{_SIGNS}]|\.\.+|(?<=\d)(?:[+{_MONEY}]|{_UNITS})"
    rf"|(?<=[0-9{_SMALL}%\u00b2+{_MARKS}{_QUOTES}-])\.|(?<=[A-Z][A-Z])\.)\Z"
)
_INFIX = re.compile(
    rf"\.\.+|[{_SIGNS}\u2026]|(?<=\d)[+*^-](?=[\d-])|(?<=[{_SMALL}{_QUOTES}])\.(?=[A-Z\u00c0-\u00d6\u00d8-\u00de{_QUOTES}])"
    rf"|(?<=[{_LETTER}]),(?=[{_LETTER}])|(?<=[{_LETTER}0-9])(?:---?|[-\u2013\u2014~:<>=/])(?=[{_LETTER}])"
)
# Faces, which spaCy never cuts, of two characters.
_FACE = re.compile(r"(?=(\):|:[*()/]|\(:|;\)|8\)|\(8))")


def _cuts(word: str) -> list[int]:
    """Where spaCy's tokens begin inside what white space surrounds."""
    begin, end = 0, len(word)
    cuts = set()
    while begin < end:
        prefix = _PREFIX.match(word, begin)
        before = prefix.end() - begin if prefix else 0
        suffix = _SUFFIX.search(word, max(begin + before, end - _LONGEST_SUFFIX), end)
        behind = len(suffix[0]) if suffix else 0
        if not before and not behind:
            break
        begin, end = begin + before, end - (behind if before + behind <= end - begin else 0)
        cuts |= {begin, end}
    for match in _INFIX.finditer(word[begin:end]):
        cuts |= {begin + match.start(), begin + match.end()}
    borders = cuts | {0, len(word)}
    for match in _FACE.finditer(word):
        if {match.start(), match.start() + 2} <= borders:
            cuts.discard(match.start() + 1)
    return sorted(cuts - {0, len(word)})


class _Reduction(dict[int, str]):
    """Translates characters to those that stand for their classes."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if code < 128 or character in _NAMED:
            return character
        if character.isspace():
            return _SPACE
        if character.islower():
            return _LOWER
        if character.isupper():
            return _UPPER
        return _DIGIT if character.isdigit() else _OTHER


@cache
def _rules(written: bool) -> list[_Rule]:
    """All rules.

    Args:
        written: Whether a symbol also finds itself as it is written: RuSH takes a backslash and an n for a line break.
    """
    listed = yaml.safe_load(files("rexrank.encoders").joinpath("sentences.yaml").read_text(encoding="utf-8"))
    return [
        _Rule(re.compile(_regex(one, written)), kind.endswith("end"), not kind.startswith("no_"), _needs(one, written))
        for kind in _KINDS
        for notation in listed[kind]
        for one in _without_marks_in_choices(notation)
    ]


def _without_marks_in_choices(notation: str) -> Iterator[str]:
    """A rule for each alternative of a choice that has the begin or the end of the marked part in it."""
    for choice in _CHOICE.finditer(notation):
        if {"(", ")"}.intersection(_SYMBOL.findall(choice[1])):
            for alternative in _BAR.split(choice[1]):
                yield from _without_marks_in_choices(
                    notation[: choice.start()] + alternative + notation[choice.end() :]
                )
            return
    yield notation


def _regex(notation: str, written: bool) -> str:
    parts: list[str] = []
    symbols = _SYMBOL.findall(notation)
    for symbol, following in zip(symbols, [*symbols[1:], ""], strict=True):
        if symbol in "()":
            parts.append("(?P<begin>)" if symbol == "(" else "(?P<end>)")
        elif symbol in "[|]":
            parts.append({"[": "(?:", "|": "|", "]": ")"}[symbol])
        elif symbol != "+":
            found = _CLASSES.get(symbol[1], re.escape(symbol[1])) if len(symbol) == 2 else re.escape(symbol)
            finds = _repeated(found) if following == "+" else found
            if written and len(symbol) == 2 and symbol[1] not in "()":
                last = re.escape(symbol[1])
                finds = rf"(?:{finds}|\\{_repeated(last) if following == '+' else last})"
            parts.append(finds)
    return "".join(parts)


def _repeated(found: str) -> str:
    """RuSH tries one alone, as many as there are, and also the plus sign itself."""
    return rf"{found}(?:{found}{{1,{_REPEATS}}}+||\+)"


def _needs(notation: str, written: bool) -> frozenset[str]:
    """Characters without which a text cannot fit a rule."""
    symbols = _SYMBOL.findall(_CHOICE.sub("+", notation))
    if written:
        symbols = [symbol for symbol in symbols if len(symbol) == 1]
    known = {r"\n": "\n", r"\_": " "}
    return frozenset(
        known.get(symbol, symbol[-1])
        for symbol in symbols
        if symbol in known or (len(symbol) == 1 and symbol not in "()+") or symbol[-1] in "()[]|"
        if symbol not in "()"
    )
