#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes keywords.tflite: a small network of separable convolutions, as keyword spotters are, with made-up weights.

    python3 testdata/tflite/keywords.py testdata/tflite/keywords.tflite

Twelve operators: CONV_2D, three pairs of DEPTHWISE_CONV_2D and CONV_2D, ADD, AVERAGE_POOL_2D, RESHAPE, FULLY_CONNECTED,
SOFTMAX. int8, one scale a channel. Numbers and layout are the file format's (FlatBuffers); nothing else is needed.
"""

from __future__ import annotations

import math
import struct
import sys
from pathlib import Path

INT8, INT16, INT32, INT64 = 9, 7, 2, 4
ADD, AVERAGE_POOL, CONV, DEPTHWISE, DENSE, RESHAPE, SOFTMAX = 0, 1, 3, 4, 9, 22, 25
# The type of each operator's table of options.
OPTIONS = {ADD: 11, AVERAGE_POOL: 5, CONV: 1, DEPTHWISE: 2, DENSE: 8, RESHAPE: 17, SOFTMAX: 9}
SAME, VALID = 0, 1
NONE, RELU = 0, 1


class Numbers:
    """The same on every machine."""

    def __init__(self) -> None:
        self.state = 1

    def below(self, end: int) -> int:
        self.state = (self.state * 1103515245 + 12345) % 2**31
        return (self.state >> 8) % end


# --- FlatBuffers: a table is {number of the field: (format, value)}, or {…: what has a place of its own} ------------------


class Vector:
    """Numbers, by struct's letter; texts, tables and vectors have none."""

    def __init__(self, letter: str, values: list | bytes, alignment: int = 4) -> None:
        self.letter, self.values, self.alignment = letter, values, alignment


def flatbuffer(root: dict, identifier: bytes) -> bytes:
    out = bytearray(struct.pack("<I4s", 0, identifier))
    later = [(0, root)]  # places of offsets, and what they lead to

    def align(size: int, ahead: int = 0) -> None:
        while (len(out) + ahead) % size:
            out.append(0)

    def table(fields: dict) -> int:
        sizes = {number: struct.calcsize("<" + value[0]) if isinstance(value, tuple) else 4 for number, value in fields.items()}
        end = 4
        places = {}
        for number in sorted(fields, key=lambda n: (-sizes[n], n)):
            end += -end % sizes[number]
            places[number] = end
            end += sizes[number]
        count = max(fields, default=-1) + 1
        align(2)
        while (len(out) + 4 + 2 * count) % 8 != 0:  # where the table begins
            out.append(0)
        out.extend(struct.pack("<HH", 4 + 2 * count, end))
        out.extend(b"".join(struct.pack("<H", places.get(number, 0)) for number in range(count)))
        start = len(out)
        out.extend(struct.pack("<i", 4 + 2 * count) + bytes(end - 4))
        for number, value in fields.items():
            at = start + places[number]
            if isinstance(value, tuple):
                struct.pack_into("<" + value[0], out, at, value[1])
            else:
                later.append((at, value))
        return start

    def vector(value: Vector) -> int:
        align(value.alignment, 4)
        start = len(out)
        out.extend(struct.pack("<I", len(value.values)))
        if value.letter == "bytes":
            out.extend(value.values)
        elif value.letter:
            out.extend(struct.pack(f"<{len(value.values)}{value.letter}", *value.values))
        else:
            for element in value.values:
                later.append((len(out), element))
                out.extend(bytes(4))
        return start

    def text(value: str) -> int:
        align(4)
        start = len(out)
        out.extend(struct.pack("<I", len(value)) + value.encode() + b"\0")
        return start

    for at, value in later:  # grows meanwhile
        start = table(value) if isinstance(value, dict) else vector(value) if isinstance(value, Vector) else text(value)
        struct.pack_into("<I", out, at, start - at)
    align(16)
    return bytes(out)


# --- The network ----------------------------------------------------------------------------------------------------------


class Network:
    def __init__(self) -> None:
        self.numbers = Numbers()
        self.buffers: list[dict] = [{}]
        self.tensors: list[dict] = []
        self.codes: list[int] = []
        self.operators: list[dict] = []

    def tensor(self, name: str, kind: int, shape: list[int], scales: list[float], zero_point: int, data: bytes = b"", axis: int = 0) -> int:
        number = 0
        if data:
            number = len(self.buffers)
            self.buffers.append({0: Vector("bytes", data, 16)})
        fields = {0: Vector("i", shape), 1: ("b", kind), 2: ("I", number), 3: name}
        if scales:
            fields[4] = {2: Vector("f", scales), 3: Vector("q", [zero_point] * len(scales), 8), 6: ("i", axis)}
        self.tensors.append(fields)
        return len(self.tensors) - 1

    def operator(self, code: int, inputs: list[int], output: int, options: dict) -> int:
        if code not in self.codes:
            self.codes.append(code)
        self.operators.append({0: ("I", self.codes.index(code)), 1: Vector("i", inputs), 2: Vector("i", [output]),
                               3: ("B", OPTIONS[code]), 4: options})
        return output

    def shape(self, tensor: int) -> list[int]:
        return self.tensors[tensor][0].values

    def layer(self, name: str, code: int, source: int, kernel: tuple[int, int], outputs: int, stride: int = 1, gain: float = 1.0) -> int:
        """A convolution or dense layer. The weights' variance keeps that of what comes in, but for `gain`."""
        shape, scale = self.shape(source), self.tensors[source][4][2].values[0]
        channels = shape[-1]
        taps = kernel[0] * kernel[1] * (1 if code == DEPTHWISE else channels)
        weights = {CONV: [outputs, *kernel, channels], DEPTHWISE: [1, *kernel, channels], DENSE: [outputs, channels]}[code]
        data = bytes((self.numbers.below(255) - 127) & 0xFF for _ in range(math.prod(weights)))
        base = gain * math.sqrt(2 / taps) / 74
        scales = [base * (0.5 + self.numbers.below(64) / 64) for _ in range(1 if code == DENSE else outputs)]
        last = code == DENSE
        offsets = [self.numbers.below(401) - 200 for _ in range(outputs)]
        bias_scales = [scale * one for one in scales]
        w = self.tensor(f"{name}/weights", INT8, weights, scales, 0, data, 3 if code == DEPTHWISE else 0)
        b = self.tensor(f"{name}/bias", INT32, [outputs], bias_scales, 0, struct.pack(f"<{outputs}i", *offsets))
        rows, columns = ((shape[1] - 1) // stride + 1, (shape[2] - 1) // stride + 1) if not last else (0, 0)
        out_shape = [1, outputs] if last else [1, rows, columns, outputs]
        out = self.tensor(f"{name}/{'BiasAdd' if last else 'Relu'}", INT8, out_shape, [0.1 if last else 0.05], 7 if last else -128)
        if last:
            options = {}
        elif code == CONV:
            options = {0: ("b", SAME), 1: ("i", stride), 2: ("i", stride), 3: ("b", RELU), 4: ("i", 1), 5: ("i", 1)}
        else:
            options = {0: ("b", SAME), 1: ("i", stride), 2: ("i", stride), 3: ("i", 1), 4: ("b", RELU), 5: ("i", 1), 6: ("i", 1)}
        return self.operator(code, [source, w, b], out, options)

    def file(self, source: int, result: int) -> bytes:
        graph = {0: Vector("", self.tensors), 1: Vector("i", [source]), 2: Vector("i", [result]), 3: Vector("", self.operators)}
        codes = [{0: ("b", code), 2: ("i", 1), 3: ("i", code)} for code in self.codes]
        names = {0: Vector("", [{0: "mfcc", 1: ("I", source)}]), 1: Vector("", [{0: "scores", 1: ("I", result)}]), 2: "serving_default",
                 4: ("I", 0)}
        return flatbuffer({0: ("I", 3), 1: Vector("", codes), 2: Vector("", [graph]), 3: "usmp-plan's keywords", 4: Vector("", self.buffers),
                           7: Vector("", [names])}, b"TFL3")


def keywords() -> bytes:
    net = Network()
    source = net.tensor("serving_default_mfcc:0", INT8, [1, 49, 10, 1], [0.05], 5)
    x = net.layer("conv", CONV, source, (10, 4), 16, stride=2)
    x = net.layer("depthwise_1", DEPTHWISE, x, (3, 3), 16)
    x = net.layer("pointwise_1", CONV, x, (1, 1), 24)
    x = net.layer("depthwise_2", DEPTHWISE, x, (3, 3), 24, stride=2)
    x = skip = net.layer("pointwise_2", CONV, x, (1, 1), 32)
    x = net.layer("depthwise_3", DEPTHWISE, x, (3, 3), 32)
    x = net.layer("pointwise_3", CONV, x, (1, 1), 32)
    shape = net.shape(x)
    both = net.tensor("add/Relu", INT8, shape, [0.07], -128)
    x = net.operator(ADD, [skip, x], both, {0: ("b", RELU)})
    mean = net.tensor("mean", INT8, [1, 1, 1, shape[3]], [0.07], -128)
    x = net.operator(AVERAGE_POOL, [x], mean, {0: ("b", VALID), 1: ("i", 1), 2: ("i", 1), 3: ("i", shape[2]), 4: ("i", shape[1]), 5: ("b", NONE)})
    flat = net.tensor("flatten", INT8, [1, shape[3]], [0.07], -128)
    form = net.tensor("flatten/shape", INT32, [2], [], 0, struct.pack("<2i", 1, shape[3]))
    x = net.operator(RESHAPE, [x, form], flat, {0: Vector("i", [1, shape[3]])})
    x = net.layer("dense", DENSE, x, (1, 1), 10, gain=1.4)
    scores = net.tensor("StatefulPartitionedCall:0", INT8, [1, 10], [1 / 256], -128)
    x = net.operator(SOFTMAX, [x], scores, {0: ("f", 1.0)})
    return net.file(source, x)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Path(sys.argv[1]).write_bytes(keywords())
