#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""--objective accesses on whole archives: a small fast memory and a large one, for constants and for the workspace.

The plan serves more accesses from the fast memories than the one by size, and says that none serves more still. What it says
of the pools adds up to the same in both. The emitted C computes what a build without shared bytes computes (verify
--execute). With speeds in the pools file, cycles are told.

usage: accesses.py USMP_PLAN TESTDATA SCHEMA
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import jsonschema
except ImportError:
    jsonschema = None

PROGRAM, TESTDATA, SCHEMA = (Path(argument).resolve() for argument in sys.argv[1:4])
POOLS = """
workspace_pools:
  - name: dtcm
    size_hint_bytes: {dtcm}
    section: .bss.dtcm{fast}
  - name: sram{slow}
parameter_pools:
  - name: itcm
    size_hint_bytes: {itcm}
    section: .rodata.itcm{fast}
  - name: flash{slow}
objective: accesses
"""
FAST = "\n    read_latency_cycles: 1\n    clock_frequency_hz: 400"
SLOW = "\n    read_latency_cycles: 2\n    clock_frequency_hz: 200"


def run(*arguments: object) -> str:
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=600).stdout


def plan(model: Path, pools: Path, *options: str) -> dict:
    document = json.loads(run(model, "--pools", pools, "--dry-run", "--json", *options))["modules"][0]
    if jsonschema is not None:
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(document)
    return document


def accesses(document: dict, kind: str) -> list[int]:
    counts = [pool["accesses"] for pool in document["pools"] if pool["kind"] == kind]
    return [count["loads"] + count["stores"] for count in counts]


def check(model: Path, folder: Path, dtcm: int, itcm: int) -> None:
    pools, fast_pools = folder / "pools.yaml", folder / "fast.yaml"
    pools.write_text(POOLS.format(dtcm=dtcm, itcm=itcm, fast="", slow=""), encoding="utf-8")
    fast_pools.write_text(POOLS.format(dtcm=dtcm, itcm=itcm, fast=FAST, slow=SLOW), encoding="utf-8")
    options = ["--transform", "fuse,constants"]  # so that the workspace has something to choose
    best = plan(model, pools, *options)
    by_size = plan(model, pools, *options, "--objective", "size")
    assert "objective" not in by_size and all("accesses" not in pool for pool in by_size["pools"]), model
    goal = best["objective"]
    assert best["status"] == "optimal" and goal["unit"] == "accesses", (model, goal)
    assert goal["value"] == goal["lower_bound"] > 0, (model, goal)
    slow = sum(accesses(best, kind)[1] for kind in ("workspace", "parameter"))
    assert slow == goal["value"], (model, slow, goal)
    # The plan by size as a plan of the other objective: its buffers pinned.
    earlier = folder / "by_size.plan.json"
    earlier.write_text(json.dumps(by_size), encoding="utf-8")
    pinned = plan(model, pools, *options, "--pins", str(earlier))
    assert pinned["objective"]["value"] > goal["value"], (model, pinned["objective"], goal)
    for kind in ("workspace", "parameter"):
        assert sum(accesses(pinned, kind)) == sum(accesses(best, kind)), (model, kind)
    in_cycles = plan(model, fast_pools, *options)["objective"]
    assert in_cycles["unit"] == "cycles" and in_cycles["value"] == in_cycles["lower_bound"], in_cycles
    # An access takes one cycle in the fast memories and four in the others: the same choice.
    everything = sum(sum(accesses(best, kind)) for kind in ("workspace", "parameter"))
    assert in_cycles["value"] == everything + 3 * goal["value"], (model, in_cycles, everything, goal)
    text = run(model, "--pools", fast_pools, "--dry-run", *options)
    assert f"cycles of accesses (estimate): {in_cycles['value']}, proved minimal" in text and "itcm: " in text, text
    run("verify", model, "--pools", pools, *options, "--execute")
    print(f"{model.name}: {everything - goal['value']} of {everything} accesses in fast memory, "
          f"{everything - pinned['objective']['value']} by size")


with tempfile.TemporaryDirectory() as name:
    check(TESTDATA / "ds_cnn.tar", Path(name), 33000, 6000)
    check(TESTDATA / "resnet8.tar", Path(name), 33000, 6000)
