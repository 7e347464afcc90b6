// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What instructions of the DSP extension compute (ACLE, "32-bit SIMD intrinsics"), for machines that have none.
#ifndef USMP_SHIM_ARM_ACLE_H_
#define USMP_SHIM_ARM_ACLE_H_
#include <stdint.h>
#ifdef __ARM_FEATURE_DSP
#include_next <arm_acle.h>
#else
static inline int32_t usmp_half(uint32_t x, int i) { return (int16_t)(uint16_t)(x >> (16 * i)); }
static inline int32_t usmp_byte(uint32_t x, int i) { return (int8_t)(uint8_t)(x >> (8 * i)); }
static inline int32_t __sxtb16(uint32_t x) { return (int32_t)(((uint32_t)usmp_byte(x, 0) & 0xffffU) | ((uint32_t)usmp_byte(x, 2) << 16)); }
static inline int32_t __smlad(uint32_t x, uint32_t y, int32_t sum) {
  return (int32_t)((uint32_t)sum + (uint32_t)(usmp_half(x, 0) * usmp_half(y, 0)) + (uint32_t)(usmp_half(x, 1) * usmp_half(y, 1)));
}
static inline int32_t __smlabb(int32_t x, int32_t y, int32_t sum) { return (int32_t)((uint32_t)sum + (uint32_t)(usmp_half((uint32_t)x, 0) * usmp_half((uint32_t)y, 0))); }
static inline int32_t __smlabt(int32_t x, int32_t y, int32_t sum) { return (int32_t)((uint32_t)sum + (uint32_t)(usmp_half((uint32_t)x, 0) * usmp_half((uint32_t)y, 1))); }
static inline int32_t __smlatb(int32_t x, int32_t y, int32_t sum) { return (int32_t)((uint32_t)sum + (uint32_t)(usmp_half((uint32_t)x, 1) * usmp_half((uint32_t)y, 0))); }
static inline int32_t __smlatt(int32_t x, int32_t y, int32_t sum) { return (int32_t)((uint32_t)sum + (uint32_t)(usmp_half((uint32_t)x, 1) * usmp_half((uint32_t)y, 1))); }
static uint32_t usmp_greater;  // the flags
static inline uint32_t __ssub8(uint32_t x, uint32_t y) {
  uint32_t result = 0;
  usmp_greater = 0;
  for (int i = 0; i < 4; ++i) {
    const int32_t difference = usmp_byte(x, i) - usmp_byte(y, i);
    result |= ((uint32_t)difference & 0xffU) << (8 * i);
    if (difference >= 0) usmp_greater |= 0xffU << (8 * i);
  }
  return result;
}
static inline uint32_t __sel(uint32_t x, uint32_t y) { return (x & usmp_greater) | (y & ~usmp_greater); }
static inline int32_t usmp_ssat(int32_t x, int bits) {
  const int32_t most = (int32_t)((1U << (bits - 1)) - 1U);
  return x > most ? most : x < -most - 1 ? -most - 1 : x;
}
#define __ssat(x, bits) usmp_ssat(x, bits)
#endif
#ifndef __pkhbt  // of CMSIS
static inline uint32_t usmp_pkhbt(uint32_t x, uint32_t y, int by) { return (x & 0xffffU) | ((y << by) & 0xffff0000U); }
static inline uint32_t usmp_pkhtb(uint32_t x, uint32_t y, int by) { return (x & 0xffff0000U) | ((uint32_t)((int32_t)y >> by) & 0xffffU); }
#define __pkhbt(x, y, by) usmp_pkhbt(x, y, by)
#define __pkhtb(x, y, by) usmp_pkhtb(x, y, by)
#endif
#endif
