#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Workspace bytes of archives that TVM planned, of the same archives planned again from their C, and of the archives of the same
networks planned from TIR, as a Markdown table.

Usage: tvm_plans.py BINARY PLANNED.tar... --tir DIRECTORY

PLANNED.tar is called NETWORK.VARIANT.tar; NETWORK.tar in DIRECTORY has TIR. TVM's figure is the sum of the pools that
`inspect` finds, constants left out. Archives that are not read are listed below the table with the reason.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path


class Refused(Exception):
    pass


def run(*command: str | Path) -> dict:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise Refused(lines[0].rsplit(": ", 1)[-1] if lines else f"exit code {done.returncode}")
    return json.loads(done.stdout)


def of_tvm(binary: Path, archive: Path) -> int:
    pools = [pool for module in run(binary, "inspect", archive, "--json")["modules"] for pool in module["tvm_plan"]]
    sizes = [pool["size"] for pool in pools if pool["kind"] == "workspace"]
    if not sizes or None in sizes:
        raise Refused("no plan of TVM with the sizes of its pools")
    return sum(sizes)


def planned(binary: Path, archive: Path, transform: str) -> int:
    modules = run(binary, archive, "--dry-run", "--json", "--transform", transform)["modules"]
    return sum(module["totals"]["workspace_used"] for module in modules)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("archives", type=Path, nargs="+")
    parser.add_argument("--tir", type=Path, required=True)
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    refused = []
    print("| archive | TVM | from C, `--transform none` | from TIR, `--transform none` | from C | from TIR |")
    print("|---|---:|---:|---:|---:|---:|")
    for archive in arguments.archives:
        reference = arguments.tir / f"{archive.stem.partition('.')[0]}.tar"
        try:
            sizes = [of_tvm(binary, archive)]
            for transform in ("none", "all"):
                for one in (archive, reference):
                    sizes.append(planned(binary, one, transform) if one.exists() else None)
        except Refused as reason:
            refused.append(f"{archive.stem}: {reason}")
            continue
        print(f"| {archive.stem} | " + " | ".join("-" if size is None else str(size) for size in sizes) + " |", flush=True)
    for line in refused:
        print(f"\n{line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
