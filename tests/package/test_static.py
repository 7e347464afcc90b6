# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The static program where nothing else is: it needs no library, and writes what the ordinary program writes.

usage: test_static.py STATIC ORDINARY ROOT BUILD. As root it runs in a directory that has only the program and its input.
"""

import gzip
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

STATIC, ORDINARY, ROOT, BUILD = (Path(word).resolve() for word in sys.argv[1:5])
MODELS = ("ds_cnn.tar", "ds_cnn.tar.gz", "ds_cnn.tar.xz", "keywords.tflite")


def check_needs_nothing() -> None:
    shown = subprocess.run(["readelf", "--wide", "-l", "-d", STATIC], capture_output=True, text=True, check=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout
    assert "Entry point" in shown
    for word in ("NEEDED", "INTERP", "RUNPATH"):
        assert word not in shown, shown


def write_inputs(folder: Path) -> None:
    model = (ROOT / "testdata/ds_cnn.tar").read_bytes()
    (folder / "ds_cnn.tar").write_bytes(model)
    (folder / "ds_cnn.tar.gz").write_bytes(gzip.compress(model, mtime=0))
    (folder / "ds_cnn.tar.xz").write_bytes(lzma.compress(model))
    shutil.copy(ROOT / "testdata/tflite/keywords.tflite", folder)
    shutil.copy(ROOT / "testdata/pools/dtcm_sram.yaml", folder / "pools.yaml")


def plan(folder: Path, program: list[str], enter) -> dict[str, bytes]:
    """What it prints and writes, by command and file."""
    found = {}
    for model in MODELS:
        done = subprocess.run([*program, model, "--pools", "pools.yaml", "-o", "out"], cwd=folder, preexec_fn=enter, capture_output=True, env={}, timeout=300)
        assert done.returncode == 0, (model, done)
        found[f"{model}: prints"] = done.stdout
        for path in sorted((folder / "out").rglob("*")):
            if path.is_file():
                found[f"{model}: {path.relative_to(folder)}"] = path.read_bytes()
        shutil.rmtree(folder / "out")
    done = subprocess.run([*program, "none.tar"], cwd=folder, preexec_fn=enter, capture_output=True, env={}, timeout=300)
    assert done.returncode == 2, done
    found["an archive that is not there"] = done.stderr
    return found


def check_archive(folder: Path) -> None:
    """`make static` packs it: the program and the documents, in an order and with owners and times that say nothing."""
    (folder / "build").symlink_to(BUILD)
    packed = Path(subprocess.run([sys.executable, "-B", ROOT / "cmake/static_archive.py", folder / "build", "any"], capture_output=True, text=True, check=True).stdout.strip())
    with tarfile.open(packed) as archive:
        names = archive.getnames()
        top = names[0]
        assert packed.name == f"{top}.tar.xz" and all(name.split("/")[0] == top for name in names)
        assert names[1:] == sorted(names[1:], key=lambda name: name.split("/"))
        assert {(entry.uid, entry.gid, entry.uname, entry.mtime) for entry in archive} == {(0, 0, "root", 1767225600)}
        for needed in ("bin/usmp-plan", "share/man/man1/usmp-plan.1.gz", "share/doc/usmp-plan/README.md", "share/usmp-plan/usmp_plan.cmake"):
            assert f"{top}/{needed}" in names, needed
        assert not any(name.endswith((".a", ".hpp")) for name in names)
        archive.extract(f"{top}/bin/usmp-plan", folder)
    packed.unlink()
    shown = subprocess.run([folder / top / "bin/usmp-plan", "--version"], capture_output=True, text=True, check=True, env={}).stdout
    assert top.startswith("-".join(shown.split())), (top, shown)


def main() -> None:
    check_needs_nothing()
    with tempfile.TemporaryDirectory() as name:
        root, other, packs = (Path(name) / one for one in ("root", "other", "packs"))
        for folder in (root, other, packs):
            folder.mkdir()
        for folder in (root, other):
            write_inputs(folder)
        shutil.copy(STATIC, root / "usmp-plan")
        if os.geteuid() == 0:
            found = plan(root, ["/usmp-plan"], lambda: os.chroot("."))
        else:
            found = plan(root, [str(root / "usmp-plan")], None)
        expected = plan(other, [str(ORDINARY)], None)
        assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
        assert len(found) > 20
        for key, value in expected.items():
            assert found[key] == value, key
        check_archive(packs)
    print("static program: ok")


main()
