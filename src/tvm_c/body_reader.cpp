// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/body_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

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
  std::vector<std::string> names;  // declared in it
};

class BodyReader {
 public:
  BodyReader(const FunctionText& text, const FileScope& scope, const KeptPools& kept, const Limits& limits,
             tir::Module& module, ReadFunction& result, std::span<const AddedText> added = {})
      : tokens_(text.body),
        added_(added),
        file_(text.file),
        scope_(scope),
        kept_(kept),
        module_(module),
        result_(result),
        function_(result.function),
        values_(module, limits.expression_depth),
        body_(module, result.function, limits.block_depth),
        look_up_([this](std::string_view name) { return look_up(name); }) {}

  // `has_pools`: those of TVM's are parameters like others.
  void read_params(Lexer tokens, bool has_pools = false) {
    open_.push_back({});
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
        declare(name, pool_value(*pool));
        pools_.emplace(name.text, std::move(*pool));
        continue;
      }
      const VarId var = new_var(name.text, is_storage ? tir::handle_type : type->element, type->element);
      declare(name, is_storage ? pointer_to(var, type->element) : values_.variable(var));
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
    insert_tables();
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
    do {
      (void)parse_type(tokens);
      const Token name = tokens.next();
      declare(name, open_.back().names.empty() ? packed_.arguments() : PackedState::other());
    } while (take(tokens, ","));
  }

  // void* p0 = (((DLTensor*)arg_p0)[0].data);
  void unpacked(const Token& name, CType type, std::int64_t at) {
    const auto pool = pool_of_param(name.text);
    const bool is_pool = pool && (scope_.arrays.contains(*pool) || scope_.constant_pools.contains(*pool));
    const auto [param, is_new] = unpacked_.try_emplace(at);
    if (is_pool) {
      pools_.emplace(name.text, *pool);
      return declare(name, pool_value(*pool));
    }
    if (is_new) {
      param->second.var = new_var(name.text, tir::handle_type, type.element);
      param->second.name = std::string(name.text);
      param->second.is_tensor = !type.element.is_void();
      param->second.element = type.element;
    }
    declare(name, pointer_to(param->second.var, type.element));
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
    declare(name, packed_.array());
    if (take(tokens_, "[")) {
      skip_to_end(tokens_, name.offset);
      return;
    }
    Lexer ahead = tokens_;
    const auto type = take(ahead, ";") ? parse_type(ahead) : std::nullopt;
    const Token code = ahead.next();
    if (!type || type->stars > 0 || !type->element.is_int() || !code.is_identifier() || !ahead.peek().is(";")) return;
    tokens_ = std::move(ahead);
    declare(code, PackedState::other());
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

  // if (f_packed == NULL) { if (TVMBackendGetFuncFromEnv(module, "f", &f_packed) != 0) { return -1; } }
  bool function_look_up() {
    Lexer ahead = tokens_;
    const Token variable = ahead.next();
    if (!variable.is_identifier() || !take(ahead, "==") || !take(ahead, "NULL") || !take(ahead, ")")) return false;
    const bool has_braces = take(ahead, "{");
    if (!take(ahead, "if") || !take(ahead, "(") || !take(ahead, "TVMBackendGetFuncFromEnv")) return false;
    tokens_ = std::move(ahead);
    expect(tokens_, "(");
    const Token context = tokens_.next();
    if (!context.is_identifier()) fail_at(context, "the module's context");
    expect(tokens_, ",");
    const Token name = tokens_.next();
    if (name.kind != TokenKind::string) fail_at(name, "a function's name in quotes");
    packed_.looked_up.insert_or_assign(std::string(variable.text),
                                       std::string(name.text.substr(1, name.text.size() - 2)));
    expect(tokens_, ",");
    expect(tokens_, "&");
    expect(tokens_, variable.text);
    expect(tokens_, ")");
    expect(tokens_, "!=");
    expect_number(0);
    expect(tokens_, ")");
    failure();
    if (has_braces) expect(tokens_, "}");
    return true;
  }

  // The block behind a check of what the caller passes: { }, or { TVMAPISetLastError("…"); return -1; }
  void packed_check(const Token& at) {
    const bool has_braces = take(tokens_, "{");
    if (has_braces && take(tokens_, "}")) return;
    if (take(tokens_, "TVMAPISetLastError")) {
      skip_bracketed(tokens_, "(");
      expect(tokens_, ";");
    }
    if (!tokens_.peek().is("return")) fail_at(at, "a check of arguments that fails or does nothing");
    failure();
    if (has_braces) expect(tokens_, "}");
  }

  static bool ends_behind_void(Lexer tokens) {
    (void)tokens.next();
    return tokens.peek().is(")");
  }

  // --- Names ---------------------------------------------------------------------------------------------------------

  VarId new_var(std::string_view name, DataType type, DataType element) {
    module_.vars.push_back({std::string(name), type, type.is_handle() ? element : tir::void_type, {}});
    return VarId(module_.vars.size() - 1);
  }

  static Value pool_value(std::string name) {
    Value value;
    value.kind = Value::Kind::pool;
    value.pool = std::move(name);
    return value;
  }

  static Value pointer_to(VarId storage, DataType element) {
    Value value;
    value.kind = Value::Kind::pointer;
    value.type = element;
    value.storage = storage;
    return value;
  }

  void declare(const Token& name, Value value) {
    std::string key(name.text);
    names_[key].push_back(std::move(value));
    open_.back().names.push_back(std::move(key));
  }

  std::optional<Value> look_up(std::string_view name) {
    const auto found = names_.find(std::string(name));
    if (found != names_.end() && !found->second.empty()) return found->second.back();
    const Table* table = scope_.table(name, file_);
    if (table == nullptr) return std::nullopt;
    const auto [at, is_new] = tables_.try_emplace(std::string(name));
    if (is_new) at->second = new_var(name, tir::handle_type, table->data->type);
    return pointer_to(at->second, table->data->type);
  }

  // In front of everything, as TVM has them.
  void insert_tables() {
    tir::Block constants;
    for (const auto& [name, var] : tables_) {
      const Table& table = *scope_.table(name, file_);
      result_.tables.push_back(name);
      constants.push_back({tir::AllocateConst{var, table.data->type, table.data, {}}});
    }
    for (const auto& [name, placed] : placed_) {
      constants.push_back({tir::AllocateConst{placed.first, placed.second->data->type, placed.second->data, {}}});
    }
    for (const auto& [name, var] : pool_constants_) {
      constants.push_back({tir::AllocateConst{var, tir::uint8_type, nullptr, {}}});
    }
    function_.body.insert(function_.body.begin(), std::make_move_iterator(constants.begin()),
                          std::make_move_iterator(constants.end()));
  }

  // --- Blocks --------------------------------------------------------------------------------------------------------

  void open(Open::Kind kind) { open_.push_back({kind, take(tokens_, "{"), {}}); }

  // Also those around that have no braces and are complete with it.
  void close() {
    while (true) {
      for (const std::string& name : open_.back().names) names_[name].pop_back();
      const Open::Kind kind = open_.back().kind;
      open_.pop_back();
      if (kind == Open::Kind::then && take(tokens_, "else")) {
        body_.open_else();
        open(Open::Kind::otherwise);
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
      return open(Open::Kind::braces);
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
    if (!name.is_identifier() || !take(ahead, ";") || !look_up(name.text)) return false;
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
      const auto known = look_up(name.text);
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
    declare(name, Values::number({tir::make_int(0)}));
    return true;
  }

  static bool is_zero(const Value& value) {
    return value.kind == Value::Kind::number && tir::as_int(*value.tree.expr) == 0;
  }

  // Behind the callee's name; takes all up to the end of the check.
  static bool is_result_checked(Lexer& tokens, const Token& name) {
    skip_bracketed(tokens, "(");
    if (!take(tokens, ";") || !take(tokens, "if") || !take(tokens, "(") || !take(tokens, name.text)) return false;
    if (take(tokens, "!=") && tokens.next().text != "0") return false;
    if (!take(tokens, ")")) return false;
    const bool has_braces = take(tokens, "{");
    if (!take(tokens, "return")) return false;
    if (!take(tokens, name.text) && (!take(tokens, "-") || tokens.next().text != "1")) return false;
    return take(tokens, ";") && (!has_braces || take(tokens, "}")) && !tokens.peek().is("else");
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
    const VarId var = new_var(name.text, type->element, tir::void_type);
    body_.open_loop(var, min.expr, extent.expr);
    open(Open::Kind::loop);
    declare(name, values_.variable(var));
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
      return open(Open::Kind::loop);
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
    open_.push_back({Open::Kind::loop, true, {}});
  }

  void branch() {
    (void)tokens_.next();
    expect(tokens_, "(");
    if (function_look_up()) return end_statement();
    const Token at = tokens_.peek();
    if (take(tokens_, "TVMFuncCall")) {
      expect(tokens_, "(");
      const Token variable = tokens_.next();
      const auto found = packed_.looked_up.find(variable.text);
      if (found == packed_.looked_up.end()) fail_at(variable, "a function that TVMBackendGetFuncFromEnv has found");
      expect(tokens_, ",");
      packed_call(found->second, at);
      expect(tokens_, "!=");
      expect_number(0);
      expect(tokens_, ")");
      failure();
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
        expect_number(0);
      }
      expect(tokens_, ")");
      failure();
      return end_statement();
    }
    if (const auto other = other_checked_name()) {
      checked_call(*other, arguments_with_text(), true);
      if (take(tokens_, "!=")) expect_number(0);
      expect(tokens_, ")");
      failure();
      return end_statement();
    }
    if (is_null_check()) {
      failure();
      return end_statement();
    }
    const Value tested = parse_expression(tokens_, values_, look_up_);
    if (tested.kind == Value::Kind::record) {
      expect(tokens_, ")");
      packed_check(at);
      return end_statement();
    }
    const Tree condition = values_.condition(tested);
    expect(tokens_, ")");
    body_.open_branch(condition.expr);
    open(Open::Kind::then);
  }

  // "x == NULL)" of workspace, which is taken if it stands here.
  bool is_null_check() {
    Lexer ahead = tokens_;
    const Token name = ahead.next();
    if (!name.is_identifier() || !take(ahead, "==") || !take(ahead, "NULL") || !take(ahead, ")")) return false;
    const auto value = look_up(name.text);
    if (!value || value->kind != Value::Kind::pointer) return false;
    tokens_ = std::move(ahead);
    return true;
  }

  // return -1;
  void failure() {
    const bool has_braces = take(tokens_, "{");
    expect(tokens_, "return");
    const bool has_brackets = take(tokens_, "(");
    expect(tokens_, "-");
    expect_number(1);
    if (has_brackets) expect(tokens_, ")");
    expect(tokens_, ";");
    if (has_braces) expect(tokens_, "}");
  }

  void expect_number(std::int64_t number) {
    const Token token = tokens_.next();
    if (token.kind != TokenKind::number || token.text != std::to_string(number)) {
      fail_at(token, "'" + std::to_string(number) + "'");
    }
  }

  // return 0; and return f(…); at the end of the function.
  void result() {
    const Token at = tokens_.next();
    if (const auto name = called_name()) {
      call(*name, true);
    } else if (!tokens_.peek().is(";")) {
      const bool has_brackets = take(tokens_, "(");
      const auto value = tokens_.peek().is_identifier() ? look_up(tokens_.peek().text) : std::nullopt;
      if (value && is_zero(*value)) {
        (void)tokens_.next();  // what take_checked_result leaves
      } else {
        expect_number(0);
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
    if (!name.is_identifier() || !ahead.peek().is("(") || look_up(name.text)) return std::nullopt;
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
                        !name.text.starts_with("tvmgen_") && !is_tvm && ahead.peek().is("(") && !look_up(name.text);
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
    open_.push_back({Open::Kind::inlined, true, {}});
    callers_.push_back({name, tokens_});
    Lexer params = callee.params;
    std::size_t count = 0;
    while (const auto type = parse_type(params)) {
      const Token param = params.next();
      if (count == given.size()) break;
      const Value& argument = given[count++];
      if (type->stars > 0) {
        declare(param, values_.cast(*type, argument));
      } else {
        const Tree value = values_.converted(argument, type->element);
        const VarId var = new_var(param.text, type->element, tir::void_type);
        body_.let(var, value.expr);
        declare(param, values_.variable(var));
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
        const auto start = used.is_whole ? start_of(argument.pool, given) : std::nullopt;
        arguments.push_back(values_.argument(start ? *start : scratch(argument.pool, used)).expr);
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

  // An argument that TVM has put at the start of the pool, with memory up to the pool's end: it is the whole pool, too.
  std::optional<Value> start_of(const std::string& pool, const std::vector<Value>& given) {
    const auto size = scope_.arrays.find(pool);
    if (size == scope_.arrays.end()) return std::nullopt;
    for (const PlannedPlace& place : result_.memory.places) {
      const bool is_given = std::any_of(function_.params.begin(), function_.params.end(),
                                        [&](const tir::Param& param) { return param.var == place.var; });
      if (place.pool != pool || place.offset != 0 || is_given) continue;
      const auto argument = std::find_if(given.begin(), given.end(), [&](const Value& value) {
        return value.kind == Value::Kind::pointer && value.storage == place.var;
      });
      if (argument == given.end()) continue;
      result_.memory.last.emplace(place.var, size->second);
      return *argument;
    }
    return std::nullopt;
  }

  // What a function whose C stays takes of the pool that it gets.
  Value scratch(const std::string& pool, const PoolParam& used) {
    Value value;
    value.kind = Value::Kind::null;
    if (!used.is_used) return value;
    if (scope_.constant_pools.contains(pool)) {
      values_.fail("found constants of pool " + in_quotes(pool) + " in a function whose C stays, expected workspace");
    }
    const auto size = scope_.arrays.find(pool);
    const bool is_known = used.end || size != scope_.arrays.end();
    const Bytes end = used.end ? *used.end : is_known ? size->second : INT32_MAX;
    if (end <= std::max(used.begin, used.last))
      values_.fail("found an offset that pool " + in_quotes(pool) + " does not have");
    const VarId var = allocated({TokenKind::identifier, "scratch", values_.at}, tir::uint8_type, end - used.begin);
    if (!is_known) result_.memory.unbounded.insert(var);
    result_.pools.push_back(pool);
    if (used.last > used.begin) result_.memory.last.emplace(var, used.last);
    if (!used.is_whole) result_.memory.places.push_back({var, pool, used.begin});
    return pointer_to(var, tir::uint8_type);
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
        declare(name, PackedState::other());
      } else {
        const Tree value = values_.converted(given, type.element);
        const VarId var = new_var(name.text, type.element, tir::void_type);
        body_.let(var, value.expr);
        declare(name, values_.variable(var));
      }
    } else {
      Value place = pointer_to(new_var(name.text, tir::handle_type, type.element), type.element);
      body_.allocate(place.storage, type.element, {}, nullptr, {});
      place.kind = Value::Kind::place;
      place.tree = {tir::make_int(0)};
      declare(name, std::move(place));
    }
    expect(tokens_, ";");
  }

  void pointer(const Token& name, CType type) {
    Lexer ahead = tokens_;
    const auto cast = take(ahead, "(") ? parse_type(ahead) : std::nullopt;  // float* x = (float*)TVMBackend…
    if (cast && take(ahead, ")") && ahead.peek().is(allocate_function)) tokens_ = ahead;
    if (take(tokens_, allocate_function)) return workspace(name, type);
    if (planned(name)) return;
    const Value value = parse_expression(tokens_, values_, look_up_);
    if (const auto argument = PackedState::argument_of(value)) return unpacked(name, type, *argument);
    values_.at = name.offset;
    declare(name, values_.cast(type, value));
  }

  // (&(sram_3_var[160])), or sram_3_var + 160: TVM has planned the buffer. Its place is forgotten, and its size is what
  // is accessed.
  bool planned(const Token& name) {
    Lexer ahead = tokens_;
    std::size_t brackets = 0;
    bool is_address = false;
    while (true) {
      if (take(ahead, "&")) {
        if (is_address) return false;
        is_address = true;
      } else if (!take(ahead, "(")) {
        break;
      } else if (!parse_type(ahead)) {
        ++brackets;
      } else if (!take(ahead, ")")) {
        return false;
      }
    }
    const Token pool_name = ahead.next();
    const auto pool = pools_.find(std::string(pool_name.text));
    if (pool == pools_.end()) return false;
    for (; take(ahead, ")"); --brackets) {
      if (brackets == 0) fail_at(name, "an offset in the pool");
    }
    expect(ahead, is_address ? "[" : "+");
    const Token offset = ahead.next();
    if (offset.kind != TokenKind::number || is_real(offset)) fail_at(offset, "an offset in the pool");
    const std::int64_t at = integer_literal(offset).value;
    if (is_address) expect(ahead, "]");
    for (; brackets > 0; --brackets) expect(ahead, ")");
    tokens_ = std::move(ahead);
    constexpr std::string_view suffix = "_let";
    Token plain = name;
    if (plain.text.ends_with(suffix)) plain.text.remove_suffix(suffix.size());
    if (const auto constants = scope_.constant_pools.find(pool->second); constants != scope_.constant_pools.end()) {
      planned_constant(name, plain, *constants, offset, at);
    } else if (function_.is_entry && plain.text.ends_with("_buffer_var")) {
      const VarId var = new_var(plain.text, tir::handle_type, tir::void_type);  // an input or output in the pool
      tir::Param param;
      param.var = var;
      param.name = std::string(plain.text);
      function_.params.push_back(std::move(param));
      if (at < 0) fail_at(offset, "an offset in the pool");
      result_.memory.places.push_back({var, pool->second, at});
      declare(name, pointer_to(var, tir::void_type));
    } else {
      result_.pools.push_back(pool->second);
      const auto size = scope_.arrays.find(pool->second);
      const std::int64_t most = size == scope_.arrays.end() ? INT32_MAX : size->second;
      if (at < 0 || at >= most) fail_at(offset, "an offset in the pool");
      const VarId var = allocated(plain, tir::uint8_type, most - at);
      if (size == scope_.arrays.end()) result_.memory.unbounded.insert(var);
      result_.memory.places.push_back({var, pool->second, at});
      declare(name, pointer_to(var, tir::void_type));
    }
    return true;
  }

  void planned_constant(const Token& name, const Token& plain,
                        const std::pair<const std::string, ConstantPool>& named_pool, const Token& offset,
                        std::int64_t at) {
    const auto& [pool_name, pool] = named_pool;
    std::string key = std::string(plain.text) + "@" + std::to_string(at);
    if (pool.bytes != nullptr) {
      if (at < 0 || static_cast<std::size_t>(at) >= pool.bytes->size()) fail_at(offset, "an offset in the pool");
      const auto [found, is_new] = pool_constants_.try_emplace(std::move(key));
      if (is_new) {
        found->second = new_var(plain.text, tir::handle_type, tir::uint8_type);
        result_.memory.constants.push_back({found->second, pool_name, pool.bytes, static_cast<std::size_t>(at)});
        result_.memory.places.push_back({found->second, pool_name, at});
      }
      declare(name, pointer_to(found->second, tir::void_type));
      return;
    }
    const auto table = pool.tables.find(at);
    if (table == pool.tables.end()) fail_at(offset, "the offset of a constant in the pool");
    const auto [found, is_new] = placed_.try_emplace(std::move(key));
    if (is_new) {
      found->second = {new_var(plain.text, tir::handle_type, table->second.data->type), &table->second};
      result_.memory.places.push_back({found->second.first, pool_name, at});
    }
    declare(name, pointer_to(found->second.first, table->second.data->type));
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
    const VarId var = allocated(name, element, numbers[2] / element.bytes());
    declare(name, pointer_to(var, type.element.is_void() ? element : type.element));
  }

  void array(const Token& name, DataType element) {
    const Tree count = values_.rvalue(parse_expression(tokens_, values_, look_up_));
    expect(tokens_, "]");
    skip_attributes(tokens_);
    const auto elements = tir::as_int(*count.expr);
    if (!elements || *elements < 1) fail_at(name, "an array of a constant number of elements");
    declare(name, pointer_to(allocated(name, element, *elements, true), element));
  }

  VarId allocated(const Token& name, DataType element, std::int64_t elements, bool is_on_stack = false) {
    const VarId var = new_var(name.text, tir::handle_type, element);
    body_.allocate(var, element, {tir::make_int(elements)}, nullptr, {}, is_on_stack);
    return var;
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
  std::size_t file_;
  const FileScope& scope_;
  const KeptPools& kept_;
  tir::Module& module_;
  ReadFunction& result_;
  tir::Function& function_;
  Values values_;
  tir::BodyBuilder body_;
  LookUp look_up_;
  std::unordered_map<std::string, std::vector<Value>> names_;  // the innermost last
  std::map<std::string, VarId> tables_;
  std::unordered_map<std::string, std::string> pools_;            // by parameter: the pool's name
  std::map<std::string, std::pair<VarId, const Table*>> placed_;  // constants in pools of the C's own
  std::map<std::string, VarId> pool_constants_;                   // and of the application's
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
