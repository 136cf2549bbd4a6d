"""Publish the folders of evaluate_modules/ as Spaces, one a metric."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rexrank
from rexrank.errors import RexrankError

if TYPE_CHECKING:
    from rexrank.hub import Hub

_SKIPPED = frozenset({"__pycache__", ".gradio", ".DS_Store"})


class ModulesNotFound(RexrankError):
    """The folder of modules, or a module in it, is not there."""


def modules_folder() -> Path:
    """``evaluate_modules/`` of the checkout that this package runs from.

    Raises:
        ModulesNotFound: The package was installed without a checkout.
    """
    folder = Path(rexrank.__file__).resolve().parents[1] / "evaluate_modules"
    if not folder.is_dir():
        raise ModulesNotFound(
            "evaluate_modules/ is not beside the installed package; clone the repository and run "
            "`rexrank modules publish` from there"
        )
    return folder


def module_files(folder: Path) -> dict[str, dict[str, bytes]]:
    """The files of every module, by module name and path.

    Args:
        folder: What :func:`modules_folder` returns.

    Raises:
        ModulesNotFound: A folder lacks its script or its card.
    """
    found = {path.name: _files(path) for path in sorted(folder.iterdir()) if path.is_dir() and _wanted(path)}
    for name, files in found.items():
        missing = {f"{name}.py", "README.md"} - files.keys()
        if missing:
            raise ModulesNotFound(f"evaluate_modules/{name} has no {sorted(missing)[0]}; add it")
    return found


def publish(hub: "Hub", namespace: str, only: Sequence[str] = (), folder: Path | None = None) -> Mapping[str, str]:
    """Bring the Spaces ``<namespace>/<module>`` up to date; unchanged ones get no commit.

    Args:
        hub: Where, from :func:`rexrank.hub.connect`.
        namespace: Owner of the Spaces.
        only: Names of modules; all of them when empty.
        folder: Folder of modules; the checkout's by default.

    Returns:
        Commit of each Space by module name.

    Raises:
        ModulesNotFound: No checkout, or no such module.
        HubError: The Hub refused or stayed away.
    """
    from rexrank.hub.errors import translated
    from rexrank.hub.upload import upload_changed

    modules = module_files(folder or modules_folder())
    unknown = [name for name in only if name not in modules]
    if unknown:
        raise ModulesNotFound(f"no module {unknown[0]!r}; there are {', '.join(modules)}")
    commits = {}
    for name in only or modules:
        repo_id = f"{namespace}/{name}"
        with translated(repo_id):
            hub.api.create_repo(repo_id, repo_type="space", space_sdk="gradio", exist_ok=True)
        message = f"rexrank {rexrank.__version__}"
        commits[name] = upload_changed(hub, repo_id, modules[name], message, repo_type="space", delete_others=True)
    return commits


def _files(folder: Path) -> dict[str, bytes]:
    paths = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        relative.as_posix(): path.read_bytes()
        for relative, path in paths.items()
        if not path.is_symlink() and not _SKIPPED & set(relative.parts)
    }


def _wanted(folder: Path) -> bool:
    return folder.name not in _SKIPPED and not folder.name.startswith(".")
