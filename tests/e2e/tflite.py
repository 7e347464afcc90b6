#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""TensorFlow Lite models: what usmp-plan writes computes what TensorFlow Lite Micro's reference kernels did.

Beside each NAME.tflite stands NAME.golden with io.json (inputs and outputs in the model's order) and the bytes of the
inputs and outputs of several runs in a row. The emitted C gets pools of exactly the planned size, full of garbage.
Integers must be equal, floats to 1e-5 relative.

Every nth program (--sanitize n) is compiled as C99 with warnings as errors, AddressSanitizer and
UndefinedBehaviorSanitizer, the others without optimisation. --each plans every model also with each transformation
alone, with two pools of which one is bounded, with inputs and outputs inside, and for another core; and as an archive
that `convert` makes of it: planned, which gives the same C, planned from the archive's C, and the archive's C without
any plan. --in-turn in one of these ways.
"""

from __future__ import annotations

import argparse
import array
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wmissing-prototypes", "-Wstrict-prototypes"]
GCC = ["gcc", "-std=c99", "-D_POSIX_C_SOURCE=200112L", "-ffp-contract=off"]
SANITIZE = ["-O1", *WARNINGS, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
NO_LEAKS = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
STEPS = ["none", "fuse", "narrow", "merge", "constants", "rolling", "reorder", "inplace"]
STATE_POOL = "workspace_pools:\n  - {name: backup, state: true, size_hint_bytes: 64KiB}\n  - name: sram\n"
TWO_POOLS = "workspace_pools:\n  - name: fast\n    size_hint_bytes: {half}\n  - name: slow\n"

# What `convert` is followed by.
CONVERTED, UNPLANNED = "converted", "converted, not planned"

ALLOCATOR = """
void* TVMBackendAllocWorkspace(int t, int i, uint64_t n, int c, int b) { (void)t; (void)i; (void)c; (void)b; return memory((size_t)n, 0xA5); }
int TVMBackendFreeWorkspace(int t, int i, void* p) { (void)t; (void)i; free(p); return 0; }
"""
ALLOCATOR_HEADER = """
void* TVMBackendAllocWorkspace(int t, int i, uint64_t n, int c, int b);
int TVMBackendFreeWorkspace(int t, int i, void* p);
"""


def members(header: str, module: str, kind: str) -> list[str]:
    found = re.search(rf"struct tvmgen_{re.escape(module)}_{kind} \{{([^}}]*)\}}", header)
    return re.findall(r"\*\s*(?:const\s+)?(\w+)\s*;", found.group(1)) if found else []


def main_text(header: str, module: str, golden: Path, folder: Path, io: dict) -> str:
    name = module.upper()
    inputs, outputs = members(header, module, "inputs"), members(header, module, "outputs")
    pools = members(header, module, "workspace_pools")
    assert len(inputs) == len(io["inputs"]) and len(outputs) == len(io["outputs"]), "another interface"
    is_inside = f"tvmgen_{module}_map_inputs" in header
    lines = []
    for pool in pools:
        size = f"TVMGEN_{name}_{pool.upper()}_WORKSPACE_POOL_SIZE"
        lines.append(f"pools.{pool} = memory({size}, 0xA5);")
    if is_inside:
        lines.append(f"struct tvmgen_{module}_inputs in = tvmgen_{module}_map_inputs(&pools);")
        lines.append(f"struct tvmgen_{module}_outputs out = tvmgen_{module}_map_outputs(&pools);")
    else:
        lines += [f"struct tvmgen_{module}_inputs in;", f"struct tvmgen_{module}_outputs out;"]
        lines += [f"in.{n} = memory({i['size']}, 0x5A);" for n, i in zip(inputs, io["inputs"])]
        lines += [f"out.{n} = memory({o['size']}, 0x5A);" for n, o in zip(outputs, io["outputs"])]
    if re.search(rf"tvmgen_{re.escape(module)}_reset\(\s*struct", header):
        lines.append(f"tvmgen_{module}_reset(&pools);")
    words = ([] if is_inside else ["&in", "&out"]) + (["&pools"] if pools else [])
    for run in range(io["runs"]):
        for k, (member, tensor) in enumerate(zip(inputs, io["inputs"])):
            lines.append(f'get("{golden}/in{k}.{run}.bin", in.{member}, {tensor["size"]});')
        lines.append(f"if (tvmgen_{module}_run({', '.join(words)}) != 0) return 3;")
        for k, (member, tensor) in enumerate(zip(outputs, io["outputs"])):
            lines.append(f'put("{folder}/out{k}.{run}.bin", out.{member}, {tensor["size"]});')
    declared = f"struct tvmgen_{module}_workspace_pools pools;\n" if pools else ""
    body = "\n".join(lines)
    return f"""#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tvmgen_{module}.h"
static void* memory(size_t size, int value) {{
  void* p = NULL;
  if (posix_memalign(&p, 64, size > 0 ? size : 1) != 0) exit(9);
  memset(p, value, size);
  return p;
}}
static void get(const char* path, void* to, size_t size) {{
  FILE* file = fopen(path, "rb");
  if (file == NULL || fread(to, 1, size, file) != size) exit(2);
  fclose(file);
}}
static void put(const char* path, const void* from, size_t size) {{
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(from, 1, size, file) != size) exit(2);
  fclose(file);
}}
int main(void) {{
{declared}{body}
return 0;
}}
"""


def described(golden: Path) -> dict:
    """io.json, or without it what the files say: as many inputs and outputs of integers."""
    if (golden / "io.json").exists():
        return json.loads((golden / "io.json").read_text())
    def tensors(kind: str) -> list[dict]:
        count = len(list(golden.glob(f"{kind}*.0.bin")))
        return [{"type": "int", "size": (golden / f"{kind}{k}.0.bin").stat().st_size} for k in range(count)]
    return {"inputs": tensors("in"), "outputs": tensors("out"), "runs": len(list(golden.glob("out0.*.bin")))}


def planned_files(out: Path) -> dict[str, object]:
    """The C, and the plan without what tells an archive from a model."""
    files: dict[str, object] = {}
    for path in sorted(out.rglob("*")):
        if path.name.endswith(".plan.json"):
            plan = json.loads(path.read_text())
            del plan["archive"], plan["totals"]["unplanned_workspace"]
            files[path.name] = plan
        elif path.is_file():
            files[str(path.relative_to(out))] = path.read_bytes()
    return files


def differences(kind: str, expected: bytes, found: bytes) -> int:
    if kind != "float32":
        return sum(a != b for a, b in zip(expected, found)) + abs(len(expected) - len(found))
    wanted, values = array.array("f", expected), array.array("f", found)
    return sum(not (a == b or abs(a - b) <= 1e-5 * max(abs(a), abs(b), 1e-3) or (a != a and b != b))
               for a, b in zip(wanted, values))


def fault_of(program: str, model: Path, options: list[str], pools: str | None, sanitize: bool) -> str:
    """What is wrong; empty: nothing is."""
    golden = model.with_suffix(".golden").resolve()
    io = described(golden)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        out = folder / "out"
        planned = model
        way = options[0] if options and options[0].startswith(CONVERTED) else ""
        if way:
            options = []
            planned = folder / f"{model.stem}.tar"
            to = out if way == UNPLANNED else planned
            convert = subprocess.run([program, "convert", str(model), "-o", str(to), "--quiet"], capture_output=True, text=True)
            if convert.returncode != 0:
                return "refused: " + convert.stderr.strip()[:300]
        words = [program, str(planned), "-o", str(out), "--quiet", *options]
        if pools is not None:
            if "{half}" in pools:
                plan = subprocess.run([program, str(model), *options, "--dry-run", "--json"], capture_output=True, text=True)
                if plan.returncode != 0:
                    return "refused: " + plan.stderr.strip()[:300]
                half = json.loads(plan.stdout)["modules"][0]["totals"]["workspace_used"] // 2
                pools = pools.replace("{half}", str(max(half, 16)))
            (folder / "pools.yaml").write_text(pools)
            words += ["--pools", str(folder / "pools.yaml")]
        plan = subprocess.run(words, capture_output=True, text=True) if way != UNPLANNED else None
        if plan is not None and plan.returncode != 0:
            return "refused: " + plan.stderr.strip()[:300]
        if way == CONVERTED:
            subprocess.run([program, str(model), "-o", str(folder / "direct"), "--quiet"], check=True)
            wanted, found = planned_files(folder / "direct"), planned_files(out)
            differ = [name for name in {*wanted, *found} if wanted.get(name) != found.get(name)]
            return f"other files than of the model itself: {', '.join(sorted(differ))}" if differ else ""
        header = next(p for p in out.rglob("tvmgen_*.h") if not re.search(r"\.(constants|info)\.h$", p.name))
        module = header.name[len("tvmgen_"):-2]
        try:
            text = main_text(header.read_text(), module, golden, folder, io)
        except AssertionError as another:
            return str(another)
        if way == UNPLANNED:
            text = text.replace("int main(void)", ALLOCATOR_HEADER + ALLOCATOR + "int main(void)")
        (folder / "main.c").write_text(text)
        sources = [str(p) for p in out.rglob("*.c")]
        compiled = subprocess.run([*GCC, *(SANITIZE if sanitize else ["-O0", "-w"]), "-I", str(header.parent),
                                   str(folder / "main.c"), *sources, "-lm", "-o", str(folder / "run")],
                                  capture_output=True, text=True)
        if compiled.returncode != 0:
            return "does not compile: " + compiled.stderr.strip()[:400]
        run = subprocess.run([str(folder / "run")], capture_output=True, text=True, env=NO_LEAKS)
        if run.returncode != 0:
            return f"ends with {run.returncode}: " + run.stderr.strip()[:400]
        wrong = 0
        for k, tensor in enumerate(io["outputs"]):
            for turn in range(io["runs"]):
                name_of_run = f"out{k}.{turn}.bin"
                wrong = max(wrong, differences(tensor["type"], (golden / name_of_run).read_bytes(),
                                               (folder / name_of_run).read_bytes()))
        return f"{wrong} elements differ" if wrong else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folders", nargs="*", type=Path, help="of models, or models")
    parser.add_argument("--random", help="usmp-random-tflite: models that it writes, too")
    parser.add_argument("--seed", default="1", help="of the first of them")
    parser.add_argument("--count", default="20", help="of them")
    parser.add_argument("--sanitize", type=int, default=1, help="every nth; 0: none")
    parser.add_argument("--each", action="store_true", help="many ways to plan each model")
    parser.add_argument("--in-turn", action="store_true")
    parser.add_argument("--but-not-of", type=Path, help="leave out models that stand in this folder, too, byte for byte")
    parser.add_argument("--options", default="", help="for all plans")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        if arguments.random:
            written = subprocess.run([arguments.random, "--seed", arguments.seed, "--count", arguments.count,
                                      "--write", temporary, "--write-every", "1", "--transform-every", "0"])
            assert written.returncode == 0, "the models are wrong before they are compiled"
            arguments.folders.append(Path(temporary))
        return check(arguments)


def check(arguments: argparse.Namespace) -> int:
    models = [m for f in arguments.folders for m in (sorted(f.glob("*.tflite")) if f.is_dir() else [f])]
    if arguments.but_not_of:
        run_elsewhere = {path.read_bytes() for path in arguments.but_not_of.glob("*.tflite")}
        models = [model for model in models if model.read_bytes() not in run_elsewhere]
    assert models, "no models"
    ways: list[tuple[list[str], str | None]] = [(shlex.split(arguments.options), None)]
    if arguments.each or arguments.in_turn:
        ways += [(["--transform", step], None) for step in STEPS]
        ways += [([], TWO_POOLS), ([], STATE_POOL), (["--workspace-io"], "workspace_pools:\n  - name: sram\n"), (["--cpu", "cortex-m0plus"], None), (["--cpu", "cortex-m4"], None), (["--cpu", "cortex-m55"], None)]
        ways += [([way], None) for way in (CONVERTED, UNPLANNED)]
    work = [(model, options, pools) for model in models for options, pools in ways]
    if arguments.in_turn:
        work = [(model, *way) for i, model in enumerate(models) for way in (ways[0], ways[1 + i % (len(ways) - 1)])]
        work += [(model, [], STATE_POOL) for model in models if re.search("svdf|lstm|variable", model.stem)]

    def one(index: int) -> str:
        model, options, pools = work[index]
        sanitize = arguments.sanitize > 0 and index % arguments.sanitize == 0
        name = f"{model.parent.name}/{model.stem}"
        fault = fault_of(arguments.program, model, options, pools, sanitize)
        return f"{name} {shlex.join(options)}{' pools ' + pools.split(chr(10))[1].strip() if pools else ''}: {fault}" if fault else ""

    for script in (model.with_suffix(".py") for model in models if model.with_suffix(".py").exists()):
        with tempfile.NamedTemporaryFile() as made:
            subprocess.run([sys.executable, "-B", str(script), made.name], check=True)
            assert Path(made.name).read_bytes() == script.with_suffix(".tflite").read_bytes(), f"{script} makes another file"
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        faults = [fault for fault in pool.map(one, range(len(work))) if fault]
    for fault in faults:
        print(fault)
    print(f"{len(work) - len(faults)} of {len(work)} programs compute what they should")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
