#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Runs `usmp-plan verify --execute`: the planned C of an archive beside its unshared C, on random inputs.

Every algorithm meets every archive, with the pools files and the placement of inputs and outputs taken in turn; --one takes
the algorithms in turn too, one run an archive, and --full takes the product of all. Whatever happens, no temporary file may stay. golden.py holds the same C against golden outputs with
a harness of its own.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import golden

# Cannot be run: the exit code, and what the message has to say.
REFUSED = {"mlperf_kws_cmsisnn": (2, "tvmgen_default_cmsis_nn_main_0", "cannot be executed"),
           "unwritten_output": (3, "output 'output2' depends on memory that the model never wrote")}


@dataclass
class Run:
    case: golden.Case
    sanitize: bool = False

    def label(self) -> str:
        return self.case.label() + (" sanitized" if self.sanitize else "")


def has_tir(path: Path) -> bool:
    with tarfile.open(path) as archive:
        return any(name.endswith(".tir.json") for name in archive.getnames())


def archives(root: Path, but_not_of: Path | None) -> list[golden.Model]:
    return [golden.Model(path, {}) for path in golden.but_not_of(but_not_of, sorted(root.rglob("*.tar")))
            if has_tir(path)]


def runs_of(models: list[golden.Model], names: list[str], full: bool, one: bool, transforms: list[str], in_turn: bool) -> list[Run]:
    placements = [(pools, io) for io in (False, True) for pools in golden.POOLS]
    runs = []
    for index, model in enumerate(models):
        for number, algorithm in enumerate(names):
            if one and number != index % len(names):
                continue
            chosen = placements if full else [placements[(5 * index + number) % len(placements)]]
            if model.name in REFUSED:  # whose targets not every pools file suits
                chosen = [("default", False)]
            for pools, io in chosen:
                for turn, transform in enumerate(transforms):
                    if in_turn and turn != index % len(transforms):
                        continue
                    # Where there are several transformations, the sanitizers see each on some archives.
                    sanitize = (number if len(transforms) == 1 else turn) == (3 * index if one else index) % len(names)
                    runs.append(Run(golden.Case(model, algorithm, pools, io, transform=transform), sanitize))
    return runs


def execute(binary: Path, run: Run, cflags: str) -> None:
    with tempfile.TemporaryDirectory(prefix="usmp-execute-") as temporary:
        directory = Path(temporary)
        scratch = directory / "tmp"
        scratch.mkdir()
        case = run.case
        command = [binary, "verify", case.model.path, "--execute", "--algorithm", case.algorithm, "--cflags", cflags, "--rounds", "2"]
        if pools := golden.pools_file(binary, case, directory):
            command += ["--pools", pools]
        command += case.options()
        command += ["--sanitize"] if run.sanitize else []
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, env={**os.environ, "TMPDIR": str(scratch)})
        if left := list(scratch.iterdir()):
            raise golden.Failure(f"files were left: {left}")
        if refused := REFUSED.get(case.model.name):
            code, *words = refused
            if done.returncode != code or not all(word in done.stderr for word in words):
                raise golden.Failure(f"exit code {done.returncode}, expected {code} and a message with {words}:\n{done.stderr}")
            return
        if done.returncode != 0:
            raise golden.Failure(f"exit code {done.returncode}\n{done.stderr[-4000:]}")
        compared = [int(count) for count in re.findall(r"executed:\s+(\d+)\s+output\s+elements?", done.stdout)]
        if len(compared) != done.stdout.count("verified: ") or not all(compared):
            raise golden.Failure(f"not every module was executed:\n{done.stdout}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("roots", nargs="+", type=Path, help="directories with archives")
    parser.add_argument("--full", action="store_true", help="the product of algorithms, pools files and placements")
    parser.add_argument("--one", action="store_true", help="one run of each archive")
    parser.add_argument("--algorithms", default="", help="these, comma separated; default: all")
    parser.add_argument("--transform", nargs="+", default=[""], help="steps of transformation, as on the command line, or each; options may follow in the same word")
    parser.add_argument("--in-turn", action="store_true", help="each archive with the next of the transformations, not with each")
    parser.add_argument("--but-not-of", type=Path, help="leave out archives that stand there, too, byte for byte")
    parser.add_argument("--only", default="", help="archives whose path contains this")
    parser.add_argument("--cflags", default="-O0")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    models = [model for root in arguments.roots for model in archives(root, arguments.but_not_of) if arguments.only in str(model.path)]
    names = arguments.algorithms.split(",") if arguments.algorithms else golden.algorithms(binary)
    transforms = golden.transformations(binary, arguments.transform)
    runs = runs_of(models, names, arguments.full, arguments.one, transforms, arguments.in_turn)
    if not runs:
        print("no archive to run")
        return 1
    return golden.run_all(runs, lambda run: execute(binary, run, arguments.cflags), arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
