"""Packages whose names are fetched from their modules on first use (PEP 562), so that importing them costs nothing."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_of(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package.

    Args:
        package: Name of the package, its ``__name__``.
        homes: Module in which each public name is defined.

    Returns:
        A function that fetches a name, and leaves it in the package for the next time.
    """

    def fetch(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return fetch
