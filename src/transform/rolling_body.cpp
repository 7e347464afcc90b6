// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Nests the loops of stages, bounds each by what the one around needs next, and makes rings of buffers.
#include "transform/rolling_body.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "usmp/loops/accesses.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/program/join.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::int32_type;
using tir::make_binary;
using tir::make_int;
using tir::Stmt;
using tir::VarId;

// Iterations of a stage by the time that one of the stage around it has what it needs.
class Target {
 public:
  Target(const RowNeed& need, const RowSupply& supply, std::int64_t rows, std::int64_t last)
      : need_(need), supply_(supply), most_(supply.iterations_for(rows - 1)), last_(last) {}

  [[nodiscard]] bool is_constant() const { return need_.advance.step == 0; }

  // Whether iteration n needs iteration n of the other, and no more.
  [[nodiscard]] bool is_the_same() const {
    return !need_.lines && need_.advance == loops::Advance{.step = 1} && supply_.step == 1 &&
           need_.reach.high == supply_.reach.high && value(last_) <= most_;
  }

  // Before iteration n, and after it: both between 0 and what there is.
  [[nodiscard]] ExprRef begin(const ExprRef& n) const {
    const ExprRef zero = make_int(0);
    const ExprRef is_first = make_binary(ExprKind::eq, n, zero);
    if (is_constant()) return select(is_first, zero, constant());
    const ExprRef before = at_most(after(n, -1), value(last_ - 1));
    if (value(-1) > 0) return select(is_first, zero, value(0) < 0 ? at_least_0(before) : before);
    return value(-1) < 0 ? at_least_0(before) : before;
  }
  [[nodiscard]] ExprRef end(const ExprRef& n) const {
    if (is_constant()) return constant();
    // The minimum outermost: it is what bounds the variable of the loop.
    const ExprRef count = after(n, 0);
    return at_most(value(0) < 0 ? at_least_0(count) : count, value(last_));
  }

 private:
  [[nodiscard]] std::int64_t value(std::int64_t n) const {
    std::int64_t row = need_.advance.at(n) + need_.reach.high;
    if (need_.lines) row = std::min(row, need_.lines->advance.at(n) + need_.lines->reach.high);
    return floor_quotient(row - supply_.reach.high + supply_.step - 1, supply_.step) + 1;
  }

  [[nodiscard]] ExprRef constant() const { return make_int(std::clamp<std::int64_t>(value(0), 0, most_)); }

  // value(n + add), as an expression.
  [[nodiscard]] ExprRef after(const ExprRef& n, std::int64_t add) const {
    const ExprRef count = after({need_.advance, need_.reach}, n, add);
    return need_.lines ? make_binary(ExprKind::min, count, after(*need_.lines, n, add)) : count;
  }

  [[nodiscard]] ExprRef after(const loops::Window& window, const ExprRef& n, std::int64_t add) const {
    // The last row needed is row + reach.high, and step · (m - 1) + supply.reach.high must not be below it.
    std::int64_t rest = window.reach.high - supply_.reach.high + supply_.step - 1;
    const auto& [step, per, turn, width] = window.advance;
    ExprRef row = n;
    if (per > 1) {
      row = make_binary(ExprKind::floor_div, plus(row, add), make_int(per));
    } else {
      rest += step * add;
    }
    if (step > 1) row = make_binary(ExprKind::mul, row, make_int(step));
    if (turn != 0) {
      const ExprRef line = make_binary(ExprKind::floor_div, plus(n, add), make_int(width));
      row = make_binary(ExprKind::add, row, make_binary(ExprKind::mul, line, make_int(turn)));
    }
    if (supply_.step == 1) return plus(row, rest + 1);
    return plus(make_binary(ExprKind::floor_div, plus(row, rest), make_int(supply_.step)), 1);
  }

  static ExprRef plus(const ExprRef& a, std::int64_t b) {
    return b == 0 ? a : make_binary(b < 0 ? ExprKind::sub : ExprKind::add, a, make_int(b < 0 ? -b : b));
  }
  static ExprRef at_least_0(const ExprRef& value) { return make_binary(ExprKind::max, make_int(0), value); }
  [[nodiscard]] ExprRef at_most(const ExprRef& value, std::int64_t largest) const {
    return largest <= most_ ? value : make_binary(ExprKind::min, make_int(most_), value);
  }
  static ExprRef select(const ExprRef& condition, const ExprRef& a, const ExprRef& b) {
    Expr expr;
    expr.kind = ExprKind::select;
    expr.type = int32_type;
    expr.operands = {condition, a, b};
    return tir::make_expr(std::move(expr));
  }

  const RowNeed& need_;
  const RowSupply& supply_;
  std::int64_t most_;
  std::int64_t last_;  // iteration of the stage around
};

class RolledBody {
 public:
  RolledBody(tir::Module& module, const CallRun& run, const Segment& segment)
      : module_(module), run_(run), segment_(segment) {}

  RolledFunction build() && {
    function_.target = run_.function.target;
    for (std::size_t call = segment_.first_call; call < segment_.last_call; ++call) note_call(call);
    Block work;
    for (const std::size_t u : segment_.before) work.push_back(statement(u));
    work.push_back(chain());
    for (const std::size_t u : segment_.after) work.push_back(statement(u));
    simplify(work);
    declare(work);
    std::move(work.begin(), work.end(), std::back_inserter(function_.body));
    note_operators();
    // Other segments use the same variables.
    const program::PassedFunction call{function_, arguments_};
    auto renewed = program::joined(module_, {&call, 1}, {});
    return {std::move(renewed->function), std::move(renewed->arguments)};
  }

 private:
  [[nodiscard]] Stmt statement(std::size_t unit) const {
    return of_operator(run_.function.body[run_.units[unit].statement], unit);
  }
  // A nest with the number of its operator.
  [[nodiscard]] Stmt of_operator(Stmt stmt, std::size_t unit) const {
    if (auto* loop = std::get_if<tir::For>(&stmt.node)) {
      loop->row_operator = static_cast<std::uint32_t>(run_.units[unit].call - segment_.first_call + 1);
    }
    return stmt;
  }

  void note_call(std::size_t call) {
    const tir::Function& callee = module_.functions[run_.calls[call]->callee];
    for (const std::string& note : callee.notes) {
      if (std::ranges::find(function_.notes, note) == function_.notes.end()) function_.notes.push_back(note);
    }
    for (const std::string& source : callee.imported_c) {
      if (std::ranges::find(function_.imported_c, source) == function_.imported_c.end())
        function_.imported_c.push_back(source);
    }
  }

  // Stages stand inside of later ones, so each is complete when it is needed.
  Stmt chain() {
    const std::size_t count = segment_.stages.size();
    std::vector<VarId> iteration;
    for (const RolledStage& stage : segment_.stages) {
      const std::string name = stage.tensor ? module_.var(*stage.tensor).name + "_row" : "row";
      iteration.push_back(loops::fresh_var(module_, name, int32_type));
    }
    std::vector<Block> bodies(count);
    std::optional<VarId> strip;
    if (segment_.strips > 0) strip = loops::fresh_var(module_, "strip", int32_type);
    const std::int64_t times = std::max<std::int64_t>(segment_.strips, 1);
    for (std::size_t s = 0; s < count; ++s) {
      const ExprRef n = tir::make_var(module_, iteration[s]);
      for (const std::size_t inner : segment_.schedule.inside[s]) {
        const RowStage& row = segment_.chain.stages[inner];
        const Target target(segment_.schedule.demand[inner], *row.supply,
                            segment_.chain.tensors[row.supply->tensor].rows, segment_.chain.stages[s].iterations - 1);
        if (target.is_the_same()) {
          loops::rename(bodies[inner], {{iteration[inner], n}});
          std::move(bodies[inner].begin(), bodies[inner].end(), std::back_inserter(bodies[s]));
          continue;
        }
        const ExprRef begin = target.begin(n);
        const ExprRef end = target.end(n);
        bodies[s].push_back({tir::For{iteration[inner], begin, make_binary(ExprKind::sub, end, begin),
                                      std::move(bodies[inner]), times * segment_.schedule.runs[inner]}});
      }
      bodies[s].push_back(strip ? columns_of(s, n, tir::make_var(module_, *strip))
                                : Stmt{tir::Scope{rows_of(segment_.stages[s], n)}});
    }
    const std::size_t last = count - 1;
    Stmt rows{tir::For{iteration[last], make_int(0), make_int(segment_.chain.stages[last].iterations),
                       std::move(bodies[last]), times * segment_.schedule.runs[last]}};
    if (!strip) return rows;
    Block body;
    body.push_back(std::move(rows));
    return {tir::For{*strip, make_int(0), make_int(segment_.strips), std::move(body), segment_.strips}};
  }

  // The pixels of a row of the strip.
  Stmt columns_of(std::size_t s, const ExprRef& row, const ExprRef& strip) {
    const StripColumns& own = segment_.columns[s];
    const std::int64_t step = own.scale * segment_.strip_width;
    const auto at = [&](std::int64_t offset) {
      const ExprRef start = step == 1 ? strip : make_binary(ExprKind::mul, strip, make_int(step));
      return offset == 0 ? start : make_binary(ExprKind::add, start, make_int(offset));
    };
    ExprRef begin = at(own.low);
    if (own.low < 0) begin = make_binary(ExprKind::max, make_int(0), begin);
    ExprRef end = at(step + own.high);
    if (step * segment_.strips + own.high > own.columns) end = make_binary(ExprKind::min, make_int(own.columns), end);
    const RolledStage& stage = segment_.stages[s];
    const VarId column = loops::fresh_var(module_, module_.var(*stage.tensor).name + "_column", int32_type);
    const ExprRef pixel = make_binary(ExprKind::add, make_binary(ExprKind::mul, row, make_int(own.columns)),
                                      tir::make_var(module_, column));
    Block body;
    body.push_back({tir::Scope{rows_of(stage, pixel)}});
    return {tir::For{column, begin, make_binary(ExprKind::sub, end, begin), std::move(body), segment_.computed[s]}};
  }

  // What an iteration of the stage does.
  Block rows_of(const RolledStage& stage, const ExprRef& n) {
    Block block;
    for (const VarId var : stage.row_buffers) block.push_back(run_.function.body[run_.declarations.at(var)]);
    for (const std::size_t u : stage.units) block.push_back(of_operator(row_of(u, stage.grain, n), u));
    return block;
  }

  Stmt row_of(std::size_t u, Grain grain, const ExprRef& n) {
    const loops::Stage& stage = stage_of(run_, u, grain);
    tir::For loop = loop_of(run_, u, grain);
    const std::int64_t rows = stage.rows > 0 ? stage.rows : stage.iterations;
    const std::int64_t planes = *tir::as_int(*loop.extent) / (stage.by * rows);
    const std::string name = module_.var(loop.var).name;  // new variables move it
    ExprRef value = n;
    std::vector<std::pair<VarId, std::int64_t>> around;
    if (planes > 1) {
      const VarId plane = loops::fresh_var(module_, name + ".plane", int32_type);
      around.emplace_back(plane, planes);
      value =
          make_binary(ExprKind::add, make_binary(ExprKind::mul, tir::make_var(module_, plane), make_int(rows)), value);
    }
    if (stage.by > 1) {
      const VarId inner = loops::fresh_var(module_, name + ".inner", int32_type);
      around.emplace_back(inner, stage.by);
      value = make_binary(ExprKind::add, make_binary(ExprKind::mul, value, make_int(stage.by)),
                          tir::make_var(module_, inner));
    }
    // A loop around all of it, so that an iteration becomes one function and not one for each of its parts.
    if (around.empty() && loop.body.size() > 1) {
      loop.min = n;
      loop.extent = make_int(1);
      const VarId pixel = loops::fresh_var(module_, name, int32_type);
      loops::rename(loop.body, {{loop.var, tir::make_var(module_, pixel)}});
      loop.var = pixel;
      return {std::move(loop)};
    }
    loops::rename(loop.body, {{loop.var, value}});
    Block body = std::move(loop.body);
    for (std::size_t i = around.size(); i-- > 0;) {
      Block outer;
      outer.push_back({tir::For{around[i].first, make_int(0), make_int(around[i].second), std::move(body)}});
      body = std::move(outer);
    }
    Stmt only = std::move(body.front());
    return only;
  }

  // Indices and bounds in which a loop's variable has been replaced by a sum.
  void simplify(Block& block) const {
    arith::Facts facts(module_);
    for (Stmt& stmt : block) {
      loops::rewrite(stmt, facts, [&](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
        if (expr->kind == ExprKind::load && !expr->operands[0]->type.is_vector()) {
          ExprRef index = here.simplified(expr->operands[0]);
          if (index == expr->operands[0]) return nullptr;
          Expr copy = *expr;
          copy.operands[0] = std::move(index);
          return tir::make_expr(std::move(copy));
        }
        const bool is_index = expr->type == int32_type && tir::is_division(expr->kind);
        return is_index ? here.simplified(expr) : nullptr;
      });
    }
    const auto before = [](Block& inner, std::size_t& at, const arith::Facts& here) {
      auto* store = std::get_if<tir::Store>(&inner[at].node);
      auto* let = std::get_if<tir::Let>(&inner[at].node);
      if (let != nullptr && let->value->type == int32_type) let->value = here.simplified(let->value);
      if (store != nullptr && !store->index->type.is_vector()) store->index = here.simplified(store->index);
      return loops::Next::enter;
    };
    arith::Facts again(module_);
    loops::edit(block, again, {.before = before, .after = {}});
  }

  // Parameters, buffers and constants of what is there.
  void declare(const Block& work) {
    std::set<VarId> used;
    const auto use = [&](VarId var) { used.insert(var); };
    tir::for_each_stmt(work, [&](const Stmt& stmt) {
      if (const auto* store = std::get_if<tir::Store>(&stmt.node)) use(store->storage);
    });
    tir::for_each_expr_in(work, [&](const Expr& expr) {
      if (expr.kind == ExprKind::load) use(expr.var);
    });
    std::set<VarId> row_buffers;
    for (const RolledStage& stage : segment_.stages)
      row_buffers.insert(stage.row_buffers.begin(), stage.row_buffers.end());
    const auto [first, last] = run_.units_of(segment_.first_call, segment_.last_call);
    for (const VarId var : used) {
      if (row_buffers.contains(var)) continue;
      const auto storage = run_.storages.find(var);
      const bool is_known = storage != run_.storages.end();
      const bool is_passed = is_known && storage->second.outside &&
                             (storage->second.is_used_before || storage->second.first < first ||
                              storage->second.last >= last || storage->second.is_read_later);
      if (is_passed) {
        function_.params.push_back(run_.params.at(var));
        arguments_.push_back(*storage->second.outside);
        continue;
      }
      const auto declaration = run_.declarations.find(var);
      if (declaration == run_.declarations.end()) continue;  // of a block inside
      Stmt stmt = run_.function.body[declaration->second];
      if (auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) hold_rows(*allocate);
      function_.body.push_back(std::move(stmt));
    }
  }

  // Buffers are of the call that writes them first, constants of the one that reads them first.
  void note_operators() {
    std::map<VarId, std::size_t> operators;
    const auto units = run_.units_of(segment_.first_call, segment_.last_call);
    const std::size_t first = units.first;
    const std::size_t last = units.second;
    std::vector<loops::Accesses> accesses(last - first);
    for (std::size_t u = first; u < last; ++u) loops::add_accesses(statement(u), accesses[u - first]);
    const auto note = [&](const std::map<VarId, std::size_t> loops::Accesses::*side) {
      for (std::size_t u = first; u < last; ++u) {
        for (const auto& [var, count] : accesses[u - first].*side) {
          operators.emplace(var, run_.units[u].call - segment_.first_call);
        }
      }
    };
    note(&loops::Accesses::stores);
    note(&loops::Accesses::loads);
    tir::for_each_block(function_.body, [&](Block& block) {
      for (Stmt& stmt : block) {
        const auto set = [&](auto* declared) {
          if (declared == nullptr || !operators.contains(declared->var)) return;
          declared->row_operator = static_cast<std::uint32_t>(operators.at(declared->var) + 1);
        };
        set(std::get_if<tir::Allocate>(&stmt.node));
        set(std::get_if<tir::AllocateConst>(&stmt.node));
      }
    });
  }

  [[nodiscard]] bool is_by_pixels(std::size_t tensor) const {
    for (std::size_t s = 0; s < segment_.stages.size(); ++s) {
      const std::optional<RowSupply>& supply = segment_.chain.stages[s].supply;
      if (!supply || supply->tensor != tensor) continue;
      const RolledStage& stage = segment_.stages[s];
      return stage.grain != Grain::rows && run_.units[stage.units.front()].pixels.has_value();
    }
    return false;
  }

  void hold_rows(tir::Allocate& allocate) const {
    const auto found = segment_.tensors.find(allocate.var);
    if (found == segment_.tensors.end()) return;
    const std::optional<tir::Ring> ring = segment_.ring_of(found->second);
    if (!ring) return;
    const std::int64_t planes = *tir::element_count(allocate) / (ring->stride * ring->extent);
    allocate.extents = {make_int(planes * ring->rows * ring->stride)};
    allocate.ring = ring;
    allocate.ring->of_pixels = is_by_pixels(found->second);
  }

  tir::Module& module_;
  const CallRun& run_;
  const Segment& segment_;
  tir::Function function_;
  std::vector<VarId> arguments_;
};

}  // namespace

RolledFunction rolled_function(tir::Module& module, const CallRun& run, const Segment& segment) {
  return RolledBody(module, run, segment).build();
}

}  // namespace usmp::transform
