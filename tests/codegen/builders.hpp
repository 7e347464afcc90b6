// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements and calls for the modules of tests, beside what case_program.hpp has.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codegen/case_program.hpp"

namespace usmp::codegen::testing {

inline tir::Stmt if_then(ExprRef condition, Block then_body, Block else_body = {}) {
  return {tir::IfThenElse{std::move(condition), std::move(then_body), std::move(else_body)}};
}
inline tir::Stmt constant(VarId var, const Data& values) {
  const auto count = static_cast<std::int64_t>(values.count());
  tir::Constant data{.type = values.type, .shape = {count}, .bytes = values.bytes};
  return {tir::AllocateConst{var, values.type, std::make_shared<const tir::Constant>(std::move(data)), {}}};
}
inline tir::Stmt allocate(VarId var, DataType type, ExprRef extent) {
  return {tir::Allocate{var, type, {std::move(extent)}, {}, {}}};
}
inline ExprRef call(const std::string& name, DataType type, std::vector<ExprRef> arguments) {
  arguments.insert(arguments.begin(), tir::make_string(name));
  return tir::make_call(type, "tir.call_extern", std::move(arguments));
}
inline ExprRef check_return(ExprRef value) {
  return tir::make_call(i32, "tir.tvm_check_return", {imm(0), imm(-1), std::move(value)});
}
inline ExprRef address_of(ExprRef load) { return op("address_of", tir::handle_type, {std::move(load)}); }
inline ExprRef access_ptr(DataType type, ExprRef storage, ExprRef offset, int mask) {
  return op("tvm_access_ptr", tir::handle_type,
            {op("type_annotation", type, {}), std::move(storage), std::move(offset), imm(1), imm(mask)});
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace usmp::codegen::testing
