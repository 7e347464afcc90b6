// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
/* Preloaded into usmp-plan by faults.py: what the program does to files, and its allocations, go wrong at a chosen call.

   FAULT_MODE  count: nothing goes wrong
               kill: at call FAULT_AT the process is killed; a write has written its first half then
               fail: call FAULT_AT fails with FAULT_ERRNO
               full: from call FAULT_AT on, all that takes space fails with ENOSPC
               term: before call FAULT_AT the process gets SIGTERM
               malloc: allocation FAULT_AT fails, and the next FAULT_TIMES - 1
   FAULT_COUNT file for the number of calls, written at the end
   FAULT_NO_EXCHANGE  set: the file system knows neither RENAME_EXCHANGE nor RENAME_NOREPLACE */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static long calls;
static long allocations;
static long at = -1;
static long times = 1;
static int code = EIO;
static enum { COUNT, KILL, FAIL, FULL, TERM, MALLOC } mode;

static long number(const char* name, long fallback) {
  const char* text = getenv(name);
  return text == NULL ? fallback : atol(text);
}

__attribute__((constructor)) static void start(void) {
  static const char* const names[] = {"count", "kill", "fail", "full", "term", "malloc"};
  const char* wanted = getenv("FAULT_MODE");
  for (int i = 0; wanted != NULL && i < 6; ++i) {
    if (strcmp(names[i], wanted) == 0) mode = i;
  }
  code = (int)number("FAULT_ERRNO", EIO);
  times = number("FAULT_TIMES", 1);
  allocations = 0;
  at = number("FAULT_AT", -1);
}

__attribute__((destructor)) static void stop(void) {
  const char* path = getenv("FAULT_COUNT");
  if (path == NULL || mode != COUNT) return;
  char text[64];
  const int size = snprintf(text, sizeof text, "%ld %ld\n", calls, allocations);
  const int file = REAL(open)(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file >= 0 && REAL(write)(file, text, (size_t)size) != size) abort();
}

/* Counts a call; whether it is to fail, with errno set. */
static int fails(int takes_space) {
  ++calls;
  if (mode == KILL && calls == at) kill(getpid(), SIGKILL);
  if (mode == TERM && calls == at) raise(SIGTERM);
  if (mode == FAIL && calls == at) return errno = code, 1;
  if (mode == FULL && calls >= at && takes_space) return errno = ENOSPC, 1;
  return 0;
}

static int any_open(int directory, const char* path, int flags, mode_t access) {
  if ((flags & O_CREAT) != 0 && fails(1)) return -1;
  return REAL(openat)(directory, path, flags, access);
}

#define ACCESS(flags, access)            \
  mode_t access = 0;                     \
  if (((flags) & (O_CREAT)) != 0) {      \
    va_list rest;                        \
    va_start(rest, flags);               \
    access = va_arg(rest, mode_t);       \
    va_end(rest);                        \
  }

int open(const char* path, int flags, ...) {
  ACCESS(flags, access)
  return any_open(AT_FDCWD, path, flags, access);
}
int open64(const char* path, int flags, ...) {
  ACCESS(flags, access)
  return any_open(AT_FDCWD, path, flags, access);
}
int openat(int directory, const char* path, int flags, ...) {
  ACCESS(flags, access)
  return any_open(directory, path, flags, access);
}

ssize_t write(int file, const void* data, size_t size) {
  if (file <= STDERR_FILENO) return REAL(write)(file, data, size);
  if (mode == KILL && calls + 1 == at && REAL(write)(file, data, size / 2) < 0) abort();
  if (fails(1)) return -1;
  return REAL(write)(file, data, size);
}

int close(int file) {
  if (file > STDERR_FILENO && (fcntl(file, F_GETFL) & O_ACCMODE) != O_RDONLY && fails(1)) {
    REAL(close)(file);
    return -1;
  }
  return REAL(close)(file);
}

int mkdir(const char* path, mode_t access) { return fails(1) ? -1 : REAL(mkdir)(path, access); }
char* mkdtemp(char* pattern) { return fails(1) ? NULL : REAL(mkdtemp)(pattern); }
int link(const char* from, const char* to) { return fails(1) ? -1 : REAL(link)(from, to); }
int rename(const char* from, const char* to) { return fails(0) ? -1 : REAL(rename)(from, to); }
int rmdir(const char* path) { return fails(0) ? -1 : REAL(rmdir)(path); }
int unlinkat(int directory, const char* path, int flags) {
  return fails(0) ? -1 : REAL(unlinkat)(directory, path, flags);
}
int chmod(const char* path, mode_t access) { return fails(0) ? -1 : REAL(chmod)(path, access); }
int fchmodat(int directory, const char* path, mode_t access, int flags) {
  return fails(0) ? -1 : REAL(fchmodat)(directory, path, access, flags);
}
int flock(int file, int operation) { return fails(0) ? -1 : REAL(flock)(file, operation); }
int renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
  if (fails(0)) return -1;
  if (flags != 0 && getenv("FAULT_NO_EXCHANGE") != NULL) return errno = EINVAL, -1;
  return REAL(renameat2)(from_directory, from, to_directory, to, flags);
}

/* dlsym itself allocates, so the C library's allocator is reached by its own names. It takes the place of the one that the
   program is linked with: whole, for what one allocates the other cannot free. */
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* old, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* block);

static int exhausted(void) {
  if (at < 0) return mode == COUNT ? (++allocations, 0) : 0; /* not started yet, or only counting */
  ++allocations;
  if (mode != MALLOC || allocations < at || allocations >= at + times) return 0;
  errno = ENOMEM;
  return 1;
}
void* malloc(size_t size) { return exhausted() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return exhausted() ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return exhausted() ? NULL : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) { return exhausted() ? NULL : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block == NULL ? ENOMEM : 0;
}
void free(void* block) { __libc_free(block); }

/* C++'s operators new and delete, by their mangled names: size_t is unsigned long. */
extern void _ZSt17__throw_bad_allocv(void);
void* _Znwm(size_t size) {
  void* block = malloc(size == 0 ? 1 : size);
  if (block == NULL) _ZSt17__throw_bad_allocv();
  return block;
}
void* _ZnwmSt11align_val_t(size_t size, size_t alignment) {
  void* block = memalign(alignment, size);
  if (block == NULL) _ZSt17__throw_bad_allocv();
  return block;
}
void* _Znam(size_t size) { return _Znwm(size); }
void* _ZnwmRKSt9nothrow_t(size_t size, const void* tag) { return (void)tag, malloc(size); }
void* _ZnamRKSt9nothrow_t(size_t size, const void* tag) { return (void)tag, malloc(size); }
void _ZdlPv(void* block) { free(block); }
void _ZdaPv(void* block) { free(block); }
void _ZdlPvm(void* block, size_t size) { (void)size, free(block); }
void _ZdaPvm(void* block, size_t size) { (void)size, free(block); }
void _ZdlPvSt11align_val_t(void* block, size_t alignment) { (void)alignment, free(block); }
void _ZdlPvmSt11align_val_t(void* block, size_t size, size_t alignment) { (void)size, (void)alignment, free(block); }
