#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Runs the random networks of the shared folder against the outputs of TVM's own C.

Every archive is planned by each step of transformation alone and by all together: into one pool, into two bounded ones and
with its inputs and outputs in the workspace. The C is held to what golden.py holds it to, warnings and sanitizers
included. Where a step changed nothing the same C comes out again: each program of an archive is built and run once.

Archives whose C computes something else than their TIR (stale_operands.py) are planned from C: their golden files are C's.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import golden
from stale_operands import stale_operands

ALGORITHM = "hill_climb"
ONE_POOL = "workspace_pools:\n  - name: sram\n"
# The first holds half of what one pool would, the second what it took when it was left unbounded: the buffers must spread.
TWO_POOLS = ("workspace_pools:\n  - name: dtcm\n    size_hint_bytes: {half}\n  - name: sram\n    size_hint_bytes: {rest}\n"
             "parameter_pools:\n  - name: flash\n")
# Has no golden files. Optimising compilers may take a buffer of it for uninitialised.
COMPILED_ONLY = ("repro_maybe_uninit",)
PLACES = ("one", "two", "io")


@dataclass
class Program:
    model: golden.Model
    out: Path
    variants: list[str] = field(default_factory=list)  # that emit it

    def label(self) -> str:
        return f"{self.model.name}: {', '.join(self.variants)}"


@dataclass
class Archive:
    model: golden.Model
    directory: Path
    number: int
    programs: dict[str, Program] = field(default_factory=dict)  # by the hash of their files
    options: tuple[str, ...] = ()

    def label(self) -> str:
        return self.model.name


def plan(binary: Path, archive: Archive, transform: str, pools: str, out: Path, *options: str) -> dict:
    path = archive.directory / "pools.yaml"
    path.write_text(pools)
    golden.run([binary, archive.model.path, "--algorithm", ALGORITHM, "--transform", *transform.split(), "--pools", path,
                "-o", out, "--quiet", *archive.options, *options])
    return json.loads((out / "default.plan.json").read_text())


def options_of(model: golden.Model) -> tuple[str, ...]:
    with tarfile.open(model.path) as tar:
        files = [tar.extractfile(member).read().decode() for member in tar if member.name.endswith(".c")]
    return ("--from", "c") if any(map(stale_operands, files)) else ()


def two_pools(binary: Path, archive: Archive, transform: str, one: dict, out: Path) -> None:
    half = max(1, one["totals"]["workspace_used"] // 2)
    pools = {pool["name"]: pool for pool in plan(binary, archive, transform, TWO_POOLS.format(half=half, rest=-1), out)["pools"]}
    two = plan(binary, archive, transform, TWO_POOLS.format(half=half, rest=max(1, pools["sram"]["used"])), out)
    used = {buffer["pool"] for buffer in two["buffers"]} - {"flash"}
    if len(used) < 2 and any(buffer["size"] <= half for buffer in two["buffers"] if buffer["pool"] != "flash"):
        raise golden.Failure(f"{transform}: all buffers are in {used}")


def add(archive: Archive, out: Path, variant: str) -> None:
    golden.check_no_workspace_calls(out / "codegen/host/src")
    for module, directory in archive.model.golden.items():
        golden.write_main(out, module, directory, packed=False)
    program = archive.programs.setdefault(golden.digest_of(out), Program(archive.model, out))
    program.variants.append(variant)
    if program.out != out:
        shutil.rmtree(out)


def plan_all(binary: Path, archive: Archive, transforms: list[str], alone: set[str], in_turn: bool) -> None:
    archive.directory.mkdir()
    for number, transform in enumerate(transforms):
        if in_turn and transform in alone and (archive.number + number) % 4 != 0:
            continue
        places = (PLACES[(archive.number + number) // 4 % len(PLACES)],) if in_turn and transform != "all" else PLACES
        one, two, io = (archive.directory / f"{number}_{place}" for place in PLACES)
        if places != ("io",):
            planned = plan(binary, archive, transform, ONE_POOL, one)
        if "two" in places:
            two_pools(binary, archive, transform, planned, two)
        if "io" in places:
            plan(binary, archive, transform, ONE_POOL, io, "--workspace-io")
        for place in places:
            add(archive, archive.directory / f"{number}_{place}", f"{transform} {place}")


def build_and_run(program: Program) -> None:
    for module, directory in program.model.golden.items():
        golden.build_and_run(program.out, module, directory, [*golden.GCC, "-O0", *golden.SANITIZE], one_unit=True)
    if program.model.name in COMPILED_ONLY:
        for level in ("-O1", "-O2"):
            golden.run([*golden.GCC, level, *golden.WARNINGS, "-I", program.out / "codegen/host/include", "-c",
                        *program.out.rglob("*.c")], cwd=program.out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("root", type=Path, help="directory with archives (.tar.xz) and golden files")
    parser.add_argument("--transform", nargs="+", required=True,
                        help="steps of transformation, as on the command line, or each; options may follow in the same word")
    parser.add_argument("--in-turn", action="store_true", help="all steps in each of the three ways; else one way, a step alone on every fourth archive")
    parser.add_argument("--only", default="", help="archives whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    models = golden.models_below(arguments.root, ".tar.xz")
    models += [golden.Model(arguments.root / f"{name}.tar.xz", {}) for name in COMPILED_ONLY]
    models = [model for model in models if arguments.only in model.name]
    if not models:
        print("no archive to run")
        return 1
    with tempfile.TemporaryDirectory(prefix="usmp-oracle-") as temporary:
        archives = [Archive(model, Path(temporary) / model.name, number, options=options_of(model)) for number, model in enumerate(models)]
        transforms = golden.transformations(binary, arguments.transform)
        alone = set(golden.steps(binary))
        unplanned = golden.run_all(archives, lambda archive: plan_all(binary, archive, transforms, alone, arguments.in_turn), arguments.jobs)
        programs = [program for archive in archives for program in archive.programs.values()]
        plans = sum(len(program.variants) for program in programs)
        from_c = sum(1 for archive in archives if archive.options)
        print(f"{len(archives)} archives ({from_c} from C), {plans} plans, {len(programs)} programs", flush=True)
        return golden.run_all(programs, build_and_run, arguments.jobs) | unplanned


if __name__ == "__main__":
    sys.exit(main())
