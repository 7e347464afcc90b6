#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""A network whose operators are calls of CMSIS-NN, planned and run with kernels of our own under the names of CMSIS-NN.

The archive is TVM's (variants/mlperf_kws_cmsisnn): its functions stay, the buffers between them are planned, in several pools, from
TIR and from C, under another name. Outputs are those of the same network as TVM's C computes it. Then its kernels take
workspace at run time, as CMSIS-NN's for other processors do: that is planned, too.

usage: foreign_kernels.py USMP_PLAN SHARED/archives
"""

import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import golden
from golden import GCC, SANITIZE, Failure, run, run_sanitized

PROGRAM, ARCHIVES = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
ARCHIVE = ARCHIVES / "variants/mlperf_kws_cmsisnn.tar"
GOLDEN = ARCHIVES / "mlperf_tiny/mlperf_kws.golden"
SHIM = Path(__file__).resolve().parents[2] / "bench/tvm_shim"

# What the archive uses, computed by definition. A kernel that has a context works on copies in it.
KERNELS = r"""
#ifndef KERNELS_H_
#define KERNELS_H_
#include <math.h>
#include <stddef.h>
#include <stdint.h>
typedef struct { void* buf; int32_t size; } cmsis_nn_context;
typedef struct { int32_t w, h; } cmsis_nn_tile;
typedef struct { int32_t min, max; } cmsis_nn_activation;
typedef struct { int32_t n, h, w, c; } cmsis_nn_dims;
typedef struct { int32_t *multiplier, *shift; } cmsis_nn_per_channel_quant_params;
typedef struct { int32_t multiplier, shift; } cmsis_nn_per_tensor_quant_params;
typedef struct { int32_t input_offset, output_offset; cmsis_nn_tile stride, padding, dilation; cmsis_nn_activation activation; } cmsis_nn_conv_params;
typedef struct { int32_t input_offset, output_offset, ch_mult; cmsis_nn_tile stride, padding, dilation; cmsis_nn_activation activation; } cmsis_nn_dw_conv_params;
typedef struct { int32_t input_offset, filter_offset, output_offset; cmsis_nn_activation activation; } cmsis_nn_fc_params;
typedef struct { cmsis_nn_tile stride, padding; cmsis_nn_activation activation; } cmsis_nn_pool_params;
typedef enum { ARM_CMSIS_NN_SUCCESS = 0, ARM_CMSIS_NN_ARG_ERROR = -1, ARM_CMSIS_NN_NO_IMPL_ERROR = -2 } arm_cmsis_nn_status;
static inline int8_t quantized(int32_t sum, int32_t multiplier, int32_t shift, int32_t offset, cmsis_nn_activation range) {
  double value = floor(ldexp((double)sum * multiplier, shift - 31) + 0.5) + offset;
  return (int8_t)(value < range.min ? range.min : value > range.max ? range.max : value);
}
/* The elements of channels [first, first + count) under the filter at an output; outside they are what counts as zero. */
static inline const int8_t* window(const cmsis_nn_context* context, const int8_t* input, const cmsis_nn_dims* size, const cmsis_nn_dims* filter,
                                   int32_t y, int32_t x, int32_t first, int32_t count, int32_t zero, int8_t* local) {
  int8_t* to = context->buf ? (int8_t*)context->buf : local;
  for (int32_t i = 0; i < context->size; ++i) ((int8_t*)context->buf)[i] = 0x5a;
  for (int32_t h = 0; h < filter->h; ++h)
    for (int32_t w = 0; w < filter->w; ++w)
      for (int32_t c = 0; c < count; ++c) {
        const int is_inside = y + h >= 0 && y + h < size->h && x + w >= 0 && x + w < size->w;
        to[(h * filter->w + w) * count + c] = is_inside ? input[((y + h) * size->w + x + w) * size->c + first + c] : (int8_t)zero;
      }
  return to;
}
static inline arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context* context, const cmsis_nn_conv_params* p, const cmsis_nn_per_channel_quant_params* q,
    const cmsis_nn_dims* in, const int8_t* input, const cmsis_nn_dims* filter, const int8_t* weights, const cmsis_nn_dims* bias_size, const int32_t* bias,
    const cmsis_nn_dims* out, int8_t* output) {
  int8_t local[4096];
  const int32_t terms = filter->h * filter->w * in->c;
  (void)bias_size;
  if (terms > 4096 || (context->buf && context->size < terms)) return ARM_CMSIS_NN_ARG_ERROR;
  for (int32_t y = 0; y < out->h; ++y)
    for (int32_t x = 0; x < out->w; ++x) {
      const int8_t* from = window(context, input, in, filter, y * p->stride.h - p->padding.h, x * p->stride.w - p->padding.w, 0, in->c, -p->input_offset, local);
      for (int32_t k = 0; k < out->c; ++k) {
        int32_t sum = bias[k];
        for (int32_t t = 0; t < terms; ++t) sum += (from[t] + p->input_offset) * weights[k * terms + t];
        output[(y * out->w + x) * out->c + k] = quantized(sum, q->multiplier[k], q->shift[k], p->output_offset, p->activation);
      }
    }
  return ARM_CMSIS_NN_SUCCESS;
}
static inline arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context* context, const cmsis_nn_dw_conv_params* p,
    const cmsis_nn_per_channel_quant_params* q, const cmsis_nn_dims* in, const int8_t* input, const cmsis_nn_dims* filter, const int8_t* weights,
    const cmsis_nn_dims* bias_size, const int32_t* bias, const cmsis_nn_dims* out, int8_t* output) {
  int8_t local[4096];
  const int32_t terms = filter->h * filter->w;
  (void)bias_size;
  if (terms > 4096 || (context->buf && context->size < terms)) return ARM_CMSIS_NN_ARG_ERROR;
  for (int32_t y = 0; y < out->h; ++y)
    for (int32_t x = 0; x < out->w; ++x)
      for (int32_t k = 0; k < out->c; ++k) {
        const int8_t* from = window(context, input, in, filter, y * p->stride.h - p->padding.h, x * p->stride.w - p->padding.w, k / p->ch_mult, 1,
                                    -p->input_offset, local);
        int32_t sum = bias[k];
        for (int32_t t = 0; t < terms; ++t) sum += (from[t] + p->input_offset) * weights[t * out->c + k];
        output[(y * out->w + x) * out->c + k] = quantized(sum, q->multiplier[k], q->shift[k], p->output_offset, p->activation);
      }
  return ARM_CMSIS_NN_SUCCESS;
}
static inline arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context* context, const cmsis_nn_fc_params* p, const cmsis_nn_per_tensor_quant_params* q,
    const cmsis_nn_dims* in, const int8_t* input, const cmsis_nn_dims* filter, const int8_t* weights, const cmsis_nn_dims* bias_size, const int32_t* bias,
    const cmsis_nn_dims* out, int8_t* output) {
  (void)context;
  (void)in;
  (void)bias_size;
  for (int32_t k = 0; k < out->c; ++k) {
    int32_t sum = bias[k];
    for (int32_t t = 0; t < filter->n; ++t) sum += (input[t] + p->input_offset) * (weights[k * filter->n + t] + p->filter_offset);
    output[k] = quantized(sum, q->multiplier, q->shift, p->output_offset, p->activation);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
static inline arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context* context, const cmsis_nn_pool_params* p, const cmsis_nn_dims* in, const int8_t* input,
    const cmsis_nn_dims* filter, const cmsis_nn_dims* out, int8_t* output) {
  (void)context;
  (void)p;
  if (out->h != 1 || out->w != 1) return ARM_CMSIS_NN_NO_IMPL_ERROR;
  for (int32_t c = 0; c < out->c; ++c) {
    double sum = 0;
    for (int32_t i = 0; i < filter->h * filter->w; ++i) sum += input[i * in->c + c];
    output[c] = (int8_t)lround(sum / (filter->h * filter->w));
  }
  return ARM_CMSIS_NN_SUCCESS;
}
static inline void arm_softmax_s8(const int8_t* input, int32_t rows, int32_t columns, int32_t multiplier, int32_t shift, int32_t least, int8_t* output) {
  for (int32_t r = 0; r < rows; ++r, input += columns, output += columns) {
    int32_t most = -128;
    double sum = 0;
    for (int32_t i = 0; i < columns; ++i) most = input[i] > most ? input[i] : most;
    for (int pass = 0; pass < 2; ++pass)
      for (int32_t i = 0; i < columns; ++i) {
        const int32_t below = input[i] - most;
        const double part = below < least ? 0 : exp(ldexp((double)below * multiplier, shift - 31 - 26));
        if (pass == 0) sum += part;
        const double value = floor(256 * part / sum + 0.5) - 128;
        if (pass == 1) output[i] = (int8_t)(value > 127 ? 127 : value);
      }
  }
}
#endif
"""
TAKEN = """  void* context_buffer_let = TVMBackendAllocWorkspace(1, 0, (uint64_t)%d, 0, 8);
  if (context_buffer_let == NULL) {
    return -1;
  }
  cmsis_nn_context context= {context_buffer_let,%d};
"""
GIVEN_BACK = """  if (TVMBackendFreeWorkspace(1, 0, context_buffer_let) != 0) {
    return -1;
  }
"""
POOLS = {
    "no pools file": "",
    "two pools, constants outside": "workspace_pools: [{name: dtcm, size_hint_bytes: 8200}, {name: sram}]\nparameter_pools: [{name: flash}]\n",
    "inputs and outputs in an internal pool": "workspace_pools: [{name: sram, internal: true}]\nworkspace_io: true\n",
}


CONTEXTS = {0: 40, 1: 9, 2: 64}  # bytes that the first kernels need


def give_contexts(path: Path) -> None:
    """Three kernels take as much workspace as they need, at run time."""
    text = path.read_text(encoding="utf-8")
    for number, size in CONTEXTS.items():
        begin = text.index(f"tvmgen_default_cmsis_nn_main_{number}(")
        end = text.index("\n}\n", begin)
        body = text[begin:end]
        body = body.replace("  cmsis_nn_context context= {NULL,0};\n", TAKEN % (size, size)).replace("  return 0;", GIVEN_BACK + "  return 0;")
        assert body.count("context_buffer_let") == 4, body
        text = text[:begin] + body + text[end:]
    path.write_text(text, encoding="utf-8")


def outputs(folder: Path, model: Path, pools: str, options: list[str], module: str) -> dict:
    """Runs the planned model, whose outputs are the golden ones. Its plan."""
    command = [PROGRAM, model, "-o", folder / "out", "--quiet", *options]
    if pools:
        (folder / "pools.yaml").write_text(pools, encoding="utf-8")
        command += ["--pools", folder / "pools.yaml"]
    run(command)
    out = folder / "out"
    golden.write_main(out, module, GOLDEN, False)
    includes = folder / "include"
    (includes / "dlpack").mkdir(parents=True)
    (includes / "dlpack/dlpack.h").write_text("")
    (includes / "arm_nnfunctions.h").write_text(KERNELS)
    for name in ("arm_nn_types.h", "arm_nn_math_types.h"):
        (includes / name).write_text("")
    results = out / f"results_{module}"
    results.mkdir()
    program = out / "run"
    run_sanitized([*GCC, "-O1", "-Wall", "-Wno-unused", *SANITIZE, "-I", includes, "-I", SHIM, "-I", out / "codegen/host/include",
                   *sorted((out / "codegen/host/src").glob("*.c")), out / f"main_{module}.c", "-lm", "-o", program], program, cwd=out)
    golden.compare(GOLDEN, results, "Identity", "int8", "mlperf_kws")
    return json.loads((out / f"{module}.plan.json").read_text())


def check() -> None:
    with tempfile.TemporaryDirectory(prefix="usmp-foreign-") as temporary:
        folder = Path(temporary)
        for name in ("plain", "contexts"):
            with tarfile.open(ARCHIVE) as tar:
                tar.extractall(folder / name)
        kernels = (folder / "plain/codegen/host/src/default_lib2.c").read_text()
        give_contexts(folder / "contexts/codegen/host/src/default_lib2.c")
        runs = 0
        for model in ("plain", "contexts"):
            for label, pools in POOLS.items():
                for options, module in ((["--from", "tir"], "default"), (["--from", "c", "--name", f"kws={folder / model}"], "kws")):
                    case = folder / f"case{runs}"
                    case.mkdir()
                    try:
                        plan = outputs(case, folder / model, pools, options, module)
                    except Failure as failure:
                        raise Failure(f"{model}, {label}, {options[1]}: {failure}") from None
                    text = (case / f"out/codegen/host/src/{module}_lib2.c").read_text()
                    assert "TVMBackendAllocWorkspace" not in text and not plan["warnings"], (model, label, plan["warnings"])
                    if model == "plain":
                        assert text == kernels.replace("tvmgen_default", f"tvmgen_{module}"), label
                    sizes = sorted(buffer["size"] for buffer in plan["buffers"] if buffer["name"] == "scratch")
                    assert sizes == (sorted(CONTEXTS.values()) if model == "contexts" else []), (model, label, sizes)
                    runs += 1
    print(f"{runs} plans of CMSIS-NN's calls compute the golden outputs")


if not ARCHIVE.exists():
    print(f"{ARCHIVE} is not there")
    sys.exit(77)
try:
    check()
except (Failure, subprocess.TimeoutExpired) as error:
    sys.exit(str(error))
