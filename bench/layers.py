#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Instructions for each multiply-accumulate of layers as public int8 models have them.

Each is a TensorFlow Lite model of one layer with made-up weights, planned for a core, run under qemu and compared with what
portable C computes without any transformation. Counted are all instructions of an inference, requantisation included, by
products that the shape has, those with padding included. With --check the estimates of the plans are held against the counts.

Without a core's compiler or qemu: exit code 77.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import struct
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests/e2e"), str(HERE.parent / "testdata/tflite")]
import golden
import instructions
import keywords
from golden import Failure, run
from keywords import CONV, DENSE, DEPTHWISE, INT8, INT16, INT32, INT64, NONE, RELU, SAME, VALID

KINDS = {CONV: "conv", DEPTHWISE: "depthwise", DENSE: "dense"}


@dataclass
class Layer:
    """Inputs are H x W x C; `outputs` of a depthwise layer are a multiple of C."""
    name: str
    kind: int
    inputs: tuple[int, int, int]
    outputs: int
    window: tuple[int, int] = (1, 1)
    stride: int = 1
    padding: int = SAME
    zero_point: int = -128  # of the inputs: behind a ReLU
    bits: int = 8  # of inputs and outputs; of 16 the zero points are 0

    @property
    def pixels(self) -> tuple[int, int]:
        if self.kind == DENSE:
            return 1, 1
        cut = (0, 0) if self.padding == SAME else (self.window[0] - 1, self.window[1] - 1)
        return tuple((size - less - 1) // self.stride + 1 for size, less in zip(self.inputs, cut))

    @property
    def products(self) -> int:
        taps = math.prod(self.window) if self.kind == DEPTHWISE else math.prod(self.window) * self.inputs[2]
        return math.prod(self.pixels) * self.outputs * taps

    def file(self) -> bytes:
        net = keywords.Network()
        channels, is_dense = self.inputs[2], self.kind == DENSE
        is_wide = self.bits == 16
        element, scale = (INT16, 0.0005) if is_wide else (INT8, 0.05)
        source = net.tensor("x", element, [1, channels] if is_dense else [1, *self.inputs], [scale], 0 if is_wide else self.zero_point)
        taps = self.products // (math.prod(self.pixels) * self.outputs)
        shape = {CONV: [self.outputs, *self.window, channels], DEPTHWISE: [1, *self.window, self.outputs], DENSE: [self.outputs, channels]}[self.kind]
        below = net.numbers.below
        weights = bytes((below(255) - 127) & 0xFF for _ in range(math.prod(shape)))
        base = math.sqrt(2 / taps) / 74
        scales = [base * (0.5 + below(64) / 64) for _ in range(1 if is_dense else self.outputs)]
        w = net.tensor("w", INT8, shape, scales, 0, weights, 3 if self.kind == DEPTHWISE else 0)
        offsets = struct.pack(f"<{self.outputs}{'q' if is_wide else 'i'}", *[below(401) - 200 for _ in range(self.outputs)])
        b = net.tensor("b", INT64 if is_wide else INT32, [self.outputs], [scale * one for one in scales], 0, offsets)
        y = net.tensor("y", element, [1, self.outputs] if is_dense else [1, *self.pixels, self.outputs], [scale], 0 if is_wide else -128)
        step = {1: ("i", self.stride), 2: ("i", self.stride)}
        options = {CONV: {0: ("b", self.padding), **step, 3: ("b", RELU), 4: ("i", 1), 5: ("i", 1)},
                   DEPTHWISE: {0: ("b", self.padding), **step, 3: ("i", self.outputs // channels), 4: ("b", RELU), 5: ("i", 1), 6: ("i", 1)},
                   DENSE: {0: ("b", NONE)}}[self.kind]
        net.operator(self.kind, [source, w, b], y, options)
        return net.file(source, y)


def conv(name: str, inputs: tuple, outputs: int, window: tuple = (1, 1), **more) -> Layer:
    return Layer(name, CONV, inputs, outputs, window, **more)


def depthwise(name: str, inputs: tuple, window: tuple = (3, 3), multiplier: int = 1, **more) -> Layer:
    return Layer(name, DEPTHWISE, inputs, inputs[2] * multiplier, window, **more)


def dense(name: str, inputs: int, outputs: int, **more) -> Layer:
    return Layer(name, DENSE, (1, 1, inputs), outputs, **more)


# Images are smaller than the models' where that changes nothing.
LAYERS = [
    # First layers.
    conv("vww_first", (48, 48, 3), 8, (3, 3), stride=2, zero_point=-1),
    conv("person_first", (48, 48, 1), 8, (3, 3), stride=2, zero_point=-1),
    conv("mobilenet_first", (32, 32, 3), 32, (3, 3), stride=2, zero_point=-1),
    conv("resnet8_first", (32, 32, 3), 16, (3, 3), zero_point=-128),
    conv("yolo_stem", (32, 32, 3), 16, (6, 6), stride=2, zero_point=-128),
    conv("mcunet_first", (32, 32, 3), 16, (3, 3), stride=2, zero_point=0),
    conv("kws_first", (49, 10, 1), 64, (10, 4), stride=2, zero_point=83),
    conv("micro_speech_conv", (49, 40, 1), 8, (10, 8), stride=2, zero_point=-128),
    # Depthwise ones.
    depthwise("vww_depthwise_1", (48, 48, 8)),
    depthwise("vww_depthwise_3", (24, 24, 32)),
    depthwise("vww_depthwise_4", (24, 24, 32), stride=2),
    depthwise("vww_depthwise_7", (6, 6, 128)),
    depthwise("vww_depthwise_13", (3, 3, 256)),
    depthwise("kws_depthwise", (25, 5, 64)),
    depthwise("mobilenet_v2_depthwise", (14, 14, 96)),
    depthwise("mobilenet_v3_depthwise", (14, 14, 40), (5, 5), stride=2),
    depthwise("mcunet_depthwise", (10, 10, 48), (7, 7)),
    depthwise("multiplier_8", (49, 40, 1), (10, 8), 8, stride=2),
    depthwise("multiplier_2", (12, 12, 16), (3, 3), 2),
    depthwise("multiplier_3", (12, 12, 12), (3, 3), 3, stride=2),
    depthwise("multiplier_4", (12, 12, 16), (5, 5), 4, padding=VALID),
    depthwise("multiplier_8_of_4", (12, 12, 4), (3, 3), 8),
    depthwise("multiplier_8_of_3", (12, 12, 3), (3, 3), 8, zero_point=-1),
    # Pointwise ones.
    conv("vww_pointwise_1", (48, 48, 8), 16),
    conv("vww_pointwise_7", (6, 6, 128), 128),
    conv("mobilenet_v2_expand", (14, 14, 16), 96, zero_point=-3),
    conv("mobilenet_v2_project", (14, 14, 96), 24),
    conv("efficientnet_expand", (14, 14, 24), 144, zero_point=5),
    conv("mobilenet_v3_squeeze", (1, 1, 96), 24),
    # Other windows.
    conv("resnet8_stack", (16, 16, 16), 32, (3, 3), stride=2),
    conv("resnet8_shortcut", (16, 16, 32), 64, stride=2),
    conv("yolo_neck", (8, 8, 32), 32, (3, 3)),
    conv("odd_channels", (12, 12, 10), 18, (3, 3)),
    # Windows over time alone.
    conv("ecg_first", (187, 1, 1), 16, (5, 1), zero_point=4),
    conv("ecg_second", (93, 1, 16), 32, (5, 1)),
    conv("audio_conv", (64, 1, 40), 48, (3, 1), padding=VALID),
    depthwise("audio_depthwise", (64, 1, 48), (9, 1), padding=VALID),
    # Dense ones.
    dense("autoencoder", 640, 128),
    dense("micro_speech_dense", 4000, 4),
    dense("classes", 250, 10),
    # 16 by 8 bits: sums fit 32, or need 64.
    conv("wide_32", (8, 8, 32), 32, (3, 3), bits=16),
    conv("wide_64", (4, 4, 128), 32, (3, 3), bits=16),
    conv("wide_64_blocks", (4, 4, 128), 80, (3, 3), bits=16),
    dense("wide_dense_64", 4000, 8, bits=16),
]


def portable(binary: Path, layer: Layer, folder: Path) -> golden.Model:
    """The model and, as golden files, what the host computes without transformations."""
    path = folder / f"{layer.name}.tflite"
    path.write_bytes(layer.file())
    expected = folder / f"{layer.name}.golden"
    expected.mkdir()
    elements = {"inputs": {"x": math.prod(layer.inputs)}, "outputs": {"y": math.prod(layer.pixels) * layer.outputs}}
    sizes = {side: {name: count * layer.bits // 8 for name, count in tensors.items()} for side, tensors in elements.items()}
    (expected / "io.json").write_text(json.dumps({side: {name: {"dtype": f"int{layer.bits}", "size": size} for name, size in tensors.items()}
                                                  for side, tensors in sizes.items()}))
    numbers = keywords.Numbers()
    (expected / "x.in.bin").write_bytes(bytes(numbers.below(256) for _ in range(sizes["inputs"]["x"])))
    out = folder / f"{layer.name}.out"
    run([binary, path, "--transform", "none", "-o", out, "--quiet"])
    golden.write_main(out, layer.name, expected, False)
    files = [*(out / "codegen/host/src").glob("*.c"), out / f"main_{layer.name}.c"]
    run([*golden.GCC, "-O1", "-w", "-I", out / "codegen/host/include", *files, "-lm", "-o", out / "run"])
    (out / f"results_{layer.name}").mkdir()
    run([out / "run"], cwd=out)
    shutil.copy(out / f"results_{layer.name}/y.out.bin", expected)
    return golden.Model(path, {layer.name: expected})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--only", default="", help="names of layers, with commas between")
    parser.add_argument("--cores", default="cortex-m4", help=f"some of {','.join(instructions.CORES)}")
    parser.add_argument("--level", default="-O2")
    parser.add_argument("--options", default="", help="of usmp-plan")
    parser.add_argument("--check", action="store_true", help="the estimates")
    arguments = parser.parse_args()
    cores = arguments.cores.split(",")
    if missing := instructions.missing_tools(cores):
        print(f"not installed: {', '.join(missing)}")
        return 77
    binary, wrong = arguments.binary.resolve(), 0
    with tempfile.TemporaryDirectory(prefix="usmp-layers-") as temporary:
        for layer in LAYERS:
            if arguments.only and layer.name not in arguments.only.split(","):
                continue
            model = portable(binary, layer, Path(temporary))
            columns = []
            for core in cores:
                try:
                    counts = instructions.measure(binary, model, core, arguments.level, ["--cpu", core, *arguments.options.split()], False, False)
                except Failure as failure:
                    columns.append(str(failure).splitlines()[-1])
                    wrong += 1
                    continue
                columns.append(f"{counts['all'] / layer.products:6.2f}")
                if arguments.check and counts["all"] > 10000 and not instructions.is_good_estimate(counts["estimate"], counts["all"]):
                    columns.append(f"(estimated {counts['estimate'] / layer.products:.2f})")
                    wrong += 1
            window = "x".join(map(str, layer.window))
            shape = f"{'x'.join(map(str, layer.inputs))} -> {layer.outputs}"
            print(f"{layer.name:24} {KINDS[layer.kind]:9} {shape:18} {window:5} /{layer.stride} {layer.products:8} {' '.join(columns)}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
