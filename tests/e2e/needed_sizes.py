# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Holds the sizes that "no plan fits" names against what the program does with pools of these sizes.

Usage: needed_sizes.py USMP_PLAN DIR... [--but-not-of DIR], directories with archives. With --but-not-of, those that stand in that
directory, too, are left out, and each of the others gets one set of pools instead of two. An archive is planned into pools that are too
small for it, among them a grid of two pools, whose sizes are fractions of what the smallest plan uses. With each pool as large as was said it has to fit, and with one byte less it must not where that is said to
be proved. The exact figures of some archives are in KNOWN.
"""

import argparse
import copy
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import golden

PROGRAM = Path(sys.argv[1]).resolve()
SLOW = ("inception", "randwire")  # which take seconds: one pool, no grid
GRID = [(13, 9), (22, 13), (34, 9), (10, 28)]  # fortieths of the smallest plan, of either pool
# Archive and pool, its size, and the least size that works.
KNOWN = [
    ("ds_cnn", "sram", 3500, 4160),
    ("ds_cnn", "sram", 4100, 4160),
    ("ds_cnn", "flash", 1024, 26072),
    ("mobilenet_v1", "sram", 9000, 10440),
    ("resnet8", "sram", 8000, 9488),
    ("resnet8", "flash", 1024, 79732),
    ("unet", "sram", 79104, 83200),
]


def run(folder: Path, command: list[str], archive: Path, pools: dict, *options: str) -> subprocess.CompletedProcess:
    file = folder / "pools.yaml"
    file.write_text(json.dumps(pools), encoding="utf-8")  # JSON is YAML
    return subprocess.run([PROGRAM, *command, archive, "--pools", file, *options], capture_output=True, text=True,
                          timeout=600, check=False)


def pool(name: str, size: int | None = None, **keys: object) -> dict:
    return {"name": name, **({"size_hint_bytes": max(1, size)} if size is not None else {}), **keys}


def used(folder: Path, archive: Path, workspace_io: bool = True) -> tuple[int, int, dict]:
    """Bytes of the smallest plan: of the workspace with inputs and outputs, of the constants; the largest tensor."""
    pools = {"workspace_pools": [pool("sram")], "parameter_pools": [pool("flash")], "workspace_io": workspace_io}
    done = run(folder, [], archive, pools, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)["modules"][0]
    sizes = {one["name"]: one["used"] for one in plan["pools"]}
    tensors = [one for one in plan["buffers"] if one["pool"] == "sram"]
    return sizes["sram"], sizes["flash"], max(tensors, key=lambda one: one["size"], default=None)


Case = tuple[dict, list[str]]  # pools that are too small, and further options


def cases(sram: int, flash: int, largest: dict | None) -> Iterator[Case]:
    def workspace(*pools: dict) -> dict:
        return {"workspace_pools": list(pools), "workspace_io": True}

    if sram > 8:
        yield workspace(pool("sram", sram // 3 + 48, alignment=64, pool_offset=48)), []
        yield workspace(pool("dtcm", sram // 4), pool("sram", sram // 2)), []
    if flash > 8:
        yield {"workspace_pools": [pool("sram", max(1, sram // 5))], "parameter_pools": [pool("flash", flash // 2)]}, []
    if sram > 8 and largest is not None:
        yield workspace(pool("sram", sram // 2)), ["--algorithm", "greedy_by_size"]
        three = workspace(pool("a", sram // 8), pool("b", sram // 8, alignment=32), pool("c", sram // 8))
        roms = {"parameter_pools": [pool("rom", flash // 3), pool("flash", flash // 3)]} if flash > 8 else {}
        yield three | roms, ["--transform", "none"]
        pin = {"buffer": largest["name"], "function": largest["function"], "pool": "sram", "offset": 256}
        both = workspace(pool("dtcm", 1), pool("sram", largest["size"] + 256))
        yield (both | {"pinned": [pin]} if largest["size"] > 64 else both), []


def grid(workspace: int) -> Iterator[Case]:
    for first, second in GRID:
        if workspace > 40:
            pools = [pool("dtcm", workspace * first // 40), pool("sram", workspace * second // 40)]
            yield {"workspace_pools": pools}, []


def some(index: int, few: bool, all_cases: list[Case]) -> list[Case]:
    """Two of them in turn; one if there is little time."""
    chosen = [all_cases[(index + step) % len(all_cases)] for step in range(0, min(len(all_cases), 4), 3)]
    return chosen[:1] if few else chosen


def enlarged(pools: dict, sizes: dict[str, int]) -> dict:
    result = copy.deepcopy(pools)
    for one in result["workspace_pools"] + result.get("parameter_pools", []):
        if one["name"] in sizes:
            one["size_hint_bytes"] = sizes[one["name"]]
    return result


def held(folder: Path, archive: Path, pools: dict, options: list[str]) -> tuple[int, int]:
    """How many sizes were said, and how many of them proved; 0 if the pools are large enough."""
    failed = run(folder, ["check"], archive, pools, "--json", *options)
    if failed.returncode == 0:
        return 0, 0
    what = f"{archive.name} {options} {json.dumps(pools)}\n{failed.stderr}"
    assert failed.returncode == 4, what
    [module] = json.loads(failed.stdout)["modules"]
    required = {(one["name"], check["limit"]): check["required"] for one in module["pools"] for check in one["checks"]}
    shortfalls = module["shortfalls"]
    assert shortfalls, what
    said = proved = 0
    for index, shortfall in enumerate(shortfalls):
        for choice in shortfall["choices"]:
            sizes = {one["pool"]: one["enough"] for other in shortfalls[:index] + shortfalls[index + 1:]
                     for one in other["choices"][0]["pools"]}
            sizes |= {one["pool"]: one["enough"] for one in choice["pools"]}
            fits = run(folder, [], archive, enlarged(pools, sizes), "--dry-run", *options)
            assert fits.returncode == 0, f"{what}\ndoes not fit: {sizes}: {fits.stderr}"
            for one in choice["pools"]:
                assert one["available"] < one["enough"] and one["at_least"] <= one["enough"], what
                assert required[one["pool"], "size_hint_bytes"] == one["enough"], what
                assert f"{one['pool']}: " in failed.stderr and str(one["enough"]) in failed.stderr, what
                said += 1
                if one["at_least"] < one["enough"]:
                    continue
                proved += 1
                less = run(folder, [], archive, enlarged(pools, sizes | {one["pool"]: one["enough"] - 1}), "--dry-run",
                           *options)
                assert less.returncode == 4, f"{what}\nfits with one byte less of {one['pool']}: {sizes}"
    return said, proved


def check_known(folder: Path, archive: Path) -> int:
    count = 0
    for name, small, size, least in KNOWN:
        if archive.name != f"{name}.tar":
            continue
        pools = {"workspace_pools": [pool("sram", size if small == "sram" else None)],
                 "parameter_pools": [pool("flash", size if small == "flash" else None)]}
        failed = run(folder, [], archive, pools, "--dry-run")
        line = f"  {small}: {least} bytes needed, {size} available, {least - size} missing\n"
        assert failed.returncode == 4 and failed.stderr.endswith("no plan fits the pools\n" + line), failed.stderr
        count += 1
    return count


def check_several(folder: Path, archives: dict[str, Path]) -> None:
    """What is enough for each of several models, of which one fits as it is."""
    models = [archives[name] for name in ("ds_cnn", "lstm", "resnet8") if name in archives]
    if len(models) < 3:
        return
    for sizes, flash in (({"dtcm": 1024, "sram": 2048}, 80000), ({"sram": 4000}, None)):
        pools = {"workspace_pools": [pool(name, size) for name, size in sizes.items()], "parameter_pools": [pool("flash", flash)]}
        failed = run(folder, models[:2], models[2], pools, "--dry-run")
        assert failed.returncode == 4 and failed.stderr.count("no plan fits the pools") == 2, failed.stderr
        together = failed.stderr.split("usmp-plan: error: all 3 modules together\n")[1]
        said = {name: int(size) for name, size in re.findall(r"^ +(\w+): (\d+) bytes needed", together, re.MULTILINE)}
        assert list(said) == [*sizes, *(["flash"] if flash else [])], failed.stderr
        parts = re.findall(r"\((.*)\)$", together, re.MULTILINE)
        assert [sum(map(int, re.findall(r"\b\d+(?= )", part))) for part in parts] == ([said["flash"]] if flash else []), failed.stderr
        for name in sizes:  # one is enough, with flash; a byte less of either is not
            enough = {short: said[short] for short in (name, *(["flash"] if flash else []))}
            for less in (None, *(enough if name == "sram" else ())):
                larger = {short: size - (short == less) for short, size in enough.items()}
                done = run(folder, models[:2], models[2], enlarged(pools, larger), "--dry-run")
                assert done.returncode == (4 if less else 0), f"{larger}: {done.stderr}"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("folders", nargs="+", type=Path)
    options.add_argument("--but-not-of", type=Path)
    given = options.parse_args(sys.argv[2:])
    archives = golden.but_not_of(given.but_not_of, sorted(path for folder in given.folders for path in folder.glob("*.tar")))
    assert archives, sys.argv
    total = said = proved = known = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_several(folder, {path.stem: path for path in archives})
        for index, archive in enumerate(archives):
            known += check_known(folder, archive)
            turn = 0 if archive.stem in SLOW else index
            chosen = some(turn, given.but_not_of is not None, list(cases(*used(folder, archive))))
            if archive.stem not in SLOW and given.but_not_of is None and index % 2 == 0:  # larger networks take long for two pools
                two = list(grid(used(folder, archive, workspace_io=False)[0]))
                chosen += [two[(index // 2 + 3) % len(two)]] if two else []
            for pools, options in chosen:
                sizes, exact = held(folder, archive, pools, options)
                total += sizes > 0
                said += sizes
                proved += exact
                assert exact == sizes or "--algorithm" in options or "pinned" in pools, (archive, pools)
    assert known > 0 and total >= len(archives) and proved > said // 2, (known, total, said, proved)
    print(f"{len(archives)} archives, {total} sets of pools too small: {said} sizes fit, {proved} of them proved and "
          f"one byte less does not; {known} known figures")


if __name__ == "__main__":
    main()
