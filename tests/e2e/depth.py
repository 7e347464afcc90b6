#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Feeds usmp-plan trees that are deep in every kind of node, with a stack of 256 KiB: depth.py BINARY TESTDATA [--sanitized].

What C compilers take is planned, and clang compiles it. What they do not take is read, analysed and planned, and refused
where C is written. What is deeper than the reader's limit is refused there. Nothing crashes.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hostile import Runner, Tir, loops

FITS, TOO_DEEP_FOR_C, TOO_DEEP = 200, 20_000, 120_000
STACK_KIB = 256
SANITIZED = 6  # times the stack and the time: frames of a sanitized program are larger


class Nodes:
    """Adds nodes around a value of type int16."""

    def __init__(self, tir: Tir):
        self.tir = tir
        self.one = self.expr("IntImm", value="1")
        self.two = self.expr("IntImm", value="2")
        self.leaf = tir.first("tir.BufferStore")["attrs"]["value"]
        self.flag = self.expr("IntImm", dtype="bool", value="1")
        self.ops = {name: tir.add({"type_key": "Op", "repr_str": name}) for name in ("tir.if_then_else", "tir.bitwise_not")}

    def expr(self, type_key: str, dtype: str = "int16", **attrs: str) -> str:
        return self.tir.add({"type_key": type_key, "attrs": {"dtype": dtype, "span": "0", **attrs}})

    def var(self) -> str:
        return self.expr("tir.Var", name=self.tir.add({"type_key": "runtime.String", "repr_str": "v"}), type_annotation="0")

    def call(self, op: str, *arguments: str) -> str:
        array = self.tir.add({"type_key": "Array", "data": [int(argument) for argument in arguments]})
        return self.expr("tir.Call", op=self.ops[op], args=array)

    def let_in_value(self, value: str) -> str:
        var = self.var()
        return self.expr("tir.Let", var=var, value=value, body=self.expr("tir.Add", a=var, b=self.one))

    def let_in_body(self, value: str) -> str:
        return self.expr("tir.Let", var=self.var(), value=self.one, body=value)

    def kinds(self) -> dict:
        expr = self.expr
        return {
            "sum to the left": lambda v: expr("tir.Add", a=v, b=self.one),
            "sum to the right": lambda v: expr("tir.Sub", a=self.one, b=v),
            "product": lambda v: expr("tir.Mul", a=v, b=self.two),
            "quotient": lambda v: expr("tir.FloorDiv", a=v, b=self.two),
            "minimum": lambda v: expr("tir.Min", a=v, b=self.one),
            "cast": lambda v: expr("tir.Cast", value=v),
            "choice, first side": lambda v: expr("tir.Select", condition=self.flag, true_value=v, false_value=self.one),
            "choice, other side": lambda v: expr("tir.Select", condition=self.flag, true_value=self.one, false_value=v),
            "condition": lambda v: expr("tir.Select", condition=expr("tir.LT", dtype="bool", a=v, b=self.one),
                                        true_value=self.one, false_value=self.leaf),
            "lazy choice": lambda v: self.call("tir.if_then_else", self.flag, self.one, v),
            "call": lambda v: self.call("tir.bitwise_not", v),
            "let, value": self.let_in_value,
            "let, body": self.let_in_body,
        }


def deep_expression(plain: bytes, kind: str, depth: int) -> bytes:
    tir = Tir(plain)
    wrap = Nodes(tir).kinds()[kind]
    store = tir.first("tir.BufferStore")
    value = store["attrs"]["value"]
    for _ in range(depth):
        value = wrap(value)
    store["attrs"]["value"] = value
    return tir.archive()


def branches(plain: bytes, depth: int) -> bytes:
    tir = Tir(plain)
    nodes = Nodes(tir)
    loop = tir.first("tir.For")
    body = loop["attrs"]["body"]
    nothing = tir.add({"type_key": "tir.Evaluate", "attrs": {"value": nodes.call("tir.bitwise_not", nodes.one), "span": "0"}})
    for level in range(depth):
        then_case, else_case = (body, "0") if level % 2 else (nothing, body)
        body = tir.add({"type_key": "tir.IfThenElse", "attrs": {"condition": nodes.flag, "then_case": then_case,
                                                               "else_case": else_case, "span": "0"}})
    loop["attrs"]["body"] = body
    return tir.archive()


def main() -> int:
    binary, testdata = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    factor = SANITIZED if "--sanitized" in sys.argv[3:] else 1
    plain = (testdata / "cast_subtract.tar").read_bytes()
    with tempfile.TemporaryDirectory(prefix="usmp-depth-") as temporary, tempfile.TemporaryDirectory() as tools:
        small = Path(tools) / "small_stack"
        small.write_text(f'#!/bin/sh\nulimit -s {factor * STACK_KIB}\nexec "{binary}" "$@"\n')
        small.chmod(0o755)
        runner = Runner(small, Path(temporary))
        runner.seconds *= factor
        kinds = Nodes(Tir(plain)).kinds()
        for kind in kinds:
            compiles(runner, f"{kind}, {FITS} deep", deep_expression(plain, kind, FITS))
            model = deep_expression(plain, kind, TOO_DEEP_FOR_C)
            runner.run(f"{kind}, {TOO_DEEP_FOR_C} deep", model, {3}, ("C compilers accept no more",))
            inspected(runner, f"{kind}, {TOO_DEEP_FOR_C} deep, printed", model)
        runner.run("deeper than is read", deep_expression(plain, "cast", TOO_DEEP), {3}, ("nests deeper than 100000",))
        for name, nest in (("loops", lambda depth: loops(Tir(plain), depth)), ("branches", lambda depth: branches(plain, depth))):
            compiles(runner, f"{name}, {FITS} deep", nest(FITS))
            runner.run(f"{name}, {TOO_DEEP_FOR_C} deep", nest(TOO_DEEP_FOR_C), {3}, ("C compilers accept no more",))
    print(f"{runner.passed} passed, {runner.failed} failed")
    return 1 if runner.failed else 0


def compiles(runner: Runner, label: str, archive: bytes) -> None:
    path, out = runner.directory / "model.tar", runner.directory / "out"
    path.write_bytes(archive)
    done = subprocess.run([runner.binary, path, "-o", out], capture_output=True, text=True, errors="replace")
    faults = [] if done.returncode == 0 else [f"exit code {done.returncode}: {done.stderr[:300]}"]
    for source in sorted(out.rglob("*_lib1.c")):
        for compiler in filter(shutil.which, ("gcc", "clang")):
            built = subprocess.run([compiler, "-std=c99", "-fsyntax-only", source], capture_output=True, text=True)
            if built.returncode != 0:
                faults.append(f"{compiler}: {built.stderr[:300]}")
    shutil.rmtree(out, ignore_errors=True)
    runner.report(label, faults)


def inspected(runner: Runner, label: str, archive: bytes) -> None:
    path = runner.directory / "model.tar"
    path.write_bytes(archive)
    done = subprocess.run([runner.binary, "inspect", path, "--tir"], capture_output=True, text=True, errors="replace")
    runner.report(label, [] if done.returncode == 0 else [f"exit code {done.returncode}: {done.stderr[:300]}"])


if __name__ == "__main__":
    sys.exit(main())
