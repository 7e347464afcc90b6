// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Builds small TIR modules for the tests.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tir_support/expressions.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tir::testing {

class ModuleBuilder {
 public:
  // --- Variables and expressions -----------------------------------------------------------------------------------

  tir::VarId pointer(std::string name, tir::DataType element = int8_type) {
    module_.vars.push_back({std::move(name), tir::handle_type, element, ""});
    return tir::VarId(module_.vars.size() - 1);
  }
  tir::VarId integer(std::string name) {
    module_.vars.push_back({std::move(name), tir::int32_type, tir::void_type, ""});
    return tir::VarId(module_.vars.size() - 1);
  }
  [[nodiscard]] tir::ExprRef var(tir::VarId id) const { return tir::make_var(module_, id); }
  [[nodiscard]] tir::ExprRef load(tir::VarId storage, tir::ExprRef index) const {
    return tir::make_load(module_.var(storage).element, storage, std::move(index));
  }
  [[nodiscard]] tir::ExprRef load(tir::VarId storage, std::int64_t index) const {
    return load(storage, tir::make_int(index));
  }
  [[nodiscard]] tir::ExprRef address_of(tir::VarId storage, tir::ExprRef index) const {
    return tir::make_call(tir::handle_type, "tir.address_of", {load(storage, std::move(index))});
  }
  [[nodiscard]] tir::ExprRef address_of(tir::VarId storage, std::int64_t index) const {
    return address_of(storage, tir::make_int(index));
  }
  [[nodiscard]] tir::ExprRef access_ptr(tir::VarId storage, std::int64_t offset, std::int64_t extent) const {
    return tir::make_call(tir::handle_type, "tir.tvm_access_ptr",
                          {tir::make_call(int8_type, "tir.type_annotation", {}), var(storage), tir::make_int(offset),
                           tir::make_int(extent), tir::make_int(3)});
  }

  // --- Statements --------------------------------------------------------------------------------------------------

  [[nodiscard]] tir::Stmt allocate(tir::VarId id, std::int64_t elements) const {
    return allocate(id, std::vector{tir::make_int(elements)});
  }
  [[nodiscard]] tir::Stmt allocate(tir::VarId id, std::vector<tir::ExprRef> extents) const {
    return {tir::Allocate{.var = id,
                          .type = module_.var(id).element,
                          .extents = std::move(extents),
                          .condition = {},
                          .candidate_pools = {}}};
  }
  [[nodiscard]] tir::Stmt constant(tir::VarId id, std::string bytes) const {
    const auto size = static_cast<std::int64_t>(bytes.size());
    tir::Constant data{.type = int8_type, .shape = {size}, .bytes = std::move(bytes)};
    return {tir::AllocateConst{.var = id,
                               .type = int8_type,
                               .data = std::make_shared<const tir::Constant>(std::move(data)),
                               .candidate_pools = {}}};
  }
  [[nodiscard]] static tir::Stmt store(tir::VarId storage, tir::ExprRef index, tir::ExprRef value) {
    return {tir::Store{.storage = storage, .index = std::move(index), .value = std::move(value), .predicate = {}}};
  }
  [[nodiscard]] static tir::Stmt store(tir::VarId storage, std::int64_t index, tir::ExprRef value) {
    return store(storage, tir::make_int(index), std::move(value));
  }
  // to[0] = from[0]
  [[nodiscard]] tir::Stmt copy(tir::VarId to, tir::VarId from) const { return store(to, 0, load(from, 0)); }
  // to[0] = 1
  [[nodiscard]] tir::Stmt set(tir::VarId to) const { return store(to, 0, tir::make_int(1, module_.var(to).element)); }
  [[nodiscard]] static tir::Stmt let(tir::VarId id, tir::ExprRef value) { return {tir::Let{id, std::move(value)}}; }
  [[nodiscard]] static tir::Stmt evaluate(tir::ExprRef value) { return {tir::Evaluate{std::move(value)}}; }
  [[nodiscard]] static tir::Stmt loop(tir::VarId id, std::int64_t extent, tir::Block body) {
    return {tir::For{.var = id, .min = tir::make_int(0), .extent = tir::make_int(extent), .body = std::move(body)}};
  }
  [[nodiscard]] static tir::Stmt when(tir::ExprRef condition, tir::Block then_body, tir::Block else_body = {}) {
    return {tir::IfThenElse{std::move(condition), std::move(then_body), std::move(else_body)}};
  }
  [[nodiscard]] static tir::Stmt scope(tir::Block body) { return {tir::Scope{std::move(body)}}; }

  // tvm_check_return(0, -1, call_extern(callee, arguments...)), as the AoT entry calls.
  [[nodiscard]] tir::Stmt call(const std::string& callee, std::vector<tir::ExprRef> arguments) const {
    return evaluate(tir::make_call(tir::int32_type, "tir.tvm_check_return",
                                   {tir::make_int(0), tir::make_int(-1), call_expr(callee, std::move(arguments))}));
  }
  [[nodiscard]] tir::Stmt call(const std::string& callee, const std::vector<tir::VarId>& arguments) const {
    std::vector<tir::ExprRef> exprs;
    for (const tir::VarId argument : arguments) exprs.push_back(var(argument));
    return call(callee, std::move(exprs));
  }
  [[nodiscard]] static tir::ExprRef call_expr(const std::string& callee, std::vector<tir::ExprRef> arguments) {
    arguments.insert(arguments.begin(), tir::make_string(callee));
    return tir::make_call(tir::int32_type, "tir.call_extern", std::move(arguments));
  }

  // --- Functions ---------------------------------------------------------------------------------------------------

  void function(std::string name, const std::vector<tir::VarId>& params, tir::Block body, std::string target = "c") {
    tir::Function function;
    function.name = std::move(name);
    function.target = std::move(target);
    function.body = std::move(body);
    for (const tir::VarId id : params) {
      function.params.push_back({.var = id,
                                 .name = module_.var(id).name,
                                 .is_tensor = true,
                                 .element = module_.var(id).element,
                                 .shape = std::vector<std::int64_t>{8}});
    }
    module_.functions.push_back(std::move(function));
  }
  void entry(const std::vector<tir::VarId>& params, tir::Block body) {
    function("main", params, std::move(body));
    module_.functions.back().is_entry = true;
  }
  [[nodiscard]] tir::Module& module() { return module_; }
  [[nodiscard]] const tir::Module& module() const { return module_; }

  [[nodiscard]] tir::Module build() {
    std::sort(module_.functions.begin(), module_.functions.end(),
              [](const tir::Function& a, const tir::Function& b) { return a.name < b.name; });
    module_.entry = *module_.find("main");
    return module_;
  }

 private:
  tir::Module module_;
};

// A block of statements (initializer lists would copy, but also read worse).
template <class... Stmts>
tir::Block block(Stmts&&... stmts) {
  tir::Block result;
  (result.push_back(std::forward<Stmts>(stmts)), ...);
  return result;
}

}  // namespace usmp::tir::testing
