#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""MobileNetV2 as a TIR module (JSON): mobilenet_v2.py OUT.json [--side 144] [--width 0.35] [--shortcuts].

int8, as patch-based systems publish figures of it: a convolution of 3x3, 17 blocks of an expansion, a depthwise
convolution and a projection, a last convolution. Operators pad their input into scratch memory and sum up the channels of a
pixel in int32, as TVM's do; weights are made up, since memory and work do not depend on them. Without --shortcuts blocks
do not add their input, which is how msf-CNN counts. The same arguments give the same module.

    bench/mobilenet_v2.py m144.json && build/usmp-plan compare m144.json --recompute 0,10,30,70
"""

from __future__ import annotations

import argparse
import base64
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from branching import Network  # noqa: E402

Shape = tuple[int, int, int]

# expansion, channels, repetitions, stride of the first
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


class ByteNetwork(Network):
    """Tensors are int8, sums int32."""

    def __init__(self) -> None:
        super().__init__()
        self.types: dict[int, str] = {}
        self.pointers = {dtype: self.graph.add("PointerType", element_type=self.graph.add("PrimType", dtype=dtype),
                                               storage_scope=self.graph.string("global")) for dtype in ("int8", "int32")}

    def pointer(self, name: str, dtype: str = "int8") -> int:
        data = self.graph.add("tir.Var", dtype="handle", name=self.graph.string(name), type_annotation=self.pointers[dtype], span=0)
        self.types[data] = dtype
        return data

    def in_type(self, data: int, make, *arguments):
        self.dtype = self.types[data]
        return make(*arguments)

    def buffer(self, data: int) -> int:
        return self.in_type(data, super().buffer, data)

    def allocated(self, data: int, body: int) -> int:
        return self.in_type(data, super().allocated, data, body)

    def load(self, data: int, index: int) -> int:
        return self.in_type(data, super().load, data, index)

    def number(self, value: int, dtype: str) -> int:
        return self.graph.integer(value, dtype)

    def value(self, number: int) -> int:
        return self.number(number, self.dtype)

    def cast(self, value: int, dtype: str) -> int:
        return self.graph.add("tir.Cast", dtype=dtype, value=value, span=0)

    def padded_shape(self, old: Shape, window: int) -> Shape:
        return (old[0] + window - 1, old[1] + window - 1, old[2])

    def out_shape(self, old: Shape, channels: int, stride: int) -> Shape:
        return (-(-old[0] // stride), -(-old[1] // stride), channels)

    def window(self, old: Shape, channels: int, window: int, stride: int, depthwise: bool) -> str:
        """A convolution, its sums clipped to int8."""
        key = ("window", old, channels, window, stride, depthwise)
        if key in self.known:
            return self.known[key]
        kind = "depthwise" if depthwise else "conv2d"
        self.known[key] = name = f"{kind}{window}_{'x'.join(map(str, old))}_{channels}_{stride}"
        weights = self.pointer("weights")
        inputs = 1 if depthwise else old[2]
        self.shapes[weights] = (window * window, inputs, channels)
        new, wide = self.out_shape(old, channels, stride), self.padded_shape(old, window)
        source, target = self.shaped("p0", old), self.shaped("p1", new)
        pad = self.shaped("PaddedInput", wide) if window > 1 else source
        sums = self.pointer("conv2d_nhwc", "int32")
        self.shapes[sums] = (1, 1, channels)

        def pixel(y: int, x: int) -> int:
            def terms(c: int) -> int:
                def add(dy: int, dx: int, k: int = 0) -> int:
                    place = self.at(wide, self.plus(self.times(y, stride), dy), self.plus(self.times(x, stride), dx), k or c)
                    tap = self.plus(self.times(dy, window), dx)
                    weight = self.at(self.shapes[weights], tap, k, c) if k else self.plus(self.times(tap, channels), c)
                    product = self.binary("Mul", self.cast(self.load(pad, place), "int32"), self.cast(self.load(weights, weight), "int32"), "int32")
                    return self.store(sums, c, self.binary("Add", self.load(sums, c), product, "int32"))
                return self.sequence([self.store(sums, c, self.number(0, "int32")),
                                      self.nest([window, window] if depthwise else [window, window, old[2]], add)])

            def clip(c: int) -> int:
                small = self.binary("FloorDiv", self.load(sums, c), self.number(16, "int32"), "int32")
                low = self.binary("Max", small, self.number(-128, "int32"), "int32")
                high = self.binary("Min", low, self.number(127, "int32"), "int32")
                return self.store(target, self.at(new, y, x, c), self.cast(high, "int8"))
            return self.allocated(sums, self.sequence([self.nest([channels], terms), self.nest([channels], clip)]))
        body = self.nest(list(new[:2]), pixel)
        if window > 1:
            self.dtype = "int8"
            body = self.allocated(pad, self.sequence([self.padded(source, pad, window // 2), body]))
        self.function(name, [source, target], self.with_weights(weights, body))
        return name

    def with_weights(self, weights: int, body: int) -> int:
        count = self.elements(weights)
        blob = struct.pack("<QQiiiBBHqq", 0xDD5E40F096B4A13F, 0, 1, 0, 1, 0, 8, 1, count, count)
        blob += bytes((i * i + 7 * i) % 15 - 7 & 0xFF for i in range(count))
        array = self.graph.add("runtime.NDArray", repr_str=base64.b64encode(blob).decode())
        return self.graph.add("tir.AllocateConst", buffer_var=weights, data=array, dtype="int8", annotations=self.no_map, body=body,
                              extents=self.graph.array([self.integer(count)]), span=0)

    def apply(self, source: int, channels: int, window: int = 1, stride: int = 1, depthwise: bool = False, target: int = 0) -> int:
        old = self.shapes[source]
        new = target or self.node(self.out_shape(old, channels, stride))
        self.call(self.window(old, channels, window, stride, depthwise), source, new)
        return new

    def add_pair(self, a: int, b: int) -> int:
        self.dtype = "int8"
        return self.add_up([a, b])


def mobilenet_v2(side: int, width: float, shortcuts: bool) -> ByteNetwork:
    net = ByteNetwork()
    at = net.apply(net.begin((side, side, 3)), int(32 * width), 3, 2)
    for expansion, wide, repetitions, first_stride in BLOCKS:
        for i in range(repetitions):
            before, stride, channels = at, first_stride if i == 0 else 1, int(wide * width)
            at = net.apply(at, net.shapes[at][2] * expansion)
            at = net.apply(at, net.shapes[at][2], 3, stride, True)
            at = net.apply(at, channels)
            if shortcuts and net.shapes[at] == net.shapes[before]:
                at = net.add_pair(at, before)
    output = net.parameter("output")
    channels = int(1280 * width)
    net.shapes[output] = (*net.shapes[at][:2], channels)
    net.apply(at, channels, target=output)
    return net


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--side", type=int, default=144)
    parser.add_argument("--width", type=float, default=0.35)
    parser.add_argument("--shortcuts", action="store_true")
    arguments = parser.parse_args()
    arguments.output.write_text(mobilenet_v2(arguments.side, arguments.width, arguments.shortcuts).json())


if __name__ == "__main__":
    main()
