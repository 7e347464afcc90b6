#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Firmware with planned models, built from examples/firmware and run under qemu.

For every archive, board and placement: the C is planned into two pools, the first too small for everything, and linked with
start-up code, linker script and main of the example. On the target each model runs twice on its golden inputs, over pools
full of garbage; outputs are compared there, and the stack is measured. Here

- the RAM of the linker's map, pool by pool and together, equals the plan and the report to the byte;
- the stack that was measured is at most the plan's estimate, and at most 720 bytes below it for the archives of testdata,
  apart from frames of functions that are not the model's, which GCC states (-fstack-usage). Models that call the C library
  are only run.

Without a board's compiler or qemu: exit code 77, or with --required a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import golden
from golden import Failure, Model, run, sanitised, struct_members

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/firmware"
# The C library is linked for memcpy and the functions of math.h.
BOARDS = {
    "mps2-an386": ("cortex_m", "arm-none-eabi-gcc", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -specs=nosys.specs",
                   "qemu-system-arm -M mps2-an386"),
    "mps2-an500": ("cortex_m", "arm-none-eabi-gcc", "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16 -specs=nosys.specs",
                   "qemu-system-arm -M mps2-an500"),
    "mps2-an385": ("cortex_m", "arm-none-eabi-gcc", "-mcpu=cortex-m0plus -mthumb -specs=nosys.specs", "qemu-system-arm -M mps2-an385"),
    "mps3-an547": ("cortex_m55", "arm-none-eabi-gcc", "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard -specs=nosys.specs", "qemu-system-arm -M mps3-an547"),
    "riscv32": ("riscv", "riscv64-unknown-elf-gcc", "-march=rv32imafc -mabi=ilp32f -specs=picolibc.specs",
                "qemu-system-riscv32 -M virt -bios none"),
    "riscv64": ("riscv", "riscv64-unknown-elf-gcc", "-march=rv64imafdc -mabi=lp64d -mcmodel=medany -specs=picolibc.specs",
                "qemu-system-riscv64 -M virt -bios none"),
}
# Whose C is another than that of most cores.
CPU = {"mps3-an547": ("--cpu", "cortex-m55")}
# The Cortex-M0+, whose code the Cortex-M3 of this board runs, is one of those that TensorFlow Lite models run on by turns, many linked
# together.
TFLITE_BOARDS = ("mps2-an386", "mps2-an385", "riscv32")
TOGETHER = 13
FLAGS = "-std=c99 -O2 -ffp-contract=off -ffunction-sections -fdata-sections -fstack-usage -Wall -Wextra -Werror".split()
LINK = "-nostartfiles -Wl,--gc-sections -Wl,--fatal-warnings -Wl,--no-warn-rwx-segments".split()
MOVES_BYTES = re.compile(r"mem(cpy|set|move)[^/]*\.o\)$")  # of the C library: functions without calls
RAM = ("DTCM", "RAM", "SRAM")
WRONG = {"float32": "wrong_float32(actual, expected, size)", "int8": "wrong_int8(actual, expected, size, TOLERANCE)"}
# The pools that the C defines, with inputs and outputs in them, sizes from the linker script; and those that the application
# defines.
PLACEMENTS = {
    "internal, io": "workspace_pools:\n  - {name: dtcm, size_hint_bytes: ld:DTCM, section: .bss.dtcm}\n"
                    "  - {name: sram, section: .bss.sram}\nworkspace_io: true\n",
    "external": "workspace_pools:\n  - {name: dtcm, size_hint_bytes: BOUND}\n  - {name: sram}\nparameter_pools:\n  - {name: flash}\n",
    "constants by .incbin": "workspace_pools:\n  - {name: dtcm, size_hint_bytes: BOUND}\n  - {name: sram}\nparameter_pools:\n"
                            "  - {name: flash, emit: binary}\n",
}

# Bytes that the estimate may be above the stack that is measured. A function whose operators run by rows has many pointers, which 64-bit
# processors keep on the stack (896 bytes in resnet8) and a Cortex-M computes anew (424); the estimate (1136) is for all.
MOST_ABOVE = 720


@dataclass
class Case:
    models: list[Model]  # several are linked together
    board: str
    placement: str
    is_of_testdata: bool

    @property
    def checks_linker(self) -> bool:
        return [model.name for model in self.models] == ["resnet8"] and self.board == "mps2-an386"

    def label(self) -> str:
        names = "+".join(model.name for model in self.models[:3]) + (f" and {len(self.models) - 3} more" if self.models[3:] else "")
        return f"{names} on {self.board}, {self.placement}"


def c_bytes(path: Path) -> str:
    return ", ".join(map(str, path.read_bytes()))


class ModelsFile:
    """The C that declares models for main.c: their golden files, memory and calls."""

    def __init__(self, headers: Path, several: bool = False, sections: bool = True) -> None:
        self.headers = headers
        self.several = several    # pools are as large as metadata.h says
        self.sections = sections  # pools are in sections of their names
        self.includes = ["firmware.h"]
        self.lines: list[str] = []
        self.pools: set[str] = set()
        self.entries: list[str] = []

    def pool(self, name: str, section: str, size: str, alignment: str, data: str = "") -> None:
        """An array for an external pool, once."""
        if name in self.pools:
            return
        self.pools.add(name)
        section = f', section("{section}")' if self.sections else ""
        self.lines.append(f"__attribute__((aligned({alignment}){section})) static {'const ' if data else ''}uint8_t {name}[{size}]"
                          f"{' = {' + data + '}' if data else ''};")

    def add(self, module: str, plan: dict, directory: Path, tolerance: int) -> None:
        m = sanitised(module).lower()
        symbol = f"tvmgen_{m}"
        header = (self.headers / f"{symbol}.h").read_text()
        io = json.loads((directory / "io.json").read_text())
        self.includes.append(f"{symbol}.h")
        arguments = []
        if pools := struct_members(header, f"{symbol}_workspace_pools"):
            kinds = {pool["name"]: pool["kind"] for pool in plan["pools"]}
            self.lines.append(f"static struct {symbol}_workspace_pools {m}_pools;")
            setting = []
            for pool in pools:
                macro = f"{symbol.upper()}_{pool.upper()}_{'WORKSPACE' if kinds[pool] == 'workspace' else 'CONSTANT'}_POOL"
                name = pool
                if kinds[pool] == "workspace" and self.several:
                    self.includes.append("metadata.h")
                    common = f"TVM_COMMON_{pool.upper()}_WORKSPACE_BUFFER"
                    self.pool(name, f".bss.{pool}", f"{common}_SIZE", f"{common}_ALIGNMENT")
                elif kinds[pool] == "workspace":
                    self.pool(name, f".bss.{pool}", f"{macro}_SIZE", f"{macro}_ALIGNMENT")
                else:
                    name = f"{m}_{pool}"
                    self.includes.append(f"{symbol}.constants.h")
                    if f"{macro}_DATA" not in (self.headers / f"{symbol}.constants.h").read_text():
                        name = f"{symbol}_{pool}_pool"  # of the assembler file
                        setting.append(f"  {m}_pools.{pool} = {name};")
                        continue
                    self.pool(name, f".rodata.{pool}", "", f"{macro}_ALIGNMENT", f"{macro}_DATA")
                setting.append(f"  {m}_pools.{pool} = {name};")
            arguments.append(f"&{m}_pools")
        mapped = "map_inputs" in header
        tensors = {}
        for side, ending in (("inputs", "in"), ("outputs", "out")):
            names = {sanitised(name): name for name in io[side]}
            for number, member in enumerate(struct_members(header, f"{symbol}_{side}")):
                name = names.get(member, list(io[side])[number])
                tensor = {**io[side][name], "array": f"{m}_{side}_{number}", "member": member}
                tensors.setdefault(side, []).append(tensor)
                self.lines.append(f"static const uint8_t {tensor['array']}_golden[] = {{{c_bytes(directory / f'{sanitised(name)}.{ending}.bin')}}};")
                if not mapped:
                    self.lines.append(f"__attribute__((aligned(16))) static uint8_t {tensor['array']}[{tensor['size']}];")
            self.lines.append(f"static struct {symbol}_{side} {m}_{side};")
        resets = [f"  {symbol}_reset();"] if f"{symbol}_reset(void)" in header else []
        self.lines += [f"static void {m}_write_inputs(void) {{", *resets, *(setting if pools else [])]
        pool_argument = "".join(arguments)
        for side in ("inputs", "outputs"):
            if mapped:
                self.lines.append(f"  {m}_{side} = {symbol}_map_{side}({pool_argument});")
            else:
                self.lines += [f"  {m}_{side}.{tensor['member']} = {tensor['array']};" for tensor in tensors[side]]
        self.lines += [f"  memcpy({m}_inputs.{tensor['member']}, {tensor['array']}_golden, {tensor['size']});" for tensor in tensors["inputs"]]
        if not mapped:
            arguments[:0] = [f"&{m}_inputs", f"&{m}_outputs"]
        self.lines += ["}", f"static int32_t {m}_run(void) {{ return {symbol}_run({', '.join(arguments)}); }}",
                       f"static unsigned {m}_wrong_outputs(void) {{", "  unsigned wrong = 0;"]
        for tensor in tensors["outputs"]:
            call = WRONG.get(tensor["dtype"], "wrong_bytes(actual, expected, size)")
            for word, value in (("actual", f"{m}_outputs.{tensor['member']}"), ("expected", f"{tensor['array']}_golden"),
                                ("size", str(tensor["size"])), ("TOLERANCE", str(tolerance))):
                call = re.sub(rf"\b{word}\b", value, call)
            self.lines.append(f"  wrong += {call};")
        self.lines += ["  return wrong;", "}"]
        self.entries.append(f'{{"{module}", {m}_write_inputs, {m}_run, {m}_wrong_outputs}}')

    def text(self) -> str:
        return "\n".join([*(f'#include "{name}"' for name in self.includes), "#include <string.h>", *self.lines,
                          f"const struct model models[] = {{{', '.join(self.entries)}}};",
                          "const unsigned model_count = sizeof models / sizeof models[0];", ""])


@dataclass
class Section:
    name: str
    address: int
    size: int
    file: str

    @property
    def is_of_library(self) -> bool:
        return self.file.endswith(")")


class LinkerMap:
    def __init__(self, text: str) -> None:
        regions, sections = text.split("Linker script and memory map", 1)
        self.regions = {name: (int(origin, 16), int(length, 16)) for name, origin, length in
                        re.findall(r"^(\w+) +0x([0-9a-f]+) +0x([0-9a-f]+)", regions.split("Memory Configuration", 1)[1], re.M)}
        self.sections = [Section(name, int(address, 16), int(size, 16), file) for name, address, size, file in
                         re.findall(r"^ (\.[\w.]+|COMMON)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S.*)$", sections, re.M)]

    def in_region(self, region: str) -> list[Section]:
        origin, length = self.regions[region]
        return [section for section in self.sections if origin <= section.address < origin + length and section.size > 0]

    def bytes_in(self, region: str) -> int:
        return sum(section.size for section in self.in_region(region) if not section.is_of_library)


@dataclass
class Firmware:
    map: LinkerMap
    frames: dict[str, int]  # of the functions that are not a model's
    uses_library: bool      # for more than moving bytes
    output: str             # what it printed
    code: int


def build_and_run(folder: Path, planned: Path, models: ModelsFile, board: str, flags: tuple[str, ...] = ()) -> Firmware:
    frames = build(folder, planned, models, board, flags)
    linker_map = LinkerMap((folder / "firmware.map").read_text())
    called = {section.file for section in linker_map.sections if section.is_of_library and not MOVES_BYTES.search(section.file)}
    qemu = BOARDS[board][3].split()
    done = subprocess.run([*qemu, "-display", "none", "-semihosting-config", "enable=on,target=native", "-kernel", folder / "firmware.elf"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return Firmware(linker_map, frames, bool(called), done.stdout, done.returncode)


def build(folder: Path, planned: Path, models: ModelsFile, board: str, more_flags: tuple[str, ...] = ()) -> dict[str, int]:
    """firmware.elf and its map, with the folder's board.ld. The frames of functions that are not the model's."""
    example, compiler, flags, _ = BOARDS[board]
    (folder / "models.c").write_text(models.text())
    (script,) = (planned / "codegen/host").glob("*_memory.ld")
    (folder / "memory.ld").write_text(f"INCLUDE {script.name}\n")
    sources = [*sorted((planned / "codegen/host/src").glob("*.c")), folder / "models.c", EXAMPLE / "main.c", EXAMPLE / example / "start.c"]
    objects = []
    for stub in sorted((planned / "codegen/host/src").glob("*.S")):
        objects.append(folder / f"{stub.stem}.o")
        run([compiler, *flags.split(), "-c", stub, f"-I{stub.parent}", "-o", objects[-1]])
    for source in sources:
        objects.append(folder / f"{source.stem}.o")
        run([compiler, *flags.split(), *FLAGS, *more_flags, "-I", planned / "codegen/host/include", "-I", EXAMPLE, "-c", source, "-o", objects[-1]])
    run([compiler, *flags.split(), *LINK, *objects, "-L", EXAMPLE, "-L", folder, "-L", planned / "codegen/host", "-T", folder / "board.ld", "-lm",
         f"-Wl,-Map={folder / 'firmware.map'}", "-o", folder / "firmware.elf"])
    frames = {}
    for name in ("main", "models", *(file.stem for file in sources if file.stem.endswith("_lib0"))):
        for line in (folder / f"{name}.su").read_text().splitlines():
            place, size, _ = line.split("\t")
            frames[place.rsplit(":", 1)[1].split(".")[0]] = int(size)
    return frames


def check_outputs(firmware: Firmware, plans: dict[str, dict]) -> list[tuple[str, str, str, str]]:
    """That both runs of each model are right. What it printed of them: module, status, wrong elements, stack."""
    lines = re.findall(r"^(\w+): status (0|not 0), wrong elements (\d+), stack (\d+)$", firmware.output, re.M)
    if firmware.code != 0 or len(lines) != 2 * len(plans) or any(line[1:3] != ("0", "0") for line in lines):
        raise Failure(f"exit code {firmware.code}, the firmware printed:\n{firmware.output}")
    return lines


def check_run(firmware: Firmware, plans: dict[str, dict], is_of_testdata: bool) -> list[str]:
    """Outputs and stack. The measurements, as text."""
    lines = check_outputs(firmware, plans)
    texts = []
    for module, _, _, stack in lines:
        plan = plans[module]
        estimate = plan["totals"]["stack_estimate"]
        m = sanitised(module).lower()
        around = sum(firmware.frames.get(name, 0) for name in ("run_measured", f"{m}_run", f"tvmgen_{m}_run"))
        texts.append(f"{module} {stack} of {estimate} + {around}")
        if firmware.uses_library:
            continue
        if int(stack) > estimate + around:
            raise Failure(f"{module}: {stack} bytes of stack, more than the estimate of {estimate} with {around} around it")
        if is_of_testdata and int(stack) + MOST_ABOVE < estimate:
            raise Failure(f"{module}: {stack} bytes of stack, the estimate is {estimate}")
    return texts


def check_map(linker_map: LinkerMap, plans: dict[str, dict], reported: int) -> None:
    """Each pool has the bytes of the plan, and all RAM those of the report."""
    for region, pool in (("DTCM", "dtcm"), ("SRAM", "sram")):
        planned = max(found["used"] for plan in plans.values() for found in plan["pools"] if found["name"] == pool)
        if linker_map.bytes_in(region) != planned:
            raise Failure(f"{region} has {linker_map.bytes_in(region)} bytes in the map, {planned} in the plan")
    # What main.c needs to find the tensors is the application's.
    tables = sum(section.size for region in RAM for section in linker_map.in_region(region)
                 if re.fullmatch(r"\.s?bss\.\w+_(inputs|outputs|pools)", section.name))
    ram = sum(linker_map.bytes_in(region) for region in RAM) - tables
    if ram != reported:
        raise Failure(f"{ram} bytes of RAM in the map, {reported} in the report: " +
                      str([section for region in RAM for section in linker_map.in_region(region)]))


def pools_options(binary: Path, archives: list[Path], placement: str, board: str, folder: Path) -> list:
    """The first pool has half of what one pool would need, as far as the board has it: board.ld says so, too."""
    options = ("--workspace-io",) if "io" in placement else ()
    used = max(module["totals"]["workspace_used"] for archive in archives for module in golden.modules_planned(binary, archive, options))
    bound = str(min(65536, max(16, used // 2)))
    script = (EXAMPLE / BOARDS[board][0] / "board.ld").read_text()
    assert script.count("LENGTH = 64K") == 1
    (folder / "board.ld").write_text(script.replace("LENGTH = 64K", f"LENGTH = {bound}"))
    (folder / "pools.yaml").write_text(PLACEMENTS[placement].replace("BOUND", bound))
    memory = ["--memory", folder / "board.ld"] if "ld:" in PLACEMENTS[placement] else []
    return ["--pools", folder / "pools.yaml", *memory, "--linker-script"]


def check_too_small(folder: Path, planned: Path, models: ModelsFile, board: str, used: int) -> None:
    """A pool that outgrows its region, and one that another section has taken: the linker stops with a message of ours."""
    script = (folder / "board.ld").read_text()
    for old, new, message in (
            (re.search(r"DTCM .*LENGTH = (\d+)", script).group(0), f"DTCM (rw) : ORIGIN = 0x20000000, LENGTH = {used - 1}",
             "usmp-plan: pool dtcm is larger than region DTCM"),
            ("INCLUDE sections.ld", "SECTIONS { .all : { *(.bss .bss.*) } > RAM }\nINCLUDE sections.ld",
             f"usmp-plan: pool dtcm has fewer than its {used} bytes: its array belongs in section .bss.dtcm, which no output section above may take")):
        assert script.count(old) == 1, old
        (folder / "board.ld").write_text(script.replace(old, new))
        try:
            build(folder, planned, models, board)
        except Failure as failure:
            if message not in str(failure):
                raise Failure(f"the linker said:\n{failure}\nexpected: {message}") from None
        else:
            raise Failure(f"linked, expected: {message}")


def ram_of_report(binary: Path, planned: Path, plans: dict[str, dict]) -> int:
    """What the report of one model says; for several, inputs and outputs of each and the maximum of each pool."""
    if len(plans) == 1:
        return int(re.search(r"^RAM: (\d+) bytes", run([binary, "report", *planned.glob("*.plan.json")]).stdout, re.M).group(1))
    outside = sum(tensor["size"] for plan in plans.values() for tensor in plan["inputs"] + plan["outputs"] if not tensor["in_pool"])
    outside += sum(plan["totals"].get("state_bytes", 0) for plan in plans.values())
    sizes = re.findall(r"define TVM_COMMON_\w+_WORKSPACE_BUFFER_SIZE (\d+)", (planned / "codegen/host/include/metadata.h").read_text())
    return outside + sum(map(int, sizes))


def models_file(planned: Path, models: list[Model], **options) -> tuple[ModelsFile, dict[str, dict]]:
    """Several models have the names of their files."""
    file = ModelsFile(planned / "codegen/host/include", len(models) > 1, **options)
    plans = {}
    for model in models:
        ((module, directory),) = model.golden.items()
        module = sanitised(model.name) if len(models) > 1 else module
        plans[module] = json.loads((planned / f"{module}.plan.json").read_text())
        file.add(module, plans[module], directory, 1 if model.name in golden.ONE_UNIT else 0)
    return file, plans


def run_case(binary: Path, case: Case) -> None:
    with tempfile.TemporaryDirectory(prefix="usmp-firmware-") as temporary:
        folder = Path(temporary)
        archives = [model.path for model in case.models]
        options = pools_options(binary, archives, case.placement, case.board, folder)
        planned = folder / "planned"
        run([binary, *archives, *options, *CPU.get(case.board, ()), "-o", planned, "--quiet"])
        models, plans = models_file(planned, case.models)
        firmware = build_and_run(folder, planned, models, case.board)
        texts = check_run(firmware, plans, case.is_of_testdata)
        check_map(firmware.map, plans, ram_of_report(binary, planned, plans))
        if case.checks_linker:
            (used,) = (pool["used"] for plan in plans.values() for pool in plan["pools"] if pool["name"] == "dtcm")
            check_too_small(folder, planned, models, case.board, used)
        print(f"{case.label()}: stack {', '.join(texts)}{' (and the C library)' if firmware.uses_library else ''}", flush=True)


def cases_of(testdata: Path, shared: Path | None, all_boards: list[str], folder: Path) -> list[Case]:
    cases = []
    tflite = golden.tflite_models(testdata / "tflite", folder)
    for number, first in enumerate(range(0, len(tflite), TOGETHER)):
        board = TFLITE_BOARDS[number % len(TFLITE_BOARDS)]
        placement = list(PLACEMENTS)[(number + number // len(TFLITE_BOARDS)) % len(PLACEMENTS)]
        if board in all_boards:
            cases.append(Case(tflite[first:first + TOGETHER], board, placement, False))
    boards = [board for board in all_boards if board != "mps2-an385"]
    together = [model for model in golden.models_below(testdata) if model.name in ("ds_cnn", "resnet8", "lstm")]
    for models in [*([model] for model in golden.models_below(testdata)), *[together] * bool(together[1:])]:
        for number, board in enumerate(boards):
            for placement in PLACEMENTS:
                # All placements on the first board, and one on each of the others.
                if number == 0 or placement == list(PLACEMENTS)[number % len(PLACEMENTS)]:
                    cases.append(Case(models, board, placement, True))
    if shared:
        for folder in ("own", "mlperf_tiny"):
            for model in golden.models_below(shared / folder):
                if not (testdata / model.path.name).exists():
                    cases.append(Case([model], boards[0], list(PLACEMENTS)[0], False))
    return cases


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("testdata", type=Path)
    parser.add_argument("--shared", type=Path, help="more archives, run on the first board if the folder is there")
    parser.add_argument("--boards", default=",".join(BOARDS))
    parser.add_argument("--only", default="", help="cases whose label contains this")
    parser.add_argument("--required", action="store_true", help="a board that cannot be tried is a failure")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    arguments = parser.parse_args()
    boards = arguments.boards.split(",")
    missing = sorted({tool for board in boards for tool in (BOARDS[board][1], BOARDS[board][3].split()[0]) if not shutil.which(tool)})
    if missing:
        print(f"not installed: {', '.join(missing)} (`make test-firmware` installs them)")
        return 1 if arguments.required else 77
    shared = arguments.shared if arguments.shared and arguments.shared.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="usmp-golden-") as temporary:
        cases = [case for case in cases_of(arguments.testdata, shared, boards, Path(temporary)) if arguments.only in case.label()]
        if not cases:
            print("no case to run")
            return 1
        return golden.run_all(cases, lambda case: run_case(arguments.binary.resolve(), case), arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
