#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Names and texts of 100 kB in every place of every kind of input: whatever the program says of them on standard error is short.

Usage: long_names.py BINARY TESTDATA [--all] [WORD…]    only kinds of input whose names begin with one of the words

Each text of an archive's JSON, of its C, of pools files, plans, problems, linker scripts, options of tvmc and of the command line is
made long: in one place, and wherever it stands. Plain texts, and some with quotes, by which messages could lose count: in turn, with
--all each in every place.
"""

from __future__ import annotations

import concurrent.futures
import copy
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from hostile import members_of, tar_of

LENGTH = 100_000
MOST = 2048  # bytes on standard error
TEXTS = {"word": "x" * LENGTH, "quotes": "it's 'a' \"b\" '" * (LENGTH // 14), "lines": "a b\n" * (LENGTH // 4)}
POOLS = """workspace_pools:
  - {name: dtcm, size_hint_bytes: 16, alignment: 8, section: .bss.dtcm, region: DTCM}
  - {name: sram, size_hint_bytes: 64KiB, read_bandwidth_bytes_per_cycle: 4}
parameter_pools:
  - {name: flash, size_hint_bytes: 512KiB, emit: binary}
algorithm: optimal
objective: size
io_region: SRAM
budgets: {ram: 96KiB, regions: {DTCM: 60KiB, SRAM: 32KiB}}
pins:
  - {buffer: sid_1, function: main, pool: sram, offset: 0}
"""
SCRIPT = """MEMORY { DTCM (rw) : ORIGIN = 0x20000000, LENGTH = 64K
  SRAM (rw) : ORIGIN = 0x20010000, LENGTH = base + 256K  FLASH (rx) : ORIGIN = 0, LENGTH = 1M }
base = 4 * 1024; INCLUDE "other.ld"
SECTIONS { .text : { *(.text) } > FLASH }
"""
TVMC = """tvmc compile --target=c --workspace-pools=sram,dtcm --workspace-pools-size-hint-bytes=sram:1024,dtcm:64
 --workspace-pools-targets=sram:c --workspace-pools-target-access=sram:c:rw --constant-pools=flash
 --pass-config tir.usmp.enable=1 --pass-config tir.usmp.algorithm=hill_climb model.onnx
"""
CSV = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\n"


def replaced(value: object, place: tuple, text: str) -> object:
    """The value with the text (or key) at the place instead."""
    if not place:
        return text
    other = copy.copy(value)
    if place[0] is KEY:
        return {text if key == place[1] else key: one for key, one in value.items()}
    other[place[0]] = replaced(value[place[0]], place[1:], text)
    return other


KEY = object()


def places(value: object, at: tuple = (), pattern: tuple = ()) -> Iterator[tuple[tuple, tuple]]:
    """Places of texts and keys, each with what it has in common with others like it."""
    if isinstance(value, dict):
        kind = (value.get("type_key"),) if isinstance(value.get("type_key"), str) else ()
        for key, one in value.items():
            yield (*at, KEY, key), (*pattern, KEY, *kind, key)
            yield from places(one, (*at, key), (*pattern, *kind, key))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from places(one, (*at, i), (*pattern, "[]"))
    else:
        yield at, pattern


in_turn = itertools.cycle(TEXTS)
are_all = False


def texts() -> list[tuple[str, str]]:
    """For one place."""
    kind = next(in_turn)
    return list(TEXTS.items()) if are_all else [(kind, TEXTS[kind])]


def of_json(value: object, most_of_a_kind: int = 2) -> Iterator[tuple[str, str]]:
    seen: dict[tuple, int] = {}
    for place, pattern in places(value):
        seen[pattern] = seen.get(pattern, 0) + 1
        if seen[pattern] <= most_of_a_kind:
            label = ".".join("key" if part is KEY else str(part) for part in place)
            for kind, text in texts():
                yield f"{label}, {kind}", json.dumps(replaced(value, place, text))


def of_words(source: str, pattern: str, everywhere: bool = True) -> Iterator[tuple[str, str]]:
    """Each word of a text once, and wherever it stands."""
    words: dict[str, re.Match] = {}
    for found in re.finditer(pattern, source):
        words.setdefault(found.group(), found)
    for word, found in words.items():
        for kind, text in texts():
            yield f"first {word}, {kind}", source[: found.start()] + text + source[found.end() :]
        if everywhere:
            yield f"every {word}", re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", TEXTS["word"], source)


def of_flatbuffer(model: bytes) -> Iterator[tuple[str, bytes]]:
    """Each string of a FlatBuffers file that something refers to: a long one at the end takes its place."""
    for found in re.finditer(rb"[ -~]{3,}\0", model):
        for start in range(found.start(), found.end() - 3):
            size = found.end() - 1 - start
            if start >= 4 and int.from_bytes(model[start - 4 : start], "little") == size:
                break
        else:
            continue
        string = start - 4
        references = [at for at in range(0, string, 4) if at + int.from_bytes(model[at : at + 4], "little") == string]
        for kind, text in texts():
            changed = bytearray(model + b"\0" * (-len(model) % 4))
            for at in references:
                changed[at : at + 4] = (len(changed) - at).to_bytes(4, "little")
            changed += len(text).to_bytes(4, "little") + text.encode() + b"\0" * 4
            if references:
                yield f"{model[start : start + size].decode()}, {kind}", bytes(changed)


class Tests:
    def __init__(self, binary: Path, testdata: Path, directory: Path):
        self.binary, self.testdata, self.directory = binary, testdata, directory
        self.passed = self.failed = self.longest = 0
        self.refused = 0
        self.pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1)
        self.number = 0

    def run(self, label: str, files: dict[str, bytes], commands: list[list[str]]) -> None:
        place = Path(tempfile.mkdtemp(dir=self.directory))
        for name, data in files.items():
            (place / name).write_bytes(data)
            (place / name).chmod(0o755)
        for command in commands:
            done = subprocess.run([self.binary, *command], capture_output=True, check=False, timeout=120, cwd=place)
            said = done.stderr.decode("utf-8", "replace")
            self.longest = max(self.longest, len(done.stderr))
            self.refused += done.returncode not in (0, 1)
            faults = []
            if done.returncode not in range(6):
                faults.append(f"exit code {done.returncode}")
            if len(done.stderr) > MOST:
                faults.append(f"{len(done.stderr)} bytes on standard error: {said[:150]!r} … {said[-300:]!r}")
            self.failed += bool(faults)
            self.passed += not faults
            if faults:
                print(f"FAILED {label}: {' '.join(command)[:100]}: {'; '.join(faults)}")
        shutil.rmtree(place)

    def plan_of(self, model: Path) -> str:
        pools = self.directory / "pools.yaml"
        pools.write_text("workspace_pools:\n  - {name: dtcm, size_hint_bytes: 2KiB}\n  - {name: sram}\nparameter_pools:\n  - {name: flash}\n")
        done = subprocess.run([self.binary, model, "--pools", pools, "--dry-run", "--json"], capture_output=True, check=True)
        return json.dumps(json.loads(done.stdout))

    def cases(self) -> Iterator[tuple[str, dict[str, bytes], list[list[str]]]]:
        """What it is, files, command lines."""
        plan = ["m.tar", "-o", "out"]
        archive = members_of((self.testdata / "cast_subtract.tar").read_bytes())
        for member in ("metadata.json", "src/default.tir.json"):
            name = next(one for one in archive if one.endswith(member))
            for label, text in of_json(json.loads(archive[name]), 1):
                yield f"archive: {member}: {label}", {"m.tar": tar_of({**archive, name: text.encode()})}, [plan]
        # A name wherever it stands, so that it is not met before C is written.
        names = [node["repr_str"] for node in json.loads(archive[name])["nodes"] if node["type_key"] == "runtime.String" and node.get("repr_str")]
        for word in dict.fromkeys(names):
            renamed = {one: data.replace(word.encode(), TEXTS["word"].encode()) for one, data in archive.items()}
            yield f"archive: every {word}", {"m.tar": tar_of(renamed)}, [plan, ["verify", "m.tar", "--execute"]]
        for kind, text in TEXTS.items():
            yield f"archive: a member, {kind}", {"m.tar": tar_of({**archive, text: b""})}, [plan]
        without_tir = {one: data for one, data in archive.items() if not one.endswith(".tir.json")}
        for source in (one for one in without_tir if one.endswith((".c", ".h"))):
            text = without_tir[source].decode()
            for label, changed in of_words(text, r"[A-Za-z_]\w*|\"[^\"]*\"|\d+|[-+*/%&|^~!=<>?:;,.(){}\[\]]", everywhere=False):
                yield f"C: {Path(source).name}: {label}", {"m.tar": tar_of({**without_tir, source: changed.encode()})}, [plan]
        sources = "\n".join(data.decode() for one, data in without_tir.items() if one.endswith((".c", ".h")))
        for word in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", sources)):
            renamed = {one: re.sub(rb"\b%b\b" % word.encode(), TEXTS["word"].encode(), data) for one, data in without_tir.items()}
            yield f"C: every {word} of the archive", {"m.tar": tar_of(renamed)}, [plan]

        model = (self.testdata / "cast_subtract.tar").read_bytes()
        with_pools = [["m.tar", "--pools", "p", "--dry-run"], ["check", "m.tar", "--pools", "p", "--memory", "b.ld"]]
        for pools, commands in ((POOLS, with_pools[:1]), (POOLS.replace("size_hint_bytes: 16,", ""), with_pools)):
            for label, text in of_words(pools, r"[\w.]+|: |[{}\[\],]"):
                yield f"pools: {label}", {"m.tar": model, "p": text.encode(), "b.ld": SCRIPT.encode()}, commands
        for label, text in of_words(SCRIPT, r"[A-Za-z]\w*|\d\w*|\"[^\"]*\"|[{}():=+*;>]"):
            yield f"linker script: {label}", {"m.tar": model, "b.ld": text.encode()}, [["init", "m.tar", "--memory", "b.ld"]]
        for label, text in of_words(TVMC, r"[\w.-]+|[=:,]"):
            yield f"tvmc: {label}", {"m.tar": model, "t": text.encode()}, [["init", "m.tar", "--tvmc", "t"]]

        for path in sorted((self.testdata / "tflite").glob("*.tflite"))[::10]:
            for label, changed in of_flatbuffer(path.read_bytes()):
                yield f"tflite: {path.name}: {label}", {"m.tflite": changed}, [["m.tflite", "-o", "out"], ["convert", "m.tflite", "-o", "m.tar"]]

        written = self.plan_of(self.testdata / "cast_subtract.tar")
        document = json.loads(written)
        for label, text in of_json(document, 1):
            yield (f"plan: {label}", {"m.tar": model, "e.plan.json": text.encode()},
                   [["report", "e.plan.json"], ["m.tar", "--dry-run", "--pins", "e.plan.json"],
                    ["verify", "m.tar", "--plan", "e.plan.json"]])
        problem = subprocess.run([self.binary, "problem", self.testdata / "cast_subtract.tar"], capture_output=True, check=True).stdout
        for label, text in of_json(json.loads(problem), 1):
            yield f"problem: {label}", {"p.json": text.encode()}, [["solve", "p.json", "--algorithm", "fast"]]
        for label, text in of_words(CSV, r"\w+|,|\n"):
            yield f"csv: {label}", {"p.csv": text.encode()}, [["solve", "p.csv"]]

        known: set[str] = set()
        for command in ("plan", "verify", "diff", "compare", "solve", "inspect", "problem", "convert", "report", "check", "init", "help"):
            manual = subprocess.run([self.binary, "help", command], capture_output=True, text=True, check=True).stdout
            options = set(re.findall(r"^ +(?:-o, )?(--[\w-]+) [A-Z]", manual, re.MULTILINE)) - known
            known |= options
            for option in sorted(options):
                for kind, text in texts():
                    for model_name in ("m.tar", "p.csv"):
                        yield (f"command line: {command} {option}, {kind}", {"m.tar": model, "p.csv": CSV.encode()}, [[command, model_name, option, text],
                                                                                              [command, model_name, f"{option}={text}"]])
            for kind, text in TEXTS.items():
                yield (f"command line: {command}, {kind}", {"m.tar": model},
                       [[command, text], [command, "m.tar", text], [command, "--" + text], [command, "m.tar", "--" + text + "=" + text[:1000]]])
        for kind, text in TEXTS.items():
            yield f"command line: {kind}", {}, [[text], ["--" + text], ["-" + text], ["help", text], ["help", "plan", text]]
            yield (f"command line: algorithm, {kind}", {"m.tar": model}, [["m.tar", "--dry-run", "--algorithm", "exec:" + text],
                                                                         ["m.tar", "--dry-run", "--algorithm", "exec:false " + text]])
            for answer in ({text: []}, {"allocations": text}, {"allocations": [text]}, {"allocations": [{"buffer": text, "pool": text, "offset": 0}]},
                           {"allocations": [{"buffer": 0, "pool": text, "offset": 0}]}, {"allocations": [{"buffer": 0, "pool": "x", "offset": text}]}):
                planner = f"#!/bin/sh\ncat <<'END'\n{json.dumps(answer)}\nEND\n"
                yield f"planner: answer, {kind}", {"p.csv": CSV.encode(), "planner": planner.encode()}, [["solve", "p.csv", "--algorithm", "exec:./planner"]]
        # Many names, none of them long: lists in messages end, too.
        several = json.dumps({"modules": [dict(document["modules"][0], module=f"module_{i}") for i in range(3000)]})
        yield ("lists: modules of a plan", {"m.tar": model, "e.plan.json": several.encode(), "b": b"workspace_pools:\n  - {name: sram, budget: {max: 64KiB}}\n"},
               [["report", "e.plan.json"], ["diff", "e.plan.json", "m.tar"], ["m.tar", "--dry-run", "--pins", "e.plan.json"],
                ["verify", "m.tar", "--plan", "e.plan.json"], ["check", "m.tar", "--pools", "b", "--baseline", "e.plan.json"]])
        regions = "MEMORY {" + " ".join(f"R{i} : ORIGIN = {i * 16}, LENGTH = 16" for i in range(1000)) + "}"
        overlapping = "MEMORY {" + " ".join(f"R{i} (rw) : ORIGIN = 0, LENGTH = 16" for i in range(64)) + "}"
        yield ("lists: regions", {"m.tar": model, "b.ld": regions.encode(), "c.ld": overlapping.encode(), "p": b"workspace_pools:\n  - name: a\n"},
               [["m.tar", "--dry-run", "--pools", "p", "--memory", "b.ld"]])
        yield "lists: members", {"m.tar": tar_of({**archive, **{f"codegen/host/src/odd_{i}.c": b"int x[" for i in range(500)}})}, [plan]


def main(binary: Path, testdata: Path, words: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(binary, testdata, Path(folder))
        kinds: dict[str, int] = {}
        waiting: list[concurrent.futures.Future] = []
        for label, files, commands in tests.cases():
            kind = label.split(":")[0]
            if words and not any(label.startswith(word) for word in words):
                continue
            kinds[kind] = kinds.get(kind, 0) + len(commands)
            waiting.append(tests.pool.submit(tests.run, label, files, commands))
            if len(waiting) > 64:  # of megabytes each
                waiting.pop(0).result()
        for one in waiting:
            one.result()
        print(", ".join(f"{kind} {count}" for kind, count in kinds.items()))
        print(f"long names: {tests.passed} passed, {tests.failed} failed, {tests.refused} refused, the longest message has {tests.longest} bytes")
        return 1 if tests.failed or not tests.passed else 0


if __name__ == "__main__":
    are_all = "--all" in sys.argv
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), [word for word in sys.argv[3:] if word != "--all"]))
