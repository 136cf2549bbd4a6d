"""A benchmark and its floors as dataset repos of a Hub.

Texts that their licence does not let everybody pass on leave this machine only on the host's explicit word.
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rexrank.benchmarks.benchmark import LABEL_PREFIX, REQUIRED, Benchmark, BenchmarkError
from rexrank.benchmarks.floors import Floor
from rexrank.errors import shown
from rexrank.network import is_loopback
from rexrank.terms import DESCRIPTION_FILE, FLOORS_FOLDER, REFERENCE_FILE

if TYPE_CHECKING:
    import pyarrow as pa

    from rexrank.hub import Hub

SCHEMA_VERSION = 1
PREDICTION_FILE = "predictions.jsonl"


def schema(columns: Sequence[str] = REQUIRED) -> "pa.Schema":
    """Types of the columns of ``data/test.parquet``; a benchmark's own are in ``benchmark.columns``."""
    import pyarrow as pa

    lists = {"image_path", "view"}
    kinds = {name: pa.list_(pa.string()) if name in lists else pa.string() for name in columns}
    kinds |= {name: pa.int8() for name in columns if name.startswith(LABEL_PREFIX)}
    return pa.schema([pa.field(name, kind, nullable=name != "study_id") for name, kind in kinds.items()])


def table(benchmark: Benchmark) -> "pa.Table":
    """The test split, one row a study, in the split's order."""
    import pyarrow as pa

    rows = [{name: study.value(name) for name in benchmark.columns} for study in benchmark.studies]
    return pa.Table.from_pylist(rows, schema=schema(benchmark.columns))


def files(benchmark: Benchmark) -> dict[str, bytes]:
    """Every file of the benchmark's repo by path; equal studies give equal bytes."""
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(table(benchmark), buffer, compression="zstd")
    return {
        REFERENCE_FILE: buffer.getvalue(),
        DESCRIPTION_FILE: _yaml(description(benchmark)).encode(),
        "README.md": card(benchmark).encode(),
    }


def check_folder(benchmark: Benchmark, new: Mapping[str, bytes], folder: Path) -> None:
    """Refuse to write over another benchmark, or over files of no benchmark: they would be lost or stay between these.

    Args:
        benchmark: What is to be written.
        new: Its files by path.
        folder: Where to.

    Raises:
        BenchmarkError: The folder describes another benchmark, or nothing that can be read, or holds such a file.
    """
    try:
        found = (folder / DESCRIPTION_FILE).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        # What an interrupted build left is, byte for byte, what is written now.
        there = [
            path for path, data in new.items() if (folder / path).is_file() and (folder / path).read_bytes() != data
        ]
        if there:
            raise BenchmarkError(
                f"{folder} is no benchmark's folder and already holds {' and '.join(there)}; "
                "give another folder with --out"
            ) from None
        return
    name = _described(found).get("name")
    if name != benchmark.name:
        held = f"the benchmark {shown(name)}" if name is not None else f"a {DESCRIPTION_FILE} that names no benchmark"
        raise BenchmarkError(f"{folder} already holds {held}; give another folder with --out, or remove that one first")


def description(benchmark: Benchmark) -> dict[str, Any]:
    """What ``benchmark.yaml`` says."""
    return {
        "schema_version": SCHEMA_VERSION,
        "name": benchmark.name,
        "title": benchmark.title,
        "split": benchmark.split,
        "tracks": dict(benchmark.tracks),
        "licence": benchmark.licence.identifier,
        "licence_url": benchmark.licence.url,
        "attribution": benchmark.licence.attribution,
        "redistribution": benchmark.licence.redistribution,
        "references": benchmark.references,
        "modality": benchmark.modality,
        "language": benchmark.language,
        "content_sha256": benchmark.content_sha256,
    }


def card(benchmark: Benchmark) -> str:
    """The README of the benchmark's repo."""
    tracks = "\n".join(f"| `{track}` | {n} |" for track, n in benchmark.tracks.items())
    columns = ", ".join(f"`{name}`" for name in benchmark.columns)
    head = _card_head(benchmark, benchmark.title, {"split": benchmark.split, "path": REFERENCE_FILE})
    return f"""{head}
# {benchmark.title}

{benchmark.description}

| track | studies |
| --- | --- |
{tracks}

Columns of `{REFERENCE_FILE}`: {columns}.
Images are not included. `{DESCRIPTION_FILE}` describes the set for programs.

{benchmark.provenance}

{_licence_words(benchmark)}
"""


def push(hub: "Hub", benchmark: Benchmark, repo_id: str, confirm_licence: bool = False) -> str:
    """Bring the benchmark's dataset repo up to date.

    Args:
        hub: Where, from :func:`rexrank.hub.connect`.
        benchmark: What to push.
        repo_id: ``namespace/name`` of the dataset repo, made when missing; private where the references are.
        confirm_licence: The host's word that the licence of the texts lets them go to this Hub.

    Returns:
        The commit that holds the benchmark; the present one when nothing changed.

    Raises:
        BenchmarkError: The Hub is not on this machine and the licence was not confirmed, or the references are private
            and the repo is not.
    """
    from rexrank.hub.upload import upload_changed

    check_licence(benchmark, hub.endpoint, confirm_licence)
    _ensure_repo(hub, benchmark, repo_id)
    wanted = files(benchmark)
    if _published_content(hub, repo_id) == benchmark.content_sha256:
        # Another pyarrow writes other bytes for the same studies; the revision must not move for that.
        del wanted[REFERENCE_FILE]
    return upload_changed(hub, repo_id, wanted, f"{benchmark.name}: {len(benchmark.studies)} studies")


def floor_files(floor: Floor, benchmark: Benchmark) -> dict[str, bytes]:
    """Every file of a floor's repo by path."""
    return {PREDICTION_FILE: floor.prediction_file(), "README.md": floor_card(floor, benchmark).encode()}


def floor_card(floor: Floor, benchmark: Benchmark) -> str:
    """The README of a floor's repo; it carries the licence of the texts it repeats."""
    head = _card_head(benchmark, floor.name, {"split": benchmark.split, "path": PREDICTION_FILE})
    return f"""{head}
# {floor.name}

A *blind floor* for the benchmark `{benchmark.name}`, track `{floor.track}`: no image was looked at.
{floor.description}

`{PREDICTION_FILE}` holds `study_id` and `prediction` of {len(floor.predictions)} studies. The predictions are training
reports of the same collection, word for word; no text of the test split was used.

{_licence_words(benchmark)}
"""


def push_floor(hub: "Hub", floor: Floor, benchmark: Benchmark, repo_id: str, confirm_licence: bool = False) -> str:
    """Bring a floor's dataset repo up to date; arguments, result and errors as for :func:`push`."""
    from rexrank.hub.upload import upload_changed

    check_licence(benchmark, hub.endpoint, confirm_licence)
    _ensure_repo(hub, benchmark, repo_id)
    message = f"{floor.name}: {len(floor.predictions)} predictions"
    return upload_changed(hub, repo_id, floor_files(floor, benchmark), message)


def push_floors(
    hub: "Hub", repo_id: str, track: str, floors: Mapping[str, bytes], confirm_licence: bool = False
) -> str:
    """Store scored floors in a benchmark's dataset repo, below ``floors/TRACK``; its test split stays as it is.

    Args:
        hub: Where, from :func:`rexrank.hub.connect`.
        repo_id: The repo, which holds a benchmark.
        track: Of the floors.
        floors: Content by path, as `rexrank.validity.floor_store.save` writes it.
        confirm_licence: The host's word that the licence of the texts lets them go to this Hub.

    Returns:
        The commit that holds them.

    Raises:
        BenchmarkError: The repo holds no benchmark, its licence was not confirmed, texts would go to a benchmark whose
            references are private, or everybody could read the ids of such a one.
    """
    from rexrank.hub.upload import upload_changed

    described = _described(hub.view(repo_id, [DESCRIPTION_FILE]).files.get(DESCRIPTION_FILE, b""))
    if "name" not in described:
        raise BenchmarkError(f"{repo_id} holds no benchmark; push it first with `rexrank benchmark push`")
    has_texts = any(path.endswith(PREDICTION_FILE) for path in floors)
    if described.get("references") == "private":
        if has_texts:
            raise BenchmarkError(f"the texts of {repo_id} are private, and these floors hold texts; build them from it")
        if not hub.is_private(repo_id):
            raise BenchmarkError(f"{repo_id} can be read by everybody; make it private in its settings first")
    may_travel = described.get("redistribution") is True or confirm_licence or not has_texts
    if not may_travel and not is_loopback(urlsplit(hub.endpoint).hostname or ""):
        raise BenchmarkError(
            f"{hub.endpoint} is not on this machine, and floors repeat report texts of {repo_id}, whose licence does "
            "not let everybody pass them on; if your use meets it, say so with --confirm-licence"
        )
    wanted = {f"{FLOORS_FOLDER}/{track}/{path}": content for path, content in floors.items()}
    return upload_changed(hub, repo_id, wanted, f"Floors of the track {track}")


def check_licence(benchmark: Benchmark, endpoint: str, confirm_licence: bool) -> None:
    """Refuse to send texts off this machine that the licence does not let everybody pass on.

    Raises:
        BenchmarkError: The Hub is elsewhere and the host did not confirm.
    """
    if benchmark.licence.redistribution or confirm_licence or is_loopback(urlsplit(endpoint).hostname or ""):
        return
    raise BenchmarkError(
        f"{endpoint} is not on this machine, and the report texts of {benchmark.name} are licensed "
        f"{benchmark.licence.name} ({benchmark.licence.url}): {benchmark.licence.terms}. "
        "If you run that Hub and its use meets these terms, say so with --confirm-licence "
        "(confirm_licence=True in Python)"
    )


def _ensure_repo(hub: "Hub", benchmark: Benchmark, repo_id: str) -> None:
    """Make a repo that shows the benchmark's texts to nobody who may not see them; refuse one that does."""
    is_private = benchmark.references == "private"
    hub.ensure_repo(repo_id, private=is_private)
    if is_private and not hub.is_private(repo_id):
        raise BenchmarkError(
            f"{repo_id} can be read by everybody, and the texts of {benchmark.name} are private; "
            "make the repo private in its settings, or name another one with --repo"
        )


def _published_content(hub: "Hub", repo_id: str) -> str | None:
    held = hub.view(repo_id, [DESCRIPTION_FILE, REFERENCE_FILE])
    if REFERENCE_FILE not in held.files.keys() | held.oversize.keys() or DESCRIPTION_FILE not in held.files:
        return None
    return _described(held.files[DESCRIPTION_FILE]).get("content_sha256")


def _described(data: bytes) -> dict[str, Any]:
    """What a ``benchmark.yaml`` says; nothing where it cannot be read."""
    import yaml

    try:
        found = yaml.safe_load(data)
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def _card_head(benchmark: Benchmark, title: str, data_file: Mapping[str, str]) -> str:
    # The Hub knows no name for a data set's own agreement.
    is_own = benchmark.licence.identifier == "other"
    front = {
        "pretty_name": title,
        "license": benchmark.licence.identifier,
        **({"license_name": benchmark.licence.name, "license_link": benchmark.licence.url} if is_own else {}),
        "language": [benchmark.language],
        "task_categories": ["image-to-text"],
        "tags": ["radiology", "report-generation", benchmark.modality.lower(), "rexrank"],
        "configs": [{"config_name": "default", "data_files": [dict(data_file)]}],
    }
    return f"---\n{_yaml(front)}---\n"


def _licence_words(benchmark: Benchmark) -> str:
    licence = benchmark.licence
    return f"""## Licence

The report texts are licensed [{licence.name}]({licence.url}): {licence.terms}.
{licence.attribution}"""


def _yaml(value: Mapping[str, Any]) -> str:
    import yaml

    return yaml.safe_dump(dict(value), sort_keys=False, allow_unicode=True, width=120)
