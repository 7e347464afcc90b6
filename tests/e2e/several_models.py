#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Several models in one program: planned together, they share their pools and run one after another, three times. Side by side
(`concurrent`), all inputs are written before the first one runs, and all outputs are read after the last one has.

All of it is compiled as C99, and the interfaces as C++11, with warnings as errors and under AddressSanitizer and UBSan. Pools
that the application defines have the size of metadata.h, to the byte. Outputs must equal the golden ones.

usage: several_models.py USMP_PLAN TESTDATA
"""

import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import firmware
import golden
import tflite

MAIN = """
#include <stdio.h>
#include "firmware.h"
int main(void) {
  unsigned wrong = 0;
  for (int round = 0; round < 3; ++round) {
#ifdef SIDE_BY_SIDE
    for (unsigned i = 0; i < model_count; ++i) models[i].write_inputs();
    for (unsigned i = 0; i < model_count; ++i) wrong += models[i].run() != 0;
#endif
    for (unsigned i = 0; i < model_count; ++i) {
#ifndef SIDE_BY_SIDE
      models[i].write_inputs();
      wrong += models[i].run() != 0;
#endif
      const unsigned elements = models[i].wrong_outputs();
      if (elements != 0) printf("%s: %u wrong elements in round %d\\n", models[i].name, elements, round);
      wrong += elements;
    }
  }
  return wrong != 0;
}
"""
POOLS = {
    "default": None,
    "internal": "workspace_pools:\n  - {name: dtcm, size_hint_bytes: 512, internal: true}\n  - {name: sram, internal: true}\n"
                "parameter_pools:\n  - {name: flash, internal: true}\n",
    "external": "workspace_pools:\n  - {name: dtcm, size_hint_bytes: 512}\n  - {name: sram}\nparameter_pools:\n  - {name: flash}\n",
}
TOGETHER = (("resnet8", "ds_cnn"), ("lstm", "cast_subtract", "narrow"))


def compare_functions() -> str:
    """The comparisons of the example's main.c, without its main."""
    text = (firmware.EXAMPLE / "main.c").read_text()
    return "#include <string.h>\n" + text[text.index("unsigned wrong_float32("):text.index("/* Pools need no initialisation")]


def run(binary: Path, models: list[golden.Model], pools: str, io: bool, side_by_side: bool = False) -> None:
    with tempfile.TemporaryDirectory(prefix="usmp-several-") as temporary:
        folder = Path(temporary)
        planned = folder / "planned"
        options = ["--workspace-io"] * io
        if POOLS[pools] is not None:
            names = ", ".join(model.name for model in models)
            (folder / "pools.yaml").write_text(POOLS[pools] + f"concurrent: [[{names}]]\n" * side_by_side)
            options += ["--pools", folder / "pools.yaml"]
        golden.run([binary, *(model.path for model in models), *options, "-o", planned, "--quiet"])
        file, plans = firmware.models_file(planned, models, sections=False)
        (folder / "models.c").write_text(file.text())
        (folder / "main.c").write_text(MAIN + compare_functions())
        (folder / "all.cpp").write_text('#include "metadata.h"\n')
        sources = [*sorted((planned / "codegen/host/src").glob("*.c")), folder / "models.c", folder / "main.c"]
        paths = ["-I", planned / "codegen/host/include", "-I", firmware.EXAMPLE]
        golden.run(["g++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", *paths, folder / "all.cpp",
                    *(source for source in sources if source.name == "usmp_pools.c")])
        golden.run_sanitized([*golden.GCC, *golden.WARNINGS, *golden.SANITIZE, *["-DSIDE_BY_SIDE"] * side_by_side, *paths, *sources, "-lm",
                              "-o", folder / "program"], folder / "program")
        # Internal workspace pools stand once, with the maximum.
        if pools != "external":
            text = (planned / "codegen/host/src/usmp_pools.c").read_text()
            for name in {pool["name"] for plan in plans.values() for pool in plan["pools"] if pool["kind"] == "workspace"}:
                used = max(pool["used"] for plan in plans.values() for pool in plan["pools"] if pool["name"] == name)
                if used and f"uint8_t usmp_{name}_pool[{used}];" not in text:
                    raise golden.Failure(f"usmp_pools.c has no {name} of {used} bytes:\n{text}")


def check_constants(binary: Path, models: list[golden.Model]) -> None:
    """The size that a parameter pool is said to need is enough for the linker, in both orders, and a byte less is refused."""
    with tempfile.TemporaryDirectory(prefix="usmp-several-") as temporary:
        folder = Path(temporary)
        planned = folder / "planned"

        def plan(size: str) -> subprocess.CompletedProcess[str]:
            (folder / "pools.yaml").write_text("workspace_pools:\n  - {name: sram, section: .bss.sram}\nparameter_pools:\n"
                                               f"  - name: cflash\n    section: .rodata.cflash\n    size_hint_bytes: {size}\n")
            return subprocess.run([binary, *(model.path for model in models), "--pools", folder / "pools.yaml", "--linker-script", "-o", planned],
                                  capture_output=True, text=True, check=False, timeout=300)

        said = int(re.findall(r"cflash: (\d+) bytes of constants = ", plan("-1").stdout)[0])
        refused = plan(str(said - 1))
        message = rf"pools.yaml:6:22: cflash is too small .*: {said} bytes needed, {said - 1} available, 1 missing \(.* padding\)"
        if refused.returncode != 4 or not re.search(message, refused.stderr) or plan(str(said)).returncode != 0:
            raise golden.Failure(f"{said} bytes of constants: {refused.stderr}")
        metadata = (planned / "codegen/host/include/metadata.h").read_text()
        if f"#define TVM_COMMON_CFLASH_PARAMETER_BUFFER_SIZE {said}\n" not in metadata:
            raise golden.Failure(metadata)
        objects = []
        for source in sorted((planned / "codegen/host/src").glob("*.c")):
            objects.append(folder / f"{source.stem}.o")
            golden.run([*golden.GCC, "-fno-pic", "-c", "-I", planned / "codegen/host/include", source, "-o", objects[-1]])
        (folder / "link.ld").write_text(f"MEMORY {{ RAM : ORIGIN = 0x10000, LENGTH = 16M  CFLASH : ORIGIN = 0x2000000, LENGTH = {said} }}\n"
                                        "REGION_ALIAS(\"SRAM\", RAM)\nSECTIONS {\n  INCLUDE usmp_memory.ld\n  .all : { *(*) } > RAM\n}\n")
        for order in (objects, objects[::-1]):
            golden.run(["ld", "-L", planned / "codegen/host", "-T", folder / "link.ld", "--unresolved-symbols=ignore-all", "-e", "0",
                        *order, "-o", folder / "linked"])


STATEFUL = ("svdf_int8_1001", "svdf_int8_1005", "svdf_int8_1006")


def check_state(binary: Path, testdata: Path) -> None:
    """Models that keep something, by turns, their state side by side in one pool: each computes its golden runs as if alone."""
    for section in ("", ", section: .noinit.backup"):
        with tempfile.TemporaryDirectory(prefix="usmp-several-") as temporary:
            folder = Path(temporary)
            (folder / "pools.yaml").write_text(f"workspace_pools:\n  - {{name: backup, state: true{section}}}\n  - {{name: sram}}\n")
            models = [testdata / f"tflite/{name}.tflite" for name in STATEFUL]
            planned = folder / "planned"
            golden.run([binary, "verify", *models, "--pools", folder / "pools.yaml", "--execute"])
            golden.run([binary, *models, "--pools", folder / "pools.yaml", "-o", planned, "--quiet"])
            include = planned / "codegen/host/include"
            runs = [tflite.described(model.with_suffix(".golden")) for model in models]
            text = ['#include "metadata.h"', "#include <stdio.h>", "#include <string.h>",
                    "static _Alignas(64) uint8_t sram[TVM_COMMON_SRAM_WORKSPACE_BUFFER_SIZE + 1];",
                    "static _Alignas(64) uint8_t backup[TVM_COMMON_BACKUP_WORKSPACE_BUFFER_SIZE + 1];", "int main(void) {", "  int wrong = 0;",
                    "  memset(sram, 0xa5, sizeof sram);", "  memset(backup, 0x5a, sizeof backup);", "  (void)backup; (void)sram;"]
            for name in STATEFUL:
                header = (include / f"tvmgen_{name}.h").read_text()
                members = golden.struct_members(header, f"tvmgen_{name}_workspace_pools")
                values = ", ".join(f".{member} = {member}" for member in members)
                text.append(f"  struct tvmgen_{name}_workspace_pools {name}_pools = {{{values}}}; (void){name}_pools;")
                text.append(f"  tvmgen_{name}_reset({'' if section else f'&{name}_pools'});")
            for turn in range(min(io["runs"] for io in runs)):
                for name, model, io in zip(STATEFUL, models, runs):
                    header = (include / f"tvmgen_{name}.h").read_text()
                    given = (model.with_suffix(".golden") / f"in0.{turn}.bin").read_bytes()
                    wanted = (model.with_suffix(".golden") / f"out0.{turn}.bin").read_bytes()
                    (source,) = golden.struct_members(header, f"tvmgen_{name}_inputs")
                    (result,) = golden.struct_members(header, f"tvmgen_{name}_outputs")
                    text.append(f"  {{ uint8_t in[] = {{{', '.join(map(str, given))}}}, out[{len(wanted)}];")
                    text.append(f"    static const uint8_t wanted[] = {{{', '.join(map(str, wanted))}}};")
                    text.append(f"    struct tvmgen_{name}_inputs inputs = {{.{source} = in}}; struct tvmgen_{name}_outputs outputs = {{.{result} = out}};")
                    text.append(f"    wrong += tvmgen_{name}_run(&inputs, &outputs, &{name}_pools) != 0 || memcmp(out, wanted, sizeof out) != 0; }}")
            text.append('  printf("%d\\n", wrong);\n  return wrong != 0;\n}\n')
            (folder / "main.c").write_text("\n".join(text))
            golden.run(["gcc", "-std=c11", "-O1", *golden.SANITIZE, "-I", include, folder / "main.c",
                        *sorted((planned / "codegen/host/src").glob("*.c")), "-lm", "-o", folder / "run"])
            golden.run([folder / "run"])


def main() -> int:
    binary, testdata = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    known = {model.name: model for model in golden.models_below(testdata)}
    count = 0
    for names, pools, io, side_by_side in itertools.product(TOGETHER, POOLS, (False, True), (False, True)):
        if side_by_side and POOLS[pools] is None:
            continue
        try:
            run(binary, [known[name] for name in names], pools, io, side_by_side)
        except golden.Failure as failure:
            print(f"FAILED {'+'.join(names)}, {pools} pools{', io' * io}{', side by side' * side_by_side}\n{failure}")
            return 1
        count += 1
    check_constants(binary, [known["ds_cnn"], known["lstm"]])
    check_state(binary, testdata)
    print(f"{count} programs of several models compute the golden outputs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
