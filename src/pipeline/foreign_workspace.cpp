// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Puts a buffer in front of each call, and adds it to the arguments; functions that are called otherwise are dropped.
#include "pipeline/foreign_workspace.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tvm_c/taken_workspace.hpp"

namespace usmp::pipeline {
namespace {

constexpr Bytes default_alignment = 16;  // as of workspace without an attribute

using ByFunction = std::map<std::string, tvm_c::TakenWorkspace, std::less<>>;

// Those whose calls lack just the workspace, in the calls and in the module.
void drop_called_otherwise(ByFunction& taken, const tir::Module& module) {
  std::set<std::string> called;
  std::set<std::string> otherwise;
  for (const tir::Function& function : module.functions) {
    const bool is_opaque = tir::is_opaque(module, function);
    if (!is_opaque) otherwise.insert(function.name);
    tir::for_each_expr_in(function.body, [&](const tir::Expr& expr) {
      const auto call = tir::named_call(expr);
      if (!call) return;
      const auto callee = taken.find(*call->name);
      if (callee == taken.end()) return;
      called.insert(callee->first);
      const bool fits = !is_opaque && (expr.op == tir::Op::call_extern || expr.op == tir::Op::call_pure_extern) &&
                        call->arguments.size() == callee->second.parameters;
      if (!fits) otherwise.insert(callee->first);
    });
    // C that stays as it is may have the prototype, and nothing else of it.
    for (const std::string& text : function.imported_c) {
      for (const auto& [name, workspace] : taken) {
        if (!tvm_c::with_workspace_in_prototypes(text, name)) otherwise.insert(name);
      }
    }
  }
  std::erase_if(taken, [&](const auto& one) { return !called.contains(one.first) || otherwise.contains(one.first); });
}

// C that stays may include the header, with the prototype as it was.
void drop_named(ByFunction& taken, std::string_view header) {
  for_each_identifier(header, [&](std::string_view name) {
    const auto found = taken.find(name);
    if (found != taken.end() && !found->second.has_param) taken.erase(found);
  });
}

tir::VarId new_bytes(tir::Module& module, std::string name) {
  const tir::VarId var(module.vars.size());
  module.vars.push_back({std::move(name), tir::handle_type, tir::uint8_type, {}});
  return var;
}

void add_params(const ByFunction& taken, tir::Module& module) {
  for (const auto& [name, workspace] : taken) {
    const auto index = module.find(name);
    if (!index) continue;
    tir::Param param;
    param.var = new_bytes(module, tvm_c::workspace_param);
    param.name = tvm_c::workspace_param;
    param.is_tensor = true;
    param.element = tir::uint8_type;
    module.functions[*index].params.push_back(std::move(param));
  }
}

// A buffer for each call of the block's own statements, in front of them.
void add_buffers(const ByFunction& taken, tir::Module& module, tir::Block& block) {
  tir::Block allocates;
  tir::ExprRewriter rewriter([&](const tir::ExprRef& expr) -> tir::ExprRef {
    const auto call = tir::named_call(*expr);
    if (!call) return nullptr;
    const auto callee = taken.find(*call->name);
    if (callee == taken.end()) return nullptr;
    const tir::VarId var = new_bytes(module, "scratch");
    tir::Allocate allocate;
    allocate.var = var;
    allocate.type = tir::uint8_type;
    allocate.extents = {tir::make_int(callee->second.bytes)};
    allocates.push_back({std::move(allocate)});
    std::vector<tir::ExprRef> operands;
    for (const tir::ExprRef& operand : expr->operands) operands.push_back(operand);
    operands.push_back(tir::make_var(module, var));
    return tir::make_call(expr->type, expr->op, std::move(operands));
  });
  for (tir::Stmt& stmt : block) {
    tir::for_each_expr_of(stmt, [&](tir::ExprRef& expr) { expr = rewriter.rewritten(expr); });
  }
  block.insert(block.begin(), std::make_move_iterator(allocates.begin()), std::make_move_iterator(allocates.end()));
}

}  // namespace

void plan_foreign_workspace(SourceModule& source, const CFiles& files) {
  std::vector<std::string> names;
  for (const model::ForeignFunction& function : source.info.foreign_functions) names.push_back(function.name);
  if (names.empty() || files.foreign.empty()) return;
  const Bytes alignment = std::max(source.module.workspace_alignment.value_or(0), default_alignment);
  ByFunction taken;
  for (tvm_c::TakenWorkspace& one : tvm_c::taken_workspace(names, files.foreign, alignment)) {
    const std::string name = one.function;
    taken.emplace(name, std::move(one));
  }
  for (const model::ForeignFunction& function : source.info.foreign_functions) {
    const bool is_changed = std::any_of(source.changed.begin(), source.changed.end(),
                                        [&](const tvm_c::ChangedFile& file) { return file.file == function.member; });
    if (is_changed || files.shared.contains(function.member)) taken.erase(function.name);
  }
  for (const std::vector<tvm_c::Source>* some : {&files.own, &files.headers}) {
    for (const tvm_c::Source& file : *some) {
      if (ends_with_any(file.name, {".h", ".hpp"})) drop_named(taken, file.text);
    }
  }
  drop_called_otherwise(taken, source.module);
  if (taken.empty()) return;
  if (files.mentioned_elsewhere) {  // other C calls it as it was
    std::set<std::string, std::less<>> added;
    for (const auto& [name, workspace] : taken) {
      if (!workspace.has_param) added.insert(name);
    }
    for (const auto& [name, file] : files.mentioned_elsewhere(added)) taken.erase(name);
  }
  if (taken.empty()) return;
  source.written.reset();  // has no places for it

  add_params(taken, source.module);
  for (tir::Function& function : source.module.functions) {
    if (tir::is_opaque(source.module, function)) continue;
    tir::for_each_block(function.body, [&](tir::Block& block) { add_buffers(taken, source.module, block); });
  }
  std::vector<tvm_c::TakenWorkspace> added;
  for (const auto& [name, workspace] : taken) {
    if (!workspace.has_param) added.push_back(workspace);
  }
  for (const tvm_c::TakenWorkspace& one : added) {
    for (tir::Function& function : source.module.functions) {
      for (std::string& text : function.imported_c) text = *tvm_c::with_workspace_in_prototypes(text, one.function);
    }
  }
  std::vector<tvm_c::ChangedFile> changed = tvm_c::with_workspace_params(added, files.foreign, alignment);
  for (model::ForeignFunction& function : source.info.foreign_functions) {
    const auto found = taken.find(function.name);
    if (found != taken.end() && !found->second.has_param) {
      function.prototype = tvm_c::with_workspace_param(function.prototype);
    }
    const auto file = std::find_if(changed.begin(), changed.end(),
                                   [&](const tvm_c::ChangedFile& one) { return one.file == function.member; });
    if (file != changed.end()) {
      function.allocates_workspace = file->text.find("TVMBackendAllocWorkspace") != std::string::npos;
    }
  }
  std::move(changed.begin(), changed.end(), std::back_inserter(source.changed));
  std::sort(source.changed.begin(), source.changed.end(),
            [](const tvm_c::ChangedFile& a, const tvm_c::ChangedFile& b) { return a.file < b.file; });
}

}  // namespace usmp::pipeline
