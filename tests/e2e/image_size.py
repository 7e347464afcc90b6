# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""A workspace pool in a section of its own takes no flash: firmware is linked with arm-none-eabi-gcc, and the image is measured.

usage: image_size.py USMP_PLAN TESTDATA. Needs gcc-arm-none-eabi and libnewlib-arm-none-eabi; without them exit code 77.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

PROGRAM, TESTDATA = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
MODEL = TESTDATA / "resnet8.tar"
GCC, OBJCOPY = shutil.which("arm-none-eabi-gcc"), shutil.which("arm-none-eabi-objcopy")
MAIN = """
#include "tvmgen_default.h"
static int8_t in[TVMGEN_DEFAULT_{INPUT}_SIZE];
static int8_t out[TVMGEN_DEFAULT_{OUTPUT}_SIZE];
void reset(void);
void reset(void) {
  struct tvmgen_default_inputs inputs = {in};
  struct tvmgen_default_outputs outputs = {out};
  for (;;) (void)tvmgen_default_run(&inputs, &outputs);
}
"""
SCRIPT = """
MEMORY {{ FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 2M  DTCM (rw) : ORIGIN = 0x20000000, LENGTH = 128K  SRAM (rw) : ORIGIN = 0x24000000, LENGTH = 512K }}
ENTRY(reset)
SECTIONS {{
  .text : {{ *(.text*) *(.rodata*) }} > FLASH
  .data : {{ *(.data*) }} > SRAM AT > FLASH
  .dtcm {noload}: {{ *(.dtcm) *(.bss.dtcm) }} > DTCM AT > FLASH
  .bss : {{ *(.bss*) *(COMMON) }} > SRAM
  /DISCARD/ : {{ *(.ARM.exidx*) }}
}}
"""


def run(*command: object, folder: Path) -> str:
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def linked(folder: Path, pools: str, noload: str = "") -> tuple[int, int, str]:
    """The bytes of the image and of the pool's section, and what planning said."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "pools.yaml").write_text(pools)
    text = run(PROGRAM, MODEL, "--pools", "pools.yaml", "-o", "out", folder=folder)
    header = (folder / "out/codegen/host/include/tvmgen_default.h").read_text()
    sizes = re.findall(r"#define TVMGEN_DEFAULT_(\w+)_SIZE \d+\n", header)
    (folder / "main.c").write_text(MAIN.replace("{INPUT}", sizes[0]).replace("{OUTPUT}", sizes[1]))
    (folder / "link.ld").write_text(SCRIPT.format(noload=noload))
    run(GCC, "-mcpu=cortex-m7", "-mthumb", "-Os", "-std=c99", "-nostartfiles", "-specs=nosys.specs", "-Wl,-T,link.ld", "-Iout/codegen/host/include",
        "main.c", *sorted((folder / "out/codegen/host/src").glob("*.c")), "-lm", "-o", "image.elf", folder=folder)
    run(OBJCOPY, "-O", "binary", "--only-section=.text", "--only-section=.data", "--only-section=.dtcm", "image.elf", "image.bin", folder=folder)
    (section,) = re.findall(r"^\.dtcm +(\d+) ", run("arm-none-eabi-size", "-A", "image.elf", folder=folder), re.MULTILINE)
    return (folder / "image.bin").stat().st_size, int(section), text


def starter(folder: Path) -> str:
    """The first pool of the file that `init` prints, switched on, without the settings that bound it."""
    lines = run(PROGRAM, "init", MODEL, folder=folder).splitlines()
    first = lines.index("workspace_pools:")
    pool = [line.removeprefix("#") for line in lines[first:lines.index("  - name: sram")]]
    return "\n".join(line for line in pool if not re.match(r" +(size_hint_bytes|pool_offset|budget|targets):", line)) + "\n"


def block(document: str, start: str) -> str:
    """What stands in the document's code block behind the text."""
    text = (TESTDATA.parent / document).read_text(encoding="utf-8")
    code = text[text.index(start) + len(start):].partition("```")[2].partition("\n")[2].partition("```")[0]
    return textwrap.dedent(code.replace("\n   ", "\n").removeprefix("   ")) if document == "README.md" else code


def symbols(folder: Path) -> dict[str, tuple[int, int]]:
    """Address and size of each object."""
    found = re.findall(r"^([0-9a-f]{8}) ([0-9a-f]{8}) \w (\S+)$", run("arm-none-eabi-nm", "-S", "image.elf", folder=folder), re.MULTILINE)
    return {name: (int(address, 16), int(size, 16)) for address, size, name in found}


def check_documents(folder: Path) -> None:
    """README's pools file and main.c with the linker script of docs/pools.md: each pool in its memory, none in flash."""
    (folder / "pools.yaml").write_text(block("README.md", "<!-- file: pools.yaml -->"))
    (folder / "main.c").write_text(block("README.md", "<!-- file: main.c -->"))
    (folder / "link.ld").write_text(block("docs/pools.md", "<!-- file: link.ld -->"))
    run(PROGRAM, TESTDATA / "tflite/keywords.tflite", "--pools", "pools.yaml", "-o", "documented", "--quiet", folder=folder)
    run(GCC, "-mcpu=cortex-m7", "-mthumb", "-Os", "-std=c99", "-nostartfiles", "-specs=nosys.specs", "-Wl,-T,link.ld,-e,main",
        "-Idocumented/codegen/host/include", "main.c", *sorted((folder / "documented/codegen/host/src").glob("*.c")), "-lm", "-o", "image.elf", folder=folder)
    run(OBJCOPY, "-O", "binary", "--only-section=.text", "--only-section=.data", "--only-section=.*_pool", "--only-section=.bss", "image.elf", "image.bin", folder=folder)
    objects = symbols(folder)
    for name, base, least in (("dtcm", 0x20000000, 256), ("sram", 0x24000000, 256), ("flash", 0x08000000, 7000)):
        address, size = objects[name]
        assert base <= address < base + 0x80000 and size >= least, (name, hex(address), size)
    assert objects["mfcc"][0] >= objects["sram"][0] + objects["sram"][1], "what is cleared lies behind the pool"
    image = (folder / "image.bin").stat().st_size
    assert objects["flash"][1] < image < objects["flash"][1] + 49152, image
    print(f"README's firmware with the linker script of docs/pools.md: an image of {image} bytes, {objects['flash'][1]} of them constants")


def main() -> None:
    if GCC is None or OBJCOPY is None:
        print("no arm-none-eabi-gcc")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pools = starter(folder)
        (section,) = re.findall(r"section: (\S+)", pools)
        image, used, text = linked(folder, pools)
        assert used >= 8192 and "warning" not in text, (used, text)
        in_flash, same, warned = linked(folder, pools.replace(section, ".dtcm"))
        assert same == used and image + used <= in_flash <= image + used + 64, (image, used, in_flash)
        assert "section .dtcm takes space in the image for zeros" in warned, warned
        noload, same, _ = linked(folder, pools.replace(section, ".dtcm"), "(NOLOAD) ")
        assert same == used and noload == image, (image, used, noload)
        check_documents(folder)
        print(f"image of {image} bytes with section {section} or NOLOAD, {in_flash} with .dtcm; the pool has {used}")


main()
