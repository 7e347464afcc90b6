#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Random edits of TVM's entry, as engineers make them: small networks in C as TVM writes it, with calls checked in other words,
statements added between them, tensors moved, names that hide others, and now and then what is refused: macros around calls,
jumps, loops.

What is planned of each, into a directory or in place, must print and compute what the edited C does, under sanitizers, and
compile without warnings; and the memory that functions outside of the model were ever given has to be the same at each of their
calls (remembered.py). Models that usmp-plan refuses are counted by message. C whose own outputs depend on garbage in memory,
or that does not compile, is left out. A failing model is reduced, line by line, and left in --keep.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import checkouts
import golden
import kept_c
import remembered
from edited_models import Model

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unused"]
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0"}
COMPILE = [*golden.GCC, "-O0", *golden.SANITIZE, *STRICT]
FOUND_FILLS = (0x5a, 0xa5, 0)  # bytes that memory is filled with
WAYS = ((False, "all"), (True, "all"), (False, "none"), (True, "none"))  # in place, transformations

class Left(Exception):
    """The model says nothing: its C depends on garbage, or does not compile."""


class Finding(Exception):
    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


class Tools:
    def __init__(self, binary: Path, shared: Path) -> None:
        self.binary = binary
        self.shared = shared
        (shared / "runtime.c").write_text(remembered.RUNTIME)
        golden.run([*golden.GCC, "-O1", "-c", shared / "runtime.c", "-o", shared / "runtime.o"])


def built_and_run(tools: Tools, directory: Path, sources: list[Path], includes: list[Path], fills: tuple[int, ...], name: str) -> list[str]:
    program = directory / name
    command = [*COMPILE, *(word for path in includes for word in ("-I", path)), "-I", kept_c.SHIM, *sources, directory / "firmware.c",
               tools.shared / "runtime.o", "-lm", "-o", program]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise Finding("does not compile", done.stderr[-3000:])
    texts = []
    for fill in fills:
        found = directory / f"{FOUND_FILLS[0]}.log"
        environment = {**ENVIRONMENT, "FILL": str(fill), "LOG": str(directory / f"{fill}.log"), **({"FOUND": str(found)} if name == "made" else {})}
        ran = subprocess.run([program], capture_output=True, text=True, errors="replace", timeout=20, env=environment)
        if ran.returncode != 0:
            raise Finding("crashes", f"exit code {ran.returncode}\n{ran.stdout[-500:]}{ran.stderr[-3000:]}")
        texts.append(ran.stdout)
    program.unlink()
    return texts


def truth_of(tools: Tools, directory: Path, files: dict[str, str]) -> str:
    """What the edited C prints."""
    tree = directory / "truth"
    shutil.rmtree(tree, ignore_errors=True)
    checkouts.write_tree(tree, files)
    for source in tree.glob("*.c"):
        text = source.read_text()
        filled = re.sub(r"(int32_t tvmgen_m_run\([^)]*\) ?\{)", r"void fill_pool(void*, size_t); \1 fill_pool(global_workspace, sizeof(global_workspace));", text)
        if "global_workspace[" in text:
            source.write_text(filled)
    try:
        texts = built_and_run(tools, directory, sorted(tree.glob("*.c")), [tree], FOUND_FILLS, "edited")
    except (Finding, subprocess.TimeoutExpired) as error:
        raise Left(f"edited C {error}") from error
    if len(set(texts)) > 1:
        raise Left("depends on garbage")
    return texts[0]


def try_way(tools: Tools, directory: Path, files: dict[str, str], expected: str, way: tuple[bool, str]) -> tuple[str, str]:
    """What became of it: "planned", "refused" or "lacks", and the message."""
    in_place, transform = way
    tree = directory / "tree"
    out = directory / "planned"
    for path in (tree, out):
        shutil.rmtree(path, ignore_errors=True)
    checkouts.write_tree(tree, files)
    command = [tools.binary, tree, "--transform", transform, *(["--in-place", "--force"] if in_place else ["-o", out])]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    told = done.stdout + done.stderr
    if done.returncode == 3:
        if not re.search(r"m_lib\d\.c|tvmgen_m\.h|trace\.h", told) or not re.search(r"line \d+", told):
            raise Finding("message without place", told)
        return "refused", told
    if done.returncode != 0:
        raise Finding("exit code", f"{done.returncode}\n{told[-3000:]}")
    if not in_place and ("is not in planned C" in told or "planned C lacks" in told):
        return "lacks", told
    sources = sorted(tree.glob("*.c")) if in_place else sorted((out / "codegen/host/src").glob("*.c"))
    includes = [tree] if in_place else [out / "codegen/host/include", tree]
    try:
        texts = built_and_run(tools, directory, sources, includes, (0x33,), "made")
    except subprocess.TimeoutExpired as error:
        raise Finding("hangs", str(error)) from error
    if texts[0] != expected:
        wrong = next((f"{a!r} became {b!r}" for a, b in zip(expected.splitlines(), texts[0].splitlines()) if a != b), "length")
        raise Finding("computes something else", wrong)
    wrong = remembered.difference([directory / f"{fill}.log" for fill in FOUND_FILLS], directory / f"{0x33}.log")
    if wrong is not None:
        raise Finding("reuses memory whose address escaped", wrong)
    return "planned", told


def reduced(tools: Tools, directory: Path, files: dict[str, str], firmware: str, way: tuple[bool, str], kind: str) -> dict[str, str]:
    """The files with as few lines as fail in the same way."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "firmware.c").write_text(firmware)

    def fails(changed: dict[str, str]) -> bool:
        try:
            expected = truth_of(tools, directory, changed)
            if "run 0: 0 " not in expected:
                return False
            try_way(tools, directory, changed, expected, way)
        except Left:
            return False
        except Finding as finding:
            return finding.kind == kind
        return False

    for name in sorted(files, key=lambda one: -len(files[one])):
        if name.endswith("m.h"):
            continue
        lines = files[name].splitlines(keepends=True)
        size = max(1, len(lines) // 2)
        while size >= 1:
            at = 0
            while at < len(lines):
                shorter = lines[:at] + lines[at + size:]
                if fails({**files, name: "".join(shorter)}):
                    lines = shorter
                else:
                    at += size
            files = {**files, name: "".join(lines)}
            size //= 2
    return files


def run_seed(tools: Tools, temporary: Path, seed: int, keep: Path | None, reduce: bool) -> list[tuple[str, str]]:
    model = Model(seed)
    files = model.files()
    directory = temporary / str(seed)
    directory.mkdir(parents=True)
    results = []
    try:
        (directory / "firmware.c").write_text(model.firmware)
        expected = truth_of(tools, directory, files)
        first = seed % 4
        for way in WAYS[1::2] if model.calls_entry else (WAYS[first], WAYS[(first + 1 + seed // 4 % 2 * 2) % 4]):
            try:
                results.append(try_way(tools, directory, files, expected, way))
                if results[-1][0] == "refused":
                    break
            except Finding as finding:
                text = str(finding)
                if keep is not None:
                    place = keep / str(seed)
                    if reduce:
                        files = reduced(tools, directory / "reduced", files, model.firmware, way, finding.kind)
                    checkouts.write_tree(place, {**files, "way": f"{way}\n{text}\n"})
                    checkouts.write_tree(keep / f"{seed}.firmware", {"firmware.c": model.firmware})
                results.append(("finding", f"{finding.kind} ({'in place' if way[0] else 'directory'}, {way[1]}): {text}"))
                break
    except Left as left:
        results.append(("left out", str(left)))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return results


def summary_of(message: str) -> str:
    """A message without names and places, to count by."""
    line = next((one for one in message.splitlines() if "error" in one or "line" in one), message.strip().splitlines()[0] if message.strip() else "")
    line = re.sub(r"/\S*/", "", line)
    line = re.sub(r"line \d+, column \d+", "line N", line)
    return re.sub(r"'[^']*'", "'…'", line)[:230]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="directory for models that fail")
    parser.add_argument("--no-reduce", action="store_true")
    parser.add_argument("--print", action="store_true", help="the C of the first seed, nothing is run")
    parser.add_argument("--statistics", action="store_true", help="what became of the models, and why they are refused")
    arguments = parser.parse_args()
    if arguments.print:
        for name, text in Model(arguments.seed).files().items():
            print(f"// ----- {name}\n{text}")
        return 0
    counts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    examples: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="usmp-edits-") as temporary:
        tools = Tools(arguments.binary.resolve(), Path(temporary))
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            seeds = range(arguments.seed, arguments.seed + arguments.count)
            futures = {pool.submit(run_seed, tools, Path(temporary), seed, arguments.keep, not arguments.no_reduce): seed for seed in seeds}
            for future in concurrent.futures.as_completed(futures):
                seed = futures[future]
                results = future.result()
                for what, message in results:
                    if what == "finding":
                        print(f"FAILED {seed}: {message[:1500]}\n", flush=True)
                    if what == "planned" and "stays as it is" in message:
                        counts["planned, with functions as text"] += 1
                    counts[what] += 1
                    if what in ("refused", "left out", "lacks"):
                        reason = f"{what}: {summary_of(message)}"
                        reasons[reason] += 1
                        examples.setdefault(reason, seed)
    if arguments.statistics:
        for reason, count in reasons.most_common(60):
            print(f"{count:5} {reason} (seed {examples[reason]})")
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    # A campaign in which nothing is planned shows nothing.
    return 1 if counts["finding"] > 0 or counts["planned"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
