// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Moves nests out with the declarations that they need, and compares the regions of their pointers in each context.
#include "usmp/lower/outline.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lower/fences.hpp"
#include "lower/nest.hpp"
#include "lower/regions.hpp"
#include "usmp/arith/facts.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::lower {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

class Outliner {
 public:
  Outliner(const Lowered& lowered, const placement::Table& table)
      : lowered_(lowered), result_(lowered), table_(table), contexts_(find_contexts(lowered, table)) {}

  Lowered run() && {
    const tir::Module& module = lowered_.module;
    for (std::size_t i = 0; i < module.functions.size(); ++i) {
      if (contexts_[i].empty() || tir::is_opaque(module, module.functions[i])) continue;
      if (i == module.entry) {
        result_.module.functions[i].body = fenced_inside(module.functions[i].body);
      } else {
        outline_function(i);
      }
    }
    sort_functions();
    return std::move(result_);
  }

 private:
  void outline_function(std::size_t index) {
    function_ = index;
    nests_ = 0;
    declared_.clear();
    row_vars_.clear();
    regions_.clear();
    for (const Context& context : contexts_[index]) {
      regions_.push_back(regions_in(lowered_, index, context, table_));
    }
    if (!mark_whole(index)) result_.module.functions[index].body = outlined(lowered_.module.functions[index].body);
  }

  // A function that is one loop over what it is passed is a nest already: its own parameters are marked.
  bool mark_whole(std::size_t index) {
    const tir::Function& whole = lowered_.module.functions[index];
    const Stmt* nest = nullptr;
    for (const Stmt& stmt : whole.body) {
      if (std::holds_alternative<tir::AllocateConst>(stmt.node)) continue;
      if (nest != nullptr || !std::holds_alternative<tir::For>(stmt.node) || is_row_loop(stmt)) return false;
      nest = &stmt;
    }
    if (nest == nullptr) return false;
    const NestUses uses = read_nest(lowered_.module, *nest);
    if (!uses.can_move || !uses.addresses.empty() || shares_bytes(uses)) return false;
    // Whether a call may pass bytes of a parameter for another one, too. Where that is not accessed it does no harm,
    // but compilers warn of it.
    std::set<VarId> passed_twice;
    for (const std::map<VarId, Regions>& regions : regions_) add_met(whole, regions, passed_twice);
    for (tir::Param& param : result_.module.functions[index].params) {
      param.no_alias =
          uses.accessed.contains(param.var) && stands_alone(param.var, uses) && !passed_twice.contains(param.var);
    }
    return true;
  }

  // Adds the parameters that reach a byte which another one reaches, too.
  static void add_met(const tir::Function& function, const std::map<VarId, Regions>& regions, std::set<VarId>& met) {
    std::vector<Regions> reached;
    for (const tir::Param& param : function.params) {
      const auto found = regions.find(param.var);
      reached.push_back(found == regions.end() ? Regions() : found->second);
    }
    const std::vector<bool> meet = meet_others(reached);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (meet[i]) met.insert(function.params[i].var);
    }
  }

  static bool is_row_loop(const Stmt& stmt) {
    const auto* loop = std::get_if<tir::For>(&stmt.node);
    return loop != nullptr && loop->row_runs > 0;
  }

  // The block with its loops moved out, as far as they stand in it, in scopes of it or in row loops.
  Block outlined(const Block& outermost) {
    struct Frame {
      const Block* block;
      const tir::For* loop = nullptr;  // that it is the body of
      std::size_t mark = 0;            // of facts
      std::size_t next = 0;
      Block result = {};
    };
    arith::Facts facts(lowered_.module);
    std::vector<Frame> frames = {{&outermost}};
    while (true) {
      Frame& frame = frames.back();
      if (frame.next < frame.block->size()) {
        const Stmt& stmt = (*frame.block)[frame.next++];
        if (const auto* scope = std::get_if<tir::Scope>(&stmt.node)) {
          frames.push_back({&scope->body});
        } else if (is_row_loop(stmt)) {
          const auto& loop = std::get<tir::For>(stmt.node);
          frames.push_back({&loop.body, &loop, facts.mark()});
          facts.bind_loop(loop);
          row_vars_[loop.var] = facts.interval(arith::variable(loop.var));
        } else {
          outline_statement(stmt, frame.result);
        }
        continue;
      }
      Block done = fenced(frame.result);
      const Frame finished = std::move(frame);
      frames.pop_back();
      if (frames.empty()) return done;
      Block& outer = frames.back().result;
      if (finished.loop == nullptr) {
        outer.push_back({tir::Scope{std::move(done)}});
        continue;
      }
      // From the last statement to the first one.
      done.push_back(fence());
      facts.restore(finished.mark);
      tir::For loop = *finished.loop;
      loop.body = std::move(done);
      outer.push_back({std::move(loop)});
    }
  }

  void outline_statement(const Stmt& stmt, Block& result) {
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) declared_[let->var] = stmt;
    if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) declared_[constant->var] = stmt;
    if (is_passive(stmt)) return result.push_back(stmt);
    const NestUses uses = read_nest(lowered_.module, stmt);
    if (const std::optional<Stmt> call = moved_out(stmt, uses)) {
      result.push_back(*call);
    } else if (shares_bytes(uses)) {
      const Block inside = fenced_inside({stmt});
      result.insert(result.end(), inside.begin(), inside.end());
    } else {
      result.push_back(stmt);
    }
  }

  // The call that takes the nest's place, if it was worth moving.
  std::optional<Stmt> moved_out(const Stmt& nest, const NestUses& uses) {
    if (!std::holds_alternative<tir::For>(nest.node) || !uses.can_move || uses.written.empty()) return std::nullopt;
    Block body;
    std::vector<VarId> pointers;
    std::vector<VarId> rows;
    if (!prepare(uses, body, pointers, rows)) return std::nullopt;
    std::vector<tir::Param> params;
    bool any = false;
    for (const VarId var : rows) {
      params.push_back(param_for(var));
      params.back().range = row_vars_.at(var);
    }
    for (const VarId var : pointers) {
      params.push_back(param_for(var));
      params.back().no_alias = stands_alone(var, uses);
      any = any || params.back().no_alias;
    }
    // One pointer alone has no other to alias, and an array of the function's would get an address.
    if (!any || uses.accessed.size() < 2) return std::nullopt;

    Block moved = {nest};
    drop_addresses(moved, uses);
    if (shares_bytes(uses)) moved = fenced_inside(moved);
    body.insert(body.end(), moved.begin(), moved.end());
    const tir::Function& whole = lowered_.module.functions[function_];
    tir::Function function{.name = new_name(whole.name),
                           .target = whole.target,
                           .is_entry = false,
                           .keep_apart = true,
                           .params = std::move(params),
                           .body = std::move(body),
                           .notes = {},
                           .imported_c = {},
                           .by_rows = {},
                           .row_operator = std::get<tir::For>(nest.node).row_operator};
    std::vector<ExprRef> arguments = {tir::make_string(function.name)};
    for (const VarId var : rows) arguments.push_back(tir::make_var(result_.module, var));
    for (const VarId var : pointers) {
      const auto address = uses.address_values.find(var);
      arguments.push_back(address != uses.address_values.end() ? address->second : tir::make_var(result_.module, var));
    }
    LoweredFunction lowered_function;
    for (const Placement& placement : lowered_.functions[function_].placements) {
      if (uses.address_values.contains(placement.var)) lowered_function.placements.push_back(placement);
    }
    result_.module.functions.push_back(std::move(function));
    result_.functions.push_back(std::move(lowered_function));
    return Stmt{tir::Evaluate{tir::make_call(tir::int32_type, tir::Op::call_extern, std::move(arguments))}};
  }

  // Declarations that the nest brings along, and the pointers and rows that it is passed; false if a value cannot be
  // had inside.
  bool prepare(const NestUses& uses, Block& body, std::vector<VarId>& pointers, std::vector<VarId>& rows) const {
    std::set<VarId> brought;
    for (const VarId var : uses.free) {
      const auto declaration = declared_.find(var);
      const bool is_constant =
          declaration != declared_.end() && std::holds_alternative<tir::AllocateConst>(declaration->second.node);
      if (is_constant) {
        body.push_back(declaration->second);
      } else if (lowered_.module.var(var).type.is_handle()) {
        // A function of its own would not know that a pointer and the one it is made from reach one storage.
        if (is_derived(var)) return false;
        pointers.push_back(var);
      } else if (row_vars_.contains(var)) {
        rows.push_back(var);
      } else if (!bring_value(var, brought, body)) {
        return false;
      }
    }
    pointers.insert(pointers.end(), uses.addresses.begin(), uses.addresses.end());
    return true;
  }

  [[nodiscard]] bool is_derived(VarId var) const {
    const auto declaration = declared_.find(var);
    const auto* let = declaration == declared_.end() ? nullptr : std::get_if<tir::Let>(&declaration->second.node);
    return let != nullptr && !is_pool_address(lowered_.module, *let->value);
  }

  // Appends the declaration of `var` after those of the variables that its value is made of; false if a value reads
  // memory or is not bound by a Let.
  bool bring_value(VarId var, std::set<VarId>& brought, Block& body) const {
    struct Frame {
      const Stmt* declaration;
      std::vector<VarId> needed;
      std::size_t next = 0;
    };
    std::vector<Frame> frames;
    const auto enter = [&](VarId needed_var) {
      if (!brought.insert(needed_var).second) return true;
      const auto declaration = declared_.find(needed_var);
      std::vector<VarId> needed;
      if (declaration == declared_.end() || !is_plain_value(declaration->second, needed)) return false;
      frames.push_back({&declaration->second, std::move(needed)});
      return true;
    };
    if (!enter(var)) return false;
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.next < frame.needed.size()) {
        if (!enter(frame.needed[frame.next++])) return false;
      } else {
        body.push_back(*frame.declaration);
        frames.pop_back();
      }
    }
    return true;
  }

  // Whether the statement is a Let whose value is made of variables and constants; gives the variables.
  static bool is_plain_value(const Stmt& declaration, std::vector<VarId>& needed) {
    const auto* let = std::get_if<tir::Let>(&declaration.node);
    if (let == nullptr || !is_free_of_memory(*let->value)) return false;
    bool is_plain = true;
    tir::for_each_expr(*let->value, [&](const Expr& expr) {
      if (expr.kind == ExprKind::var) needed.push_back(expr.var);
      if (expr.kind == ExprKind::let) is_plain = false;
    });
    return is_plain;
  }

  [[nodiscard]] bool stands_alone(VarId var, const NestUses& uses) const {
    const std::set<VarId>& others = uses.written.contains(var) ? uses.accessed : uses.written;
    return std::all_of(others.begin(), others.end(),
                       [&](VarId other) { return other == var || are_apart(var, other); });
  }

  [[nodiscard]] bool are_apart(VarId a, VarId b) const {
    return std::all_of(regions_.begin(), regions_.end(), [&](const std::map<VarId, Regions>& regions) {
      const auto x = regions.find(a);
      const auto y = regions.find(b);
      return x != regions.end() && y != regions.end() && are_disjoint(x->second, y->second);
    });
  }

  // Whether two buffers that the statement accesses may stand in the same bytes of a pool, one of them written, and C
  // lets a compiler take it for granted that they do not. (That the application passes the same memory twice is its own
  // affair.)
  [[nodiscard]] bool shares_bytes(const NestUses& uses) const {
    if (uses.has_calls) return true;
    return std::any_of(uses.written.begin(), uses.written.end(), [&](VarId a) {
      return std::any_of(uses.accessed.begin(), uses.accessed.end(), [&](VarId b) {
        return a != b && !are_apart(a, b) && !are_application_tensors(a, b) && !always_alias(uses, a, b);
      });
    });
  }

  [[nodiscard]] static bool always_alias(const NestUses& uses, VarId a, VarId b) {
    return std::ranges::all_of(uses.types.at(a), [&](tir::DataType one) {
      return std::ranges::all_of(uses.types.at(b), [&](tir::DataType other) { return tir::may_alias(one, other); });
    });
  }

  [[nodiscard]] bool are_application_tensors(VarId a, VarId b) const {
    const auto is_application = [](const Regions& regions) {
      return std::all_of(regions.begin(), regions.end(),
                         [](const Region& region) { return region.kind == Region::Kind::application; });
    };
    return std::all_of(regions_.begin(), regions_.end(), [&](const std::map<VarId, Regions>& regions) {
      const auto x = regions.find(a);
      const auto y = regions.find(b);
      if (x == regions.end() || y == regions.end()) return false;
      return are_disjoint(x->second, y->second) || (is_application(x->second) && is_application(y->second));
    });
  }

  [[nodiscard]] tir::Param param_for(VarId var) const {
    const tir::Function& whole = lowered_.module.functions[function_];
    const auto found = std::find_if(whole.params.begin(), whole.params.end(),
                                    [&](const tir::Param& param) { return param.var == var; });
    if (found != whole.params.end()) return *found;
    const tir::Var& variable = lowered_.module.var(var);
    return {.var = var,
            .name = variable.name,
            .is_tensor = false,
            .element = variable.element,
            .shape = {},
            .no_alias = false};
  }

  static void drop_addresses(Block& outermost, const NestUses& uses) {
    std::vector<Block*> pending = {&outermost};
    while (!pending.empty()) {
      Block& block = *pending.back();
      pending.pop_back();
      std::erase_if(block, [&](const Stmt& stmt) {
        const auto* let = std::get_if<tir::Let>(&stmt.node);
        return let != nullptr && uses.address_values.contains(let->var);
      });
      for (Stmt& stmt : block) {
        for (Block* inner : tir::blocks_of(stmt)) pending.push_back(inner);
      }
    }
  }

  std::string new_name(const std::string& function) {
    while (true) {
      std::string name = function + "_nest" + std::to_string(nests_++);
      if (!lowered_.module.find(name)) return name;
    }
  }

  // Module::functions is sorted by name.
  void sort_functions() {
    std::vector<std::size_t> order(result_.module.functions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return result_.module.functions[a].name < result_.module.functions[b].name;
    });
    std::vector<tir::Function> functions;
    std::vector<LoweredFunction> lowered_functions;
    std::size_t entry = 0;
    for (const std::size_t index : order) {
      if (index == result_.module.entry) entry = functions.size();
      functions.push_back(std::move(result_.module.functions[index]));
      lowered_functions.push_back(std::move(result_.functions[index]));
    }
    result_.module.functions = std::move(functions);
    result_.functions = std::move(lowered_functions);
    result_.module.entry = entry;
  }

  const Lowered& lowered_;
  Lowered result_;
  const placement::Table& table_;
  const std::vector<std::vector<Context>> contexts_;
  std::size_t function_ = 0;                           // being outlined
  std::size_t nests_ = 0;                              // of this function so far
  std::map<VarId, Stmt> declared_;                     // Let and AllocateConst of this function so far
  std::map<VarId, std::optional<Interval>> row_vars_;  // of row loops of this function, with their values
  std::vector<std::map<VarId, Regions>> regions_;      // of this function, by context
};

}  // namespace

Lowered outline(const Lowered& lowered, const placement::Table& table) {
  Lowered outlined = Outliner(lowered, table).run();
  tir::check_pass(outlined.module, "outline", tir::Form::outlined);
  return outlined;
}

}  // namespace usmp::lower
