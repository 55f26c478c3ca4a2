# SPDX-License-Identifier: Apache-2.0
"""Finds the program and runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Optional, Union

PathLike = Union[str, "os.PathLike[str]"]
Paths = Union[PathLike, Sequence[PathLike]]


class Error(RuntimeError):
    """What the program says where it cannot do what is asked: which file, what is wrong, what to do next."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def program() -> str:
    """Path of the program: $DLADVISOR, else the one that was installed with this package, else that on PATH."""
    if named := os.environ.get("DLADVISOR"):
        return named
    schemes = [None, f"{os.name}_user"]
    for scheme in schemes:
        folder = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        if os.access(path := Path(folder) / "dladvisor", os.X_OK):
            return str(path)
    # `pip install --target FOLDER` puts it into FOLDER/bin.
    if os.access(path := Path(__file__).parent.parent / "bin" / "dladvisor", os.X_OK):
        return str(path)
    if found := shutil.which("dladvisor"):
        return found
    raise Error("dladvisor: the program is not installed: put it on PATH, or its path into $DLADVISOR", 3)


def paths_of(paths: Paths) -> list[str]:
    several: Iterable[PathLike] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in several]


def positionals(*words: str) -> list[str]:
    """The end of a command line: none of these words is an option, whatever it begins with."""
    return ["--", *words]


def common_options(config: Optional[PathLike], rules: Paths) -> list[str]:
    options = ["--quiet"]
    if config is not None:
        options += ["--config", os.fspath(config)]
    for folder in paths_of(rules):
        options += ["--rules", folder]
    return options


def profile_options(
    steps: Optional[str], step_range: Optional[str], pipeline: Optional[str]
) -> list[str]:
    given = {"--steps": steps, "--step-range": step_range, "--pipeline": pipeline}
    return [word for name, value in given.items() if value is not None for word in (name, value)]


def run(arguments: Sequence[str], statuses: Sequence[int] = (0,)) -> str:
    """What the program prints; raises Error where it ends with another status."""
    # Names of files, which messages show, need not be UTF-8.
    done = subprocess.run(
        [program(), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode not in statuses:
        message = done.stderr.strip() or f"dladvisor ended with status {done.returncode}"
        raise Error(message.removeprefix("dladvisor: "), done.returncode)
    return done.stdout


def version() -> str:
    """Of the program, e.g. "0.1.0"."""
    return run(["--version"]).split()[1]
