#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Runs usmp-plan on broken archives: a clear message, exit code 3, no crash, no hang, no files left.

Usage: hostile.py BINARY TESTDATA
"""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TIR = "src/default.tir.json"
MAX_SECONDS = 20


class Runner:
    def __init__(self, binary: Path, directory: Path):
        self.binary = binary
        self.directory = directory
        self.seconds = MAX_SECONDS
        self.failed = 0
        self.passed = 0

    def run(self, label: str, archive: bytes, codes: set[int], parts: tuple[str, ...] = ()) -> None:
        path, out = self.directory / "model.tar", self.directory / "out"
        path.write_bytes(archive)
        before = sorted(self.directory.iterdir())
        faults = []
        try:
            done = subprocess.run([self.binary, path, "-o", out], capture_output=True, text=True, errors="replace", timeout=self.seconds)
        except subprocess.TimeoutExpired:
            self.report(label, [f"still running after {self.seconds} s"])
            return
        if done.returncode not in codes:
            faults.append(f"exit code {done.returncode}, expected one of {sorted(codes)}: {done.stderr[:300]}")
        if done.returncode != 0:
            if done.stdout:
                faults.append("standard output is not empty")
            if not done.stderr.startswith("usmp-plan: error: "):
                faults.append(f"no message: {done.stderr[:300]!r}")
            if sorted(self.directory.iterdir()) != before:
                faults.append("files were left")
            if done.returncode == 3 and str(path) not in done.stderr:
                faults.append(f"the message does not name the file: {done.stderr[:300]!r}")
        faults += [f"'{part}' is not in the message: {done.stderr[:300]!r}" for part in parts if part not in done.stderr]
        subprocess.run(["rm", "-rf", out], check=True)
        self.report(label, faults)

    def report(self, label: str, faults: list[str]) -> None:
        if faults:
            self.failed += 1
            print(f"FAILED {label}: " + "; ".join(faults))
        else:
            self.passed += 1


def members_of(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar.getmembers() if member.isfile()}


def tar_of(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def truncations(runner: Runner, archive: bytes) -> None:
    # The archive is whole once the last member and one zero block of the end marker are there.
    end = len(archive.rstrip(b"\0"))
    complete = (end + 511) // 512 * 512 + 512
    for size in range(0, len(archive), 512):
        runner.run(f"truncated to {size} bytes", archive[:size], {3} if size < complete else {0})
    for size in range(700, complete, 7777):
        runner.run(f"truncated to {size} bytes", archive[:size], {3})


def flips(runner: Runner, archive: bytes, count: int) -> None:
    generator = random.Random(20261120)
    end = len(archive.rstrip(b"\0"))
    for _ in range(count):
        position, bit = generator.randrange(end), generator.randrange(8)
        changed = bytearray(archive)
        changed[position] ^= 1 << bit
        runner.run(f"bit {bit} of byte {position} flipped", bytes(changed), {0, 3})


class Tir:
    """The TIR graph of an archive with one thing changed."""

    def __init__(self, archive: bytes):
        self.members = members_of(archive)
        self.name = next(name for name in self.members if name.endswith(TIR))
        self.graph = json.loads(self.members[self.name])
        self.nodes = self.graph["nodes"]

    def first(self, type_key: str) -> dict:
        return next(node for node in self.nodes if node["type_key"] == type_key)

    def add(self, node: dict) -> str:
        self.nodes.append(node)
        return str(len(self.nodes) - 1)

    def archive(self) -> bytes:
        return self.with_text(json.dumps(self.graph))

    def with_text(self, text: str) -> bytes:
        return tar_of({**self.members, self.name: text.encode()})


def loops(tir: Tir, depth: int) -> bytes:
    """The archive with `depth` loops around the first loop's body."""
    loop = tir.first("tir.For")
    body = loop["attrs"]["body"]
    one = tir.add({"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "1", "span": "0"}})
    for _ in range(depth):
        name = tir.add({"type_key": "runtime.String", "repr_str": "i"})
        kind = tir.add({"type_key": "PrimType", "attrs": {"dtype": "int32"}})
        var = tir.add({"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": name, "type_annotation": kind, "span": "0"}})
        body = tir.add({"type_key": "tir.For", "attrs": {"loop_var": var, "min": one, "extent": one, "kind": "0", "body": body,
                                                        "annotations": "0", "thread_binding": "0", "span": "0"}})
    loop["attrs"]["body"] = body
    return tir.archive()


def graph_faults(runner: Runner, plain: bytes, allocating: bytes) -> None:
    tir = Tir(plain)
    tir.first("tir.For")["attrs"]["body"] = "999999"
    runner.run("node index out of range", tir.archive(), {3}, (TIR, "999999", "out of range"))

    tir = Tir(plain)
    loop = tir.first("tir.For")
    loop["attrs"]["body"] = str(tir.nodes.index(loop))
    runner.run("statement that contains itself", tir.archive(), {3}, (TIR,))

    tir = Tir(plain)
    total = tir.first("tir.Add")
    total["attrs"]["a"] = str(tir.nodes.index(total))
    runner.run("expression that contains itself", tir.archive(), {3}, (TIR,))

    for value, word in (("-5", "negative"), (str(2**62), "needs more than")):
        tir = Tir(allocating)
        allocate = tir.first("tir.Allocate")
        one = tir.add({"type_key": "IntImm", "attrs": {"dtype": "int64", "value": value, "span": "0"}})
        four = tir.add({"type_key": "IntImm", "attrs": {"dtype": "int64", "value": "16", "span": "0"}})
        allocate["attrs"]["extents"] = tir.add({"type_key": "Array", "data": [int(one), int(four)]})
        runner.run(f"extent {value}", tir.archive(), {3}, (TIR, word))

    # As deep as is allowed, and deeper.
    for depth, codes, parts in ((900, {0}, ()), (100000, {3}, (TIR, "deep"))):
        tir = Tir(plain)
        store = tir.first("tir.BufferStore")
        value = store["attrs"]["value"]
        for _ in range(depth):
            value = tir.add({"type_key": "tir.Cast", "attrs": {"dtype": "int16", "value": value, "span": "0"}})
        store["attrs"]["value"] = value
        runner.run(f"expression {depth} deep", tir.archive(), codes, parts)
    for depth, codes, parts in ((240, {0}, ()), (100000, {3}, (TIR, "deep"))):
        runner.run(f"loops {depth} deep", loops(Tir(plain), depth), codes, parts)

    tir = Tir(plain)
    store = tir.first("tir.BufferStore")
    value = store["attrs"]["value"]
    for _ in range(60):
        value = tir.add({"type_key": "tir.Add", "attrs": {"dtype": "int16", "a": value, "b": value, "span": "0"}})
    store["attrs"]["value"] = value
    runner.run("expression that unfolds to 2^60 nodes", tir.archive(), {3}, (TIR,))

    tir = Tir(plain)
    runner.run("JSON 100000 deep", tir.with_text("[" * 100000 + "]" * 100000), {3}, (TIR,))
    runner.run("JSON cut off", tir.with_text(json.dumps(tir.graph)[:-20]), {3}, (TIR,))
    runner.run("empty TIR", tir.with_text(""), {3}, (TIR,))
    runner.run("JSON of another kind", tir.with_text('{"nodes": 5}'), {3}, (TIR,))

    tir = Tir(plain)
    array = tir.first("runtime.NDArray")
    array["repr_str"] = array["repr_str"][:40]
    runner.run("constant cut off", tir.archive(), {3}, (TIR,))


def data_dependent_index(runner: Runner, plain: bytes) -> None:
    """A constant of three elements whose index is a byte of the input: what verify --execute says was accessed."""
    tir = Tir(plain)
    loads = [node for node in tir.nodes if node["type_key"] == "tir.BufferLoad"]
    of_input, of_constant = ([(tir.nodes.index(node), node) for node in loads if node["attrs"]["dtype"] == dtype] for dtype in ("uint8", "int16"))
    index = tir.add({"type_key": "tir.Cast", "attrs": {"dtype": "int32", "value": str(of_input[-1][0]), "span": "0"}})
    of_constant[-1][1]["attrs"]["indices"] = tir.add({"type_key": "Array", "data": [int(index)]})
    path = runner.directory / "model.tar"
    path.write_bytes(tir.archive())
    done = subprocess.run([runner.binary, "verify", path, "--execute"], capture_output=True, text=True, check=False, timeout=MAX_SECONDS)
    parts = ("round 0", "leaves the storage of a tensor", "loads element ", "which has 3 elements", "either random inputs do not suit the model")
    faults = [f"{part!r} is not in the message: {done.stderr[:300]!r}" for part in (str(path), *parts) if part not in done.stderr]
    runner.report("an index that depends on data", faults + ([f"exit code {done.returncode}"] if done.returncode != 2 else []))


def header_faults(runner: Runner, archive: bytes) -> None:
    info = tarfile.TarInfo("./src/default.tir.json")
    info.size = 10 * 2**30
    runner.run("10 GiB claimed", info.tobuf(tarfile.GNU_FORMAT) + b"\0" * 2048, {3}, ("default.tir.json",))
    runner.run("empty file", b"", {3})
    runner.run("no tar", b"#!/bin/sh\n" * 1000, {3})
    for name in ("../escape.json", "/absolute.json"):
        runner.run(f"member {name}", tar_of({**members_of(archive), name: b"x"}), {3}, (name,))


def main() -> int:
    binary, testdata = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    plain = (testdata / "cast_subtract.tar").read_bytes()
    allocating = (testdata / "repeated_op.tar").read_bytes()
    with tempfile.TemporaryDirectory(prefix="usmp-hostile-") as temporary:
        runner = Runner(binary, Path(temporary))
        runner.run("the archive itself", plain, {0})
        truncations(runner, plain)
        flips(runner, plain, 400)
        graph_faults(runner, plain, allocating)
        header_faults(runner, plain)
        data_dependent_index(runner, plain)
    print(f"{runner.passed} passed, {runner.failed} failed")
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
