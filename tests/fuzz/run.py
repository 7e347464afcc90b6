#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Runs the fuzz targets and says what came of it, or makes small corpora of what they found.

Usage: run.py BUILD CORPORA [--time SECONDS] [--timeout SECONDS] [--jobs N] [--targets NAME...] [--merge]

BUILD holds the programs fuzz_<target>; CORPORA has a directory <target> each, from whose inputs a run starts. New inputs, logs and
crashes go to BUILD/fuzz/. The exit code is 1 if a target crashed. With --merge nothing is looked for: the corpora are
replaced by the smallest ones that reach what the old and the new inputs reach; files named crash-* stay.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# The longest input of each target that is looked at.
TARGETS = {"archive": 8192, "metadata": 6000, "tir_json": 16000, "ndarray": 1000, "pools": 3000, "linker_script": 2000, "tvmc": 2000, "json": 3000, "csv": 2000,
           "planners": 200, "c": 8000, "tvm_c": 8000, "tvm_c_tokens": 100, "tflite": 6000, "whole": 2000}
LIMITS = ["-rss_limit_mb=2048"]
# The sanitizer's own memory and the depth of its notes cost more time than they show faults.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=32:malloc_context_size=8:" + os.environ.get("ASAN_OPTIONS", "")}
DICTIONARIES = Path(__file__).resolve().parent / "dictionaries"


@dataclass
class Outcome:
    target: str
    end: str  # what stopped it; empty: its time was over
    runs: int
    edges: int
    features: int
    seconds: int
    peak_mb: int


def last(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def outcome_of(target: str, log: str, code: int) -> Outcome:
    runs = last(r"stat::number_of_executed_units:\s+(\d+)", log) or last(r"^#(\d+)", log)
    end = {0: "", 70: "TIMEOUT of one input", 71: "OUT OF MEMORY"}.get(code, "CRASH")  # libFuzzer's exit codes
    return Outcome(target, end, runs, last(r"cov: (\d+)", log), last(r"ft: (\d+)", log), last(r"Done \d+ runs in (\d+) second", log),
                   last(r"stat::peak_rss_mb:\s+(\d+)", log))


def flags_of(target: str, timeout: int) -> list[str]:
    dictionary = DICTIONARIES / f"{target}.dict"
    return [*LIMITS, f"-timeout={timeout}", f"-max_len={TARGETS[target]}", *([f"-dict={dictionary}"] if dictionary.exists() else [])]


def fuzz(target: str, build: Path, corpora: Path, seconds: int, timeout: int) -> Outcome:
    place = build / "fuzz" / target
    found, log = place / "corpus", place / "log"
    found.mkdir(parents=True, exist_ok=True)
    command = [program(build, target), f"-max_total_time={seconds}", "-print_final_stats=1", f"-artifact_prefix={place}/", *flags_of(target, timeout), found]
    if (corpora / target).is_dir():
        command.append(corpora / target)
    with log.open("w") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env=ENVIRONMENT).returncode
    return outcome_of(target, log.read_text(errors="replace"), code)


def merge(target: str, build: Path, corpora: Path, timeout: int) -> None:
    merged = build / "fuzz" / target / "merged"
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir(parents=True)
    kept = corpora / target
    kept.mkdir(parents=True, exist_ok=True)
    subprocess.run([program(build, target), "-merge=1", "-use_counters=0", *flags_of(target, timeout), merged, kept, build / "fuzz" / target / "corpus"],
                   check=True, capture_output=True)
    for old in kept.iterdir():
        if not old.name.startswith("crash-"):
            old.unlink()
    for new in sorted(merged.iterdir()):
        shutil.copy(new, kept / new.name[:12])
    print(f"{target}: {len(list(kept.iterdir()))} inputs, {sum(f.stat().st_size for f in kept.iterdir())} bytes")


def program(build: Path, target: str) -> Path:
    return next(path for path in (build / "tests" / "fuzz" / f"fuzz_{target}", build / f"fuzz_{target}") if path.exists())


def table(outcomes: list[Outcome], build: Path) -> None:
    print("| target | executions | edges | features | seconds | peak MiB | |\n|---|---|---|---|---|---|---|")
    for o in outcomes:
        note = f"{o.end}, see {build}/fuzz/{o.target}" if o.end else ""
        print(f"| `{o.target}` | {o.runs} | {o.edges} | {o.features} | {o.seconds} | {o.peak_mb} | {note} |")
    print(f"| all | {sum(o.runs for o in outcomes)} | | | {sum(o.seconds for o in outcomes)} | | |")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--time", type=int, default=60)
    parser.add_argument("--timeout", type=int, default=10, help="seconds for one input; more on a machine that has other work")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--targets", nargs="*", choices=list(TARGETS))
    parser.add_argument("--merge", action="store_true")
    options = parser.parse_args()
    targets = options.targets or list(TARGETS)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if options.merge:
            list(pool.map(lambda target: merge(target, options.build, options.corpora, options.timeout), targets))
            return 0
        outcomes = list(pool.map(lambda target: fuzz(target, options.build, options.corpora, options.time, options.timeout), targets))
    table(outcomes, options.build)
    return 1 if any(outcome.end for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
