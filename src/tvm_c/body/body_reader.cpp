// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads statements one by one into a block of TIR; starts again where a variable turns out to be changed.
#include "tvm_c/body/body_reader.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/called_names.hpp"
#include "tvm_c/body/checks.hpp"
#include "tvm_c/body/guarded_texts.hpp"
#include "tvm_c/body/helpers.hpp"
#include "tvm_c/body/loop_header.hpp"
#include "tvm_c/body/memory_calls.hpp"
#include "tvm_c/body/nested_calls.hpp"
#include "tvm_c/body/outlined_call.hpp"
#include "tvm_c/body/packed.hpp"
#include "tvm_c/body/packed_statements.hpp"
#include "tvm_c/body/unpacked_params.hpp"
#include "tvm_c/body/variables.hpp"
#include "tvm_c/body/walkers.hpp"
#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/c/operators.hpp"
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

// A block of C that is open.
struct Open {
  // rest: what stands in a loop behind a branch that goes on with the next iteration, up to the loop's end; likewise in
  // a function behind one that returns, if it is read in place of its call
  enum class Kind : std::uint8_t { function, loop, then, otherwise, braces, rest };
  Kind kind = Kind::function;
  bool has_braces = true;
  bool continues = false;  // then: its last statement is continue, or a return
};

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
      : tokens_(text.body),
        added_(added.texts),
        outlined_(outlined),
        guarded_(text.body.text(), added.guarded),
        reading_(reading),
        inlined_(inlined),
        scope_(reading.scope),
        kept_(reading.kept),
        result_(reading.result),
        function_(reading.result.function),
        values_(reading.module, reading.limits.expression_depth),
        body_(reading.body),
        names_(text.file, scope_, reading.module, result_, values_, body_, reading.constants),
        unpacked_(scope_, names_),
        variables_(values_, names_, body_, result_),
        look_up_([this](std::string_view name) {
          require_known(name);
          return variables_.used(names_.look_up(name));
        }),
        memory_(values_, names_, body_, look_up_),
        walkers_(values_, names_, body_),
        changing_(reading.changing),
        helpers_(reading.helpers) {}

  // `has_pools`: those of TVM's are parameters like others.
  void read_params(Lexer tokens, bool has_pools = false) {
    open(Open::Kind::function, true);
    is_packed_ = takes_packed(tokens);
    if (is_packed_) return unpacked_.declare(std::move(tokens), packed_);
    for (const auto& [type, name] : take_params(tokens)) {
      const bool is_storage = type.stars == 1;
      if (auto pool = pool_of_param(name.text); !has_pools && pool && is_storage && type.element == tir::uint8_type) {
        names_.declare_pool(name, std::move(*pool));
        continue;
      }
      const VarId var = names_.new_var(name.text, is_storage ? tir::handle_type : type.element, type.element);
      if (is_storage && changing_.contains(name.text)) {
        walkers_.declare(name, pointer_to(var, type.element));
      } else {
        names_.declare(name, is_storage ? pointer_to(var, type.element) : values_.variable(var));
      }
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
    while (!open_.empty()) {
      take_added();
      statement();
    }
    names_.insert_tables();
    unpacked_.insert_into(function_);
  }

  // In place of a call that passes these arguments.
  void read_inlined(const FunctionText& text, const std::vector<Value>& arguments) {
    open(Open::Kind::function, true);
    values_.at = text.offset;
    Lexer tokens = text.params;
    const std::vector<CParam> params = take_params(tokens);
    bind_params(params, arguments, changing_, values_, names_, walkers_, body_);
    while (!open_.empty()) statement();
    if (!inlined_->has_returned) throw SyntaxError{text.offset, "found no return at its end, expected one"};
  }

 private:
  // --- Statements that stay as text ----------------------------------------------------------------------------------

  // Those that stand in front of the next token.
  void take_added() {
    while (true) {
      const bool is_outlined =
          !outlined_.empty() && (added_.empty() || outlined_.front().place.begin < added_.front().begin);
      if (!is_outlined && added_.empty()) return;
      const AddedText text = is_outlined ? outlined_.front().place : added_.front();
      if (text.begin > tokens_.peek().offset) return;
      if (open_.size() != 1) fail_at(tokens_.peek(), "the end of the block");
      if (is_outlined) {
        call_outlined(outlined_.front());
        outlined_ = outlined_.subspan(1);
      } else {
        keep(std::string(tokens_.text().substr(text.begin, text.end - text.begin)));
        added_ = added_.subspan(1);
      }
      skip_to(tokens_, text.end);
    }
  }

  // Whether one stands in front of that place.
  [[nodiscard]] bool has_text_before(std::size_t offset) const {
    return (!added_.empty() && added_.front().begin < offset) ||
           (!outlined_.empty() && outlined_.front().place.begin < offset);
  }

  void call_outlined(const Outlined& statement) {
    values_.at = statement.place.begin;
    for (const std::string& name : statement.names) {
      if (names_.look_up_own(name)) require_known(name);
    }
    OutlinedCall call = outlined_call(statement, names_, values_, c_types_);
    body_.evaluate(std::move(call.expr));
    result_.outlined.push_back(std::move(call.function));
  }

  void keep(std::string text) {
    body_.evaluate(tir::make_call(tir::int32_type, tir::Op::call_extern,
                                  {tir::make_string(tir::kept_text), tir::make_string(std::move(text))}));
  }

  // Under a condition of the model's, where it is all that stands there.
  bool take_guarded_statement() {
    const GuardedText* text = open_.size() > 1 ? guarded_.at(tokens_.peek().offset) : nullptr;
    if (text == nullptr) return false;
    if (!text->variable.empty()) fail_at(tokens_.peek(), "no use of " + in_quotes(text->variable));
    skip_to(tokens_, text->place.end);
    keep(guarded_.text_of(*text));
    result_.guarded.push_back(text->place);
    return true;
  }

  // What never happens.
  void drop_failure(Lexer& tokens, const std::string& declared = {}) {
    if (auto failure = guarded_.take(tokens, false, declared)) {
      result_.dropped.push_back(*failure->text);
    } else {
      skip_failure(tokens);
    }
  }

  // What an operator has returned, where a statement may be reached that finds it other than 0.
  void require_known(std::string_view name) const {
    if (!unknown_.contains(name)) return;
    values_.fail("found " + in_quotes(name) +
                 " behind a statement that does not leave the function where an operator " +
                 "fails, expected a return in that statement");
  }

  // --- Packed interface ----------------------------------------------------------------------------------------------

  // (values, type codes, count, &value, &code, resource), the bracket and what stands in front of `values` taken
  void packed_call(const std::string& name, const Token& at, OnFailure failure) {
    if (!scope_.functions.contains(name) || !takes_packed(scope_.functions.find(name)->second.params)) {
      fail_at(at, "a call of a packed function that a C file of TVM's defines");
    }
    checked_call(name,
                 take_packed_arguments(tokens_, scope_.functions.find(name)->second, at, values_, look_up_, packed_),
                 std::move(failure));
  }

  // --- Blocks --------------------------------------------------------------------------------------------------------

  void open(Open::Kind kind, bool has_braces) {
    open_.push_back({kind, has_braces});
    names_.open_block();
  }

  // Also those around that have no braces and are complete with it.
  void close() {
    while (true) {
      names_.close_block();
      const Open::Kind kind = open_.back().kind;
      const bool continues = open_.back().continues;
      open_.pop_back();
      if (continues) {
        if (tokens_.peek().is("else")) fail_at(tokens_.peek(), "no else behind what leaves");
        body_.open_else();
        return open(Open::Kind::rest, true);
      }
      if (kind == Open::Kind::then && take(tokens_, "else")) {
        body_.open_else();
        open(Open::Kind::otherwise, take(tokens_, "{"));
        return;
      }
      if (kind != Open::Kind::function) body_.close();
      if (kind != Open::Kind::rest && (open_.empty() || open_.back().has_braces)) return;
    }
  }

  // A statement has ended that is all of a block without braces.
  void end_statement() {
    if (!open_.back().has_braces) close();
  }

  // --- Statements ----------------------------------------------------------------------------------------------------

  void statement() {
    const Token first = tokens_.peek();
    values_.at = first.offset;
    if (first.is("}")) {
      if (!open_.back().has_braces) fail_at(first, "a statement");
      (void)tokens_.next();
      return close();
    }
    if (take_guarded_statement()) return end_statement();
    if (first.is("for")) return loop();
    if (first.is("while")) return while_loop();
    if (first.is("return")) return inlined_ != nullptr ? inlined_result() : result();
    if (first.is("break")) fail_at(first, "no break: how often the loop runs is not known then");
    if (first.is("continue") && !function_.is_entry) {
      continue_statement();
      return end_statement();
    }
    if (first.is("{")) {
      body_.open_scope();
      return open(Open::Kind::braces, take(tokens_, "{"));
    }
    if (take(tokens_, ";") || take_unused() || take_checked_result()) return end_statement();
    if (first.is("if")) return branch();
    if (take_memory_call()) return end_statement();
    std::vector<Walkers::Step> steps;
    if (!function_.is_entry) {
      if (walkers_.take_assignment(tokens_, look_up_)) return end_statement();
      steps = walkers_.take_steps(tokens_, [&](const Value& value) {
        return variables_.contains(value) && variables_.used(value).has_value();
      });
    }
    alignment_ = take_aligned_macro(tokens_);
    if (const auto type = parse_type(tokens_)) {
      declaration(*type);
    } else if (const auto open_type = parse_open_type(tokens_)) {
      open_declaration(*open_type);
    } else if (auto name = called_name()) {
      call(*name, {});
      expect(tokens_, ";");
    } else if (auto other = take_outside_name(take_other_name)) {
      checked_call(*other, parse_arguments_with_text(tokens_, values_, look_up_), {});
      expect(tokens_, ";");
    } else {
      assignment();
    }
    for (const Walkers::Step& step : steps) walkers_.make(step);
    end_statement();
  }

  // memcpy(q, p, 64); which the C may not define itself.
  bool take_memory_call() {
    Lexer ahead = tokens_;
    if (take(ahead, "(") && (!take(ahead, "void") || !take(ahead, ")"))) return false;
    const Token name = ahead.next();
    if (function_.is_entry || !is_memory_function(name.text) || !ahead.peek().is("(")) return false;
    if (scope_.functions.contains(name.text) || names_.look_up(name.text)) return false;
    tokens_ = std::move(ahead);
    memory_.read(tokens_, name, [this](VarId var) {
      const auto is_it = [&](const tir::Param& param) { return param.var == var; };
      return unpacked_.contains(var) || std::any_of(function_.params.begin(), function_.params.end(), is_it);
    });
    return true;
  }

  // At the end of a branch of a loop's own block: if (p[i] == 0) { q[i] = 0; continue; }
  void continue_statement() {
    const Token at = tokens_.next();
    expect(tokens_, ";");
    const std::size_t depth = open_.size();
    const bool is_in_loop = depth >= 2 && open_[depth - 1].kind == Open::Kind::then && open_[depth - 2].has_braces &&
                            (open_[depth - 2].kind == Open::Kind::loop || open_[depth - 2].kind == Open::Kind::rest);
    if (!is_in_loop || (open_.back().has_braces && !tokens_.peek().is("}"))) {
      fail_at(at, "continue as the last statement of a branch in the loop's own block");
    }
    open_.back().continues = true;
  }

  // (void)p0;
  bool take_unused() {
    Lexer ahead = tokens_;
    if (!take(ahead, "(") || !take(ahead, "void") || !take(ahead, ")")) return false;
    const Token name = ahead.next();
    if (!name.is_identifier() || !take(ahead, ";") || !names_.look_up(name.text)) return false;
    tokens_ = std::move(ahead);
    return true;
  }

  // int ret = f(…); if (ret != 0) return ret; or if ((ret = f(…)) != 0) return ret;
  bool take_checked_result() {
    if (inlined_ != nullptr) return false;
    Lexer ahead = tokens_;
    const bool is_condition = take(ahead, "if");
    if (is_condition && (!take(ahead, "(") || !take(ahead, "("))) return false;
    const auto type = is_condition ? std::nullopt : parse_type(ahead);
    const Token name = ahead.next();
    if (!name.is_identifier() || !take(ahead, "=")) return false;
    DataType status = tir::void_type;
    if (type) {
      if (type->stars == 0) status = type->element;
    } else if (const auto known = names_.look_up(name.text)) {
      // Behind the block, the variable has to be what it is then.
      const bool is_variable = known->kind == Value::Kind::number || known->kind == Value::Kind::place;
      if (is_variable && (is_zero(*known) || open_.size() == 1)) status = known->type;
    }
    if (!status.is_int()) return false;
    const bool is_narrow = status.bits < 32;  // 256 is 0 there
    const Lexer begin = tokens_;
    tokens_ = ahead;
    const auto callee = called_name();
    ahead = tokens_;
    std::optional<OnFailure> failure;
    bool is_unknown = false;
    if (callee && open_.back().has_braces && take_result_test(ahead, name, is_condition, always_returns(*callee)) &&
        !has_text_before(ahead.offset())) {
      const std::string declared = tir::to_string(status) + "_t " + std::string(name.text);
      if (always_returns(*callee)) {
        drop_failure(ahead, declared);
        failure = OnFailure{tir::make_int(tvms_failure)};
      } else if (auto code = is_narrow ? nullptr : guarded_.take_code(ahead, name.text)) {
        failure = OnFailure{std::move(code)};
      } else {
        failure = guarded_.take(ahead, true, declared, is_narrow);
        is_unknown = !failure;  // behind what does not leave
        if (!failure) failure = guarded_.take(ahead, false, declared, is_narrow);
      }
    }
    if (!failure) {
      tokens_ = begin;
      return false;
    }
    call(*callee, std::move(*failure));
    tokens_ = std::move(ahead);
    if (is_unknown) unknown_.emplace(name.text);
    if (!is_unknown && open_.size() == 1) unknown_.erase(std::string(name.text));
    names_.declare(name, Values::number(values_.converted(Values::number({tir::make_int(0)}), status)));
    return true;
  }

  static bool is_zero(const Value& value) {
    return value.kind == Value::Kind::number && tir::as_int(*value.tree.expr) == 0;
  }

  // for (int32_t i = a; i < b; ++i)
  void loop() {
    (void)tokens_.next();
    const LoopHeader header = take_loop_header(tokens_, values_, look_up_);
    const Value counter = variables_.open_loop(header);
    open(Open::Kind::loop, take(tokens_, "{"));
    names_.declare(header.name, counter);
  }

  // while (1) { if (!(c)) { break; } … }
  void while_loop() {
    (void)tokens_.next();
    expect(tokens_, "(");
    Tree condition = values_.condition(parse_expression(tokens_, values_, look_up_));
    expect(tokens_, ")");
    const bool is_endless = tir::as_int(*condition.expr).value_or(0) != 0;
    if (!is_endless) {
      body_.open_while(condition.expr);
      return open(Open::Kind::loop, take(tokens_, "{"));
    }
    expect(tokens_, "{");
    expect(tokens_, "if");
    expect(tokens_, "(");
    const Value leaves = parse_expression(tokens_, values_, look_up_);
    expect(tokens_, ")");
    expect(tokens_, "{");
    expect(tokens_, "break");
    expect(tokens_, ";");
    expect(tokens_, "}");
    condition = values_.condition(values_.unary("!", leaves));
    body_.open_while(condition.expr);
    open(Open::Kind::loop, true);
  }

  void branch() {
    (void)tokens_.next();
    expect(tokens_, "(");
    if (inlined_ == nullptr && take_look_up(tokens_, packed_)) return end_statement();
    const Token at = tokens_.peek();
    if (take_nested_check()) return end_statement();
    if (const auto condition = take_nested_condition()) return branch_on(*condition);
    if (inlined_ == nullptr && take(tokens_, "TVMFuncCall")) {
      expect(tokens_, "(");
      const Token variable = tokens_.next();
      const auto found = packed_.looked_up.find(variable.text);
      if (found == packed_.looked_up.end()) fail_at(variable, "a function that TVMBackendGetFuncFromEnv has found");
      expect(tokens_, ",");
      packed_call(found->second, at, {tir::make_int(tvms_failure)});
      expect(tokens_, "!=");
      expect_number(tokens_, 0);
      expect(tokens_, ")");
      if (expect_failure(tokens_) != tvms_failure) fail_at(at, "a packed call whose failure returns -1");
      return end_statement();
    }
    if (const auto name = called_name()) {
      // Its failure would leave the function around the one that is read in place of a call.
      if (inlined_ != nullptr && *name != free_function) fail_at(at, "a call of an operator");
      require_no_else(tokens_);
      Lexer behind = tokens_;
      if (auto failure = guarded_.take_call(behind, always_returns(*name))) {
        if (always_returns(*name)) {
          result_.dropped.push_back(*failure->text);
          failure = OnFailure{tir::make_int(tvms_failure)};
        }
        call(*name, std::move(*failure));
        tokens_ = std::move(behind);
        return end_statement();
      }
      call(*name, {tir::make_int(failure_of_call(tokens_))});
      expect_not_zero(tokens_, always_returns(*name));
      if (always_returns(*name)) {
        skip_failure(tokens_);
      } else {
        expect_failure(tokens_);
      }
      return end_statement();
    }
    if (const auto other = take_outside_name(take_other_checked_name)) {
      Lexer behind = tokens_;
      if (auto kept = guarded_.take_call(behind, false)) {
        checked_call(*other, parse_arguments_with_text(tokens_, values_, look_up_), std::move(*kept));
        tokens_ = std::move(behind);
        return end_statement();
      }
      OnFailure failure{tir::make_int(failure_of_call(tokens_))};
      checked_call(*other, parse_arguments_with_text(tokens_, values_, look_up_), std::move(failure));
      expect_not_zero(tokens_, false);
      expect_failure(tokens_);
      return end_statement();
    }
    if (const auto tested = take_null_check()) return null_check(*tested);
    const Value tested = parse_expression(tokens_, values_, look_up_);
    if (tested.kind == Value::Kind::record) {
      expect(tokens_, ")");
      expect_packed_check(tokens_, at);
      return end_statement();
    }
    expect(tokens_, ")");
    branch_on(tested);
  }

  // Behind the condition's bracket.
  void branch_on(const Value& tested) {
    const Tree condition = values_.condition(tested);
    const auto constant = function_.is_entry ? std::nullopt : tir::as_int(*condition.expr);
    if (constant == 0 && take_unreached(tokens_)) return end_statement();
    const bool is_block = tokens_.peek().is("{") && inlined_ == nullptr;  // which a return would not leave
    if (constant == 1 && is_block && !has_else(tokens_)) {
      body_.open_scope();
      return open(Open::Kind::braces, take(tokens_, "{"));
    }
    body_.open_branch(condition.expr);
    open(Open::Kind::then, take(tokens_, "{"));
  }

  static bool has_else(Lexer tokens) {
    skip_bracketed(tokens, "{");
    return tokens.peek().is("else");
  }

  // A function that no C declares here.
  template <class Take>
  std::optional<std::string> take_outside_name(const Take& take) {
    return inlined_ != nullptr ? std::nullopt : take(tokens_, names_, function_.is_entry);
  }

  // --- Operators that operators call ---------------------------------------------------------------------------------

  // The name of one whose statements may be read in place of the call that stands here; takes it.
  std::optional<std::string> take_nested_name(Lexer& tokens) {
    if (reading_.nested == nullptr || function_.is_entry || is_packed_) return std::nullopt;
    auto name = take_called_name(tokens, names_, scope_);
    return name && is_nested(*name) ? name : std::nullopt;
  }

  [[nodiscard]] bool is_nested(const std::string& name) const {
    const auto function = scope_.functions.find(name);
    return reading_.nested != nullptr && !function_.is_entry && !is_packed_ && name.starts_with("tvmgen_") &&
           function != scope_.functions.end() && !takes_packed(function->second.params);
  }

  // Whether the call whose arguments stand here would say less than the statements: of what becomes of memory that TVM
  // has planned; or a function that returns early is not read.
  [[nodiscard]] bool says_less(const std::string& name, const Lexer& arguments) {
    if (inlined_ != nullptr || reading_.called_nested.contains(name)) return false;
    return passes_pool(arguments) || !returns_once(scope_.functions.find(name)->second);
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

  // f(…) != 0) return -1; False, and nothing is taken: something else stands here, or it is called.
  bool take_nested_check() {
    Lexer ahead = tokens_;
    const auto name = take_nested_name(ahead);
    if (!name || !is_check(ahead, always_returns(*name)) || !says_less(*name, ahead)) return false;
    tokens_ = std::move(ahead);
    tried(*name, [&] {
      const Value value = nested_call(*name);
      expect_not_zero(tokens_, is_zero(value));
      if (is_zero(value)) return skip_failure(tokens_);
      tir::ExprRef code = tir::make_int(expect_failure(tokens_));
      body_.evaluate(tir::make_call(tir::int32_type, tir::Op::tvm_check_return,
                                    {tir::make_int(0), std::move(code), values_.rvalue(value).expr}));
    });
    return true;
  }

  // One of the arguments that stand here is memory that TVM has planned.
  [[nodiscard]] bool passes_pool(Lexer tokens) {
    expect(tokens, "(");
    return std::ranges::any_of(tokens_of(tokens), [&](const Token& token) {
      const auto value = token.is_identifier() ? names_.look_up_own(token.text) : std::nullopt;
      return value && value->kind == Value::Kind::pool;
    });
  }

  // f(…) == 0), if that is no check as TVM's, which leaves the operator, too.
  std::optional<Value> take_nested_condition() {
    Lexer ahead = tokens_;
    const bool is_negated = take(ahead, "!");
    const bool has_brackets = take(ahead, "(");
    const auto name = take_nested_name(ahead);
    if (!name) return std::nullopt;
    const bool is_plain = !is_negated && !has_brackets && inlined_ == nullptr;
    if (is_plain && is_check(ahead, always_returns(*name))) return std::nullopt;
    tokens_ = std::move(ahead);
    Value value = nested_call(*name);
    if (has_brackets || !is_negated) value = take_comparison(tokens_, value, values_);
    if (has_brackets) expect(tokens_, ")");
    expect(tokens_, ")");
    return is_negated ? values_.unary("!", value) : value;
  }

  // f(…); of which a variable gets the result, behind '='. Nothing, and nothing is taken: something else stands there.
  std::optional<Value> take_nested_result() {
    Lexer ahead = tokens_;
    const auto name = take_nested_name(ahead);
    if (!name) return std::nullopt;
    tokens_ = std::move(ahead);
    Value value = nested_call(*name);
    if (!tokens_.peek().is(";")) fail_at(tokens_.peek(), "';'");
    return value;
  }

  // What the function returns, in front of whose arguments the tokens stand.
  Value nested_call(const std::string& name) {
    const Token at = tokens_.peek();
    const std::vector<Value> arguments = parse_arguments(tokens_, values_, look_up_);
    const FunctionText& text = scope_.functions.find(name)->second;
    NestedCall call;
    call.origin = inlined_ != nullptr ? inlined_->origin : at.offset;
    call.result = pointer_to(names_.new_var("result", tir::handle_type, tir::int32_type), tir::int32_type);
    call.result.kind = Value::Kind::place;
    call.result.tree = {tir::make_int(0)};
    body_.allocate(call.result.storage, tir::int32_type, {}, nullptr, {}, true);
    const bool has_open_counter = result_.open_counter.has_value();
    const auto fail = [&](std::size_t offset, const std::string& message) {
      throw SyntaxError{at.offset, "found a call of " + in_quotes(name) + ", which is not read (" +
                                       reading_.nested->place(text.file, offset) + ": " + message + "), expected if (" +
                                       name + "(…) != 0) return -1;"};
    };
    try {
      const bool is_open = std::ranges::find(reading_.open, name) != reading_.open.end();
      if (is_open) throw SyntaxError{text.offset, "found a function that calls itself, expected none"};
      reading_.bytes += body_text(text).size();
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
    if (!has_open_counter && result_.open_counter) result_.open_counter = call.origin;
    result_.inlined.insert(name);
    return call.is_zero ? Values::number({tir::make_int(0)}) : call.result;
  }

  // return -1; at the end of a branch of the function's own block, or of the function.
  void inlined_result() {
    const Token at = tokens_.next();
    const auto nested = take_nested_result();
    const Value value = nested ? *nested : parse_expression(tokens_, values_, look_up_);
    expect(tokens_, ";");
    const auto is_own = [](const Open& block) {
      return block.kind == Open::Kind::function || block.kind == Open::Kind::rest;
    };
    const bool is_end = tokens_.peek().is("}") && std::ranges::all_of(open_, is_own);
    const bool is_branch = open_.size() >= 2 && open_.back().kind == Open::Kind::then &&
                           is_own(open_[open_.size() - 2]) && (!open_.back().has_braces || tokens_.peek().is("}"));
    if (!is_end && !is_branch) fail_at(at, "a return at the end of the function, or of a branch in its own block");
    inlined_->is_zero = inlined_->is_zero && is_zero(value);
    if (!is_end || !inlined_->is_zero) store(inlined_->result, value);
    inlined_->has_returned = inlined_->has_returned || is_end;
    open_.back().continues = !is_end;
    end_statement();
  }

  // x == NULL || …), of pointers that are what their names say.
  std::optional<std::vector<VarId>> take_null_check() {
    Lexer ahead = tokens_;
    std::vector<VarId> tested;
    for (const Token& name : take_null_tests(ahead)) {
      const auto value = names_.look_up(name.text);
      if (!value || value->kind != Value::Kind::pointer) return std::nullopt;
      if (is_param(value->storage) && value->tree.expr != nullptr) return std::nullopt;
      tested.push_back(value->storage);
    }
    if (tested.empty()) return std::nullopt;
    tokens_ = std::move(ahead);
    return tested;
  }

  [[nodiscard]] bool is_param(VarId var) const {
    return std::any_of(function_.params.begin(), function_.params.end(),
                       [&](const tir::Param& param) { return param.var == var; }) ||
           unpacked_.contains(var);
  }

  // Workspace is always there. Whether the caller passes something is asked as before.
  void null_check(const std::vector<VarId>& tested) {
    std::vector<VarId> params;
    std::copy_if(tested.begin(), tested.end(), std::back_inserter(params), [&](VarId var) { return is_param(var); });
    if (params.empty()) {
      drop_failure(tokens_);
      return end_statement();
    }
    if (inlined_ != nullptr) values_.fail("found a parameter of the caller compared with NULL, expected none");
    Lexer ahead = tokens_;
    tir::ExprRef failure = guarded_.take_code(ahead, {});
    if (failure != nullptr) {
      tokens_ = std::move(ahead);
    } else if (auto kept = guarded_.take(tokens_, params.size() > 1)) {
      result_.guarded.push_back(*kept->text);
      failure = std::move(kept->code);
    } else {
      failure = tir::make_int(expect_failure(tokens_));
    }
    for (const VarId var : params) {
      tir::ExprRef is_null = tir::make_call(tir::bool_type, tir::Op::isnullptr, {values_.variable(var).tree.expr});
      body_.evaluate(tir::make_call(tir::int32_type, tir::Op::tvm_check_return,
                                    {tir::make_int(0), failure, tir::make_cast(tir::int32_type, std::move(is_null))}));
    }
    end_statement();
  }

  // Whether the function is one that is read and returns 0, or that planned C does not call.
  [[nodiscard]] bool always_returns(const std::string& name) const {
    if (name == free_function) return true;
    const auto function = scope_.functions.find(name);
    return function != scope_.functions.end() && !kept_.contains(name) && !scope_.foreign.contains(name) &&
           never_fails(function->second);
  }

  // Whether the C has the function, and it, or one that it asks for its result, may return something else than 0.
  [[nodiscard]] bool may_fail(const std::string& name) const {
    Names seen = {name};
    std::vector<std::string> pending = {name};
    while (!pending.empty()) {
      const std::string one = std::move(pending.back());
      pending.pop_back();
      const auto function = scope_.functions.find(one);
      if (function == scope_.functions.end()) continue;
      const bool is_read = !kept_.contains(one);
      if (is_read && never_fails(function->second)) continue;
      Names asked;
      if (!returns_zero(function->second, scope_, is_read, is_read ? &asked : nullptr)) return true;
      for (const std::string& callee : asked) {
        if (seen.insert(callee).second) pending.push_back(callee);
      }
    }
    return false;
  }

  // return 0; and return f(…); at the end of the function.
  void result() {
    const Token at = tokens_.next();
    if (const auto name = called_name()) {
      call(*name, {always_returns(*name) ? tir::make_int(tvms_failure) : tir::make_own_code()});
    } else if (!tokens_.peek().is(";")) {
      const bool has_brackets = take(tokens_, "(");
      const auto value = tokens_.peek().is_identifier() ? look_up_(tokens_.peek().text) : std::nullopt;
      if (value && is_zero(*value)) {
        (void)tokens_.next();  // what take_checked_result leaves
      } else {
        expect_number(tokens_, 0);
      }
      if (has_brackets) expect(tokens_, ")");
    }
    expect(tokens_, ";");
    const bool is_last = open_.size() == 1 && tokens_.peek().is("}") && added_.empty() && outlined_.empty();
    if (!is_last) fail_at(at, "one return, at the end of the function");
  }

  std::optional<std::string> called_name() { return take_called_name(tokens_, names_, scope_); }

  // (1, 0, sid_1), which planned C does not: TVM's allocator has not given it.
  void give_back() {
    const Lexer begin = tokens_;
    skip_bracketed(tokens_, "(");
    Token last;
    for (Lexer ahead = begin; ahead.offset() < tokens_.offset();) {
      const Token token = ahead.next();
      if (!token.is(")")) last = token;
    }
    const auto value = last.is_identifier() ? names_.look_up_own(last.text) : std::nullopt;
    if (!value || value->kind != Value::Kind::pointer || is_param(value->storage)) {
      fail_at(last, "workspace that the function has taken itself");
    }
  }

  void call(const std::string& name, OnFailure failure) {
    if (name == free_function) return give_back();
    const auto defined = scope_.functions.find(name);
    if (defined != scope_.functions.end() && takes_packed(defined->second.params)) {
      const Token at = tokens_.peek();
      expect(tokens_, "(");
      if (failure.code == nullptr) failure.code = tir::make_int(tvms_failure);
      return packed_call(name, at, std::move(failure));
    }
    if (failure.code == nullptr && is_nested(name)) {
      if (inlined_ != nullptr) return (void)nested_call(name);
      if (says_less(name, tokens_)) return tried(name, [&] { (void)nested_call(name); });
    }
    if (inlined_ != nullptr && (name.starts_with("tvmgen_") || defined == scope_.functions.end())) {
      fail_at(tokens_.peek(), "a call of a function that a C file of the model defines");
    }
    if (failure.code == nullptr && is_read_helper(name)) {
      const std::vector<Value> arguments = parse_arguments(tokens_, values_, look_up_);
      const NewVar new_var = [this](std::string_view of, DataType type, DataType element) {
        return names_.new_var(of, type, element);
      };
      return read_helper_call(*helpers_, name, defined->second.file, arguments, values_, new_var, body_);
    }
    const bool is_outside = function_.is_entry && defined == scope_.functions.end() && !scope_.foreign.contains(name);
    checked_call(name,
                 is_outside ? parse_arguments_with_text(tokens_, values_, look_up_)
                            : parse_arguments(tokens_, values_, look_up_),
                 std::move(failure));
  }

  // Whether the function's statements are read in place of the call.
  [[nodiscard]] bool is_read_helper(const std::string& name) const {
    const auto function = scope_.functions.find(name);
    return helpers_ != nullptr && !function_.is_entry && !name.starts_with("tvmgen_") &&
           !reading_.called_helpers.contains(name) && function != scope_.functions.end() &&
           !function->second.is_ambiguous;
  }

  void checked_call(const std::string& name, const std::vector<Value>& given, OnFailure failure) {
    if (failure.code == nullptr && may_fail(name)) {
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

  // Behind the type.
  void declaration(CType type) {
    while (true) {
      const Token name = tokens_.next();
      if (!name.is_identifier()) fail_at(name, "a variable's name");
      declarator(name, type);
      const bool is_number = type.stars == 0 && !type.element.is_void();
      if (!is_number || !take(tokens_, ",")) break;
    }
    expect(tokens_, ";");
  }

  void declarator(const Token& name, CType type) {
    if (type.stars > 0) {
      expect(tokens_, "=");
      if (type.stars > 1) fail_at(name, "a pointer to numbers");
      if (open_.size() == 1) c_types_[std::string(name.text)] = type.element;
      pointer(name, type);
    } else if (type.element.is_void()) {
      take_packed_declaration(tokens_, name, names_, packed_);
    } else if (take(tokens_, "[")) {
      array(name, type.element);
    } else if (take(tokens_, "=")) {
      const auto nested = take_nested_result();
      const Value given = nested ? *nested : parse_expression(tokens_, values_, look_up_);
      if (given.kind == Value::Kind::record) {
        names_.declare(name, PackedState::other());
        return;
      }
      const Tree value = values_.converted(given, type.element);
      if (nested && is_zero(*nested) && !changing_.contains(name.text)) {
        names_.declare(name, Values::number(value));
        return;
      }
      if (changing_.contains(name.text)) {
        const Value place = variables_.declare(name, type.element);
        body_.add({place.storage, place.tree.expr, value.expr, nullptr});
        return;
      }
      const VarId var = names_.new_var(name.text, type.element, tir::void_type);
      body_.let(var, value.expr);
      names_.declare(name, values_.variable(var));
    } else {
      (void)variables_.declare(name, type.element);
    }
  }

  // size_t i; as a loop counts with it, or size_t at = i * 4;
  void open_declaration(DataType type) {
    do {
      const Token name = tokens_.next();
      if (!name.is_identifier()) fail_at(name, "a variable's name");
      if (take(tokens_, "=")) {
        const Tree value = values_.converted(parse_expression(tokens_, values_, look_up_), type);
        variables_.declare_open(name, type, value);
      } else {
        (void)variables_.declare(name, type, true);
      }
    } while (take(tokens_, ","));
    expect(tokens_, ";");
  }

  void pointer(const Token& name, CType type) {
    Lexer ahead = tokens_;
    const auto cast = take(ahead, "(") ? parse_type(ahead) : std::nullopt;  // float* x = (float*)TVMBackend…
    if (cast && take(ahead, ")") && ahead.peek().is(allocate_function)) tokens_ = ahead;
    if (take(tokens_, allocate_function)) return workspace(name, type);
    if (names_.planned(tokens_, name)) {
      Value& value = names_.declared(name);
      values_.at = name.offset;
      value = values_.cast(type, value);
      return;
    }
    const Value value = parse_expression(tokens_, values_, look_up_);
    if (const auto argument = PackedState::argument_of(value)) return unpacked_.add(name, type, *argument);
    values_.at = name.offset;
    const Value pointer = fixed_pointer(values_.cast(type, value), names_, values_, body_);
    if (changing_.contains(name.text)) return walkers_.declare(name, pointer);
    names_.declare(name, pointer);
  }

  // (device type, device, bytes, type code, bits)
  void workspace(const Token& name, CType type) {
    const std::vector<Value> arguments = parse_arguments(tokens_, values_, look_up_);
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

  void array(const Token& name, DataType element) {
    const Tree count = values_.rvalue(parse_expression(tokens_, values_, look_up_));
    expect(tokens_, "]");
    const std::uint16_t alignment = std::max(alignment_, take_alignment(tokens_));
    const auto elements = tir::as_int(*count.expr);
    if (!elements || *elements < 1) fail_at(name, "an array of a constant number of elements");
    const VarId var = names_.allocated(name, element, *elements, true, alignment);
    memory_.note_array(var, *elements * element.bytes());
    names_.declare(name, pointer_to(var, element));
  }

  void store(const Value& place, const Value& value) {
    body_.add({place.storage, place.tree.expr, values_.converted(value, place.type).expr, nullptr});
  }

  void count_by_one(const Value& place, bool is_up, const Token& at) {
    expect(tokens_, ";");
    if (place.kind != Value::Kind::place || place.type.is_void()) fail_at(at, "an element of storage");
    const Value value = values_.binary(is_up ? "+" : "-", place, Values::number({tir::make_int(1)}));
    store(place, value);
  }

  // place = value; or ++place;
  void assignment() {
    const bool is_counted_up = take(tokens_, "++");
    const bool is_counted_down = !is_counted_up && take(tokens_, "--");
    const Token first = tokens_.peek();
    const Value place = parse_expression(tokens_, values_, look_up_);
    if (place.kind == Value::Kind::record) {
      const bool may_not_happen = std::any_of(open_.begin(), open_.end(), [](const Open& block) {
        return block.kind != Open::Kind::function && block.kind != Open::Kind::braces;
      });
      return take_packed_assignment(tokens_, place, may_not_happen, values_, look_up_, packed_);
    }
    if (!function_.is_entry && place.kind == Value::Kind::number && first.is_identifier() &&
        names_.look_up(first.text)) {
      throw ChangedVariable{std::string(first.text), first.offset};
    }
    if (is_counted_up || is_counted_down || tokens_.peek().is("++") || tokens_.peek().is("--")) {
      const bool is_up = is_counted_up || (!is_counted_down && tokens_.peek().is("++"));
      if (!is_counted_up && !is_counted_down) (void)tokens_.next();
      return count_by_one(place, is_up, first);
    }
    const Token op = tokens_.next();
    const bool is_updated = !op.is("=") && c::is_assignment(op.text);
    if (!op.is("=") && !is_updated) fail_at(op, "'='");
    if (place.kind != Value::Kind::place) fail_at(op, "an element of storage in front");
    const auto nested = is_updated ? std::nullopt : take_nested_result();
    Value value = nested ? *nested : parse_expression(tokens_, values_, look_up_);
    if (is_updated) value = values_.binary(op.text.substr(0, op.text.size() - 1), place, value);
    expect(tokens_, ";");
    if (place.type.is_void()) fail_at(op, "an element of a number in front");
    store(place, value);
  }

  Lexer tokens_;
  std::span<const AddedText> added_;    // behind what is read
  std::span<const Outlined> outlined_;  // likewise
  const GuardedTexts guarded_;
  Reading& reading_;
  NestedCall* inlined_;  // of a function that is read in place of its call; else null
  const FileScope& scope_;
  const KeptPools& kept_;
  ReadFunction& result_;
  tir::Function& function_;
  Values values_;
  tir::BodyBuilder& body_;
  BodyNames names_;
  UnpackedParams unpacked_;
  Variables variables_;
  LookUp look_up_;
  MemoryCalls memory_;
  Walkers walkers_;
  const Names& changing_;
  Helpers* helpers_;
  std::uint16_t alignment_ = 1;  // that stands in front of the declaration
  ElementTypes c_types_;         // of pointers, as the function's own block spells them
  Names unknown_;                // variables that are not known to be 0 where their declaration says so
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
                      {module, result.function, limits.block_depth}};
      reading.read_inlined = [&reading](const FunctionText& of, const std::vector<Value>& arguments, NestedCall& call) {
        BodyReader(of, reading, {}, {}, &call).read_inlined(of, arguments);
      };
      BodyReader reader(text, reading, added, outlined);
      reader.read_params(text.params);
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

tir::Function read_prototype(const Lexer& params, const FileScope& scope, const Limits& limits, tir::Module& module) {
  ReadFunction result;
  const Names none;
  const KeptPools kept;
  Reading reading{
      scope, kept, limits, module, result, none, nullptr, none, nullptr, none, {module, result.function, 1}};
  BodyReader reader({.file = 0, .is_ambiguous = false, .offset = 0, .params = params, .body = params}, reading);
  reader.read_params(params, true);
  return std::move(result.function);
}

}  // namespace usmp::tvm_c
