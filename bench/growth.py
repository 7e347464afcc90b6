#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""How time and memory grow with the program: growth.py USMP_PLAN [--most N] [--only NAME] [--steps STEP].

Writes TIR modules (JSON) of n = 800, 1600, … calls, parameters or buffers in shapes that real programs have a little of
(chains, fans, concatenations, …), plans each with no step of --transform, with every step alone and with all of them,
and prints user CPU seconds and peak memory with the factor by which they grew since half of n. Behind a factor well over
2 stands something that is not n log n, or a limit that was reached on the way (then the next factors are small again).

    bench/growth.py build/usmp-plan                            # everything up to 12800: about an hour
    bench/growth.py build/usmp-plan --most 3200 --only chain   # one shape, seconds

`make bench` does not run it. A run that takes more than --seconds (10) ends, and larger ones of it are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/e2e"))
import golden  # noqa: E402
from growth_files import apart  # noqa: E402
from large_archive import Graph  # noqa: E402

ELEMENTS = 64


class Program:
    """A module: operators over tensors of ELEMENTS elements, and an entry that calls them."""

    def __init__(self, dtype: str = "int16"):
        self.graph = Graph()
        self.root = self.graph.add("IRModule")
        self.dtype = dtype
        self.integers: dict[int, int] = {}
        self.buffers: dict[int, int] = {}
        self.handle_type = self.graph.add("PrimType", dtype="handle")
        self.pointer_type = self.graph.add("PointerType", element_type=self.graph.add("PrimType", dtype=dtype), storage_scope=self.graph.string("global"))
        self.int_type = self.graph.add("PrimType", dtype="int32")
        self.shape = self.graph.array([self.integer(ELEMENTS)])
        self.none = self.graph.array([])
        self.no_map = self.graph.add("Map")
        self.true = self.graph.integer(1, "bool")
        self.extern = self.graph.add("Op", repr_str="tir.call_extern")
        self.functions: list[int] = []
        self.names: dict[str, int] = {}
        self.calls: list[int] = []
        self.tensors: list[int] = []
        self.constants: list[tuple[int, int]] = []
        self.parameters: list[int] = []
        self.unique_names = True

    def integer(self, value: int) -> int:
        return self.integers.setdefault(value, 0) or self.integers.update({value: self.graph.integer(value)}) or self.integers[value]

    def pointer(self, name: str) -> int:
        return self.graph.add("tir.Var", dtype="handle", name=self.graph.string(name), type_annotation=self.pointer_type, span=0)

    def buffer(self, data: int) -> int:
        if data not in self.buffers:
            self.buffers[data] = self.graph.add("tir.Buffer", data=data, dtype=self.dtype, shape=self.shape, strides=self.none,
                                                elem_offset=self.integer(0), name=self.graph.string("b"), data_alignment=64,
                                                offset_factor=1, buffer_type=1, axis_separators=self.none, span=0)
        return self.buffers[data]

    # --- Expressions and statements of operators ---

    def binary(self, kind: str, a: int, b: int, dtype: str = "") -> int:
        return self.graph.add("tir." + kind, dtype=dtype or self.dtype, a=a, b=b, span=0)

    def value(self, number: int) -> int:
        return self.graph.integer(number, self.dtype)

    def load(self, data: int, index: int) -> int:
        return self.graph.load(self.buffer(data), self.dtype, index)

    def loop(self, store_of, extents=(ELEMENTS,)) -> int:
        """Nested loops around what store_of(*variables) gives: (data, index, value)."""
        variables = [self.graph.add("tir.Var", dtype="int32", name=self.graph.string(name), type_annotation=self.int_type, span=0)
                     for name, _ in zip("ijk", extents)]
        data, index, value = store_of(*variables)
        body = self.graph.add("tir.BufferStore", buffer=self.buffer(data), value=value, indices=self.graph.array([index]), span=0)
        for variable, extent in reversed(list(zip(variables, extents))):
            body = self.graph.add("tir.For", loop_var=variable, min=self.integer(0), extent=self.integer(extent), kind=0, body=body,
                                  annotations=self.no_map, thread_binding=0, span=0)
        return body

    def sequence(self, statements: list[int]) -> int:
        return statements[0] if len(statements) == 1 else self.graph.add("tir.SeqStmt", seq=self.graph.array(statements), span=0)

    def allocated(self, data: int, body: int) -> int:
        return self.graph.add("tir.Allocate", buffer_var=data, dtype=self.dtype, extents=self.shape, condition=self.true, body=body,
                              annotations=self.no_map, span=0)

    def allocated_const(self, data: int, array: int, body: int) -> int:
        return self.graph.add("tir.AllocateConst", buffer_var=data, data=array, dtype=self.dtype, extents=self.shape,
                              annotations=self.no_map, body=body, span=0)

    def values(self, start: int) -> int:
        import base64
        import struct
        bits = int(self.dtype.lstrip("int"))
        numbers = [(start + i * i) % 100 for i in range(ELEMENTS)]
        blob = struct.pack("<QQiiiBBHqq", 0xDD5E40F096B4A13F, 0, 1, 0, 1, 0, bits, 1, ELEMENTS, ELEMENTS * bits // 8)
        blob += b"".join(number.to_bytes(bits // 8, "little") for number in numbers)
        return self.graph.add("runtime.NDArray", repr_str=base64.b64encode(blob).decode())

    # --- Functions ---

    def function(self, name: str, parameters: list[int], body: int, entry: bool = False) -> None:
        handles, pairs = [], []
        for i, data in enumerate(parameters):
            handle = self.graph.add("tir.Var", dtype="handle", name=self.graph.string(f"h{i}" if self.unique_names else "h"), type_annotation=self.handle_type, span=0)
            handles.append(handle)
            pairs += [handle, self.buffer(data)]
        keys, values = ["global_symbol"], [self.graph.string(name)]
        if entry:
            keys.append("runner_function")
            values.append(self.true)
        attributes = self.graph.add("DictAttrs", __dict__=self.graph.add("Map", values, keys))
        self.functions += [self.graph.add("GlobalVar", name_hint=self.graph.string(name)),
                           self.graph.add("tir.PrimFunc", params=self.graph.array(handles), body=body,
                                          buffer_map=self.graph.add("Map", pairs), attrs=attributes, ret_type=0, span=0)]

    def operator(self, name: str, count: int, body_of) -> str:
        """A function of `count` tensors; body_of gets their variables."""
        parameters = [self.pointer(f"p{i}") for i in range(count)]
        self.function(name, parameters, body_of(*parameters))
        return name

    # --- The entry ---

    def tensor(self) -> int:
        self.tensors.append(self.pointer(f"t{len(self.tensors)}"))
        return self.tensors[-1]

    def constant(self) -> int:
        self.constants.append((self.pointer(f"c{len(self.constants)}"), self.values(len(self.constants))))
        return self.constants[-1][0]

    def parameter(self, name: str) -> int:
        self.parameters.append(self.pointer(name))
        return self.parameters[-1]

    def call(self, name: str, *arguments: int) -> None:
        if name not in self.names:
            self.names[name] = self.graph.add("tir.StringImm", dtype="handle", value=self.graph.string(name), span=0)
        call = self.graph.add("tir.Call", dtype="int32", op=self.extern, span=0, args=self.graph.array([self.names[name], *arguments]))
        self.calls.append(self.graph.add("tir.Evaluate", value=call, span=0))

    def json(self) -> str:
        body = self.sequence(self.calls)
        for data in reversed(self.tensors):
            body = self.allocated(data, body)
        for data, array in self.constants:
            body = self.allocated_const(data, array, body)
        self.function("tvmgen_default___tvm_main__", self.parameters, body, True)
        attributes = self.graph.add("DictAttrs", __dict__=self.graph.add("Map", [], []))
        self.graph.nodes[self.root]["attrs"] = {"functions": str(self.graph.add("Map", self.functions)), "attrs": str(attributes)}
        return json.dumps({"root": self.root, "nodes": self.graph.nodes, "b64ndarrays": [], "attrs": {"tvm_version": "0.12.0"}})

    # --- Operators that many shapes use ---

    def add_one(self, name: str = "add_one") -> str:
        return self.operator(name, 2, lambda a, b: self.loop(lambda i: (b, i, self.binary("Add", self.load(a, i), self.value(1)))))

    def add(self, name: str = "add") -> str:
        return self.operator(name, 3, lambda a, b, c: self.loop(lambda i: (c, i, self.binary("Add", self.load(a, i), self.load(b, i)))))

    def copy(self, name: str = "copy") -> str:
        return self.operator(name, 2, lambda a, b: self.loop(lambda i: (b, i, self.load(a, i))))

    def layout(self, name: str = "layout") -> str:
        def index(i, j):
            return self.binary("Add", self.binary("Mul", i, self.integer(8), "int32"), j, "int32")
        return self.operator(name, 2, lambda a, b: self.loop(lambda i, j: (b, index(i, j), self.load(a, index(j, i))), (8, 8)))

    def mirror(self, name: str = "mirror") -> str:
        """Reads each element twice, from both ends: its loop fuses with no other one."""
        def value(a, i):
            return self.binary("Mul", self.load(a, i), self.load(a, self.binary("Sub", self.integer(ELEMENTS - 1), i, "int32")))
        return self.operator(name, 2, lambda a, b: self.loop(lambda i: (b, i, value(a, i))))

    def sum(self, count: int, name: str = "sum") -> str:
        def body(*parameters):
            def store(i):
                values = [self.load(parameter, i) for parameter in parameters[:-1]]
                while len(values) > 1:  # balanced: C compilers do not accept a thousand levels
                    pairs = [self.binary("Add", *values[k:k + 2]) for k in range(0, len(values) - 1, 2)]
                    values = pairs + values[2 * len(pairs):]
                return parameters[-1], i, values[0]
            return self.loop(store)
        return self.operator(name, count + 1, body)

    def concatenation(self, count: int, name: str = "concatenation") -> str:
        def index(i, k):
            return self.binary("Add", i, self.integer(k), "int32")
        return self.operator(name, count + 1, lambda *p: self.sequence([self.loop(lambda i, k=k: (p[-1], index(i, k % 32), self.load(p[k], i)), (32,))
                                                                          for k in range(count)]))


# --- Shapes: what n is, and the program ------------------------------------------------------------------------------


def chain(n: int) -> Program:
    """n calls of one operator, each of what the last one wrote"""
    p = Program()
    name, at = p.add_one(), p.parameter("input")
    for _ in range(n - 1):
        new = p.tensor()
        p.call(name, at, new)
        at = new
    p.call(name, at, p.parameter("output"))
    return p


def operators(n: int) -> Program:
    """a chain of n operators"""
    p = Program()
    at = p.parameter("input")
    for i in range(n):
        new = p.tensor() if i < n - 1 else p.parameter("output")
        p.call(p.add_one(f"op{i}"), at, new)
        at = new
    return p


def tree(n: int) -> Program:
    """n calls that add two tensors each"""
    p = Program()
    leaf, name = p.add_one(), p.add()
    source = p.parameter("input")
    row = [p.tensor() for _ in range(n // 2)]
    for data in row:
        p.call(leaf, source, data)
    while len(row) > 2:
        new = [p.tensor() for _ in range(len(row) // 2)]
        for i, data in enumerate(new):
            p.call(name, row[2 * i], row[2 * i + 1], data)
        row = new + row[2 * len(new):]
    p.call(name, row[0], row[1], p.parameter("output"))
    return p


def fan_out(n: int) -> Program:
    """n readers of one tensor, each result added to a running sum"""
    p = Program()
    first, name, add = p.add_one(), p.add_one("reader"), p.add()
    source = p.tensor()
    p.call(first, p.parameter("input"), source)
    at = source
    for i in range(n // 2):
        new, total = p.tensor(), p.tensor() if i < n // 2 - 1 else p.parameter("output")
        p.call(name, source, new)
        p.call(add, at, new, total)
        at = total
    return p


def readers(n: int) -> Program:
    """n operators read one tensor, all results are live until the sums"""
    p = Program()
    source = p.tensor()
    p.call(p.mirror(), p.parameter("input"), source)
    results = [p.tensor() for _ in range(n)]
    for i, data in enumerate(results):
        p.call(p.add_one(f"reader{i}"), source, data)
    add, at = p.add(), results[0]
    for i, data in enumerate(results[1:]):
        new = p.tensor() if i < n - 2 else p.parameter("output")
        p.call(add, at, data, new)
        at = new
    return p


def fan_in(n: int) -> Program:
    """n tensors that one operator adds"""
    p = Program()
    name, source = p.add_one(), p.parameter("input")
    row = [p.tensor() for _ in range(n)]
    for data in row:
        p.call(name, source, data)
    p.call(p.sum(n), *row, p.parameter("output"))
    return p


def concatenations(n: int) -> Program:
    """n tensors that one operator copies, one after the other"""
    p = Program()
    name, source = p.add_one(), p.parameter("input")
    row = [p.tensor() for _ in range(n)]
    for data in row:
        p.call(name, source, data)
    p.call(p.concatenation(n), *row, p.parameter("output"))
    return p


def same(n: int) -> Program:
    """an operator with n parameters, which are one tensor"""
    p = Program()
    data = p.tensor()
    p.call(p.add_one(), p.parameter("input"), data)
    p.call(p.sum(n), *[data] * n, p.parameter("output"))
    return p


def parameters(n: int) -> Program:
    """an operator with n parameters, which are n inputs"""
    p = Program()
    p.call(p.sum(n), *[p.parameter(f"input{i}") for i in range(n)], p.parameter("output"))
    return p


def inputs(n: int) -> Program:
    """n inputs, each added to a running sum"""
    p = Program()
    add, at = p.add(), p.parameter("input")
    for i in range(n):
        new = p.tensor() if i < n - 1 else p.parameter("output")
        p.call(add, at, p.parameter(f"input{i}"), new)
        at = new
    return p


def outputs(n: int) -> Program:
    """n inputs, n outputs, n calls"""
    p = Program()
    name = p.add_one()
    for i in range(n):
        p.call(name, p.parameter(f"input{i}"), p.parameter(f"output{i}"))
    return p


def one_name(n: int) -> Program:
    """an operator with n parameters, which are n inputs, all of one name"""
    p = parameters(n)
    p.unique_names = False
    return p


def one_output(n: int) -> Program:
    """n calls from n inputs to one output"""
    p = Program()
    name, output = p.add_one(), p.parameter("output")
    for i in range(n):
        p.call(name, p.parameter(f"input{i}"), output)
    return p


def constants(n: int) -> Program:
    """n constants, each added to a running sum"""
    p = Program()
    add, at = p.add(), p.parameter("input")
    for i in range(n):
        new = p.tensor() if i < n - 1 else p.parameter("output")
        p.call(add, at, p.constant(), new)
        at = new
    return p


def constants_inside(n: int) -> Program:
    """n operators with a constant each"""
    p = Program()
    at = p.parameter("input")
    for i in range(n):
        def body(a, b, i=i):
            data = p.pointer("c")
            return p.allocated_const(data, p.values(i), p.loop(lambda k: (b, k, p.binary("Add", p.load(a, k), p.load(data, k)))))
        new = p.tensor() if i < n - 1 else p.parameter("output")
        p.call(p.operator(f"op{i}", 2, body), at, new)
        at = new
    return p


def copies(n: int) -> Program:
    """layouts and copies by turns"""
    p = Program()
    names, at = [p.layout(), p.copy()], p.parameter("input")
    for i in range(n):
        new = p.tensor() if i < n - 1 else p.parameter("output")
        p.call(names[i % 2], at, new)
        at = new
    return p


def copied_outputs(n: int) -> Program:
    """n tensors, each copied to an output"""
    p = Program()
    layout, copy, source = p.layout(), p.copy(), p.parameter("input")
    for i in range(n // 2):
        data = p.tensor()
        p.call(layout, source, data)
        p.call(copy, data, p.parameter(f"output{i}"))
    return p


def pairs(n: int) -> Program:
    """pairs of operators, all firsts before all seconds"""
    p = Program()
    source, row = p.parameter("input"), [p.tensor() for _ in range(n // 2)]
    for i, data in enumerate(row):
        p.call(p.add_one(f"first{i}"), source, data)
    for i, data in enumerate(row):
        p.call(p.add_one(f"second{i}"), data, p.parameter(f"output{i}"))
    return p


def chains(n: int) -> Program:
    """chains of eight operators beside each other, a step of each in turn"""
    p = Program()
    row = [p.parameter("input")] * (n // 8)
    for k in range(8):
        for i, data in enumerate(row):
            new = p.tensor() if k < 7 else p.parameter(f"output{i}")
            p.call(p.add_one(f"op{k}_{i}"), data, new)
            row[i] = new
    return p


def bait(n: int) -> Program:
    """pairs of operators between which the tensor stays, all firsts before all seconds"""
    p = Program()
    source, row = p.parameter("input"), [p.tensor() for _ in range(n // 2)]

    def twice(a, b):  # writes each element twice
        return p.sequence([p.loop(lambda i: (b, i, p.load(a, i))), p.loop(lambda i: (b, i, p.binary("Add", p.load(b, i), p.value(1))))])
    for i, data in enumerate(row):
        p.call(p.operator(f"first{i}", 2, twice), source, data)
    for i, data in enumerate(row):
        p.call(p.mirror(f"second{i}"), data, p.parameter(f"output{i}"))
    return p


def buffers(n: int) -> Program:
    """an operator with n buffers, each made of the last one"""
    p = Program()

    def body(a, b):
        inner = [p.pointer(f"b{i}") for i in range(n - 1)]
        row = [a, *inner, b]
        result = p.sequence([p.loop(lambda i, k=k: (row[k + 1], i, p.binary("Add", p.load(row[k], i), p.value(1)))) for k in range(n)])
        for data in inner:
            result = p.allocated(data, result)
        return result
    p.call(p.operator("op", 2, body), p.parameter("input"), p.parameter("output"))
    return p


def statements(n: int) -> Program:
    """an operator with n loops over two tensors"""
    p = Program()
    name = p.operator("op", 2, lambda a, b: p.sequence([p.loop(lambda i: (b, i, p.binary("Add", p.load(a, i), p.value(1)))) for _ in range(n)]))
    p.call(name, p.parameter("input"), p.parameter("output"))
    return p


SHAPES = [chain, operators, tree, fan_out, readers, fan_in, concatenations, same, parameters, inputs, outputs, one_name, one_output, constants,
          constants_inside, copies, copied_outputs, pairs, chains, bait, buffers, statements]


METADATA = json.dumps({"version": 7, "modules": {"default": {
    "model_name": "default", "export_datetime": "", "target": ["c"], "executors": ["aot"], "style": "full-model",
    "memory": {"functions": {"operator_functions": [], "main": [{"device": 1, "workspace_size_bytes": 0, "inputs": {}, "outputs": {}}]}}}}})


# --- Measuring -------------------------------------------------------------------------------------------------------


def measure(command: list[str], seconds: int) -> tuple[float, int, int]:
    """User CPU seconds, peak resident KiB, exit code."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit)
    message = child.stderr.read().decode(errors="replace")
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode > 0:
        print("   " + message.strip()[:160])
    return used.ru_utime, used.ru_maxrss, child.returncode


def factor(now: float, before: float | None) -> str:
    return f"{now / before:5.1f}" if before and before >= 0.02 else "    -"


def run(program: Path, shape, steps: list[str], most: int, seconds: int, writes: bool) -> None:
    print(f"\n{shape.__name__}: {shape.__doc__}\n{'n':>6} {'JSON KB':>8}  step       CPU s     x    MiB     x", flush=True)
    last: dict[str, tuple[float, float]] = {}
    ended: set[str] = set()
    n = 800
    while n <= most and len(ended) < len(steps):
        with tempfile.TemporaryDirectory() as directory:
            module = Path(directory) / "model" / "src" / "default.tir.json"
            module.parent.mkdir(parents=True)
            apart(lambda n=n, module=module: module.write_text(shape(n).json()))
            model = module
            if writes:
                model = module.parent.parent
                (model / "metadata.json").write_text(METADATA)
            size = module.stat().st_size // 1000
            for step in steps:
                if step in ended:
                    continue
                end = ["-o", str(Path(directory) / f"planned_{step}")] if writes else ["--dry-run"]
                time, memory, code = measure([str(program), str(model), "--quiet", "--transform", step, *end], seconds)
                before = last.get(step, (None, None))
                memory /= 1024
                what = "" if code == 0 else f"  exit code {code}"
                print(f"{n:6} {size:8}  {step:10} {time:5.2f} {factor(time, before[0])}  {memory:5.0f} {factor(memory, before[1])}{what}", flush=True)
                last[step] = (time, memory)
                if code != 0:
                    ended.add(step)
        n *= 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--most", type=int, default=12800, metavar="N", help="largest n")
    parser.add_argument("--only", action="append", choices=[shape.__name__ for shape in SHAPES], metavar="NAME", help="this shape; may be repeated")
    parser.add_argument("--steps", action="append", metavar="STEP", help="this step, none or all; may be repeated")
    parser.add_argument("--write", action="store_true", help="write the C, too")
    parser.add_argument("--seconds", type=int, default=10, help="of one run")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    steps = arguments.steps or ["none", *golden.steps(program), "all"]
    for shape in SHAPES:
        if not arguments.only or shape.__name__ in arguments.only:
            run(program, shape, steps, arguments.most, arguments.seconds, arguments.write)


if __name__ == "__main__":
    main()
