# SPDX-License-Identifier: Apache-2.0
"""`python -m dladvisor` is the program itself."""

import os
import sys

from ._program import program

os.execv(program(), ["dladvisor", *sys.argv[1:]])
