// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes a module as JSON, and compares its text with that of the module read back.
#include "random_modules/tvm_json.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "usmp/support/text.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tir_json/reader.hpp"
#include "usmp/tir_json/writer.hpp"

namespace usmp::random_modules {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;

bool declares(const Stmt& stmt) {
  return std::holds_alternative<tir::Allocate>(stmt.node) || std::holds_alternative<tir::AllocateConst>(stmt.node) ||
         std::holds_alternative<tir::Let>(stmt.node);
}

bool is_true(const ExprRef& expr) {
  if (!expr) return true;
  const Expr& value = expr->kind == ExprKind::broadcast ? *expr->operands[0] : *expr;
  return value.kind == ExprKind::int_imm && value.int_value != 0;
}

// The same in the spelling of TVM 0.8: accesses to variables instead of buffers.
std::string in_old_spelling(const std::string& json) {
  nlohmann::json document = nlohmann::json::parse(json);
  nlohmann::json& nodes = document["nodes"];
  const auto attribute = [&](const nlohmann::json& node, const char* name) {
    return std::stoul(node["attrs"][name].get<std::string>());
  };
  for (nlohmann::json& node : nodes) {
    const std::string type = node["type_key"];
    if (type != "tir.BufferLoad" && type != "tir.BufferStore") continue;
    node["type_key"] = type == "tir.BufferLoad" ? "tir.Load" : "tir.Store";
    nlohmann::json& attributes = node["attrs"];
    attributes["buffer_var"] = nodes[attribute(node, "buffer")]["attrs"]["data"];
    attributes["index"] = std::to_string(nodes[attribute(node, "indices")]["data"][0].get<std::size_t>());
    attributes.erase("buffer");
    attributes.erase("indices");
  }
  return document.dump();
}

// --- What reading changes --------------------------------------------------------------------------------------------

// NOLINTNEXTLINE(misc-no-recursion): as deep as what the generator nests.
ExprRef normal(const ExprRef& expr) {
  if (!expr) return expr;
  Expr changed = *expr;
  for (ExprRef& operand : changed.operands) operand = normal(operand);
  if (changed.kind == ExprKind::load && changed.operands.size() > 1 && is_true(changed.operands[1])) {
    changed.operands.pop_back();
  }
  return tir::make_expr(std::move(changed));
}

bool is_dropped(const Stmt& stmt) {
  const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
  return evaluate != nullptr && evaluate->value->kind == ExprKind::int_imm;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as what the generator nests.
void normalise(Block& block) {
  Block result;
  for (std::size_t i = 0; i < block.size(); ++i) {
    Stmt& stmt = block[i];
    if (is_dropped(stmt)) continue;
    if (auto* store = std::get_if<tir::Store>(&stmt.node)) {
      if (is_true(store->predicate)) store->predicate = nullptr;
      store->index = normal(store->index);
      store->value = normal(store->value);
      store->predicate = normal(store->predicate);
    } else if (auto* let = std::get_if<tir::Let>(&stmt.node)) {
      let->value = normal(let->value);
    } else if (auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      for (ExprRef& extent : allocate->extents) extent = normal(extent);
      allocate->condition = is_true(allocate->condition) ? nullptr : normal(allocate->condition);
    } else if (auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node)) {
      evaluate->value = normal(evaluate->value);
    } else if (auto* check = std::get_if<tir::Assert>(&stmt.node)) {
      check->condition = normal(check->condition);
    } else if (auto* loop = std::get_if<tir::For>(&stmt.node)) {
      loop->min = normal(loop->min);
      loop->extent = normal(loop->extent);
      normalise(loop->body);
    } else if (auto* repeat = std::get_if<tir::While>(&stmt.node)) {
      repeat->condition = normal(repeat->condition);
      normalise(repeat->body);
    } else if (auto* branch = std::get_if<tir::IfThenElse>(&stmt.node)) {
      branch->condition = normal(branch->condition);
      normalise(branch->then_body);
      normalise(branch->else_body);
    } else if (auto* scope = std::get_if<tir::Scope>(&stmt.node)) {
      normalise(scope->body);
      // Only what declares something has to end, and only where something follows.
      const bool is_last = std::all_of(block.begin() + static_cast<std::ptrdiff_t>(i) + 1, block.end(), is_dropped);
      auto first = is_last ? scope->body.end() : std::find_if(scope->body.begin(), scope->body.end(), declares);
      Block inner(std::make_move_iterator(first), std::make_move_iterator(scope->body.end()));
      result.insert(result.end(), std::make_move_iterator(scope->body.begin()), std::make_move_iterator(first));
      if (!inner.empty()) result.push_back({tir::Scope{std::move(inner)}});
      continue;
    }
    result.push_back(std::move(stmt));
  }
  block = std::move(result);
}

std::string pools_text(const tir::Module& module) {
  std::string text;
  for (const tir::AnnotatedPool& pool : module.annotated_pools) {
    text += pool.name + " " + std::to_string(pool.is_constant) + " " + std::to_string(pool.is_internal) + " " +
            std::to_string(pool.size_hint.value_or(-1)) + "\n";
  }
  return text + std::to_string(module.workspace_alignment.value_or(-1)) + " " +
         std::to_string(module.constant_alignment.value_or(-1)) + " " + module.tvm_version + "\n";
}

std::string text_of(const tir::Module& module) {
  std::string text = pools_text(module) + tir::print(module);
  for (const tir::Function& function : module.functions) {
    text += function.name;
    for (const std::string& source : function.imported_c) text += "\n" + source;
    for (const tir::Param& param : function.params) {
      text +=
          "\n" + param.name + " " + std::to_string(param.is_tensor) + " " + to_string(module.var(param.var).element);
      if (param.shape) text += " " + std::to_string((*param.shape)[0]);
    }
    text += "\n";
  }
  return text;
}

std::string line_at(const std::string& text, std::size_t at) {
  const std::size_t before = text.rfind('\n', at == 0 ? 0 : at - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

}  // namespace

std::string json_of(const tir::Module& module, bool modern) {
  StringSink sink;
  tir_json::write_module(module, sink);
  return modern ? sink.text() : in_old_spelling(sink.text());
}

tir::Module in_normal_form(tir::Module module) {
  for (tir::Function& function : module.functions) normalise(function.body);
  return module;
}

std::string round_trip_fault(const tir::Module& module, bool modern) {
  const std::string wanted = text_of(in_normal_form(module));
  const std::string got = text_of(tir_json::read_module(json_of(module, modern)));
  if (wanted == got) return {};
  const auto at = static_cast<std::size_t>(std::mismatch(wanted.begin(), wanted.end(), got.begin(), got.end()).first -
                                           wanted.begin());
  return "read back from JSON: '" + line_at(got, at) + "', expected '" + line_at(wanted, at) + "'";
}

}  // namespace usmp::random_modules
