#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the module of this checkout with the programs of a build. Ends with 77 where pytest is not installed.

run.py BIN    # the folder of dladvisor, megatron-gpt and data-parallel
"""

import os
import sys
from pathlib import Path

try:
    import pytest
except ImportError:
    print("pytest is not installed")
    sys.exit(77)

here = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.path.insert(0, str(here.parent))
os.environ["PYTHONPATH"] = str(here.parent)
os.environ["PATH"] = os.pathsep.join([os.path.abspath(sys.argv[1]), os.environ["PATH"]])
os.environ["DLADVISOR"] = os.path.join(os.path.abspath(sys.argv[1]), "dladvisor")
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", str(here)]))
