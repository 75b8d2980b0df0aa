"""`python -m seads`: the same as the command `seads`."""

import sys

from seads.cli import main

sys.exit(main())
