"""Everything the board knows about one result: scores, intervals, signatures, and what is missing and why."""

from rexrank.board.requests import Request
from rexrank.board.results import path_of, per_study_path
from space.data import BoardData, Document
from space.formatting import MISSING, escape, external_link, interval, moment, number, rank_range, share
from space.links import hub_file, hub_link, hub_page, listed
from space.rules import Rules, label, load
from space.table import Column, Row, chips

_LINKS = (("model_url", "model"), ("paper_url", "paper"), ("code_url", "code"))
_STATUS = {"not_available": "not available", "not_applicable": "not applicable", "failed": "failed"}


def detail_html(row: Row, data: BoardData, rules: Rules, ranked: int, namespace: str) -> str:
    """Lay one result out.

    Args:
        row: Its row of the leaderboard table.
        data: What the board knows: all scores, and the request behind the row.
        rules: How its track is shown.
        ranked: How many rows of the track have a rank.
        namespace: Owner of the results repo.
    """
    own = {str(score["metric"]): score for score in data.scores if score["result_id"] == row["result_id"]}
    marks = chips(row, ("is_baseline", "stale", "verified"))
    return (
        f'<div class="rx-panel rx-detail" data-result="{escape(row["result_id"])}">'
        f'<h3><span class="rx-name">{escape(row["model_name"])}</span>{marks}</h3>'
        f"<dl>{''.join(_facts(row, data, rules, ranked, namespace))}</dl>{_scores(own, rules)}</div>"
    )


def _facts(row: Row, data: BoardData, rules: Rules, ranked: int, namespace: str) -> list[str]:
    request = data.request(row["request_id"])
    links = " · ".join(link for field, name in _LINKS if (link := external_link(row.get(field), name)))
    facts = [
        ("Rank", _rank(row, rules, ranked)),
        ("Organisation", escape(row.get("organization"))),
        ("Submitted", f"{moment(row.get('submitted_at'))} by {_submitter(row, request)}"),
        ("Links", links),
        ("Predictions", _predictions(row, request)),
        ("Files", _files(row, data, namespace)),
        ("Licence", escape(row.get("license"))),
        ("Studies", _studies(row)),
        ("Trained on", listed(row.get("trained_on") or ())),
        ("Test data seen", _leakage(row)),
        ("Protocol", f"{escape(rules.protocol)}, convention {escape(row.get('convention'))}"),
        ("Flags", listed(row.get("flags") or ())),
    ]
    return [f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts if text]


def _rank(row: Row, rules: Rules, ranked: int) -> str:
    if row.get("rank") is None:
        return "none: the row is out of date" if row.get("stale") else "none: a required score is missing"
    by = f" by {escape(rules.deciding.label)}" if rules.deciding else ""
    return f"{row['rank']} of {ranked}{by}{', provisional' if rules.provisional else ''}; {_range(row)}"


def _range(row: Row) -> str:
    """What is known of the rank, in words."""
    spread = rank_range(row.get("rank_lo"), row.get("rank_hi"))
    note = escape(row.get("rank_note"))
    if not spread:
        return f"no range{f': {note}' if note else ''}"
    said = f"comparison with the other models leaves {spread} open (95 %)"
    if row.get("p_first") is not None:
        said += f", first in {share(row['p_first'])} of the resamples"
    return f"{said}; {note}" if note else said


def _submitter(row: Row, request: Request | None) -> str:
    owner = str(row.get("owner"))
    sent = request.submitter.name if request else owner
    return escape(owner) if sent == owner else f"{escape(sent)} for {escape(owner)}"


def _predictions(row: Row, request: Request | None) -> str:
    repo, revision = str(row.get("repo_id")), str(row.get("revision"))
    inside = f", file <code>{escape(request.path_in_repo)}</code>" if request else ""
    return f"{hub_link(hub_page(repo, revision), repo)} at <code>{escape(revision[:12])}</code>{inside}"


def _files(row: Row, data: BoardData, namespace: str) -> str:
    """Links to what the results repo holds of this result; scores of single studies of public sets only."""
    results, revision = f"{namespace}/results", data.revisions.get("results", "main")
    result = path_of(str(row["owner"]), str(row["request_id"]), str(row["evaluator_hash"]))
    links = [hub_link(hub_file(results, result, revision), "result (JSON)")]
    benchmark = data.host.benchmarks.get(str(row["dataset"])) if data.host else None
    if benchmark and benchmark.public:
        studies = per_study_path(str(row["result_id"]))
        links.append(hub_link(hub_file(results, studies, revision), "scores of each study (Parquet)"))
    return " · ".join(links)


def _studies(row: Row) -> str:
    empty = row.get("n_empty") or 0
    blank = "none of them empty" if not empty else f"{empty} of them empty, which count as worst"
    return f"{row.get('n_studies')} of {row.get('n_expected')}, {blank}"


def _leakage(row: Row) -> str:
    said = str(row.get("leakage") or "unknown")
    return "" if said == "unknown" else escape(f"{said} (as declared)")


def _scores(own: dict[str, Document], rules: Rules) -> str:
    columns = {column.key: column for column in rules.columns}
    keys = [*(key for key in columns if key in own), *(key for key in own if key not in columns)]
    if not keys:
        return '<p class="rx-quiet">The table of scores does not hold this result yet.</p>'
    lines = "".join(_line(key, own[key], columns.get(key), rules) for key in keys)
    return (
        '<div class="rx-wide rx-scores"><table><thead><tr><th>Score</th><th>Value</th><th>95 % interval</th>'
        f"<th>Studies</th><th>Signature, or why there is none</th></tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _line(key: str, score: Document, column: Column | None, rules: Rules) -> str:
    name = escape(column.heading if column else label(key, load(rules.protocol)))
    if score["status"] != "ok":
        status = _STATUS.get(str(score["status"]), str(score["status"]))
        reason = f": {escape(score['reason'])}" if score.get("reason") else ""
        return (
            f'<tr><th scope="row">{name}</th><td>{MISSING}</td><td></td><td></td><td>{escape(status)}{reason}</td></tr>'
        )
    digits = column.digits if column else 3
    return (
        f'<tr><th scope="row">{name}</th><td data-label="Value"><strong>{number(score["value"], digits)}</strong></td>'
        f'<td data-label="95 % interval">{interval(score.get("ci_low"), score.get("ci_high"), digits)}</td>'
        f'<td data-label="Studies">{score["n"]}</td>'
        f'<td data-label="Signature"><code>{escape(score["signature"])}</code></td></tr>'
    )
