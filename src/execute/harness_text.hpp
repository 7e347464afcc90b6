// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The part of the harness that is the same for all modules. C99; what begins with usmp_run_ is its own.
#pragma once

namespace usmp::execute {

inline constexpr const char* harness_text = R"(
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef USMP_RUN_SANITIZED
void __asan_poison_memory_region(void const volatile* start, size_t size);
void __asan_unpoison_memory_region(void const volatile* start, size_t size);
#define USMP_RUN_POISON(start, size) __asan_poison_memory_region(start, size)
#define USMP_RUN_UNPOISON(start, size) __asan_unpoison_memory_region(start, size)
#else
#define USMP_RUN_POISON(start, size) ((void)(start), (void)(size))
#define USMP_RUN_UNPOISON(start, size) ((void)(start), (void)(size))
#endif

#define USMP_RUN_GUARD ((size_t)4096) /* bytes in front of and behind a region */

struct usmp_run_gap {
  size_t begin;
  size_t end;
};

/* Memory of the model. What has guards is allocated here; the others are arrays of the module. */
struct usmp_run_region {
  unsigned char* memory;
  size_t size;
  size_t alignment;
  size_t guard;
  const struct usmp_run_gap* gaps; /* bytes that have to stay as they are; the last one is empty */
  const unsigned char* contents;   /* what it holds and has to go on holding; NULL: garbage */
};

static void usmp_run_stop(const char* what) {
  fprintf(stderr, "harness: %s\n", what);
  exit(3);
}

static unsigned char usmp_run_garbage(uint32_t seed, size_t i) {
  uint32_t x = ((uint32_t)i + 1U) * 2654435761U ^ seed;
  x ^= x >> 15;
  x *= 2246822519U;
  x ^= x >> 13;
  return (unsigned char)x;
}

static void* usmp_run_allocate(size_t size) {
  void* memory = malloc(size == 0 ? 1 : size);
  if (memory == NULL) usmp_run_stop("out of memory");
  return memory;
}

/* Aligned as asked for and not more. */
static void usmp_run_place(struct usmp_run_region* region) {
  unsigned char* block;
  uintptr_t rest;
  if (region->guard == 0) return;
  block = (unsigned char*)usmp_run_allocate(region->size + 2 * region->guard + 2 * region->alignment);
  rest = ((uintptr_t)block + region->guard) % (2 * region->alignment);
  region->memory = block + region->guard + (region->alignment >= rest ? region->alignment - rest
                                                                      : 3 * region->alignment - rest);
}

/* Calls `act` for the bytes that have to stay as they are. */
static void usmp_run_for_guarded(struct usmp_run_region* region,
                                 void (*act)(struct usmp_run_region*, unsigned char*, size_t, int)) {
  const struct usmp_run_gap* gap;
  if (region->guard != 0) {
    act(region, region->memory - region->guard, region->guard, 0);
    act(region, region->memory + region->size, region->guard, 1);
  }
  if (region->contents != NULL) return;
  for (gap = region->gaps; gap->begin < gap->end; ++gap) {
    act(region, region->memory + gap->begin, gap->end - gap->begin, 2);
  }
}

static void usmp_run_poison(struct usmp_run_region* region, unsigned char* start, size_t size, int kind) {
  (void)region;
  (void)kind;
  USMP_RUN_POISON(start, size);
}

static void usmp_run_unpoison(struct usmp_run_region* region, unsigned char* start, size_t size, int kind) {
  (void)region;
  (void)kind;
  USMP_RUN_UNPOISON(start, size);
}

static FILE* usmp_run_results;
static uint32_t usmp_run_seed; /* of the garbage that is in memory */
static uint32_t usmp_run_current;

static void usmp_run_write(const void* bytes, size_t size) {
  if (size != 0 && fwrite(bytes, 1, size, usmp_run_results) != size) usmp_run_stop("the results cannot be written");
}

static void usmp_run_number(unsigned char* record, uint64_t number, int bytes) {
  int i;
  for (i = 0; i < bytes; ++i, number >>= 8) record[i] = (unsigned char)number;
}

/* What accesses of the model call that are checked: an index in [low, high) stays what it is. */
int64_t usmp_run_index(int64_t index, int64_t low, int64_t high, int64_t access);

int64_t usmp_run_index(int64_t index, int64_t low, int64_t high, int64_t access) {
  unsigned char record[13];
  if (index >= low && index < high) return index;
  record[0] = 'A';
  usmp_run_number(record + 1, (uint64_t)access, 4);
  usmp_run_number(record + 5, (uint64_t)index, 8);
  usmp_run_write(record, sizeof record);
  if (fclose(usmp_run_results) != 0) usmp_run_stop("the results cannot be written");
  exit(4);
}

static void usmp_run_report(int kind, size_t offset) {
  unsigned char record[14];
  record[0] = 'F';
  record[1] = (unsigned char)kind;
  usmp_run_number(record + 2, usmp_run_current, 4);
  usmp_run_number(record + 6, offset, 8);
  usmp_run_write(record, sizeof record);
}

/* The garbage of a region is counted from the start of its guard. */
static void usmp_run_fill(struct usmp_run_region* region) {
  unsigned char* start = region->memory - region->guard;
  size_t i;
  for (i = 0; i < region->size + 2 * region->guard; ++i) start[i] = usmp_run_garbage(usmp_run_seed, i);
  if (region->contents != NULL) memcpy(region->memory, region->contents, region->size);
}

static void usmp_run_check_guard(struct usmp_run_region* region, unsigned char* start, size_t size, int kind) {
  const size_t first = (size_t)(start - (region->memory - region->guard));
  size_t i;
  for (i = 0; i < size; ++i) {
    if (start[i] != usmp_run_garbage(usmp_run_seed, first + i)) {
      usmp_run_report(kind, kind == 0 ? size - i : kind == 1 ? i : (size_t)(start - region->memory) + i);
      return;
    }
  }
}

static void usmp_run_check(struct usmp_run_region* region) {
  size_t i;
  usmp_run_for_guarded(region, usmp_run_check_guard);
  if (region->contents == NULL) return;
  for (i = 0; i < region->size; ++i) {
    if (region->memory[i] != region->contents[i]) {
      usmp_run_report(3, i);
      return;
    }
  }
}

static void usmp_run_read(FILE* file, void* to, size_t size) {
  if (fread(to, 1, size, file) != size) usmp_run_stop("the inputs cannot be read");
}

static void usmp_run_finish(int32_t status) {
  unsigned char record[5];
  record[0] = 'R';
  usmp_run_number(record + 1, (uint32_t)status, 4);
  usmp_run_write(record, sizeof record);
}

/* For what the module leaves to run time. A program that links a runtime of its own uses that. */
#ifdef __GNUC__
#define USMP_RUN_WEAK __attribute__((weak))
#else
#define USMP_RUN_WEAK
#endif
void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int code, int bits);
int TVMBackendFreeWorkspace(int device_type, int device_id, void* memory);

USMP_RUN_WEAK void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int code, int bits) {
  unsigned char* memory = (unsigned char*)usmp_run_allocate((size_t)nbytes);
  size_t i;
  (void)device_type;
  (void)device_id;
  (void)code;
  (void)bits;
  for (i = 0; i < (size_t)nbytes; ++i) memory[i] = usmp_run_garbage(usmp_run_seed, i);
  return memory;
}

USMP_RUN_WEAK int TVMBackendFreeWorkspace(int device_type, int device_id, void* memory) {
  (void)device_type;
  (void)device_id;
  free(memory);
  return 0;
}

)";

inline constexpr const char* harness_main = R"(
int main(int argc, char** argv) {
  FILE* inputs;
  uint32_t garbage;
  long rounds;
  long round;
  size_t i;
  if (argc != 5) usmp_run_stop("expected 4 arguments");
  inputs = fopen(argv[1], "rb");
  usmp_run_results = fopen(argv[2], "wb");
  if (inputs == NULL || usmp_run_results == NULL) usmp_run_stop("a file cannot be opened");
  garbage = (uint32_t)strtoul(argv[3], NULL, 10);
  rounds = strtol(argv[4], NULL, 10);
  for (i = 0; i < USMP_RUN_REGIONS; ++i) usmp_run_place(&usmp_run_regions[i]);
  for (round = 0; round < rounds; ++round) {
    usmp_run_seed = garbage + (uint32_t)round * 2654435769U;
    usmp_run_round(inputs);
  }
  if (fclose(usmp_run_results) != 0) usmp_run_stop("the results cannot be written");
  return 0;
}
)";

}  // namespace usmp::execute
