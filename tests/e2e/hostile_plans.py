#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Plan files that somebody has edited: what they say is verified, with the line, and shown without commands to a terminal or a CI.

Usage: hostile_plans.py BINARY TESTDATA [SHARED]

Every plan file that the program writes is read; then one number or text of it at a time is made wrong, and each command that reads
plans has to refuse it; then every text gets control characters, and no report may print one.
"""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EVIL = "\x1b]0;owned\x07\x1b[31m\u202e\x9b\r\n::error::forged\n<b>&\"'"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]")
POOLS = """workspace_pools:
  - {name: dtcm, size_hint_bytes: 2KiB, alignment: 8}
  - {name: sram, size_hint_bytes: 64KiB, pool_offset: 64}
  - {name: slow}
parameter_pools:
  - {name: flash, size_hint_bytes: 512KiB}
"""
COSTS = POOLS.replace("size_hint_bytes: 2KiB", "size_hint_bytes: 2KiB, read_bandwidth_bytes_per_cycle: 4")
FORMATS = ("text", "json", "csv", "markdown", "html", "svg")


class Tests:
    def __init__(self, binary: Path, directory: Path):
        self.binary, self.directory = binary, directory
        self.passed = self.failed = 0

    def run(self, *arguments: object) -> subprocess.CompletedProcess:
        return subprocess.run([str(word) for word in (self.binary, *arguments)], capture_output=True, text=True, check=False, timeout=120)

    def report(self, label: str, *faults: str) -> None:
        faults = tuple(fault for fault in faults if fault)
        self.failed += bool(faults)
        self.passed += not faults
        if faults:
            print(f"FAILED {label}: " + "; ".join(faults))

    def write(self, plan: dict, name: str = "edited.plan.json") -> Path:
        path = self.directory / name
        path.write_text(json.dumps(plan, indent=1))
        return path

    def plan(self, archive: Path, *arguments: object) -> tuple[dict, Path] | None:
        done = self.run(archive, "--dry-run", "--json", *arguments)
        if done.returncode != 0:
            return None
        path = self.directory / "written.plan.json"
        path.write_text(done.stdout)
        return json.loads(done.stdout)["modules"][0], path

    def accepted(self, label: str, path: Path, archive: Path) -> None:
        done = self.run("report", path, "--json")
        self.report(f"{label}: report", done.returncode and done.stderr)
        done = self.run("diff", path, path)
        self.report(f"{label}: diff", done.returncode and done.stderr)
        done = self.run(archive, "--dry-run", "--quiet", "--transform", "none", "--algorithm", "fast", "--pins", path)
        self.report(f"{label}: --pins", done.returncode == 2 and "line" in done.stderr and done.stderr)

    def refused(self, label: str, plan: dict, place: str, message: str, archive: Path, pools: Path) -> None:
        path = self.write(plan)
        lines = path.read_text().splitlines()
        for command in (("report", path), ("diff", path, path), ("check", archive, "--pools", pools, "--baseline", path),
                        (archive, "--dry-run", "--pools", pools, "--pins", path)):
            done = self.run(*command)
            found = re.search(r": line (\d+): ", done.stderr)
            self.report(f"{label}: {' '.join(map(str, command))}",
                        done.returncode != 2 and f"exit code {done.returncode}: {done.stdout[:100]}{done.stderr[:200]}",
                        f": {place}: " not in done.stderr and f"no {place}: {done.stderr[:200]}",
                        message not in done.stderr and f"no {message!r}: {done.stderr[:300]}",
                        not found and f"no line: {done.stderr[:200]}",
                        done.stderr.count("\n") != 1 and f"no single message: {done.stderr[:200]}")
            if found and place.startswith(("buffers[", "pools[")):
                line = int(found.group(1))
                kind, index = re.match(r"(\w+)\[(\d+)\]", place).groups()
                name = plan[kind][int(index)]["name"]
                near = "\n".join(lines[line - 1 : line + 2])
                self.report(f"{label}: line", f'"name": {json.dumps(name)}' not in near and f"line {line} is {lines[line - 1]!r}, expected that of {name}")


def edits(tests: Tests, plan: dict, archive: Path, pools: Path) -> None:
    def edited(label: str, place: str, message: str, change) -> None:
        other = copy.deepcopy(plan)
        change(other)
        tests.refused(label, other, place, message, archive, pools)

    buffers, listed = plan["buffers"], plan["pools"]
    live = [i for i, one in enumerate(buffers) if one["size"] > 0 and one["live"] and one["kind"] != "constant"]
    pair = next((a, b) for a in live for b in live if a < b and buffers[a]["pool"] == buffers[b]["pool"] and any(
        x[0] < y[1] and y[0] < x[1] for x in buffers[a]["live"] for y in buffers[b]["live"]) and not any(
        {one["below"], one["above"]} == {a, b} for one in plan.get("distances", [])))
    first = live[0]
    pool_of = {one["name"]: i for i, one in enumerate(listed)}
    bounded = next(i for i, one in enumerate(listed) if one.get("capacity") and one["used"] > 0)

    def put_over(other: dict) -> None:
        other["buffers"][pair[1]]["offset"] = other["buffers"][pair[0]]["offset"]

    edited("live buffers overlap", f"buffers[{pair[0]}]", "overlap in pool", put_over)
    edited("outside of the pool", f"buffers[{first}]", "", lambda other: other["buffers"][first].update(
        pool=listed[bounded]["name"], offset=listed[bounded]["capacity"] // 8 * 8))
    edited("a terabyte is used", f"pools[{bounded}]", "but its buffers end at", lambda other: other["pools"][bounded].update(used=2**40))
    edited("less is used", f"pools[{bounded}]", "but its buffers end at", lambda other: other["pools"][bounded].update(used=0, lower_bound=0))
    edited("a bound above the plan", f"pools[{bounded}]", "the lower bound is",
           lambda other: other["pools"][bounded].update(lower_bound=listed[bounded]["used"] + 1))
    for i, one in enumerate(listed):
        if one["used"] > 0:
            edited(f"{one['name']} is called optimal", f"pools[{i}]", "status is optimal, but used is not its lower bound",
                   lambda other, i=i: other["pools"][i].update(lower_bound=other["pools"][i]["used"] - 1, status="optimal"))
            edited(f"the plan is called optimal, {one['name']}", "status", "leaves room for a better plan", lambda other, i=i: (
                other.update(status="optimal"), other["pools"][i].update(lower_bound=other["pools"][i]["used"] - 1, status="feasible")))
    edited("the plan exists", f"pools[{bounded}]", "status is infeasible", lambda other: other["pools"][bounded].update(status="infeasible"))
    edited("a total", "totals", "but the pools add up to", lambda other: other["totals"].update(workspace_used=1))
    edited("a total of constants", "totals", "but the pools add up to", lambda other: other["totals"].update(constants_used=2**40))
    edited("a buffer without a place", f"buffers[{first}]", "has no place", lambda other: other["buffers"][first].update(pool=None, offset=None))
    edited("misaligned", f"buffers[{first}]", "", lambda other: other["buffers"][first].update(alignment=1024 * 1024 + 1, offset=8))
    edited("not a candidate", f"buffers[{first}]", "", lambda other: other["buffers"][first].update(
        candidates=[one["name"] for one in listed if one["name"] != buffers[first]["pool"]][:1]))
    edited("a candidate that is no pool", f"buffers[{first}]", "is none of the pools",
           lambda other: other["buffers"][first]["candidates"].append("attic"))
    reserved = pool_of["sram"]
    inside = next((i for i in live if buffers[i]["pool"] == "sram"), None)
    if inside is not None:
        edited("in reserved bytes", f"buffers[{inside}]", "", lambda other: other["buffers"][inside].update(offset=0))
    edited("beside more than reserved", f"pools[{reserved}]", "beside is", lambda other: other["pools"][reserved].update(beside=2**20))
    if plan.get("spilled"):
        edited("spilled", "spilled[0]", "are beyond these choices", lambda other: other["spilled"][0].update(bytes=1))
        edited("a bound of spilled", "spilled[0]", "the lower bound is", lambda other: other["spilled"][0].update(lower_bound=2**40))


def with_evil_texts(value: object, key: str = "") -> object:
    """Every text that is no word of the format, longer by control characters."""
    words = {"schema", "status", "stopped", "unit"}
    if isinstance(value, dict):
        return {name: with_evil_texts(one, "kind of tensor" if name == "kind" and ("offset" in value or "used" in value) else name)
                for name, one in value.items()}
    if isinstance(value, list):
        return [with_evil_texts(one, key) for one in value]
    if isinstance(value, str) and key not in words | {"kind of tensor"}:
        return value + EVIL
    return value


def shown(tests: Tests, plan: dict, archive: Path, pools: Path) -> None:
    for call in plan["calls"]:
        call.setdefault("kernels", ["dot4"])
        call.setdefault("kind", "conv2d")
    plan["warnings"] = ["of old"]
    plan["unplanned"] = [{"name": "a", "function": "f", "reason": "r"}]
    plan["imported_c"] = [{"function": "f", "bytes": 3, "first_line": "int x;"}]
    plan.setdefault("search", {"stopped": "finished", "iterations": 1})["minimized"] = "dtcm"
    plan["transformed"] = plan.get("transformed") or [{"step": "fuse", "load_before": 2, "load_after": 1, "changes": [{"function": "f", "what": "w"}]}]
    for pool in plan["pools"]:
        pool["all_modules"] = {"used": pool["used"], "set_by": ["default"] if pool["used"] else []}
    evil = tests.write(with_evil_texts(plan), "evil.plan.json")
    plain = tests.write(plan, "plain.plan.json")
    for form in FORMATS:
        for verbose in ((), ("--verbose",)) if form == "text" else ((),):
            done = tests.run("report", evil, "--format", form, *verbose)
            tests.report(f"report {form} {verbose}", done.returncode and done.stderr, faults_of(done, form))
    for sides in ((plain, evil), (evil, plain), (evil, evil)):
        for form in ("text", "json", "csv", "markdown"):
            done = tests.run("diff", *sides, "--format", form, *(("--verbose",) if form == "text" else ()))
            tests.report(f"diff {form}", done.returncode not in (0, 1) and done.stderr, faults_of(done, form))
    done = tests.run("check", archive, "--pools", pools, "--baseline", evil, "--github")
    tests.report("check --baseline", faults_of(done, "text"))
    done = tests.run(archive, "--dry-run", "--pools", pools, "--pins", evil, "--verbose")
    tests.report("--pins", faults_of(done, "text"))


def faults_of(done: subprocess.CompletedProcess, form: str) -> str:
    said = done.stdout + done.stderr
    found = CONTROL.search(said)
    if found:
        return f"prints {said[max(0, found.start() - 60) : found.end() + 20]!r}"
    forged = [line for line in said.splitlines() if line.lstrip(" |").startswith("::error::forged")]
    if forged:
        return f"prints the line {forged[0]!r}"
    if form in ("html", "svg") and "<b>&" in said:
        return "markup gets through"
    return ""


def main(binary: Path, testdata: Path, shared: Path | None) -> int:
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(binary, Path(folder))
        pools, costs = Path(folder, "pools.yaml"), Path(folder, "costs.yaml")
        pools.write_text(POOLS)
        costs.write_text(COSTS)
        archives = sorted(testdata.glob("*.tar")) + (sorted(shared.glob("archives/own/*.tar")) if shared and shared.is_dir() else [])
        options = ((), ("--pools", pools), ("--pools", pools, "--algorithm", "fast", "--transform", "none"),
                   ("--pools", pools, "--workspace-io", "--objective", "accesses"))
        for archive in archives:
            for arguments in options:
                if found := tests.plan(archive, "--node-limit", "20000", *arguments):
                    tests.accepted(f"{archive.name} {' '.join(map(str, arguments))}", found[1], archive)
        archive = testdata / "resnet8.tar"
        found = tests.plan(archive, "--pools", pools, "--transform", "none", "--algorithm", "hill_climb")
        assert found, "resnet8 has no plan"
        edits(tests, found[0], archive, pools)
        shown(tests, found[0], archive, pools)
        found = tests.plan(archive, "--pools", pools)
        assert found, "resnet8 has no plan"
        shown(tests, found[0], archive, pools)
        for name in ("overlap", "usedbig") if shared and (shared / "hostile").is_dir() else ():
            done = tests.run("report", shared / f"hostile/{name}.plan.json")
            tests.report(name, done.returncode != 2 and f"exit code {done.returncode}", "line" not in done.stderr and done.stderr)
        print(f"plan files: {tests.passed} passed, {tests.failed} failed")
        return 1 if tests.failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None))
