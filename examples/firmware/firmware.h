// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
/* What main.c knows of the board and of the models. Nothing here depends on the processor. */
#ifndef FIRMWARE_H_
#define FIRMWARE_H_
#include <stddef.h>
#include <stdint.h>

/* What the board has: start.c, sections.ld. */
void board_print(const char* text);
void board_exit(int status);
extern uint32_t stack_limit[];

/* Symbols of M_memory.ld; 0 for a pool that no model uses. */
#define POOL(name) extern unsigned char usmp_##name##_start[] __attribute__((weak)), usmp_##name##_end[] __attribute__((weak))
POOL(dtcm);
POOL(sram);

/* A planned model, with inputs and the outputs that it must give. */
struct model {
  const char* name;
  void (*write_inputs)(void);
  int32_t (*run)(void);
  unsigned (*wrong_outputs)(void); /* elements */
};
extern const struct model models[];
extern const unsigned model_count;

/* Elements of an output that differ from the golden ones: integers by more than `tolerance`, floats by more than 1e-5. */
unsigned wrong_float32(const void* actual, const void* golden, size_t bytes);
unsigned wrong_int8(const void* actual, const void* golden, size_t bytes, int tolerance);
unsigned wrong_bytes(const void* actual, const void* golden, size_t bytes);

#endif
