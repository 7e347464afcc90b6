// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
/* Runs every model twice, one after another, compares its outputs, and measures its stack. */
#include "firmware.h"

#include <string.h>

enum { PAINT = 0x5aa5c33c, OWN_FRAME = 64 };

static void print_number(unsigned number) {
  char text[12];
  char* at = text + sizeof text;
  *--at = '\0';
  do *--at = (char)('0' + number % 10);
  while (number /= 10);
  board_print(at);
}

/* Bytes of stack below this function's frame, at least OWN_FRAME. */
__attribute__((noinline)) static unsigned run_measured(int32_t (*run)(void), int32_t* status) {
  volatile uint32_t* const top = (volatile uint32_t*)__builtin_frame_address(0);
  volatile uint32_t* at;
  for (at = stack_limit; at < top - OWN_FRAME / 4; ++at) *at = PAINT;
  *status = run();
  for (at = stack_limit; at < top - OWN_FRAME / 4 && *at == PAINT; ++at) continue;
  return at == stack_limit ? 0 : (unsigned)((uintptr_t)top - (uintptr_t)at);
}

unsigned wrong_float32(const void* actual, const void* golden, size_t bytes) {
  unsigned wrong = 0;
  for (size_t i = 0; i < bytes / 4; ++i) {
    float is, should;
    memcpy(&is, (const char*)actual + 4 * i, 4);
    memcpy(&should, (const char*)golden + 4 * i, 4);
    const float size = should < 0 ? -should : should, apart = is < should ? should - is : is - should;
    const int is_same = is == should || (is != is && should != should);
    wrong += !(is_same || apart <= 1e-6f + 1e-5f * size);
  }
  return wrong;
}

unsigned wrong_int8(const void* actual, const void* golden, size_t bytes, int tolerance) {
  unsigned wrong = 0;
  for (size_t i = 0; i < bytes; ++i) {
    const int apart = ((const int8_t*)actual)[i] - ((const int8_t*)golden)[i];
    wrong += apart < -tolerance || apart > tolerance;
  }
  return wrong;
}

unsigned wrong_bytes(const void* actual, const void* golden, size_t bytes) {
  unsigned wrong = 0;
  for (size_t i = 0; i < bytes; ++i) wrong += ((const char*)actual)[i] != ((const char*)golden)[i];
  return wrong;
}

/* Pools need no initialisation: whatever is there must not matter. */
static void fill(unsigned char* start, const unsigned char* end, int garbage) {
  if (start != NULL) memset(start, garbage, (size_t)(end - start));
}

static void fill_pools(int garbage) {
  fill(usmp_dtcm_start, usmp_dtcm_end, garbage);
  fill(usmp_sram_start, usmp_sram_end, garbage);
}

int main(void) {
  int failed = 0;
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned i = 0; i < model_count; ++i) {
      int32_t status = -1;
      fill_pools(round ? 0x5a : 0xa5);
      models[i].write_inputs();
      const unsigned stack = run_measured(models[i].run, &status);
      const unsigned wrong = models[i].wrong_outputs();
      board_print(models[i].name);
      board_print(": status ");
      board_print(status == 0 ? "0" : "not 0");
      board_print(", wrong elements ");
      print_number(wrong);
      board_print(", stack ");
      print_number(stack);
      board_print("\n");
      failed |= status != 0 || wrong != 0 || stack == 0;
    }
  }
  return failed;
}
