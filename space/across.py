"""The page "Across benchmarks": ranks side by side, each with its range; a mean only as the host weighs it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import gradio as gr
import numpy as np

from rexrank.board.host import Host
from rexrank.board.names import name_key
from rexrank.hub.clock import utc_now
from rexrank.statistics.stability import Stability, under_metrics
from rexrank.terms import TRACKS
from space.data import BoardData, BoardStore
from space.formatting import MISSING, escape, is_missing, number, share
from space.links import board_address, listed
from space.parts import PRIVATE, freshness
from space.rules import Rules, rules
from space.selection import protocol_of
from space.table import BY_RANK, Row, chips, rank_cell

# Owner, and the name by which names are told apart.
Model = tuple[str, str]

_TAU_DIGITS = 2
_CLUSTERS = (
    "Of the four sets of ReXrank, IU X-ray and ReXGradient put models in nearly the same order (Spearman .89), and so "
    "do MIMIC-CXR and CheXpert Plus (.90); one pair and the other agree far less (.55 to .66). They are two kinds of "
    "data, not four, so a plain mean over the four counts each kind twice."
)


@dataclass(frozen=True)
class View:
    """What the page shows.

    Attributes:
        protocols: Offered protocols.
        protocol: The chosen one, ``name@version``; empty where there are no rows.
        tracks: Offered tracks.
        track: The chosen one.
        groups: Rows of each benchmark, in the host's order.
        how: How each of them is ranked.
    """

    protocols: list[str]
    protocol: str
    tracks: list[str]
    track: str
    groups: Mapping[str, Sequence[Row]]
    how: Mapping[str, Rules]


def arrange(data: BoardData, protocol: str = "", track: str = "") -> View:
    """Work out what the page shows; what does not exist falls back to the first offer that has rows."""
    host = data.host
    protocols = _offers(host.protocols if host else (), map(protocol_of, data.leaderboard))
    protocol = protocol if protocol in protocols else next(iter(protocols), "")
    own = [row for row in data.leaderboard if protocol_of(row) == protocol]
    tracks = _offers(TRACKS, (str(row["section"]) for row in own))
    track = track if track in tracks else next(iter(tracks), "")
    shown = [row for row in own if row["section"] == track]
    names = _offers(host.benchmarks if host else (), (str(row["dataset"]) for row in shown))
    groups = {name: [row for row in shown if row["dataset"] == name] for name in names}
    return View(
        protocols, protocol, tracks, track, groups, {name: rules(protocol, host, groups[name], name) for name in names}
    )


def _offers(first: Iterable[str], there: Iterable[str]) -> list[str]:
    """Names that have rows: the host's in its order, then the others."""
    filled = set(there)
    return [*(name for name in dict.fromkeys(first) if name in filled), *sorted(filled - set(first))]


def across_html(data: BoardData, view: View) -> str:
    """Lay the page out: what it says, ranks side by side, and how steady the orders are."""
    if not view.groups:
        return '<p class="rx-empty" role="status">No model yet. Ranks stand here as soon as one is scored.</p>'
    return _said(data.host, view) + _ranks(data.host, view) + _steadiness(view)


def _said(host: Host | None, view: View) -> str:
    keys = dict.fromkeys(how.deciding.heading for how in view.how.values() if how.deciding)
    by = f"Ranked by {listed(keys)}" if keys else "Not ranked: no ranking key is computed here"
    provisional = ", provisionally" if any(how.provisional for how in view.how.values()) else ""
    parts = [
        f'<p class="rx-view">{by}{provisional}, under {escape(view.protocol)}. Each rank counts the models of its own '
        "benchmark; beside it stand the ranks that comparing them leaves open (95 %).</p>",
        f'<p class="rx-view">{_weighting(host, view)}</p>',
        f'<p class="rx-view">{_CLUSTERS}</p>',
    ]
    return "".join(parts)


def _weighting(host: Host | None, view: View) -> str:
    weights = host.weights if host else {}
    if not weights:
        return "No mean over benchmarks is shown, because the host declares no weights for one."
    total = sum(weights.values())
    declared = ", ".join(f"{escape(name)} {share(weight / total)}" for name, weight in weights.items())
    lacking = [name for name in weights if name not in view.groups]
    if lacking:
        return f"The host weighs {declared}. No mean is shown: there are no models here on {listed(lacking)}."
    return (
        f"The mean rank is weighed as the host declares: {declared}. Its range is what comes out where every rank is "
        "at the end of its own; a model that lacks a rank in one of them has no mean."
    )


def _ranks(host: Host | None, view: View) -> str:
    weights = host.weights if host and all(name in view.groups for name in host.weights) else {}
    rows = _by_model(view)
    means = {model: _mean_rank(own, weights) for model, own in rows.items()} if weights else {}
    alone = next(iter(view.groups)) if len(view.groups) == 1 and not weights else ""
    # Without a mean nothing puts one model before another on several benchmarks, so the alphabet does.
    order = sorted(
        rows,
        key=lambda model: (
            _rank_on(alone, rows[model]) if alone else _first_of(means.get(model)),
            _name(rows[model]).casefold(),
            model,
        ),
    )
    heads = "".join(f"<th>{_head(name, view)}</th>" for name in view.groups)
    lines = "".join(_line(rows[model], view, means.get(model), bool(weights)) for model in order)
    mean = "<th>Mean rank</th>" if weights else ""
    return (
        f'<div class="rx-wide rx-scores" id="across-ranks"><table><thead><tr><th>Model</th>{mean}{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _by_model(view: View) -> dict[Model, dict[str, Row]]:
    """Rows of each model by benchmark; a model is what one owner calls by one name."""
    found: dict[Model, dict[str, Row]] = {}
    for name, group in view.groups.items():
        for row in group:
            found.setdefault((str(row["owner"]), name_key(str(row["model_name"]))), {})[name] = row
    return found


def _name(own: Mapping[str, Row]) -> str:
    return str(next(iter(own.values()))["model_name"])


def _rank_on(benchmark: str, own: Mapping[str, Row]) -> float:
    rank = own[benchmark].get(BY_RANK)
    return float("inf") if rank is None or is_missing(rank) else float(rank)


def _first_of(mean: tuple[float, ...] | None) -> float:
    return mean[0] if mean else float("inf")


def _mean_rank(own: Mapping[str, Row], weights: Mapping[str, float]) -> tuple[float, ...] | None:
    """Weighted mean rank, and of the ends of the ranges where every rank has one; None where a rank is lacking."""
    if any(name not in own or is_missing(own[name].get(BY_RANK)) for name in weights):
        return None
    fields = (BY_RANK, "rank_lo", "rank_hi")
    known = [field for field in fields if all(not is_missing(own[name].get(field)) for name in weights)]
    total = sum(weights.values())
    means = tuple(sum(weight * own[name][field] for name, weight in weights.items()) / total for field in known)
    return means if len(means) == len(fields) else means[:1]


def _head(name: str, view: View) -> str:
    ranked = sum(not is_missing(row.get(BY_RANK)) for row in view.groups[name])
    address = board_address("./", {"benchmark": name, "track": view.track, "protocol": view.protocol})
    return f'<a href="{address}">{escape(name)}</a><br><small>{ranked} ranked</small>'


def _line(own: Mapping[str, Row], view: View, mean: tuple[float, ...] | None, weighed: bool) -> str:
    first = next(iter(own.values()))
    below = first.get("organization") or first.get("owner")
    name = (
        f'<span class="rx-name">{escape(first["model_name"])}</span>{chips(first, ("is_baseline",))}'
        f"<br><small>{escape(below)}</small>"
    )
    # On a phone label and value stand side by side, so the value must be one element.
    cells = "".join(
        f'<td data-label="{escape(place)}"><span>{_cell(own.get(place))}</span></td>' for place in view.groups
    )
    average = f'<td data-label="Mean rank"><span>{_mean_cell(mean)}</span></td>' if weighed else ""
    return f'<tr><th scope="row">{name}</th>{average}{cells}</tr>'


def _cell(row: Row | None) -> str:
    if row is None:
        return MISSING
    if is_missing(row.get(BY_RANK)):
        return "<small>no rank</small>"
    return rank_cell(row)


def _mean_cell(mean: tuple[float, ...] | None) -> str:
    if mean is None:
        return MISSING
    spread = f"({mean[1]:.1f}–{mean[2]:.1f})" if len(mean) > 1 else "no range"
    return f"{mean[0]:.1f} <small>{spread}</small>"


def _steadiness(view: View) -> str:
    """How the orders hold when other studies or other scores had been chosen."""
    lines = "".join(_steady_line(name, view.groups[name], view.how[name]) for name in view.groups)
    return (
        '<h2>How steady each order is</h2><p class="rx-view">Kendall\'s τ between the order and those that '
        "resamples give, 1 for the same order and 0 for no relation, and how often the same model comes first. Other "
        "studies: the studies are resampled. Other scores: the protocol's scores that all ranked models have, two at "
        "least, are, and models stand by their mean rank.</p>"
        '<div class="rx-wide rx-scores"><table><thead><tr><th>Benchmark</th><th>τ, other studies</th>'
        "<th>Same first, other studies</th><th>τ, other scores</th><th>Same first, other scores</th></tr></thead>"
        f"<tbody>{lines}</tbody></table></div>"
    )


def _steady_line(name: str, group: Sequence[Row], how: Rules) -> str:
    ranked = [row for row in group if not is_missing(row.get(BY_RANK))]
    leading = [row.get("p_first") for row in ranked if row[BY_RANK] == 1]
    known = [p for p in leading if p is not None]
    studies = share(min(1.0, sum(known))) if known and len(known) == len(leading) else MISSING
    found = _under_metrics(ranked, how)
    cells = {
        "τ, other studies": number(next((row.get("rank_tau") for row in ranked), None), _TAU_DIGITS),
        "Same first, other studies": studies,
        "τ, other scores": number(found.tau if found else None, _TAU_DIGITS),
        "Same first, other scores": share(found.same_first) if found else MISSING,
    }
    values = "".join(f'<td data-label="{label}">{value}</td>' for label, value in cells.items())
    return f'<tr><th scope="row">{escape(name)}</th>{values}</tr>'


def _under_metrics(ranked: Sequence[Row], how: Rules) -> Stability | None:
    columns = [column for column in how.columns if not column.inverse_of and column.key not in how.extra]
    if len(ranked) < 2 or len(columns) < 2:
        return None
    values = [[row.get(column.key) for column in columns] for row in ranked]
    scores = np.array([[np.nan if is_missing(value) else value for value in row] for row in values], dtype=np.float64)
    return under_metrics(scores, [column.direction for column in columns])


def build(page: gr.Blocks, store: BoardStore, now: Callable[[], datetime] = utc_now) -> None:
    """Put the page's components and events into the open page."""
    gr.HTML('<h1 class="rx-title">Across benchmarks</h1>', elem_id="across-title")
    fresh = gr.HTML(elem_id="across-fresh")
    with gr.Row(elem_classes="rx-controls"):
        protocol = gr.Dropdown(label="Protocol", elem_id="across-protocol", filterable=False)
        track = gr.Dropdown(label="Track", elem_id="across-track", filterable=False)
    shown = gr.HTML(elem_id="across-text")
    version = gr.State("")
    outputs = [fresh, protocol, track, shown, version]

    def render(asked_protocol: str | None = None, asked_track: str | None = None) -> list[Any]:
        data = store.data
        view = arrange(data, asked_protocol or "", asked_track or "")
        return [
            freshness(data, now()),
            gr.Dropdown(choices=view.protocols, value=view.protocol or None),
            gr.Dropdown(choices=view.tracks, value=view.track or None),
            across_html(data, view),
            data.version,
        ]

    def ticked(seen: str, asked_protocol: str | None, asked_track: str | None) -> list[Any]:
        if store.data.version != seen:
            return render(asked_protocol, asked_track)
        return [freshness(store.data, now()), *[gr.skip()] * (len(outputs) - 1)]

    page.load(render, None, outputs, **PRIVATE)
    for chooser in (protocol, track):
        chooser.input(render, [protocol, track], outputs, **PRIVATE)
    gr.Timer(store.period).tick(ticked, [version, protocol, track], outputs, **PRIVATE)
