#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Plans operators that call helpers for the DSP extension of Cortex-M: products of words of two or four numbers.

As kept_c.py: each model is built and run before and after planning, into a directory and in place, on the same inputs. What the
instructions compute is in bench/tvm_shim/arm_acle.h; archives of TVM's Cortex-M target run on emulated cores in imported_c.py.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import checkouts
import golden
import kept_c
from kept_c import Case, HEAD, HEADER, main_of
from nested_operators import HALF, operator

SPREAD = """static inline const int8_t* spread(const int8_t* from, int32_t* low, int32_t* high) {
  int32_t four;
  memcpy(&four, from, 4);
  from += 4;
  int32_t odd = __sxtb16(rotated((uint32_t)four, 8));
  int32_t even = __sxtb16(four);
  *high = (int32_t)(__pkhtb(odd, even, 16));
  *low = (int32_t)(__pkhbt(even, odd, 16));
  return from;
}
"""
ROTATED = """__attribute__((always_inline)) static inline uint32_t rotated(uint32_t x, uint32_t by) {
  by %= 32U;
  if (by == 0U) {
    return x;
  }
  return (x >> by) | (x << (32U - by));
}
"""

# c[m][n] += a[m][k] * b[n][k], by words of two halves; what four does not divide, by bytes.
PRODUCT = """static inline int32_t rest(int K, int8_t *aa, int8_t *bb, int32_t *cc, int A_stride, int B_stride, int C_stride) {
  int k_base = (K / 4) * 4;
  switch ( K %% 4 ) {
  case 1:
    for (int i = 0; i < %(M)d; i++) for (int j = 0; j < %(N)d; j++) cc[i * C_stride + j] += (int32_t) aa[i * A_stride + k_base] * (int32_t) bb[j * B_stride + k_base];
    break;
  case 2:
    for (int i = 0; i < %(M)d; i++) {
      for (int j = 0; j < %(N)d; j++) {
        int8_t *a_ptr = &aa[i * A_stride + k_base];
        int8_t *b_ptr = &bb[j * B_stride + k_base];
        cc[i * C_stride + j] += (int32_t) a_ptr[0] * (int32_t) b_ptr[0] + (int32_t) a_ptr[1] * (int32_t) b_ptr[1];
      }
    }
    break;
  }
  return 0;
}
static inline int32_t product(int8_t *aa, int8_t *bb, int32_t *cc, int A_stride, int B_stride, int C_stride) {
  int16_t wide_b[%(N)d * %(K)d];
  int32_t retcode = 0;
  if (%(M)d < 2 && %(N)d < 2) {
    goto out;
  }
  for (int i = 0; i < %(N)d; i++)
    for (int j = 0; j < %(K)d / 4; j++)
      spread(&bb[i*B_stride + j*4], (int32_t*) &wide_b[i*%(K)d + j*4], (int32_t*) &wide_b[i*%(K)d + j*4 + 2]);
  for (int i = 0; i < %(M)d; i++) {
    int16_t wide_a[%(K)d];
    for (int l = 0; l < %(K)d / 4; l++)
      spread(&aa[i*A_stride + l*4], (int32_t*) &wide_a[l*4], (int32_t*) &wide_a[l*4 + 2]);
    for (int j = 0; j < %(N)d; j++) {
      int32_t *p = (int32_t *) wide_a;
      int32_t *q = (int32_t *) &wide_b[j*%(K)d];
      int32_t sum = 0;
      for (int l = 0; l < 2 * (%(K)d / 4); l++) {
        sum = __smlad(*p, *q, sum);
        ++p; ++q;
      }
      cc[i*C_stride + j] += sum;
    }
  }
  if (%(K)d %% 4 != 0)
    rest(%(K)d, aa, bb, cc, A_stride, B_stride, C_stride);
out:
  return retcode;
}
"""


def products(m: int, k: int, n: int) -> str:
    """y[16][16] from x[16][16] and weights [16][k]."""
    weights = ", ".join(str((i * 37 + i // 5) % 255 - 127) for i in range(16 * 16))
    return (f"static const int8_t weights[256] = {{{weights}}};\n" + ROTATED + SPREAD + PRODUCT % {"M": m, "K": k, "N": n} +
            operator("fused_rows", "int8_t* p0, int8_t* T_out", f"""  int32_t sums[256];
  for (int32_t i = 0; i < 256; ++i) {{
    sums[i] = 0;
  }}
  for (int32_t y = 0; y < {16 // m}; ++y) {{
    for (int32_t x = 0; x < {16 // n}; ++x) {{
      product((&(p0[(y * {16 * m})])), (&(((int8_t*)weights)[(x * {16 * n})])), (&(sums[((y * {16 * m}) + (x * {n}))])), 16, 16, 16);
    }}
  }}
  for (int32_t i_1 = 0; i_1 < 256; ++i_1) {{
    T_out[i_1] = ((int8_t)(sums[i_1] >> 8));
  }}
  return 0;
"""))


# Four channels of an image at once: 8 rows of 4 pixels of 8 channels, windows of 3 x 3.
QUAD = """#define QUAD(kernel, tensor, s0, s1, s2, s3) { \\
    int32_t kernel4 = *kernel++; \\
    int32_t tensor_even = __sxtb16(tensor); \\
    int32_t kernel_even = __sxtb16(kernel4); \\
    s0 = __smlabb(tensor_even, kernel_even, s0); \\
    s2 = __smlatt(tensor_even, kernel_even, s2); \\
    int32_t tensor_odd = __sxtb16(rotated(tensor, 8)); \\
    int32_t kernel_odd = __sxtb16(rotated(kernel4, 8)); \\
    s1 = __smlabb(tensor_odd, kernel_odd, s1); \\
    s3 = __smlatt(tensor_odd, kernel_odd, s3); }
int32_t window(int32_t *out, int8_t *tensor, int8_t *kernel) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int32_t taps[3 * 3];
  memcpy(taps, kernel, 3 * 3 * sizeof(int32_t));
  int32_t *tap = taps;
  int32_t length = 21;
  int32_t pixels[length];
  memcpy(pixels, tensor, length * sizeof(int32_t));
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      QUAD(tap, *(pixels + j * 2 + i * 8), s0, s1, s2, s3)
    }
  }
  out[0] = s0;
  out[1] = s1;
  out[2] = s2;
  out[3] = s3;
  return 0;
}
#undef QUAD
"""
TAPS = ", ".join(str((i * 53) % 251 - 125) for i in range(72))
WINDOWS = f"static const int8_t taps_of_all[72] = {{{TAPS}}};\n" + ROTATED + QUAD + operator("fused_rows", "int8_t* p0, int8_t* T_out", """  int32_t sums[96];
  for (int32_t k_outer = 0; k_outer < 2; ++k_outer) {
    for (int32_t i = 0; i < 6; ++i) {
      for (int32_t j = 0; j < 2; ++j) {
        window((&(sums[(((i * 16) + (j * 8)) + (k_outer * 4))])), (&(p0[(((i * 32) + (j * 8)) + (k_outer * 4))])), (&(((int8_t*)taps_of_all)[(k_outer * 36)])));
      }
    }
  }
  for (int32_t i_1 = 0; i_1 < 256; ++i_1) {
    T_out[i_1] = ((int8_t)(sums[(i_1 % 96)] >> 7));
  }
  return 0;
""")

def depthwise(height: int, width: int, channels: int, stride: int) -> str:
    """y[256] from x[height][width][channels], 256 numbers, in windows of 3 x 3 with a border of -128, four channels at once."""
    lines, columns = height + 2, width + 2
    length = 2 * columns * channels // 4 + 2 * channels // 4 + 1
    quad = QUAD.replace("length = 21", f"length = {length}").replace("j * 2 + i * 8", f"j * {channels // 4} + i * {columns * channels // 4}")
    weights = [(i * 53) % 251 - 125 for i in range(9 * channels)]
    bias = [(i * 977) % 4001 - 2000 for i in range(channels)]
    zero = [-128 * sum(weights[c // 4 * 36 + tap * 4 + c % 4] for tap in range(9)) for c in range(channels)]
    constants = "".join(f"static const {type_} {name}[{len(numbers)}] = {{{', '.join(map(str, numbers))}}};\n" for type_, name, numbers in
                        [("int8_t", "taps_of_all", weights), ("int32_t", "bias", bias), ("int32_t", "zero", zero)])
    rows, places = height // stride, width // stride
    outputs = rows * places * channels
    return constants + ROTATED + quad + operator("fused_rows", "int8_t* p0, int8_t* T_out", f"""  int8_t padded[{lines * columns * channels}];
  int8_t result[{outputs}];
  int32_t sums[{outputs}];
  for (int32_t place = 0; place < {lines * columns}; ++place) {{
    for (int32_t c = 0; c < {channels}; ++c) {{
      int32_t column = (place % {columns});
      padded[((place * {channels}) + c)] = ((((({columns} <= place) && (place < {columns * (lines - 1)})) && (1 <= column)) && (column < {columns - 1})) ? p0[(((((place / {columns}) * {width * channels}) + (column * {channels})) + c) - {(width + 1) * channels})] : (int8_t)-128);
    }}
  }}
  for (int32_t k_outer = 0; k_outer < {channels // 4}; ++k_outer) {{
    for (int32_t i = 0; i < {rows}; ++i) {{
      for (int32_t j = 0; j < {places}; ++j) {{
        window((&(sums[(((i * {places * channels}) + (j * {channels})) + (k_outer * 4))])), (&(padded[(((i * {stride * columns * channels}) + (j * {stride * channels})) + (k_outer * 4))])), (&(((int8_t*)taps_of_all)[(k_outer * 36)])));
      }}
    }}
  }}
  for (int32_t at = 0; at < {rows * places}; ++at) {{
    for (int32_t c_1 = 0; c_1 < {channels}; ++c_1) {{
      int32_t v_ = (((sums[((at * {channels}) + c_1)] + bias[c_1]) - zero[c_1]) >> 9);
      int32_t v__1 = (v_) < (127) ? (v_) : (127);
      result[((at * {channels}) + c_1)] = ((int8_t)((v__1) > (-128) ? (v__1) : (-128)));
    }}
  }}
  for (int32_t i_1 = 0; i_1 < 256; ++i_1) {{
    T_out[i_1] = result[(i_1 % {outputs})];
  }}
  return 0;
""")


# Sums by products with 1, and the larger of bytes; what addresses are not multiples of 4 would need is not done.
SUMS = """static inline int32_t sum_of(int16_t *arr, int16_t *res16, long arr_offset, int reset) {
  int n;
  int32_t *p32;
  int32_t res = reset ? 0 : *res16;
  if ( arr_offset % 4 != 0 ) {
    res += *arr;
    p32 = (int32_t *)(&arr[1]);
    n = 7 - 1;
  } else {
    p32 = (int32_t *)arr;
    n = 7;
  }
  for ( int i = 0; i < n / 2; ++ i )
    res = __smlad(*p32 ++, 0x00010001, res);
  if ( n % 2 != 0 )
    res += *(int16_t *)p32;
  *res16 = res;
  return 0;
}
"""
LARGER = """static inline int32_t larger_reset(int8_t *res, int N) {
  memset(res, (int8_t)-128, N * sizeof(*res));
  return 0;
}
static inline int32_t larger_loop(int8_t *arg, int8_t *res, int N) {
  for ( int i = 0; i < N; ++ i )
    if ( arg[i] > res[i] )
      res[i] = arg[i];
  return 0;
}
static inline int32_t larger(int8_t *arg, int8_t *res, int N) {
  int32_t *parg32, *pres32;
  int una_arg = (uintptr_t)arg & 0x3, una_res = (uintptr_t)res & 0x3;
  int32_t retcode = 0;
  if ( N < 4 || ((una_arg || una_res) && una_arg != una_res) ) {
    retcode = larger_loop(arg, res, N);
    goto out;
  }
  if ( una_arg ) {
    int n = (4 - una_arg);
    if ( n > N || (N - n) < 4 )
      n = N;
    retcode = larger_loop(arg, res, n);
    N -= n;
    if ( N == 0 )
      goto out;
    arg += n; res += n;
  }
  parg32 = (int32_t *)arg;
  pres32 = (int32_t *)res;
  for ( int i = 0; i < N / 4; ++ i ) {
    int32_t arg32 = *parg32 ++;
    int32_t res32 = *pres32;
    __ssub8(arg32, res32);
    res32 = __sel(arg32, res32);
    *pres32 ++ = res32;
  }
  if ( N & 0x3 ) {
    retcode = larger_loop((int8_t *)parg32, (int8_t *)pres32, N & 0x3);
    goto out;
  }
out:
  return retcode;
}
"""
POOLS = SUMS + LARGER + operator("fused_rows", "int8_t* p0, int8_t* T_out", """  int16_t wide[256];
  int16_t total[32];
  int8_t most[256];
  for (int32_t i = 0; i < 256; ++i) {
    wide[i] = ((int16_t)p0[i]);
  }
  for (int32_t row = 0; row < 32; ++row) {
    sum_of((&(wide[(row * 8)])), (&(total[row])), 0, 1);
    larger_reset((&(most[(row * 8)])), 7);
    larger((&(p0[(row * 8)])), (&(most[(row * 8)])), 7);
    if (row > 0) {
      larger((&(p0[((row * 8) - 8)])), (&(most[(row * 8)])), 7);
    }
    most[((row * 8) + 7)] = ((int8_t)(total[row] / 8));
  }
  for (int32_t i_1 = 0; i_1 < 256; ++i_1) {
    T_out[i_1] = ((int8_t)(most[i_1] + total[(i_1 / 8)]));
  }
  return 0;
""")

CALLS = ("tvmgen_m_fused_rows(x_buffer_var, sid_1)", "tvmgen_m_fused_half(sid_1, y_buffer_var)")


def case(name: str, text: str, workspace: int) -> Case:
    head = HEAD + "#include <arm_acle.h>\n"
    return Case(name, {"tvmgen_m.h": HEADER, "m_lib0.c": kept_c.unplanned_entry(), "m_lib1.c": head + text + HALF + main_of(*CALLS)}, workspace)


CASES = [
    case("products of 4 x 16 x 2", products(4, 16, 2), 0),
    case("products of 2 x 14 x 8", products(2, 14, 8), 1024),
    case("products of 1 x 10 x 4", products(1, 10, 4), 1024),
    case("windows of four channels", WINDOWS, 384),
    case("windows of four of 16 channels, with a border", depthwise(4, 4, 16, 1), 0),
    case("windows of four of 8 channels, with a border, every second", depthwise(4, 8, 8, 2), 0),
    case("windows of four of 32 channels, with a border", depthwise(2, 4, 32, 1), 0),
    case("sums and maxima", POOLS, 0),
]


def check_read(binary: Path, this: Case) -> None:
    """Nothing of the helpers is copied."""
    with tempfile.TemporaryDirectory(prefix="usmp-dsp-") as temporary:
        checkouts.write_tree(Path(temporary), this.files)
        summary = golden.run([binary, temporary, "--dry-run"])
    if "copied" in summary.stdout or "warning" in summary.stderr:
        raise golden.Failure(summary.stdout + summary.stderr)


def main() -> int:
    failed = kept_c.main(CASES, __doc__)
    return failed or golden.run_all(CASES, lambda this: check_read(Path(sys.argv[1]).resolve(), this), 2)


if __name__ == "__main__":
    sys.exit(main())
