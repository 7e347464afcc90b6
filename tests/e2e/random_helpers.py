#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Plans operators that call random C functions, and compares what GCC makes of the C before and after.

The functions are what somebody may write for one: numbers of all types, also of size_t, long and sizeof; steps and calls behind
?:, && and ||; loops whose ends change, switch, goto, pointers that move. Much of it is read where it is called, the rest has to
stay. A function that GCC's sanitizer finds undefined says nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import golden

FUNCTIONS = 12  # of a model
INPUTS = 256
OUTPUTS = 16  # of an operator
TYPES = ("int", "unsigned", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "size_t", "size_t", "long")
UNSIGNED = ("unsigned", "uint8_t", "uint16_t", "uint32_t", "size_t")
HEAD = """#include <stddef.h>
#include <stdint.h>
#include <string.h>
static int32_t third(int32_t x) { return x / 3 + 1; }
static int32_t quotient(int32_t x) { int32_t q = 100 / x; return q > 50 ? 50 : q; }
static int8_t at(const int8_t* p, int i) { return p[i]; }
"""


class Function:
    """One helper: `static int32_t hK(const int8_t* a, int32_t* c, int n, T m)`."""

    def __init__(self, draw: random.Random, number: int):
        self.draw = draw
        self.number = number
        self.names = 0
        self.type = draw.choice(TYPES)
        self.n = draw.randrange(7)
        self.m = draw.randrange(0 if self.type in UNSIGNED else -2, 7)

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def index(self, scope: list[str], most: int) -> str:
        counters = [name for name in scope if name.startswith("i")]
        if counters and self.draw.random() < 0.6:
            return f"{self.draw.choice(counters)} + 1"  # counters begin at -1
        return str(self.draw.randrange(most)) if self.draw.random() < 0.7 else f"({self.value(scope, 1)} & {most - 1})"

    def atom(self, scope: list[str]) -> str:
        pointers = [name for name in scope if name.startswith("q")]
        kind = self.draw.random()
        if kind < 0.25:
            return self.draw.choice(("0", "1", "2", "3", "7", "-1", "100", "5u", "0x80", "'A'", "200", "1000000"))
        if kind < 0.5:
            return self.draw.choice(["n", "m"] + [name for name in scope if name[0] in "iv"])
        if kind < 0.7 and pointers:
            return self.draw.choice(("*{}++", "*{}", "{}[2]")).format(self.draw.choice(pointers))
        if kind < 0.85:
            return f"a[{self.index(scope, 64)}]"
        return f"c[{self.index(scope, OUTPUTS)}]" if kind < 0.92 else self.draw.choice(("sizeof(int32_t)", "(int)sizeof(*c)", "sizeof(n)"))

    def value(self, scope: list[str], depth: int) -> str:
        kind = self.draw.random()
        if depth == 0 or kind < 0.25:
            return self.atom(scope)
        one = self.value(scope, depth - 1)
        if kind < 0.6:
            operator = self.draw.choice("+ - * + - < > <= >= == != & | ^".split())
            return f"({one} {operator} {self.value(scope, depth - 1)})"
        if kind < 0.68:
            return f"({one} {self.draw.choice('/%')} {self.draw.choice(('3', '7u', '2', '(int)sizeof(int32_t)', '5'))})"
        if kind < 0.72:
            return f"(({one} & 63) {self.draw.choice(('<<', '>>'))} {self.draw.randrange(5)})"
        if kind < 0.8:
            return f"(({self.draw.choice(TYPES)}){one})"
        if kind < 0.85:
            return f"{self.draw.choice('-~!')}({one})"
        if kind < 0.91:
            return f"({one} {self.draw.choice(('&&', '||'))} {self.value(scope, depth - 1)})"
        if kind < 0.97:
            return f"({one} ? {self.value(scope, depth - 1)} : {self.value(scope, depth - 1)})"
        return self.draw.choice((f"third({one})", f"(m != 0 ? quotient(m) : {one})", f"(n > 2 && at(a, n - 3) > {one})", f"at(a, {one} & 31)"))

    def condition(self, scope: list[str]) -> str:
        """Constant in half of all cases."""
        return self.draw.choice((f"n {self.draw.choice(('<', '>', '=='))} {self.draw.randrange(6)}", f"m - {self.draw.randrange(5)} > 0",
                                 self.value(scope, 2), self.value(scope, 1)))

    def block(self, scope: list[str], depth: int, indent: str) -> str:
        inner = list(scope)
        return "".join(self.statement(inner, depth, indent) for _ in range(self.draw.randint(1, 3)))

    def statement(self, scope: list[str], depth: int, indent: str) -> str:
        kind = self.draw.random()
        if kind < 0.35 or depth == 0:
            return f"{indent}c[{self.index(scope, OUTPUTS)}] {self.draw.choice(('=', '=', '+=', '-=', '^='))} {self.value(scope, 2)};\n"
        if kind < 0.47:
            name = self.name("v")
            text = f"{indent}{self.draw.choice(TYPES)} {name} = {self.value(scope, 2)};\n"
            scope.append(name)
            return text
        if kind < 0.52:
            variable = self.draw.choice(["m"] + [name for name in scope if name.startswith("v")])
            step = self.draw.choice(("++", "--", f" += {self.value(scope, 1)}", f" = {self.value(scope, 2)}", f" -= {self.value(scope, 1)}"))
            return f"{indent}{variable}{step};\n"
        if kind < 0.55:
            name = self.name("q")
            scope.append(name)
            return f"{indent}const int8_t* {name} = a + {self.draw.randrange(8)};\n"
        if kind < 0.6:
            pointers = [name for name in scope if name.startswith("q")]
            return f"{indent}{self.draw.choice(pointers)}{self.draw.choice(('++', ' += 2'))};\n" if pointers else ""
        if kind < 0.78:
            text = f"{indent}if ({self.condition(scope)}) {{\n{self.block(scope, depth - 1, indent + '  ')}{indent}}}"
            return text + (f" else {{\n{self.block(scope, depth - 1, indent + '  ')}{indent}}}\n" if self.draw.random() < 0.4 else "\n")
        if kind < 0.94:
            counter = self.name("i")
            end = self.draw.choice(("n", "n", "3", "n - 1", "(int)sizeof(int32_t)", "4u"))
            changes = f"{indent}  {self.draw.choice(('n--', 'n = 1'))};\n" if self.draw.random() < 0.08 else ""
            return (f"{indent}for (int {counter} = {self.draw.choice((0, 0, 0, 1, -1))}; {counter} < {end}; ++{counter}) {{\n"
                    f"{self.block(scope + [counter], depth - 1, indent + '  ')}{changes}{indent}}}\n")
        if kind < 0.98:
            cases = "".join(f"{indent}  case {value}:\n{self.block(scope, 0, indent + '    ')}{indent}    break;\n"
                            for value in self.draw.sample((-1, 0, 1, 2, 3, 4), 3))
            return f"{indent}switch ({self.draw.choice(('n', 'm', 'n & 3', '(unsigned)m'))}) {{\n{cases}{indent}}}\n"
        return f"{indent}if ({self.condition(scope)}) goto out;\n"

    @staticmethod
    def sequenced(line: str) -> str:
        """What else a line says of a pointer that it steps, C may compute before or behind."""
        for stepped in set(re.findall(r"\*(q\d+)\+\+", line)):
            if len(re.findall(rf"\b{stepped}\b", line)) > 1:
                line = line.replace(f"*{stepped}++", f"*{stepped}")
        return line

    def text(self) -> str:
        scope = ["q0", "v0"]
        body = f"  const int8_t* q0 = a + 8;\n  {self.draw.choice(TYPES)} v0 = {self.value([], 1)};\n"
        body += "".join(self.statement(scope, 3, "  ") for _ in range(self.draw.randint(2, 4)))
        body = "".join(self.sequenced(line) for line in body.splitlines(keepends=True))
        k = self.number
        return (f"static int32_t h{k}(const int8_t* a, int32_t* c, int n, {self.type} m) {{\n{body}out:\n  return 0;\n}}\n"
                f"int32_t tvmgen_m_op{k}(int8_t* p, int32_t* c) {{\n  for (int32_t i = 0; i < {OUTPUTS}; ++i) {{\n    c[i] = i;\n  }}\n"
                f"  h{k}(p, c, {self.n}, {self.m});\n  return 0;\n}}\n")


@dataclass(frozen=True)
class Case:
    seed: int

    def label(self) -> str:
        return f"seed {self.seed}"

    def functions(self) -> list[str]:
        return [Function(random.Random(f"{self.seed} {k}"), k).text() for k in range(FUNCTIONS)]


HEADER = ("#include <stdint.h>\nstruct tvmgen_m_inputs { void* x; };\nstruct tvmgen_m_outputs { " +
          " ".join(f"void* y{k};" for k in range(FUNCTIONS)) + " };\n"
          "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs);\n")
ENTRY = ("int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, " + ", ".join(f"int32_t* y{k}_buffer_var" for k in range(FUNCTIONS)) + ") {\n" +
         "".join(f"  if (tvmgen_m_op{k}(x_buffer_var, y{k}_buffer_var) != 0 ) return -1;\n" for k in range(FUNCTIONS)) + "  return 0;\n}\n"
         "#include <tvmgen_m.h>\nint32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs) {"
         "return tvmgen_m___tvm_main__(inputs->x," + ",".join(f"outputs->y{k}" for k in range(FUNCTIONS)) + ");\n}\n")
MAIN = f"""#include <stdio.h>
#include "tvmgen_m.h"
static int8_t x[{INPUTS}] __attribute__((aligned(16)));
static int32_t y[{FUNCTIONS}][{OUTPUTS}];
int main(void) {{
  for (int i = 0; i < {INPUTS}; ++i) x[i] = (int8_t)(i * 37 % 11 == 0 ? 0 : i * 73 + 5);
  struct tvmgen_m_inputs inputs = {{x}};
  struct tvmgen_m_outputs outputs = {{{", ".join(f"y[{k}]" for k in range(FUNCTIONS))}}};
  if (tvmgen_m_run(&inputs, &outputs) != 0) return 1;
  for (int k = 0; k < {FUNCTIONS}; ++k) {{
    for (int i = 0; i < {OUTPUTS}; ++i) printf("%d ", (int)y[k][i]);
    printf("\\n");
  }}
  return 0;
}}
"""


def built(sources: list[Path], include: Path, program: Path, *options: str) -> subprocess.CompletedProcess:
    golden.run(["gcc", "-std=gnu99", "-O0", "-w", "-fwrapv", *options, f"-I{include}", *sources, "-o", program])
    return subprocess.run([program], capture_output=True, text=True, timeout=60)


def undefined_of(lines: list[int], messages: str) -> set[int]:
    """Functions with a line that the sanitizer names; `lines`: where each begins."""
    found = [int(line) for line in re.findall(r"lib1\.c:(\d+):\d+: runtime error", messages)]
    if any(line < lines[0] for line in found):  # in a function that several call
        return set(range(len(lines)))
    return {max(k for k, begin in enumerate(lines) if begin <= line) for line in found}


def run_case(binary: Path, this: Case, directory: Path, read: list[int]) -> None:
    tree = directory / "tree"
    tree.mkdir(parents=True)
    functions = this.functions()
    lines = []
    text = HEAD
    for function in functions:
        lines.append(text.count("\n") + 1)
        text += function
    (tree / "lib1.c").write_text(text + ENTRY)
    (tree / "tvmgen_m.h").write_text(HEADER)
    main = directory / "main.c"
    main.write_text(MAIN)
    before = built([tree / "lib1.c", main], tree, directory / "before", "-fsanitize=undefined", "-fno-sanitize=shift")
    undefined = undefined_of(lines, before.stderr)
    out = directory / "planned"
    golden.run([binary, tree, "-o", out, "--quiet"])
    sources = sorted((out / "codegen/host/src").glob("*.c"))
    after = built([*sources, main], out / "codegen/host/include", directory / "after")
    stays = json.loads(golden.run([binary, "inspect", tree, "--json"]).stdout)["modules"][0].get("unread_calls", [])
    read.append(FUNCTIONS - sum(call["name"].startswith("h") for call in stays))
    rows = before.stdout.splitlines(), after.stdout.splitlines()
    if len(rows[0]) != FUNCTIONS or len(rows[1]) != FUNCTIONS:
        raise golden.Failure(f"exit codes {before.returncode}, {after.returncode}")
    for k, function in enumerate(functions):
        if k not in undefined and rows[0][k] != rows[1][k]:
            raise golden.Failure(f"another result than {rows[0][k]}: {rows[1][k]}\n{function}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=16, help="models")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="directory for the files")
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    cases = [Case(seed) for seed in range(arguments.seed, arguments.seed + arguments.count)]
    read: list[int] = []
    with tempfile.TemporaryDirectory(prefix="usmp-helpers-") as temporary:
        base = arguments.keep or Path(temporary)
        failed = golden.run_all(cases, lambda this: run_case(binary, this, base / str(this.seed), read), arguments.jobs)
    total = len(read) * FUNCTIONS
    print(f"{sum(read)} of {total} functions read")
    return failed or (1 if sum(read) * 8 < total else 0)  # else it tests nothing


if __name__ == "__main__":
    sys.exit(main())
