// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which parameters of functions whose C stays escape.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tvm_c/read_device.hpp"

namespace usmp::tvm_c::escape_test {
namespace {

// What the warning says of the output, which is `b` of the operator; empty: it does not escape.
std::string escaped_of(const std::string& device, const std::string& header = {}) {
  const test::ReadDevice read =
      test::read_device(device, test::start_npu + test::use_host + test::wait_npu, {}, {}, header);
  const std::string begin = "function 'tvmgen_m_npu' may keep addresses of tensors that it gets: ";
  const std::size_t at = read.warnings.find(begin);
  const bool is_held = read.entry.find("usmp_held_1\", x_buffer_var, sid_1)") != std::string::npos ||
                       read.entry.find("usmp_held_1\", sid_1)") != std::string::npos;
  CHECK_MESSAGE(is_held == (at != std::string::npos), (read.warnings + read.entry));
  if (at == std::string::npos) return {};
  const std::string rest = read.warnings.substr(at + begin.size());
  return rest.substr(0, rest.find("; "));
}

std::string escaped(const std::string& body, const std::string& front = "static int8_t *from, *to;\n",
                    const std::string& header = {}) {
  return escaped_of(test::device_file(body, front), header);
}

const std::string job =
    "struct job { int8_t *from, *to; };\nstatic struct job job;\nstatic int8_t* to;\nstatic int n;\n";

}  // namespace

TEST_CASE("what is loaded, stored to, compared and kept in variables of the function does not escape") {
  for (const char* body : {
           "  for (int i = 0; i < 4; ++i) b[i] = a[i];\n",
           "  int8_t* q = b + 3;\n  while (q != b && *q == 0) *q-- = *a;\n",
           "  const int8_t *p = a, *const r = &b[2];\n  b[0] = p < r ? *p : r[-1];\n",
           "  void* q = b;\n  ((int32_t*)q)[0] = ((int32_t*)q)[0] + ((int32_t)a[1]);\n",
           "  float v = *(float*)(b + n);\n  *(float*)(b + n) = v;\n  extern float last;\n  last = v;\n",
           "  q15_t* q = (q15_t*)b;\n  extern q15_t last;\n  last = q[1];\n  (void)(n ? q : b);\n",
           "  int8_t* all[2] = {a, b};\n  all[1] = b;\n  (void)all;\n",
           "  n = (b, 3);\n",
           "  struct job mine = {.from = a, .to = b};\n  mine.to = a;\n  (void)mine;\n",
           "  struct job mine = (struct job){a, b};\n  memset(&mine, 0, sizeof(mine));\n",
           "  uintptr_t places[2] = {0};\n  places[1] = (uintptr_t)(b);\n  (void)places;\n",
           "  memcpy(b, a, sizeof(int32_t) * 4);\n  ((int8_t*)memset(b, 0, 3))[4] = 1;\n",
           "  static int calls;\n  calls++;\n  n = b == 0 || !a;\n  n = (int)sizeof b + (int)sizeof(a);\n",
           "  arm_convolve_wrapper_s8(&(struct context){b, 3}, a, &n);\n",
           "  struct context context = {b, 3};\n  enum status status = arm_softmax_s8(&context, a);\n"
           "  switch (!status) {\n    case DONE: break;\n    default: return -1;\n  }\n",
           "  size_t base[3] = {0};\n  base[1] = (uintptr_t)(b);\n  return TVMEthosULaunch(0, base, 3);\n",
           "#pragma GCC unroll 4\n  for (int i = 0; i < 4; ++i) b[i] = a[i];\n",
           "  if (a == b) goto end;\n  do {\n    n--;\n  } while (n > 3);\nend:\n  b[0] = \"}\" \"{\"[0];\n",
           "#ifdef SLOW\n  n = a[3];\n#else\n  int8_t* q = b;\n  *q = 0;\n#endif\n",
           "  b[a[3]] = a[b[2]];\n  printf(\"%d\" PRIu32 \"\\n\", a[0]);\n  fwrite(b, 1, 3, stdout);\n",
           "  for (int8_t *from = a, *to = b; from < a + 3;) *to++ = *from++;\n",
           "  { int8_t* to; to = b; (void)to; }\n",
           "  int8_t (*rows)[16] = 0;\n  typedef int8_t* last;\n  last q = b;\n  q = rows[1];\n  _Static_assert(1, "
           "\"\");\n",
           "  for (int8_t* to = b; n;) if (n) { to = a; n = *to; }\n",
       }) {
    CAPTURE(body);
    CHECK(escaped(body, job) == "");
  }
}

TEST_CASE("what is stored anywhere but in a variable of the function escapes") {
  const std::string stored = "it stores it in 'to'";
  for (const char* body : {"to = &b[3];",
                           "int8_t* q = b;\n  to = q;",
                           "to = (int8_t*)(a != 0 ? b : a);",
                           "job.to = b;",
                           "n = (to = b, 3);",
                           "struct job* j = &job;\n  j->to = b;",
                           "int8_t** all[1] = {&to};\n  int8_t** to = all[0];\n  *to = b;",
                           "static int8_t* to;\n  to = b;",
                           "extern int8_t* to;\n  to = b;",
                           "__attribute__((aligned(8))) static int8_t* to;\n  to = b;",
                           "{ int8_t* to = 0; (void)to; }\n  to = b;",
                           "for (int8_t* to = 0; n;) n = 0;\n  to = b;",
                           "if (n) for (int8_t* to = 0; n;) n = 0; else to = b;",
                           "switch (n) {\n    case 1 + 2: to = b; break;\n    default: ;\n  }",
                           "#ifdef FAST\n  int8_t* to = 0;\n  (void)to;\n#endif\n  to = b;",
                           "#ifdef FAST\n  int8_t* q = b;\n#else\n  int8_t* q = a;\n#endif\n  to = q;",
                           "int8_t *p = 0, *q = 0;\n  while (n) { to = p; p = q; q = b; }",
                           "uintptr_t x = (uintptr_t)b;\n  x ^= 1;\n  to = (int8_t*)(x + 1);",
                           "int8_t* all[2] = {a, b};\n  to = all[1];",
                           "struct job m = {a, b};\n  to = m.to;",
                           "to = &((struct part*)b)->rest;",
                           "to = ((struct part*)b)->rest;",
                           "row_t* rows = (row_t*)b;\n  to = rows[1];",
                           "int8_t* q = b;\n  int8_t** p = &q;\n  to = *p;",
                           "union { int8_t* p; uintptr_t n; } u = {b};\n  to = (int8_t*)u.n;",
                           "to = ((struct job){a, b}).to;",
                           "int8_t (*rows)[16] = (int8_t (*)[16])b;\n  to = rows[1];",
                           "to = (int8_t*[]){a, b}[1];"}) {
    CAPTURE(body);
    CHECK(escaped("  " + std::string(body) + "\n", job) == stored);
  }
  CHECK(escaped("  regs[n++] = (uint32_t)(uintptr_t)b;\n", "static uint32_t regs[3];\nstatic int n;\n") ==
        "it stores it in 'regs'");
  CHECK(escaped("  for (unsigned i = 0; i < sizeof b; ++i) mail[i] = ((uint8_t*)&b)[i];\n",
                "static uint8_t mail[8];\n") == "it stores it in 'mail'");
  CHECK(escaped("  for (int i = 0; i < 8; ++i) mail[i] = (uint8_t)((uintptr_t)b >> (8 * i));\n",
                "static uint8_t mail[8];\n") == "it stores it in 'mail'");
  CHECK(escaped("  *(volatile uint32_t*)0x40000000 = (uint32_t)b;\n").starts_with("it stores it in"));
  CHECK(escaped("  used[(uintptr_t)b & 255] = 1;\n", "static char used[256];\n") == "it takes it for an index");
  CHECK(escaped("  *(n ? &from : &to) = b;\n", "static int n;\nstatic int8_t *from, *to;\n")
            .starts_with("it stores it in"));
}

TEST_CASE("what is passed to a function that is not known to be done with it escapes") {
  CHECK(escaped("  start(b, 3);\n") == "it passes it to 'start'");
  CHECK(escaped("  start(&b);\n") == "it passes it to 'start'");
  CHECK(escaped("  int8_t* all[2] = {a, b};\n  start(all);\n") == "it passes it to 'start'");
  CHECK(escaped("  hook(b);\n", "static void (*const hook)(int8_t*) = 0;\n") == "it passes it to 'hook'");
  for (const char* call : {"(*hook)(b);", "ops.start(b);", "ops->table[3](b);", "(start)(b);",
                           "void (*local)(int8_t*) = start;\n  local(b);"}) {
    CAPTURE(call);
    CHECK(escaped("  " + std::string(call) + "\n") != "");
  }
  CHECK(escaped("  register fn_t local = start;\n  local(b);\n") == "it passes it to a function in a variable");
  // Synchronous ones copy what they are given: not an address, nor a struct that has one.
  CHECK(escaped("  memcpy(&to, &b, sizeof b);\n") == "it copies it by 'memcpy'");
  CHECK(escaped("  struct job m = {a, b};\n  memcpy(regs, m.words, 8);\n", job) == "it copies it by 'memcpy'");
  CHECK(escaped("  struct job m;\n  m.to = b;\n  memcpy(regs, m.words, 8);\n", job) == "it copies it by 'memcpy'");
  CHECK(escaped("  memset(mail, (int)(uintptr_t)b, 1);\n") == "it copies it by 'memset'");
  CHECK(escaped("  struct job m = {a, b};\n  fwrite(&m, 1, sizeof m, npu);\n", job) == "it copies it by 'fwrite'");
  CHECK(escaped("  to = memcpy(b, a, 3);\n") == "it stores it in 'to'");
  CHECK(escaped("  arm_fir_init_q7(&filter, b);\n") == "it passes it to 'arm_fir_init_q7'");
  CHECK(escaped("  memcpy(b, a, 3);\n",
                "static void* last;\nstatic void* memcpy(void* d, const void* s, int n) { last = d; return 0; }\n") ==
        "'memcpy' stores it in 'last'");
}

TEST_CASE("addresses are followed through the functions of the file") {
  const std::string front = "static int8_t* to;\nstatic int n;\nvoid start(int8_t* p);\n";
  const auto of = [&](const std::string& functions, const std::string& body) {
    return escaped("  " + body + "\n", front + functions);
  };
  const std::string keep = "static void keep(int8_t* p) { to = p; }\n";
  CHECK(of(keep, "keep(b);") == "'keep' stores it in 'to'");
  CHECK(of(keep + "static void more(int8_t* p) { keep(p + 1); }\n", "more(b);") == "'keep' stores it in 'to'");
  CHECK(of("static void more(int8_t* p) { start(p); }\n", "more(b);") == "'more' passes it to 'start'");
  CHECK(of("static int keep(p, k)\n  int8_t* p;\n  int k;\n{\n  to = p;\n  return k;\n}\n", "keep(b, 3);") ==
        "'keep' has parameters or attributes that are not understood");
  CHECK(of("static void down(int8_t* p, int k) { if (k) down(p + 1, k - 1); else to = p; }\n", "down(b, 3);") ==
        "'down' stores it in 'to'");
  CHECK(of("static void down(int8_t* p, int k) { if (k) down(p + 1, k - 1); *p = 0; }\n", "down(b, 3);") == "");
  CHECK(of("static void odd(int8_t* p, int k);\nstatic void even(int8_t* p, int k) { if (k) odd(p, k - 1); }\n"
           "static void odd(int8_t* p, int k) { even(p, k); to = p; }\n",
           "even(b, 3);") == "'odd' stores it in 'to'");
  // Which parameter, and what a number is given.
  CHECK(of("static void put(int8_t* p, const int8_t* q) { to = p; }\n", "int8_t mine[3];\n  put(mine, b);") == "");
  CHECK(of("static int at;\nstatic void set(uintptr_t x, int k) { at = k; }\n", "set((uintptr_t)b, 3);") == "");
  CHECK(of("static uintptr_t at;\nstatic void set(int k, uintptr_t x) { at = x; }\n", "set(3, (uintptr_t)b);") ==
        "'set' stores it in 'at'");
  CHECK(of("static int at;\nstatic void set(int k) { at = k; }\n", "set(3);\n  *b = 0;") == "");
  // What comes back.
  const std::string half = "static int8_t* half(int8_t* p) { return p + 8; }\n";
  CHECK(of(half, "to = half(b);") == "it stores it in 'to'");
  CHECK(of(half, "half(b)[3] = *half(a);") == "");
  CHECK(of("static int sum(int8_t* p) { return p[0] + p[1]; }\n", "n = sum(b);") == "");
  CHECK(of("struct job { int8_t* p; };\nstatic struct job job;\nstatic struct job of(int8_t* p) { struct job j = {p}; "
           "return j; }\n",
           "job = of(b);") == "it stores it in 'job'");
  CHECK(of("struct job { int8_t* p; };\nstatic struct job of(int8_t* p) { struct job j = {p}; return j; }\n",
           "memcpy(regs, of(b).words, 8);") == "it copies it by 'memcpy'");
  // Memory that has addresses.
  const std::string jobs = "struct job { int8_t* p; };\nstatic struct job job;\n";
  CHECK(of(jobs + "static void put(const struct job* j) { job = *j; }\n", "struct job m = {b};\n  put(&m);") ==
        "'put' stores it in 'job'");
  CHECK(of(jobs + "static void put(struct job j) { job = j; }\n", "struct job m = {b};\n  put(m);") ==
        "'put' stores it in 'job'");
  CHECK(
      of("static uint8_t mail[8];\nstatic void put(uint8_t* d, const uint8_t* s, int k) { while (k--) *d++ = *s++; }\n",
         "put(mail, (uint8_t*)&b, 8);") == "'put' stores it in 'd'");
  CHECK(of("static void put(uint8_t* d, const uint8_t* s, int k) { while (k--) *d++ = *s++; }\n",
           "put((uint8_t*)b, (uint8_t*)a, 8);") == "");
  CHECK(of("static void put(int8_t** at, int8_t* p) { *at = p; }\n", "put(&to, b);") == "'put' stores it in 'at'");
  // Arguments that the function has no parameter for, and functions in variables.
  CHECK(of("static void log_it(const char* f, ...) { n++; }\n", "log_it(\"%p\", b);") == "it passes it to 'log_it'");
  CHECK(of("static void each(void (*f)(int8_t*), int8_t* p) { f(p); }\n", "each(start, b);") ==
        "'each' passes it to a function in a variable");
}

TEST_CASE("a function of the file may be another one when it is compiled and linked") {
  const auto of = [&](const std::string& functions, const std::string& header = {}) {
    return escaped("  hook(b);\n", functions, header);
  };
  const std::string hook = "void hook(int8_t* p) { *p = 0; }\n";
  const std::string passes = "it passes it to 'hook'";
  CHECK(of(hook) == "");
  CHECK(of("__attribute__((weak)) " + hook) == passes);
  CHECK(of("void hook(int8_t* p) __attribute__((weak));\n" + hook) == passes);
  CHECK(of("#pragma weak hook\n" + hook) == passes);
  CHECK(of("#define HOOK __attribute__((weak))\nHOOK " + hook) == passes);
  CHECK(of("_Pragma(\"weak hook\")\n" + hook) == passes);
  CHECK(of("#ifndef HAS_HOOK\n" + hook + "#else\nvoid hook(int8_t* p);\n#endif\n") == passes);
  CHECK(of("#ifdef HAS_HOOK\n" + hook + "#else\nvoid hook(int8_t* p) { to = p; }\n#endif\n") == passes);
  CHECK(of("#ifndef LIB_C\n#define LIB_C\n" + hook + "#endif\n") == "");
  const std::string npu = test::device_file("  hook(b);\n", "");
  CHECK(escaped_of("#ifndef HOST\n" + hook + npu + "#endif\n") == "it may be another function of that name");
  CHECK(of("#if 1\n" + hook + "#endif\n") == "");
  CHECK(of("#include \"board.h\"\n", "static inline void hook(int8_t* p) { *p = 0; }\n") == passes);
}

TEST_CASE("macros count if they are defined for certain where the function stands") {
  const std::string front = "static int8_t *npu_to, *to;\n";
  const auto of = [&](const std::string& macros, const std::string& body, const std::string& header = {}) {
    return escaped("  " + body + "\n", front + macros, header);
  };
  CHECK(of("#define SET(r, v) do { npu_##r = (v); } while (0)\n", "SET(to, b);") == "it stores it in 'npu_to'");
  CHECK(of("#define START to = b\n#define KICK START\n", "KICK;") == "it stores it in 'to'");
  CHECK(of("static void keep(int8_t* p) { to = p; }\n#define start keep\n", "start(b);") == "'keep' stores it in 'to'");
  CHECK(of("#define LOAD(p, i) ((p)[i])\n", "b[0] = LOAD(a, 3);") == "");
  CHECK(of("#include \"board.h\"\n", "LOAD(b, 3);", "#define LOAD(p, i) ((p)[i])\n") == "");
  CHECK(of("#include \"board.h\"\n", "LOAD(b, 3);", "#ifdef X\n#define LOAD(p, i) ((p)[i])\n#endif\n") ==
        "it has macros that are not understood");
  CHECK(of("#ifdef BOARD\n#define KICK(p) (to = (p))\n#else\n#define KICK(p) ((void)(p))\n#endif\n", "KICK(b);") ==
        "it has macros that are not understood");
  CHECK(of("#ifdef BOARD\n#define COUNT (1 << 3)\n#else\n#define COUNT 4\n#endif\n", "b[COUNT] = 0;") == "");
  CHECK(of("#define KICK(p) (to = (p))\n#undef KICK\n#define KICK(p) ((void)(p))\n", "KICK(b);") == "");
  CHECK(of("#define KICK(p) ((void)(p))\n#undef KICK\n", "KICK(b);") == "it passes it to 'KICK'");
  CHECK(of("#define put(p) keep_##p(p)\n", "put(b);") == "it passes it to 'keep_b'");
  CHECK(of("#define LOOP(p) LOOP(p)\n", "LOOP(b);") == "it passes it to 'LOOP'");
  CHECK(of("#define TRACE(p) trace(#p)\n", "TRACE(b);") == "");
  CHECK(of("#define __pkhbt(x, y, n) __extension__ ({ uint32_t r; __asm(\"pkhbt\" : \"=r\"(r)); r; })\n",
           "b[0] = __pkhbt(a[0], a[1], 16);") == "");
  const std::string kick = test::device_file("  KICK;\n", front + "#include \"board.h\"\n");
  const std::string uses = test::start_npu + test::use_host + test::wait_npu;
  const auto warnings = [&](std::size_t headers) {
    return test::read_device(kick, uses, {}, {}, "#define KICK to = b\n", headers).warnings;
  };
  CHECK(warnings(1).find("it stores it in 'to'") != std::string::npos);
  CHECK(warnings(2).find("it has macros that are not understood") != std::string::npos);
  // Behind the function it is none.
  const std::string behind =
      "static void set(int8_t* p) { to = p; }\nstatic void keep(int8_t* p) { set(p); }\n#define set(p) ((void)0)\n";
  CHECK(of(behind, "keep(b);") == "'set' stores it in 'to'");
}

TEST_CASE("words that are not understood let all parameters escape") {
  for (const char* body :
       {"__asm__ volatile(\"\" : : \"r\"(b) : \"memory\");", "asm(\"nop\");", "({ to = b; });",
        "void keep(int8_t* p) { to = p; } keep(b);", "void* at = &&end; goto *at;\nend:;",
        "_Generic(b, int8_t*: keep)(b);", "int8_t* x __attribute__((cleanup(keep))) = b;",
        "volatile UNKNOWN int8_t* to = 0;\n  to = b;", "typeof(b) x = b;\n  to = x;",
        "va_start(list, b); x = va_arg(list, int8_t*);", "#include \"more.inc\"\n  n = 3;", "n * x, to = b;", "n * b;",
        "b[0] = f(#);", "int x asm(\"r0\") = 0;", "if (({ to = b; 1; })) n = 3;", "int b;\n  return 1 +;"}) {
    CAPTURE(body);
    CHECK(escaped("  " + std::string(body) + "\n", job) != "");
  }
  const auto nested = [](std::size_t depth) {
    return "  b[0] = " + std::string(depth, '(') + "a[0]" + std::string(depth, ')') + ";\n";
  };
  CHECK(escaped(nested(300)) == "");
  CHECK(escaped("  b[0] = " + std::string(100'000, '-') + "a[0];\n") == "");
  CHECK(escaped("  " + std::string(300, '{') + std::string(300, '}') + "\n").starts_with("it is not understood at "));
  std::string chain = "  int8_t* x0 = b;\n  while (n) {\n";
  for (int i = 30; i > 0; --i) chain += "    x" + std::to_string(i) + " = x" + std::to_string(i - 1) + ";\n";
  std::string variables;
  for (int i = 1; i <= 30; ++i) variables += "  int8_t* x" + std::to_string(i) + " = 0;\n";
  CHECK(escaped(variables + chain + "  }\n", job) == "it has addresses in too many variables");
}

TEST_CASE("functions and macros that the user names are synchronous") {
  const auto warnings = [](const std::string& body, const std::set<std::string>& synchronous) {
    const std::string front =
        "static int8_t* to;\n#define TRACE(p) (to = (p))\nstatic void keep(int8_t* p) { to = p; }\n";
    const std::string all = test::read_device(test::device_file(body, front),
                                              test::start_npu + test::use_host + test::wait_npu, {}, synchronous)
                                .warnings;
    const std::size_t at = all.find("function 'tvmgen_m_npu' may keep");
    return at == std::string::npos ? std::string() : all.substr(at);
  };
  const std::string option = ". If it is done with them when it returns: --synchronous ";
  CHECK(warnings("  keep(b);\n", {}).find(option + "keep\n") != std::string::npos);
  CHECK(warnings("  to = b;\n", {}).find(option + "tvmgen_m_npu\n") != std::string::npos);
  CHECK(warnings("  start(&b);\n", {}).find(option + "start\n") != std::string::npos);
  CHECK(warnings("  start(&b);\n", {"start"}) == "");
  CHECK(warnings("  keep(b);\n", {"keep"}) == "");
  CHECK(warnings("  TRACE(b);\n", {"TRACE"}) == "");
  CHECK(warnings("  TRACE(b);\n  to = b;\n", {"TRACE"}) != "");
  CHECK(warnings("  to = b;\n", {"tvmgen_m_npu"}) == "");
}

}  // namespace usmp::tvm_c::escape_test
