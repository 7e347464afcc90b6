// SPDX-License-Identifier: Apache-2.0
// A nest is compiled to statements whose expressions are flat programs, and these are run: loops with all their values
// as long as the groups last, the next one in as many chunks as are left, and what is inside at once, with intervals
// for the values of its variables. Tests: tests/liveness/distances_test.cpp.
#include "liveness/address_walk.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "liveness/index_program.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::liveness {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

// A condition of an if_then_else around an access: it happens only if that is so.
struct Guard {
  std::size_t condition = 0;  // index into Statement::conditions
  bool holds = true;

  friend auto operator<=>(const Guard&, const Guard&) = default;
};

struct Access {
  std::size_t storage = 0;  // number of the variable
  IndexProgram index;
  Bytes element = 1;
  std::vector<Guard> guards = {};
};

struct Statement {
  enum class Kind : std::uint8_t { leaf, let, loop, branch, repeat, block };
  Kind kind = Kind::leaf;
  std::vector<Access> reads;                  // by the statement's own expressions
  std::vector<IndexProgram> conditions = {};  // of if_then_else in these expressions
  std::optional<Access> write = {};           // leaf: a store
  std::uint32_t variable = 0;                 // let, loop
  std::vector<IndexProgram> values = {};      // let: its value; loop: min, extent; branch: condition
  std::vector<Statement> body = {};
  std::vector<Statement> else_body = {};
};

struct Compiled {
  std::vector<Statement> statements;
  std::vector<VarId> storages;
  std::vector<std::optional<tir::DataType>> types;  // by storage
  std::size_t variables = 0;
  std::size_t size = 0;  // instructions of all programs
};

// Of one access: deeper ones happen whatever the rest says.
constexpr std::size_t most_guards = 8;

class AddressCompiler {
 public:
  std::optional<Compiled> run(const tir::For& nest) {
    compile(nest, compiled_.statements);
    compiled_.variables = variables_.size();
    if (!is_followed_) return std::nullopt;
    return std::move(compiled_);
  }

 private:
  // NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
  std::vector<Statement> compile(const tir::Block& block) {
    std::vector<Statement> statements;
    for (const tir::Stmt& stmt : block) std::visit([&](const auto& node) { compile(node, statements); }, stmt.node);
    return statements;
  }

  void compile(const tir::For& s, std::vector<Statement>& statements) {
    Statement statement = statement_of(Statement::Kind::loop, {s.min, s.extent});
    statement.values.push_back(program(*s.min));
    statement.values.push_back(program(*s.extent));
    statement.variable = variables_.of(s.var);
    statement.body = compile(s.body);
    statements.push_back(std::move(statement));
  }

  void compile(const tir::While& s, std::vector<Statement>& statements) {
    Statement statement = statement_of(Statement::Kind::repeat, {s.condition});
    statement.body = compile(s.body);
    statements.push_back(std::move(statement));
  }

  void compile(const tir::IfThenElse& s, std::vector<Statement>& statements) {
    Statement statement = statement_of(Statement::Kind::branch, {s.condition});
    statement.values.push_back(program(*s.condition));
    statement.body = compile(s.then_body);
    statement.else_body = compile(s.else_body);
    statements.push_back(std::move(statement));
  }

  void compile(const tir::Scope& s, std::vector<Statement>& statements) {
    Statement statement = statement_of(Statement::Kind::block, {});
    statement.body = compile(s.body);
    statements.push_back(std::move(statement));
  }
  // NOLINTEND(misc-no-recursion)

  void compile(const tir::Let& s, std::vector<Statement>& statements) {
    Statement statement = statement_of(Statement::Kind::let, {s.value});
    // C cuts the value to the variable's type.
    Expr cut;
    cut.kind = ExprKind::cast;
    cut.type = s.value->type;
    cut.operands = {s.value};
    statement.values.push_back(program(cut));
    statement.variable = variables_.of(s.var);
    statements.push_back(std::move(statement));
  }

  void compile(const tir::Store& s, std::vector<Statement>& statements) {
    Statement statement = statement_of(Statement::Kind::leaf, {s.index, s.value, s.predicate});
    statement.write = access(s.storage, *s.index, s.value->type);
    statements.push_back(std::move(statement));
  }

  void compile(const tir::Evaluate& s, std::vector<Statement>& statements) { add_leaf({s.value}, statements); }
  void compile(const tir::Assert& s, std::vector<Statement>& statements) { add_leaf({s.condition}, statements); }

  void compile(const tir::Allocate& s, std::vector<Statement>& statements) {
    std::vector<ExprRef> exprs = s.extents;
    exprs.push_back(s.condition);
    add_leaf(exprs, statements);
  }

  void compile(const tir::AllocateConst& /*s*/, std::vector<Statement>& /*statements*/) {}

  void add_leaf(const std::vector<ExprRef>& exprs, std::vector<Statement>& statements) {
    Statement statement = statement_of(Statement::Kind::leaf, exprs);
    if (!statement.reads.empty()) statements.push_back(std::move(statement));
  }

  // With all loads of the expressions.
  Statement statement_of(Statement::Kind kind, const std::vector<ExprRef>& exprs) {
    Statement statement;
    statement.kind = kind;
    for (const ExprRef& root : exprs) {
      if (root) add_reads(*root, statement);
    }
    return statement;
  }

  // Shared expressions once for the same guards.
  void add_reads(const Expr& root, Statement& statement) {
    struct Place {
      const Expr* expr;
      std::vector<Guard> guards;
    };
    std::set<std::pair<const Expr*, std::vector<Guard>>> seen;  // looked up only
    std::vector<Place> pending = {{&root, {}}};
    while (!pending.empty()) {
      const Place place = std::move(pending.back());
      pending.pop_back();
      if (!seen.emplace(place.expr, place.guards).second) continue;
      const Expr& expr = *place.expr;
      const bool is_pointer = expr.kind != ExprKind::string_imm && expr.type.is_handle();
      if (is_pointer || expr.kind == ExprKind::let) is_followed_ = false;
      if (expr.kind == ExprKind::load) {
        statement.reads.push_back(access(expr.var, *expr.operands[0], expr.type));
        statement.reads.back().guards = place.guards;
      }
      const bool chooses = expr.kind == ExprKind::call && expr.op == tir::Op::if_then_else &&
                           expr.operands.size() == 3 && place.guards.size() < most_guards;
      if (chooses) statement.conditions.push_back(program(*expr.operands[0]));
      for (std::size_t i = 0; i < expr.operands.size(); ++i) {
        pending.push_back({expr.operands[i].get(), place.guards});
        if (chooses && i > 0) pending.back().guards.push_back({statement.conditions.size() - 1, i == 1});
      }
    }
  }

  Access access(VarId var, const Expr& index, tir::DataType type) {
    const auto [place, is_new] = numbers_.emplace(var, compiled_.storages.size());
    if (is_new) {
      compiled_.storages.push_back(var);
      compiled_.types.emplace_back(type.element());
    }
    std::optional<tir::DataType>& known = compiled_.types[place->second];
    if (known && *known != type.element()) known.reset();
    return {.storage = place->second, .index = program(index), .element = type.element_bytes()};
  }

  IndexProgram program(const Expr& expr) {
    IndexProgram program(expr, variables_);
    compiled_.size += program.size();
    return program;
  }

  Compiled compiled_;
  VariableNumbers variables_;
  std::map<VarId, std::size_t> numbers_;  // of storages
  bool is_followed_ = true;
};

class AddressWalk {
 public:
  AddressWalk(Compiled& compiled, const std::map<VarId, Bytes>& sizes, std::size_t most_groups)
      : compiled_(compiled), environment_(compiled.variables), left_(most_groups) {
    for (const VarId var : compiled.storages) {
      const auto size = sizes.find(var);
      sizes_.push_back(size == sizes.end() ? std::nullopt : std::optional(size->second));
      footprints_.push_back({.touches = {}, .type = compiled.types[sizes_.size() - 1]});
    }
  }

  std::map<VarId, Footprint> run() {
    walk(compiled_.statements, true);
    std::map<VarId, Footprint> result;
    for (std::size_t i = 0; i < footprints_.size(); ++i) {
      result.emplace(compiled_.storages[i], std::move(footprints_[i]));
    }
    return result;
  }

 private:
  // `in_order`: every variable has one value, so that accesses can be told apart. Otherwise a group is open.
  // NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
  void walk(std::vector<Statement>& statements, bool in_order) {
    std::vector<std::pair<std::uint32_t, IndexRange>> outside;
    for (Statement& statement : statements) {
      const bool repeats = statement.kind == Statement::Kind::loop || statement.kind == Statement::Kind::repeat;
      if (!repeats) touch_all(statement, in_order);
      switch (statement.kind) {
        case Statement::Kind::leaf:
          if (statement.write) touch(*statement.write, true);
          if (in_order) ++group_;
          break;
        case Statement::Kind::let:
          outside.emplace_back(statement.variable, environment_[statement.variable]);
          environment_[statement.variable] = statement.values.front().run(environment_);
          break;
        case Statement::Kind::loop:
          walk_loop(statement, in_order);
          break;
        case Statement::Kind::branch:
          walk_branch(statement, in_order);
          break;
        case Statement::Kind::repeat:
          touch_all(statement, false);
          walk(statement.body, false);
          if (in_order) ++group_;
          break;
        case Statement::Kind::block:
          walk(statement.body, in_order);
          break;
      }
    }
    for (; !outside.empty(); outside.pop_back()) environment_[outside.back().first] = outside.back().second;
  }

  void walk_branch(Statement& statement, bool in_order) {
    const IndexRange condition = statement.values.front().run(environment_);
    if (!is_never(condition, true)) walk(statement.body, in_order);
    if (!is_never(condition, false)) walk(statement.else_body, in_order);
  }

  void walk_loop(Statement& statement, bool in_order) {
    const IndexRange min = statement.values[0].run(environment_);
    const IndexRange extent = statement.values[1].run(environment_);
    const IndexRange outside = environment_[statement.variable];
    const auto last = min.is_known() && extent.is_known() ? checked_add(min.high, extent.high) : std::nullopt;
    // Its bounds are read all the same.
    if (extent.is_known() && extent.high <= 0) return touch_all(statement, in_order);
    const bool is_fixed = last && min.is_point() && extent.is_point() && statement.reads.empty();
    if (in_order && is_fixed && left_ > 1) {
      walk_values(statement, min.low, extent.low);
    } else {
      environment_[statement.variable] = last ? IndexRange{min.low, *last - 1} : IndexRange{};
      touch_all(statement, false);
      walk(statement.body, false);
      if (in_order) ++group_;
    }
    environment_[statement.variable] = outside;
  }

  // One by one, or in chunks if they are too many.
  void walk_values(Statement& statement, std::int64_t min, std::int64_t extent) {
    const std::size_t groups = left_;
    const auto most = static_cast<std::int64_t>(groups);
    const std::int64_t chunk = extent / most + (extent % most == 0 ? 0 : 1);
    left_ = chunk == 1 ? groups / static_cast<std::size_t>(extent) : 1;
    for (std::int64_t done = 0; done < extent;) {
      const std::int64_t count = std::min(chunk, extent - done);
      environment_[statement.variable] = {min + done, min + done + (count - 1)};
      walk(statement.body, chunk == 1);
      ++group_;
      done += count;
    }
    left_ = groups;
  }
  // NOLINTEND(misc-no-recursion)

  // In order, reads come before what the statement does next.
  void touch_all(Statement& statement, bool in_order) {
    for (Access& access : statement.reads) {
      const bool never = std::any_of(access.guards.begin(), access.guards.end(), [&](const Guard& guard) {
        return is_never(statement.conditions[guard.condition].run(environment_), guard.holds);
      });
      if (!never) touch(access, false);
    }
    if (in_order && !statement.reads.empty()) ++group_;
  }

  // Whether a condition of these values cannot be what it has to be.
  static bool is_never(const IndexRange& condition, bool holds) {
    return holds ? condition.low == 0 && condition.high == 0 : condition.low > 0 || condition.high < 0;
  }

  void touch(Access& access, bool writes) {
    const std::optional<Bytes> size = sizes_[access.storage];
    if (!size) return;
    const IndexRange index = access.index.run(environment_);
    Touch touch{.group = group_, .begin = 0, .end = *size, .writes = writes};
    const auto begin = index.is_known() ? checked_mul(index.low, access.element) : std::nullopt;
    const auto last = index.is_known() ? checked_mul(index.high, access.element) : std::nullopt;
    const auto end = last ? checked_add(*last, access.element) : std::nullopt;
    // No access is outside of its storage. Where all seem to be, something is not as it looks: it could be anywhere.
    const bool is_outside = begin && end && (*end <= 0 || *begin >= *size);
    if (begin && !is_outside) touch.begin = std::clamp<Bytes>(*begin, 0, *size);
    if (end && !is_outside) touch.end = std::clamp<Bytes>(*end, 0, *size);
    add(footprints_[access.storage].touches, touch);
  }

  static void add(std::vector<Touch>& touches, const Touch& touch) {
    for (std::size_t i = touches.size(); i-- > 0 && touches[i].group == touch.group;) {
      if (touches[i].writes != touch.writes) continue;
      touches[i].begin = std::min(touches[i].begin, touch.begin);
      touches[i].end = std::max(touches[i].end, touch.end);
      return;
    }
    touches.push_back(touch);
  }

  Compiled& compiled_;
  Environment environment_;
  std::vector<std::optional<Bytes>> sizes_;  // by storage; nothing: nobody asks
  std::vector<Footprint> footprints_;        // by storage
  std::size_t group_ = 0;
  std::size_t left_;  // groups that the loops at hand may make
};

}  // namespace

std::optional<std::map<VarId, Footprint>> walk_addresses(const tir::For& nest, const std::map<VarId, Bytes>& sizes,
                                                         std::size_t most_groups) {
  std::optional<Compiled> compiled = AddressCompiler().run(nest);
  if (!compiled) return std::nullopt;
  // Larger nests get fewer groups, so that none takes long.
  constexpr std::size_t most_work = 4'000'000;
  const std::size_t affordable = most_work / std::max<std::size_t>(compiled->size, 1);
  return AddressWalk(*compiled, sizes, std::clamp<std::size_t>(affordable, 1, most_groups)).run();
}

void OffsetBounds::add(const Footprint* born, const Footprint* dying) {
  static const Footprint nothing;
  const std::vector<Touch>& writes = (born == nullptr ? nothing : *born).touches;
  std::size_t next = 0;
  for (const Touch& access : (dying == nullptr ? nothing : *dying).touches) {
    for (; next < writes.size() && writes[next].group <= access.group; ++next) write(writes[next]);
    if (!written_ || access.begin >= access.end) continue;
    born_above_ = std::max(born_above_, access.end - written_->first);
    dying_above_ = std::max(dying_above_, written_->second - access.begin);
  }
  for (; next < writes.size(); ++next) write(writes[next]);
}

void OffsetBounds::write(const Touch& touch) {
  if (!touch.writes || touch.begin >= touch.end) return;
  if (!written_) written_ = {touch.begin, touch.end};
  written_ = {std::min(written_->first, touch.begin), std::max(written_->second, touch.end)};
}

}  // namespace usmp::liveness
