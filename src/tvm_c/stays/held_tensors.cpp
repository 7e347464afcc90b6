// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/held_tensors_test.cpp.
#include "tvm_c/stays/held_tensors.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "tvm_c/text/syntax.hpp"
#include "usmp/tir/builder.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::size_t most_arguments = 100;  // of one function: compilers need not take more than 127

bool is_memory(const tir::Expr& argument) {
  return argument.kind != tir::ExprKind::string_imm && argument.type.is_handle();
}

// Of a block, for the one around it.
struct Found {
  std::vector<tir::VarId> passed;  // to what may go on
  std::vector<tir::VarId> used;    // by what may wait for it
  std::vector<tir::VarId> named;   // all memory
  bool waits = false;              // a call that gets no memory
  bool begins = false;             // a call that may wait for what was begun before
  bool begins_known = false;       // of these, one of a keeper
};

void append_once(std::vector<tir::VarId>& all, std::set<tir::VarId>& known, const std::vector<tir::VarId>& more) {
  for (const tir::VarId var : more) {
    if (known.insert(var).second) all.push_back(var);
  }
}

void add_memory(const tir::Expr& argument, std::vector<tir::VarId>& vars) {
  tir::for_each_expr(argument, [&](const tir::Expr& expr) {
    const bool names_memory = (expr.kind == tir::ExprKind::var && expr.type.is_handle()) ||
                              expr.kind == tir::ExprKind::load;  // whose address is passed
    if (names_memory) vars.push_back(expr.var);
  });
}

class Holder {
 public:
  Holder(const HoldingFunctions& functions_asked, const std::string& entry, tir::Module& module)
      : asked_(functions_asked), module_(module) {
    std::vector<tir::Function*> functions;
    for (tir::Function& function : module.functions) {
      if (!tir::is_opaque(module, function)) functions.push_back(&function);
    }
    for (const tir::Function* function : functions) read_[function->name];
    for (tir::Function* function : functions) {
      if (function->name != entry) look_at(*function);
    }
    pass_on(functions);
    for (tir::Function* function : functions) {
      is_entry_ = function->name == entry;
      function_ = function;
      hold_in(function->body);
    }
  }

  HeldTensors take() && { return std::move(result_); }

 private:
  struct Read {
    std::string keeper;     // that it calls, and does not wait for
    bool goes_on = false;   // there is one, or a function that no file defines
    bool may_wait = false;  // it has an opaque call
    bool waits = false;     // of these, one that is beside a keeper
  };

  // What the function calls by itself.
  void look_at(const tir::Function& function) {
    Read& read = read_.find(function.name)->second;
    for (const tir::Stmt& stmt : function.body) {
      const auto visit = [&](const tir::Expr& expr) {
        const auto call = opaque_call(expr);
        if (!call) return;
        read.may_wait = true;
        read.waits = read.waits || asked_.beside.contains(*call->name);
        const bool is_keeper = asked_.keepers.contains(*call->name);
        if (!gets_memory(*call)) {
          read.goes_on = read.goes_on && !tir::blocks_of(stmt).empty();  // under a condition it need not wait
        } else if (is_keeper || asked_.is_unknown(*call->name)) {
          read.goes_on = true;
          if (is_keeper) read.keeper = *call->name;
        }
      };
      tir::for_each_expr_of(stmt, [&](const tir::ExprRef& expr) { tir::for_each_expr(*expr, visit); });
      for (const tir::Block* block : tir::blocks_of(stmt)) tir::for_each_expr_in(*block, visit);
    }
  }

  // And through others that are read.
  void pass_on(const std::vector<tir::Function*>& functions) {
    std::map<std::string_view, std::vector<std::string_view>> callers;
    std::vector<std::string_view> pending;
    for (const tir::Function* function : functions) {
      tir::for_each_expr_in(function->body, [&](const tir::Expr& expr) {
        const auto call = tir::named_call(expr);
        if (call && read_.contains(*call->name)) callers[read_.find(*call->name)->first].push_back(function->name);
      });
      if (read_.find(function->name)->second.may_wait) pending.push_back(function->name);
    }
    while (!pending.empty()) {
      const std::string_view name = pending.back();
      pending.pop_back();
      const Read& callee = read_.find(name)->second;
      for (const std::string_view caller : callers[name]) {
        Read& read = read_.find(caller)->second;
        const bool is_new = !read.may_wait || (callee.goes_on && !read.goes_on) || (callee.waits && !read.waits);
        read.waits = read.waits || callee.waits;
        read.may_wait = true;
        read.goes_on = read.goes_on || callee.goes_on;
        if (read.keeper.empty()) read.keeper = callee.keeper;
        if (is_new) pending.push_back(read_.find(caller)->first);
      }
    }
  }

  [[nodiscard]] std::optional<tir::NamedCall> opaque_call(const tir::Expr& expr) const {
    auto call = tir::named_call(expr);
    if (!call || expr.op == tir::Op::call_pure_extern || read_.contains(*call->name)) return std::nullopt;
    return call;
  }

  static bool gets_memory(const tir::NamedCall& call) {
    return std::any_of(call.arguments.begin(), call.arguments.end(),
                       [](const tir::ExprRef& argument) { return is_memory(*argument); });
  }

  void find_in(const tir::Expr& expr, Found& found) {
    const auto call = tir::named_call(expr);
    if (!call || expr.op == tir::Op::call_pure_extern) return;
    const auto read = read_.find(*call->name);
    const bool is_read = read != read_.end();
    if (is_read && !read->second.may_wait) return;
    if (is_read ? read->second.waits : !gets_memory(*call)) found.waits = true;
    const bool is_keeper = asked_.keepers.contains(*call->name);
    const bool goes_on = is_read ? read->second.goes_on : is_keeper || (!is_entry_ && asked_.is_unknown(*call->name));
    const bool begins = goes_on || (is_read ? read->second.waits : asked_.beside.contains(*call->name));
    if (begins && gets_memory(*call)) found.begins = true;
    if (is_read ? !read->second.keeper.empty() : is_keeper) found.begins_known = true;
    for (const tir::ExprRef& argument : call->arguments) {
      if (!is_memory(*argument)) continue;
      add_memory(*argument, found.used);
      if (!goes_on) continue;
      add_memory(*argument, found.passed);
      if (!is_entry_ || is_of_params(*argument)) continue;
      const std::string& keeper = is_read ? read->second.keeper : *call->name;
      add_name(keeper.empty() ? *call->name : keeper, keeper.empty() ? result_.passed_on : result_.functions);
    }
  }

  // Of one that is being read.
  struct OpenBlock {
    tir::Block* block = nullptr;
    bool is_loop = false;
    std::size_t at = 0;                      // statement
    std::size_t inner = 0;                   // blocks of it that have been read
    std::map<tir::VarId, tir::ExprRef> own;  // of the block; null: memory
    std::vector<Found> statements;
    std::map<tir::VarId, std::vector<std::size_t>> uses;  // statements
    std::map<tir::VarId, std::size_t> named;              // the first statement
    std::vector<tir::VarId> passed;
    std::set<tir::VarId> known;
    std::size_t waited_for = 0;  // of `passed`: in front of the last statement that may wait for all
    std::size_t wait = 0;        // behind that
  };

  void hold_in(tir::Block& root) {
    std::vector<OpenBlock> open(1);
    open.back().block = &root;
    while (true) {
      OpenBlock& now = open.back();
      if (now.at == now.block->size()) {
        const Found found = close(now);
        open.pop_back();
        if (open.empty()) return;
        Found& outer = open.back().statements.back();
        outer.passed.insert(outer.passed.end(), found.passed.begin(), found.passed.end());
        outer.used.insert(outer.used.end(), found.used.begin(), found.used.end());
        outer.named.insert(outer.named.end(), found.named.begin(), found.named.end());
        outer.waits = outer.waits || found.waits;
        outer.begins = outer.begins || found.begins;
        outer.begins_known = outer.begins_known || found.begins_known;
        continue;
      }
      tir::Stmt& stmt = (*now.block)[now.at];
      if (now.inner == 0) begin_statement(stmt, now);
      const tir::InnerBlocks<tir::Block> blocks = tir::blocks_of(stmt);
      if (now.inner == blocks.size()) {
        end_statement(!blocks.empty(), now);
        continue;
      }
      tir::Block* const block = blocks[now.inner++];
      OpenBlock& next = open.emplace_back();
      next.block = block;
      next.is_loop = std::holds_alternative<tir::For>(stmt.node) || std::holds_alternative<tir::While>(stmt.node);
    }
  }

  void begin_statement(const tir::Stmt& stmt, OpenBlock& now) {
    Found& found = now.statements.emplace_back();
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) now.own.emplace(allocate->var, nullptr);
    if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) now.own.emplace(constant->var, nullptr);
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) now.own.emplace(let->var, let->value);
    tir::for_each_expr_of(stmt, [&](const tir::ExprRef& expr) {
      tir::for_each_expr(*expr, [&](const tir::Expr& one) { find_in(one, found); });
      add_memory(*expr, found.named);
    });
  }

  static void end_statement(bool has_blocks, OpenBlock& now) {
    const Found& found = now.statements.back();
    if (has_blocks) append_once(now.passed, now.known, found.passed);  // one of them may wait for another
    if (found.waits) {
      now.waited_for = now.passed.size();
      now.wait = now.at + 1;
    }
    append_once(now.passed, now.known, found.passed);
    for (const tir::VarId var : found.used) {
      std::vector<std::size_t>& all = now.uses[var];
      if (all.empty() || all.back() != now.at) all.push_back(now.at);
    }
    for (const tir::VarId var : found.named) now.named.emplace(var, now.at);
    ++now.at;
    now.inner = 0;
  }

  Found close(OpenBlock& now) {
    std::map<std::size_t, std::vector<tir::VarId>> held;  // in front of which statement
    if (now.wait > 0) {
      held[now.wait].assign(now.passed.begin(), now.passed.begin() + static_cast<std::ptrdiff_t>(now.waited_for));
      if (now.is_loop) add_outer(now.passed, now.own, held[now.wait]);
    }
    for (std::size_t i = 0; i < now.statements.size(); ++i) {
      hold_until_used(now.statements[i].passed, i, now.uses, now.own, now.is_loop, held);
      hold_until_next(now, i, held);
    }
    Found result;
    for (const Found& found : now.statements) {
      add_outer(found.passed, now.own, result.passed);
      add_outer(found.used, now.own, result.used);
      add_outer(found.named, now.own, result.named);
      result.waits = result.waits || found.waits;
      result.begins = result.begins || found.begins;
      result.begins_known = result.begins_known || found.begins_known;
    }
    add_calls(held, *now.block);
    return result;
  }

  // What a statement passed on, behind the last one that gets some of it.
  static void hold_until_used(const std::vector<tir::VarId>& passed, std::size_t at,
                              const std::map<tir::VarId, std::vector<std::size_t>>& uses,
                              const std::map<tir::VarId, tir::ExprRef>& own, bool is_loop,
                              std::map<std::size_t, std::vector<tir::VarId>>& held) {
    const auto last_of = [&](tir::VarId var) {  // but this one
      const std::vector<std::size_t>& all = uses.find(var)->second;
      if (all.back() != at) return all.back() + 1;
      return is_loop && all.size() > 1 ? all[all.size() - 2] + 1 : std::size_t{0};
    };
    std::size_t end = 0;
    for (const tir::VarId var : passed) end = std::max(end, last_of(var));
    if (end == 0 || (end <= at && !is_loop)) return;
    std::vector<tir::VarId> rest;
    for (const tir::VarId var : passed) {
      if (end <= at || last_of(var) != end) rest.push_back(var);
    }
    std::vector<tir::VarId>& all = held[end];
    if (end > at) {
      all.insert(all.end(), rest.begin(), rest.end());
    } else {
      add_outer(rest, own, all);
    }
  }

  // What a statement passed on, on both sides of the next one that begins something, in a loop also in the next
  // iteration. With memory of that one, which so stays behind the statement and in front of what uses its memory.
  void hold_until_next(const OpenBlock& now, std::size_t at,
                       std::map<std::size_t, std::vector<tir::VarId>>& held) const {
    const std::vector<tir::VarId>& passed = now.statements[at].passed;
    if (passed.empty()) return;
    const auto begins = [&](const Found& found) { return found.begins; };
    const auto first = now.statements.begin();
    const auto behind = first + static_cast<std::ptrdiff_t>(at) + 1;
    auto found = std::find_if(behind, now.statements.end(), begins);
    const bool is_around = found == now.statements.end() && now.is_loop;
    if (is_around) found = std::find_if(first, behind, begins);
    if (found == now.statements.end() || (found + 1 == behind && !found->begins_known)) return;
    const auto next = static_cast<std::size_t>(found - first);
    std::vector<tir::VarId> all;
    if (is_around) {
      add_outer(passed, now.own, all);
    } else {
      all = passed;
    }
    const std::vector<tir::VarId> bound = named_before(now, next);
    all.insert(all.end(), bound.begin(), bound.end());
    for (const std::size_t place : {next, next + 1}) {
      if (place > next || !is_around) held[place].insert(held[place].end(), all.begin(), all.end());
    }
  }

  // Of what a statement gets: what has been named in front of it, which so has something; if there is none, all.
  [[nodiscard]] std::vector<tir::VarId> named_before(const OpenBlock& now, std::size_t at) const {
    std::vector<tir::VarId> result;
    std::vector<tir::VarId> rest;
    for (const tir::VarId var : now.statements[at].used) {
      const auto named = now.named.find(var);
      const bool is_param = std::any_of(function_->params.begin(), function_->params.end(),
                                        [&](const tir::Param& param) { return param.var == var; });
      const bool is_before = is_param || (named != now.named.end() && named->second < at);
      (is_before ? result : rest).push_back(var);
    }
    return result.empty() ? rest : result;
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
        add_memory(*found->second, pending);
      }
    }
  }

  // The application's memory.
  [[nodiscard]] bool is_of_params(const tir::Expr& argument) const {
    return std::any_of(function_->params.begin(), function_->params.end(),
                       [&](const tir::Param& param) { return tir::mentions(argument, param.var); });
  }

  void add_name(const std::string& name, std::vector<std::string>& names) {
    if (named_.insert(name).second) names.push_back(name);
  }

  void add_calls(const std::map<std::size_t, std::vector<tir::VarId>>& held, tir::Block& body) {
    tir::Block result;
    std::size_t from = 0;
    for (const auto& [at, vars] : held) {
      for (; from < at; ++from) result.push_back(std::move(body[from]));
      std::vector<tir::VarId> all;
      std::set<tir::VarId> known;
      append_once(all, known, vars);
      for (std::size_t begin = 0; begin < all.size(); begin += most_arguments) {
        result.push_back(
            call_of({all.begin() + static_cast<std::ptrdiff_t>(begin),
                     all.begin() + static_cast<std::ptrdiff_t>(std::min(begin + most_arguments, all.size()))}));
      }
      result_.by_entry = result_.by_entry || (is_entry_ && !all.empty());
    }
    for (; from < body.size(); ++from) result.push_back(std::move(body[from]));
    body = std::move(result);
  }

  tir::Stmt call_of(const std::vector<tir::VarId>& vars) {
    const std::string name = "usmp_held_" + std::to_string(++functions_);
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

  const HoldingFunctions& asked_;
  tir::Module& module_;
  std::map<std::string, Read, std::less<>> read_;  // functions that are not opaque
  const tir::Function* function_ = nullptr;
  bool is_entry_ = false;
  HeldTensors result_;
  std::set<std::string> named_;
  std::size_t functions_ = 0;
};

}  // namespace

HeldTensors hold_tensors(const HoldingFunctions& functions, const std::string& entry, tir::Module& module) {
  return Holder(functions, entry, module).take();
}

}  // namespace usmp::tvm_c
