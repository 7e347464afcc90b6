#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""What `optimal` makes of archives in several pools, as a Markdown table: with and without transformations.

The first of two pools has half of what one pool needs; the first two of three a quarter and a third. Times are those of the
command `solve` on the problem, with reading it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

SHARES = {"two pools": (2,), "three pools": (4, 3)}


def run(*command: object) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def solved(binary: Path, archive: Path, transform: str, sizes: list[int], folder: Path) -> str:
    pools = "".join(f"  - name: p{i}\n    size_hint_bytes: {size}\n" for i, size in enumerate(sizes))
    (folder / "pools.yaml").write_text(f"workspace_pools:\n{pools}  - name: last\n")
    run(binary, "problem", archive, "--transform", transform, "--pools", folder / "pools.yaml", "-o", folder / "problem.json")
    start = time.perf_counter()
    result = json.loads(run(binary, "solve", folder / "problem.json", "--json"))
    spent = 1000 * (time.perf_counter() - start)
    used = " + ".join(str(pool["used"]) for pool in result["pools"])
    proved = "" if result["status"] == "optimal" else ", not proved"
    return f"{used}{proved} | {result['iterations']} | {spent:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("archives", type=Path, nargs="+")
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    for transform in ("none", "all"):
        print(f"`--transform {transform}`:\n")
        print("| archive |" + "".join(f" {name} | nodes | ms |" for name in SHARES))
        print("|---|" + "---|---:|---:|" * len(SHARES))
        for archive in arguments.archives:
            [plan] = json.loads(run(binary, archive, "--transform", transform, "--dry-run", "--json"))["modules"]
            need = sum(pool["used"] for pool in plan["pools"] if pool["kind"] == "workspace")
            with tempfile.TemporaryDirectory() as folder:
                cells = [solved(binary, archive, transform, [max(1, need // share // 16 * 16) for share in shares], Path(folder))
                         for shares in SHARES.values()]
            print(f"| {archive.name.split('.')[0]} | {' | '.join(cells)} |", flush=True)
        print()


if __name__ == "__main__":
    main()
