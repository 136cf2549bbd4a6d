"""Loading protocols from the YAML files beside this module."""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from rexrank.errors import shown
from rexrank.protocols.protocol import Column, Protocol, TextPreparation, UnknownProtocol
from rexrank.terms import Convention, Direction, Track

DEFAULT = "rexrank"


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class _ColumnText(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    label: str
    better: Direction
    inverse_of: str | None = None


class _Version(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    columns: list[str]
    ranking: list[str]


class _Variant(BaseModel):
    """The same protocol with another text preparation, under a name of its own."""

    model_config = ConfigDict(extra="forbid", strict=True)
    description: str
    text_preparation: dict[str, Any]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    description: str
    source: str
    convention: Convention
    tracks: list[Track]
    text_preparation: dict[str, Any]
    columns: dict[str, _ColumnText]
    versions: dict[str, _Version]
    options: dict[str, str | int | float | bool] = {}
    variants: dict[str, _Variant] = {}

    def variant(self, name: str) -> "_File":
        """The file as it would be written for one of its variants."""
        variant = self.variants[name]
        preparation = {**self.text_preparation, **variant.text_preparation}
        return self.model_copy(
            update={"name": name, "description": variant.description, "text_preparation": preparation}
        )


def load(name: str | Protocol | None = DEFAULT) -> Protocol:
    """Load a protocol.

    Args:
        name: ``rexrank`` for the newest version, ``rexrank@2025-09-05`` for one version, ``rexrank@2025-09`` where
            only one version starts so; None is ``plain``. A protocol is returned as it is.

    Raises:
        UnknownProtocol: One sentence that lists what there is.
    """
    if isinstance(name, Protocol):
        return name
    if name is None:
        name = "plain"
    family, marked, version = name.partition("@") if isinstance(name, str) else ("", "", "")
    versions = _families().get(family)
    if versions is None or (marked and not version):
        raise UnknownProtocol(f"there is no protocol {shown(name)}; there are {', '.join(_families())}")
    if not version:
        return versions[max(versions, key=_order)]
    if version in versions:
        return versions[version]
    close = [known for known in versions if known.startswith(version)]
    if len(close) == 1:
        return versions[close[0]]
    listed = ", ".join(f"{family}@{known}" for known in close or versions)
    fault = "names several versions" if close else "is not a version"
    raise UnknownProtocol(f"{shown(name)} {fault}; there are {listed}")


def available() -> list[str]:
    """Every protocol that can be loaded, as ``name@version``, the newest version of each name first."""
    return [
        protocol.id
        for versions in _families().values()
        for protocol in sorted(versions.values(), key=lambda one: _order(one.version), reverse=True)
    ]


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-"))


@cache
def _families() -> dict[str, dict[str, Protocol]]:
    folder = files("rexrank.protocols")
    texts = (entry.read_text(encoding="utf-8") for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    written = [_File.model_validate(yaml.safe_load(text)) for text in texts]
    parsed = [*written, *(file.variant(name) for file in written for name in file.variants)]
    # The default first, then by name, whatever the order of the folder.
    parsed.sort(key=lambda file: (file.name != DEFAULT, file.name))
    return {file.name: {version: _protocol(file, version) for version in file.versions} for file in parsed}


def _protocol(file: _File, version: str) -> Protocol:
    chosen = file.versions[version]
    known = {key: Column(key=key, **column.model_dump()) for key, column in file.columns.items()}
    preparation = {name: _as_tuple(value) for name, value in file.text_preparation.items()}
    return Protocol(
        name=file.name,
        version=version,
        description=file.description,
        source=file.source,
        convention=file.convention,
        tracks=tuple(file.tracks),
        columns=tuple(known[key] for key in chosen.columns),
        ranking=tuple(chosen.ranking),
        text_preparation=TextPreparation(**preparation),
        options=file.options,
        directions={key: column.better for key, column in known.items() if column.inverse_of is None},
    )
