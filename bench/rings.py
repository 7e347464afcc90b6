#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""A lower figure for float networks run by rows: the workspace of the best division of their operators into chains.

Of a chain every tensor inside holds the rows that are still to be read, in a ring of fixed height, as many as are live
at one time; tensors at its ends are whole, and share bytes as their rows come and go. Padded copies are operators, sums
of one pixel and what comes after a global pool are left out. Prints for each network the figure, and the chains, with
padded copies as TVM makes them and with none; and the figure if tensors of several planes (blocks of four channels) share
nothing, since their rows do not stand side by side.

    rings.py [NETWORK ...]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

FLOAT = 4


@dataclass
class Operator:
    """Row n reads rows step * n // per + [low, high] of each input; None: all of them are summed up, row after row."""
    name: str
    reads: list[tuple[int, int, int, int, int]]  # tensor, step, per, low, high
    rows: int
    row_bytes: int
    sums: bool = False


@dataclass
class Network:
    rows: int
    row_bytes: int
    has_copies: bool
    operators: list[Operator] = field(default_factory=list)  # operator i makes tensor i + 1; tensor 0 is the input
    channels: dict[int, int] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)

    def add(self, name: str, reads: list[tuple[int, int, int, int, int]], size: int, columns: int, channels: int) -> int:
        self.operators.append(Operator(name, reads, size, columns * channels * FLOAT))
        tensor = len(self.operators)
        self.channels[tensor], self.sizes[tensor] = channels, size
        return tensor

    def elementwise(self, name: str, *tensors: int) -> int:
        size = self.sizes[tensors[0]]
        return self.add(name, [(t, 1, 1, 0, 0) for t in tensors], size, size, self.channels[tensors[0]])

    def convolution(self, tensor: int, channels: int, kernel: int = 3) -> int:
        size, pad = self.sizes[tensor], kernel // 2
        if pad and not self.has_copies:
            return self.add(f"conv{kernel}", [(tensor, 1, 1, -pad, pad)], size, size, channels)
        if pad:
            high = size + 2 * pad
            tensor = self.add("pad", [(tensor, 1, 1, -pad, -pad)], high, high, self.channels[tensor])
        return self.add(f"conv{kernel}", [(tensor, 1, 1, 0, kernel - 1)], size, size, channels)

    def pool(self, tensor: int) -> int:
        size = self.sizes[tensor] // 2
        return self.add("pool", [(tensor, 2, 1, 0, 1)], size, size, self.channels[tensor])

    def average(self, tensor: int) -> int:
        size = self.sizes[tensor]
        return self.add("average", [(tensor, 1, 1, -1, 1)], size, size, self.channels[tensor])

    def concatenate(self, *tensors: int, upsampled: int | None = None) -> int:
        size = self.sizes[tensors[0]]
        reads = [(t, 1, 1, 0, 0) for t in tensors]
        channels = sum(self.channels[t] for t in tensors)
        if upsampled is not None:
            reads.append((upsampled, 1, 2, 0, 0))
            channels += self.channels[upsampled]
        return self.add("concatenate", reads, size, size, channels)

    def total(self, tensor: int) -> None:
        operator = Operator("sum", [(tensor, 1, 1, 0, 0)], self.sizes[tensor], 0, sums=True)
        operator.row_bytes = 0
        self.operators.append(operator)
        self.sizes[len(self.operators)] = self.sizes[tensor]
        self.channels[len(self.operators)] = 0


def image(size: int, channels: int, has_copies: bool) -> Network:
    network = Network(size, size * channels * FLOAT, has_copies)
    network.channels[0], network.sizes[0] = channels, size
    return network


def unet(has_copies: bool) -> Network:
    n = image(32, 1, has_copies)
    skips, t = [], n.elementwise("layout", 0)
    for channels in (8, 16, 32):
        t = n.convolution(n.convolution(t, channels), channels)
        skips.append(t)
        t = n.pool(t)
    t = n.convolution(t, 64)
    for skip in reversed(skips):
        t = n.convolution(n.concatenate(skip, upsampled=t), n.channels[skip])
    n.elementwise("layout", n.convolution(n.elementwise("layout", t), 1, 1))
    return n


def inception(has_copies: bool) -> Network:
    n = image(24, 3, has_copies)
    t = n.convolution(n.elementwise("layout", 0), 16)
    for _ in range(2):
        a = n.convolution(t, 8, 1)
        b = n.convolution(n.convolution(t, 8, 1), 12, 5)
        c = n.convolution(n.convolution(n.convolution(t, 8, 1), 12), 12)
        d = n.convolution(n.average(t), 8, 1)
        t = n.concatenate(a, b, c, d)
    n.total(t)
    return n


def randwire(has_copies: bool) -> Network:
    n = image(16, 3, has_copies)

    def conv3(tensor: int) -> int:
        return n.convolution(tensor, 8)

    def conv1(tensor: int) -> int:
        return n.convolution(tensor, 8, 1)

    def add(*tensors: int) -> int:
        return n.elementwise("add", *tensors)

    s2 = conv3(n.elementwise("layout", 0))
    s3, s4 = conv1(s2), conv1(s2)
    s5, s6 = conv1(s4), conv3(s2)
    s7 = add(s3, s6)
    s9 = conv1(add(s7, s5))
    s11 = conv3(add(s3, s5, s9))
    s13 = conv1(add(s3, s4))
    s15 = conv1(add(s6, s13, s9))
    s17 = conv1(add(s5, s9, s15))
    s19 = conv1(add(s9, s15, s17))
    s20 = add(conv3(s7), s4, s13)
    s21 = conv1(s20)
    s23 = add(conv3(add(s9, s21)), s21, s17)
    n.total(n.concatenate(s11, s19, conv3(s23)))
    return n


def repeated_op(has_copies: bool) -> Network:
    n = image(12, 8, has_copies)
    t = n.elementwise("layout", 0)
    for i in range(3):
        t = n.elementwise("softmax", n.elementwise("layout", n.convolution(t, 8)))
        if i < 2:
            t = n.elementwise("layout", t)
    return n


class Chain:
    """Operators [first, last) by rows, each row of a tensor just before it is needed."""

    def __init__(self, network: Network, first: int, last: int, in_planes: bool, order: str) -> None:
        self.network, self.first, self.last, self.in_planes, self.order = network, first, last, in_planes, order
        self.depth = [0]  # by tensor: the longest way back to the input
        for operator in network.operators:
            self.depth.append(1 + max(self.depth[read[0]] for read in operator.reads))
        self.readers: dict[int, list[tuple[int, tuple[int, int, int, int, int]]]] = {}
        for i, operator in enumerate(network.operators):
            for read in operator.reads:
                self.readers.setdefault(read[0], []).append((i, read))
        self.done = {i: 0 for i in range(first, last)}
        self.ring: dict[int, int] = {}
        self.whole = self.peak = sum(self.bytes(t) for t in self.touched() if not self.is_inside(t))
        self.freed: dict[int, int] = {}

    def bytes(self, tensor: int) -> int:
        if tensor == 0:
            return 0  # the caller's
        operator = self.network.operators[tensor - 1]
        is_output = tensor not in self.readers and not operator.sums
        return 0 if is_output else operator.rows * operator.row_bytes

    def is_scattered(self, tensor: int) -> bool:
        return self.in_planes and self.network.channels[tensor] > 4

    def touched(self) -> set[int]:
        return {read[0] for i in range(self.first, self.last) for read in self.network.operators[i].reads}

    def is_inside(self, tensor: int) -> bool:
        return self.first <= tensor - 1 < self.last

    def is_ring(self, tensor: int) -> bool:
        return self.is_inside(tensor) and tensor in self.readers and all(i < self.last for i, _ in self.readers[tensor])

    def rows_of(self, operator: int, read: tuple[int, int, int, int, int]) -> tuple[int, int]:
        tensor, step, per, low, high = read
        base = step * (self.done[operator] // per)
        return max(base + low, 0), min(base + high, self.network.sizes[tensor] - 1)

    def oldest(self, tensor: int) -> int:
        rows = [self.rows_of(i, read)[0] for i, read in self.readers[tensor]
                if self.first <= i < self.last and self.done[i] < self.network.operators[i].rows]
        return min(rows, default=self.network.sizes[tensor])

    def run(self) -> int:
        ends = [i for i in range(self.first, self.last) if not self.is_ring(i + 1)]
        while any(self.done[i] < self.network.operators[i].rows for i in ends):
            left = [i for i in ends if self.done[i] < self.network.operators[i].rows]
            self.produce(min(left, key=lambda i: (self.done[i] / self.network.operators[i].rows, -i)))
        rings = sum(rows * self.network.operators[t - 1].row_bytes for t, rows in self.ring.items())
        around = sum(self.bytes(t) for t in range(1, self.first + 1) if t in self.readers and t not in self.touched()
                     and any(i >= self.last for i, _ in self.readers[t]))
        return rings + self.peak + around

    def produce(self, operator: int) -> None:
        stack = [operator]
        while stack:
            i = stack[-1]
            missing = [read[0] for read in self.network.operators[i].reads if self.is_inside(read[0])
                       and self.done[read[0] - 1] <= self.rows_of(i, read)[1]]
            if missing:
                stack.append({"deepest": max(missing, key=lambda tensor: self.depth[tensor]), "first": missing[0],
                              "last": missing[-1]}[self.order] - 1)
                continue
            stack.pop()
            self.write(i)

    def write(self, i: int) -> None:
        tensor, operator = i + 1, self.network.operators[i]
        if self.is_ring(tensor):
            held = self.done[i] + 1 - min(self.oldest(tensor), self.done[i])
            self.ring[tensor] = max(self.ring.get(tensor, 0), held)
        elif self.bytes(tensor):
            if not self.is_scattered(tensor):
                self.whole += operator.row_bytes
            elif self.done[i] == 0:
                self.whole += self.bytes(tensor)
            self.peak = max(self.peak, self.whole)
        self.done[i] += 1
        for tensor, *_ in operator.reads:
            ends_here = all(reader < self.last for reader, _ in self.readers[tensor])
            if self.is_inside(tensor) or not ends_here or not self.bytes(tensor):
                continue
            dead = self.oldest(tensor)
            if self.is_scattered(tensor) and dead < self.network.sizes[tensor]:
                continue
            self.whole -= (dead - self.freed.get(tensor, 0)) * self.network.operators[tensor - 1].row_bytes
            self.freed[tensor] = dead


def best_division(network: Network, in_planes: bool) -> tuple[int, list[tuple[int, int, int]]]:
    count = len(network.operators)
    best: list[tuple[int, list[tuple[int, int, int]]] | None] = [None] * count + [(0, [])]
    for first in range(count - 1, -1, -1):
        for last in range(first + 1, count + 1):
            cost = min(Chain(network, first, last, in_planes, order).run() for order in ("deepest", "first", "last"))
            rest = best[last]
            assert rest is not None
            largest = max(cost, rest[0])
            if best[first] is None or largest < best[first][0]:
                best[first] = (largest, [(first, last, cost), *rest[1]])
    assert best[0] is not None
    return best[0]


def main() -> None:
    networks = {"unet": unet, "inception": inception, "randwire": randwire, "repeated_op": repeated_op}
    for name in sys.argv[1:] or networks:
        for has_copies in (True, False):
            network = networks[name](has_copies)
            figure, chains = best_division(network, in_planes=False)
            in_planes, _ = best_division(network, in_planes=True)
            print(f"{name}, {'padded copies' if has_copies else 'no copies'}: {figure} bytes; {in_planes} in planes")
            for first, last, cost in chains:
                names = network.operators[first].name + (f" to {network.operators[last - 1].name}" if last > first + 1 else "")
                print(f"  operators {first + 1} to {last} ({names}): {cost}")


if __name__ == "__main__":
    main()
