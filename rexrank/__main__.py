"""``python -m rexrank`` is the same as ``rexrank``."""

import sys

from rexrank.cli import main

sys.exit(main())
