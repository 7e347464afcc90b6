#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Plans archives from the C that TVM wrote, their TIR taken away, and runs what comes out on the golden files.

Beside an archive's TIR its C says the same, so the workspace may not be larger from C, with each step or with none.
Archives that TVM planned itself have no TIR: they are held to the archive of the same network that has.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import golden

TRANSFORMS = ("none", "all")
STEPS_IN_TURN = 6  # of a case with a turn, every so many are taken alone
WAYS = ("none", "stack", "no_stack")  # of planning, beside all steps
# Archives of which more is needed from C, and how much: shapes of tensors are not known from C, so `rolling` by itself finds fewer rows,
# and more loops are joined by `fuse` by itself. With all steps these need as much as from TIR.
LARGER = {("random/r3000", "rolling"): 1584, ("random/r1050", "fuse"): 372}

# Tensors of which an index is not known have the size of the allocation that several share: archives, size from TIR, from C.
COARSER = {"random/r1016": (2, 16), "random/r2": (8, 16)}


@dataclass
class Case:
    name: str
    from_c: Path            # may hold TIR, which is taken away
    reference: Path | None  # planned from its TIR
    golden: Path
    packed: bool = False  # TVM's packed interface
    by_tvm: bool = False  # TVM planned it, so metadata.json says how large its pools are
    built: golden.Built = field(default_factory=golden.Built)  # of all cases
    # Its number among others: one way beside all steps is compiled and run, some steps taken alone, every third case with
    # --workspace-io; none: each.
    turn: int | None = None

    def build_and_run(self, out: Path) -> None:
        """Once for equal C: of one network, TVM's versions and ways of building often come to the same."""
        if self.turn is not None and out.name not in ("all", WAYS[self.turn % len(WAYS)]):
            return
        golden.write_main(out, "default", self.golden, packed=self.packed)
        if self.built.is_new(golden.digest_of(out)):  # whose main names the golden files
            golden.build_and_run(out, "default", self.golden, [*golden.GCC, "-O0", *golden.SANITIZE], one_unit=True)

    def label(self) -> str:
        return self.name

    def network(self) -> str:
        """"resnet8" of "variants/resnet8_packed" and of "tvm_planned/resnet8.hill_climb"."""
        return self.name.partition("/")[2].partition(".")[0].removesuffix("_packed")


def without_tir(archive: Path, out: Path) -> Path:
    with tarfile.open(archive) as source, tarfile.open(out, "w") as target:
        for member in source:
            if member.isfile() and not member.name.endswith(".tir.json"):
                target.addfile(member, source.extractfile(member))
    return out


@functools.cache
def planned(binary: Path, archive: Path, transform: str, *options: str) -> dict:
    """The plan, without its C. Those of references serve several cases."""
    return json.loads(golden.run([binary, archive, "--transform", transform, *options, "--dry-run", "--json"]).stdout)["modules"][0]


def used_in(plan: dict, *options: str) -> int:
    used = sum(pool["used"] for pool in plan["pools"] if pool["kind"] == "workspace")
    # What stays on the stack takes no part in either.
    if plan["transformed"] and plan["transformed"][-1]["load_after"] > used:
        raise golden.Failure(f"{options}: {plan['transformed'][-1]['load_after']} bytes are live, the plan takes {used}")
    return used


def workspace(binary: Path, archive: Path, transform: str, out: Path, *options: str) -> int:
    """What the plan uses whose C is written."""
    golden.run([binary, archive, "--transform", transform, *options, "-o", out, "--quiet"])
    return used_in(json.loads((out / "default.plan.json").read_text()), *options)


def check_instructions(plan: Path, reference: dict) -> None:
    """C that is written from C is as fast as from TIR, wherever its arrays are; other steps may be useful, which counts in small networks."""
    found, expected = (one["totals"]["instructions"] for one in (json.loads((plan / "default.plan.json").read_text()), reference))
    if found is not None and expected is not None and found > 1.03 * expected + 4000:
        raise golden.Failure(f"{found} instructions from C, {expected} from TIR: {found / expected:.3f}")


def check_defaults(binary: Path, archives: Path) -> None:
    """Archives of TVM's defaults, whose operators share storage from loop to loop, take the bytes and the instructions of those whose operators do not."""
    for archive in sorted((archives / "variants/defaults").glob("*.tar")):
        found, expected = (planned(binary, one, "all")["totals"] for one in (archive, archives / "own" / archive.name))
        if found["workspace_used"] > expected["workspace_used"] or found["instructions"] > 1.01 * expected["instructions"]:
            raise golden.Failure(f"defaults/{archive.name}: {found}, expected at most {expected}")


def tensors(binary: Path, archive: Path, *options: str) -> Counter[tuple[str, int]]:
    """Function and size of each."""
    return Counter((buffer["function"], buffer["size"]) for buffer in planned(binary, archive, "none", *options)["buffers"])


def check_tensors(binary: Path, archive: Path, case: Case) -> None:
    """The same tensors, of the same sizes, as the TIR has, arrays on the stack included."""
    found, expected = tensors(binary, archive, "--plan-stack", "0"), tensors(binary, case.reference)
    missing, more = ([size for _, size in (a - b).elements()] for a, b in ((expected, found), (found, expected)))
    allowed = COARSER.get(case.name)
    if (missing, more) != (([allowed[0]], [allowed[1]]) if allowed else ([], [])):
        raise golden.Failure(f"tensors of {missing} bytes only from TIR, of {more} only from C")


def check_steps(binary: Path, archive: Path, case: Case, steps: list[str]) -> None:
    """Each step alone, without writing C."""
    for step in steps if case.turn is None else steps[case.turn % STEPS_IN_TURN::STEPS_IN_TURN]:
        found, expected = (planned(binary, model, step)["totals"]["workspace_used"] for model in (archive, case.reference))
        if found > max(expected, LARGER.get((case.name, step), 0)):
            raise golden.Failure(f"--transform {step}: {found} bytes from C, {expected} from TIR")


def check_stack(binary: Path, archive: Path, case: Case, directory: Path) -> None:
    """Local arrays of TVM's C may all stay on the stack, which leaves no more to plan, or all be planned."""
    kept = workspace(binary, archive, "none", directory / "stack", "--plan-stack", "1048576")
    planned = workspace(binary, archive, "none", directory / "no_stack", "--plan-stack", "0")
    if kept > planned:
        raise golden.Failure(f"--plan-stack: {kept} bytes with arrays on the stack, {planned} without")
    totals = [json.loads((directory / out / "default.plan.json").read_text())["totals"] for out in ("stack", "no_stack")]
    arrays = totals[0].get("stack_arrays", 0)
    if [(one.get("stack_arrays", 0), one.get("stack_saved", 0)) for one in totals] != [(arrays, 0), (arrays, arrays)]:
        raise golden.Failure(f"--plan-stack: arrays on the stack do not add up: {totals}")
    for out in (directory / "stack", directory / "no_stack"):
        case.build_and_run(out)


def refused(command: list, code: int, message: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != code or message not in done.stderr:
        raise golden.Failure(f"exit code {done.returncode}, expected {code} and \"{message}\": {done.stderr.strip()}")


def check_tvm_plan(binary: Path, archive: Path, by_tvm: bool) -> None:
    [module] = json.loads(golden.run([binary, "inspect", archive, "--json"]).stdout)["modules"]
    found = sum(pool["size"] for pool in module["tvm_plan"] if pool["kind"] == "workspace")
    expected = module["unplanned_workspace"] if by_tvm else 0
    if found != expected:
        raise golden.Failure(f"inspect finds pools of TVM's of {found} bytes, expected {expected}")
    verify_tvm_plan(binary, archive, module["tvm_plan"])


def verify_tvm_plan(binary: Path, archive: Path, pools: list[dict]) -> None:
    """TVM's plan is correct, and fills its workspace pools to the last byte."""
    command = [binary, "verify", archive, "--tvm-plan", "--json"]
    if not pools:
        refused(command, 3, "TVM has not planned module")
        return
    [plan] = json.loads(golden.run(command).stdout)["modules"]
    used = {pool["name"]: pool["used"] for pool in plan["pools"]}
    expected = {pool["pool"]: pool["size"] for pool in pools if pool["kind"] == "workspace"}
    if any(used[name] != size for name, size in expected.items() if size is not None):
        raise golden.Failure(f"TVM's plan is read as one of {used}, expected {expected}")


def check_wrong_plan(binary: Path, archives: Path) -> None:
    """TVM's greedy_by_size lets live buffers and constants overlap where there are several pools, its hill_climb does not."""
    def archive(algorithm: str) -> Path:
        return archives / f"variants/resnet8_pools_io.{algorithm}.tvm_planned.tar"

    golden.run([binary, "verify", archive("hill_climb"), "--tvm-plan"])
    for message in ("'sid_9' and 'sid_8' overlap in pool 'dtcm'", "overlap in pool 'itcm'"):
        refused([binary, "verify", archive("greedy_by_size"), "--tvm-plan"], 2, message)
    report = golden.run([binary, "report", archive("greedy_by_size"), "--tvm-plan"]).stdout
    if "warning: TVM's plan is wrong: buffers 'sid_9' and 'sid_8' overlap in pool 'dtcm'" not in " ".join(report.split()):
        raise golden.Failure("the report does not say that TVM's plan is wrong")
    refused([binary, archive("greedy_by_size"), "--from", "c", "--dry-run"], 3, "so their values are lost")


def run_case(binary: Path, case: Case, steps: list[str], directory: Path) -> None:
    directory.mkdir()
    archive = without_tir(case.from_c, directory / "stock.tar")
    check_tvm_plan(binary, archive, case.by_tvm)
    for transform in TRANSFORMS:
        out = directory / transform
        found = workspace(binary, archive, transform, out)
        if case.reference is not None:
            reference = planned(binary, case.reference, transform)
            expected = used_in(reference)
            if found > max(expected, LARGER.get((case.name, transform), 0)):
                raise golden.Failure(f"--transform {transform}: {found} bytes from C, {expected} from TIR")
            if case.turn is None or case.turn % len(WAYS) == 1:
                io_found = workspace(binary, archive, transform, directory / f"{transform}_io", "--workspace-io")
                io_expected = used_in(planned(binary, case.reference, transform, "--workspace-io"), "--workspace-io")
                if io_found > max(io_expected, LARGER.get((case.name, f"{transform} io"), 0)):
                    raise golden.Failure(f"--transform {transform} --workspace-io: {io_found} bytes from C, {io_expected} from TIR")
            check_instructions(out, reference)
        golden.check_no_workspace_calls(out / "codegen/host/src")
        refused([binary, out, "--from", "c", "-o", directory / "again"], 3, "found C that usmp-plan wrote, expected TVM's")
        case.build_and_run(out)
    if case.reference is not None:
        check_tensors(binary, archive, case)
        check_steps(binary, archive, case, steps)
    check_stack(binary, archive, case, directory)


def cases_below(root: Path) -> list[Case]:
    cases = []
    for suffix in (".tar", ".tar.xz"):
        for model in golden.models_below(root, suffix):
            cases.append(Case(f"{root.name}/{model.path.name.removesuffix(suffix)}", model.path, model.path,
                              model.golden["default"]))
    return cases


def shared_cases(archives: Path) -> list[Case]:
    own, variants = archives / "own", archives / "variants"
    cases = [case for folder in (own, archives / "mlperf_tiny", archives / "random", variants / "tvm_0_9", variants / "tvm_0_18")
             for case in cases_below(folder)]
    for path in sorted((variants / "defaults").glob("*.tar")):
        cases.append(Case(f"defaults/{path.stem}", path, path, own / f"{path.stem}.golden"))
    for path in sorted((variants / "tvm_planned").glob("*.tar")):
        network, _, variant = path.stem.partition(".")
        # One of these has StorageRewrite's lowering, which the archives of own have not.
        cases.append(Case(f"tvm_planned/{path.stem}", path, variants / "defaults" / f"{network}.tar", own / f"{network}.golden",
                          packed=variant == "packed", by_tvm=True))
    packed = variants / "resnet8_packed.tar"
    cases.append(Case("variants/resnet8_packed", packed, packed, own / "resnet8.golden", packed=True))
    return cases


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("root", type=Path, help="testdata, or the folder with the shared archives")
    parser.add_argument("--but-not-of", type=Path, help="leave out archives that stand there, too, byte for byte")
    parser.add_argument("--only", default="", help="archives whose name contains this")
    parser.add_argument("--full", action="store_true", help="compile and run each way of each archive")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    is_shared = (arguments.root / "own").is_dir()
    cases = shared_cases(arguments.root) if is_shared else cases_below(arguments.root)
    run_here = set(golden.but_not_of(arguments.but_not_of, [case.from_c for case in cases]))
    cases = [case for case in cases if arguments.only in case.name and case.from_c in run_here]
    built = golden.Built()
    for turn, case in enumerate(cases):
        case.built = built
        # Many are shared, most of which are one network's.
        case.turn = turn if is_shared and not arguments.full else None
    if not cases:
        print("no archive to run")
        return 1
    with tempfile.TemporaryDirectory(prefix="usmp-from-c-") as temporary:
        if is_shared:
            check_wrong_plan(binary, arguments.root)
            check_defaults(binary, arguments.root)
        steps = golden.steps(binary)
        failed = golden.run_all(cases, lambda case: run_case(binary, case, steps, Path(temporary) / case.name.replace("/", "_")), arguments.jobs)
        print(f"{len(built.seen)} different programs built")
        return failed


if __name__ == "__main__":
    sys.exit(main())
