# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Packs the static program and what belongs to it: static_archive.py BUILD ARCHITECTURE. The same input gives the same bytes."""

import io
import lzma
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TIME = 1767225600  # of the release, as in the packages


def main() -> None:
    build, architecture = Path(sys.argv[1]).resolve(), sys.argv[2]
    version = subprocess.run([build / "usmp-plan-static", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    name = f"usmp-plan-{version}-{architecture}"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / name
        subprocess.run(["cmake", "--install", build, "--prefix", root, "--component", "program"], stdout=subprocess.DEVNULL, check=True)
        shutil.copy(build / "usmp-plan-static", root / "bin/usmp-plan")
        subprocess.run(["strip", root / "bin/usmp-plan"], check=True)
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path in [root, *sorted(root.rglob("*"))]:
                entry = archive.gettarinfo(path, str(path.relative_to(folder)))
                entry.uid = entry.gid = 0
                entry.uname = entry.gname = "root"
                entry.mtime = TIME
                entry.mode = 0o755 if path.is_dir() or entry.mode & 0o100 else 0o644
                if path.is_file():
                    with path.open("rb") as contents:
                        archive.addfile(entry, contents)
                else:
                    archive.addfile(entry)
        target = build / f"{name}.tar.xz"
        target.write_bytes(lzma.compress(packed.getvalue()))
        print(target)


main()
