#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Constants that a programmer writes (`emit: binary` with `address`), of two models in one memory.

- The files are what the table and the headers say: places one behind the other, aligned, CRC-32 as zlib computes it.
- Firmware for a Cortex-M4 and for RV32 with DTCM, SRAM and weights in external flash links with the script of --linker-script, and
  nothing of the weights is in its image. Under qemu, which loads the files where the table says, both models give their golden outputs. With a file
  of another training, a file that is not there, or the files exchanged, tvmgen_M_check_constants says so.
- Without an address: the assembler file is linked although nothing refers to it; without it, the linker says what to do.

Firmware whose compiler or qemu is missing is left out.

usage: flash_files.py USMP_PLAN TESTDATA
"""

import csv
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

PROGRAM, TESTDATA = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
EXAMPLE = Path(__file__).resolve().parents[2] / "examples/firmware"
MODELS = ("resnet8", "ds_cnn")


@dataclass
class Board:
    folder: str  # of the example
    tools: str
    cpu: str
    machine: str
    flash: int  # where its memories begin
    ram: int
    origin: int

    def memory(self) -> str:
        return f"""MEMORY {{
  FLASH (rx) : ORIGIN = {self.flash:#x}, LENGTH = 4M
  DTCM (rw) : ORIGIN = {self.ram:#x}, LENGTH = 64K
  RAM (rw) : ORIGIN = {self.ram + 0x10000:#x}, LENGTH = 192K
  SRAM (rw) : ORIGIN = {self.ram + 0x40000:#x}, LENGTH = 1792K
  QSPI (r) : ORIGIN = {self.origin:#x}, LENGTH = 1M
}}
INCLUDE sections.ld
"""

    def compile(self) -> list[str]:
        return f"{self.tools}gcc {self.cpu} -std=c99 -O2 -Wall -Wextra -Werror -ffunction-sections -fdata-sections".split()

    def missing(self) -> list[str]:
        return [tool for tool in (f"{self.tools}gcc", self.machine.split()[0]) if shutil.which(tool) is None]


ARM = Board("cortex_m", "arm-none-eabi-", "-mcpu=cortex-m4 -mthumb -specs=nosys.specs", "qemu-system-arm -M mps2-an386", 0, 0x20000000, 0x20200010)
RISCV = Board("riscv", "riscv64-unknown-elf-", "-march=rv32imafc -mabi=ilp32f -specs=picolibc.specs", "qemu-system-riscv32 -M virt -bios none",
              0x80000000, 0x81000000, 0x82000010)
POOLS = """workspace_pools:
  - {name: dtcm, section: .bss.dtcm, size_hint_bytes: 4KiB}
  - {name: sram, section: .bss.sram}
parameter_pools:
  - {name: qspi, emit: binary, ADDRESS}
"""
LINK = "-nostartfiles -Wl,--gc-sections -Wl,--fatal-warnings -Wl,--no-warn-rwx-segments -lm".split()
SEMIHOSTING = "-display none -semihosting-config enable=on,target=native".split()
MAIN = """#include <string.h>
#include "firmware.h"
#include "tvmgen_ds_cnn.h"
#include "tvmgen_resnet8.h"
GOLDEN
static int run_resnet8(void) {
  static int8_t output[TVMGEN_RESNET8_OUTPUT_SIZE];
  struct tvmgen_resnet8_inputs in = {(void*)(uintptr_t)resnet8_in};
  struct tvmgen_resnet8_outputs out = {output};
  struct tvmgen_resnet8_workspace_pools pools = {.qspi = TVMGEN_RESNET8_QSPI_CONSTANT_POOL_ADDRESS};
  return tvmgen_resnet8_run(&in, &out, &pools) == 0 && wrong_int8(output, resnet8_out, sizeof output, 0) == 0;
}
static int run_ds_cnn(void) {
  static int8_t output[TVMGEN_DS_CNN_OUTPUT_SIZE];
  struct tvmgen_ds_cnn_inputs in = {(void*)(uintptr_t)ds_cnn_in};
  struct tvmgen_ds_cnn_outputs out = {output};
  struct tvmgen_ds_cnn_workspace_pools pools = {.qspi = TVMGEN_DS_CNN_QSPI_CONSTANT_POOL_ADDRESS};
  return tvmgen_ds_cnn_run(&in, &out, &pools) == 0 && wrong_int8(output, ds_cnn_out, sizeof output, 1) == 0;
}
COMPARISON
int main(void) {
  if (tvmgen_resnet8_check_constants(NULL) == 0) return 1;
  board_print(tvmgen_resnet8_check_constants(TVMGEN_RESNET8_QSPI_CONSTANT_POOL_ADDRESS) == 0 ? "resnet8 fits, " : "resnet8 does not, ");
  board_print(tvmgen_ds_cnn_check_constants(TVMGEN_DS_CNN_QSPI_CONSTANT_POOL_ADDRESS) == 0 ? "ds_cnn fits" : "ds_cnn does not");
  if (run_resnet8()) board_print(", resnet8 is right");
  if (run_ds_cnn()) board_print(", ds_cnn is right");
  return 0;
}
"""


def run(*command: object, fails: bool = False) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=600)
    assert (done.returncode != 0) == fails, (command, done.stdout, done.stderr)
    return done.stdout + done.stderr


def planned(folder: Path, address: str, name: str) -> Path:
    (folder / "pools.yaml").write_text(POOLS.replace(", ADDRESS", address), encoding="utf-8")
    memory = ["--memory", folder / "board.ld"] if "ld:" in address else []
    print(run(PROGRAM, *(TESTDATA / f"{model}.tar" for model in MODELS), "--pools", folder / "pools.yaml", *memory, "--linker-script",
              "-o", folder / name, "--quiet"), end="")
    return folder / name


def check_files(output: Path, board: Board) -> dict[str, tuple[Path, int]]:
    """The files and their places, from the table."""
    host = output / "codegen/host"
    assert not list(host.glob("src/*.S")) and not list(host.glob("include/*.constants.h")), "nothing is linked"
    rows = list(csv.DictReader((host / "usmp_flash.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["file"] for row in rows] == [f"src/{model}_qspi.bin" for model in MODELS], rows
    end, places = board.origin, {}
    for model, row in zip(MODELS, rows):
        contents, address = (host / row["file"]).read_bytes(), int(row["address"], 16)
        header = (host / f"include/tvmgen_{model}.h").read_text(encoding="utf-8")
        assert end <= address < end + 16 and address % 16 == 0, row
        assert len(contents) == int(row["bytes"]) and zlib.crc32(contents) == int(row["crc32"], 16), row
        assert f"_QSPI_CONSTANT_POOL_ADDRESS ((const void*)(uintptr_t){row['address']})\n" in header, row
        assert f"_QSPI_CONSTANT_POOL_CRC32 {row['crc32']}\n" in header, row
        end, places[model] = address + len(contents), (host / row["file"], address)
    return places


def c_array(name: str, path: Path) -> str:
    return f"static const uint8_t {name}[] = {{{', '.join(map(str, path.read_bytes()))}}};"


def objects(folder: Path, output: Path, main: str, board: Board) -> list[Path]:
    host = output / "codegen/host"
    (folder / "main.c").write_text(main, encoding="utf-8")
    (folder / "memory.ld").write_text("INCLUDE usmp_memory.ld\n", encoding="utf-8")
    result = []
    for source in (*sorted(host.glob("src/*.c")), folder / "main.c", EXAMPLE / board.folder / "start.c"):
        result.append(folder / f"{source.stem}.o")
        run(*board.compile(), "-I", host / "include", "-I", EXAMPLE, "-c", source, "-o", result[-1])
    return result


def link(folder: Path, output: Path, what: list[Path], board: Board, fails: bool = False) -> str:
    return run(*board.compile(), *what, *LINK, "-L", EXAMPLE, "-L", folder, "-L", output / "codegen/host", "-T", folder / "board.ld", "-o",
               folder / "firmware.elf", fails=fails)


def check_firmware(folder: Path, output: Path, places: dict[str, tuple[Path, int]], board: Board) -> None:
    golden = [c_array(f"{model}_{side}", TESTDATA / f"{model}.golden" / file) for model in MODELS
              for side, file in (("in", "input_1.in.bin"), ("out", "output.out.bin"))]
    # As the example's firmware compares.
    comparison = re.search(r"^unsigned wrong_int8.*?^}\n", (EXAMPLE / "main.c").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    main = MAIN.replace("GOLDEN", "\n".join(golden)).replace("COMPARISON", comparison.group())
    link(folder, output, objects(folder, output, main, board), board)
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in run(f"{board.tools}nm", folder / "firmware.elf").splitlines()
               if "usmp_qspi" in line}
    last, at = places[MODELS[1]]
    assert symbols == {"usmp_qspi_start": board.origin, "usmp_qspi_end": at + last.stat().st_size}, symbols
    run(f"{board.tools}objcopy", "-O", "binary", folder / "firmware.elf", folder / "image")
    assert (folder / "image").stat().st_size < 1 << 20, "weights or pools are in the image"
    # The memory of the weights is reserved, which qemu takes for contents: it would load two things there.
    run(f"{board.tools}objcopy", "-R", ".usmp_qspi", folder / "firmware.elf")

    def prints(files: dict[str, tuple[Path, int]]) -> str:
        loaders = [word for path, address in files.values() for word in ("-device", f"loader,file={path},addr={address:#x},force-raw=on")]
        return run(*board.machine.split(), *SEMIHOSTING, *loaders, "-kernel", folder / "firmware.elf")

    assert prints(places) == "resnet8 fits, ds_cnn fits, resnet8 is right, ds_cnn is right"
    (resnet8, first), (ds_cnn, second) = places.values()
    other = folder / "other.bin"  # of the same network, trained anew
    other.write_bytes(resnet8.read_bytes()[:-1] + bytes([resnet8.read_bytes()[-1] ^ 1]))
    assert prints({**places, "resnet8": (other, first)}).startswith("resnet8 does not, ds_cnn fits")
    assert prints({"ds_cnn": (ds_cnn, second)}).startswith("resnet8 does not, ds_cnn fits")
    assert prints({"resnet8": (ds_cnn, first), "ds_cnn": (resnet8, second)}).startswith("resnet8 does not, ds_cnn does not")


def check_reserved(folder: Path, output: Path) -> None:
    """What else is in the region comes behind the weights, and is too large with them."""
    for size, fails in ((64, False), ((1 << 20) - 4096, True)):
        (folder / "sections.ld").write_text("ENTRY(main)\nSECTIONS {\nINCLUDE usmp_memory.ld\n.more : { *(.more) } > QSPI\n"
                                            ".text : { *(.text*) } > FLASH }\n", encoding="utf-8")
        (folder / "more.c").write_text(f'__attribute__((section(".more"), used)) const char more[{size}] = {{1}};\n'
                                       'int main(void) { return 0; }\n', encoding="utf-8")
        script = output / "codegen/host/usmp_memory.ld"
        text = script.read_text(encoding="utf-8")
        (folder / "usmp_memory.ld").write_text(text[text.index("\n.usmp_qspi"):], encoding="utf-8")
        said = run(*ARM.compile(), folder / "more.c", "-nostdlib", "-L", folder, "-T", folder / "board.ld", "-o", folder / "more.elf", fails=fails)
        if fails:
            assert "region `QSPI' overflowed" in said, said
        else:
            (more,) = [int(line.split()[0], 16) for line in run("arm-none-eabi-nm", folder / "more.elf").splitlines() if line.endswith(" more")]
            (end,) = [int(line.split()[0], 16) for line in run("arm-none-eabi-nm", folder / "more.elf").splitlines() if line.endswith(" usmp_qspi_end")]
            assert more >= end > ARM.origin, (more, end)
    for name in ("sections.ld", "usmp_memory.ld"):
        (folder / name).unlink()


def check_linked(folder: Path) -> None:
    output = planned(folder, "", "linked")
    (folder / "board.ld").write_text(ARM.memory(), encoding="utf-8")
    built = objects(folder, output, "int main(void) { return 0; }\n", ARM)
    text = link(folder, output, built, ARM, fails=True)
    assert "link the assembler file of its contents, or give the pool an address if a programmer writes them" in text, text
    for stub in sorted((output / "codegen/host/src").glob("*.S")):
        built.append(folder / f"{stub.stem}.o")
        run(*ARM.compile(), "-I", stub.parent, "-c", stub, "-o", built[-1])
    (folder / "pools.c").write_text('__attribute__((section(".bss.dtcm"), used)) static char dtcm[4096];\n'
                                    '__attribute__((section(".bss.sram"), used)) static char sram[65536];\n', encoding="utf-8")
    (folder / "memory.ld").write_text("dtcm_and_sram = 0;\nINCLUDE usmp_memory.ld\n", encoding="utf-8")
    script = output / "codegen/host/usmp_memory.ld"
    only_weights = script.read_text(encoding="utf-8")
    script.write_text(only_weights[only_weights.index("\n.usmp_qspi"):], encoding="utf-8")
    link(folder, output, built, ARM)


def check_board(folder: Path, board: Board) -> None:
    (folder / "board.ld").write_text(board.memory(), encoding="utf-8")
    output = planned(folder, ", address: ld:QSPI", "region")
    places = check_files(output, board)
    by_number = planned(folder, f", address: {board.origin:#x}", "number")
    assert check_files(by_number, board).keys() == places.keys()
    assert f"usmp_qspi_start = {board.origin:#x};\n" in (by_number / "codegen/host/usmp_memory.ld").read_text(encoding="utf-8")
    if board.missing():
        print(f"not installed: {', '.join(board.missing())}; firmware is left out")
        return
    check_firmware(folder, output, places, board)
    if board is ARM:
        check_reserved(folder, output)
        check_linked(folder)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="usmp-flash-") as temporary:
        folder = Path(temporary)
        for board in (ARM, RISCV):
            check_board(folder, board)
        # A plan without addresses takes the table of an earlier one away; an address that does not suit is refused.
        output = planned(folder, "", "region")
        assert not list((output / "codegen/host").glob("*.csv"))
        (folder / "pools.yaml").write_text(POOLS.replace("ADDRESS", "address: 0x90000004"), encoding="utf-8")
        text = run(PROGRAM, TESTDATA / "resnet8.tar", "--pools", folder / "pools.yaml", "--dry-run", fails=True)
        assert "pools.yaml: pool 'qspi': address 0x90000004 is not a multiple of 16, the alignment of its contents" in text, text
    print("constants that a programmer writes: places, CRC-32, firmware")


main()
