# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""check, compare, report and diff as a shell sees them: command lines, exit codes, JSON that holds against its schema.

Usage: reports.py USMP_PLAN ROOT, where ROOT is the project's directory.
"""

import csv
import io
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

import golden

try:
    import jsonschema
except ImportError:
    jsonschema = None

PROGRAM, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
MODELS = [ROOT / "testdata" / f"{name}.tar" for name in ("ds_cnn", "lstm", "repeated_op")]
BUDGET = ROOT / "testdata" / "pools" / "budget.yaml"
TIGHT = ROOT / "testdata" / "pools" / "tight.yaml"


def run(*arguments: object, code: int = 0, text: str = "", **variables: str) -> str:
    """Runs the program; what it prints. Only exit codes above 1 have a message on standard error."""
    environment = {key: value for key, value in os.environ.items() if key != "GITHUB_STEP_SUMMARY"} | variables
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == code, (arguments, done)
    assert (done.stderr == "") == (code <= 1), (arguments, done)
    assert text in done.stdout + done.stderr, (arguments, done)
    return done.stdout


def check_schema(name: str, text: str) -> dict:
    value = json.loads(text)
    if jsonschema is not None:
        schema = json.loads((ROOT / "docs" / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(value)
    return value


def check_checks(folder: Path) -> None:
    junit = folder / "junit.xml"
    for model in MODELS:
        baseline = folder / "baseline.json"
        baseline.write_text(run(model, "--pools", BUDGET, "--dry-run", "--json"), encoding="utf-8")
        command = ("check", model, "--pools", BUDGET, "--baseline", baseline, "--junit", junit)
        assert check_schema("check", run(*command, "--json"))["result"] == "ok"
        assert run(*command) == run(*command, LC_ALL="de_DE.UTF-8")
        assert run(*command, "--quiet") == ""
        assert xml.etree.ElementTree.parse(junit).getroot().get("failures") == "0"
        broken = check_schema("check", run(*command, "--json", "--algorithm", "none", code=1))
        assert broken["result"] == "breach" and broken["breaches"] > 0
        assert int(xml.etree.ElementTree.parse(junit).getroot().get("failures")) == broken["breaches"]
        unplanned = check_schema("check", run("check", model, "--pools", TIGHT, "--json", code=4))
        assert unplanned["modules"][0]["no_plan"]
    check_whole(folder)
    # What cannot be read is a result for those who wait for one.
    missing = ("check", folder / "none.tar", "--pools", BUDGET, "--junit", junit)
    assert check_schema("check", run(*missing, "--json", code=2)).keys() == {"schema", "schema_version", "error", "exit_code"}
    assert xml.etree.ElementTree.parse(junit).getroot().get("errors") == "1"
    # A baseline of another archive; where either pool may grow, each names the other; growth is still that over the baseline.
    other = folder / "other.json"
    other.write_text(run(MODELS[1], "--pools", BUDGET, "--dry-run", "--json"), encoding="utf-8")
    told = run("check", MODELS[0], "--pools", BUDGET, "--baseline", other, "--quiet", "--algorithm", "none", code=1)
    assert f"warning: the baseline of module 'default' of {MODELS[0].name} is of {MODELS[1].name}: " in told, told
    pools = folder / "either.yaml"
    pools.write_text("""workspace_pools: [{name: dtcm, size_hint_bytes: 2KiB}, {name: sram, size_hint_bytes: 1KiB}]
parameter_pools: [{name: flash, size_hint_bytes: 1KiB, budget: {min_headroom: 500, max_growth: 1%}}]
""", encoding="utf-8")
    [module] = check_schema("check", run("check", ROOT / "testdata/ds_cnn.tar", "--pools", pools, "--baseline", other,
                                         "--json", code=4))["modules"]
    dtcm, sram, flash = module["pools"]
    assert dtcm["checks"][0]["alternatives"] == ["sram"] and sram["checks"][0]["alternatives"] == ["dtcm"], module
    assert flash["checks"][0]["message"].endswith("; with min_headroom 26572 bytes"), flash
    summary = folder / "summary.md"
    github = ("check", MODELS[0], "--pools", BUDGET, "--algorithm", "none", "--transform", "none", "--github")
    run(*github, code=1, text="::error file=")
    run(*github, code=1, text="::error file=", GITHUB_STEP_SUMMARY="")
    run(*github, code=1, text="::error file=", GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text(encoding="utf-8").startswith("### Memory budgets of ds\\_cnn.tar: ")
    run(*github[:-1], code=1, GITHUB_STEP_SUMMARY=str(folder / "untouched.md"))
    assert not (folder / "untouched.md").exists()
    run(*github, code=5, text="cannot be", GITHUB_STEP_SUMMARY=str(folder / "none" / "summary.md"))
    run("check", MODELS[0], code=2, text="--pools is required")
    run("check", "--pools", BUDGET, code=2, text="MODEL is required")
    run(*github, "--json", code=2, text="cannot be given together")


def figures_of(report: dict) -> dict[tuple[str, str], int]:
    groups = [pool for module in report["modules"] for pool in module["pools"]] + report["whole"]
    return {(group["name"], check["limit"]): check["required"] for group in groups for check in group["checks"]}


def check_whole(folder: Path) -> None:
    """Budgets of all that a program takes, regions of a linker script, and advice that comes true."""
    board, pools, model = folder / "board.ld", folder / "whole.yaml", ROOT / "testdata/resnet8.tar"
    plan = json.loads(run(model, "--dry-run", "--json"))["modules"][0]
    workspace, stack = plan["totals"]["workspace_used"], plan["totals"]["stack_estimate"]
    tensors = sum(tensor["size"] for tensor in plan["inputs"] + plan["outputs"])
    total = workspace + tensors + stack

    def check(limits: str, length: int, *options: str, code: int = 0) -> dict:
        board.write_text(f"MEMORY {{\n RAM (rw) : ORIGIN = 0x20000000, LENGTH = {length}\n}}\n", encoding="utf-8")
        pools.write_text(f"workspace_pools: [{{name: ram}}]\n{limits}\n", encoding="utf-8")
        return check_schema("check", run("check", model, "--pools", pools, "--memory", board, "--json", *options, code=code))

    assert check(f"budgets: {{ram: {total}, stack: {stack}, regions: {{RAM: {total}}}}}", total)["result"] == "ok"
    assert check("", total - 1)["result"] == "warning"
    assert check("", total - 1, "--strict", code=1)["result"] == "breach"
    assert check("stack_region: RAM\nio_region: RAM", total - 1, code=1)["result"] == "breach"
    for limits in (f"ram: {total - 1}", f"stack: {stack - 1}", f"regions: {{RAM: {total - 1}}}"):
        assert check(f"budgets: {{{limits}}}", total, code=1)["breaches"] == 1, limits
    text = run(model, "--pools", pools, "--memory", board, "--dry-run")
    assert "is too small" not in text, text
    check("", total - 1)
    text = run(model, "--pools", pools, "--memory", board, "--dry-run")
    assert (f"warning: region RAM of {total - 1} bytes is too small for {total} bytes = {workspace} pools + "
            f"{tensors} inputs and outputs + {stack} stack; ") in text, text
    # What is advised is what planning with it gives.
    advised = 0
    for model in (ROOT / "testdata/resnet8.tar", ROOT / "testdata/ds_cnn.tar", ROOT / "testdata/lstm.tar"):
        found = check("budgets: {ram: 100}", 1 << 20, code=1)
        for advice in found["advice"]:
            then = figures_of(check("budgets: {ram: 100}", 1 << 20, *advice["options"].split(), code=1))
            for figure in advice["figures"]:
                assert then[figure["of"], figure["limit"]] == figure["after"] < figure["before"], (model, advice)
                assert figures_of(found)[figure["of"], figure["limit"]] == figure["before"], (model, advice)
                advised += 1
        for line in run(model, "--dry-run", "--advice").split("\n\n")[-1].splitlines():
            if not line.startswith("with "):
                assert line == "no other options tried need less RAM", line
                continue
            options, ram = line.removeprefix("with ").split(": ")
            ram = ram.split(" bytes")[0]
            assert f"\nRAM: {ram} bytes = " in run(model, "--dry-run", *options.split()), (model, line)
            advised += 1
        assert "RAM" not in run(model, "--dry-run", "--quiet", "--time-limit", "100")
    # Without being asked: inputs and outputs in the workspace, where that saves 5 %.
    line = "with --workspace-io: 896 bytes of RAM instead of 1216\n"
    assert run(ROOT / "testdata/lstm.tar", "--dry-run").endswith("\n\n" + line)
    assert "\nRAM: 896 bytes = " in run(ROOT / "testdata/lstm.tar", "--dry-run", "--workspace-io")
    assert "with --workspace-io" not in run(ROOT / "testdata/lstm.tar", "--dry-run", "--workspace-io")
    assert "with --workspace-io: 4650" in run(ROOT / "testdata/ds_cnn.tar", "--dry-run", "--advice")  # of 4662
    assert "with --workspace-io" not in run(ROOT / "testdata/ds_cnn.tar", "--dry-run")
    assert advised >= 4, advised
    # An operator that grew.
    baseline = folder / "small.json"
    baseline.write_text(run(MODELS[0], "--pools", BUDGET, "--dry-run", "--json"), encoding="utf-8")
    grown = check_schema("check", run("check", MODELS[0], "--pools", BUDGET, "--baseline", baseline, "--transform", "none", "--json", code=1))
    [named] = [check for pool in grown["modules"][0]["pools"] for check in pool["checks"] if "grown" in check][:1]
    assert named["grown"][0]["operator"].startswith("#") and "; at the peak grew #" in named["message"], named


def check_comparisons(folder: Path) -> None:
    for model in MODELS:
        command = ("compare", model, "--pools", BUDGET, "--no-time")
        value = check_schema("compare", run(*command, "--json"))
        assert run(*command) == run(*command, LC_ALL="de_DE.UTF-8")
        [module] = value["modules"]
        names = [result["algorithm"] for result in module["results"]]
        assert "optimal" in names and "none" in names
        cost = {result["algorithm"]: (result["spilled"], *(pool["used"] for pool in result["pools"]))
                for result in module["results"] if result["status"]}
        assert min(cost.values()) == cost["optimal"]
        for result in module["results"]:
            assert not result["optimal"] or cost[result["algorithm"]] == cost["optimal"]
        rows = list(csv.DictReader(io.StringIO(run(*command, "--format", "csv"))))
        assert len(rows) == sum(max(1, len(result["pools"])) for result in module["results"])
        for row in rows:
            if row["plan"] != "no plan":
                assert (row["used"] == row["lower_bound"]) == (row["proved"] == "true")
    saved = folder / "saved"
    timed = check_schema("compare", run("compare", MODELS[0], "--algorithms", "optimal,none", "--save", saved, "--json"))
    assert all(result["seconds"] >= 0 for result in timed["modules"][0]["results"])
    plans = [saved / f"default.{algorithm}.plan.json" for algorithm in ("none", "optimal")]
    for plan in plans:
        check_schema("plan", plan.read_text(encoding="utf-8"))
    assert check_schema("diff", run("diff", *plans, "--json", code=1))["differs"]
    run("compare", MODELS[0], "--json", "--format", "csv", code=2, text="cannot be given together")
    run("compare", MODELS[0], "--algorithm", "none", code=2, text="--algorithm")
    run("compare", MODELS[0], "--algorithms", "optimum", code=2, text="did you mean 'optimal'?")


def check_frontiers(folder: Path) -> None:
    command = ("compare", MODELS[0], "--recompute", "0,20,100")
    [module] = check_schema("frontier", run(*command, "--json"))["modules"]
    assert [point["allowed_percent"] for point in module["points"]] == [0, 20, 100]
    for point in module["points"]:
        [plan] = json.loads(run(MODELS[0], "--dry-run", "--json", "--allow-recompute", point["allowed_percent"]))["modules"]
        assert point["workspace_used"] == plan["totals"]["workspace_used"] == sum(pool["used"] for pool in plan["pools"] if pool["kind"] == "workspace")
        assert point["extra_work_permille"] <= 10 * point["allowed_percent"]
    rows = list(csv.DictReader(io.StringIO(run(*command, "--format", "csv"))))
    assert [int(row["workspace_used"]) for row in rows] == [point["workspace_used"] for point in module["points"]]
    picture = run(*command, "--format", "svg")
    assert xml.etree.ElementTree.fromstring(picture).tag.endswith("svg")
    assert picture == run(*command, "--format", "svg", LC_ALL="de_DE.UTF-8")
    for wrong, text in (("10,x", "found 'x'"), ("", "the value is empty"), ("20,10", "found 10 behind 20"), ("1001", "found '1001'")):
        run("compare", MODELS[0], "--recompute", wrong, code=2, text=text)
    for other in (("--algorithms", "none"), ("--save", folder / "plans"), ("--allow-recompute", "5")):
        run(*command, *other, code=2, text=f"--recompute and {other[0]} cannot be given together")
    run("compare", MODELS[0], "--format", "svg", code=2, text="--recompute")
    run("compare", MODELS[0], "--recompute", "0", "--pools", TIGHT, "--transform", "none", code=4)


def check_cores() -> None:
    command = ("compare", MODELS[0], "--cpu", "cortex-m4,rv32imc")
    [module] = check_schema("cores", run(*command, "--json"))["modules"]
    assert [point["core"] for point in module["points"]] == ["cortex-m4", "rv32imc"]
    for point in module["points"]:
        [plan] = json.loads(run(MODELS[0], "--dry-run", "--json", "--cpu", point["core"]))["modules"]
        assert point["instructions"] == plan["totals"]["instructions"] > 0
        assert all(point[name] == plan["totals"][name] for name in ("workspace_used", "constant_bytes"))
    assert module["points"][0]["instructions"] < module["points"][1]["instructions"]
    rows = list(csv.DictReader(io.StringIO(run("compare", MODELS[0], "--cpu", "all", "--format", "csv"))))
    assert {"generic", "cortex-m0plus", "rv32imc"} <= {row["core"] for row in rows}
    assert run("compare", MODELS[0], "--cpu", "cortex-m4", "--no-time").startswith(run("compare", MODELS[0], "--no-time")[:20])
    run("compare", MODELS[0], "--cpu", "cortex-m4,z80", code=2, text="found 'z80', expected all or some of generic")
    run("compare", MODELS[0], "--cpu", "cortex-m4,cortex-m4", code=2, text="'cortex-m4' stands twice")
    for other in (("--algorithms", "none"), ("--recompute", "5")):
        run(*command, *other, code=2, text=f"several cores and {other[0]} cannot be given together")
    run(*command, "--format", "svg", code=2, text="--recompute")


def check_work() -> None:
    """What a model computes does not depend on the core, although kernels pad windows."""
    plans = [json.loads(run(ROOT / "testdata/resnet8.tar", "--dry-run", "--json", "--cpu", core))["modules"][0] for core in ("generic", "cortex-m4", "cortex-m55")]
    for plan in plans:
        assert plan["totals"]["multiply_accumulates"] == plans[0]["totals"]["multiply_accumulates"] == sum(one["multiply_accumulates"] for one in plan["calls"]), plan["totals"]
        assert [one["kind"] for one in plan["calls"]] == [one["kind"] for one in plans[0]["calls"]], plan["calls"]
    assert plans[1]["totals"]["constant_bytes"] > plans[0]["totals"]["constant_bytes"], "no window of resnet8 is padded"


def check_reports(folder: Path) -> None:
    for model in MODELS:
        plan = folder / "plan.json"
        plan.write_text(run(model, "--pools", BUDGET, "--dry-run", "--json"), encoding="utf-8")
        report = check_schema("report", run("report", plan, "--json"))
        assert report == json.loads(run("report", model, "--pools", BUDGET, "--json"))
        assert report["totals"] == json.loads(plan.read_text(encoding="utf-8"))["modules"][0]["totals"]
        for pool in report["pools"]:
            assert len(pool["without"]) <= 3
            if pool["kind"] == "workspace" and pool["peak"]["bytes"] > 0:
                assert [one["id"] for one in pool["without"]] == [one["id"] for one in pool["peak"]["buffers"][:3]]
        assert not check_schema("diff", run("diff", plan, plan, "--json"))["differs"]


def check_ignored_sizes() -> None:
    """What does not fit is drawn all the same when asked, and said not to fit; diff compares it."""
    model = ROOT / "testdata" / "ds_cnn.tar"
    assert run("report", model, "--pools", TIGHT, code=4, text="no plan fits the pools") == ""
    for command in (("report", model), ("report", model, "--format", "svg")):
        done = subprocess.run([PROGRAM, *command, "--pools", TIGHT, "--ignore-sizes"], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "no plan fits the pools; the one shown ignores their sizes" in done.stdout + done.stderr, done
        whole = subprocess.run([PROGRAM, *command], capture_output=True, text=True, check=True).stdout
        assert "<svg" in done.stdout if "svg" in command else len(done.stdout) > len(whole) // 2, done.stdout
    [plan] = json.loads(run("report", model, "--json"))["pools"]
    fits = run("report", model, "--pools", ROOT / "testdata" / "pools" / "dtcm_sram.yaml", "--ignore-sizes")
    assert "ignores their sizes" not in fits and plan["used"] > 0, fits


def bytes_of(intervals: list[tuple[int, int]]) -> int:
    """How many bytes the intervals have together, each counted once."""
    total, reached = 0, 0
    for begin, end in sorted(intervals):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def check_sums(folder: Path) -> None:
    """Columns of a report add up, with every byte counted once; what is said to be shared is what the places say."""
    shared_pairs = 0
    plan = folder / "sums.plan.json"
    for model in sorted((ROOT / "testdata").glob("*.tar")):
        for pools in ((), ("--pools", ROOT / "testdata" / "pools" / "dtcm_sram.yaml")):
            plan.write_text(run(model, *pools, "--dry-run", "--json"), encoding="utf-8")
            [document] = json.loads(plan.read_text(encoding="utf-8"))["modules"]
            report = json.loads(run("report", plan, "--json"))
            for pool in report["pools"]:
                peak, gap = pool["peak"], pool["lost_to_fragmentation"]
                if pool["used"] > 0:
                    assert pool["used"] == pool["reserved"] + peak["bytes"] + pool["lost_to_alignment"] + gap, (model, pool)
                live = [b for b in document["buffers"] if b["pool"] == pool["name"]
                        and any(begin <= peak["tick"] < end for begin, end in b["live"])]
                assert sorted(b["id"] for b in live) == sorted(b["id"] for b in peak["buffers"])
                occupied = bytes_of([(b["offset"], b["offset"] + b["size"]) for b in live])
                assert peak["occupied"] == occupied >= peak["bytes"], (model, pool["name"], occupied, peak["bytes"])
                assert sum(b["counted"] for b in peak["buffers"]) == occupied
                assert sum(share["bytes"] for share in peak["shares"]) == occupied
                told = {(*one["buffers"], one["offset"], one["bytes"]) for one in pool["shared"]}
                assert told == shared_by_places(document, pool["name"]), (model, pool["name"])
                shared_pairs += len(told)
    assert shared_pairs > 0
    text = run("report", ROOT / "testdata" / "ds_cnn.tar", "--transform", golden.all_steps_but(PROGRAM, "rolling"))
    text = " ".join(text.split())  # lines are folded
    assert "9536 bytes = 8640 live at the peak + 896 in gaps, proved unavoidable" in text, text
    assert "7616 bytes with sid_" in text, text
    # Instructions of the operators and of the entry add up to what the summary says.
    text = run("report", ROOT / "testdata" / "lstm.tar")
    table = text[text.index("  Most live "):].split("\n\n")[0].splitlines()
    end = table[0].index("Instructions") + len("Instructions")
    rows = [line for line in table[1:] if re.search(r"  #\d+ |  the entry itself ", line)]
    instructions = sum(int(line[:end].split()[-1]) for line in rows)
    assert f"; instructions (estimate for generic): {instructions}\n" in text, (instructions, text)
    assert "  the entry itself  " in rows[-1], table


def check_differences(folder: Path) -> None:
    """At the peak, buffers differ by as much as their pools, also where they change pools."""
    pools = folder / "readme.yaml"
    pools.write_text("""workspace_pools: [{name: dtcm, size_hint_bytes: 8KiB}, {name: sram}]
parameter_pools: [{name: flash}]
""", encoding="utf-8")
    # Without chains, of which all algorithms make the same plan.
    model = (ROOT / "testdata" / "repeated_op.tar", "--transform", golden.all_steps_but(PROGRAM, "rolling"), "--dry-run", "--json")
    plans = []
    for name in ("greedy_by_size", "optimal", "gmem"):
        plans.append(folder / f"{name}.json")
        plans[-1].write_text(run(*model, "--pools", pools, "--algorithm", name), encoding="utf-8")
    plans.append(folder / "one_pool.json")
    plans[-1].write_text(run(*model), encoding="utf-8")
    moved = 0
    for before, after in itertools.permutations(plans, 2):
        [module] = check_schema("diff", run("diff", before, after, "--json", code=1))["modules"]
        for pool in module["pools"]:
            grown = {side: pool[side]["occupied_at_peak"] if pool[side] else 0 for side in ("before", "after")}
            rows = {side: sum(buffer[side]["bytes_at_peak"] for buffer in module["buffers"]
                              if buffer[side] and buffer[side]["pool"] == pool["name"]) for side in ("before", "after")}
            assert (grown["after"] - grown["before"]
                    == rows["after"] - rows["before"] + pool["same_growth_at_peak"]), (before, after, pool)
        moved += sum(buffer["change"] == "moved" and buffer["before"]["pool"] != buffer["after"]["pool"]
                     and buffer["before"]["bytes_at_peak"] > 0 for buffer in module["buffers"])
    assert moved > 0
    text = run("diff", plans[0], plans[1], code=1)
    assert "  dtcm -6272, sram +6272 " in text and "  sram -4608, dtcm +1728 " in text, text
    # What algorithms prove counts in the order of the pools: constants of gmem's plan are more, but stand behind.
    comparison = json.loads(run("compare", ROOT / "testdata/ds_cnn.tar", "--pools", pools, "--json", "--no-time"))
    for result in comparison["modules"][0]["results"]:
        assert result["pools"][0]["lower_bound"] == 4160, result


def shared_by_places(document: dict, pool: str) -> set[tuple[int, int, int, int]]:
    buffers = [b for b in document["buffers"] if b["pool"] == pool]
    found = set()
    for i, a in enumerate(buffers):
        for b in buffers[i + 1:]:
            begin, end = max(a["offset"], b["offset"]), min(a["offset"] + a["size"], b["offset"] + b["size"])
            together = any(x[0] < y[1] and y[0] < x[1] for x in a["live"] for y in b["live"])
            if begin < end and together:
                found.add((a["id"], b["id"], begin, end - begin))
    return found


def check_transformations(folder: Path) -> None:
    """What the step `constants` says it saved is what the plans save, and the difference of the plans says why."""
    for model in MODELS[:2]:  # the third has no constants that could be smaller
        plans = {}
        for names in ("none", "constants"):
            path = folder / f"{names}.plan.json"
            path.write_text(run(model, "--pools", BUDGET, "--transform", names, "--dry-run", "--json"), encoding="utf-8")
            [plan] = json.loads(path.read_text(encoding="utf-8"))["modules"]
            plans[names] = check_schema("plan", json.dumps(plan))
        [step] = plans["constants"]["transformed"]
        sizes = [sum(buffer["size"] for buffer in plan["buffers"] if buffer["kind"] == "constant" and buffer["live"]) for plan in plans.values()]
        assert [step["constant_bytes_before"], step["constant_bytes_after"]] == sizes, (model, step, sizes)
        files = [folder / f"{names}.plan.json" for names in plans]
        [module] = check_schema("diff", run("diff", *files, "--json", code=1))["modules"]
        [told] = module["transformed"]
        assert told["step"] == "constants" and told["only_after"] == step["changes"], (model, told)
        saved = f"constants {sizes[0]} -> {sizes[1]} bytes"
        assert sizes[1] < sizes[0] and saved in " ".join(run("report", files[1]).split()) and saved in run("diff", *files, code=1)
        assert check_schema("report", run("report", files[1], "--json"))["transformed"] == [step]


def check_modules() -> None:
    for model in MODELS:
        for options in ((), ("--from", "c"), ("--transform", "all")):
            [module] = json.loads(run("inspect", model, *options, "--json"))["modules"]
            assert check_schema("inspect", json.dumps(module))["buffers"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        check_checks(Path(folder))
        check_comparisons(Path(folder))
        check_frontiers(Path(folder))
        check_cores()
        check_work()
        check_reports(Path(folder))
        check_modules()
        check_ignored_sizes()
        check_sums(Path(folder))
        check_transformations(Path(folder))
        check_differences(Path(folder))
    print("ok" if jsonschema else "ok, without the schemas: no package jsonschema")


if __name__ == "__main__":
    main()
