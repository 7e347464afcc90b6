#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Plans archives, compiles the emitted C and runs it on golden inputs.

For every archive, algorithm, pools file and placement of inputs and outputs: `usmp-plan` writes C, a firmware-like main
is generated that gives each external pool exactly the planned size, fills it with garbage and runs the model twice, and
all of it is compiled as C99 with warnings as errors, AddressSanitizer and UndefinedBehaviorSanitizer. The outputs must
equal the golden ones: integers exactly (by at most one unit where the network quantises from floats), floats to 1e-5.
"""

from __future__ import annotations

import argparse
import array
import concurrent.futures
import functools
import hashlib
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import tflite

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wmissing-prototypes", "-Wstrict-prototypes"]
# gold links a program with sanitizers in a third of the time.
GCC = ["gcc", "-std=c99", "-D_POSIX_C_SOURCE=200112L", "-ffp-contract=off", *["-fuse-ld=gold"] * bool(shutil.which("ld.gold"))]
# What UBSan finds ends the program without a word, which GCC compiles in half the time; a program that fails is built again
# to say what it was.
SILENT = "-fsanitize-undefined-trap-on-error"
# Calls for AddressSanitizer's checks are compiled faster than the checks themselves.
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "--param=asan-instrumentation-with-call-threshold=0", SILENT]
# Emitted C allocates nothing; looking for leaks takes a small program half its time.
NO_LEAKS = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
# Networks whose int8 outputs are quantised from floats: TVM prints float immediates with 7 digits.
ONE_UNIT = {"ds_cnn", "mlperf_kws", "mlperf_resnet8", "mlperf_vww"}
TESTDATA = Path(__file__).resolve().parents[2] / "testdata"

POOLS = {
    "default": None,
    "one": "workspace_pools:\n  - name: sram\n",
    "internal": "workspace_pools:\n  - name: sram\n    internal: true\nparameter_pools:\n  - name: flash\n    internal: true\n",
    "flash": "workspace_pools:\n  - name: sram\nparameter_pools:\n  - name: flash\n    targets: {c: ro}\n",
    # The bound is filled in from an unbounded plan, so that some buffers must fall back.
    "bounded": "workspace_pools:\n  - name: dtcm\n    size_hint_bytes: {half}\n    alignment: 16\n"
               "  - name: sram\nparameter_pools:\n  - name: flash\n",
    # Every third buffer of a plan without pins is pinned, a little higher, so that the others must find other places.
    "pinned": "workspace_pools:\n  - name: sram\n    pool_offset: 1000\n  - name: dtcm\n    internal: true\n"
              "    pool_offset: 48\nparameter_pools:\n  - name: flash\n    pool_offset: 100\n  - name: rom\n"
              "    pool_offset: 20\n    internal: true\n{pins}",
}
PIN_SHIFT = {"sram": 4096, "flash": 256}


@dataclass
class Model:
    path: Path
    golden: dict[str, Path]  # module name -> golden directory

    @property
    def name(self) -> str:
        return self.path.name.removesuffix(".xz").removesuffix(".tar").removesuffix(".tflite")


@dataclass
class Case:
    model: Model
    algorithm: str
    pools: str
    workspace_io: bool
    compilers: list[list[str]] = field(default_factory=list)
    transform: str = ""  # as on the command line; empty: the program's default

    def label(self) -> str:
        return (f"{self.model.path.parent.name}/{self.model.name} {self.algorithm} {self.pools}" + (" io" if self.workspace_io else "")
                + (f" transform {self.transform}" if self.transform else ""))

    def options(self) -> list[str]:
        return ["--workspace-io"] * self.workspace_io + (["--transform", *self.transform.split()] if self.transform else [])


class Failure(Exception):
    pass


def run(command: list[str], **options) -> subprocess.CompletedProcess:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600, **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-4000:]}")
    return done


def algorithms(binary: Path) -> list[str]:
    """All that the program has, the default first."""
    listed = json.loads(run([binary, "--list-algorithms", "--json"]).stdout)["algorithms"]
    return [row["name"] for row in listed]


def steps(binary: Path) -> list[str]:
    """The transformations that the program has, in the order in which they are applied."""
    planned = json.loads(run([binary, TESTDATA / "cast_subtract.tar", "--transform", "all", "--dry-run", "--json"]).stdout)
    return [row["step"] for row in planned["modules"][0]["transformed"]]


def all_steps_but(binary: Path, step: str) -> str:
    """As on the command line."""
    return ",".join(name for name in steps(binary) if name != step)


def transformations(binary: Path, asked: list[str]) -> list[str]:
    """What was asked for; "each": none, each transformation alone, all, and all with elements computed more than once."""
    each = ["none", *steps(binary), "all", "all --allow-recompute 50"] if "each" in asked else []
    return [transform for word in asked for transform in (each if word == "each" else [word])]


def struct_members(header: str, struct: str) -> list[str]:
    body = re.search(r"struct %s \{(.*?)\};" % re.escape(struct), header, re.S)
    return re.findall(r"\*\s*(\w+)\s*;", body.group(1)) if body else []


def sanitised(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def c_string(path: Path) -> str:
    return json.dumps(str(path))


def firmware_main(module: str, header: str, constants: bool, plan: dict, golden: Path, results: Path, packed: bool) -> str:
    """A main that runs one module twice and writes its outputs of the second run."""
    io = json.loads((golden / "io.json").read_text())
    m = sanitised(module)
    prefix = f"tvmgen_{m}"
    pools = struct_members(header, f"{prefix}_workspace_pools")
    if packed:  # external pools come after the tensors, by name
        pools = sorted(sanitised(pool["name"]) for pool in plan["pools"] if not pool["internal"])
    kinds = {sanitised(pool["name"]): pool for pool in plan["pools"]}
    in_workspace = plan["workspace_io"]
    lines = [f'#include "{prefix}.h"', *([f'#include "{prefix}.constants.h"'] if constants else []), "#include <stdint.h>", "#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>",
             "static void* exact(size_t size, int garbage) {", "  void* p = 0;",
             "  if (posix_memalign(&p, 64, size == 0 ? 1 : size) != 0) abort();", "  memset(p, garbage, size);", "  return p;", "}",
             "static void load(const char* path, void* to, size_t size) {", '  FILE* f = fopen(path, "rb");',
             "  if (!f || fread(to, 1, size, f) != size) abort();", "  fclose(f);", "}",
             "static void save(const char* path, const void* from, size_t size) {", '  FILE* f = fopen(path, "wb");',
             "  if (!f || fwrite(from, 1, size, f) != size || fclose(f) != 0) abort();", "}"]
    if packed:
        lines += ["typedef union { int64_t v_int64; double v_float64; void* v_handle; } Value;",
                  "typedef struct { void* data; struct { int32_t type; int32_t id; } device; int32_t ndim;",
                  "  struct { uint8_t code, bits; uint16_t lanes; } dtype; int64_t* shape; int64_t* strides; uint64_t byte_offset; } Tensor;"]
    lines += ["int main(void) {", "  int round;", "  for (round = 0; round < 2; ++round) {", "    int garbage = round ? 0x5a : 0xa5;",
              "    (void)garbage; (void)exact; (void)load; (void)save;"]  # not all are used where all is in internal pools
    data = []
    for pool in pools:
        macro = f"{prefix.upper()}_{pool.upper()}"
        if kinds[pool]["kind"] != "workspace":
            data.append(pool)
            lines += [f"    static const uint8_t {pool}_data[] = {{ {macro}_CONSTANT_POOL_DATA }};" if kinds[pool]["used"] else
                      f"    static const uint8_t {pool}_data[1] = {{ 0 }};",
                      f"    void* {pool} = exact({macro}_CONSTANT_POOL_SIZE, garbage);",
                      f"    memcpy({pool}, {pool}_data, {macro}_CONSTANT_POOL_SIZE);"]
        else:
            lines.append(f"    void* {pool} = exact({macro}_WORKSPACE_POOL_SIZE, garbage);")
    if pools and (not packed or in_workspace):
        lines.append(f"    struct {prefix}_workspace_pools pools;")
        lines += [f"    pools.{pool} = {pool};" for pool in pools]
    pool_argument = "&pools" if pools else ""
    names = {"inputs": list(io["inputs"]), "outputs": list(io["outputs"])}
    members = {side: struct_members(header, f"{prefix}_{side}") for side in names}
    if not packed or in_workspace:
        for side in names:
            lines.append(f"    struct {prefix}_{side} {side};")
    for side in names:
        golden_names = {sanitised(name): name for name in names[side]}
        order = members[side] or list(golden_names)
        for i, member in enumerate(order):
            # TVM 0.9 names outputs itself ("output", "output0"): fall back to the position.
            name = golden_names.get(member, names[side][i])
            size = io[side][name]["size"]
            if in_workspace:
                continue
            lines.append(f"    void* {side}_{i} = exact({size}, garbage);")
            if side == "inputs":
                lines.append(f"    load({c_string(golden / (sanitised(name) + '.in.bin'))}, inputs_{i}, {size});")
            if not packed:
                lines.append(f"    {side}.{member} = {side}_{i};")
    if in_workspace:
        for side in names:
            lines.append(f"    {side} = {prefix}_map_{side}({pool_argument});")
        golden_names = {sanitised(name): name for name in names["inputs"]}
        for i, member in enumerate(members["inputs"]):
            name = golden_names.get(member, names["inputs"][i])
            lines.append(f"    load({c_string(golden / (sanitised(name) + '.in.bin'))}, inputs.{member}, {io['inputs'][name]['size']});")
    if packed:
        count = 0 if in_workspace else len(names["inputs"]) + len(names["outputs"])
        lines += [f"    Tensor tensors[{count + 1}];", f"    Value args[{count + len(pools) + 1}];", f"    int codes[{count + len(pools) + 1}];",
                  "    Value ret; int ret_code = 0;", "    memset(tensors, 0, sizeof tensors);"]
        k = 0
        for side in names if not in_workspace else ():
            for i in range(len(names[side])):
                lines += [f"    tensors[{k}].data = {side}_{i}; args[{k}].v_handle = &tensors[{k}]; codes[{k}] = 7;"]
                k += 1
        for pool in pools:
            lines.append(f"    args[{k}].v_handle = {pool}; codes[{k}] = 3;")
            k += 1
        lines.append(f"    if ({prefix}_run(args, codes, {k}, &ret, &ret_code, 0) != 0) return 2;")
    else:
        arguments = ([] if in_workspace else ["&inputs", "&outputs"]) + ([pool_argument] if pools else [])
        lines.append(f"    if ({prefix}_run({', '.join(arguments)}) != 0) return 2;")
    golden_names = {sanitised(name): name for name in names["outputs"]}
    for i, member in enumerate(members["outputs"] or list(golden_names)):
        name = golden_names.get(member, names["outputs"][i])
        source = f"outputs.{member}" if not packed or in_workspace else f"outputs_{i}"
        lines.append(f"    save({c_string(results / (sanitised(name) + '.out.bin'))}, {source}, {io['outputs'][name]['size']});")
    if not in_workspace:
        lines += [f"    free({side}_{i});" for side in names for i in range(len(names[side]))]
    for pool in pools:  # the first bytes of a pool may be reserved for others
        if kinds[pool]["kind"] == "workspace":
            size, reserved = f"{prefix.upper()}_{pool.upper()}_WORKSPACE_POOL_SIZE", kinds[pool]["reserved"]
            lines += [f"    {{ size_t i, size = {size}; for (i = 0; i < {reserved} && i < size; ++i)",
                      f"      if (((unsigned char*){pool})[i] != garbage) {{ fputs(\"reserved bytes were written\", stderr); abort(); }} }}"] if reserved else []
    for pool in data:
        macro = f"{prefix.upper()}_{pool.upper()}"
        lines.append(f"    if (memcmp({pool}, {pool}_data, {macro}_CONSTANT_POOL_SIZE) != 0) return 3;")
    lines += [f"    free({pool});" for pool in pools]
    lines += ["  }", "  return 0;", "}", ""]
    return "\n".join(lines)


TYPES = {"int8": "b", "uint8": "B", "int16": "h", "int32": "i", "float32": "f", "int64": "q"}


def compare(golden: Path, results: Path, name: str, dtype: str, model: str) -> None:
    expected = array.array(TYPES[dtype], (golden / f"{sanitised(name)}.out.bin").read_bytes())
    actual = array.array(TYPES[dtype], (results / f"{sanitised(name)}.out.bin").read_bytes())
    if len(expected) != len(actual):
        raise Failure(f"output {name}: {len(actual)} elements, expected {len(expected)}")
    for i, (a, e) in enumerate(zip(actual, expected)):
        if dtype == "float32":
            good = math.isclose(a, e, rel_tol=1e-5, abs_tol=1e-6) or (math.isnan(a) and math.isnan(e))
        else:
            good = abs(a - e) <= (1 if model in ONE_UNIT else 0)
        if not good:
            raise Failure(f"output {name}[{i}] is {a}, expected {e}")


def modules_planned(binary: Path, archive: Path, options: tuple[str, ...], pools: str = "") -> list[dict]:
    """What a plan into the pools file of this text, or without one, looks like."""
    with tempfile.TemporaryDirectory(prefix="usmp-e2e-") as temporary:
        command = [binary, archive, "--algorithm", "hill_climb", "--dry-run", "--json", *options]
        if pools:
            path = Path(temporary) / "pools.yaml"
            path.write_text(pools)
            command += ["--pools", path]
        return json.loads(run(command).stdout)["modules"]


def pins(modules: list[dict]) -> str:
    """Some pins of each module, and some buffers and constants moved to the second pools."""
    lines = []
    for module in modules:
        seen: dict[tuple[str, str], int] = {}
        second = {"sram": ("dtcm", 64), "flash": ("rom", 32)}
        for number, buffer in enumerate(module["buffers"]):
            key = (buffer["name"], buffer["function"])
            occurrence = seen[key] = seen.get(key, -1) + 1
            if number % 3 == 2 or buffer["pool"] not in PIN_SHIFT:
                continue
            pool, offset = buffer["pool"], buffer["offset"] + PIN_SHIFT[buffer["pool"]]
            if number % 3 == 1:  # the next place in a second pool that nothing shares
                pool, offset = second[buffer["pool"]]
                second[buffer["pool"]] = (pool, -(-(offset + buffer["size"]) // 64) * 64 + 64)
            lines.append(f"  - {{buffer: {json.dumps(key[0])}, function: {json.dumps(key[1])}, occurrence: {occurrence}, "
                         f"pool: {pool}, offset: {offset}}}\n")
    return "pinned:\n" + "".join(lines) if lines else ""


@functools.cache  # algorithms have no part in it
def pools_text(binary: Path, archive: Path, pools: str, options: tuple[str, ...]) -> str:
    text = POOLS[pools]
    if "{half}" in text:
        used = max(module["totals"]["workspace_used"] for module in modules_planned(binary, archive, options))
        text = text.replace("{half}", str(max(16, used // 2)))
    if "{pins}" in text:
        text = text.replace("{pins}", pins(modules_planned(binary, archive, options, text.replace("{pins}", ""))))
    return text


def pools_file(binary: Path, case: Case, directory: Path) -> Path | None:
    """The case's pools file below the directory; None for no pools file."""
    if POOLS[case.pools] is None:
        return None
    path = directory / "pools.yaml"
    path.write_text(pools_text(binary, case.model.path, case.pools, tuple(case.options())))
    return path


def plan(binary: Path, case: Case, directory: Path) -> Path:
    command = [binary, case.model.path, "--algorithm", case.algorithm, "-o", directory / "out", "--quiet"]
    if pools := pools_file(binary, case, directory):
        command += ["--pools", pools]
    run(command + case.options())
    return directory / "out"


def check_no_workspace_calls(source: Path) -> None:
    for file in source.glob("*.c"):
        text = file.read_text()
        for word in ("TVMBackendAllocWorkspace", "c_runtime_api", "malloc"):
            if word in text:
                raise Failure(f"{file.name} uses {word}")


def write_main(out: Path, module: str, golden: Path, packed: bool) -> None:
    """A main beside the planned files; its program writes to ./results_MODULE."""
    plan_value = json.loads((out / f"{module}.plan.json").read_text())
    header = (out / f"codegen/host/include/tvmgen_{sanitised(module)}.h").read_text()
    constants = (out / f"codegen/host/include/tvmgen_{sanitised(module)}.constants.h").exists()
    (out / f"main_{module}.c").write_text(
        firmware_main(module, header, constants, plan_value, golden.resolve(), Path(f"results_{module}"), packed))


def run_sanitized(command: list, program: Path, **options) -> subprocess.CompletedProcess:
    """Runs what the command builds. Where that fails in silence, it is built again to say why."""
    run(command)
    try:
        return run([program], **options)
    except Failure:
        if SILENT in command:
            run([word for word in command if word != SILENT])
            run([program], **options)
        raise


def build_and_run(out: Path, module: str, golden: Path, compiler: list[str], one_unit: bool = False) -> None:
    """Compiles a module's planned files with their main, runs them and compares, unless the compiler only checks.

    In one unit this takes two thirds of the time, most of which a small file costs GCC by itself.
    """
    files = [*sorted((out / "codegen/host/src").glob(f"{module}_lib*.c")), *out.glob("codegen/host/src/usmp_pools.c"), out / f"main_{module}.c"]
    not_cpp = ("-Wmissing-prototypes", "-Wstrict-prototypes")
    warnings = [flag for flag in WARNINGS if flag not in not_cpp or "-std=c++11" not in compiler]
    in_front = [word for file in files[:-1] for word in ("-include", file)] if one_unit else files[:-1]
    command = [*compiler, *warnings, "-I", out / "codegen/host/include", *in_front, files[-1]]
    if "-fsyntax-only" in compiler:
        run(command)
        return
    program, results = out / f"run_{module}", out / f"results_{module}"
    results.mkdir(exist_ok=True)
    run_sanitized([*command, "-lm", "-o", program], program, cwd=out, env=NO_LEAKS)
    for name, tensor in json.loads((golden / "io.json").read_text())["outputs"].items():
        compare(golden, results, name, tensor["dtype"], golden.name.removesuffix(".golden"))


def digest_of(out: Path) -> str:
    """Digests the C that is written below the directory, mains included: equal C need not be built and run again."""
    digest = hashlib.sha256()
    for file in sorted(out.rglob("*.[ch]")):
        digest.update(f"{file.relative_to(out)} {file.stat().st_size}\n".encode() + file.read_bytes())
    return digest.hexdigest()


class Built:
    """What was built and run: algorithms often find the same plan."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, ...]] = set()
        self.lock = threading.Lock()

    def is_new(self, *key: str) -> bool:
        with self.lock:
            is_new = key not in self.seen
            self.seen.add(key)
            return is_new


def run_case(binary: Path, case: Case, packed: bool, built: Built) -> None:
    with tempfile.TemporaryDirectory(prefix="usmp-e2e-") as temporary:
        out = plan(binary, case, Path(temporary))
        check_no_workspace_calls(out / "codegen/host/src")
        for module, golden in case.model.golden.items():
            write_main(out, module, golden, packed)
            for compiler in case.compilers:
                if built.is_new(digest_of(out), module, *compiler):
                    build_and_run(out, module, golden, compiler, one_unit=len(case.compilers) == 1)


def but_not_of(folder: Path | None, paths: list[Path]) -> list[Path]:
    """Those that do not stand in the folder, too, byte for byte: they are run there."""
    contents = {path.read_bytes() for path in folder.glob("*.tar")} if folder else set()
    return [path for path in paths if path.read_bytes() not in contents]


def models_below(root: Path, suffix: str = ".tar") -> list[Model]:
    models = []
    for path in sorted(root.rglob(f"*{suffix}")):
        golden = path.with_name(path.name.removesuffix(suffix) + ".golden")
        if golden.is_dir():
            models.append(Model(path, {"default": golden}))
    return models


def tflite_models(root: Path, folder: Path, name: str = "*") -> list[Model]:
    """TensorFlow Lite models of this name, with golden files as archives have them, made below `folder`: of the first run after a reset."""
    models = []
    for path in sorted(root.rglob(f"{name}.tflite")):
        io = tflite.described(path.with_suffix(".golden"))
        golden = folder / path.stem
        golden.mkdir()
        described: dict[str, dict] = {}
        for side, prefix in (("inputs", "in"), ("outputs", "out")):
            described[side] = {f"{prefix}{k}": {"dtype": tensor["type"], "size": tensor["size"]} for k, tensor in enumerate(io[side])}
            for name in described[side]:
                shutil.copy(path.with_suffix(".golden") / f"{name}.0.bin", golden / f"{name}.{prefix}.bin")
        (golden / "io.json").write_text(json.dumps(described))
        models.append(Model(path, {sanitised(path.stem): golden}))
    return models


def shared_models(shared: Path) -> list[Model]:
    archives = shared / "archives"
    models = models_below(archives)
    own = archives / "own"
    variants = archives / "variants"
    for name in ("resnet8_packed", "resnet8_nolink"):
        models.append(Model(variants / f"{name}.tar", {"default": own / "resnet8.golden"}))
    models.append(Model(variants / "two_models.tar", {"resnet8": own / "resnet8.golden", "ds_cnn": own / "ds_cnn.golden"}))
    return models


def files_digest(model: Model) -> str:
    """Digests the archive and its golden files."""
    digest = hashlib.sha256(model.path.read_bytes())
    for module, directory in sorted(model.golden.items()):
        digest.update(module.encode())
        for file in sorted(directory.iterdir()):
            digest.update(f"{file.name} {file.stat().st_size}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def cases_of(models: list[Model], names: list[str], full: bool, compilers: list[list[str]], extra: list[list[str]], transform: str = "",
             in_turn: bool = False) -> list[Case]:
    cases = []
    for index, model in enumerate(models):
        chosen = []
        for algorithm, pools, io in itertools.product(names, POOLS, (False, True)):
            # A quick run takes each algorithm, each pools file and both placements, but not their product.
            quick = (algorithm, pools, io) in {("optimal", "default", False), ("greedy_by_size", "bounded", True),
                                               ("greedy_by_conflicts", "flash", False), ("none", "internal", False),
                                               ("optimal", "bounded", False), ("optimal", "one", True)}
            # A plan that the verifier accepts is a plan, whoever made it: these meet the hardest pools files only, each on
            # every other archive.
            many = algorithm in ("optimal", "greedy_by_size", "none") or (pools in ("bounded", "pinned") and
                                                                          (names.index(algorithm) + index) % 2 == 0)
            if quick or (full and many):
                chosen.append((algorithm, pools, io))
        if in_turn:
            chosen = chosen[(index + 1) % 2::2]
        for number, case in enumerate(chosen):
            warn = number == 0 or (case == ("greedy_by_conflicts", "flash", False) and not in_turn)
            cases.append(Case(model, *case, compilers + (extra if warn else []), transform))
    return cases


def run_all(cases: list, run: Callable[[Any], None], jobs: int) -> int:
    """Runs and counts the cases, of which each has a label(); every one that fails is shown. The exit code."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(run, case): case for case in cases}
        for future in concurrent.futures.as_completed(futures):
            try:
                future.result()
            except Exception as error:
                failed += 1
                print(f"FAILED {futures[future].label()}\n{error if isinstance(error, Failure) else repr(error)}\n", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("roots", nargs="+", type=Path, help="testdata, or the shared folder")
    parser.add_argument("--full", action="store_true", help="the product of algorithms, pools and placements")
    parser.add_argument("--pools", default=",".join(POOLS), help="with --full: these pools files, comma separated")
    parser.add_argument("--only", default="", help="archives whose path contains this")
    parser.add_argument("--but-not-of", type=Path, help="leave out archives that stand there, too, byte for byte, with equal golden files")
    parser.add_argument("--in-turn", action="store_true", help="every other case of an archive")
    parser.add_argument("--transform", default="", help="steps of transformation: none, all or their names")
    parser.add_argument("--optimize", default="1", help="optimisation level of the compiler")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    models = []
    for root in arguments.roots:
        models += shared_models(root) if (root / "archives").is_dir() else models_below(root)
    models = [model for model in models if arguments.only in str(model.path)]
    if arguments.but_not_of:
        run_elsewhere = {files_digest(model) for model in models_below(arguments.but_not_of)}
        models = [model for model in models if files_digest(model) not in run_elsewhere]
    if not models:
        print("no archive to run")
        return 1
    gcc = [*GCC, f"-O{arguments.optimize}", *SANITIZE]
    # Other compilers and languages: warnings only.
    extra = [["g++", "-xc++", "-std=c++11", "-fsyntax-only"]]
    if shutil.which("clang"):
        extra.append(["clang", "-std=c99", "-D_POSIX_C_SOURCE=200112L", "-fsyntax-only"])
        extra.append(["clang", "-xc++", "-std=c++11", "-fsyntax-only"])
    binary = arguments.binary.resolve()
    cases = cases_of(models, algorithms(binary), arguments.full, [gcc], extra, arguments.transform, arguments.in_turn)
    cases = [case for case in cases if case.pools in arguments.pools.split(",")]
    built = Built()
    failed = run_all(cases, lambda case: run_case(binary, case, case.model.name.endswith("_packed"), built), arguments.jobs)
    print(f"{len(built.seen)} different programs built")
    return failed


if __name__ == "__main__":
    sys.exit(main())
