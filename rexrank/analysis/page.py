"""The report as one page of HTML: nothing is fetched, no script runs, and it prints."""

import logging
from collections.abc import Iterable, Sequence
from html import escape

from rexrank.analysis.blocks import Block, Paragraph, Picture, Points, Section, Table
from rexrank.errors import RexrankError
from rexrank.layout import TURNING_MARKS

_log = logging.getLogger(__name__)
# Names of systems come from others: marks that turn the direction of reading make one look like another, and HTML may
# hold no control characters.
_CONTROLS = [number for number in (*range(0x20), *range(0x7F, 0xA0)) if chr(number) not in "\t\n"]
_HARMFUL = dict.fromkeys([*map(ord, TURNING_MARKS), *_CONTROLS], "\ufffd")

_CSS = """
:root {
  --rx-ink: #14262b; --rx-quiet: #4e626a; --rx-line: #d7e0e3; --rx-accent: #0f766e; --rx-base: #7b8b92;
  --page: #ffffff; --panel: #f3f7f8; color-scheme: light dark;
}
@media (prefers-color-scheme: dark) { :root {
  --rx-ink: #e6eef0; --rx-quiet: #9fb1b8; --rx-line: #2b3a40; --rx-accent: #5eead4; --rx-base: #8b9ca3;
  --page: #0e1518; --panel: #19252a;
} }
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 24px 20px 60px; max-width: 760px; background: var(--page); color: var(--rx-ink);
  font: 16px/1.5 ui-sans-serif, system-ui, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 22px; margin: 44px 0 6px; line-height: 1.25; } h3 { font-size: 18px; margin: 30px 0 6px; }
p { margin: 8px 0; text-wrap: pretty; } li { margin: 5px 0; text-wrap: pretty; }
h2 { border-top: 2px solid var(--rx-line); padding-top: 14px; }
.quiet, figcaption { color: var(--rx-quiet); } .quiet { font-size: 14.5px; }
.caption { margin: 18px 0 -6px; }
.summary { background: var(--panel); border-radius: 8px; padding: 14px 20px; margin: 20px 0; }
.summary h2 { margin: 0; border: 0; padding: 0; } .summary h3 { font-size: 16px; margin: 14px 0 0; }
.summary ul { margin: 4px 0; padding-left: 22px; } nav ul { columns: 2 260px; column-gap: 36px; padding-left: 20px; }
nav li { margin: 0; padding: 3px 0; break-inside: avoid; }
a { color: var(--rx-accent); }
figure { margin: 16px 0 22px; break-inside: avoid; }
figcaption { margin: 6px 0 0; font-size: 14.5px; max-width: 600px; }
.wide { overflow-x: auto; margin: 12px 0; } table { border-collapse: collapse; font-size: 14.5px; width: 100%; }
thead th { font-weight: 600; vertical-align: bottom; }
th, td { text-align: right; padding: 4px 0 4px 14px; border-bottom: 1px solid var(--rx-line); vertical-align: top;
  font-variant-numeric: tabular-nums; overflow-wrap: normal; }
table:not(.text) td:not(:last-child) { white-space: nowrap; }
th:first-child { text-align: left; padding-left: 0; font-weight: 400; overflow-wrap: anywhere; min-width: 110px; }
table.text th, table.text td { text-align: left; overflow-wrap: anywhere; } table.text td { font-size: 13.5px; }
details { margin: 12px 0; } summary { cursor: pointer; color: var(--rx-accent); }
footer { margin-top: 50px; border-top: 1px solid var(--rx-line); padding-top: 10px; }
@media (max-width: 480px) { body { padding: 16px 14px 40px; } h1 { font-size: 24px; }
  .summary { padding: 12px 14px; } table { font-size: 13px; } th, td { padding-left: 9px; }
  table:not(.text) td:not(:last-child) { white-space: normal; } }
@media print {
  :root { --rx-ink: #000; --rx-quiet: #333; --rx-line: #bbb; --rx-accent: #0f5e57; --page: #fff; --panel: #fff; }
  body { max-width: none; padding: 0; font-size: 11pt; } h2, h3 { break-after: avoid; } .wide { overflow: visible; }
  .rx-figure { max-width: 125mm !important; } nav { display: none; } tr { break-inside: avoid; }
  table:not(.text) td:not(:last-child) { white-space: normal; }
}
"""
# No page can then fetch or run anything, whatever a name holds.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, lead: str, sections: Sequence[Section], closing: str) -> str:
    """The whole page.

    Args:
        title: Its heading.
        lead: One sentence beneath it.
        sections: Parts and their sections, in order; what they tell stands together on top.
        closing: Last line.
    """
    parts = [(f"part{index}", section) for index, section in enumerate(sections)]
    links = "".join(
        f'<li><a href="#{anchor}">{text(section.title)}</a></li>' for anchor, section in parts if section.level == 2
    )
    contents = f'<nav aria-label="Contents"><ul>{links}</ul></nav>' if links else ""
    body = "".join(section_html(section, anchor) for anchor, section in parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{_CSS}</style>\n</head>\n<body>\n"
        f'<header><h1>{text(title)}</h1><p class="quiet">{text(lead)}</p></header>\n'
        f"{_summary(sections)}\n{contents}\n<main>{body}</main>\n"
        f'<footer class="quiet">{text(closing)}</footer>\n</body>\n</html>\n'
    )


def _summary(sections: Sequence[Section]) -> str:
    """What the sections tell, by the part in which they stand."""
    told: dict[str, list[str]] = {}
    part = ""
    for section in sections:
        part = section.title if section.level == 2 else part
        if section.told:
            told.setdefault(part, []).extend(section.told)
    if not told:
        return ""
    groups = "".join(
        f"<h3>{text(title)}</h3>{_points(items)}" if title else _points(items) for title, items in told.items()
    )
    return f'<section class="summary"><h2>In short</h2>{groups}</section>'


def section_html(section: Section, anchor: str = "") -> str:
    """One section, for this page or for another one that has the same colours (``--rx-…``)."""
    mark = f' id="{anchor}"' if anchor else ""
    head = f"<h{section.level}>{text(section.title)}</h{section.level}>"
    return f"<section{mark}>{head}{blocks_html(section.blocks)}</section>\n"


def blocks_html(blocks: Iterable[Block]) -> str:
    """Blocks one below the other."""
    return "".join(map(_block, blocks))


def text(words: str) -> str:
    """Words made harmless for HTML, in elements and in quoted attributes."""
    return escape(words.translate(_HARMFUL), quote=True)


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        kind = ' class="quiet rx-quiet"' if block.quiet else ""
        return f"<p{kind}>{text(block.text)}</p>"
    if isinstance(block, Points):
        return _points(block.items)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Picture):
        return _picture(block)
    return f"<details><summary>{text(block.title)}</summary>{blocks_html(block.blocks)}</details>"


def _points(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{text(item)}</li>' for item in items)}</ul>"


def _table(table: Table) -> str:
    # Above the frame and no caption inside it, which would scroll out of sight with a wide table.
    caption = f'<p class="quiet rx-quiet caption">{text(table.caption)}</p>' if table.caption else ""
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in table.head)
    rows = "".join(
        f'<tr><th scope="row">{text(row[0])}</th>{"".join(f"<td>{text(cell)}</td>" for cell in row[1:])}</tr>'
        for row in table.rows
    )
    kind = ' class="text"' if table.is_text else ""
    label = f' aria-label="{text(table.caption)}"' if table.caption else ""
    # Reached by the keyboard, as a wide table scrolls inside its frame.
    return (
        f'{caption}<div class="wide rx-wide" tabindex="0"><table{kind}{label}><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _picture(picture: Picture) -> str:
    try:
        drawn = picture.draw().svg()
    except RexrankError as error:
        drawn = f'<p class="quiet rx-quiet">No picture: {text(str(error))}.</p>'
    except Exception as error:
        _log.warning("a picture failed with %s", type(error).__name__)
        why = f"drawing failed with {type(error).__name__}; please report this with the version of rexrank"
        drawn = f'<p class="quiet rx-quiet">No picture: {text(why)}.</p>'
    return f'<figure class="rx-picture">{drawn}<figcaption>{text(picture.see)}</figcaption></figure>'
