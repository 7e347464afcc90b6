// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Puts what imported functions do in the place of their calls.
#include "usmp/tvm_c/imported.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tvm_c/body/helper_reader.hpp"
#include "tvm_c/body/helpers.hpp"
#include "tvm_c/body/reroll.hpp"
#include "tvm_c/body/tidy.hpp"
#include "tvm_c/body/values.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {
namespace {

using tir::Expr;
using tir::ExprKind;

// Names that are called and that the module does not define.
std::set<std::string> called_outside(const tir::Module& module, const tir::Function& function) {
  std::set<std::string> names;
  tir::for_each_expr_in(function.body, [&](const Expr& expr) {
    const auto call = tir::named_call(expr);
    if (call && !module.find(*call->name)) names.insert(*call->name);
  });
  return names;
}

std::size_t height_of(const Expr& root) {
  std::size_t height = 0;
  std::vector<std::pair<const Expr*, std::size_t>> pending = {{&root, 1}};
  while (!pending.empty()) {
    const auto [expr, depth] = pending.back();
    pending.pop_back();
    height = std::max(height, depth);
    for (const tir::ExprRef& operand : expr->operands) pending.emplace_back(operand.get(), depth + 1);
  }
  return height;
}

class ImportReader {
 public:
  ImportReader(tir::Module& module, tir::Function& function)
      : module_(module), function_(function), values_(module, Limits().expression_depth) {
    for (const std::string& text : function.imported_c) files_.push_back({"imported C", text});
  }

  // Whether calls have been read. Those that are not go into `unread`.
  bool run(std::vector<UnreadCall>& unread) {
    Helpers helpers(files_);
    bool is_changed = false;
    tir::for_each_block(function_.body, [&](tir::Block& block) {
      for (tir::Stmt& stmt : block) {
        const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
        auto body = evaluate == nullptr ? std::nullopt : read(helpers, *evaluate->value);
        if (!body) continue;
        stmt.node = tir::Scope{std::move(*body)};
        is_changed = true;
      }
    });
    helpers.add_not_read(unread);
    if (!is_changed) return false;
    const std::set<std::string> left = called_outside(module_, function_);
    is_free_ = true;
    for (std::size_t i = 0; i < files_.size(); ++i) is_free_ = is_free_ && helpers.has_only_functions(i);
    is_free_ = is_free_ && std::none_of(left.begin(), left.end(), [&](const std::string& name) {
                 return std::ranges::any_of(
                     files_, [&](const Source& file) { return file.text.find(name) != std::string_view::npos; });
               });
    return true;
  }

  // Whether the function needs nothing of what it imports any more.
  [[nodiscard]] bool is_free() const { return is_free_; }

 private:
  std::optional<tir::Block> read(Helpers& helpers, const Expr& expr) {
    const auto call = tir::named_call(expr);
    if (!call || module_.find(*call->name)) return std::nullopt;
    std::optional<std::size_t> file;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (!helpers.find(*call->name, i)) continue;
      if (file) return std::nullopt;
      file = i;
    }
    if (!file) return std::nullopt;
    std::vector<Value> arguments;
    for (const tir::ExprRef& argument : call->arguments) {
      auto value = value_of(*argument, argument);
      if (!value) return std::nullopt;
      arguments.push_back(std::move(*value));
    }
    const std::size_t vars = module_.vars.size();
    const NewVar new_var = [this](std::string_view name, tir::DataType type, tir::DataType element) {
      module_.vars.push_back({std::string(name), type, type.is_handle() ? element : tir::void_type, {}});
      return tir::VarId(module_.vars.size() - 1);
    };
    try {
      tir::Function made;
      tir::BodyBuilder body(module_, made, Limits().block_depth);
      read_helper_call(helpers, *call->name, *file, arguments, values_, new_var, body);
      return std::move(made.body);
    } catch (const HelperNotRead&) {
      module_.vars.resize(vars);
    } catch (const Error&) {  // too deep, or too high
      module_.vars.resize(vars);
    }
    return std::nullopt;
  }

  // An argument: a number, or a pointer to elements of storage.
  std::optional<Value> value_of(const Expr& expr, const tir::ExprRef& ref) const {
    Value pointer;
    pointer.kind = Value::Kind::pointer;
    if (expr.kind == ExprKind::call && expr.op == tir::Op::tvm_access_ptr && expr.operands.size() >= 3) {
      if (expr.operands[1]->kind != ExprKind::var) return std::nullopt;
      pointer.type = expr.operands[0]->type;
      pointer.storage = expr.operands[1]->var;
      pointer.tree = {expr.operands[2], height_of(*expr.operands[2])};
    } else if (expr.kind == ExprKind::call && expr.op == tir::Op::address_of && expr.operands.size() == 1 &&
               expr.operands[0]->kind == ExprKind::load && expr.operands[0]->operands.size() == 1) {
      const Expr& load = *expr.operands[0];
      pointer.type = load.type;
      pointer.storage = load.var;
      pointer.tree = {load.operands[0], height_of(*load.operands[0])};
    } else if (expr.kind == ExprKind::var && expr.type.is_handle()) {
      pointer.type = module_.var(expr.var).element;
      pointer.storage = expr.var;
    } else if (expr.type.is_integer() && !expr.type.is_vector() && tir::is_pure(expr)) {
      return Values::number({ref, height_of(expr)});
    } else {
      return std::nullopt;
    }
    const bool is_plain = !pointer.type.is_void() && !pointer.type.is_vector() &&
                          (pointer.tree.expr == nullptr || tir::is_pure(*pointer.tree.expr));
    return is_plain ? std::optional(std::move(pointer)) : std::nullopt;
  }

  tir::Module& module_;
  tir::Function& function_;
  Values values_;
  std::vector<Source> files_;
  bool is_free_ = false;
};

}  // namespace

std::vector<UnreadCall> read_imported(tir::Module& module) {
  std::vector<UnreadCall> unread;
  std::set<std::size_t> free;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].imported_c.empty() || module.functions[i].is_entry) continue;
    ImportReader reader(module, module.functions[i]);
    if (!reader.run(unread)) continue;
    tidy(module, module.functions[i], {});
    reroll(module, module.functions[i]);
    if (reader.is_free()) free.insert(i);
  }
  // Others may call what a function imports.
  std::set<std::string> needed;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (!free.contains(i)) needed.merge(called_outside(module, module.functions[i]));
  }
  const auto mentions = [&](const std::string& text) {
    return std::ranges::any_of(needed, [&](const std::string& name) { return text.find(name) != std::string::npos; });
  };
  for (const std::size_t i : free) {
    std::vector<std::string>& imported = module.functions[i].imported_c;
    if (std::ranges::none_of(imported, mentions)) imported.clear();
  }
  tir::check_pass(module, "read_imported");
  return unread;
}

}  // namespace usmp::tvm_c
