#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Instructions of an inference on emulated microcontrollers, in millions.

Each archive, with a folder of golden files beside it, is planned and compiled for each core at each level and run under
qemu, which counts a nanosecond an instruction (-icount shift=0); outputs are compared. With --nests also those of each loop
nest, which is a function of the emitted C. With --tvm also those of the archive's own C, and the ratio to them. With --check
the estimates of the plans are held against the counts: at -O2 they are from 15 % below to half above (programs of 10000
instructions and more).

Without a core's compiler or qemu: exit code 77.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/e2e"))
import firmware
import golden
from golden import Failure, run

SHIM = Path(__file__).resolve().parent / "tvm_shim"
CORTEX = "arm-none-eabi-gcc", "-specs=nosys.specs"
RISCV = "riscv64-unknown-elf-gcc", "-specs=picolibc.specs"
# Compiler, its flags, the example's folder, the emulator.
CORES = {
    "cortex-m0plus": (*CORTEX, "-mcpu=cortex-m0plus -mthumb", "cortex_m", "qemu-system-arm -M mps2-an385"),
    "cortex-m3": (*CORTEX, "-mcpu=cortex-m3 -mthumb", "cortex_m", "qemu-system-arm -M mps2-an385"),
    "cortex-m4": (*CORTEX, "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "cortex_m", "qemu-system-arm -M mps2-an386"),
    "cortex-m7": (*CORTEX, "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16", "cortex_m", "qemu-system-arm -M mps2-an500"),
    "cortex-m55": (*CORTEX, "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "cortex_m55", "qemu-system-arm -M mps3-an547"),
    "rv32imc": (*RISCV, "-march=rv32imc -mabi=ilp32", "riscv", "qemu-system-riscv32 -M virt -bios none"),
}
# For the program's others there is no emulator here; their estimates are those of a Cortex-M4 or M55.
UNMEASURED = {"generic", "cortex-m33", "cortex-m52", "cortex-m85"}
MAIN = r"""
#include "firmware.h"
#if defined(__riscv)
uint32_t ticks(void) { uint32_t value; __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, mcycle\n.option pop" : "=r"(value)); return value; }
static void start_ticks(void) {}
static uint32_t instructions(uint32_t count) { return count; }
#elif defined(__ARM_FEATURE_MVE) /* SysTick, of 24 bits at 32 MHz */
static uint32_t instructions(uint32_t count) { return (count & 0xffffff) / 4 * 125 + (count & 3) * 125 / 4; }
uint32_t ticks(void) { return 0xffffff - *(volatile uint32_t*)0xe000e018; }
static void start_ticks(void) { *(volatile uint32_t*)0xe000e014 = 0xffffff; *(volatile uint32_t*)0xe000e018 = 0; *(volatile uint32_t*)0xe000e010 = 5; }
#else /* a timer of 25 MHz */
static uint32_t instructions(uint32_t count) { return count * 40; }
uint32_t ticks(void) { return 0xffffffff - *(volatile uint32_t*)0x40000004; }
static void start_ticks(void) { *(volatile uint32_t*)0x40000008 = 0xffffffff; *(volatile uint32_t*)0x40000004 = 0xffffffff; *(volatile uint32_t*)0x40000000 = 1; }
#endif
unsigned wrong_float32(const void* a, const void* g, size_t n) { (void)a; (void)g; (void)n; return 0; }
unsigned wrong_int8(const void* a, const void* g, size_t n, int t) {
  unsigned wrong = 0;
  for (size_t i = 0; i < n; ++i) { const int d = ((const int8_t*)a)[i] - ((const int8_t*)g)[i]; wrong += d < -t || d > t; }
  return wrong;
}
unsigned wrong_bytes(const void* a, const void* g, size_t n) { return wrong_int8(a, g, n, 0); }
static void print(const char* name, uint32_t count) {
  char text[12]; char* at = text + sizeof text; *--at = 0;
  do *--at = (char)('0' + count % 10); while (count /= 10);
  board_print(name); board_print(" "); board_print(at); board_print("\n");
}
uint32_t counted[NESTS + 1];
const char* const names[NESTS + 1] = {NAMES 0};
int main(void) {
  models[0].write_inputs();
  if (models[0].run() != 0 || models[0].wrong_outputs() != 0) return 1;
  start_ticks();
  for (unsigned i = 0; i < NESTS; ++i) counted[i] = 0;
  const uint32_t before = ticks();
  if (models[0].run() != 0) return 1;
  print("all", instructions(ticks() - before));
  for (unsigned i = 0; i < NESTS; ++i) print(names[i], instructions(counted[i]));
  return 0;
}
"""


def with_counters(text: str) -> tuple[str, list[str]]:
    """Calls of nests count what they take."""
    names: list[str] = []

    def counted(found: re.Match) -> str:
        name = found.group(2)
        if name not in names:
            names.append(name)
        return f"{found.group(1)}{{ const uint32_t t = ticks(); {found.group(2)}{found.group(3)} counted[{names.index(name)}] += ticks() - t; }}"

    text = re.sub(r"(?m)^( +)(\w+_nest\d+)(\(.*\);)$", counted, text)
    head = "#include <stdint.h>\nuint32_t ticks(void);\nextern uint32_t counted[];\n"
    return head + text, names


# For TVM's C, which takes and gives back in turn.
WORKSPACE = """#include <tvm/runtime/c_runtime_api.h>
static uint8_t workspace[3 << 20] __attribute__((aligned(64), section(".workspace")));
static size_t top, marks[256];
static int held;
void* TVMBackendAllocWorkspace(int type, int id, uint64_t bytes, int code, int bits) {
  (void)type; (void)id; (void)code; (void)bits;
  marks[held++] = top;
  top += ((size_t)bytes + 15) / 16 * 16;
  return top > sizeof workspace ? (void*)0 : workspace + marks[held - 1];
}
int TVMBackendFreeWorkspace(int type, int id, void* at) { (void)type; (void)id; (void)at; top = marks[--held]; return 0; }
"""


def measure(binary: Path, model: golden.Model, core: str, level: str, options: list[str], nests: bool, is_tvm: bool) -> dict[str, int]:
    compiler, specs, flags, example, emulator = CORES[core]
    with tempfile.TemporaryDirectory(prefix="usmp-instructions-") as temporary:
        folder = Path(temporary)
        planned = folder / "planned"
        run([binary, model.path, *options, "-o", planned, "--quiet"])
        # No pool has a section of its own.
        (folder / "memory.ld").write_text(".workspace (NOLOAD) : { *(.workspace) } > SRAM\n" if is_tvm else "")
        models, plans = firmware.models_file(planned, [model], sections=False)
        (folder / "models.c").write_text(models.text())
        names: list[str] = []
        for file in (planned / "codegen/host/src").glob("*_lib1.c"):
            check_pairs(file)
            if nests:
                text, names = with_counters(file.read_text())
                file.write_text(text)
        (folder / "main.c").write_text(MAIN.replace("NESTS + 1", f"{len(names) + 1}").replace("NESTS", str(len(names)))
                                       .replace("NAMES", "".join(f'"{name}", ' for name in names)))
        board = (firmware.EXAMPLE / example / "board.ld").read_text()
        (folder / "board.ld").write_text(board)
        code = planned / "codegen/host"
        own = [folder / "models.c", folder / "main.c", firmware.EXAMPLE / example / "start.c"]
        if is_tvm:
            with tarfile.open(model.path) as archive:
                archive.extractall(folder / "archive")
            code = folder / "archive/codegen/host"
            own.append(folder / "workspace.c")
            own[-1].write_text(WORKSPACE)
        objects = []
        for source in [*sorted((code / "src").glob("*.c")), *own]:
            objects.append(folder / f"{source.stem}.o")
            run([compiler, *flags.split(), specs, level, "-std=gnu99", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections", "-w",
                 "-I", code / "include", "-I", SHIM, "-I", firmware.EXAMPLE, "-c", source, "-o", objects[-1]])
        run([compiler, *flags.split(), specs, *firmware.LINK, *objects, "-L", firmware.EXAMPLE, "-L", folder, "-T", folder / "board.ld", "-lm", "-o", folder / "firmware.elf"])
        done = run([*emulator.split(), "-icount", "shift=0", "-display", "none", "-semihosting-config", "enable=on,target=native",
                    "-kernel", folder / "firmware.elf"])
        counts = {name: int(count) for name, count in re.findall(r"(\w+) (\d+)", done.stdout + done.stderr)}
        counts["estimate"] = sum(plan["totals"]["instructions"] or 0 for plan in plans.values())
        check_parts(plans)
        return counts


def check_pairs(file: Path) -> None:
    """No operator takes pairs of weights apart: all are multiplied by helpers, which stand in front."""
    text = file.read_text()
    operators = re.search(r"^(static |int32_t ).*\btvmgen_\w+\(", text, re.MULTILINE)
    if "usmp_paired_weight(" in text[operators.start():]:
        raise Failure(f"{file.name}: an operator takes pairs of weights apart")


def check_parts(plans: dict[str, dict]) -> None:
    """Operators take almost all instructions of calls that compute them by rows."""
    for plan in plans.values():
        for call in plan["calls"]:
            parts = [part.get("instructions", 0) for part in call.get("by_rows", [])]
            if parts and call["instructions"] and not 0.8 * call["instructions"] <= sum(parts) <= call["instructions"]:
                raise Failure(f"{call['callee']}: of {call['instructions']} estimated instructions operators take {parts}")


def missing_tools(cores: list[str]) -> list[str]:
    """Those of the tools that compile for the cores and emulate them."""
    return sorted({tool for core in cores for tool in (CORES[core][0], CORES[core][4].split()[0]) if not shutil.which(tool)})


def is_good_estimate(estimate: int, counted: int) -> bool:
    return 0.85 * counted <= estimate <= 1.5 * counted


def all_cores(binary: Path) -> list[str]:
    """Those of the program that are measured; it must not have any that nobody thought of."""
    compared = json.loads(run([binary, "compare", golden.TESTDATA / "cast_subtract.tar", "--cpu", "all", "--json"]).stdout)
    cores = [point["core"] for point in compared["modules"][0]["points"]]
    if unknown := set(cores) - set(CORES) - UNMEASURED:
        raise Failure(f"no compiler and no emulator is known for {', '.join(sorted(unknown))}")
    return [core for core in cores if core in CORES]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("folder", type=Path, help="with archives and their golden files")
    parser.add_argument("--only", default="", help="names of archives, with commas between")
    parser.add_argument("--tflite", default="*", help="names of TensorFlow Lite models, as a shell's pattern")
    parser.add_argument("--cores", default="cortex-m4", help=f"some of {','.join(CORES)}, or all")
    parser.add_argument("--levels", default="-O2")
    parser.add_argument("--options", default="", help="of usmp-plan")
    parser.add_argument("--nests", action="store_true")
    parser.add_argument("--tvm", action="store_true", help="the archive's own C as well")
    parser.add_argument("--check", action="store_true", help="the estimates")
    arguments = parser.parse_args()
    cores = all_cores(arguments.binary.resolve()) if arguments.cores == "all" else arguments.cores.split(",")
    if missing := missing_tools(cores):
        print(f"not installed: {', '.join(missing)}")
        return 77
    wrong = 0
    temporary = tempfile.TemporaryDirectory(prefix="usmp-golden-")
    for model in golden.models_below(arguments.folder) + golden.tflite_models(arguments.folder, Path(temporary.name), arguments.tflite):
        if arguments.only and model.name not in arguments.only.split(","):
            continue
        for core in cores:
            for level in arguments.levels.split(","):
                try:
                    def measured(nests: bool, is_tvm: bool) -> dict[str, int]:
                        return measure(arguments.binary.resolve(), model, core, level, ["--cpu", core, *arguments.options.split()], nests, is_tvm)

                    counts = measured(arguments.nests, False)
                    tvm = measured(False, True)["all"] if arguments.tvm else None
                except Failure as failure:
                    print(f"{model.name:16} {core:14} {level:4} {str(failure).splitlines()[-1]}")
                    wrong += 1
                    continue
                estimate = counts.pop("estimate")
                if arguments.check and counts["all"] > 10000 and not is_good_estimate(estimate, counts["all"]):
                    print(f"{model.name}, {core}: the estimate is {estimate}")
                    wrong += 1
                for name, count in counts.items():
                    print(f"{model.name:16} {core:14} {level:4} {count / 1e6:9.3f} M  "
                          f"{name if name != 'all' else f'TVM {tvm / 1e6:9.3f} M  ratio {count / tvm:.3f}' if tvm else ''}".rstrip(), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
