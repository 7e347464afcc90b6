# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""An oracle for memory whose addresses escape. Stubs of undefined functions remember every pointer that they were ever given, and
those in structs that these point to, and at each later call dump the memory behind all of them. Of the program as found, that is
all memory that is still allocated; it says how many bytes that are. The planned program dumps the same bytes behind its pointers.
Both must be equal, but for bytes that depend on garbage in memory.
"""

from __future__ import annotations

from pathlib import Path

# `remember` and `dump_remembered` are for stubs, `add_memory` for memory of the firmware. Workspace is a stack full of garbage.
RUNTIME = r"""#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MOST 4096
static uint8_t arena[1 << 16] __attribute__((aligned(16)));
static size_t top;
static struct { const uint8_t* begin; size_t size; int is_live; } memory[MOST];
static struct { const uint8_t* at; int memory; } seen[MOST];
static int memories, pointers;
static FILE *out, *found;
static char line[1 << 18];
static int fill(void) { const char* byte = getenv("FILL"); return byte != NULL ? atoi(byte) : 0x5a; }
void fill_pool(void* pool, size_t size);
void fill_pool(void* pool, size_t size) { memset(pool, fill(), size); }
void add_memory(const void* begin, size_t size);
void remember(const void* p, int words);
void dump_remembered(const char* who);
void add_memory(const void* begin, size_t size) {
  if (memories == MOST) abort();
  memory[memories].begin = (const uint8_t*)begin;
  memory[memories].size = size;
  memory[memories++].is_live = 1;
}
static void open_logs(void) {
  const char* name = getenv("LOG");
  if (out != NULL || name == NULL) return;
  out = fopen(name, "w");
  name = getenv("FOUND");
  if (name != NULL) found = fopen(name, "r");
}
static int memory_of(const void* p) {
  for (int i = memories; i-- > 0;) {
    const uint8_t* at = (const uint8_t*)p;
    if (memory[i].is_live && at >= memory[i].begin && at < memory[i].begin + memory[i].size) return i;
  }
  return -1;
}
static void next_line(const char* kind) {  /* of the program as found: the same calls in the same order */
  if (fgets(line, sizeof line, found) == NULL || strncmp(line, kind, strlen(kind)) != 0) {
    fprintf(out, "%s came where the program as found has %s\n", kind, line);
    fflush(out);
    exit(0);
  }
}
static int is_new(const void* p, int of) {
  for (int i = 0; i < pointers; ++i)
    if (seen[i].at == p && seen[i].memory == of) return 0;
  if (pointers == MOST) abort();
  seen[pointers].at = (const uint8_t*)p;
  seen[pointers++].memory = of;
  return 1;
}
static const void* word_of(const void* p, int i) {
  return i < 0 ? p : ((const void* const*)p)[i];
}
void remember(const void* p, int words) {  /* and what so many words there point to */
  open_logs();
  if (out == NULL) return;
  fprintf(out, "remembers");
  if (found != NULL) {
    int at = 9, used = 0, word = 0;
    next_line("remembers");
    for (; sscanf(line + at, "%d%n", &word, &used) == 1; at += used) {
      fprintf(out, " %d", word);
      if (pointers == MOST) abort();
      seen[pointers++].at = (const uint8_t*)word_of(p, word);
    }
  } else {
    for (int i = -1; i < words; ++i) {
      const void* at = word_of(p, i);
      const int of = memory_of(at);
      if (of >= 0 && is_new(at, of)) fprintf(out, " %d", i);
    }
  }
  fprintf(out, "\n");
}
static void dump(int i, size_t count) {
  fprintf(out, "behind %d %d ", i, (int)count);
  for (size_t k = 0; k < count; ++k) fprintf(out, "%02x", seen[i].at[k]);
  fprintf(out, "\n");
}
void dump_remembered(const char* who) {
  open_logs();
  if (out == NULL) return;
  fprintf(out, "call of %s\n", who);
  if (found != NULL) {
    int i = 0, count = 0;
    next_line("call of ");
    while (1) {
      next_line("");
      if (sscanf(line, "behind %d %d", &i, &count) != 2) break;
      dump(i, (size_t)count);
    }
  } else {
    for (int i = 0; i < pointers; ++i) {
      const int of = seen[i].memory;
      if (memory[of].is_live) dump(i, (size_t)(memory[of].begin + memory[of].size - seen[i].at));
    }
  }
  fprintf(out, "end\n");
  fflush(out);
}
void* TVMBackendAllocWorkspace(int type, int id, uint64_t size, int code, int bits);
int TVMBackendFreeWorkspace(int type, int id, void* place);
void reset_workspace(void);
static void forget_from(const uint8_t* begin) {
  for (int i = 0; i < memories; ++i)
    if (memory[i].begin >= begin && memory[i].begin < arena + sizeof arena) memory[i].is_live = 0;
}
void reset_workspace(void) { top = 0; forget_from(arena); }
void* TVMBackendAllocWorkspace(int type, int id, uint64_t size, int code, int bits) {
  size_t begin = top;
  (void)type, (void)id, (void)code, (void)bits;
  if (size > sizeof arena - top) return NULL;
  top += (size_t)(size + 15) / 16 * 16;
  memset(arena + begin, fill(), (size_t)size);
  add_memory(arena + begin, (size_t)size);
  return arena + begin;
}
int TVMBackendFreeWorkspace(int type, int id, void* place) {
  size_t begin = (size_t)((uintptr_t)place - (uintptr_t)arena);
  (void)type, (void)id;
  if (begin >= top) return -1;
  forget_from(arena + begin);
  memset(arena + begin, fill(), top - begin);
  top = begin;
  return 0;
}
"""


def difference(found: list[Path], planned: Path) -> str | None:
    """Between logs of the program as found, one for each byte that memory was filled with, and the one of the planned program."""
    texts = [path.read_text().splitlines() if path.exists() else [] for path in found]
    got = planned.read_text().splitlines() if planned.exists() else []
    if any(len(text) != len(texts[0]) for text in texts):
        return None  # it depends on garbage
    for i, line in enumerate(texts[0]):
        mine = got[i] if i < len(got) else "the end"
        if not line.startswith("behind"):
            if mine != line:
                return f"{line!r} became {mine!r}"
            continue
        *head, expected = line.split(" ")
        if mine.split(" ")[:-1] != head:
            return f"{line[:60]!r} became {mine[:60]!r}"
        others = [text[i].split(" ")[-1] for text in texts[1:]]
        wrong = [k // 2 for k in range(0, len(expected), 2) if all(other[k:k + 2] == expected[k:k + 2] for other in others)
                 and mine.split(" ")[-1][k:k + 2] != expected[k:k + 2]]
        if wrong:
            call = next(text for text in reversed(texts[0][:i]) if text.startswith("call"))
            return f"at the {call}, memory behind pointer {head[1]} differs in {len(wrong)} of {head[2]} bytes, from byte {wrong[0]} on"
    return None if len(got) == len(texts[0]) else f"the planned program goes on with {got[len(texts[0])]!r}"
