#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Plans the C of archives in the layouts in which source trees hold it: other directories, other names, one kernel a file, the
whole model in one file, another module name, formatted anew, with and without metadata.json.

Each layout has to give the workspace that the archive's own C gives, and what comes out runs on the golden files. With --in-place
a firmware around the C is built and run before and after, by the same command on the same files.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import golden

Files = dict[str, str]  # text by path
SHIM = Path(__file__).parents[2] / "bench/tvm_shim"
MODELS = ("cast_subtract", "lstm", "repeated_op")


@dataclass
class Stock:
    """What TVM wrote of a model."""
    entry: str
    operators: str
    header: str
    metadata: str


@dataclass
class Case:
    archive: Path
    golden: Path
    layout: str
    metadata: bool

    def label(self) -> str:
        return f"{self.archive.stem} {self.layout}{' with metadata.json' if self.metadata else ''}"


def stock_of(archive: Path) -> Stock:
    with tarfile.open(archive) as tar:
        def text(name: str) -> str:
            return tar.extractfile(f"./{name}").read().decode()
        source = "codegen/host/src/default_lib"
        return Stock(text(f"{source}0.c"), text(f"{source}1.c"), text("codegen/host/include/tvmgen_default.h"), text("metadata.json"))


def placed(sources: str, headers: str) -> Callable[[Stock], Files]:
    return lambda stock: {f"{sources}/default_lib0.c": stock.entry, f"{sources}/default_lib1.c": stock.operators,
                          f"{headers}/tvmgen_default.h": stock.header}


def one_file(stock: Stock) -> Files:
    # TVM's prototype has other parameters than the function, which one file must not say.
    entry = re.sub(r"TVM_DLL int32_t \w+___tvm_main__\([^)]*\);\n", "", stock.entry)
    return {"ml/model.c": f"{stock.operators}\n{entry}", "ml/tvmgen_default.h": stock.header}


def a_kernel_a_file(stock: Stock) -> Files:
    """lib0 … in an order that says nothing, each with the constants that it uses."""
    head, _, rest = stock.operators.partition("\n#ifdef __cplusplus\n")
    parts = re.split(r"(?<=\n)(?=#ifdef __cplusplus\nextern \"C\")", f"#ifdef __cplusplus\n{rest}")
    tables = [part for part in parts if "static const" in part]
    kernels = [part for part in parts if part not in tables]
    files = {"ml/tvmgen_default.h": stock.header}
    for number, kernel in enumerate(sorted(kernels, key=len, reverse=True)):
        used = [table for table in tables if re.search(r"\b%s\b" % re.search(r"(\w+)\[\d+\] =", table).group(1), kernel)]
        files[f"ml/default_lib{number}.c"] = "\n".join([head, *used, kernel])
    return files | {f"ml/default_lib{len(kernels)}.c": stock.entry}


def renamed(stock: Stock) -> Files:
    def text(of: str) -> str:
        return of.replace("tvmgen_default", "tvmgen_kws").replace("TVMGEN_DEFAULT", "TVMGEN_KWS")
    return {"kws/src/kws_lib0.c": text(stock.entry), "kws/src/kws_lib1.c": text(stock.operators),
            "kws/include/tvmgen_kws.h": text(stock.header)}


def formatted(style: str) -> Callable[[Stock], Files]:
    def files(stock: Stock) -> Files:
        result = {}
        for path, text in placed("codegen/host/src", "codegen/host/include")(stock).items():
            done = subprocess.run(["clang-format", f"--style={style}", f"--assume-filename={path}"], input=text, text=True,
                                  capture_output=True, check=True)
            result[path] = f"/* (c) somebody */\n\n{done.stdout}"
        return result
    return files


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\d(?:[eEpP][+-]|[\w.])*|<<|>>|[<>=!]=|&&|\|\||\+\+|--|->|\n|[ \t]+|.', re.S)


def commented(stock: Stock) -> Files:
    """Comments and line breaks between tokens, but not in directives; files begin and lines end as on Windows."""
    numbers = random.Random(1)
    gaps = [" /* x */ ", " // for (;;) {\n", "\n", "\t", " /* \" ' \n * don't */ ", "\f"]

    def text(of: str) -> str:
        result, is_directive, begins_line = [], False, True
        for token in TOKEN.findall(of):
            is_directive = token != "\n" and (is_directive or (begins_line and token == "#"))
            begins_line = token == "\n" or (begins_line and not token.strip())
            result.append(token)
            if not is_directive and not token.startswith(("//", "/*")) and numbers.random() < 0.05:
                result.append(numbers.choice(gaps))
        return "\ufeff" + "".join(result).replace("\n", "\r\n")

    files = placed("codegen/host/src", "codegen/host/include")(stock)
    return {path: content if path.endswith(".h") else text(content) for path, content in files.items()}


def by_tvm_0_8(stock: Stock) -> Files:
    """Another name of the entry, calls that are not checked, brackets around indices."""
    def text(of: str) -> str:
        of = of.replace("___tvm_main__", "_run_model")
        of = re.sub(r"if \((tvmgen_\w+\(.*\)) != 0 \) return -1;", r"(void)\1;", of)
        return re.sub(r"\[([^\[\]\n;]+)\](?=[^{};]*[;)\]])", r"[(\1)]", of)
    return {path: text(content) for path, content in placed("codegen/host/src", "codegen/host/include")(stock).items()}


TABLE = re.compile(r'static const (\w+) __attribute__\(\([^;{]*\)\) (\w+)\[(\d+)\] = \{(.*?)\};', re.S)


def with_headers(stock: Stock) -> Files:
    """Constants and a size in headers, one of them elsewhere."""
    constants = "".join(f"static const {type_} {name}[] __attribute__((aligned(16))) = {{{values}}};\n"
                        for type_, name, _, values in TABLE.findall(stock.operators))
    number = re.search(r"\w+ < (\d+);", stock.operators)[1]
    operators = re.sub(rf"< {number};", "< MODEL_SIZE;", TABLE.sub("", stock.operators))
    operators = operators.replace("#include <math.h>", '#include <math.h>\n#include "model_constants.h"\n#include "model_sizes.h"', 1)
    return {"ml/src/default_lib0.c": stock.entry, "ml/src/default_lib1.c": operators, "ml/src/tvmgen_default.h": stock.header,
            "ml/src/model_sizes.h": f"#ifndef SIZES_H\n#define SIZES_H\n#define MODEL_SIZE {number}\n#endif\n",
            "ml/src/model_constants.h": f"#pragma once\n#include <stdint.h>\n{constants}"}


def with_constants_elsewhere(stock: Stock) -> Files:
    """Constants in a C file of their own."""
    constants = "".join(f"const {type_} {name}[{size}] = {{{values}}};\n" for type_, name, size, values in TABLE.findall(stock.operators))
    files = placed("ml", "ml")(Stock(stock.entry, TABLE.sub(r"extern const \1 \2[\3];", stock.operators), stock.header, stock.metadata))
    return files | {"ml/weights.c": f"#include <stdint.h>\n{constants}"}


def by_people(stock: Stock) -> Files:
    """Tables and checks as they are edited by hand; the old text behind #if 0."""
    operators = TABLE.sub(r"#define N_\2 \3\nstatic const \1 \2[N_\2] PROGMEM = {\4};", stock.operators)
    operators = re.sub(r"if \((sid_\d+) == NULL\)", r"if (!\1)", operators)
    head = "#ifndef PROGMEM\n#define PROGMEM\n#endif\n"
    return placed("ml", "ml")(Stock(stock.entry, f"{head}{operators}\n#if 0\n{operators}\n#endif\n", stock.header, stock.metadata))


def with_placements(stock: Stock) -> Files:
    """Macros and conditions say where functions and tables are, beside something that stays."""
    head = "#ifdef __has_include\n#define IRAM_ATTR __attribute__((noinline))\n#else\n#define IRAM_ATTR\n#endif\n"
    first = "#if defined(__APPLE__)\n__attribute__((section(\"__DATA,.tvm\"))) static const\n#else\nstatic const\n#endif\n"
    operators = re.sub(r"TVM_DLL int32_t (tvmgen_\w+_main__)", r"IRAM_ATTR TVM_DLL int32_t \1", stock.operators)
    operators = re.sub(r"(?<!IRAM_ATTR )TVM_DLL", "\n#ifdef ESP32\nSLOW_ATTR\n#endif\nTVM_DLL", TABLE.sub(
        lambda found: found[0].replace("static const", first, 1), operators))
    return placed("ml", "ml")(Stock(stock.entry, f"{head}{operators}\nint added;\n", stock.header, stock.metadata))


LAYOUTS: dict[str, Callable[[Stock], Files]] = {
    "codegen/host": placed("model/codegen/host/src", "model/codegen/host/include"),
    "codegen/src, inc": placed("codegen/src", "codegen/inc"),
    "host/src": placed("host/src", "host/include"),
    "codegen/MODULE": placed("codegen/default/src", "codegen/default/include"),
    "Core/Src, Inc": placed("Core/Src", "Core/Inc"),
    "flat": placed("ml", "ml"),
    "one file": one_file,
    "a kernel a file": a_kernel_a_file,
    "one file beside metadata.json": lambda stock: {
        (path.replace("ml/", "codegen/host/src/") if path.endswith(".c") else path.replace("ml/", "codegen/host/include/")): text
        for path, text in one_file(stock).items()},
    "another module name": renamed,
    "Google's format": formatted("Google"),
    "GNU's format": formatted("GNU"),
    "comments anywhere": commented,
    "TVM 0.8": by_tvm_0_8,
    "constants and sizes in headers": with_headers,
    "edited by hand": by_people,
    "placed by macros and conditions": with_placements,
    "constants in a file of their own": with_constants_elsewhere,
}


RUNTIME = """#include "tvmgen_MODULE.h"
#include <stddef.h>
#include <stdint.h>
static uint8_t arena[TVMGEN_MACRO_WORKSPACE_SIZE + 4096] __attribute__((aligned(16)));
static size_t top;
int64_t workspace_of_macro = TVMGEN_MACRO_WORKSPACE_SIZE;
void* TVMBackendAllocWorkspace(int type, int id, uint64_t size, int code, int bits) {
  size_t begin = top;
  (void)type, (void)id, (void)code, (void)bits;
  if (size > sizeof arena - top) return NULL;
  top += (size_t)(size + 15) / 16 * 16;
  return arena + begin;
}
int TVMBackendFreeWorkspace(int type, int id, void* place) {
  size_t begin = (size_t)((uintptr_t)place - (uintptr_t)arena);
  (void)type, (void)id;
  if (begin >= top) return -1;  // nothing that it has given, or given back before
  top = begin;
  return 0;
}
"""


def write_tree(root: Path, files: Files) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")


def module_of(files: Files) -> str:
    return next(re.search(r"tvmgen_(\w+)\.h$", name).group(1) for name in files if name.endswith(".h"))


def workspace(binary: Path, model: Path, out: Path, module: str, options: tuple[str, ...] = ()) -> int:
    golden.run([binary, model, "-o", out, "--quiet", *options])
    return sum(pool["used"] for pool in json.loads((out / f"{module}.plan.json").read_text())["pools"] if pool["kind"] == "workspace")


def run_case(binary: Path, case: Case, directory: Path, built: golden.Built) -> None:
    stock = stock_of(case.archive)
    files = LAYOUTS[case.layout](stock)
    module = module_of(files)
    if case.metadata:
        files["metadata.json"] = stock.metadata.replace('"default"', f'"{module}"')
    # Beside it stands what is no model: the firmware's own sources.
    files["app/main.c"] = f'#include "tvmgen_{module}.h"\nint main(void) {{ return tvmgen_{module}_run(0, 0); }}\n'
    tree = directory / "tree"
    write_tree(tree, files)
    expected = workspace(binary, case.archive, directory / "archive", "default", ("--from", "c"))
    out = directory / "planned"
    found = workspace(binary, tree, out, module)
    if found != expected:
        raise golden.Failure(f"{found} bytes, {expected} from the archive's C")
    golden.check_no_workspace_calls(out / "codegen/host/src")
    golden.write_main(out, module, case.golden, packed=False)
    if built.is_new(golden.digest_of(out)):  # layouts come to the same C
        golden.build_and_run(out, module, case.golden, [*golden.GCC, "-O0", *golden.SANITIZE], one_unit=True)
    check_names(out, module, found)
    run_in_place(binary, case, directory, files, module, built)


def check_names(out: Path, module: str, used: int) -> None:
    """The entry, which has other parameters if anything is in its pool, has its name for firmware no more."""
    if not used:
        return
    entry = next(out.rglob(f"{module}_lib1.c"))
    program = entry.with_suffix(".o")
    golden.run([*golden.GCC, "-w", "-I", out / "codegen/host/include", "-c", entry, "-o", program])
    names = re.findall(r" T (\w+)", golden.run(["nm", program]).stdout)
    if not [name for name in names if name.startswith(f"usmp_tvmgen_{module}")] or [name for name in names if name.startswith("tvmgen_")]:
        raise golden.Failure(f"names that firmware may link with: {names}")


def build_and_run(directory: Path, tree: Path, files: Files, case: Case, module: str, checks: list[str], built: golden.Built) -> None:
    """The firmware: main and an allocator around the model's C, once for equal files."""
    if not built.is_new(golden.digest_of(tree), *checks):
        return
    sources = [tree / name for name in files if name.endswith(".c") and not name.startswith("app/")]
    headers = next((tree / name).parent for name in files if name.endswith(".h"))
    firmware = directory / "firmware"
    program, results = firmware / "run", firmware / f"results_{module}"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    golden.run_sanitized([*golden.GCC, "-O0", "-w", *checks, "-I", headers, "-I", SHIM, *sources, *sorted(firmware.glob("*.c")),
                          "-lm", "-o", program], program, cwd=firmware)
    for name, tensor in json.loads((case.golden / "io.json").read_text())["outputs"].items():
        golden.compare(case.golden, results, name, tensor["dtype"], case.archive.stem)


def refused(command: list, expected: str) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode == 0 or expected not in done.stderr:
        raise golden.Failure(f"exit code {done.returncode}, expected '{expected}': {done.stderr}")


def in_git(tree: Path, *arguments: str) -> None:
    golden.run(["git", "-C", tree, "-c", "user.name=test", "-c", "user.email=test@example.org", *arguments])


def run_in_place(binary: Path, case: Case, directory: Path, files: Files, module: str, built: golden.Built) -> None:
    tree, firmware, plan_json = directory / "tree", directory / "firmware", directory / "plan.json"
    firmware.mkdir()
    header = next(text for name, text in files.items() if name.endswith(".h"))
    (firmware / "main.c").write_text(golden.firmware_main(module, header, False, {"pools": [], "workspace_io": False},
                                                          case.golden.resolve(), Path(f"results_{module}"), False))
    (firmware / "runtime.c").write_text(RUNTIME.replace("MODULE", module).replace("MACRO", module.upper()))
    build_and_run(directory, tree, files, case, module, [], built)  # TVM's own C
    in_git(tree, "init", "-q")
    in_git(tree, "add", ".")
    refused([binary, tree, "--in-place"], "git has uncommitted changes")
    in_git(tree, "commit", "-q", "-m", "TVM's C")
    golden.run([binary, tree, "--in-place", "--plan-json", plan_json, "--quiet"])
    for section in (".bss.noinit.tvm", ".data.tvm", ".rodata.tvm"):
        had, has = (any(f'"{section}"' in text for text in texts) for texts in
                    (files.values(), (path.read_text() for path in tree.rglob("*.c"))))
        if had != has:
            raise golden.Failure(f"--in-place: section {section} {'is lost' if had else 'is new'}")
    found = sorted(str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts)
    if found != sorted(files):
        raise golden.Failure(f"--in-place: files {found}, expected {sorted(files)}")
    plan_value = json.loads(plan_json.read_text())
    used = sum(pool["used"] for pool in plan_value["pools"] if pool["kind"] == "workspace")
    macro = f"TVMGEN_{module.upper()}_WORKSPACE_SIZE {used}\n"
    if not any(macro in path.read_text() for path in tree.rglob("*.h")):
        raise golden.Failure(f"--in-place: no header has {macro}")
    build_and_run(directory, tree, files, case, module, golden.SANITIZE, built)
    refused([binary, tree, "--in-place"], "found C that usmp-plan wrote")
    refused([binary, tree, "-o", directory / "again"], "found C that usmp-plan wrote, expected TVM's")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("root", type=Path, help="testdata")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    layouts = [name for name in LAYOUTS if "format" not in name or shutil.which("clang-format")]
    cases = [Case(arguments.root / f"{model}.tar", arguments.root / f"{model}.golden", layout, metadata)
             for model in MODELS for layout in layouts for metadata in (False, True)
             if not metadata or (model == "repeated_op" and layout != "TVM 0.8")]  # it says another version
    cases = [case for case in cases if arguments.only in case.label()]
    with tempfile.TemporaryDirectory(prefix="usmp-checkouts-") as temporary:
        directories = {id(case): Path(temporary) / str(i) for i, case in enumerate(cases)}
        for directory in directories.values():
            directory.mkdir()
        built = golden.Built()
        return golden.run_all(cases, lambda case: run_case(binary, case, directories[id(case)], built), arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
