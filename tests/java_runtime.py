"""Where tests need Java: they are skipped only where there is none, and never in CI, which installs it."""

import os
import shutil

import pytest

_FOUND = shutil.which("java") or os.environ.get("JAVA_HOME")

needs_java = pytest.mark.skipif(
    not _FOUND and not os.environ.get("CI"), reason="no Java runtime (Debian: apt-get install default-jre-headless)"
)
