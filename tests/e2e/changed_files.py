#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Files that somebody saves, replaces or shortens while they are planned: nothing is written, and nothing of theirs is lost.

Usage: changed_files.py BINARY TESTDATA

The planner is a program of the test's own, which changes a file before it answers: after everything is read, before anything is
written.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hostile import members_of, tar_of

EXAMPLE = Path(__file__).resolve().parents[2] / "docs/examples/external_planner.py"
OK, USAGE, ARCHIVE = 0, 2, 3
CHANGED = "has changed since it was read, so nothing was written"


class Tests:
    def __init__(self, binary: Path, testdata: Path, directory: Path):
        self.binary, self.testdata, self.work = binary, testdata, directory / "work"
        self.passed = self.failed = 0

    def run(self, label: str, change: str, arguments: list[str], code: int, *parts: str, written: tuple[str, ...] = ()) -> None:
        """Runs in self.work; `written`: what may be new or other afterwards, but for what `change` does."""
        planner = self.work / "planner"
        planner.write_text(f"#!/bin/sh\n{change}\nexec {sys.executable} {EXAMPLE}\n")
        planner.chmod(0o755)
        # The change alone, for what there should be.
        expected = self.work.with_name("expected")
        shutil.rmtree(expected, ignore_errors=True)
        shutil.copytree(self.work, expected)
        subprocess.run(["sh", "-c", change], cwd=expected, check=True)
        done = subprocess.run([self.binary, *arguments, "--algorithm", "exec:./planner", "--quiet"], capture_output=True, text=True, check=False,
                              timeout=120, cwd=self.work)
        faults = []
        if done.returncode != code:
            faults.append(f"exit code {done.returncode}, expected {code}: {done.stderr[:300]}")
        faults += [f"{part!r} is not in {done.stderr[:300]!r}" for part in parts if part not in done.stderr]
        if code != OK and done.stderr.count("\n") != 1:
            faults.append(f"no single message: {done.stderr[:300]!r}")
        left = state_of(self.work), state_of(expected)
        other = sorted(name for name in left[0].keys() | left[1].keys() if left[0].get(name) != left[1].get(name))
        if any(name.split("/")[0] not in written for name in other):
            faults.append(f"these files are others: {other}")
        if code == OK and not other:
            faults.append("nothing was written")
        self.passed += not faults
        self.failed += bool(faults)
        if faults:
            print(f"FAILED {label}: " + "; ".join(faults))

    def prepare(self, archive: bytes) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        (self.work / "m.tar").write_bytes(archive)
        (self.work / "pools.yaml").write_text("workspace_pools:\n  - name: sram\n    size_hint_bytes: ld:SRAM\n")
        (self.work / "b.ld").write_text("MEMORY { SRAM (rw) : ORIGIN = 0, LENGTH = 64K }\n")
        for name, data in members_of(archive).items():
            if not name.endswith(".tir.json"):
                path = self.work / "tree" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)


def state_of(directory: Path) -> dict[str, bytes]:
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in sorted(directory.rglob("*"))
            if path.is_file() and path.name != "planner" and not path.relative_to(directory).parts[0].startswith(".usmp-plan-")}


def saved(tests: Tests, archive: bytes) -> None:
    options = ["--pools", "pools.yaml", "--memory", "b.ld"]
    outputs = {"a directory": ["-o", "out"], "an archive": ["-o", "out.tar"], "a plan beside": ["-o", "out", "--plan-json", "plan.json"]}
    for name, output in outputs.items():
        tests.prepare(archive)
        tests.run(f"{name}, nothing changes", "true", ["m.tar", *options, *output], OK, written=("out", "out.tar", "plan.json"))
        for file in ("m.tar", "pools.yaml", "b.ld"):
            for how, change in (("is added to", f"echo >> {file}"), ("is replaced", f"cp {file} new; echo >> new; mv new {file}"),
                                ("gets the same size", f"dd if=/dev/zero of={file} bs=1 count=1 seek=9 conv=notrunc 2> /dev/null")):
                tests.prepare(archive)
                tests.run(f"{name}, {file} {how}", change, ["m.tar", *options, *output], USAGE, f"{file}: {CHANGED}")
        for label, change in (("the model is removed", "rm m.tar"), ("another file is saved", "echo > other"), ("access rights", "chmod 600 m.tar")):
            tests.prepare(archive)
            tests.run(f"{name}, {label}", change, ["m.tar", *options, *output], OK, written=("out", "out.tar", "plan.json"))
    # What an engineer saves during a long search stays, whatever git knows and --force allows.
    sources = sorted(path.relative_to(tests.work) for path in (tests.work / "tree").rglob("*.c"))
    assert len(sources) == 2, sources
    for source in sources:
        for force in ([], ["--force"]):
            for how, change in (("is added to", f"echo '/* mine */' >> {source}"), ("is replaced", f"echo '/* mine */' > new; mv new {source}")):
                tests.prepare(archive)
                tests.run(f"in place{' '.join(force)}, {source} {how}", change, ["tree", "--in-place", *force], USAGE, f"{source}: {CHANGED}")
    tests.prepare(archive)
    tests.run("in place, nothing changes", "true", ["tree", "--in-place", "--force"], OK, written=("tree",))


def shortened(tests: Tests, archive: bytes) -> None:
    """Bytes of a large file are read where the system has them: they may be gone."""
    members = members_of(archive)
    source = next(name for name in members if name.endswith("_lib0.c"))
    table = b"\nstatic const unsigned char extra[] = {" + b"0x12, " * 1000000 + b"0};\n"
    large = tar_of({**members, source: members[source] + table, "src/table.c": table})
    for arguments, output in ((["m.tar", "-o", "out.tar"], "an archive"), (["m.tar", "-o", "out"], "a directory")):
        tests.prepare(large)
        tests.run(f"{output}, large", "true", arguments, OK, written=("out", "out.tar"))
        for size in (4096, len(large) // 2):
            tests.prepare(large)
            change = f"dd if=/dev/null of=m.tar bs=1 seek={size} 2> /dev/null"
            # What is copied from it is met first; a directory gets nothing of it.
            code, message = (ARCHIVE, "m.tar: was shortened while it was read") if output == "an archive" else (USAGE, f"m.tar: {CHANGED}")
            tests.run(f"{output}, shortened to {size} bytes", change, arguments, code, message)
            tests.prepare(large)
            tests.run(f"{output}, the next run", "true", arguments, OK, written=("out", "out.tar"))
            left = [path.name for path in tests.work.iterdir() if path.name.startswith(".usmp-plan-")]
            tests.failed += bool(left)
            if left:
                print(f"FAILED {output}: {left} is left")


def main(binary: Path, testdata: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(binary, testdata, Path(folder))
        archive = (testdata / "cast_subtract.tar").read_bytes()
        saved(tests, archive)
        shortened(tests, archive)
        print(f"files that change: {tests.passed} passed, {tests.failed} failed")
        return 1 if tests.failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
