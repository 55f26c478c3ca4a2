#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the wheel: the Python module, and the program as a script of it. The same input gives the same bytes.

build_wheel.py PROGRAM VERSION EPOCH FOLDER
"""

import base64
import hashlib
import sys
import time
import zipfile
from pathlib import Path

# A static program needs neither glibc nor musl.
TAG = "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"


def main() -> None:
    program, version, epoch, folder = sys.argv[1:]
    here = Path(__file__).resolve().parent
    info = f"dladvisor-{version}.dist-info"
    metadata = (
        "Metadata-Version: 2.1\nName: dladvisor\n"
        f"Version: {version}\n"
        "Summary: Says what makes a deep-learning run slow, why, and what fixing it would save\n"
        "License: Apache-2.0\nKeywords: gpu,profiling,pytorch,cuda,performance\nRequires-Python: >=3.9\n"
        "Classifier: Operating System :: POSIX :: Linux\nClassifier: Typing :: Typed\n"
        "Provides-Extra: pandas\nRequires-Dist: pandas; extra == 'pandas'\n"
        "Description-Content-Type: text/markdown\n\n" + (here / "README.md").read_text()
    )
    wheel = "Wheel-Version: 1.0\nGenerator: dladvisor\nRoot-Is-Purelib: false\n"
    wheel += "".join(f"Tag: py3-none-{platform}\n" for platform in TAG.removeprefix("py3-none-").split("."))
    files = [
        (f"dladvisor/{path.name}", path.read_bytes(), 0o644)
        for path in sorted((here / "dladvisor").iterdir())
        if path.suffix == ".py" or path.name == "py.typed"
    ]
    files += [
        (f"dladvisor-{version}.data/scripts/dladvisor", Path(program).read_bytes(), 0o755),
        (f"{info}/METADATA", metadata.encode(), 0o644),
        (f"{info}/WHEEL", wheel.encode(), 0o644),
        (f"{info}/licenses/LICENSE", (here.parent / "LICENSE").read_bytes(), 0o644),
    ]
    record = ""
    for name, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644))
    with zipfile.ZipFile(Path(folder) / f"dladvisor-{version}-{TAG}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, time.gmtime(int(epoch))[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whose modes these are
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, content)


if __name__ == "__main__":
    main()
