// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compiles the indices of a nest into flat programs.
#include "liveness/address_program.hpp"

#include <set>
#include <utility>

#include "usmp/tir/visit.hpp"

namespace usmp::liveness::addresses {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

// Conditions that guard one access: it happens whatever deeper ones say.
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

using Form = std::vector<std::uint64_t>;

void describe(const Access& access, Form& form) {
  form.push_back(access.storage);
  access.index.describe(form);
  form.push_back(static_cast<std::uint64_t>(access.element));
  form.push_back(access.guards.size());
  for (const Guard& guard : access.guards) form.push_back(2 * guard.condition + (guard.holds ? 1 : 0));
}

void describe(const std::vector<IndexProgram>& programs, Form& form) {
  form.push_back(programs.size());
  for (const IndexProgram& program : programs) program.describe(form);
}

// NOLINTNEXTLINE(misc-no-recursion): a level a block; the reader bounds those.
void describe(const std::vector<Statement>& statements, Form& form) {
  form.push_back(statements.size());
  for (const Statement& statement : statements) {
    form.push_back(static_cast<std::uint64_t>(statement.kind));
    form.push_back(statement.reads.size());
    for (const Access& access : statement.reads) describe(access, form);
    describe(statement.conditions, form);
    form.push_back(statement.write ? 1 : 0);
    if (statement.write) describe(*statement.write, form);
    form.push_back(statement.variable);
    describe(statement.values, form);
    describe(statement.body, form);
    describe(statement.else_body, form);
  }
}

}  // namespace

std::optional<Compiled> compile(const tir::For& nest) { return AddressCompiler().run(nest); }

Form form_of(const Compiled& compiled, const std::map<VarId, Bytes>& sizes, std::size_t most_groups) {
  Form form = {most_groups, compiled.storages.size()};
  for (std::size_t i = 0; i < compiled.storages.size(); ++i) {
    const auto size = sizes.find(compiled.storages[i]);
    form.push_back(size == sizes.end() ? ~std::uint64_t{0} : static_cast<std::uint64_t>(size->second));
    const std::optional<tir::DataType>& type = compiled.types[i];
    form.push_back(type ? 1 + (static_cast<std::uint64_t>(type->code) << 8U | std::uint64_t{type->bits} << 16U |
                               std::uint64_t{type->lanes} << 32U)
                        : 0);
  }
  describe(compiled.statements, form);
  return form;
}

}  // namespace usmp::liveness::addresses
