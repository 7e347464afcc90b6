// SPDX-License-Identifier: Apache-2.0
// Functions that go on with tensors after they have returned, and what waits for them.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tvm_c/read_entry.hpp"

namespace usmp::tvm_c::held_tensors_test {
namespace {

const std::string entry_head = "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n";

std::string taken(int number) {
  const std::string name = "sid_" + std::to_string(number);
  return "  void* " + name + " = TVMBackendAllocWorkspace(1, 0, (uint64_t)16, 0, 8);\n  if (" + name +
         " == NULL) {\n    return -1;\n  }\n";
}

const std::string start = "  if (tvmgen_m_npu(x_buffer_var, sid_1) != 0) return -1;\n";
const std::string host = "  if (tvmgen_m_op(x_buffer_var, sid_2) != 0) return -1;\n";
const std::string wait = "  npu_wait();\n";
const std::string use = "  if (tvmgen_m_dev(sid_1, y_buffer_var) != 0) return -1;\n";     // which may wait
const std::string read_it = "  if (tvmgen_m_op(sid_1, y_buffer_var) != 0) return -1;\n";  // which may not

struct Read {
  std::string entry;
  std::string warnings;
};

// Of a file of the device's with this text.
Read read(const std::string& device, const std::string& statements, const std::string& front = {}) {
  const std::string text = test::two_operators + "void npu_wait(void);\n" + front + entry_head + taken(1) + taken(2) +
                           statements + "  return 0;\n}\n";
  const Source file{"lib1.c", text};
  std::vector<Foreign> npus = {{"tvmgen_m_npu", "int32_t tvmgen_m_npu(int8_t* a, int8_t* b)", "lib2.c", device}};
  if (device.find("tvmgen_m_npu2") != std::string::npos) {
    npus.push_back({"tvmgen_m_npu2", "int32_t tvmgen_m_npu2(int8_t* a, int8_t* b)", "lib2.c", device});
  }
  if (statements.find("tvmgen_m_npu3") != std::string::npos) {  // of another file
    npus.push_back({"tvmgen_m_npu3", "int32_t tvmgen_m_npu3(int8_t* a, int8_t* b)", "lib3.c",
                    "int32_t tvmgen_m_npu3(int8_t* a, int8_t* b) {\n  return 0;\n}\n"});
  }
  const PlannedModule read = read_planned_module("m", {&file, 1}, npus, {}, Unread::kept);
  std::string warnings;
  for (const std::string& one : read.warnings) warnings += one + "\n";
  return {tir::print(read.module, read.module.functions[read.module.entry]), warnings};
}

std::string device(const std::string& body, const std::string& front = "static int8_t *from, *to;\n") {
  return front + "int32_t tvmgen_m_npu(int8_t* a, int8_t* b) {\n" + body + "  return 0;\n}\n";
}

// Behind which statement: where the call stands among the others.
bool holds_behind(const Read& read, const std::string& before, const std::string& after) {
  const std::size_t held = read.entry.find("call_extern(\"usmp_held_1\"");
  const std::size_t first = read.entry.find("call_extern(\"" + before + "\"");
  const std::size_t next = after.empty() ? std::string::npos : read.entry.rfind("call_extern(\"" + after + "\"");
  return held != std::string::npos && first != std::string::npos && first < held && held < next;
}

bool holds(const Read& read) { return read.entry.find("usmp_held") != std::string::npos; }

// An operator that calls functions which no file defines, as it is read. `behind`: what the entry does then.
std::string printed_operator(const std::string& body, const std::string& behind) {
  const std::string text = test::two_operators +
                           "void start(int8_t* p, int8_t* q);\nvoid fence(void);\nvoid wait_for(int8_t* p);\n"
                           "int32_t tvmgen_m_acc(int8_t* p, int8_t* q) {\n" +
                           body + "  return 0;\n}\n" + entry_head + taken(1) + taken(2) +
                           "  if (tvmgen_m_acc(x_buffer_var, sid_1) != 0) return -1;\n" + host + behind +
                           "  return 0;\n}\n";
  const Source file{"lib1.c", text};
  const PlannedModule read = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept);
  return tir::print(read.module, read.module.functions[*read.module.find("tvmgen_m_acc")]);
}

}  // namespace

TEST_CASE("tensors of a function that keeps their addresses live until what may wait for it is done") {
  const std::string keeps = device("  from = a;\n  to = b;\n");
  const Read waited = read(keeps, start + host + wait + use);
  CHECK(holds_behind(waited, "npu_wait", "tvmgen_m_dev"));
  CHECK_MESSAGE(waited.entry.find("call_extern(\"usmp_held_1\", x_buffer_var, sid_1)") != std::string::npos,
                waited.entry);
  CHECK(waited.warnings.find("function 'tvmgen_m_npu' keeps addresses of tensors that it gets, in 'from'; planned C "
                             "keeps these tensors up to the last statement that gets none, or one of them") !=
        std::string::npos);
  // The last one that may wait; what is started behind it is not held.
  CHECK(holds_behind(read(keeps, start + wait + host + wait + use), "tvmgen_m_op", "tvmgen_m_dev"));
  const Read behind = read(keeps, wait + start + read_it);
  CHECK_FALSE(holds(behind));
  CHECK(behind.warnings.find("in 'from', and must not use them after it has returned") != std::string::npos);
  // A statement may wait, too; a function that is read, or that gets tensors, does not.
  CHECK(holds_behind(read(keeps, start + host + "  while (!finished) { }\n" + use, "extern volatile int finished;\n"),
                     "usmp_kept_text", "tvmgen_m_dev"));
  CHECK_FALSE(holds(read(keeps, start + host + read_it)));
}

TEST_CASE("a function that gets one of the tensors may wait for all of its call") {
  const std::string keeps = device("  from = a;\n  to = b;\n");
  const std::string front = "void npu_wait_for(int8_t* p);\n";
  const Read waited = read(keeps, start + host + "  npu_wait_for(sid_1);\n" + read_it, front);
  CHECK(holds_behind(waited, "npu_wait_for", ""));
  CHECK_MESSAGE(waited.entry.find("call_extern(\"usmp_held_1\", x_buffer_var)") != std::string::npos, waited.entry);
  CHECK(waited.warnings.find("planned C keeps these tensors") != std::string::npos);
  // An operator with a call inside, too; not one that gets others.
  CHECK(holds_behind(read(keeps, start + host + use, front), "tvmgen_m_dev", ""));
  CHECK_FALSE(holds(read(keeps, start + "  npu_wait_for(sid_2);\n" + read_it, front)));
}

TEST_CASE("what begins next may wait for what was begun before") {
  const std::string other = "int32_t tvmgen_m_npu2(int8_t* a, int8_t* b) {\n  finish();\n  return 0;\n}\n";
  const std::string keeps = device("  from = a;\n  to = b;\n") + other;
  const auto next = [](const std::string& name) {
    return "  if (" + name + "(sid_2, y_buffer_var) != 0) return -1;\n";
  };
  const auto calls = [](const Read& read) {
    std::string result;
    for (std::size_t at = 0; (at = read.entry.find("call_extern(\"", at)) != std::string::npos;) {
      at += 13;
      result += read.entry.substr(at, read.entry.find(')', at) - at) + ") ";
    }
    std::erase(result, '"');
    return result;
  };
  // The same function, or one of its file; not a later one. What it gets binds it between the two.
  const std::string begun = "tvmgen_m_npu, x_buffer_var, sid_1) tvmgen_m_op, x_buffer_var, sid_2) ";
  const std::string held = ", x_buffer_var, sid_1, sid_2, y_buffer_var) ";
  const Read beside = read(keeps, start + host + next("tvmgen_m_npu2") + next("tvmgen_m_npu2") + read_it);
  CHECK(calls(beside) == begun + "usmp_held_1" + held + "tvmgen_m_npu2, sid_2, y_buffer_var) usmp_held_2" + held +
                             "tvmgen_m_npu2, sid_2, y_buffer_var) tvmgen_m_op, sid_1, y_buffer_var) ");
  CHECK(beside.warnings.find("planned C keeps these tensors") != std::string::npos);
  CHECK(calls(read(keeps, start + host + next("tvmgen_m_npu") + read_it)) ==
        begun + "usmp_held_1" + held + "tvmgen_m_npu, sid_2, y_buffer_var) usmp_held_2" + held +
            "tvmgen_m_op, sid_1, y_buffer_var) ");
  // Not what it writes first, which has nothing before.
  CHECK(calls(read(keeps, start + "  if (tvmgen_m_npu2(y_buffer_var, sid_2) != 0) return -1;\n" + read_it))
            .find("usmp_held_1, x_buffer_var, sid_1, y_buffer_var) tvmgen_m_npu2") != std::string::npos);
  // A statement that calls one.
  const std::string waits = "int32_t wait_for(const void* p) {\n  return p == 0;\n}\n";
  const std::string statement = "  if (mode) {\n    wait_for(y_buffer_var);\n  }\n";
  const Read stated = read(device("  from = a;\n  to = b;\n") + waits, start + host + statement + read_it,
                           "int32_t wait_for(const void* p);\nextern int mode;\n");
  CHECK_MESSAGE(calls(stated).find("usmp_added_1, y_buffer_var) usmp_held_2") != std::string::npos, calls(stated));
  // Not one of a file without keepers, nor others' functions.
  CHECK_FALSE(holds(read(device("") + other, start + host + next("tvmgen_m_npu2") + read_it)));
  CHECK_FALSE(holds(read(keeps, start + host + next("tvmgen_m_npu3") + read_it)));
  CHECK_FALSE(holds(read(keeps, start + host + "  dump(sid_2);\n" + read_it, "void dump(int8_t* p);\n")));
  // Under a condition, too.
  const std::string maybe = "  if (x_buffer_var[0] > 3) {\n  " + next("tvmgen_m_npu2") + "  }\n";
  CHECK_MESSAGE(calls(read(keeps, start + host + maybe + read_it)).find("sid_2, y_buffer_var) usmp_held_2" + held) !=
                    std::string::npos,
                calls(read(keeps, start + host + maybe + read_it)));
}

TEST_CASE("an operator that starts an accelerator keeps what it passes on, and so does a statement") {
  const std::string submit =
      "static int8_t* to;\nstatic void submit(int8_t* p, int8_t* q) {\n  to = q;\n  goto end;\nend:;\n}\n"
      "void begin_it(int8_t* p, int8_t* q);\nvoid fence(void);\nextern int mode;\n";
  const auto acc = [&](const std::string& body) {
    return submit + "int32_t tvmgen_m_acc(int8_t* p, int8_t* q) {\n" + body + "  return 0;\n}\n";
  };
  const std::string calls = "  if (tvmgen_m_acc(x_buffer_var, sid_1) != 0) return -1;\n" + host + wait + read_it;
  const Read known = read(device(""), calls, acc("  submit((&(p[0])), (&(q[0])));\n"));
  CHECK(holds_behind(known, "npu_wait", "tvmgen_m_op"));
  CHECK(known.warnings.find("function 'submit' keeps addresses of tensors that it gets, in 'to'; planned C") !=
        std::string::npos);
  const Read unknown = read(device(""), calls, acc("  begin_it((&(p[0])), (&(q[0])));\n"));
  CHECK(holds_behind(unknown, "npu_wait", "tvmgen_m_op"));
  CHECK(
      unknown.warnings.find("operator 'tvmgen_m_acc' passes tensors to functions that no file of the model defines") !=
      std::string::npos);
  CHECK_FALSE(holds(read(device(""), calls, acc("  begin_it((&(p[0])), (&(q[0])));\n  fence();\n"))));
  CHECK(
      holds(read(device(""), calls, acc("  begin_it((&(p[0])), (&(q[0])));\n  if (p[0] > 3) {\n    fence();\n  }\n"))));
  const std::string inner =
      "int32_t tvmgen_m_in(int8_t* p, int8_t* q) {\n  submit((&(p[0])), (&(q[0])));\n  return 0;\n}\n";
  CHECK(holds(read(device(""), calls,
                   submit + inner + acc("  if (tvmgen_m_in(p, q) != 0) return -1;\n").substr(submit.size()))));
  const std::string statement = "  if (mode) {\n    submit(x_buffer_var, sid_1);\n  }\n" + host + wait + read_it;
  const Read stated = read(device(""), statement, submit);
  CHECK(holds_behind(stated, "npu_wait", "tvmgen_m_op"));
  CHECK(stated.warnings.find("function 'submit' keeps addresses") != std::string::npos);
  CHECK(stated.warnings.find("must not use") == std::string::npos);
  const Read of_device = read(device("") + "void begin_2(int8_t* p, int8_t* q) {\n  to = q;\n}\n",
                              "  if (mode) {\n    begin_2(x_buffer_var, sid_1);\n  }\n" + host + wait + read_it,
                              "void begin_2(int8_t* p, int8_t* q);\nextern int mode;\n");
  CHECK(holds_behind(of_device, "npu_wait", "tvmgen_m_op"));
  CHECK(of_device.warnings.find("function 'begin_2' keeps addresses") != std::string::npos);
  const std::string half = "static int8_t* half(int8_t* p) {\n  goto end;\nend:\n  return p + 8;\n}\n";
  const Read kept = read(device(""), "  to = half(sid_1);\n" + host + wait + read_it, submit + half);
  CHECK(holds_behind(kept, "npu_wait", "tvmgen_m_op"));
  CHECK_MESSAGE(kept.warnings.find("the statement of the entry at lib1.c: line ") != std::string::npos, kept.warnings);
}

TEST_CASE("a function keeps an address if it stores one in what outlives it") {
  const auto keeps = [](const std::string& body, const std::string& front = "static int8_t *from, *to;\n") {
    return holds(read(device(body, front), start + host + wait + use));
  };
  CHECK(keeps("  to = &b[3];\n"));
  CHECK(keeps("  int8_t* q = b;\n  to = q;\n"));
  CHECK(keeps("  to = (int8_t*)(a != 0 ? b : a);\n"));
  CHECK(keeps("  job.to = b;\n", "static struct { int8_t* to; } job;\n"));
  CHECK(keeps("  job = (struct job){a, b};\n", "static struct job { int8_t *from, *to; } job;\n"));
  CHECK(keeps("  struct job* j = &job;\n  j->to = b;\n", "static struct job { int8_t* to; } job;\n"));
  CHECK(keeps("  static int8_t* last;\n  last = b;\n"));
  CHECK(keeps("  places[n++] = (uintptr_t)b;\n", "static uintptr_t places[9];\nstatic int n;\n"));
  CHECK(keeps("  submit(a, b);\n", "static int8_t* to;\nstatic void submit(int8_t* p, int8_t* q) { to = q; }\n"));
  const std::string job = "struct job { int8_t *from, *to; };\nstatic struct job job;\nstatic int8_t* to;\n";
  CHECK(keeps("  struct job mine = {a, b};\n  struct job* p = &mine;\n  job.to = p->to;\n", job));
  CHECK(keeps("  struct job mine = {a, b};\n  memcpy(&job, &mine, sizeof job);\n", job));
  CHECK(keeps("  memcpy(&job.to, &b, sizeof b);\n", job));
  CHECK(keeps("  SET(to, b);\n", "#define SET(x, y) x = y\n" + job));
  CHECK(keeps("  __atomic_store_n(&to, b, __ATOMIC_RELEASE);\n", job));
  CHECK(keeps("  to = half(b);\n", job + "static int8_t* half(int8_t* p) { return p + 8; }\n"));
  CHECK_FALSE(keeps("  memcpy(last, b, 16);\n", "static int8_t last[16];\n"));
  CHECK_FALSE(keeps("  run(&shape, a, b);\n", "static const struct shape shape = {3, 4};\n"));
  CHECK_FALSE(keeps("  MAX(a[0], b[0]);\n", job));
  CHECK_FALSE(keeps("  last = sum(b);\n", "static int last;\nstatic int sum(int8_t* p) { return p[0]; }\n"));
  // What is read through a pointer to structs or pointers is an address, and so is a number that one is passed for.
  const std::string call = "  struct job mine = {a, b};\n  submit(&mine);\n";
  for (const char* body : {"job = *j;", "job = j[0];", "job.to = j->to;", "memcpy(&job, j, sizeof job);",
                           "const struct job* k = j;\n  job = *k;", "queue[n++] = *j;"}) {
    CAPTURE(body);
    const std::string submit = "static void submit(const struct job* j) {\n  " + std::string(body) + "\n}\n";
    CHECK(keeps(call, job + "static struct job queue[4];\nstatic int n;\n" + submit));
  }
  CHECK(keeps("  struct job mine = {a, b};\n  push(&mine, 16);\n",
              job + "static void push(const void* p, int n) {\n  memcpy(&job, p, n);\n}\n"));
  CHECK(
      keeps("  int8_t* both[2] = {a, b};\n  push(both);\n", job + "static void push(int8_t** p) {\n  to = p[1];\n}\n"));
  CHECK(keeps("  int8_t* both[2] = {a, b};\n  push(both);\n",
              job + "static void push(const void* p) {\n  memcpy(&job, p, 16);\n}\n"));
  CHECK(keeps("  submit(made(b));\n", job + "static struct job* made(int8_t* p) {\n  return pick(p);\n}\n"
                                            "static void submit(const struct job* j) {\n  job = *j;\n}\n"));
  CHECK(keeps("  push(made(b));\n", job + "static int8_t** made(int8_t* p) {\n  return pick(p);\n}\n"
                                          "static void push(int8_t** p) {\n  to = p[1];\n}\n"));
  CHECK(keeps("  set((uintptr_t)b);\n", job + "static void set(uintptr_t x) {\n  to = (int8_t*)x;\n}\n"));
  CHECK(keeps("  set(1, (uint32_t)(&b[3]));\n",
              "static uint32_t regs[2];\nstatic void set(int i, uint32_t x) {\n  "
              "regs[i] = x;\n}\n"));
  CHECK_FALSE(keeps("  set(1, 16);\n  run(a, b);\n",
                    "static uint32_t regs[2];\nstatic void set(int i, uint32_t x) {\n  regs[i] = x;\n}\n"));
  CHECK(keeps("  int8_t* last = 0;\n  for (int i = 0; i < 2; ++i) {\n    if (last) to = last;\n    last = b;\n  }\n"));
  CHECK(keeps("#ifdef USES_DMA\n  to = b;\n#else\n  copy(a, b);\n#endif\n"));
  // Macros of the file, and functions that variables have.
  CHECK(
      keeps("  submit(a, b);\n", job + "#define submit(x, y) do { job.from = (x); \\\n  job.to = (y); } while (0)\n"));
  CHECK(keeps("  submit(b);\n", job + "#define put(x, y) x = y\n#define submit(x) put(to, (x))\n"));
  CHECK_FALSE(
      keeps("  submit(a, b);\n", job + "#define submit(x, y) do { int8_t* p = (x); p[0] = y[0]; } while (0)\n"));
  const std::string start = job + "static void begin_it(int8_t* p) {\n  to = p;\n}\n";
  CHECK(keeps("  hook(b);\n", start + "static void (*const hook)(int8_t*) = begin_it;\n"));
  CHECK(keeps("  void (*f)(int8_t*) = begin_it;\n  (*f)(b);\n", start));
  CHECK(keeps("  ops.start(b);\n", start + "static const struct { void (*start)(int8_t*); } ops = {begin_it};\n"));
  CHECK(keeps("  table[0](b);\n", start + "static void (*table[1])(int8_t*) = {begin_it};\n"));
  CHECK_FALSE(keeps("  ops.start(3);\n  run(a, b);\n", start + "static const struct { void (*start)(int); } ops;\n"));
  CHECK(keeps("  KICK;\n", job + "#define KICK START\n#define START job.to = b\n"));
  CHECK_FALSE(keeps("  KICK;\n", job + "#define KICK job.to = 0\n"));
  // What functions return.
  for (const char* result : {"uintptr_t", "uint32_t", "place_t", "struct job", "static inline int8_t*\n"}) {
    CAPTURE(result);
    CHECK(keeps("  place = of(b);\n",
                "static place_t place;\n" + std::string(result) + " of(int8_t* p) {\n  f(p);\n}\n"));
  }
  for (const char* result : {"int32_t", "int", "static inline float", "TVM_DLL int8_t", "/* any* */ size_t"}) {
    CAPTURE(result);
    CHECK_FALSE(
        keeps("  place = of(b);\n", "static int place;\n" + std::string(result) + " of(int8_t* p) {\n  f(p);\n}\n"));
  }
  // What is too small for an address has none, unless all its bytes are copied.
  const std::string put = "static void put(uint8_t* to, const uint8_t* p, int n) {\n  while (n--) *to++ = *p++;\n}\n";
  CHECK(keeps("  struct job mine = {a, b};\n  put((uint8_t*)&job, (const uint8_t*)&mine, 16);\n", job + put));
  CHECK_FALSE(keeps("  put((uint8_t*)b, (const uint8_t*)a, 16);\n", job + put));
  CHECK_FALSE(keeps("  struct job mine = {a, b};\n  for (int i = 0; i < 4; ++i) b[i] = mine.from[i];\n", job));
  const std::string brackets(251, '(');
  CHECK(keeps("  b[0] = " + brackets + "a[0]" + std::string(251, ')') + ";\n"));
  // Elements, results, and what ends with the function.
  CHECK_FALSE(keeps("  last = b[3];\n", "static int8_t last;\n"));
  CHECK_FALSE(keeps("  last = *b;\n", "static int8_t last;\n"));
  CHECK_FALSE(keeps("  void* q = b;\n  ((int32_t*)q)[0] = ((int32_t*)q)[0] + ((int32_t)a[1]);\n"));
  CHECK_FALSE(keeps("  status = run(a, b);\n", "static int status;\n"));
  CHECK_FALSE(keeps("  struct job job = {a, b};\n  run(&job);\n"));
  CHECK_FALSE(keeps("  uint64_t places[2] = {0};\n  places[1] = (uint64_t)(uintptr_t)(b);\n  run(places);\n"));
  CHECK_FALSE(keeps("  for (int i = 0; i < 4; ++i) b[i] = a[i];\n"));
  CHECK_FALSE(keeps("  calls++;\n", "static int calls;\n"));
}

TEST_CASE("what a function's own variables point to may outlive it") {
  const auto keeps = [](const std::string& body, const std::string& front) {
    return holds(read(device(body, front), start + host + wait + use));
  };
  const std::string job =
      "struct job { int8_t *from, *to; };\nstatic struct job job;\nstatic uintptr_t regs[4];\nstatic int8_t* to;\n"
      "struct ref { struct job* at; int8_t** place; int8_t* both[2]; };\n";
  CHECK(keeps("  int8_t** all[1] = {&job.to};\n  *all[0] = b;\n", job));
  CHECK(keeps("  int8_t** all[1] = {&job.to};\n  all[0][0] = b;\n", job));
  CHECK(keeps("  int8_t** all[1] = {&job.to};\n  memcpy(all[0], &b, sizeof b);\n", job));
  CHECK(keeps("  struct job* all[1] = {&job};\n  all[0]->to = b;\n", job));
  CHECK(keeps("  struct ref ref = {&job};\n  ref.at->to = b;\n", job));
  CHECK(keeps("  struct ref ref = {&job, &to};\n  *ref.place = b;\n", job));
  CHECK(keeps("  struct ref ref = {&job, &to};\n  ref.place[0] = b;\n", job));
  CHECK(keeps("  struct ref ref = {&job, &to};\n  ref.both[0] = b;\n",
              job + "struct pointers {\n  int8_t** both;\n};\n"));
  CHECK_FALSE(keeps("  int8_t* all[2];\n  all[0] = a;\n  all[1] = b;\n  run(all);\n", job));
  CHECK_FALSE(keeps("  struct ref ref = {0};\n  ref.both[1] = b;\n  run(&ref);\n", job));
  CHECK_FALSE(keeps("  struct job all[2];\n  all[1].to = b;\n  run(all);\n", job));
  CHECK_FALSE(keeps("  uintptr_t all[2][2];\n  all[1][0] = (uintptr_t)b;\n  run(all);\n", job));
  CHECK_FALSE(keeps("  const int8_t* all[2] = {a, b};\n  run(all);\n", job));
  // Also if they have its address as a number.
  CHECK(keeps("  uintptr_t base = 4096;\n  *(volatile uintptr_t*)(base + 8) = (uintptr_t)b;\n", job));
  CHECK(keeps("  uintptr_t base = 4096;\n  ((volatile uintptr_t*)base)[2] = (uintptr_t)b;\n", job));
  CHECK(keeps("  put((uintptr_t)&regs[1], (uintptr_t)b);\n",
              job + "static void put(uintptr_t at, uintptr_t x) {\n  *(volatile uintptr_t*)at = x;\n}\n"));
  CHECK_FALSE(keeps("  uintptr_t mine;\n  *(int8_t**)&mine = b;\n  run(mine);\n", job));
  // Byte by byte.
  const std::string bytes = "static uint8_t commands[8];\nstatic void put(uint8_t* to, uint64_t x) {\n  ";
  CHECK(keeps("  put(commands, (uintptr_t)b);\n",
              bytes + "for (int i = 0; i < 8; ++i) to[i] = (uint8_t)(x >> (8 * i));\n}\n"));
  CHECK(keeps("  put(commands, (uintptr_t)b);\n", bytes + "*to++ = (uint8_t)x;\n  x >>= 8;\n}\n"));
  CHECK_FALSE(keeps("  put((uint8_t*)b, (uint64_t)a[3]);\n", bytes + "to[0] = (uint8_t)(x >> 8);\n}\n"));
  // n = *to; declares nothing.
  CHECK(keeps("  int8_t n = *to;\n  to = b;\n", job));
  CHECK(keeps("  n = sum(1, *to, 2);\n  to = b;\n", job + "static int n;\n"));
  CHECK_FALSE(keeps("  int8_t *from = a, *to = b;\n  to = from;\n  run(to);\n", job));
  CHECK_FALSE(keeps("  for (int8_t *from = a, *to = b; from < a + 3;) to = from++;\n", job));
  // Assembler.
  CHECK(keeps("  __asm__ volatile(\"str %1, %0\" : \"=m\"(to) : \"r\"(b));\n", job));
  CHECK(keeps("  asm(\"str %0, [%1]\" : : \"r\"(b), \"r\"(a) : \"memory\");\n", job));
  CHECK_FALSE(keeps("  int n = 0;\n  __asm__(\"smlad %0, %1\" : \"+r\"(n) : \"r\"(b));\n", job));
  CHECK_FALSE(keeps("  __asm__ volatile(\"dsb\" : : : \"memory\");\n", job));
  CHECK_FALSE(
      keeps("  int n;\n  __asm__(\"ldr %0, %1\" : \"=r\"(n) : \"m\"(*(const int8_t(*)[4 * sizeof *(b)])(b)));\n", job));
}

TEST_CASE("functions in the old style keep addresses, too") {
  const auto keeps = [](const std::string& function, const std::string& body) {
    return holds(read(device(body, "static int8_t* to;\n" + function), start + host + wait + use));
  };
  CHECK(keeps("static int keep(p, n)\n  int8_t* p;\n  int n;\n{\n  to = p;\n}\n", "  keep(b, 3);\n"));
  CHECK_FALSE(keeps("static int keep(p, n) int8_t* p; int n; {\n  p[n] = 0;\n}\n", "  keep(b, 3);\n"));
  CHECK_FALSE(
      keeps("SECTION(fast) static uint8_t more[4];\nstatic int keep(int n) {\n  return n;\n}\n", "  keep(3);\n"));
}

TEST_CASE("an operator with a device's function inside may wait for all, whatever it gets") {
  const std::string keeps = device("  from = a;\n  to = b;\n") + "void npu_wait(void) {\n  while (*to) continue;\n}\n";
  const auto waits = [&](const std::string& body) {
    const std::string late = "  if (tvmgen_m_late(sid_2, y_buffer_var) != 0) return -1;\n";
    return holds(read(keeps, start + host + late + read_it,
                      "int32_t tvmgen_m_late(int8_t* p, int8_t* q) {\n" + body + "  return 0;\n}\n"));
  };
  CHECK(waits("  npu_wait();\n  q[0] = p[0];\n"));
  CHECK(waits("  goto end;\nend:\n  npu_wait();\n"));  // whose C stays
  CHECK_FALSE(waits("  other_wait();\n  q[0] = p[0];\n"));
}

TEST_CASE("functions whose C stays may keep addresses, too") {
  const std::string keeper =
      "static int8_t* last;\nint32_t tvmgen_m_keep(int8_t* p, int8_t* q) {\n  last = q;\n  goto end;\nend:\n  return "
      "0;\n}\n";
  const std::string calls = "  if (tvmgen_m_keep(x_buffer_var, sid_1) != 0) return -1;\n";
  CHECK(holds(read(device(""), calls + host + wait + use, keeper)));
  std::string plain = keeper;
  plain.replace(plain.find("last = q;"), 9, "last = 0;");
  CHECK_FALSE(holds(read(device(""), calls + host + wait + use, plain)));
}

TEST_CASE("in an operator, what unknown functions are passed lives until a later one may have waited for them") {
  const auto of = [](const std::string& body) { return printed_operator("  int8_t scratch[4];\n" + body, use); };
  const std::string begin = "  start((&(p[0])), (&(scratch[0])));\n";
  const std::string between = "  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = 3;\n  }\n";
  const std::string end = "  for (int32_t k = 0; k < 4; ++k) {\n    q[k] = scratch[k];\n  }\n";
  const std::string held = of(begin + between + "  fence();\n" + end);
  const std::size_t at = held.find("call_extern(\"usmp_held_1\", p, scratch)");
  REQUIRE_MESSAGE(at != std::string::npos, held);
  CHECK(held.find("call_extern(\"fence\")") < at);
  CHECK(of(begin + between + end).find("usmp_held") == std::string::npos);
  CHECK(of("  fence();\n" + begin + between + end).find("usmp_held") == std::string::npos);
  // In a loop: what is declared there is not held behind it.
  const std::string looped =
      "  for (int32_t t = 0; t < 2; ++t) {\n    int8_t tile[2];\n    start((&(p[(t * 2)])), "
      "(&(tile[0])));\n  }\n";
  CHECK(of(looped + between + "  fence();\n" + end.substr(0, end.find("scratch")) + "3;\n  }\n")
            .find("call_extern(\"usmp_held_1\", p)") != std::string::npos);
  const std::string renamed =
      "  for (int32_t t = 0; t < 2; ++t) {\n    int8_t* part = p + t;\n    start(part, (&(scratch[0])));\n  }\n";
  const std::string by_name = of(renamed + between + "  fence();\n" + end);
  CHECK_MESSAGE(by_name.find("call_extern(\"usmp_held_1\", p, scratch)") != std::string::npos, by_name);
}

TEST_CASE("in a loop, what was started an iteration before lives until something may have waited for it") {
  const auto of = [](const std::string& body) {
    return printed_operator(
        "  int8_t scratch[4];\n  int8_t last[4];\n  for (int32_t t = 0; t < 3; ++t) {\n" + body + "  }\n", read_it);
  };
  const auto has = [](const std::string& text, const std::string& before, const std::string& arguments) {
    const std::size_t at = text.find(before);
    const std::size_t held = text.find(", " + arguments + ")", text.find("call_extern(\"usmp_held_", at));
    CHECK_MESSAGE((at != std::string::npos && held != std::string::npos && held < at + 100), text);
  };
  const std::string begin = "    start((&(scratch[0])), (&(last[0])));\n";
  const std::string between = "    for (int32_t i = 0; i < 4; ++i) {\n      q[i] = last[i];\n    }\n";
  has(of("    fence();\n" + between + begin), "call_extern(\"fence\")", "scratch, last");
  has(of("    wait_for((&(last[0])));\n" + between + begin), "call_extern(\"wait_for\"", "scratch, last");
  // What begins the next job may have waited for the one before, in the next iteration, too.
  const std::string submit =
      "static int8_t* to;\nstatic void submit(int8_t* p) {\n  to = p;\n  goto end;\nend:;\n}\nvoid start(int8_t* p);\n";
  const auto jobs = [&](const std::string& name) {
    const std::string text = test::two_operators + submit +
                             "int32_t tvmgen_m_acc(int8_t* p, int8_t* q) {\n  int8_t scratch[4];\n  int8_t last[4];\n"
                             "  for (int32_t t = 0; t < 3; ++t) {\n    last[0] = p[t];\n    q[t] = last[0];\n    " +
                             name + "((&(scratch[0])));\n  }\n  return 0;\n}\n" + entry_head +
                             "  if (tvmgen_m_acc(x_buffer_var, y_buffer_var) != 0) return -1;\n  return 0;\n}\n";
    const Source file{"lib1.c", text};
    const PlannedModule read = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept);
    return tir::print(read.module, read.module.functions[*read.module.find("tvmgen_m_acc")]);
  };
  has(jobs("submit"), "call_extern(\"submit\"", "scratch");
  CHECK(jobs("start").find("usmp_held") == std::string::npos);
  // Behind the loop, which has both.
  const std::string both = of(begin + between + "    fence();\n");
  const std::size_t first = both.find("usmp_held_");
  CHECK_MESSAGE(both.find("usmp_held_", first + 9) != std::string::npos, both);
}

}  // namespace usmp::tvm_c::held_tensors_test
