// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
/* RISC-V in machine mode: start, and semihosting. */
#include <string.h>

#include "../firmware.h"

extern unsigned char data_start[], data_end[], data_load[], bss_start[], bss_end[];
int main(void);
void start(void);

__asm__(
    ".section .start, \"ax\"\n"
    ".option push\n"
    ".option arch, +zicsr\n"
    ".globl reset\n"
    "reset:\n"
    "  la sp, stack_top\n"
    "  la t0, fault\n"
    "  csrw mtvec, t0\n"
    "  li t0, 0x6000\n" /* mstatus.FS: the floating-point unit */
    "  csrs mstatus, t0\n"
    "  tail start\n"
    ".option pop\n"
    ".text\n");

/* The three instructions that a debugger knows, uncompressed and within one page. */
__attribute__((noinline, aligned(16))) static void semihost(uintptr_t operation, const void* argument) {
  register uintptr_t a0 __asm__("a0") = operation;
  register const void* a1 __asm__("a1") = argument;
  __asm__ volatile(
      ".balign 16\n"
      ".option push\n"
      ".option norvc\n"
      "slli x0, x0, 0x1f\n"
      "ebreak\n"
      "srai x0, x0, 7\n"
      ".option pop\n"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
}

void board_print(const char* text) { semihost(0x04, text); }

void board_exit(int status) {
  const uintptr_t reason[2] = {0x20026, (uintptr_t)status}; /* ADP_Stopped_ApplicationExit */
  for (;;) semihost(0x20, reason);
}

__attribute__((used, aligned(4))) static void fault(void) {
  board_print("fault\n");
  board_exit(99);
}

void start(void) {
  memcpy(data_start, data_load, (size_t)(data_end - data_start));
  memset(bss_start, 0, (size_t)(bss_end - bss_start));
  board_exit(main());
}
