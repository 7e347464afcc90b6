// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Instructions as string literals of C.
#include "codegen/assembly.hpp"

namespace usmp::codegen {
namespace {

constexpr const char* end_of_literal = "\"\n";
constexpr const char* end_of_line = "\\n\\t\"\n";

std::string unpack(tir::DataType weight) { return weight.is_int() ? "sxtb16 " : "uxtb16 "; }

}  // namespace

void Assembly::add(std::string_view instruction) {
  if (!text_.empty()) text_ += end_of_line;
  text_ += indentation_ + '"';
  text_ += instruction;
}

void Assembly::unpack_data(tir::DataType data, std::string_view added) {
  const std::string extend = std::string(data.is_int() ? "sxt" : "uxt") + (added.empty() ? "b16 " : "ab16 ");
  const std::string more = added.empty() ? std::string() : std::string(added) + ", ";
  add(extend + "%[even], " + more + "%[odd]");
  add(extend + "%[odd], " + more + "%[odd], ror #8");
}

void Assembly::unpack_even(tir::DataType weight, const std::string& even, const std::string& word) {
  add(unpack(weight) + even + ", " + word);
}

void Assembly::unpack_odd(tir::DataType weight, const std::string& word) {
  add(unpack(weight) + word + ", " + word + ", ror #8");
}

std::string Assembly::text(bool goes_on) const { return text_ + (goes_on ? end_of_line : end_of_literal); }

}  // namespace usmp::codegen
