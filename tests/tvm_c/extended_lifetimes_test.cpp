// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Until when tensors live whose addresses escape.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "tvm_c/read_device.hpp"

namespace usmp::tvm_c::extended_lifetimes_test {
namespace {

// The calls of a function, without the prefix of operators: "npu(x_buffer_var, sid_1) npu_wait() held(sid_1) ". Text
// that stays is "text() ", a fence "fence() ".
std::string calls_in(const std::string& printed) {
  std::string result;
  for (std::size_t at = 0; (at = printed.find("call_extern(\"", at)) != std::string::npos;) {
    at += 13;
    const std::string all = printed.substr(at, printed.find('\n', at) - at);
    std::string name = all.substr(0, all.find('"'));
    std::string arguments = all.size() > name.size() + 2 ? all.substr(name.size() + 3) : std::string();
    arguments = arguments.substr(0, arguments.find(')'));
    if (name == "usmp_kept_text") name = arguments == "\"\"" ? "fence" : "text";
    if (name == "fence" || name == "text" || all[all.find('"') + 1] == ')') arguments.clear();
    if (name.starts_with("usmp_held_")) name = "held";
    if (name.starts_with("tvmgen_m_")) name = name.substr(9);
    result += name + "(" + arguments + ") ";
  }
  return result;
}

std::string calls(const std::string& device, const std::string& statements, const std::string& front = {}) {
  return calls_in(test::read_device(device, statements, front).entry);
}

const std::string keeps = test::device_file("  from = a;\n  to = b;\n");
const std::string keeps_output = test::device_file("  to = b;\n");
const std::string start = test::start_npu, host = test::use_host, wait = test::wait_npu, read_it = test::read_npu;
const std::string begun = "npu(x_buffer_var, sid_1) fence() ";
const std::string worked = "op(x_buffer_var, sid_2) ";

// An operator that calls functions which no file defines, as it is read.
std::string calls_of_operator(const std::string& body) {
  const std::string text =
      test::two_operators +
      "void start(int8_t* p, int8_t* q);\nvoid fence_it(void);\nvoid wait_for(int8_t* p);\n"
      "int32_t tvmgen_m_acc(int8_t* p, int8_t* q) {\n  int8_t scratch[4];\n  int8_t last[4];\n" +
      body + "  return 0;\n}\nint32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n" +
      "  if (tvmgen_m_acc(x_buffer_var, y_buffer_var) != 0) return -1;\n  return 0;\n}\n";
  const Source file{"lib1.c", text};
  const PlannedModule read = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept);
  return calls_in(tir::print(read.module, read.module.functions[*read.module.find("tvmgen_m_acc")]));
}

}  // namespace

TEST_CASE("what has escaped lives until the last statement that is not read") {
  CHECK(calls(keeps, start + host + wait + read_it) ==
        begun + worked + "npu_wait() held(x_buffer_var, sid_1) op(sid_1, y_buffer_var) ");
  CHECK(calls(keeps_output, start + host + wait + read_it) ==
        begun + worked + "npu_wait() held(sid_1) op(sid_1, y_buffer_var) ");
  CHECK(calls(keeps_output, start + wait + host + wait + read_it) ==
        begun + "npu_wait() " + worked + "npu_wait() held(sid_1) op(sid_1, y_buffer_var) ");
  // Nothing that is not read follows, or is there before.
  CHECK(calls(keeps, start + host + read_it) == "npu(x_buffer_var, sid_1) " + worked + "op(sid_1, y_buffer_var) ");
  CHECK(calls(keeps, wait + start + read_it) == "npu_wait() npu(x_buffer_var, sid_1) op(sid_1, y_buffer_var) ");
  // Any is: text, another kernel, an operator with a call of somebody's inside.
  CHECK(calls(keeps_output, start + host + "  while (!finished) { }\n" + read_it, "extern volatile int finished;\n") ==
        begun + worked + "text() held(sid_1) op(sid_1, y_buffer_var) ");
  const std::string other = "int32_t tvmgen_m_npu2(int8_t* a, int8_t* b) {\n  b[0] = a[0];\n  return 0;\n}\n";
  CHECK(calls(keeps_output + other,
              start + host + "  if (tvmgen_m_npu2(sid_2, y_buffer_var) != 0) return -1;\n" + read_it) ==
        begun + worked + "npu2(sid_2, y_buffer_var) fence() held(sid_1) op(sid_1, y_buffer_var) ");
  CHECK(calls(keeps_output, start + host + "  if (tvmgen_m_dev(sid_2, y_buffer_var) != 0) return -1;\n" + read_it) ==
        begun + worked + "dev(sid_2, y_buffer_var) fence() held(sid_1) op(sid_1, y_buffer_var) ");
  // Under a condition, both.
  CHECK(calls(keeps_output, "  if (x_buffer_var[0] > 3) {\n  " + start + "  }\n" + host +
                                "  if (x_buffer_var[1] > 3) {\n  " + wait + "  }\n" + read_it) ==
        "npu(x_buffer_var, sid_1) " + worked + "text() held(sid_1) op(sid_1, y_buffer_var) ");
}

TEST_CASE("operators that are read pass on what escapes") {
  const std::string submit =
      "static int8_t* to;\nstatic void submit(int8_t* p, int8_t* q) {\n  to = q;\n}\nvoid begin_it(int8_t* p, int8_t* "
      "q);\n";
  const auto acc = [&](const std::string& body) {
    return submit + "int32_t tvmgen_m_acc(int8_t* p, int8_t* q) {\n" + body + "  return 0;\n}\n";
  };
  const std::string call = "  if (tvmgen_m_acc(x_buffer_var, sid_1) != 0) return -1;\n";
  const auto of = [&](const std::string& front) {
    return test::read_device(test::device_file(""), call + host + wait + read_it, front);
  };
  const auto held = [&](const std::string& arguments) {
    return "acc(x_buffer_var, sid_1) fence() " + worked + "npu_wait() held(" + arguments + ") op(sid_1, y_buffer_var) ";
  };
  const test::ReadDevice known = of(acc("  submit((&(p[0])), (&(q[0])));\n"));
  CHECK(calls_in(known.entry) == held("sid_1"));
  CHECK_MESSAGE(
      known.warnings.find("function 'submit' may keep addresses of tensors that it gets: it stores it in 'to'; no "
                          "tensor lives longer for it. If "
                          "it is done with them when it returns: --synchronous submit\n") != std::string::npos,
      known.warnings);
  const test::ReadDevice unknown = of(acc("  begin_it((&(p[0])), (&(q[0])));\n"));
  CHECK(calls_in(unknown.entry) == held("x_buffer_var, sid_1"));
  CHECK(unknown.warnings.find(
            "function 'begin_it' may keep addresses of tensors that it gets: it is in no C file of the model") !=
        std::string::npos);
  // Through another operator, an alias, and with arguments in another order.
  const std::string inner =
      "int32_t tvmgen_m_in(int8_t* q, int8_t* p) {\n  int8_t* r = q + 1;\n  submit(p, r);\n  return 0;\n}\n";
  CHECK(calls_in(of(submit + inner + acc("  if (tvmgen_m_in(q, p) != 0) return -1;\n").substr(submit.size())).entry) ==
        held("sid_1"));
  CHECK(calls_in(of(acc("  submit(q, p);\n")).entry) == held("x_buffer_var"));
  // A statement of the entry.
  const std::string statement = "  if (mode) {\n    submit(x_buffer_var, sid_1);\n  }\n";
  const test::ReadDevice stated =
      test::read_device(test::device_file(""), statement + host + wait + read_it, submit + "extern int mode;\n");
  CHECK_MESSAGE(calls_in(stated.entry).ends_with("npu_wait() held(sid_1) op(sid_1, y_buffer_var) "), stated.entry);
  CHECK(stated.warnings.find(
            "a statement of the entry may keep addresses of tensors that it gets: 'submit' stores it in 'to'") !=
        std::string::npos);
}

TEST_CASE("in a loop, what has escaped in one iteration lives in the next") {
  const std::string begin = "    start((&(scratch[0])), (&(q[0])));\n";
  const std::string between = "    for (int32_t i = 0; i < 4; ++i) {\n      q[i] = last[i];\n    }\n";
  const auto looped = [](const std::string& body) { return "  for (int32_t t = 0; t < 3; ++t) {\n" + body + "  }\n"; };
  CHECK(calls_of_operator(looped("    fence_it();\n" + between + begin)) ==
        "fence_it() start(tir.address_of<handle>(scratch[0]) held(scratch, q) ");
  CHECK(calls_of_operator(looped(begin + between + "    fence_it();\n")) ==
        "start(tir.address_of<handle>(scratch[0]) fence_it() held(scratch, q) ");
  // What is the iteration's own ends with it.
  const std::string tile = "    int8_t tile[2];\n    start((&(p[t])), (&(tile[0])));\n";
  CHECK(calls_of_operator(looped(tile) + "  fence_it();\n") ==
        "start(tir.address_of<handle>(p[t]) held(p) fence_it() held(p) ");
  CHECK(calls_of_operator(looped(tile + "    fence_it();\n")) ==
        "start(tir.address_of<handle>(p[t]) fence_it() held(p, tile) ");
  const auto repeated = [](const std::string& body) {
    return "  int32_t t[1];\n  t[0] = 0;\n  while (t[0] < 3) {\n" + body + "    t[0] = t[0] + 1;\n  }\n";
  };
  CHECK(calls_of_operator(repeated("    fence_it();\n" + between + begin)) ==
        calls_of_operator(looped("    fence_it();\n" + between + begin)));
  // Behind the loop, too.
  CHECK(calls_of_operator(looped(begin) + "  fence_it();\n").ends_with("fence_it() held(scratch, q) "));
}

TEST_CASE("what TVM has placed where something else is by then does not live longer") {
  const auto calls_with = [](const std::string& first, const std::string& second) {
    const std::string text =
        test::two_operators +
        "void npu_wait(void);\nvoid npu_start(int8_t* p);\n"
        "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* global_workspace_0_var) {\n"
        "  void* sid_1_let = (&(global_workspace_0_var[" +
        first + "]));\n  void* sid_2_let = (&(global_workspace_0_var[" + second +
        "]));\n  void* sid_3_let = (&(global_workspace_0_var[0]));\n"
        "  if (tvmgen_m_op(x_buffer_var, sid_1_let) != 0 ) return -1;\n  npu_start(sid_1_let);\n"
        "  if (tvmgen_m_op(x_buffer_var, sid_2_let) != 0 ) return -1;\n  npu_wait();\n"
        "  if (tvmgen_m_op(sid_2_let, sid_3_let) != 0 ) return -1;\n  npu_wait();\n"
        "  if (tvmgen_m_op(sid_3_let, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";
    const std::vector<Source> files = {{"lib0.c", "static uint8_t global_workspace[32];\n"}, {"lib1.c", text}};
    const PlannedModule read = read_planned_module("m", files, {}, {}, Unread::kept);
    return calls_in(tir::print(read.module, read.module.functions[read.module.entry]));
  };
  CHECK(calls_with("0", "16") ==
        "op(x_buffer_var, sid_1) npu_start(sid_1) fence() op(x_buffer_var, sid_2) npu_wait() held(sid_1) "
        "op(sid_2, sid_3) npu_wait() op(sid_3, y_buffer_var) ");
  // It is as large as it is used, not as the pool's rest.
  CHECK(calls_with("16", "24") ==
        "op(x_buffer_var, sid_1) npu_start(sid_1) fence() op(x_buffer_var, sid_2) npu_wait() "
        "op(sid_2, sid_3) npu_wait() held(sid_1) op(sid_3, y_buffer_var) ");
}

TEST_CASE("a warning says how many bytes live longer, and for whom") {
  const std::string text =
      "function 'tvmgen_m_npu' may keep addresses of tensors that it gets: it stores it in 'from'; ";
  const auto told = [&](const std::string& statements) {
    const std::string all = test::read_device(keeps, statements).warnings;
    const std::size_t at = all.find(text);
    return at == std::string::npos ? std::string() : all.substr(at + text.size(), all.find('.', at) - at - text.size());
  };
  const std::string longer = " longer than the model needs them, up to the last statement that is not read";
  const std::string consume = "  if (tvmgen_m_op(sid_1, sid_2) != 0) return -1;\n";
  const std::string end = "  if (tvmgen_m_op(sid_2, y_buffer_var) != 0) return -1;\n";
  CHECK(told(start + consume + wait + end) == "planned C keeps 16 bytes of them" + longer);
  CHECK(told(start + consume + end + wait) == "planned C keeps 16 bytes of them" + longer);
  CHECK(told("  if (tvmgen_m_npu(sid_2, sid_1) != 0) return -1;\n" + host + end + wait) ==
        "planned C keeps 32 bytes of them" + longer);
  CHECK(told(start + host + wait + read_it) == "no tensor lives longer for it");
  // The application's memory is not planned, and a device's context is none.
  CHECK(told("  if (tvmgen_m_npu(x_buffer_var, y_buffer_var) != 0) return -1;\n" + wait) == "");
  std::string many;
  for (int i = 0; i < 11; ++i) many += "  start_" + std::to_string(i) + "(sid_1);\n";
  CHECK(
      test::read_device(keeps, many + wait).warnings.find("3 other functions may keep addresses of tensors likewise") !=
      std::string::npos);
}

TEST_CASE("a device's context is no tensor") {
  const std::string text =
      test::two_operators +
      "int32_t TVMDeviceNpuOpen(void* device);\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, void* device_context_npu) {\n"
      "  if (TVMDeviceNpuOpen(device_context_npu) != 0 ) return -1;\n  if (tvmgen_m_op(x_buffer_var, y_buffer_var) != "
      "0 ) return -1;\n"
      "  if (TVMDeviceNpuClose(device_context_npu) != 0 ) return -1;\n  return 0;\n}\n";
  const Source file{"lib1.c", text};
  const PlannedModule read = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept);
  CHECK(calls_in(tir::print(read.module, read.module.functions[read.module.entry])) ==
        "TVMDeviceNpuOpen(device_context_npu) op(x_buffer_var, y_buffer_var) TVMDeviceNpuClose(device_context_npu) ");
}

TEST_CASE("an address of a pool that a later call may find is refused, unless somebody says that none does") {
  const auto said = [](const std::string& file, const std::string& body,
                       const std::set<std::string>& synchronous = {}) {
    const std::string text =
        file +
        "int32_t tvmgen_m_odd(int8_t* p, int8_t* q, uint8_t* ws_1_var) {\n  int8_t* at = (int8_t*)(&(ws_1_var[8]));\n" +
        body +
        "  int i = 0;\n  do { at[i] = p[i]; q[i] = at[3 - i]; } while (++i < 4);\n  return 0;\n}\n"
        "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* ws_0_var) {\n"
        "  void* sid_1_let = (&(ws_0_var[0]));\n"
        "  if (tvmgen_m_odd(x_buffer_var, sid_1_let, ws_0_var) != 0 ) return -1;\n"
        "  if (tvmgen_m_odd(sid_1_let, y_buffer_var, ws_0_var) != 0 ) return -1;\n  return 0;\n}\n";
    const std::string all = "static uint8_t ws[16];\n" + text;
    const Source source{"lib1.c", all};
    try {
      (void)read_planned_module("m", {&source, 1}, {}, {}, Unread::kept, {}, {}, synchronous);
      return std::string("none");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  CHECK(said("", "") == "none");
  const std::string tells =
      "function 'tvmgen_m_odd' stores an address of pool 'ws' in 'first', where a later call may find it";
  const std::string stores = "  static int8_t* first;\n  if (!first) first = at;\n  at = first;\n";
  CHECK(said("", stores).starts_with("lib1.c: line 2, column 9: " + tells));
  CHECK(said("", stores, {"tvmgen_m_odd"}) == "none");
  CHECK(said("static int8_t* first;\n", "  first = at + 1;\n").find(tells) != std::string::npos);
  CHECK(said("static struct { int8_t* first; } state;\n", "  state.first = at;\n").find(tells) != std::string::npos);
  const std::string helper = "static int8_t* first;\nstatic void save(int8_t* a) { first = a; }\n";
  CHECK(said(helper, "  save(at);\n").find(tells) != std::string::npos);
  // What else has it before does not hide that.
  CHECK(said(helper + "void log_it(int8_t* a);\n", "  log_it(at);\n  save(at);\n").find(tells) != std::string::npos);
  CHECK(said("typedef struct { int8_t* first; } state_t;\nextern state_t* state;\n", "  state->first = at;\n")
            .find(tells) != std::string::npos);
  // Through variables of the function, whatever they are made of, and through other functions.
  const std::string pool_in = "function 'tvmgen_m_odd' stores an address of pool 'ws' in ";
  const std::string more =
      "typedef struct { int8_t* first; } state_t;\nstate_t* get(void);\nstatic state_t state;\nstatic int8_t* first;\n"
      "static void set(int8_t** to, int8_t* a) { *to = a; }\n";
  for (const std::string body :
       {"int8_t** to = &first; *to = at;", "int8_t** to; to = 0; to = q ? &first : to; to[0] = at;",
        "struct { int8_t** p; } s = {&first}; *s.p = at;", "struct { int8_t** p; } s; s.p = &first; *s.p = at;",
        "int8_t** to = (int8_t**)(void*)&first; to += 0; *to++ = at;", "memcpy(&first, &at, sizeof(at));",
        "int8_t** to = &first; memcpy(to, &at, sizeof(at));", "set(&first, at);", "int8_t** to = &first; set(to, at);",
        "get()->first = at;", "state_t* s = get(); s->first = at;", "state_t* s = &state; (s + 0)->first = at;",
        "uintptr_t to = (uintptr_t)&first; *(int8_t**)to = at;"}) {
    CAPTURE(body);
    CHECK(said(more, "  " + body + "\n").find(pool_in) != std::string::npos);
  }
  for (const std::string body : {"int8_t* own; int8_t** to = &own; *to = at;", "int8_t* own; set(&own, at);",
                                 "state_t own = {0}; state_t* s = &own; s->first = at;"}) {
    CAPTURE(body);
    CHECK(said(more, "  " + body + "\n") == "none");
  }
  // Where the caller's pointers lead to is no such variable.
  CHECK(
      said(
          "typedef struct { int8_t* first; } state_t;\nstatic void save(state_t* state, int8_t* a) { state->first = a; "
          "}\n",
          "  state_t state;\n  save(&state, at);\n") == "none");
  // A tensor's address, and one in a variable of the function.
  CHECK(said(helper, "  save(p);\n") == "none");
  CHECK(said("", "  int8_t* first = at;\n  at = first;\n") == "none");
}

}  // namespace usmp::tvm_c::extended_lifetimes_test
