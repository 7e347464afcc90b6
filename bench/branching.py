#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Networks with many branches as TIR modules (JSON): branching.py inception|wired|cells N OUT.json [--seed S].

inception: N blocks of four branches that are concatenated; wired: N convolutions, each of some that stand
before it (randomly wired, as of neural architecture search); cells: N cells of five nodes, each the sum of two others.
Convolutions pad their input into scratch memory, as TVM's do. The same arguments give the same module.

    for n in 2 6; do bench/branching.py inception $n i$n.json; time build/usmp-plan i$n.json -o out; done
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from growth import Program  # noqa: E402


class Network(Program):
    """Tensors of height x width x channels; an operator for each shape, like TVM's."""

    def __init__(self) -> None:
        super().__init__("float32")
        self.shapes: dict[int, tuple[int, int, int]] = {}
        self.known: dict[tuple, str] = {}

    def elements(self, data: int) -> int:
        height, width, channels = self.shapes[data]
        return height * width * channels

    def buffer(self, data: int) -> int:
        if data not in self.buffers:
            extents = self.graph.array([self.integer(self.elements(data))])
            self.buffers[data] = self.graph.add("tir.Buffer", data=data, dtype=self.dtype, shape=extents, strides=self.none,
                                                elem_offset=self.integer(0), name=self.graph.string("b"), data_alignment=64,
                                                offset_factor=1, buffer_type=1, axis_separators=self.none, span=0)
        return self.buffers[data]

    def allocated(self, data: int, body: int) -> int:
        extents = self.graph.array([self.integer(self.elements(data))])
        return self.graph.add("tir.Allocate", buffer_var=data, dtype=self.dtype, extents=extents, condition=self.true, body=body,
                              annotations=self.no_map, span=0)

    def shaped(self, name: str, shape: tuple[int, int, int]) -> int:
        data = self.pointer(name)
        self.shapes[data] = shape
        return data

    def node(self, shape: tuple[int, int, int]) -> int:
        data = self.tensor()
        self.shapes[data] = shape
        return data

    def value(self, number: int) -> int:
        return self.graph.add("FloatImm", dtype=self.dtype, value=float(number), span=0)

    # --- Indices ---

    def plus(self, a: int, b: int) -> int:
        return self.binary("Add", a, b, "int32")

    def times(self, a: int, number: int) -> int:
        return self.binary("Mul", a, self.integer(number), "int32")

    def at(self, shape: tuple[int, int, int], y: int, x: int, c: int) -> int:
        return self.plus(self.times(self.plus(self.times(y, shape[1]), x), shape[2]), c)

    def nest(self, extents: list[int], body_of) -> int:
        names = [self.graph.add("tir.Var", dtype="int32", name=self.graph.string(f"i{i}"), type_annotation=self.int_type, span=0)
                 for i in range(len(extents))]
        body = body_of(*names)
        for variable, extent in reversed(list(zip(names, extents))):
            body = self.graph.add("tir.For", loop_var=variable, min=self.integer(0), extent=self.integer(extent), kind=0, body=body,
                                  annotations=self.no_map, thread_binding=0, span=0)
        return body

    def store(self, data: int, index: int, value: int) -> int:
        return self.graph.add("tir.BufferStore", buffer=self.buffer(data), value=value, indices=self.graph.array([index]), span=0)

    # --- Operators ---

    def padded(self, source: int, target: int, border: int) -> int:
        """Copies with a border of zeros."""
        old, new = self.shapes[source], self.shapes[target]

        def body(y, x, c):
            bounds = [self.binary("LE", self.integer(border), y, "bool"), self.binary("LT", y, self.integer(old[0] + border), "bool"),
                      self.binary("LE", self.integer(border), x, "bool"), self.binary("LT", x, self.integer(old[1] + border), "bool")]
            inside = bounds[0]
            for bound in bounds[1:]:
                inside = self.binary("And", inside, bound, "bool")
            index = self.at(old, self.binary("Sub", y, self.integer(border), "int32"), self.binary("Sub", x, self.integer(border), "int32"), c)
            choice = self.graph.add("tir.Call", dtype=self.dtype, op=self.if_then_else(), span=0,
                                    args=self.graph.array([inside, self.load(source, index), self.value(0)]))
            return self.store(target, self.at(new, y, x, c), choice)
        return self.nest(list(new), body)

    def if_then_else(self) -> int:
        if not hasattr(self, "choice"):
            self.choice = self.graph.add("Op", repr_str="tir.if_then_else")
        return self.choice

    def convolution(self, old: tuple[int, int, int], channels: int, window: int) -> str:
        """A window over all channels; its weights are small numbers."""
        key = ("conv", old, channels, window)
        if key in self.known:
            return self.known[key]
        self.known[key] = name = f"conv{window}_{'x'.join(map(str, old))}_{channels}"
        new = (old[0], old[1], channels)
        source, target = self.shaped("p0", old), self.shaped("p1", new)
        wide = (old[0] + window - 1, old[1] + window - 1, old[2])
        pad = self.shaped("pad", wide) if window > 1 else source

        def sums(y, x, c):
            zero = self.store(target, self.at(new, y, x, c), self.value(0))
            def add(dy, dx, k):
                place = self.at(wide, self.plus(y, dy), self.plus(x, dx), k)
                product = self.binary("Mul", self.load(pad, place), self.value(2))
                return self.store(target, self.at(new, y, x, c), self.binary("Add", self.load(target, self.at(new, y, x, c)), product))
            return self.sequence([zero, self.nest([window, window, old[2]], add)])
        body = self.nest(list(new), sums)
        if window > 1:
            body = self.allocated(pad, self.sequence([self.padded(source, pad, window // 2), body]))
        self.function(name, [source, target], body)
        return name

    def total(self, count: int, shape: tuple[int, int, int]) -> str:
        key = ("sum", count, shape)
        if key not in self.known:
            self.known[key] = name = f"sum{count}_{'x'.join(map(str, shape))}"
            data = [self.shaped(f"p{i}", shape) for i in range(count + 1)]

            def body(i):
                value = self.load(data[0], i)
                for other in data[1:-1]:
                    value = self.binary("Add", value, self.load(other, i))
                return self.store(data[-1], i, value)
            self.function(name, data, self.nest([shape[0] * shape[1] * shape[2]], body))
        return self.known[key]

    def joined(self, shapes: list[tuple[int, int, int]]) -> str:
        key = ("concatenate", *shapes)
        if key not in self.known:
            self.known[key] = name = f"concatenate{len(self.known)}"
            target_shape = (*shapes[0][:2], sum(shape[2] for shape in shapes))
            data = [self.shaped(f"p{i}", shape) for i, shape in enumerate(shapes)]
            target = self.shaped("out", target_shape)
            nests, begin = [], 0
            for source, shape in zip(data, shapes):
                nests.append(self.nest(list(shape), lambda y, x, c, source=source, shape=shape, begin=begin: self.store(
                    target, self.at(target_shape, y, x, self.plus(c, self.integer(begin))), self.load(source, self.at(shape, y, x, c)))))
                begin += shape[2]
            self.function(name, [*data, target], self.sequence(nests))
        return self.known[key]

    # --- Calls ---

    def convolve(self, source: int, channels: int, window: int = 3, target: int = 0) -> int:
        new = target or self.node((*self.shapes[source][:2], channels))
        self.call(self.convolution(self.shapes[source], channels, window), source, new)
        return new

    def add_up(self, sources: list[int]) -> int:
        if len(sources) == 1:
            return sources[0]
        new = self.node(self.shapes[sources[0]])
        self.call(self.total(len(sources), self.shapes[new]), *sources, new)
        return new

    def join(self, sources: list[int]) -> int:
        if len(sources) == 1:
            return sources[0]
        shapes = [self.shapes[source] for source in sources]
        new = self.node((*shapes[0][:2], sum(shape[2] for shape in shapes)))
        self.call(self.joined(shapes), *sources, new)
        return new

    def begin(self, shape: tuple[int, int, int]) -> int:
        data = self.parameter("input")
        self.shapes[data] = shape
        return data

    def end(self, source: int) -> None:
        output = self.parameter("output")
        self.shapes[output] = (*self.shapes[source][:2], 2)
        self.convolve(source, 2, 1, output)


def inception(count: int, rng: random.Random) -> Network:
    net = Network()
    at = net.convolve(net.begin((24, 24, 3)), 16)
    for block in range(count):
        wide = 8 * rng.randint(1, 4)
        branches = [net.convolve(at, 8, 1),
                    net.convolve(net.convolve(at, 8, 1), wide),
                    net.convolve(net.convolve(net.convolve(at, 4 + 4 * (block % 3), 1), 8), 16),
                    net.convolve(at, 8)]
        at = net.join(branches)
    net.end(at)
    return net


def wired(count: int, rng: random.Random) -> Network:
    net = Network()
    nodes = [net.convolve(net.begin((16, 16, 3)), 8)]
    unread = set()
    for i in range(count - 1):
        sources = {nodes[-1 - min(len(nodes) - 1, int(rng.expovariate(0.15)))] for _ in range(rng.randint(1, 3))}
        if i % 4 == 3 and unread:
            sources.add(min(unread))
        unread -= sources
        nodes.append(net.convolve(net.join(sorted(sources)), 4 * rng.randint(1, 6), rng.choice((1, 3))))
        unread.add(nodes[-1])
    net.end(net.join(sorted(unread)))
    return net


def cells(count: int, rng: random.Random) -> Network:
    net = Network()
    before = at = net.convolve(net.begin((16, 16, 3)), 8)
    for _ in range(count):
        nodes = [net.convolve(before, 8, 1), net.convolve(at, 8, 1)]
        read = set()
        for _ in range(5):
            chosen = rng.sample(nodes, 2)
            read.update(chosen)
            nodes.append(net.add_up([net.convolve(chosen[0], 8), net.convolve(chosen[1], 8, 1)]))
        before, at = at, net.join([node for node in nodes if node not in read])
    net.end(at)
    return net


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"inception": inception, "wired": wired, "cells": cells}
    parser.add_argument("kind", choices=sorted(kinds))
    parser.add_argument("count", type=int)
    parser.add_argument("output", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.output.write_text(kinds[arguments.kind](arguments.count, random.Random(arguments.seed)).json())


if __name__ == "__main__":
    main()
