"""The page "About": what the numbers mean, how to take part and how to get the data."""

from typing import Any

import gradio as gr

from rexrank import __version__, environment
from rexrank.board.host import Host
from rexrank.protocols import Protocol
from space.data import BoardData, BoardStore
from space.formatting import MISSING, escape
from space.links import hub_link, hub_page, listed
from space.parts import PRIVATE
from space.rules import Rules, load, rules
from space.table import Column

# The text is not there yet when the browser looks for the part that an address names.
_TO_PART = """() => setTimeout(() => {
  const part = location.hash && document.getElementById(location.hash.slice(1));
  if (part) part.scrollIntoView();
}, 200)"""


def about_html(data: BoardData, namespace: str) -> str:
    """Lay the page out for the host at hand."""
    host = data.host
    protocol_ids = host.protocols if host else []
    return (
        '<div class="rx-text">'
        + _numbers()
        + "".join(_protocol(rules(protocol_id, host, ())) for protocol_id in protocol_ids)
        + _benchmarks(host, namespace)
        + '<div class="rx-pair">'
        + "".join(f"<section>{part}</section>" for part in (_taking_part(host, namespace), _data(namespace), _citing()))
        + f'</div><p class="rx-quiet">rexrank {escape(__version__)}</p></div>'
    )


def _numbers() -> str:
    return (
        '<h2>What the numbers mean</h2><div class="rx-columns">'
        "<p>Each score compares a model's text with the radiologist's, study by study. An arrow says which way is "
        "better. Beneath a score stands its 95 % interval: how far it moves as studies, or patients, are drawn anew. "
        "Where the intervals of two models overlap widely, the order between them is not settled.</p>"
        "<p>Beside a rank stand the ranks that are left open: a model stands at best behind those that are surely "
        "better on the same studies, and at worst before those that are surely worse (95 %). A rank without scores of "
        "single studies has no range, and the details of the model say why.</p>"
        "<p>A score that could not be computed is absent, with the reason in the details of the model; it is never 0. "
        "An empty prediction gets the worst value of each score and is counted under <em>Empty</em>. A row that misses "
        "a required score, or whose metric has changed since (<em>stale</em>), has no rank.</p>"
        "<p>The <em>convention</em> says how a score is computed where its original has oddities: "
        "<code>published</code> gives the number that the original prints, <code>corrected</code> mends them. The "
        "<em>signature</em> pins all of that, preparation of the texts included, in one line. Compare only numbers "
        "whose signatures agree.</p>"
        "<p>A high score is not a safe report. None of these numbers replaces a radiologist's judgement.</p></div>"
    )


def _protocol(how: Rules) -> str:
    protocol = load(how.protocol)
    if protocol is None:
        return f"<h2>Protocol {escape(how.protocol)}</h2><p>This release of the board does not know it.</p>"
    rows = "".join(
        f'<tr><th scope="row">{escape(column.heading)}</th><td data-label="Key"><code>{escape(column.key)}</code></td>'
        f"<td>{_described(column, protocol)}</td></tr>"
        for column in how.columns
    )
    absent = f"<p>Part of the protocol but not computed on this host: {listed(how.absent)}.</p>" if how.absent else ""
    ranked = f"Rows are ranked by {escape(how.deciding.heading)}" if how.deciding else "Rows are not ranked"
    why = f", provisionally, because the host does not compute {escape(how.wanted)}" if how.provisional else ""
    return (
        f"<h2>Protocol {escape(protocol.id)}</h2><p>{escape(protocol.description)} Convention "
        f"<code>{escape(protocol.convention)}</code>. {ranked}{why}. Source: {escape(protocol.source)}.</p>"
        f'<div class="rx-wide rx-scores"><table><thead><tr><th>Score</th><th>Key</th>'
        f"<th>Formula in words</th></tr></thead><tbody>{rows}</tbody></table></div>{absent}"
    )


def _described(column: Column, protocol: Protocol) -> str:
    """The formula in words, and what the protocol itself calls the score where that differs."""
    own = next((one.label for one in protocol.columns if one.key == column.key), column.label)
    called = "" if own == column.label else f" The protocol calls it {escape(own)}."
    return f"{escape(column.description) or MISSING}{called}"


def _benchmarks(host: Host | None, namespace: str) -> str:
    if host is None or not host.benchmarks:
        return ""
    rows = "".join(
        f"<tr><td>{hub_link(hub_page(f'{namespace}/{name}'), name)}</td>"
        f"<td>{', '.join(f'{escape(track)} ({n})' for track, n in entry.tracks.items())}</td>"
        f"<td>{escape(entry.split)}</td><td>{escape(entry.licence) or MISSING}</td></tr>"
        for name, entry in host.benchmarks.items()
    )
    return (
        "<h2>Benchmarks</h2><p>The number of studies stands beside each track. A benchmark's licence covers its texts; "
        'read it before you use them.</p><div class="rx-wide"><table><thead><tr><th>Benchmark</th><th>Tracks</th>'
        f"<th>Split</th><th>Licence</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _taking_part(host: Host | None, namespace: str) -> str:
    name = next(iter(host.benchmarks), "iu-xray") if host else "iu-xray"
    references = escape(f"hf://datasets/{namespace}/{name}")
    command = (
        f"rexrank submit predictions.csv --benchmark {escape(name)} \\\n"
        "  --track findings --model-name &quot;My model&quot;"
    )
    return (
        '<h2>Taking part</h2><p>Use the page <a href="./submit">Submit</a>, or a shell:</p>'
        f"<pre>{command}</pre>"
        "<p>Check a file, and see all scores before you send it, on your own machine:</p>"
        f"<pre>rexrank validate predictions.csv \\\n  --references {references}\n"
        f"rexrank score predictions.csv \\\n  --references {references}</pre>"
    )


def _data(namespace: str) -> str:
    endpoint = environment.endpoint()
    first = "" if endpoint == environment.PUBLIC_HUB else f"export HF_ENDPOINT={escape(endpoint)}\n"
    results = escape(f'"{namespace}/results"')
    lines = (
        ("", "the leaderboard"),
        (", &quot;scores&quot;", "one row a result and score"),
        (", &quot;per_study&quot;", "one row a study and score, public sets only"),
    )
    code = "\n".join(f"# {what}\nload_dataset({results}{config})" for config, what in lines)
    return (
        "<h2>Getting the data</h2><p>Everything on the board is in the dataset "
        f"{hub_link(hub_page(f'{namespace}/results'), f'{namespace}/results')}. "
        "Scores only; no report text is in it.</p>"
        f"<pre>{first}python -i -c &quot;from datasets import load_dataset&quot;\n{code}</pre>"
    )


def _citing() -> str:
    return (
        '<h2 id="cite">How to cite</h2><p>Cite rexrank with its version, and the metrics and the benchmark whose '
        "numbers you give. Give the signature of each score and the revision of the results.</p>"
        f"<pre>@software{{rexrank,\n  title = {{rexrank}},\n  author = {{{{The rexrank developers}}}},\n"
        f"  version = {{{escape(__version__)}}}\n}}</pre>"
    )


def build(page: gr.Blocks, store: BoardStore, namespace: str) -> None:
    """Put the page's components and events into the open page."""
    gr.HTML('<h1 class="rx-title">About</h1>', elem_id="about-title")
    text = gr.HTML(elem_id="about-text")

    def show() -> Any:
        return about_html(store.data, namespace)

    page.load(show, None, text, **PRIVATE).then(None, js=_TO_PART, **PRIVATE)
