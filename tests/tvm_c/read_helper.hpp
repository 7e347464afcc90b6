// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators that call a function of the same file.
#pragma once

#include <string>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::test {

// What a helper does, and why it stays.
struct Staying {
  std::string body;
  std::string reason;
};

// The body of the operator in TIR; "stays: " and the names of functions whose C stays, with the reason without its
// place.
inline std::string read_helper(const std::string& body, const std::string& helpers,
                               const std::vector<Source>& headers = {}) {
  const std::string text = helpers + "int32_t tvmgen_m_op(int8_t* p, int8_t* q, int32_t* c) {\n" + body +
                           "\n  return 0;\n}\n"
                           "int32_t tvmgen_m___tvm_main__(int8_t* p, int8_t* q, int32_t* c) {\n"
                           "  if (tvmgen_m_op(p, q, c) != 0 ) return -1;\n  return 0;\n}\n";
  const Source source{"lib1.c", text};
  try {
    const PlannedModule module = read_planned_module("m", {&source, 1}, {}, {}, Unread::kept, {}, headers);
    std::string kept;
    for (const KeptFunction& one : module.kept) kept += " " + one.name;
    for (const UnreadCall& one : module.unread_calls) kept += ", " + one.reason.substr(one.reason.find("found"));
    if (!kept.empty()) return "stays:" + kept;
    const std::string printed = tir::print(module.module, module.module.functions[*module.module.find("tvmgen_m_op")]);
    const std::size_t begin = printed.find("{\n") + 2;
    return printed.substr(begin, printed.rfind('}') - begin);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace usmp::tvm_c::test
