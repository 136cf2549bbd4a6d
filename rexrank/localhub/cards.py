"""Front matter of README.md: read safely, and turned into the tags of a repository."""

import math
from collections.abc import Mapping
from datetime import date

import yaml

_MAX_CHARACTERS = 256 * 1024
_TAGGED = {
    "license": "license:",
    "task_categories": "task_categories:",
    "task_ids": "task_ids:",
    "language": "language:",
    "size_categories": "size_categories:",
    "datasets": "dataset:",
    "base_model": "base_model:",
}


class CardError(ValueError):
    """Front matter that cannot be used; the text names the place, never the content."""


class _CardLoader(yaml.SafeLoader):
    """Plain data without aliases, which can grow a few lines into gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise CardError("the metadata uses a YAML alias (*name), which is not accepted")
        return super().compose_node(parent, index)


def metadata(readme: str) -> dict[str, object]:
    """Front matter of a card as JSON values; empty where there is none.

    Args:
        readme: Text of README.md.

    Raises:
        CardError: The front matter is not a YAML mapping of plain values.
    """
    lines = readme.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != "---":
        return {}
    try:
        end = next(number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---")
    except StopIteration:
        return {}
    text = "\n".join(lines[1:end])
    if len(text) > _MAX_CHARACTERS:
        raise CardError(f"the metadata is longer than {_MAX_CHARACTERS} characters")
    parsed = _parse(text)
    if parsed is None:
        return {}
    if not isinstance(parsed, Mapping):
        raise CardError("the metadata is not a mapping of names to values")
    return {str(key): _json_value(value) for key, value in parsed.items()}


def _parse(text: str) -> object:
    try:
        return yaml.load(text, _CardLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" in line {mark.line + 2}, column {mark.column + 1}" if mark else ""
        raise CardError(f"the metadata is not valid YAML{place}") from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise error if isinstance(error, CardError) else CardError("the metadata is not valid YAML") from None


def _json_value(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_json_value(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and abs(value) >= 2**63:
        raise CardError("the metadata holds a number of more than 63 bits")
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def faults(readme: str) -> list[str]:
    """What is wrong with the metadata of a card, one sentence a fault."""
    try:
        data = metadata(readme)
    except CardError as error:
        return [str(error)]
    found = []
    for name in ("tags", "language", "license"):
        value = data.get(name)
        items = value if isinstance(value, list) else [value]
        if value is not None and not all(isinstance(item, str) for item in items):
            found.append(f'"{name}" must be text or a list of texts')
    return found


def tags(data: Mapping[str, object]) -> list[str]:
    """Tags that a repository shows, from the metadata of its card."""
    found = _texts(data.get("tags"))
    for name, prefix in _TAGGED.items():
        found.extend(prefix + text for text in _texts(data.get(name)))
    for name in ("library_name", "pipeline_tag"):
        found.extend(_texts(data.get(name)))
    return list(dict.fromkeys(found))


def _texts(value: object) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str) and item]
