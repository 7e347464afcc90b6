#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The contents of a parameter pool in four ways: array of the C, macro of a header, binary file with an assembler file, object
file. All have the same bytes at the same places, zeros between them, and the alignment that the header asks for.

The bytes are taken out of what compilers make of each, gcc and, where it is installed, arm-none-eabi-gcc.

usage: constant_files.py USMP_PLAN TESTDATA
"""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PROGRAM, TESTDATA = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
TOOLS = [("gcc", "objcopy", "nm", "readelf", "ld")]
if shutil.which("arm-none-eabi-gcc"):
    TOOLS.append(tuple(f"arm-none-eabi-{tool}" for tool in TOOLS[0]))
POOLS = """
workspace_pools: [{name: sram}]
parameter_pools:
  - {name: first, size_hint_bytes: SIZE, alignment: 32, pool_offset: 40, emit: EMIT, section: .rodata.first}
  - {name: second, emit: EMIT, section: .rodata.second}
"""
NAMES = ("first", "second")


def run(*command: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


def planned(folder: Path, model: Path, size: int, emit: str) -> Path:
    text = POOLS.replace("SIZE", str(size)).replace("EMIT", emit)
    if emit == "header":
        text = re.sub(r", section: [.\w]+", "", text)
    (folder / "pools.yaml").write_text(text, encoding="utf-8")
    run(PROGRAM, model, "--pools", folder / "pools.yaml", "-o", folder / emit, "--quiet")
    return folder / emit


def section(tools: tuple, built: Path, name: str) -> bytes:
    out = built.with_suffix(".out")
    run(tools[1], "-O", "binary", "-j", name, built, out)
    return out.read_bytes()


def alignment(tools: tuple, built: Path, name: str) -> int:
    (line,) = [line for line in run(tools[3], "-SW", built).splitlines() if f" {name} " in line]
    return int(line.split()[-1])


def check_bytes(plan: dict, name: str, contents: bytes) -> None:
    """Zeros wherever no constant is; as many bytes as the plan says."""
    (pool,) = (pool for pool in plan["pools"] if pool["name"] == name)
    assert len(contents) == pool["used"], (name, len(contents), pool["used"])
    taken = bytearray(len(contents))
    for buffer in plan["buffers"]:
        if buffer["pool"] == name and buffer["live"]:
            taken[buffer["offset"]:buffer["offset"] + buffer["size"]] = b"\1" * buffer["size"]
    gaps = [at for at, used in enumerate(taken) if not used]
    assert (gaps or name != "first") and not any(contents[at] for at in gaps), (name, gaps[:5])
    assert any(contents), name


def check(model: Path, size: int) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        outputs = {emit: planned(folder, model, size, emit) for emit in ("array", "header", "binary")}
        plan = json.loads((outputs["binary"] / "default.plan.json").read_text(encoding="utf-8"))
        source = outputs["binary"] / "codegen/host/src"
        binaries = {name: (source / f"default_{name}.bin").read_bytes() for name in NAMES}
        for name in NAMES:
            check_bytes(plan, name, binaries[name])
        includes = ["-I", outputs["header"] / "codegen/host/include"]
        for tools in TOOLS:
            lib0 = folder / "lib0.o"
            run(tools[0], "-c", outputs["array"] / "codegen/host/src/default_lib0.c", "-I",
                outputs["array"] / "codegen/host/include", "-o", lib0)
            for name in NAMES:
                macro = f"TVMGEN_DEFAULT_{name.upper()}_CONSTANT_POOL"
                from_header = folder / "header.c"
                from_header.write_text(
                    f'#include <stdint.h>\n#include "tvmgen_default.h"\n#include "tvmgen_default.constants.h"\n'
                    f'__attribute__((aligned({macro}_ALIGNMENT), section(".rodata.{name}"))) const uint8_t pool[] = '
                    f'{{{macro}_DATA}};\n', encoding="utf-8")
                header, stub, linked = folder / "header.o", folder / "stub.o", folder / "linked.o"
                run(tools[0], "-c", from_header, *includes, "-o", header)
                run(tools[0], "-c", source / f"default_{name}.S", f"-I{source}", "-o", stub)
                (folder / "bytes").write_bytes(binaries[name])
                subprocess.run([tools[4], "-r", "-b", "binary", "bytes", "-o", linked.name], check=True, cwd=folder)
                for built, where in ((lib0, f".rodata.{name}"), (header, f".rodata.{name}"), (stub, f".rodata.{name}"), (linked, ".data")):
                    assert section(tools, built, where) == binaries[name], (model, tools[0], name, built)
                assert alignment(tools, stub, f".rodata.{name}") == alignment(tools, header, f".rodata.{name}") >= 16, (tools[0], name)
                symbol = f"tvmgen_default_{name}_pool"
                (line,) = [line for line in run(tools[2], "-S", stub).splitlines() if line.endswith(f" {symbol}")]
                assert [int(word, 16) for word in line.split()[:2]] == [0, len(binaries[name])] and line.split()[2] in "Rr", line
            # What the header declares is what the stub defines, in C and in C++.
            user = folder / "user.c"
            user.write_text('#include "tvmgen_default.constants.h"\nconst uint8_t* first_of(void);\n'
                            "const uint8_t* first_of(void) { return tvmgen_default_first_pool; }\n", encoding="utf-8")
            for language in ("c", "c++") if tools is TOOLS[0] else ("c",):
                built = folder / "user.o"
                run(tools[0], "-x", language, "-Wall", "-Wextra", "-Werror", "-pedantic", "-c", user, "-I",
                    outputs["binary"] / "codegen/host/include", "-o", built)
                assert " U tvmgen_default_first_pool\n" in run(tools[2], built), language
        # A plan without binary files takes those of an earlier one away.
        archive = folder / "again.tar"
        run(PROGRAM, model, "--pools", folder / "pools.yaml", "-o", archive, "--quiet")
        assert members(archive) == {"default_first.bin", "default_first.S", "default_second.bin", "default_second.S"}, members(archive)
        planned_text = (folder / "pools.yaml").read_text(encoding="utf-8").replace("emit: binary", "emit: array")
        (folder / "pools.yaml").write_text(planned_text, encoding="utf-8")
        run(PROGRAM, archive, "--pools", folder / "pools.yaml", "-o", folder / "then.tar", "--quiet")
        assert members(folder / "then.tar") == set(), members(folder / "then.tar")
    print(f"{model.name}: the same {', '.join(str(len(contents)) for contents in binaries.values())} bytes in four ways, "
          f"{' and '.join(tools[0] for tools in TOOLS)}")


def members(archive: Path) -> set[str]:
    with tarfile.open(archive) as tar:
        return {Path(name).name for name in tar.getnames() if name.endswith((".bin", ".S"))}


check(TESTDATA / "ds_cnn.tar", 8192)
check(TESTDATA / "lstm.tar", 7000)
