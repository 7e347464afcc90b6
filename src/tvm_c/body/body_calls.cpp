// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads calls of operators and helpers, and finds what is done if one fails.
#include "tvm_c/body/body_reader.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tvm_c/body/called_names.hpp"
#include "tvm_c/body/helper_reader.hpp"
#include "tvm_c/body/helpers.hpp"
#include "tvm_c/body/variables.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

using tir::DataType;
using tir::Tree;
using tir::VarId;

// NOLINTBEGIN(misc-no-recursion): blocks of the source, which the parser limits; calls, at most most_nested_deep

template <class Read>
void BodyReader::tried(const std::string& name, const Read& read) {
  try {
    return read();
  } catch (const SyntaxError&) {  // told where that function is read
  } catch (const Error&) {        // too deep
  }
  throw NestedNotRead{name};
}

void BodyReader::packed_call(const std::string& name, c::ExprId call, std::size_t first, OnFailure failure) {
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

bool BodyReader::read_checked_result(const c::Stmt& stmt, const c::Stmt& check) {
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
  const bool never_fails = callees_.returns_only_0(callee);
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

bool BodyReader::is_zero(const Value& value) {
  return value.kind == Value::Kind::number && tir::as_int(*value.tree.expr) == 0;
}

bool BodyReader::read_check(const c::Stmt& stmt, c::ExprId call) {
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
  const bool never_fails = is_known && callees_.returns_only_0(name);
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

std::string BodyReader::nested_name(std::optional<c::ExprId> call) {
  if (!call || reading_.nested == nullptr || function_.is_entry || is_packed_) return {};
  const std::string name = called_name(code_, *call, names_, scope_);
  return is_nested(name) ? name : std::string();
}

bool BodyReader::is_nested(const std::string& name) const {
  return reading_.nested != nullptr && !function_.is_entry && !is_packed_ && is_generated(name) &&
         scope_.functions.contains(name) && !callees_.takes_packed(name);
}

bool BodyReader::says_less(const std::string& name, c::ExprId call) const {
  if (inlined_ != nullptr || reading_.called_nested.contains(name)) return false;
  return passes_pool(call) || !callees_.returns_once(name);
}

bool BodyReader::read_nested_check(const c::Stmt& stmt) {
  const auto call = leading_call(code_, stmt.expr);
  const std::string name = nested_name(call);
  if (name.empty() || !is_check(code_, stmt, *call, callees_.returns_only_0(name)) || !says_less(name, *call))
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

bool BodyReader::passes_pool(c::ExprId call) const {
  const std::span all = std::span(code_.code().tokens).first(code_[call].tokens.end);
  return std::ranges::any_of(all.subspan(code_[call].tokens.begin), [&](const Token& token) {
    const auto value = token.is_identifier() ? names_.look_up_own(token.text) : std::nullopt;
    return value && value->kind == Value::Kind::pool;
  });
}

std::optional<Value> BodyReader::nested_condition(const c::Stmt& stmt) {
  const bool is_negated = code_.is_prefix(stmt.expr, "!");
  const c::ExprId asked = is_negated ? code_.operand(stmt.expr, 0) : stmt.expr;
  constexpr std::array<std::string_view, 6> comparisons = {"==", "!=", "<", "<=", ">", ">="};
  const bool is_comparison = code_[asked].kind == c::ExprKind::binary &&
                             std::ranges::find(comparisons, code_[asked].text) != comparisons.end();
  const auto call = leading_call(code_, code_.has_brackets(asked) && is_comparison ? code_.operand(asked, 0) : asked);
  const std::string name = nested_name(call);
  if (name.empty()) return std::nullopt;
  const bool is_plain = !is_negated && !code_.has_brackets(asked) && inlined_ == nullptr;
  if (is_plain && is_check(code_, stmt, *call, callees_.returns_only_0(name))) return std::nullopt;
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

Value BodyReader::value_of(c::ExprId id, bool* is_nested) {
  const auto call = leading_call(code_, id);
  const std::string name = nested_name(call);
  if (is_nested != nullptr) *is_nested = !name.empty();
  if (name.empty()) return code_.evaluate(id);
  if (*call != id) fail_at(code_.behind(*call), "';'");
  return nested_call(name, *call);
}

Value BodyReader::nested_call(const std::string& name, c::ExprId id) {
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

void BodyReader::inlined_result(const c::Stmt& stmt, Statements all) {
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

std::optional<std::vector<VarId>> BodyReader::tested_pointers(c::ExprId condition) {
  std::vector<VarId> tested;
  for (const std::string_view name : null_tests(code_.tree(), condition)) {
    const auto value = names_.look_up(name);
    if (!value || value->kind != Value::Kind::pointer) return std::nullopt;
    if (is_param(value->storage) && value->tree.expr != nullptr) return std::nullopt;
    tested.push_back(value->storage);
  }
  return tested.empty() ? std::nullopt : std::optional(std::move(tested));
}

bool BodyReader::is_param(VarId var) const {
  return std::any_of(function_.params.begin(), function_.params.end(),
                     [&](const tir::Param& param) { return param.var == var; }) ||
         unpacked_.contains(var);
}

void BodyReader::null_check(const std::vector<VarId>& tested, const c::Stmt& check) {
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

void BodyReader::result(const c::Stmt& stmt, Statements all) {
  if (stmt.expr.valid()) {
    const std::string name = called_name(code_, stmt.expr, names_, scope_);
    if (!name.empty()) {
      call(name, stmt.expr, {callees_.returns_only_0(name) ? tir::make_int(tvms_failure) : tir::make_own_code()});
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

void BodyReader::give_back(c::ExprId call) {
  const c::ExprId last = without_casts(code_.tree(), code_.tree().operands_of(call).back());
  const std::string_view name = code_.name_of(last);
  const auto value = name.empty() ? std::nullopt : names_.look_up_own(name);
  if (!value || value->kind != Value::Kind::pointer || is_param(value->storage)) {
    fail_at(code_.at(last), "workspace that the function has taken itself");
  }
}

void BodyReader::call(const std::string& name, c::ExprId id, OnFailure failure) {
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
  if (inlined_ != nullptr && (is_generated(name) || defined == scope_.functions.end())) {
    fail_at(code_.behind(code_.operand(id, 0)), "a call of a function that a C file of the model defines");
  }
  const bool is_outside = function_.is_entry && defined == scope_.functions.end() && !scope_.foreign.contains(name);
  const std::vector<Value> arguments = code_.arguments(id, is_outside);
  if (!is_helper(name) || reading_.called_helpers.contains(name)) {
    return checked_call(name, arguments, std::move(failure));
  }
  const auto doubt = scope_.doubts.find(name);
  if (failure.code != nullptr || doubt != scope_.doubts.end()) {
    const std::string doubtful = doubt != scope_.doubts.end() ? in_quotes(name) + " " + doubt->second : "";
    helpers_->note_not_read(name, defined->second.file, std::nullopt,
                            "found " + (doubtful.empty() ? "a call that asks for the result" : doubtful));
    return checked_call(name, arguments, std::move(failure));
  }
  const NewVar new_var = [this](std::string_view of, DataType type, DataType element) {
    return names_.new_var(of, type, element);
  };
  read_helper_call(*helpers_, name, defined->second.file, arguments, values_, new_var, body_);
}

bool BodyReader::is_helper(const std::string& name) const {
  return helpers_ != nullptr && !function_.is_entry && !is_generated(name) && scope_.functions.contains(name);
}

void BodyReader::checked_call(const std::string& name, const std::vector<Value>& given, OnFailure failure) {
  if (failure.code == nullptr && callees_.may_fail(name)) {
    result_.unasked.emplace(name, inlined_ != nullptr ? inlined_->origin : values_.at);
  }
  std::vector<tir::ExprRef> arguments = {tir::make_string(name)};
  const auto kept = kept_.find(name);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Value& argument = given[i];
    if (argument.kind != Value::Kind::pool) {
      const bool is_operators = function_.is_entry || is_generated(name);
      arguments.push_back((is_operators ? values_.argument(argument) : values_.handed_argument(argument)).expr);
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

// NOLINTEND(misc-no-recursion)

}  // namespace usmp::tvm_c
