#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""What each transformation saves: workspace and parameter bytes of optimal plans, as a Markdown table.

Usage: savings.py BINARY ARCHIVE.tar...

The columns add one step after the other in the order in which they are applied; TVM's column is the best of its own
algorithms, from the .tvm.json beside the archive where there is one. The last line is the geometric mean of the ratios to it.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/e2e"))
import golden  # noqa: E402

POOLS = "workspace_pools: [{name: sram}]\nparameter_pools: [{name: flash}]\n"


def totals(binary: str, archive: Path, steps: list[str], pools: Path) -> tuple[int, int]:
    text = subprocess.run([binary, archive, "--dry-run", "--json", "--pools", pools, "--transform", ",".join(steps) or "none"],
                          check=True, capture_output=True, text=True).stdout
    modules = [module["totals"] for module in json.loads(text)["modules"]]
    return sum(t["workspace_used"] for t in modules), sum(t["constants_used"] for t in modules)


def of_tvm(archive: Path) -> int | None:
    """The smallest workspace of TVM's own plans."""
    path = archive.with_suffix(".tvm.json")
    if not path.exists():
        return None
    found = [size for plan in json.loads(path.read_text())["plans"].values() for name, size in plan["pool_sizes"].items()
             if "const" not in name]
    return min(found) if found else None


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    binary, archives = sys.argv[1], [Path(name) for name in sys.argv[2:]]
    steps = golden.steps(Path(binary).resolve())
    print("| archive | TVM | none | " + " | ".join(f"+ {step}" for step in steps) + " | constants before, with padding | after |")
    print("|---|" + "---|" * (len(steps) + 4))
    ratios = []
    with tempfile.TemporaryDirectory(prefix="usmp-savings-") as directory:
        pools = Path(directory) / "pools.yaml"
        pools.write_text(POOLS)
        for archive in archives:
            rows = [totals(binary, archive, steps[:count], pools) for count in range(len(steps) + 1)]
            tvm = of_tvm(archive)
            if tvm:
                ratios.append(rows[-1][0] / tvm)
            cells = [archive.stem, str(tvm or ""), *[str(workspace) for workspace, _ in rows], str(rows[0][1]), str(rows[-1][1])]
            print("| " + " | ".join(cells) + " |", flush=True)
    if ratios:
        print(f"\nGeometric mean of the last workspace to TVM's: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
