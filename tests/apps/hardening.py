#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Holds the release binary against the hardening that CMakeLists.txt asks for.

Usage: hardening.py BINARY. Exit code 77 (skipped) without readelf.
"""

import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Stands at the start of every function. The note that says so is lost where the system's own start files lack it.
ENDBR64 = b"\xf3\x0f\x1e\xfa"


def readelf(binary: str, *options: str) -> str:
    return subprocess.run(["readelf", "--wide", *options, binary], capture_output=True, text=True, check=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


def main() -> int:
    if shutil.which("readelf") is None:
        print("skipped: no readelf")
        return 77
    binary = sys.argv[1]
    header, segments, dynamic = (readelf(binary, option) for option in ("-h", "-l", "-d"))
    symbols = readelf(binary, "--dyn-syms")
    stack = re.search(r"GNU_STACK.*", segments)
    expected = {
        "position independent executable": "DYN" in re.search(r"Type:.*", header).group() and "INTERP" in segments,
        "relocations are read-only": "GNU_RELRO" in segments,
        "relocated at the start": re.search(r"FLAGS_1.*\bNOW\b|BIND_NOW", dynamic) is not None,
        "the stack is not executable": stack is not None and "E" not in stack.group().split()[-2],
        "no segment is writable and executable": not re.search(r"LOAD.* RWE ", segments),
        "stacks are protected": "__stack_chk_fail" in symbols,
        "library calls are checked": re.search(r"__\w+_chk\b", symbols.replace("__stack_chk_fail", "")) is not None,
        "containers are checked": "_ZSt21__glibcxx_assert_fail" in symbols,
        "branch targets are marked": platform.machine() != "x86_64" or Path(binary).read_bytes().count(ENDBR64) > 100,
    }
    missing = [what for what, is_there in expected.items() if not is_there]
    print("\n".join(f"missing: {what}" for what in missing) or f"{len(expected)} properties hold")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
