#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Writes an MLF archive with many megabytes of constants: large_archive.py OUT.tar [MEGABYTES], or a file of C as TVM
writes it: large_archive.py OUT.c [MEGABYTES [int8|int16|int32|float]].

One operator adds the constants, AllocateConst nodes or tables of random numbers of a megabyte each, to its input. The
planner's time and memory on it are measured, e.g. with /usr/bin/time -v.
"""

import base64
import io
import json
import random
import struct
import sys
import tarfile

BLOCK = 1 << 20  # bytes of one constant


class Graph:
    """A tvm.ir.save_json graph under construction."""

    def __init__(self):
        self.nodes = [{"type_key": ""}]

    def add(self, type_key, items=None, keys=None, repr_str=None, **attrs):
        node = {"type_key": type_key}
        if attrs:
            node["attrs"] = {name: str(value) for name, value in attrs.items()}
        if repr_str is not None:
            node["repr_str"] = repr_str
        if keys is not None:
            node["keys"] = keys
        if items is not None:
            node["data"] = items
        self.nodes.append(node)
        return len(self.nodes) - 1

    def string(self, text):
        return self.add("runtime.String", repr_str=text)

    def integer(self, value, dtype="int32"):
        return self.add("IntImm", dtype=dtype, value=value, span=0)

    def array(self, items):
        return self.add("Array", items)

    def pointer(self, name, element):
        kind = self.add("PointerType", element_type=self.add("PrimType", dtype=element), storage_scope=self.string("global"))
        return self.add("tir.Var", dtype="handle", name=self.string(name), type_annotation=kind, span=0)

    def buffer(self, data, name, dtype, elements):
        return self.add("tir.Buffer", data=data, dtype=dtype, shape=self.array([self.integer(elements)]), strides=self.array([]),
                        elem_offset=self.integer(0), name=self.string(name), data_alignment=64, offset_factor=1, buffer_type=1,
                        axis_separators=self.array([]), span=0)

    def load(self, buffer, dtype, index):
        return self.add("tir.BufferLoad", buffer=buffer, dtype=dtype, indices=self.array([index]), span=0)


def parameters(graph, names, elements):
    """Handles, their buffers' data variables, the parameter array and the buffer_map of a function of float tensors."""
    handles, data, pairs = [], [], []
    for name in names:
        handle = graph.add("tir.Var", dtype="handle", name=graph.string(name), type_annotation=graph.add("PrimType", dtype="handle"), span=0)
        variable = graph.pointer(name, "float32")
        handles.append(handle)
        data.append(variable)
        pairs += [handle, graph.buffer(variable, name, "float32", elements)]
    return data, graph.array(handles), graph.add("Map", pairs)


def function(graph, params, body, buffer_map, symbol, entry):
    keys, values = ["global_symbol"], [graph.string(symbol)]
    if entry:
        keys.append("runner_function")
        values.append(graph.integer(1, "bool"))
    attrs = graph.add("DictAttrs", __dict__=graph.add("Map", values, keys))
    return graph.add("tir.PrimFunc", params=params, body=body, buffer_map=buffer_map, attrs=attrs, ret_type=0, span=0)


def module_json(megabytes):
    random.seed(1)
    graph = Graph()
    root = graph.add("IRModule")
    elements = BLOCK // 4
    (source, target), params, buffer_map = parameters(graph, ["p0", "T_add"], elements)
    index = graph.add("tir.Var", dtype="int32", name=graph.string("i"), type_annotation=graph.add("PrimType", dtype="int32"), span=0)
    value = graph.load(graph.buffer(source, "p0", "float32", elements), "float32", index)
    constants = []
    for k in range(megabytes):
        blob = struct.pack("<QQiiiBBHqq", 0xDD5E40F096B4A13F, 0, 1, 0, 1, 2, 32, 1, elements, BLOCK)
        blob += struct.pack(f"<{elements}f", *(random.uniform(-1, 1) for _ in range(elements)))
        array = graph.add("runtime.NDArray", repr_str=base64.b64encode(blob).decode())
        variable = graph.pointer(f"constant_{k}", "float32")
        constants.append((variable, array))
        value = graph.add("tir.Add", dtype="float32", a=value, b=graph.load(graph.buffer(variable, f"constant_{k}", "float32", elements), "float32", index), span=0)
    body = graph.add("tir.BufferStore", buffer=graph.buffer(target, "T_add", "float32", elements), value=value, indices=graph.array([index]), span=0)
    body = graph.add("tir.For", loop_var=index, min=graph.integer(0), extent=graph.integer(elements), kind=0, body=body, annotations=graph.add("Map"), thread_binding=0, span=0)
    for variable, array in constants:
        body = graph.add("tir.AllocateConst", buffer_var=variable, data=array, dtype="float32", extents=graph.array([graph.integer(elements)]), annotations=graph.add("Map"), body=body, span=0)
    operator = function(graph, params, body, buffer_map, "tvmgen_default_fused_add", False)
    arguments, params, buffer_map = parameters(graph, ["data", "output"], elements)
    call = graph.add("tir.Call", dtype="int32", op=graph.add("Op", repr_str="tir.call_extern"), span=0,
                     args=graph.array([graph.add("tir.StringImm", dtype="handle", value=graph.string("tvmgen_default_fused_add"), span=0), *arguments]))
    entry = function(graph, params, graph.add("tir.Evaluate", value=call, span=0), buffer_map, "tvmgen_default___tvm_main__", True)
    names = [graph.add("GlobalVar", name_hint=graph.string(name)) for name in ("tvmgen_default_fused_add", "__tvm_main__")]
    functions = graph.add("Map", [names[0], operator, names[1], entry])
    attributes = graph.add("DictAttrs", __dict__=graph.add("Map", [], []))
    graph.nodes[root]["attrs"] = {"functions": str(functions), "attrs": str(attributes)}
    return json.dumps({"root": root, "nodes": graph.nodes, "b64ndarrays": [], "attrs": {"tvm_version": "0.12.0"}})


def table_of_integers(code):
    width = struct.calcsize(code)
    values = struct.unpack(f"<{BLOCK // width}{code}", random.randbytes(BLOCK))
    return [f"{'-' if value < 0 else '+'}0x{abs(value):0{2 * width}x}" for value in values]


def table_of_floats():
    """As C's %a prints them, without zeros at the end."""
    numbers = []
    for _ in range(BLOCK // 4):
        (value,) = struct.unpack("<f", struct.pack("<f", random.uniform(-1, 1)))
        digits, exponent = value.hex().split("p")
        numbers.append(digits.rstrip("0").rstrip(".") + "p" + exponent)
    return numbers


def write_c(path, megabytes, kind):
    random.seed(1)
    make, element, wide, per_line = {"int8": (lambda: table_of_integers("b"), "int8_t", "int32_t", 20),
                                     "int16": (lambda: table_of_integers("h"), "int16_t", "int32_t", 15),
                                     "int32": (lambda: table_of_integers("i"), "int32_t", "int32_t", 10),
                                     "float": (table_of_floats, "float", "float", 8)}[kind]
    with open(path, "w", encoding="utf-8") as file:
        file.write('// tvm target: c -keys=cpu\n#include "tvm/runtime/c_backend_api.h"\n')
        for k in range(megabytes):
            numbers = make()
            lines = ",\n    ".join(", ".join(numbers[i:i + per_line]) for i in range(0, len(numbers), per_line))
            file.write(f'static const {element} __attribute__((section(".rodata.tvm"), aligned(16))) constant_{k}[{len(numbers)}] = {{\n    {lines}\n}};\n')
        total = f"(({wide})x_buffer_var[i])"
        for k in range(megabytes):
            total = f"({total} + (({wide})constant_{k}[i]))"
        file.write(f"TVM_DLL int32_t tvmgen_default___tvm_main__({element}* x_buffer_var, {element}* output_buffer_var) {{\n"
                   f"  for (int32_t i = 0; i < {len(numbers)}; ++i) {{\n    output_buffer_var[i] = (({element}){total});\n  }}\n  return 0;\n}}\n")


def main():
    megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    if sys.argv[1].endswith(".c"):
        return write_c(sys.argv[1], megabytes, sys.argv[3] if len(sys.argv) > 3 else "int8")
    io_size = {"size": BLOCK, "dtype": "float32"}
    metadata = {"version": 7, "modules": {"default": {
        "model_name": "default", "export_datetime": "", "target": ["c"], "executors": ["aot"], "style": "full-model",
        "memory": {"functions": {"operator_functions": [], "main": [{
            "device": 1, "workspace_size_bytes": 0, "constants_size_bytes": 0, "io_size_bytes": 2 * BLOCK,
            "inputs": {"data": io_size}, "outputs": {"output": io_size}}]}}}}}
    with tarfile.open(sys.argv[1], "w") as tar:
        for name, text in (("metadata.json", json.dumps(metadata)), ("src/default.tir.json", module_json(megabytes))):
            info = tarfile.TarInfo("./" + name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))


if __name__ == "__main__":
    main()
