// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads statements one by one into a block of TIR; starts again where a variable turns out to be changed.
#include "tvm_c/body/body_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/called_names.hpp"
#include "tvm_c/body/callees.hpp"
#include "tvm_c/body/checks.hpp"
#include "tvm_c/body/guarded_texts.hpp"
#include "tvm_c/body/helper_reader.hpp"
#include "tvm_c/body/helpers.hpp"
#include "tvm_c/body/loop_header.hpp"
#include "tvm_c/body/memory_calls.hpp"
#include "tvm_c/body/nested_calls.hpp"
#include "tvm_c/body/outlined_call.hpp"
#include "tvm_c/body/packed.hpp"
#include "tvm_c/body/unpacked_params.hpp"
#include "tvm_c/body/variables.hpp"
#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;
using tir::Tree;
using tir::VarId;

constexpr std::string_view allocate_function = "TVMBackendAllocWorkspace";
constexpr std::int32_t tvms_failure = -1;

using Statements = std::span<const c::StmtId>;

// A block of C that is open.
struct Open {
  // rest: what stands in a loop behind a branch that goes on with the next iteration, up to the loop's end; likewise in
  // a function behind one that returns, if it is read in place of its call
  enum class Kind : std::uint8_t { function, loop, then, otherwise, braces, rest };
  Kind kind = Kind::function;
  bool has_braces = true;
  bool continues = false;  // then: its last statement is continue, or a return
};

// What __attribute__((aligned(4))) says, at the most. Throws SyntaxError for other words.
std::uint16_t alignment_of(const c::Decl& decl, const Expressions& code) {
  constexpr std::int64_t most = 4096;
  std::int64_t alignment = 1;
  const auto add = [&](std::uint32_t name) {
    const Token& number = code.token(name + 2);
    if (!code.token(name + 1).is("(")) fail_at(code.token(name + 1), "'('");
    if (number.kind != TokenKind::number || is_real(number)) fail_at(number, "an alignment in bytes, as a number");
    const std::int64_t bytes = integer_literal(number).value;
    if (bytes < 1 || bytes > most || !std::has_single_bit(static_cast<std::uint64_t>(bytes))) {
      fail_at(number, "an alignment that is a power of two up to " + std::to_string(most));
    }
    if (!code.token(name + 3).is(")")) fail_at(code.token(name + 3), "')'");
    alignment = std::max(alignment, bytes);
  };
  if (!decl.unknown.empty()) code.fail_undeclared(code.token(decl.unknown[0].begin));
  for (const c::TokenRange words : decl.attributes) {
    if (!code.token(words.begin).is("__attribute__")) code.fail_undeclared(code.token(words.begin));
    for (std::uint32_t i = words.begin; i < words.end; ++i) {
      if (code.token(i).is("aligned") || code.token(i).is("__aligned__")) add(i);
    }
  }
  return static_cast<std::uint16_t>(alignment);
}

// What the reader of a function and those of the functions that are read in place of calls in it have in common.
struct Reading {
  const FileScope& scope;
  const KeptPools& kept;
  const Limits& limits;
  tir::Module& module;
  ReadFunction& result;
  const Names& changing;  // variables that statements change
  Helpers* helpers;
  const Names& called_helpers;  // of them, what is beyond what is read
  const NestedTexts* nested;    // null: calls of operators stay calls
  const Names& called_nested;   // of them, as called_helpers
  tir::BodyBuilder body;
  Callees& callees;
  UsedConstants constants = {};
  std::vector<std::string> open = {};  // functions read in place of calls, the innermost last
  std::size_t bytes = 0;               // of them
  // Reads one more of them, inside of at most most_nested_deep.
  std::function<void(const FunctionText&, const std::vector<Value>&, NestedCall&)> read_inlined = {};
};

class BodyReader {
 public:
  BodyReader(const FunctionText& text, Reading& reading, const AddedStatements& added = {},
             std::span<const Outlined> outlined = {}, NestedCall* inlined = nullptr)
      : text_(text),
        added_(added.texts),
        outlined_(outlined),
        guarded_(text.file_text(), added.guarded),
        reading_(reading),
        inlined_(inlined),
        scope_(reading.scope),
        kept_(reading.kept),
        callees_(reading.callees),
        result_(reading.result),
        function_(reading.result.function),
        values_(reading.module, reading.limits.expression_depth),
        body_(reading.body),
        names_(text.file, scope_, reading.module, result_, values_, body_, reading.constants),
        unpacked_(scope_, names_),
        look_up_([this](std::string_view name) {
          require_known(name);
          return names_.look_up(name);
        }),
        code_(values_, look_up_),
        memory_(values_, names_, body_, code_, look_up_),
        changing_(reading.changing),
        helpers_(reading.helpers) {}

  // `has_pools`: those of TVM's are parameters like others.
  void read_params(const FunctionTree& code, bool has_pools = false) {
    code_.read(code);
    open(Open::Kind::function);
    is_packed_ = tvm_c::takes_packed(text_);
    if (is_packed_) {
      // The first are the arguments; the others say nothing that is needed.
      for (const c::DeclId param : code_.tree()[code_.tree()[code.function].type].params) {
        const c::Decl& decl = code_.tree()[param];
        names_.declare(code_.token(decl.at), decl.name == "args" ? packed_.arguments() : PackedState::other());
      }
      return;
    }
    for (const auto& [type, name] : params_of(code_)) {
      const bool is_storage = type.stars == 1;
      if (auto pool = pool_of_param(name.text); !has_pools && pool && is_storage && type.element == tir::uint8_type) {
        names_.declare_pool(name, std::move(*pool));
        continue;
      }
      const VarId var = names_.new_var(name.text, is_storage ? tir::handle_type : type.element, type.element);
      names_.declare(name, is_storage ? pointer_to(var, type.element) : values_.variable(var));
      if (is_storage) c_types_.emplace(name.text, type.element);
      tir::Param param;
      param.var = var;
      param.name = std::string(name.text);
      param.is_tensor = is_storage && !type.element.is_void();
      param.element = param.is_tensor ? type.element : tir::void_type;
      function_.params.push_back(std::move(param));
    }
  }

  void read_body() {
    read_statements();
    names_.insert_tables();
    unpacked_.insert_into(function_);
  }

  // In place of a call that passes these arguments.
  void read_inlined(const std::vector<Value>& arguments) {
    code_.read(callees_.tree_of(text_));
    open(Open::Kind::function);
    values_.at = text_.offset;
    const std::vector<CParam> params = params_of(code_);
    bind_params(params, arguments, values_, names_, body_);
    read_statements();
    if (!inlined_->has_returned) throw SyntaxError{text_.offset, "found no return at its end, expected one"};
  }

 private:
  using Kind = Open::Kind;

  // The function's statements; its own block is open.
  void read_statements() {
    const c::Stmt& body = code_[code_.tree()[code_.code().function].body];
    if (body.kind != c::StmtKind::block) {
      fail_at(code_.token(body.at),
              "statements that are understood, at most " + std::to_string(c::most_nested) + " inside each other");
    }
    const std::vector<c::TokenRange>& attributes = code_.tree().unheeded;
    if (!attributes.empty()) fail_at(code_.token(attributes[0].begin), "no attribute but of an array");
    statements(body.body);
    (void)close();
    if (texts_ != added_.size() + outlined_.size()) {
      throw SyntaxError{text_.offset, "found statements that stay inside of others, expected them beside those"};
    }
  }

  // --- Statements that stay as text ----------------------------------------------------------------------------------

  // If the empty statement stands for one.
  void keep_text(const Token& mark) {
    const auto text = std::ranges::find(added_, mark.offset, &AddedText::begin);
    const auto outlined =
        std::ranges::find(outlined_, mark.offset, [](const Outlined& one) { return one.place.begin; });
    const bool is_added = text != added_.end();
    if (!is_added && outlined == outlined_.end()) return;
    if (open_.size() != 1) fail_at(mark, "the end of the block");
    if (is_added) {
      keep(std::string(text_.file_text().substr(text->begin, text->end - text->begin)));
    } else {
      call_outlined(*outlined);
    }
    ++texts_;
  }

  void call_outlined(const Outlined& statement) {
    values_.at = statement.place.begin;
    for (const std::string& name : statement.names) {
      if (names_.look_up_own(name)) require_known(name);
    }
    for (const std::string& name : statement.sized) {  // of a parameter it is another one
      const auto value = names_.look_up_own(name);
      if (value && value->kind == Value::Kind::pointer && memory_.is_array(value->storage))
        values_.fail("found the size of array " + in_quotes(name) + ", expected a number");
    }
    OutlinedCall call = outlined_call(statement, names_, values_, c_types_);
    body_.evaluate(std::move(call.expr));
    result_.outlined.push_back(std::move(call.function));
  }

  void keep(std::string text) {
    body_.evaluate(tir::make_call(tir::int32_type, tir::Op::call_extern,
                                  {tir::make_string(tir::kept_text), tir::make_string(std::move(text))}));
  }

  // Under a condition of the model's, where it is all that stands there: of how many statements.
  std::size_t keep_guarded(Statements all) {
    const Token& first = code_.front(all.front());
    const GuardedText* text = open_.size() > 1 ? guarded_.at(first.offset) : nullptr;
    if (text == nullptr) return 0;
    if (!text->variable.empty()) fail_at(first, "no use of " + in_quotes(text->variable));
    keep(guarded_.text_of(*text));
    result_.guarded.push_back(text->place);
    const auto behind =
        std::ranges::find_if(all, [&](c::StmtId id) { return code_.front(id).offset >= text->place.end; });
    const Token& last = code_.token(code_[*std::prev(behind)].tokens.end - 1);
    if (last.offset >= text->place.end) fail_at(last, "the end of statements that stay");
    return static_cast<std::size_t>(behind - all.begin());
  }

  // What never happens.
  void drop_failure(const c::Stmt& check, const std::string& declared = {}) {
    require_no_else(code_, check);
    if (auto failure = guarded_.find(code_, check.body[0], false, declared)) {
      result_.dropped.push_back(*failure->text);
    } else if (const auto other = never_leaves(code_, check.body[0])) {
      fail_at(*other, other->is("return") ? "';'" : "'return'");
    }
  }

  // What is done if the check fails; it `leaves` the function, if it has to.
  OnFailure failure_in(const c::Stmt& check, bool leaves) {
    require_no_else(code_, check);
    if (auto code = guarded_.code_in(code_, check, {})) return {std::move(code)};
    if (auto kept = guarded_.find(code_, check.body[0], leaves)) return std::move(*kept);
    return {tir::make_int(expect_failure(code_, check.body[0]))};
  }

  // What an operator has returned, where a statement may be reached that finds it other than 0.
  void require_known(std::string_view name) const {
    if (!unknown_.contains(name)) return;
    values_.fail("found " + in_quotes(name) +
                 " behind a statement that does not leave the function where an operator " +
                 "fails, expected a return in that statement");
  }

  // --- Packed interface ----------------------------------------------------------------------------------------------

  // With the values that stand behind `first` arguments.
  void packed_call(const std::string& name, c::ExprId call, std::size_t first, OnFailure failure) {
    const Token& at = first == 0 ? code_.behind(code_.operand(call, 0)) : code_.at(call);
    if (!callees_.takes_packed(name)) {
      fail_at(at, "a call of a packed function that a C file of TVM's defines");
    }
    const std::vector<Value> given = code_.arguments(call, false, first);
    const auto count =
        given.size() >= 3 && given[2].kind == Value::Kind::number ? tir::as_int(*given[2].tree.expr) : std::nullopt;
    if (!count) fail_at(at, "the number of arguments of a packed call");
    const std::int64_t taken = callees_.packed_arguments(name);  // some of TVM's calls pass one more than they count
    checked_call(name, packed_.passed(given[0], std::max(*count, taken), at.offset), std::move(failure));
  }

  // --- Blocks --------------------------------------------------------------------------------------------------------

  void open(Kind kind) {
    open_.push_back({kind});
    names_.open_block();
  }

  // Whether it has ended with continue or a return.
  bool close() {
    const bool continues = open_.back().continues;
    names_.close_block();
    open_.pop_back();
    return continues;
  }

  // NOLINTBEGIN(misc-no-recursion): blocks of the source, which the parser limits; calls, at most most_nested_deep

  void statements(Statements all) {
    while (!all.empty()) all = all.subspan(statement(all));
  }

  // Those of the block that is open, or the one that it has without braces.
  void statements_of(c::StmtId id) {
    const c::Stmt& stmt = code_[id];
    open_.back().has_braces = stmt.kind == c::StmtKind::block;
    statements(open_.back().has_braces ? Statements(stmt.body) : Statements(&id, 1));
  }

  bool block(Kind kind, c::StmtId id) {
    open(kind);
    statements_of(id);
    return close();
  }

  void scope(c::StmtId id) {
    body_.open_scope();
    (void)block(Kind::braces, id);
    body_.close();
  }

  // --- Statements ----------------------------------------------------------------------------------------------------

  // Reads the first of them, and those that belong to it: how many.
  std::size_t statement(Statements all) {
    const c::StmtId id = all.front();
    const c::Stmt& stmt = code_[id];
    const Token& first = code_.front(id);
    values_.at = first.offset;
    if (const std::size_t count = keep_guarded(all); count > 0) return count;
    switch (stmt.kind) {
      case c::StmtKind::empty:
        keep_text(first);
        break;
      case c::StmtKind::block:
        scope(id);
        break;
      case c::StmtKind::for_loop:
        loop(stmt);
        break;
      case c::StmtKind::while_loop:
        while_loop(stmt);
        break;
      case c::StmtKind::if_else:
        return branch(stmt, all);
      case c::StmtKind::return_to:
        if (inlined_ != nullptr) {
          inlined_result(stmt, all);
        } else {
          result(stmt, all);
        }
        break;
      case c::StmtKind::break_out:
        fail_at(first, "no break: how often the loop runs is not known then");
      case c::StmtKind::continue_on:
        if (function_.is_entry) code_.fail_undeclared(first);
        continue_statement(first, all);
        break;
      case c::StmtKind::declaration:
      case c::StmtKind::expression:
        return plain_statement(stmt, all);
      case c::StmtKind::opaque:
        code_.fail_opaque(stmt);
      default:
        fail_at(first, "a statement of another kind");
    }
    return 1;
  }

  // A declaration or an expression.
  std::size_t plain_statement(const c::Stmt& stmt, Statements all) {
    if (all.size() > 1 && read_checked_result(stmt, code_[all[1]])) return 2;
    const bool is_expression = stmt.expr.valid();
    if (is_expression && (is_unused(stmt.expr) || read_memory_call(stmt.expr))) return 1;
    if (!is_expression) return declaration(stmt, all);
    expression(stmt.expr);
    return 1;
  }

  void expression(c::ExprId id) {
    const c::ExprId call = code_.without_void(id);
    if (const std::string name = called_name(code_, call, names_, scope_); !name.empty()) {
      return this->call(name, call, {});
    }
    const std::string other = inlined_ == nullptr ? other_name(code_, call, names_, function_.is_entry) : std::string();
    if (!other.empty() && call == id) return checked_call(other, code_.arguments(call, true), {});
    assignment(id);
  }

  // memcpy(q, p, 64); which the C may not define itself.
  bool read_memory_call(c::ExprId id) {
    const c::ExprId call = code_.without_void(id);
    const std::string_view name = code_.callee(call);
    if (function_.is_entry || !is_memory_function(name)) return false;
    if (scope_.functions.contains(name) || names_.look_up(name)) return false;
    memory_.read(call, [this](VarId var) {
      const auto is_it = [&](const tir::Param& param) { return param.var == var; };
      return unpacked_.contains(var) || std::any_of(function_.params.begin(), function_.params.end(), is_it);
    });
    return true;
  }

  // At the end of a branch of a loop's own block: if (p[i] == 0) { q[i] = 0; continue; }
  void continue_statement(const Token& at, Statements all) {
    const std::size_t depth = open_.size();
    const bool is_in_loop = depth >= 2 && open_[depth - 1].kind == Kind::then && open_[depth - 2].has_braces &&
                            (open_[depth - 2].kind == Kind::loop || open_[depth - 2].kind == Kind::rest);
    if (!is_in_loop || all.size() > 1) {
      fail_at(at, "continue as the last statement of a branch in the loop's own block");
    }
    open_.back().continues = true;
  }

  // (void)p0;
  bool is_unused(c::ExprId id) {
    const std::string_view name = code_.name_of(code_.without_void(id));
    return code_.without_void(id) != id && !name.empty() && names_.look_up(name).has_value();
  }

  // int ret = f(…); if (ret != 0) return ret; or if ((ret = f(…)) != 0) return ret; where the check may be the
  // statement.
  bool read_checked_result(const c::Stmt& stmt, const c::Stmt& check) {
    if (inlined_ != nullptr || check.kind != c::StmtKind::if_else || !open_.back().has_braces) return false;
    const bool is_condition = &stmt == &check;
    c::ExprId tested = check.expr;  // the assignment, or the variable
    if (code_[tested].kind == c::ExprKind::binary) tested = code_.operand(tested, 0);
    const c::ExprId assigned = is_condition ? tested : stmt.expr;
    c::ExprId call;
    Token name;
    DataType status = tir::void_type;
    if (assigned.valid()) {
      if (code_[assigned].kind != c::ExprKind::assign || code_[assigned].text != "=") return false;
      if (is_condition && !code_.has_brackets(assigned)) return false;
      name = code_.at(code_.operand(assigned, 0));
      call = code_.operand(assigned, 1);
      // Behind the block, the variable has to be what it is then.
      const auto known = code_.name_of(code_.operand(assigned, 0)).empty() ? std::nullopt : names_.look_up(name.text);
      const bool is_variable = known && (known->kind == Value::Kind::number || known->kind == Value::Kind::place);
      if (is_variable && (is_zero(*known) || open_.size() == 1)) status = known->type;
    } else if (stmt.decls.size() == 1 && code_.tree()[stmt.decls[0]].init.valid()) {
      const c::Decl& decl = code_.tree()[stmt.decls[0]];
      name = code_.token(decl.at);
      call = decl.init;
      const auto type =
          decl.unknown.empty() && decl.storage == c::Storage::none ? known_type(code_.tree(), decl.type) : std::nullopt;
      if (type && type->stars == 0) status = type->element;
    }
    if (!status.is_int()) return false;
    const bool is_narrow = status.bits < 32;  // 256 is 0 there
    const std::string callee = called_name(code_, call, names_, scope_);
    if (callee.empty() || !check.other.empty()) return false;
    if (!is_condition && code_.name_of(tested) != name.text) return false;
    const bool never_fails = callees_.always_returns(callee);
    if (!asks_not_zero(code_, check.expr, tested, never_fails)) return false;
    const std::string declared = tir::to_string(status) + "_t " + std::string(name.text);
    std::optional<OnFailure> failure;
    bool is_unknown = false;
    if (never_fails) {
      drop_failure(check, declared);
      failure = OnFailure{tir::make_int(tvms_failure)};
    } else if (auto code = is_narrow ? nullptr : guarded_.code_in(code_, check, name.text)) {
      failure = OnFailure{std::move(code)};
    } else {
      failure = guarded_.find(code_, check.body[0], true, declared, is_narrow);
      is_unknown = !failure;  // behind what does not leave
      if (!failure) failure = guarded_.find(code_, check.body[0], false, declared, is_narrow);
    }
    if (!failure) return false;
    this->call(callee, call, std::move(*failure));
    if (is_unknown) unknown_.emplace(name.text);
    if (!is_unknown && open_.size() == 1) unknown_.erase(std::string(name.text));
    names_.declare(name, Values::number(values_.converted(Values::number({tir::make_int(0)}), status)));
    return true;
  }

  static bool is_zero(const Value& value) {
    return value.kind == Value::Kind::number && tir::as_int(*value.tree.expr) == 0;
  }

  // for (int32_t i = a; i < b; ++i)
  void loop(const c::Stmt& stmt) {
    const OpenedLoop opened = open_loop(stmt, code_, values_, names_, body_);
    open(Kind::loop);
    names_.declare(opened.name, opened.counter);
    statements_of(stmt.body[0]);
    (void)close();
    body_.close();
  }

  // while (1) { if (!(c)) { break; } … }
  void while_loop(const c::Stmt& stmt) {
    Tree condition = values_.condition(code_.evaluate(stmt.expr));
    const bool is_endless = tir::as_int(*condition.expr).value_or(0) != 0;
    if (!is_endless) {
      body_.open_while(condition.expr);
      (void)block(Kind::loop, stmt.body[0]);
      return body_.close();
    }
    const c::Stmt& inside = code_[stmt.body[0]];
    const auto is_break = [&](c::StmtId id) {
      const c::Stmt& block = code_[id];
      return block.kind == c::StmtKind::block && block.body.size() == 1 &&
             code_[block.body[0]].kind == c::StmtKind::break_out;
    };
    const bool has_end = inside.kind == c::StmtKind::block && !inside.body.empty() &&
                         code_[inside.body[0]].kind == c::StmtKind::if_else &&
                         is_break(code_[inside.body[0]].body[0]) && code_[inside.body[0]].other.empty();
    if (!has_end) fail_at(code_.front(stmt.body[0]), "{ if (condition) { break; } in front of what the loop does");
    const Value leaves = code_.evaluate(code_[inside.body[0]].expr);
    condition = values_.condition(values_.unary("!", leaves));
    body_.open_while(condition.expr);
    open(Kind::loop);
    statements(Statements(inside.body).subspan(1));
    (void)close();
    body_.close();
  }

  // `all` begins with it.
  std::size_t branch(const c::Stmt& stmt, Statements all) {
    if (read_checked_result(stmt, stmt)) return 1;
    if (inlined_ == nullptr && read_look_up(code_, stmt, packed_)) return 1;
    if (read_nested_check(stmt)) return 1;
    if (const auto condition = nested_condition(stmt)) return branch_on(*condition, stmt, all);
    if (const auto call = leading_call(code_, stmt.expr); call && read_check(stmt, *call)) return 1;
    if (const auto tested = tested_pointers(stmt.expr)) {
      null_check(*tested, stmt);
      return 1;
    }
    const Value tested = code_.evaluate(stmt.expr);
    if (tested.kind != Value::Kind::record) return branch_on(tested, stmt, all);
    require_no_else(code_, stmt);
    expect_packed_check(code_, stmt);
    return 1;
  }

  // if (f(…) != 0) return -1; False: the function is part of an expression.
  bool read_check(const c::Stmt& stmt, c::ExprId call) {
    if (inlined_ == nullptr && code_.callee(call) == "TVMFuncCall") {
      const auto operands = code_.tree().operands_of(call);
      const std::string_view variable = operands.size() > 1 ? code_.name_of(operands[1]) : std::string_view();
      const auto found = packed_.looked_up.find(variable);
      if (found == packed_.looked_up.end()) {
        fail_at(code_.token(code_[operands[0]].tokens.end + 1), "a function that TVMBackendGetFuncFromEnv has found");
      }
      packed_call(found->second, call, 1, {tir::make_int(tvms_failure)});
      expect_not_zero(code_, stmt.expr, call, false);
      require_no_else(code_, stmt);
      if (expect_failure(code_, stmt.body[0]) != tvms_failure) {
        fail_at(code_.at(call), "a packed call whose failure returns -1");
      }
      return true;
    }
    std::string name = called_name(code_, call, names_, scope_);
    const bool is_known = !name.empty();
    // Its failure would leave the function around the one that is read in place of a call.
    if (is_known && inlined_ != nullptr && name != free_function) fail_at(code_.at(call), "a call of an operator");
    const c::StmtKind kind = code_[stmt.body[0]].kind;
    const bool is_check = function_.is_entry && asks_not_zero(code_, stmt.expr, call, false) &&
                          (kind == c::StmtKind::return_to || kind == c::StmtKind::block);
    if (!is_known && is_check) name = other_name(code_, call, names_, true);
    if (name.empty()) return false;
    const bool never_fails = is_known && callees_.always_returns(name);
    require_no_else(code_, stmt);
    expect_not_zero(code_, stmt.expr, call, never_fails);
    OnFailure failure{tir::make_int(failure_of(code_, stmt.body[0]).value_or(tvms_failure))};
    if (never_fails) {
      drop_failure(stmt);
    } else {
      failure = failure_in(stmt, false);
    }
    if (is_known) {
      this->call(name, call, std::move(failure));
    } else {
      checked_call(name, code_.arguments(call, true), std::move(failure));
    }
    return true;
  }

  std::size_t branch_on(const Value& tested, const c::Stmt& stmt, Statements all) {
    const Tree condition = values_.condition(tested);
    const auto constant = function_.is_entry ? std::nullopt : tir::as_int(*condition.expr);
    if (constant == 0 && stmt.other.empty() && !never_leaves(code_, stmt.body[0])) return 1;
    const bool is_block = code_[stmt.body[0]].kind == c::StmtKind::block;
    if (constant == 1 && is_block && inlined_ == nullptr && stmt.other.empty()) {  // which a return would not leave
      scope(stmt.body[0]);
      return 1;
    }
    body_.open_branch(condition.expr);
    const bool leaves = block(Kind::then, stmt.body[0]);
    if (leaves && !stmt.other.empty()) fail_at(code_.behind(stmt.body[0]), "no else behind what leaves");
    if (leaves || !stmt.other.empty()) body_.open_else();
    if (leaves) {
      open(Kind::rest);
      statements(all.subspan(1));
      (void)close();
    } else if (!stmt.other.empty()) {
      (void)block(Kind::otherwise, stmt.other[0]);
    }
    body_.close();
    return leaves ? all.size() : 1;
  }

  // --- Operators that operators call ---------------------------------------------------------------------------------

  // The name of one whose statements may be read in place of the call; empty: it is something else.
  std::string nested_name(std::optional<c::ExprId> call) {
    if (!call || reading_.nested == nullptr || function_.is_entry || is_packed_) return {};
    const std::string name = called_name(code_, *call, names_, scope_);
    return is_nested(name) ? name : std::string();
  }

  [[nodiscard]] bool is_nested(const std::string& name) const {
    return reading_.nested != nullptr && !function_.is_entry && !is_packed_ && name.starts_with("tvmgen_") &&
           scope_.functions.contains(name) && !callees_.takes_packed(name);
  }

  // Whether the call would say less than the statements: of what becomes of memory that TVM has planned; or a function
  // that returns early is not read.
  [[nodiscard]] bool says_less(const std::string& name, c::ExprId call) const {
    if (inlined_ != nullptr || reading_.called_nested.contains(name)) return false;
    return passes_pool(call) || !callees_.returns_once(name);
  }

  // Reads statements in place of a call; if that is beyond what is read, it is called.
  template <class Read>
  void tried(const std::string& name, const Read& read) {
    try {
      return read();
    } catch (const SyntaxError&) {  // told where that function is read
    } catch (const Error&) {        // too deep
    }
    throw NestedNotRead{name};
  }

  // if (f(…) != 0) return -1; False: it is something else, or it is called.
  bool read_nested_check(const c::Stmt& stmt) {
    const auto call = leading_call(code_, stmt.expr);
    const std::string name = nested_name(call);
    if (name.empty() || !is_check(code_, stmt, *call, callees_.always_returns(name)) || !says_less(name, *call))
      return false;
    tried(name, [&] {
      const Value value = nested_call(name, *call);
      expect_not_zero(code_, stmt.expr, *call, is_zero(value));
      if (is_zero(value)) return;
      tir::ExprRef code = tir::make_int(expect_failure(code_, stmt.body[0]));
      body_.evaluate(tir::make_call(tir::int32_type, tir::Op::tvm_check_return,
                                    {tir::make_int(0), std::move(code), values_.rvalue(value).expr}));
    });
    return true;
  }

  // One of the arguments is memory that TVM has planned.
  [[nodiscard]] bool passes_pool(c::ExprId call) const {
    const std::span all = std::span(code_.code().tokens).first(code_[call].tokens.end);
    return std::ranges::any_of(all.subspan(code_[call].tokens.begin), [&](const Token& token) {
      const auto value = token.is_identifier() ? names_.look_up_own(token.text) : std::nullopt;
      return value && value->kind == Value::Kind::pool;
    });
  }

  // f(…) == 0, if that is no check as TVM's, which leaves the operator, too.
  std::optional<Value> nested_condition(const c::Stmt& stmt) {
    const bool is_negated = code_.is_prefix(stmt.expr, "!");
    const c::ExprId asked = is_negated ? code_.operand(stmt.expr, 0) : stmt.expr;
    constexpr std::array<std::string_view, 6> comparisons = {"==", "!=", "<", "<=", ">", ">="};
    const bool is_comparison = code_[asked].kind == c::ExprKind::binary &&
                               std::ranges::find(comparisons, code_[asked].text) != comparisons.end();
    const auto call = leading_call(code_, code_.has_brackets(asked) && is_comparison ? code_.operand(asked, 0) : asked);
    const std::string name = nested_name(call);
    if (name.empty()) return std::nullopt;
    const bool is_plain = !is_negated && !code_.has_brackets(asked) && inlined_ == nullptr;
    if (is_plain && is_check(code_, stmt, *call, callees_.always_returns(name))) return std::nullopt;
    if (asked != *call && (!is_comparison || code_.operand(asked, 0) != *call)) {
      c::ExprId test = asked;
      while (code_.operand(test, 0) != *call && code_.operand(code_.operand(test, 0), 0) != *call)
        test = code_.operand(test, 0);
      fail_at(code_.at(test), "')'");
    }
    Value value = nested_call(name, *call);
    if (asked != *call) {
      const c::ExprId number = code_.operand(asked, 1);
      const auto other = code_.literal(number);
      if (!other) fail_at(code_.front(number), "a number");
      values_.at = code_.at(asked).offset;
      value = values_.binary(code_[asked].text, value, Values::number({tir::make_int(*other)}));
    }
    return is_negated ? values_.unary("!", value) : value;
  }

  // A value that a variable gets: f(…), or an expression.
  Value value_of(c::ExprId id, bool* is_nested = nullptr) {
    const auto call = leading_call(code_, id);
    const std::string name = nested_name(call);
    if (is_nested != nullptr) *is_nested = !name.empty();
    if (name.empty()) return code_.evaluate(id);
    if (*call != id) fail_at(code_.behind(*call), "';'");
    return nested_call(name, *call);
  }

  // What the function returns.
  Value nested_call(const std::string& name, c::ExprId id) {
    const Token& at = code_.token(code_[code_.operand(id, 0)].tokens.end);
    const std::vector<Value> arguments = code_.arguments(id);
    const FunctionText& text = scope_.functions.find(name)->second;
    NestedCall call;
    call.origin = inlined_ != nullptr ? inlined_->origin : at.offset;
    call.result = pointer_to(names_.new_var("result", tir::handle_type, tir::int32_type), tir::int32_type);
    call.result.kind = Value::Kind::place;
    call.result.tree = {tir::make_int(0)};
    body_.allocate(call.result.storage, tir::int32_type, {}, nullptr, {}, true);
    const auto fail = [&](std::size_t offset, const std::string& message) {
      throw SyntaxError{at.offset, "found a call of " + in_quotes(name) + ", which is not read (" +
                                       reading_.nested->place(text.file, offset) + ": " + message + "), expected if (" +
                                       name + "(…) != 0) return -1;"};
    };
    try {
      const bool is_open = std::ranges::find(reading_.open, name) != reading_.open.end();
      if (is_open) throw SyntaxError{text.offset, "found a function that calls itself, expected none"};
      reading_.bytes += text.body_text.size();
      if (reading_.open.size() == most_nested_deep || reading_.bytes > most_nested_bytes) {
        throw SyntaxError{text.offset, "found more calls of operators by operators than are read, expected at most " +
                                           std::to_string(most_nested_deep) + " inside each other, and " +
                                           std::to_string(most_nested_bytes) + " bytes of what they do"};
      }
      reading_.nested->require_plain(name, text);
      reading_.open.push_back(name);
      body_.open_scope();
      reading_.read_inlined(text, arguments, call);
      body_.close();
      reading_.open.pop_back();
    } catch (const SyntaxError& error) {
      fail(error.offset, error.message);
    } catch (const ChangedVariable& variable) {
      if (!changing_.contains(variable.name)) throw;
      fail(variable.offset, "found " + in_quotes(variable.name) + " changed, expected an element of storage");
    }
    result_.inlined.insert(name);
    return call.is_zero ? Values::number({tir::make_int(0)}) : call.result;
  }

  // return -1; at the end of a branch of the function's own block, or of the function.
  void inlined_result(const c::Stmt& stmt, Statements all) {
    if (!stmt.expr.valid()) fail_at(code_.token(stmt.tokens.end - 1), "an expression");
    const Value value = value_of(stmt.expr);
    const auto is_own = [](const Open& block) { return block.kind == Kind::function || block.kind == Kind::rest; };
    const bool is_last = all.size() == 1;
    const bool is_end = is_last && std::ranges::all_of(open_, is_own);
    const bool is_branch =
        is_last && open_.size() >= 2 && open_.back().kind == Kind::then && is_own(open_[open_.size() - 2]);
    if (!is_end && !is_branch) {
      fail_at(code_.token(stmt.tokens.begin), "a return at the end of the function, or of a branch in its own block");
    }
    inlined_->is_zero = inlined_->is_zero && is_zero(value);
    if (!is_end || !inlined_->is_zero) store(inlined_->result, value);
    inlined_->has_returned = inlined_->has_returned || is_end;
    open_.back().continues = !is_end;
  }

  // NOLINTEND(misc-no-recursion)

  // x == NULL || …, of pointers that are what their names say.
  std::optional<std::vector<VarId>> tested_pointers(c::ExprId condition) {
    std::vector<VarId> tested;
    for (const std::string_view name : null_tests(code_.tree(), condition)) {
      const auto value = names_.look_up(name);
      if (!value || value->kind != Value::Kind::pointer) return std::nullopt;
      if (is_param(value->storage) && value->tree.expr != nullptr) return std::nullopt;
      tested.push_back(value->storage);
    }
    return tested.empty() ? std::nullopt : std::optional(std::move(tested));
  }

  [[nodiscard]] bool is_param(VarId var) const {
    return std::any_of(function_.params.begin(), function_.params.end(),
                       [&](const tir::Param& param) { return param.var == var; }) ||
           unpacked_.contains(var);
  }

  // Workspace is always there. Whether the caller passes something is asked as before.
  void null_check(const std::vector<VarId>& tested, const c::Stmt& check) {
    std::vector<VarId> params;
    std::copy_if(tested.begin(), tested.end(), std::back_inserter(params), [&](VarId var) { return is_param(var); });
    if (params.empty()) return drop_failure(check);
    if (inlined_ != nullptr) values_.fail("found a parameter of the caller compared with NULL, expected none");
    const OnFailure failure = failure_in(check, false);
    std::vector<tir::ExprRef> conditions;
    for (const VarId var : params) {
      tir::ExprRef is_null = tir::make_call(tir::bool_type, tir::Op::isnullptr, {values_.variable(var).tree.expr});
      if (failure.text && !conditions.empty()) {  // a text stands once, with what it declares
        conditions[0] = tir::make_binary(tir::ExprKind::or_, std::move(conditions[0]), std::move(is_null));
      } else {
        conditions.push_back(std::move(is_null));
      }
    }
    if (failure.text) result_.guarded.push_back(*failure.text);
    for (tir::ExprRef& condition : conditions) {
      body_.evaluate(
          tir::make_call(tir::int32_type, tir::Op::tvm_check_return,
                         {tir::make_int(0), failure.code, tir::make_cast(tir::int32_type, std::move(condition))}));
    }
  }

  // return 0; and return f(…); at the end of the function.
  void result(const c::Stmt& stmt, Statements all) {
    if (stmt.expr.valid()) {
      const std::string name = called_name(code_, stmt.expr, names_, scope_);
      if (!name.empty()) {
        call(name, stmt.expr, {callees_.always_returns(name) ? tir::make_int(tvms_failure) : tir::make_own_code()});
      } else {
        const std::string_view variable = code_.name_of(stmt.expr);
        const auto value = variable.empty() ? std::nullopt : look_up_(variable);  // what read_checked_result leaves
        const bool is_end = (value && is_zero(*value)) || code_.is_number(stmt.expr, "0");
        if (!is_end) fail_at(code_.front(stmt.expr), "'0'");
      }
    }
    const bool is_last = open_.size() == 1 && all.size() == 1;
    if (!is_last) fail_at(code_.token(stmt.tokens.begin), "one return, at the end of the function");
  }

  // (1, 0, sid_1), which planned C does not: TVM's allocator has not given it.
  void give_back(c::ExprId call) {
    const c::ExprId last = without_casts(code_.tree(), code_.tree().operands_of(call).back());
    const std::string_view name = code_.name_of(last);
    const auto value = name.empty() ? std::nullopt : names_.look_up_own(name);
    if (!value || value->kind != Value::Kind::pointer || is_param(value->storage)) {
      fail_at(code_.at(last), "workspace that the function has taken itself");
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): as above
  void call(const std::string& name, c::ExprId id, OnFailure failure) {
    if (name == free_function) return give_back(id);
    const auto defined = scope_.functions.find(name);
    if (callees_.takes_packed(name)) {
      if (failure.code == nullptr) failure.code = tir::make_int(tvms_failure);
      return packed_call(name, id, 0, std::move(failure));
    }
    if (failure.code == nullptr && is_nested(name)) {
      if (inlined_ != nullptr) return (void)nested_call(name, id);
      if (says_less(name, id)) return tried(name, [&] { (void)nested_call(name, id); });
    }
    if (inlined_ != nullptr && (name.starts_with("tvmgen_") || defined == scope_.functions.end())) {
      fail_at(code_.behind(code_.operand(id, 0)), "a call of a function that a C file of the model defines");
    }
    const bool is_outside = function_.is_entry && defined == scope_.functions.end() && !scope_.foreign.contains(name);
    const std::vector<Value> arguments = code_.arguments(id, is_outside);
    if (failure.code != nullptr || !is_read_helper(name)) return checked_call(name, arguments, std::move(failure));
    const NewVar new_var = [this](std::string_view of, DataType type, DataType element) {
      return names_.new_var(of, type, element);
    };
    read_helper_call(*helpers_, name, defined->second.file, arguments, values_, new_var, body_);
  }

  // Whether the function's statements are read in place of the call.
  [[nodiscard]] bool is_read_helper(const std::string& name) const {
    const auto function = scope_.functions.find(name);
    return helpers_ != nullptr && !function_.is_entry && !name.starts_with("tvmgen_") &&
           !reading_.called_helpers.contains(name) && function != scope_.functions.end() &&
           !scope_.doubts.contains(name);
  }

  void checked_call(const std::string& name, const std::vector<Value>& given, OnFailure failure) {
    if (failure.code == nullptr && callees_.may_fail(name)) {
      result_.unasked.emplace(name, inlined_ != nullptr ? inlined_->origin : values_.at);
    }
    std::vector<tir::ExprRef> arguments = {tir::make_string(name)};
    const auto kept = kept_.find(name);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Value& argument = given[i];
      if (argument.kind != Value::Kind::pool) {
        const bool is_helper = !function_.is_entry && !name.starts_with("tvmgen_");
        arguments.push_back((is_helper ? values_.handed_argument(argument) : values_.argument(argument)).expr);
      } else if (kept != kept_.end() && i < kept->second.size() && kept->second[i]) {
        const PoolParam& used = *kept->second[i];
        const auto start = used.is_whole ? names_.start_of(argument.pool, given) : std::nullopt;
        arguments.push_back(values_.argument(start ? *start : names_.scratch(argument.pool, used)).expr);
      } else if (kept != kept_.end() || !scope_.functions.contains(name)) {
        throw Error(ErrorKind::archive, {},
                    "passes pool " + in_quotes(argument.pool) + " to " + in_quotes(name) +
                        ", and what that uses of it is not known: expected a C file that defines " + in_quotes(name) +
                        " and takes addresses as (&(pool[offset])); with functions of other names than tvmgen_…, it "
                        "has to begin with '// tvm target: c'");
      }
    }
    tir::ExprRef result = tir::make_call(tir::int32_type, tir::Op::call_extern, std::move(arguments));
    if (failure.text) result_.guarded.push_back(*failure.text);
    if (failure.code != nullptr) {
      result = tir::make_call(tir::int32_type, tir::Op::tvm_check_return,
                              {tir::make_int(0), std::move(failure.code), std::move(result)});
    }
    body_.evaluate(std::move(result));
    result_.called.push_back(name);
  }

  // `all` begins with it. Of how many of them.
  std::size_t declaration(const c::Stmt& stmt, Statements all) {
    if (stmt.decls.empty()) code_.fail_undeclared(code_.token(stmt.tokens.begin));
    const CType first = declarator(code_.tree()[stmt.decls[0]]);
    const bool is_number = first.stars == 0 && !first.element.is_void();
    for (const c::DeclId id : std::span(stmt.decls).subspan(1)) {
      const c::Decl& decl = code_.tree()[id];
      if (!is_number) fail_at(code_.token(decl.declarator.begin - 1), "';'");
      if (code_.tree()[decl.type].kind == c::TypeKind::pointer) fail_at(code_.token(decl.declarator.begin), "a name");
      (void)declarator(decl);
    }
    const bool is_record = first.stars == 0 && first.element.is_void();
    return is_record && all.size() > 1 && declare_type_code(code_[all[1]]) ? 2 : 1;
  }

  // int ret_type_code; behind TVMValue ret_val;
  bool declare_type_code(const c::Stmt& stmt) {
    if (stmt.kind != c::StmtKind::declaration || stmt.decls.size() != 1) return false;
    const c::Decl& decl = code_.tree()[stmt.decls[0]];
    const auto type = known_type(code_.tree(), decl.type);
    if (!type || type->stars > 0 || !type->element.is_int() || decl.init.valid()) return false;
    names_.declare(code_.token(decl.at), PackedState::other());
    return true;
  }

  // Its type; of an array, that of its elements.
  CType declarator(const c::Decl& decl) {
    const Token& name = code_.token(decl.at);
    const c::Type& own = code_.tree()[decl.type];
    const bool is_array = own.kind == c::TypeKind::array;
    if (!is_array) code_.require_plain(decl);
    const CType type = code_.type(is_array ? own.of : decl.type, decl.tokens.begin);
    if (is_array) {
      array(decl, type);
    } else if (type.stars > 0) {
      if (!decl.init.valid()) fail_at(code_.token(decl.declarator.end), "'='");
      if (type.stars > 1) fail_at(name, "a pointer to numbers");
      if (open_.size() == 1) c_types_[std::string(name.text)] = type.element;
      pointer(name, type, decl.init);
    } else if (type.element.is_void()) {
      if (decl.init.valid()) fail_at(code_.token(decl.declarator.end), "';'");
      names_.declare(name, packed_.array());
    } else if (decl.init.valid()) {
      number(name, type.element, decl.init);
    } else {
      (void)declare_variable(name, type.element, names_, body_);
    }
    return type;
  }

  void number(const Token& name, DataType type, c::ExprId init) {
    bool is_nested = false;
    const Value given = value_of(init, &is_nested);
    if (given.kind == Value::Kind::record) return names_.declare(name, PackedState::other());
    const Tree value = values_.converted(given, type);
    if (is_nested && is_zero(given) && !changing_.contains(name.text)) {
      return names_.declare(name, Values::number(value));
    }
    if (changing_.contains(name.text)) {
      const Value place = declare_variable(name, type, names_, body_);
      body_.add({place.storage, place.tree.expr, value.expr, nullptr});
      return;
    }
    const VarId var = names_.new_var(name.text, type, tir::void_type);
    body_.let(var, value.expr);
    names_.declare(name, values_.variable(var));
  }

  void pointer(const Token& name, CType type, c::ExprId init) {
    const c::ExprId taken = code_[init].kind == c::ExprKind::cast ? code_.operand(init, 0) : init;
    if (code_.callee(taken) == allocate_function) return workspace(name, type, taken);
    if (names_.planned(code_, init, name)) {
      Value& value = names_.declared(name);
      values_.at = name.offset;
      value = values_.cast(type, value);
      return;
    }
    const Value value = code_.evaluate(init);
    if (const auto argument = PackedState::argument_of(value)) return unpacked_.add(name, type, *argument);
    values_.at = name.offset;
    names_.declare(name, fixed_pointer(values_.cast(type, value), names_, values_, body_));
  }

  // (device type, device, bytes, type code, bits)
  void workspace(const Token& name, CType type, c::ExprId call) {
    const std::vector<Value> arguments = code_.arguments(call);
    std::array<std::int64_t, 5> numbers{};
    bool are_literals = arguments.size() == numbers.size();
    for (std::size_t i = 2; are_literals && i < numbers.size(); ++i) {
      const auto number = tir::as_int(*values_.rvalue(arguments[i]).expr);
      are_literals = number.has_value();
      numbers[i] = number.value_or(0);
    }
    if (!are_literals) fail_at(name, "workspace of a constant number of bytes, with a type code and bits");
    DataType element = tir::uint8_type;
    if (numbers[3] >= 0 && numbers[3] <= 2 && numbers[4] >= 8 && numbers[4] <= 64 && numbers[4] % 8 == 0) {
      element = {static_cast<tir::TypeCode>(numbers[3]), static_cast<std::uint8_t>(numbers[4]), 1};
    }
    if (numbers[2] < 0 || numbers[2] % element.bytes() != 0) element = tir::uint8_type;
    const VarId var = names_.allocated(name, element, numbers[2] / element.bytes());
    names_.declare(name, pointer_to(var, type.element.is_void() ? element : type.element));
  }

  void array(const c::Decl& decl, CType type) {
    const Token& name = code_.token(decl.at);
    if (type.stars == 0 && type.element.is_void()) return names_.declare(name, packed_.array());
    if (decl.storage != c::Storage::none) code_.fail_undeclared(code_.token(decl.tokens.begin));
    if (type.stars > 0) fail_at(code_.token(decl.at + 1), "'='");
    if (decl.init.valid()) fail_at(code_.token(decl.declarator.end), "';'");
    const std::uint16_t alignment = alignment_of(decl, code_);
    const c::ExprId extent = code_.tree()[decl.type].extent;
    const Tree count = extent.valid() ? values_.rvalue(code_.evaluate(extent)) : Tree{tir::make_int(0)};
    const auto elements = tir::as_int(*count.expr);
    if (!elements || *elements < 1) fail_at(name, "an array of a constant number of elements");
    const VarId var = names_.allocated(name, type.element, *elements, true, alignment);
    memory_.note_array(var, *elements * type.element.bytes());
    names_.declare(name, pointer_to(var, type.element));
  }

  void store(const Value& place, const Value& value) {
    body_.add({place.storage, place.tree.expr, values_.converted(value, place.type).expr, nullptr});
  }

  // place = value; where the place is one of a record. Shapes, types, devices are of no account. `may_not_happen`: it
  // stands in a loop or a branch.
  void packed_assignment(c::ExprId id, const Value& place, bool may_not_happen) {
    const Token& at = code_.at(id);
    if (code_[id].kind != c::ExprKind::assign || !at.is("=")) fail_at(at, "'='");
    const c::ExprId value = code_.operand(id, 1);
    if (PackedState::keeps(place)) {
      if (may_not_happen) fail_at(at, "arguments of a packed call outside of loops and branches");
      packed_.store(place, code_.evaluate(value));
    } else if (place.record.part == Record::Part::offset) {
      const Tree bytes = values_.rvalue(code_.evaluate(value));
      if (tir::as_int(*bytes.expr) != 0) fail_at(at, "a tensor without an offset");
    } else {
      packed_.overwrite(place);
    }
  }

  // place = value; place += value; or ++place;
  void assignment(c::ExprId id) {
    const c::Expr& expr = code_[id];
    const bool is_assigned = expr.kind == c::ExprKind::assign;
    const c::ExprId target = is_assigned || is_step(expr) ? code_.operand(id, 0) : id;
    const Value place = code_.evaluate(target);
    const Token& op = target != id ? code_.at(id) : code_.behind(id);
    if (place.kind == Value::Kind::record) {
      const bool may_not_happen = std::any_of(open_.begin(), open_.end(), [](const Open& block) {
        return block.kind != Kind::function && block.kind != Kind::braces;
      });
      return packed_assignment(id, place, may_not_happen);
    }
    const std::string_view name = code_.name_of(target);
    if (!function_.is_entry && place.kind == Value::Kind::number && !name.empty() && names_.look_up(name)) {
      throw ChangedVariable{std::string(name), code_.at(target).offset};
    }
    if (target == id) fail_at(op, "'='");
    if (place.kind != Value::Kind::place) fail_at(op, "an element of storage in front");
    Value value = is_assigned ? value_of(code_.operand(id, 1)) : Values::number({tir::make_int(1)});
    if (!op.is("=")) value = values_.binary(op.text.substr(0, op.text.size() - 1), place, value);
    if (place.type.is_void()) fail_at(op, "an element of a number in front");
    store(place, value);
  }

  const FunctionText& text_;
  std::span<const AddedText> added_;
  std::span<const Outlined> outlined_;
  const GuardedTexts guarded_;
  Reading& reading_;
  NestedCall* inlined_;  // of a function that is read in place of its call; else null
  const FileScope& scope_;
  const KeptPools& kept_;
  Callees& callees_;
  ReadFunction& result_;
  tir::Function& function_;
  Values values_;
  tir::BodyBuilder& body_;
  BodyNames names_;
  UnpackedParams unpacked_;
  LookUp look_up_;
  Expressions code_;
  MemoryCalls memory_;
  const Names& changing_;
  Helpers* helpers_;
  std::size_t texts_ = 0;  // that have been kept
  ElementTypes c_types_;   // of pointers, as the function's own block spells them
  Names unknown_;          // variables that are not known to be 0 where their declaration says so
  std::vector<Open> open_;
  bool is_packed_ = false;
  PackedState packed_;
};

}  // namespace

ReadFunction read_function(const FunctionText& text, const FileScope& scope, const KeptPools& kept,
                           const Limits& limits, tir::Module& module, bool is_entry, const AddedStatements& added,
                           std::span<const Outlined> outlined, Helpers* helpers, const NestedTexts* nested) {
  const std::size_t vars = module.vars.size();
  Names changing;
  Names called_helpers;
  Names called_nested;
  Callees callees(scope, kept);
  std::map<std::size_t, std::size_t> texts;
  for (const AddedText& one : added.texts) texts.emplace(one.begin, one.end);
  for (const Outlined& one : outlined) texts.emplace(one.place.begin, one.place.end);
  while (true) {
    try {
      ReadFunction result;
      result.function.is_entry = is_entry;
      Reading reading{scope,
                      kept,
                      limits,
                      module,
                      result,
                      changing,
                      helpers,
                      called_helpers,
                      nested,
                      called_nested,
                      {module, result.function, limits.block_depth},
                      callees};
      reading.read_inlined = [&reading](const FunctionText& of, const std::vector<Value>& arguments, NestedCall& call) {
        BodyReader(of, reading, {}, {}, &call).read_inlined(arguments);
      };
      BodyReader reader(text, reading, added, outlined);
      reader.read_params(callees.tree_of(text, texts));
      reader.read_body();
      return result;
    } catch (const HelperNotRead& helper) {
      module.vars.resize(vars);
      called_helpers.insert(helper.name);
    } catch (const NestedNotRead& call) {
      module.vars.resize(vars);
      called_nested.insert(call.name);
      if (called_nested.size() == most_nested_tries) nested = nullptr;
    } catch (const ChangedVariable& variable) {
      module.vars.resize(vars);
      if (!changing.insert(variable.name).second) {
        throw SyntaxError{variable.offset,
                          "found " + in_quotes(variable.name) + " changed, expected an element of storage"};
      }
    }
  }
}

tir::Function read_prototype(const FunctionText& text, const FileScope& scope, const Limits& limits,
                             tir::Module& module) {
  ReadFunction result;
  const Names none;
  const KeptPools kept;
  Callees callees(scope, kept);
  Reading reading{
      scope, kept, limits, module, result, none, nullptr, none, nullptr, none, {module, result.function, 1}, callees};
  const auto tree = head_tree(text);
  if (!tree) fail_at(text.params.empty() ? Token() : text.params.front(), "parameters");
  BodyReader(text, reading).read_params(*tree, true);
  return std::move(result.function);
}

}  // namespace usmp::tvm_c
