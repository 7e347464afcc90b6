// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds statements that are not read and what has escaped in front of them. Tests:
// tests/tvm_c/extended_lifetimes_test.cpp.
#include "tvm_c/kept/extended_lifetimes.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "usmp/program/call_graph.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/builder.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::size_t most_held = 100;  // of one function: compilers need not take more than 127
constexpr std::size_t most_warnings = 8;
constexpr std::string_view outlined_prefix = "usmp_added_";  // functions that statements have become

// Also of a load, whose address may be passed.
bool names_memory(const tir::Expr& expr) {
  return (expr.kind == tir::ExprKind::var && expr.type.is_handle()) || expr.kind == tir::ExprKind::load;
}

void append_named_memory(const tir::Expr& argument, std::vector<tir::VarId>& vars) {
  if (argument.kind == tir::ExprKind::string_imm || !argument.type.is_handle()) return;
  tir::for_each_expr(argument, [&](const tir::Expr& expr) {
    if (names_memory(expr)) vars.push_back(expr.var);
  });
}

std::map<tir::VarId, Bytes> sizes_in(const tir::Module& module) {
  std::map<tir::VarId, Bytes> sizes;
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr) sizes.emplace(allocate->var, tir::allocation_size(*allocate).bytes.value_or(0));
    });
  }
  return sizes;
}

// What a statement tells the block around it.
struct FoundInStatement {
  std::vector<tir::VarId> escaped = {};
  std::vector<tir::VarId> named = {};
  bool is_unread = false;
  bool is_handed = false;  // likewise, a call that gets memory: others may move across it
};

class Extender {
 public:
  Extender(const std::function<FunctionEscape(const std::string&)>& of, std::span<const PlannedPlace> places,
           tir::Module& module)
      : of_(of), module_(module) {
    const std::map<tir::VarId, Bytes> sizes = sizes_in(module);
    for (const PlannedPlace& place : places) {
      const auto size = sizes.find(place.var);
      const Bytes bytes = size == sizes.end() || !place.is_sized ? 1 : size->second;  // for certain
      places_.emplace(place.var, Placed{place.pool, place.offset, place.offset + bytes});
    }
    for (const tir::Function& function : module.functions) {
      if (!tir::is_opaque(module, function)) read_.try_emplace(function.name);
    }
  }

  // Callees first.
  void extend(std::size_t index, bool is_entry) {
    function_ = &module_.functions[index];
    is_entry_ = is_entry;
    Read& read = read_.find(function_->name)->second;
    now_ = &read;
    const std::size_t text_before = result_.text.size();
    const FoundInStatement found = extend_in(module_.functions[index].body);
    read.calls_unread = found.is_unread;
    if (result_.text.size() > text_before) result_.functions.push_back(index);
    for (const tir::VarId var : found.escaped) {
      if (const auto i = param_of(var)) read.escape.params |= param_bit(*i);
    }
  }

  ExtendedLifetimes take() && {
    for (EscapeCause& cause : result_.causes) {
      std::erase_if(cause.longer, [this](tir::VarId var) { return !longer_.contains(var); });
    }
    return std::move(result_);
  }

 private:
  struct Read {
    FunctionEscape escape = {};
    bool calls_unread = false;
    std::string cause = {};  // the first function that is not read and has something escape
  };

  // A device's context, which no function gets as a tensor.
  [[nodiscard]] bool is_context(tir::VarId var) const {
    const auto param = is_entry_ ? param_of(var) : std::nullopt;
    return param && !function_->params[*param].is_tensor;
  }

  [[nodiscard]] std::optional<std::size_t> param_of(tir::VarId var) const {
    for (std::size_t i = 0; i < function_->params.size(); ++i) {
      if (function_->params[i].var == var) return i;
    }
    return std::nullopt;
  }

  // For one that is being read.
  struct OpenBlock {
    tir::Block* block = nullptr;
    bool is_loop = false;
    std::size_t at = 0;                           // statement
    std::size_t inner = 0;                        // blocks of it that have been read
    std::map<tir::VarId, tir::ExprRef> own = {};  // of the block; null: memory
    std::vector<FoundInStatement> statements = {};
  };

  FoundInStatement extend_in(tir::Block& root) {
    std::vector<OpenBlock> open(1);
    open.back().block = &root;
    while (true) {
      OpenBlock& now = open.back();
      if (now.at == now.block->size()) {
        FoundInStatement found = close(now, open.size() == 1);
        open.pop_back();
        if (open.empty()) return found;
        FoundInStatement& outer = open.back().statements.back();
        outer.escaped.insert(outer.escaped.end(), found.escaped.begin(), found.escaped.end());
        outer.named.insert(outer.named.end(), found.named.begin(), found.named.end());
        outer.is_unread = outer.is_unread || found.is_unread;
        continue;
      }
      tir::Stmt& stmt = (*now.block)[now.at];
      if (now.inner == 0) begin_statement(stmt, now);
      const tir::InnerBlocks<tir::Block> blocks = tir::blocks_of(stmt);
      if (now.inner == blocks.size()) {
        ++now.at;
        now.inner = 0;
        continue;
      }
      tir::Block* const block = blocks[now.inner++];
      OpenBlock& next = open.emplace_back();
      next.block = block;
      next.is_loop = std::holds_alternative<tir::For>(stmt.node) || std::holds_alternative<tir::While>(stmt.node);
    }
  }

  void begin_statement(const tir::Stmt& stmt, OpenBlock& now) {
    FoundInStatement& found = now.statements.emplace_back();
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) now.own.emplace(allocate->var, nullptr);
    if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) now.own.emplace(constant->var, nullptr);
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) now.own.emplace(let->var, let->value);
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& expr) {
      tir::for_each_expr(*expr, [&](const tir::Expr& one) {
        if (names_memory(one)) found.named.push_back(one.var);
        find_in(one, found);
      });
    });
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) found.named.push_back(store->storage);
  }

  void find_in(const tir::Expr& expr, FoundInStatement& found) {
    const auto call = tir::named_call(expr);
    if (!call || expr.op == tir::Op::call_pure_extern) return;
    const auto read = read_.find(*call->name);
    if (read != read_.end() && !read->second.calls_unread) return;
    found.is_unread = true;
    const bool is_read = read != read_.end();
    const FunctionEscape escape = is_read ? read->second.escape : of_(*call->name);
    const std::string& cause = is_read ? read->second.cause : *call->name;
    for (std::size_t i = 0; i < call->arguments.size(); ++i) {
      std::vector<tir::VarId> vars;
      append_named_memory(*call->arguments[i], vars);
      found.is_handed = found.is_handed || !vars.empty();
      std::erase_if(vars, [this](tir::VarId var) { return is_context(var); });
      if ((escape.params & param_bit(i)) == 0 || vars.empty()) continue;
      if (now_->cause.empty()) {
        *now_ = {escape, false, cause};
        now_->escape.params = 0;
      }
      for (const tir::VarId var : vars) {
        found.escaped.push_back(var);
        if (!param_of(var)) note(cause, escape, var);
      }
    }
  }

  void note(const std::string& name, const FunctionEscape& escape, tir::VarId var) {
    const auto [known, is_new] = causes_.try_emplace(name, result_.causes.size());
    if (is_new) result_.causes.push_back({name, escape});
    result_.causes[known->second].longer.insert(var);
  }

  FoundInStatement close(OpenBlock& now, bool is_outermost) {
    std::map<std::size_t, std::vector<tir::VarId>> held;  // in front of which statement
    std::vector<std::size_t> unread;
    for (std::size_t i = 0; i < now.statements.size(); ++i) {
      if (now.statements[i].is_unread) unread.push_back(i);
    }
    for (const std::size_t i : unread) {
      for (const tir::VarId var : now.statements[i].escaped) hold(var, i, unread, now, held);
    }
    FoundInStatement result;
    for (const FoundInStatement& found : now.statements) {
      add_outer(found.escaped, now.own, result.escaped);
      add_outer(found.named, now.own, result.named);
    }
    result.is_unread = !unread.empty();
    note_longer(held, now);
    add_calls(held, is_outermost && is_entry_ ? fences_of(now, unread) : std::set<std::size_t>(), *now.block);
    return result;
  }

  struct Placed {
    std::string pool;
    Bytes begin = 0;
    Bytes end = 0;
  };

  // For what TVM has placed: the first statement behind `at` that names something else at these bytes.
  [[nodiscard]] std::size_t end_of(tir::VarId var, std::size_t at, const OpenBlock& now) const {
    const auto place = places_.find(var);
    for (std::size_t i = at + 1; place != places_.end() && i < now.statements.size(); ++i) {
      for (const tir::VarId named : now.statements[i].named) {
        const auto other = named == var ? places_.end() : places_.find(named);
        if (other != places_.end() && other->second.pool == place->second.pool &&
            other->second.begin < place->second.end && place->second.begin < other->second.end) {
          return i;
        }
      }
    }
    return now.statements.size();
  }

  // What escapes in a statement, behind the last unread one of its lifetime.
  void hold(tir::VarId var, std::size_t at, const std::vector<std::size_t>& unread, const OpenBlock& now,
            std::map<std::size_t, std::vector<tir::VarId>>& held) const {
    if (now.is_loop) {  // in the next iteration
      std::vector<tir::VarId> outer;
      add_outer({var}, now.own, outer);
      std::vector<tir::VarId>& last = held[unread.back() + 1];
      last.insert(last.end(), outer.begin(), outer.end());
    }
    const std::size_t last = now.is_loop ? now.statements.size() : end_of(var, at, now);
    const auto end = std::lower_bound(unread.begin(), unread.end(), last);
    if (end != unread.begin() && *(end - 1) > at) held[*(end - 1) + 1].push_back(var);
  }

  // Unread statements that others might move across, once something has escaped.
  static std::set<std::size_t> fences_of(const OpenBlock& now, const std::vector<std::size_t>& unread) {
    std::set<std::size_t> result;
    bool has_escaped = false;
    for (const std::size_t i : unread) {
      has_escaped = has_escaped || !now.statements[i].escaped.empty();
      if (has_escaped && now.statements[i].is_handed) result.insert(i + 1);
    }
    return result;
  }

  void note_longer(const std::map<std::size_t, std::vector<tir::VarId>>& held, const OpenBlock& now) {
    std::map<tir::VarId, std::size_t> last;  // statement behind which it is not named
    for (std::size_t i = 0; i < now.statements.size() && !held.empty(); ++i) {
      for (const tir::VarId var : now.statements[i].named) last[var] = i + 1;
    }
    for (const auto& [at, vars] : held) {
      for (const tir::VarId var : vars) {
        if (last[var] < at) longer_.insert(var);
      }
    }
  }

  // That is not the block's own, or what its own stands in.
  static void add_outer(const std::vector<tir::VarId>& vars, const std::map<tir::VarId, tir::ExprRef>& own,
                        std::vector<tir::VarId>& outer) {
    std::vector<tir::VarId> pending(vars.rbegin(), vars.rend());
    std::set<tir::VarId> known;
    while (!pending.empty()) {
      const tir::VarId var = pending.back();
      pending.pop_back();
      if (!known.insert(var).second) continue;
      const auto found = own.find(var);
      if (found == own.end()) {
        outer.push_back(var);
      } else if (found->second) {
        append_named_memory(*found->second, pending);
      }
    }
  }

  void add_calls(const std::map<std::size_t, std::vector<tir::VarId>>& held, const std::set<std::size_t>& fences,
                 tir::Block& body) {
    if (held.empty()) return;
    tir::Block result;
    for (std::size_t i = 0; i <= body.size(); ++i) {
      if (fences.contains(i)) {
        result.push_back({tir::Evaluate{tir::make_call(tir::int32_type, tir::Op::call_extern,
                                                       {tir::make_string(tir::kept_text), tir::make_string("")})}});
      }
      if (const auto found = held.find(i); found != held.end()) {
        std::vector<tir::VarId> all;
        std::set<tir::VarId> known;
        for (const tir::VarId var : found->second) {
          if (known.insert(var).second) all.push_back(var);
        }
        for (std::size_t begin = 0; begin < all.size(); begin += most_held) {
          result.push_back(call_of(std::span(all).subspan(begin, std::min(most_held, all.size() - begin))));
        }
      }
      if (i < body.size()) result.push_back(std::move(body[i]));
    }
    body = std::move(result);
  }

  tir::Stmt call_of(std::span<const tir::VarId> vars) {
    const std::string name = "usmp_held_" + std::to_string(++calls_);
    std::vector<tir::ExprRef> arguments = {tir::make_string(name)};
    std::string params;
    std::string uses;
    for (const tir::VarId var : vars) {
      const std::string param = "tensor_" + std::to_string(arguments.size());
      arguments.push_back(tir::make_var(module_, var));
      params += (params.empty() ? "" : ", ") + ("const void* " + param);
      uses += "  (void)" + param + ";\n";
    }
    result_.text += "\nstatic inline void " + name + "(" + params + ") {\n" + uses + "}\n";
    return {tir::Evaluate{tir::make_call(tir::int32_type, tir::Op::call_extern, std::move(arguments))}};
  }

  const std::function<FunctionEscape(const std::string&)>& of_;
  tir::Module& module_;
  std::map<tir::VarId, Placed> places_;
  std::map<std::string, Read, std::less<>> read_;  // functions that are not opaque
  const tir::Function* function_ = nullptr;        // that is looked at
  Read* now_ = nullptr;                            // the same
  bool is_entry_ = false;
  ExtendedLifetimes result_;
  std::map<std::string, std::size_t> causes_;
  std::set<tir::VarId> longer_;
  std::size_t calls_ = 0;
};

}  // namespace

ExtendedLifetimes extend_lifetimes(const std::function<FunctionEscape(const std::string& name)>& of,
                                   std::span<const PlannedPlace> places, tir::Module& module) {
  Extender extender(of, places, module);
  for (const std::size_t i : program::callees_first(module, program::call_graph(module))) {
    extender.extend(i, i == module.entry);
  }
  return std::move(extender).take();
}

std::vector<std::string> warnings_of(const ExtendedLifetimes& extended, const tir::Module& module) {
  std::map<tir::VarId, Bytes> sizes = sizes_in(module);
  std::vector<std::string> result;
  for (const EscapeCause& cause : extended.causes) {
    if (result.size() == most_warnings) {
      result.push_back(counted(extended.causes.size() - most_warnings, "other function") +
                       " may keep addresses of tensors likewise");
      break;
    }
    Bytes longer = 0;
    for (const tir::VarId var : cause.longer) longer += sizes[var];
    const FunctionEscape& escape = cause.escape;
    const bool is_other = !escape.by.empty() && escape.by != cause.function;
    const std::string& named = !escape.synchronous.empty() ? escape.synchronous : is_other ? escape.by : cause.function;
    std::string text = (cause.function.starts_with(outlined_prefix) ? "a statement of the entry"
                                                                    : "function " + in_quotes(cause.function)) +
                       " may keep addresses of tensors that it gets: " + (is_other ? in_quotes(escape.by) : "it") +
                       " " + escape.how;
    text += longer > 0
                ? "; planned C keeps " + std::to_string(longer) +
                      " bytes of them longer than the model needs them, up to the last statement that is not read"
                : "; no tensor lives longer for it";
    if (!named.starts_with(outlined_prefix))
      text += ". If it is done with them when it returns: --synchronous " + named;
    result.push_back(std::move(text));
  }
  return result;
}

}  // namespace usmp::tvm_c
