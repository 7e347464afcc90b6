// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
/* Start of a program on qemu's mps2-an386, with the host's files as standard input and output. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern uint32_t stack_top[];
void initialise_monitor_handles(void);
int main(void);
void reset(void);
void _init(void);
void _fini(void);
void _init(void) {}
void _fini(void) {}

/* newlib has none. */
int posix_memalign(void** block, size_t alignment, size_t size);
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block == NULL;
}

void reset(void) {
  *(volatile uint32_t*)0xe000ed88 |= 0xfu << 20; /* CPACR: the floating-point unit */
  __asm__ volatile("dsb\n isb" ::: "memory");
  initialise_monitor_handles();
  if (freopen("inputs", "rb", stdin) == NULL || freopen("outputs", "wb", stdout) == NULL) exit(9);
  exit(main());
}

static void fault(void) { exit(99); }

__attribute__((section(".start"), used)) static const struct {
  uint32_t* stack;
  void (*handlers[15])(void);
} vectors = {stack_top, {reset, fault, fault, fault, fault, fault, fault, 0, 0, 0, fault, fault, 0, fault, fault}};
