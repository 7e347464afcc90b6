// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/body_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tvm_c/body_names.hpp"
#include "tvm_c/checks.hpp"
#include "tvm_c/literals.hpp"
#include "tvm_c/packed.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;
using tir::Tree;
using tir::VarId;

constexpr std::string_view allocate_function = "TVMBackendAllocWorkspace";
constexpr std::string_view free_function = "TVMBackendFreeWorkspace";

// A block of C that is open.
struct Open {
  enum class Kind : std::uint8_t { function, loop, then, otherwise, braces, inlined };
  Kind kind = Kind::function;
  bool has_braces = true;
};

class BodyReader {
 public:
  BodyReader(const FunctionText& text, const FileScope& scope, const KeptPools& kept, const Limits& limits,
             tir::Module& module, ReadFunction& result, std::span<const AddedText> added = {})
      : tokens_(text.body),
        added_(added),
        scope_(scope),
        kept_(kept),
        result_(result),
        function_(result.function),
        values_(module, limits.expression_depth),
        body_(module, result.function, limits.block_depth),
        names_(text.file, scope, module, result, values_, body_),
        look_up_([this](std::string_view name) { return names_.look_up(name); }) {}

  // `has_pools`: those of TVM's are parameters like others.
  void read_params(Lexer tokens, bool has_pools = false) {
    open(Open::Kind::function, true);
    if (takes_packed(tokens)) return read_packed_params(tokens);
    if (take(tokens, ")") || (tokens.peek().is("void") && ends_behind_void(tokens))) return;
    do {
      const auto type = parse_type(tokens);
      if (!type) fail_at(tokens.peek(), "a parameter's type");
      const Token name = tokens.next();
      if (!name.is_identifier()) fail_at(name, "a parameter's name");
      if (type->stars > 1 || (type->stars == 0 && type->element.is_void())) fail_at(name, "a number or storage");
      const bool is_storage = type->stars == 1;
      if (auto pool = pool_of_param(name.text); !has_pools && pool && is_storage && type->element == tir::uint8_type) {
        names_.declare_pool(name, std::move(*pool));
        continue;
      }
      const VarId var = names_.new_var(name.text, is_storage ? tir::handle_type : type->element, type->element);
      names_.declare(name, is_storage ? pointer_to(var, type->element) : values_.variable(var));
      tir::Param param;
      param.var = var;
      param.name = std::string(name.text);
      param.is_tensor = is_storage && !type->element.is_void();
      param.element = param.is_tensor ? type->element : tir::void_type;
      function_.params.push_back(std::move(param));
    } while (take(tokens, ","));
    expect(tokens, ")");
  }

  void read_body() {
    try {
      while (!open_.empty()) {
        take_added();
        statement();
      }
    } catch (const SyntaxError& error) {
      if (callers_.empty()) throw;
      throw InlinedError{{error.offset, error.message}, callers_.front().callee};
    }
    names_.insert_tables();
    insert_packed_params();
  }

 private:
  // --- Statements that stay as text ----------------------------------------------------------------------------------

  // Those that stand in front of the next token.
  void take_added() {
    while (!added_.empty() && callers_.empty() && added_.front().begin <= tokens_.peek().offset) {
      const AddedText text = added_.front();
      if (open_.size() != 1) fail_at(tokens_.peek(), "the end of the block");
      added_ = added_.subspan(1);
      while (tokens_.peek().kind != TokenKind::end && tokens_.peek().offset < text.end) (void)tokens_.next();
      body_.evaluate(
          tir::make_call(tir::int32_type, tir::Op::call_extern,
                         {tir::make_string(tir::kept_text),
                          tir::make_string(std::string(tokens_.text().substr(text.begin, text.end - text.begin)))}));
    }
  }

  // --- Packed interface ----------------------------------------------------------------------------------------------

  // The first are the arguments; the others say nothing that is needed.
  void read_packed_params(Lexer tokens) {
    bool is_first = true;
    do {
      (void)parse_type(tokens);
      const Token name = tokens.next();
      names_.declare(name, is_first ? packed_.arguments() : PackedState::other());
      is_first = false;
    } while (take(tokens, ","));
  }

  // void* p0 = (((DLTensor*)arg_p0)[0].data);
  void unpacked(const Token& name, CType type, std::int64_t at) {
    const auto pool = pool_of_param(name.text);
    const bool is_pool = pool && (scope_.arrays.contains(*pool) || scope_.constant_pools.contains(*pool));
    const auto [param, is_new] = unpacked_.try_emplace(at);
    if (is_pool) {
      return names_.declare_pool(name, *pool);
    }
    if (is_new) {
      param->second.var = names_.new_var(name.text, tir::handle_type, type.element);
      param->second.name = std::string(name.text);
      param->second.is_tensor = !type.element.is_void();
      param->second.element = type.element;
    }
    names_.declare(name, pointer_to(param->second.var, type.element));
  }

  void insert_packed_params() {
    std::int64_t next = 0;
    for (auto& [at, param] : unpacked_) {
      if (at != next++)
        throw Error(ErrorKind::archive, {}, "argument " + std::to_string(next - 1) + " is not unpacked");
      if (!param.name.empty()) function_.params.push_back(std::move(param));
    }
  }

  // TVMValue stack[2]; or TVMValue ret_val; int ret_type_code;
  void packed_declaration(const Token& name) {
    names_.declare(name, packed_.array());
    if (take(tokens_, "[")) {
      skip_to_end(tokens_, name.offset);
      return;
    }
    Lexer ahead = tokens_;
    const auto type = take(ahead, ";") ? parse_type(ahead) : std::nullopt;
    const Token code = ahead.next();
    if (!type || type->stars > 0 || !type->element.is_int() || !code.is_identifier() || !ahead.peek().is(";")) return;
    tokens_ = std::move(ahead);
    names_.declare(code, PackedState::other());
  }

  // (values, type codes, count, &value, &code, resource), the bracket and what stands in front of `values` taken
  void packed_call(const std::string& name, const Token& at) {
    if (!scope_.functions.contains(name) || !takes_packed(scope_.functions.find(name)->second.params)) {
      fail_at(at, "a call of a packed function that a C file of TVM's defines");
    }
    std::vector<Value> given;
    do {
      given.push_back(parse_expression(tokens_, values_, look_up_));
    } while (take(tokens_, ","));
    expect(tokens_, ")");
    const auto count =
        given.size() >= 3 && given[2].kind == Value::Kind::number ? tir::as_int(*given[2].tree.expr) : std::nullopt;
    if (!count) fail_at(at, "the number of arguments of a packed call");
    // Some of TVM's calls pass one more than they count.
    const std::int64_t taken = packed_arguments(scope_.functions.find(name)->second.body);
    checked_call(name, packed_.passed(given[0], std::max(*count, taken), at.offset), true);
  }

  static bool ends_behind_void(Lexer tokens) {
    (void)tokens.next();
    return tokens.peek().is(")");
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
      open_.pop_back();
      if (kind == Open::Kind::then && take(tokens_, "else")) {
        body_.open_else();
        open(Open::Kind::otherwise, take(tokens_, "{"));
        return;
      }
      if (kind != Open::Kind::function) body_.close();
      if (kind == Open::Kind::inlined) {
        tokens_ = std::move(callers_.back().tokens);
        callers_.pop_back();
      }
      if (open_.empty() || open_.back().has_braces) return;
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
    if (first.is("for")) return loop();
    if (first.is("while")) return while_loop();
    if (first.is("if")) return branch();
    if (first.is("return")) return result();
    if (first.is("{")) {
      body_.open_scope();
      return open(Open::Kind::braces, take(tokens_, "{"));
    }
    if (take(tokens_, ";") || take_unused() || take_checked_result()) return end_statement();
    if (const auto type = parse_type(tokens_)) {
      declaration(*type);
    } else if (auto name = called_name()) {
      if (scope_.inlined.contains(*name) && !kept_.contains(*name)) return inline_call(*name);
      call(*name, false);
      expect(tokens_, ";");
    } else if (auto other = other_called_name()) {
      checked_call(*other, arguments_with_text(), false);
      expect(tokens_, ";");
    } else {
      assignment();
    }
    end_statement();
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

  // int ret = f(…); if (ret != 0) return ret;
  bool take_checked_result() {
    Lexer ahead = tokens_;
    const auto type = parse_type(ahead);
    if (type && (type->stars > 0 || !type->element.is_int() || type->element.bits < 32)) return false;
    const Token name = ahead.next();
    if (!name.is_identifier() || !take(ahead, "=")) return false;
    if (!type) {  // behind the block, the variable has to be what it is then
      const auto known = names_.look_up(name.text);
      if (!known || (!is_zero(*known) && open_.size() != 1)) return false;
    }
    const Lexer begin = tokens_;
    tokens_ = ahead;
    const auto callee = called_name();
    ahead = tokens_;
    if (!callee || !open_.back().has_braces || !is_result_checked(ahead, name)) {
      tokens_ = begin;
      return false;
    }
    call(*callee, true);
    tokens_ = std::move(ahead);
    names_.declare(name, Values::number({tir::make_int(0)}));
    return true;
  }

  static bool is_zero(const Value& value) {
    return value.kind == Value::Kind::number && tir::as_int(*value.tree.expr) == 0;
  }

  // for (int32_t i = a; i < b; ++i)
  void loop() {
    (void)tokens_.next();
    expect(tokens_, "(");
    const auto type = parse_type(tokens_);
    if (!type || type->stars > 0 || !type->element.is_integer()) fail_at(tokens_.peek(), "a loop over an integer");
    const Token name = tokens_.next();
    if (!name.is_identifier()) fail_at(name, "the loop's variable");
    expect(tokens_, "=");
    const Tree min = values_.converted(parse_expression(tokens_, values_, look_up_), type->element);
    expect(tokens_, ";");
    expect(tokens_, name.text);
    const Token compare = tokens_.next();
    if (!compare.is("<") && !compare.is("<=")) fail_at(compare, "'<'");
    Value end = parse_expression(tokens_, values_, look_up_);
    if (compare.is("<=")) end = values_.binary("+", end, Values::number({tir::make_int(1)}));
    expect(tokens_, ";");
    const bool is_prefix = take(tokens_, "++");
    expect(tokens_, name.text);
    if (!is_prefix) expect(tokens_, "++");
    expect(tokens_, ")");
    Tree extent = values_.converted(end, type->element);
    if (tir::as_int(*min.expr) != 0) {
      extent = values_.converted(values_.binary("-", Values::number(extent), Values::number(min)), type->element);
    }
    const VarId var = names_.new_var(name.text, type->element, tir::void_type);
    body_.open_loop(var, min.expr, extent.expr);
    open(Open::Kind::loop, take(tokens_, "{"));
    names_.declare(name, values_.variable(var));
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
    if (take_look_up(tokens_, packed_)) return end_statement();
    const Token at = tokens_.peek();
    if (take(tokens_, "TVMFuncCall")) {
      expect(tokens_, "(");
      const Token variable = tokens_.next();
      const auto found = packed_.looked_up.find(variable.text);
      if (found == packed_.looked_up.end()) fail_at(variable, "a function that TVMBackendGetFuncFromEnv has found");
      expect(tokens_, ",");
      packed_call(found->second, at);
      expect(tokens_, "!=");
      expect_number(tokens_, 0);
      expect(tokens_, ")");
      expect_failure(tokens_);
      return end_statement();
    }
    if (const auto name = called_name()) {
      if (*name == free_function) {
        skip_bracketed(tokens_, "(");
      } else {
        call(*name, true);
      }
      if (!tokens_.peek().is(")")) {
        expect(tokens_, "!=");
        expect_number(tokens_, 0);
      }
      expect(tokens_, ")");
      expect_failure(tokens_);
      return end_statement();
    }
    if (const auto other = other_checked_name()) {
      checked_call(*other, arguments_with_text(), true);
      if (take(tokens_, "!=")) expect_number(tokens_, 0);
      expect(tokens_, ")");
      expect_failure(tokens_);
      return end_statement();
    }
    if (is_null_check()) {
      expect_failure(tokens_);
      return end_statement();
    }
    const Value tested = parse_expression(tokens_, values_, look_up_);
    if (tested.kind == Value::Kind::record) {
      expect(tokens_, ")");
      expect_packed_check(tokens_, at);
      return end_statement();
    }
    const Tree condition = values_.condition(tested);
    expect(tokens_, ")");
    body_.open_branch(condition.expr);
    open(Open::Kind::then, take(tokens_, "{"));
  }

  // "x == NULL)" of workspace, which is taken if it stands here; also "NULL == x)" and "!x)".
  bool is_null_check() {
    Lexer ahead = tokens_;
    const auto take_null = [&] { return take(ahead, "NULL") || take(ahead, "nullptr") || take_zero(ahead); };
    const bool is_negated = take(ahead, "!");
    const bool is_in_front = !is_negated && take_null();
    if (is_in_front && !take(ahead, "==")) return false;
    const Token name = ahead.next();
    if (!name.is_identifier()) return false;
    if (!is_negated && !is_in_front && (!take(ahead, "==") || !take_null())) return false;
    if (!take(ahead, ")")) return false;
    const auto value = names_.look_up(name.text);
    if (!value || value->kind != Value::Kind::pointer) return false;
    tokens_ = std::move(ahead);
    return true;
  }

  static bool take_zero(Lexer& tokens) {
    if (tokens.peek().kind != TokenKind::number || tokens.peek().text != "0") return false;
    (void)tokens.next();
    return true;
  }

  // return 0; and return f(…); at the end of the function.
  void result() {
    const Token at = tokens_.next();
    if (const auto name = called_name()) {
      call(*name, true);
    } else if (!tokens_.peek().is(";")) {
      const bool has_brackets = take(tokens_, "(");
      const auto value = tokens_.peek().is_identifier() ? names_.look_up(tokens_.peek().text) : std::nullopt;
      if (value && is_zero(*value)) {
        (void)tokens_.next();  // what take_checked_result leaves
      } else {
        expect_number(tokens_, 0);
      }
      if (has_brackets) expect(tokens_, ")");
    }
    expect(tokens_, ";");
    const bool is_last = open_.size() == 1 && tokens_.peek().is("}") && added_.empty();
    if (!is_last) fail_at(at, "one return, at the end of the function");
  }

  // A function's name that a bracket follows, both taken but the bracket; a function of math.h is part of an
  // expression.
  std::optional<std::string> called_name() {
    Lexer ahead = tokens_;
    if (take(ahead, "(")) {  // (void)f();
      if (!take(ahead, "void") || !take(ahead, ")")) return std::nullopt;
    }
    const Token name = ahead.next();
    if (!name.is_identifier() || !ahead.peek().is("(") || names_.look_up(name.text)) return std::nullopt;
    std::string text(name.text);
    const bool is_known = text == free_function || scope_.functions.contains(text) || scope_.foreign.contains(text) ||
                          scope_.prototypes.contains(text);
    if (!is_known) return std::nullopt;
    tokens_ = std::move(ahead);
    return text;
  }

  // The same of a function that no C declares here, such as a timer's that somebody added: a statement of the entry.
  std::optional<std::string> other_called_name() {
    Lexer ahead = tokens_;
    const Token name = ahead.next();
    const bool is_keyword = name.is("switch") || name.is("sizeof") || name.is("asm") || name.is("__asm");
    const bool is_tvm = name.text.starts_with("TVM") && !name.text.starts_with("TVMDevice");  // hooks of devices
    const bool is_one = function_.is_entry && name.is_identifier() && !is_keyword &&
                        !name.text.starts_with("tvmgen_") && !is_tvm && ahead.peek().is("(") &&
                        !names_.look_up(name.text);
    if (!is_one) return std::nullopt;
    tokens_ = std::move(ahead);
    return std::string(name.text);
  }

  // The same in "if (f(…) != 0) return -1;", as TVM opens and closes devices.
  std::optional<std::string> other_checked_name() {
    const Lexer before = tokens_;
    auto name = other_called_name();
    if (!name) return std::nullopt;
    Lexer ahead = tokens_;
    skip_bracketed(ahead, "(");
    if (take(ahead, "!=") && ahead.next().text != "0") name.reset();
    const bool is_check =
        name && take(ahead, ")") && (take(ahead, "return") || (take(ahead, "{") && take(ahead, "return")));
    if (is_check) return name;
    tokens_ = before;
    return std::nullopt;
  }

  // As parse_arguments, strings included.
  std::vector<Value> arguments_with_text() {
    std::vector<Value> arguments;
    expect(tokens_, "(");
    if (take(tokens_, ")")) return arguments;
    do {
      if (tokens_.peek().kind != TokenKind::string) {
        arguments.push_back(parse_expression(tokens_, values_, look_up_));
        continue;
      }
      std::string text;
      while (tokens_.peek().kind == TokenKind::string) text += text_of_string(tokens_.next());
      arguments.push_back(Values::number({tir::make_string(std::move(text))}));
    } while (take(tokens_, ","));
    expect(tokens_, ")");
    return arguments;
  }

  // The callee's statements instead, in a block.
  void inline_call(const std::string& name) {
    const FunctionText& callee = scope_.functions.find(name)->second;
    const Token at = tokens_.peek();
    const std::vector<Value> given = parse_arguments(tokens_, values_, look_up_);
    expect(tokens_, ";");
    body_.open_scope();
    open(Open::Kind::inlined, true);
    callers_.push_back({name, tokens_});
    Lexer params = callee.params;
    std::size_t count = 0;
    while (const auto type = parse_type(params)) {
      const Token param = params.next();
      if (count == given.size()) break;
      const Value& argument = given[count++];
      if (type->stars > 0) {
        names_.declare(param, values_.cast(*type, argument));
      } else {
        const Tree value = values_.converted(argument, type->element);
        const VarId var = names_.new_var(param.text, type->element, tir::void_type);
        body_.let(var, value.expr);
        names_.declare(param, values_.variable(var));
      }
      if (!take(params, ",")) break;
    }
    if (count != given.size() || !params.peek().is(")")) fail_at(at, "as many arguments as the function takes");
    tokens_ = callee.body;
  }

  void call(const std::string& name, bool is_checked) {
    const auto defined = scope_.functions.find(name);
    if (defined != scope_.functions.end() && takes_packed(defined->second.params)) {
      const Token at = tokens_.peek();
      expect(tokens_, "(");
      return packed_call(name, at);
    }
    checked_call(name, parse_arguments(tokens_, values_, look_up_), is_checked);
  }

  void checked_call(const std::string& name, const std::vector<Value>& given, bool is_checked) {
    std::vector<tir::ExprRef> arguments = {tir::make_string(name)};
    const auto kept = kept_.find(name);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Value& argument = given[i];
      if (argument.kind != Value::Kind::pool) {
        arguments.push_back(values_.argument(argument).expr);
      } else if (kept != kept_.end() && i < kept->second.size() && kept->second[i]) {
        const PoolParam& used = *kept->second[i];
        const auto start = used.is_whole ? names_.start_of(argument.pool, given) : std::nullopt;
        arguments.push_back(values_.argument(start ? *start : names_.scratch(argument.pool, used)).expr);
      } else if (kept != kept_.end() || !scope_.functions.contains(name)) {
        throw Error(ErrorKind::archive, {},
                    "passes pool " + in_quotes(argument.pool) + " to " + in_quotes(name) +
                        ", and what that uses of it is not known: expected a C file that defines " + in_quotes(name) +
                        " and takes addresses as (&(pool[offset]))");
      }
    }
    tir::ExprRef result = tir::make_call(tir::int32_type, tir::Op::call_extern, std::move(arguments));
    if (is_checked) {
      result = tir::make_call(tir::int32_type, tir::Op::tvm_check_return,
                              {tir::make_int(0), tir::make_int(-1), std::move(result)});
    }
    body_.evaluate(std::move(result));
    result_.called.push_back(name);
  }

  // Behind the type.
  void declaration(CType type) {
    const Token name = tokens_.next();
    if (!name.is_identifier()) fail_at(name, "a variable's name");
    if (type.stars > 0) {
      expect(tokens_, "=");
      if (type.stars > 1) fail_at(name, "a pointer to numbers");
      pointer(name, type);
    } else if (type.element.is_void()) {
      packed_declaration(name);
    } else if (take(tokens_, "[")) {
      array(name, type.element);
    } else if (take(tokens_, "=")) {
      const Value given = parse_expression(tokens_, values_, look_up_);
      if (given.kind == Value::Kind::record) {
        names_.declare(name, PackedState::other());
      } else {
        const Tree value = values_.converted(given, type.element);
        const VarId var = names_.new_var(name.text, type.element, tir::void_type);
        body_.let(var, value.expr);
        names_.declare(name, values_.variable(var));
      }
    } else {
      Value place = pointer_to(names_.new_var(name.text, tir::handle_type, type.element), type.element);
      body_.allocate(place.storage, type.element, {}, nullptr, {});
      place.kind = Value::Kind::place;
      place.tree = {tir::make_int(0)};
      names_.declare(name, std::move(place));
    }
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
    if (const auto argument = PackedState::argument_of(value)) return unpacked(name, type, *argument);
    values_.at = name.offset;
    names_.declare(name, values_.cast(type, value));
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
    skip_attributes(tokens_);
    const auto elements = tir::as_int(*count.expr);
    if (!elements || *elements < 1) fail_at(name, "an array of a constant number of elements");
    names_.declare(name, pointer_to(names_.allocated(name, element, *elements, true), element));
  }

  // Shapes, types, devices are of no account.
  void packed_assignment(const Value& place) {
    const Token at = tokens_.peek();
    expect(tokens_, "=");
    if (PackedState::keeps(place)) {
      const bool may_not_happen = std::any_of(open_.begin(), open_.end(), [](const Open& block) {
        return block.kind != Open::Kind::function && block.kind != Open::Kind::braces;
      });
      if (may_not_happen) fail_at(at, "arguments of a packed call outside of loops and branches");
      packed_.store(place, parse_expression(tokens_, values_, look_up_));
    } else if (place.record.part == Record::Part::offset) {
      const Tree bytes = values_.rvalue(parse_expression(tokens_, values_, look_up_));
      if (tir::as_int(*bytes.expr) != 0) fail_at(at, "a tensor without an offset");
    } else {
      packed_.overwrite(place);
      while (!tokens_.peek().is(";")) {
        if (tokens_.next().kind == TokenKind::end) fail_at(tokens_.peek(), "';'");
      }
    }
    expect(tokens_, ";");
  }

  // place = value;
  void assignment() {
    const Value place = parse_expression(tokens_, values_, look_up_);
    if (place.kind == Value::Kind::record) return packed_assignment(place);
    const Token op = tokens_.next();
    constexpr std::array<std::string_view, 10> with_operator = {
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
    const bool is_updated =
        std::any_of(with_operator.begin(), with_operator.end(), [&](std::string_view one) { return op.is(one); });
    if (!op.is("=") && !is_updated) fail_at(op, "'='");
    if (place.kind != Value::Kind::place) fail_at(op, "an element of storage in front");
    Value value = parse_expression(tokens_, values_, look_up_);
    if (is_updated) value = values_.binary(op.text.substr(0, op.text.size() - 1), place, value);
    expect(tokens_, ";");
    if (place.type.is_void()) fail_at(op, "an element of a number in front");
    body_.add({place.storage, place.tree.expr, values_.converted(value, place.type).expr, nullptr});
  }

  Lexer tokens_;
  std::span<const AddedText> added_;  // behind what is read
  const FileScope& scope_;
  const KeptPools& kept_;
  ReadFunction& result_;
  tir::Function& function_;
  Values values_;
  tir::BodyBuilder body_;
  BodyNames names_;
  LookUp look_up_;
  struct Caller {
    std::string callee;
    Lexer tokens;  // behind the call
  };
  std::vector<Open> open_;
  std::vector<Caller> callers_;  // of the function that is read in place of a call, the outermost first
  PackedState packed_;
  std::map<std::int64_t, tir::Param> unpacked_;  // by position; of a pool without a name
};

}  // namespace

ReadFunction read_function(const FunctionText& text, const FileScope& scope, const KeptPools& kept,
                           const Limits& limits, tir::Module& module, bool is_entry, std::span<const AddedText> added) {
  ReadFunction result;
  result.function.is_entry = is_entry;
  BodyReader reader(text, scope, kept, limits, module, result, added);
  reader.read_params(text.params);
  reader.read_body();
  return result;
}

tir::Function read_prototype(const Lexer& params, const FileScope& scope, const Limits& limits, tir::Module& module) {
  ReadFunction result;
  BodyReader reader({.file = 0, .is_ambiguous = false, .offset = 0, .params = params, .body = params}, scope, {},
                    limits, module, result);
  reader.read_params(params, true);
  return std::move(result.function);
}

}  // namespace usmp::tvm_c
