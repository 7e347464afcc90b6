// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
/* Cortex-M: vectors, start, and Arm's semihosting. */
#include <string.h>

#include "../firmware.h"

extern unsigned char data_start[], data_end[], data_load[], bss_start[], bss_end[];
extern uint32_t stack_top[];
int main(void);
void reset(void);

static void semihost(uint32_t operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void board_print(const char* text) { semihost(0x04, text); }

void board_exit(int status) {
  const uint32_t reason[2] = {0x20026, (uint32_t)status}; /* ADP_Stopped_ApplicationExit */
  for (;;) semihost(0x20, reason);
}

void reset(void) {
#if defined(__ARM_FP)
  *(volatile uint32_t*)0xe000ed88 |= 0xfu << 20; /* CPACR: the floating-point unit */
  __asm__ volatile("dsb\n isb" ::: "memory");
#endif
  memcpy(data_start, data_load, (size_t)(data_end - data_start));
  memset(bss_start, 0, (size_t)(bss_end - bss_start));
  board_exit(main());
}

static void fault(void) {
  board_print("fault\n");
  board_exit(99);
}

__attribute__((section(".start"), used)) static const struct {
  uint32_t* stack;
  void (*handlers[15])(void);
} vectors = {stack_top, {reset, fault, fault, fault, fault, fault, fault, 0, 0, 0, fault, fault, 0, fault, fault}};
