// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads the statements and expressions of a function, in whatever order they run, for where addresses go. What is none
// of the forms here is not understood, and then all parameters escape. Tests: tests/tvm_c/escape_test.cpp.
#include "tvm_c/kept/escape_function.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::size_t most_reads = 16;      // of one function: its variables get addresses from each other
constexpr std::size_t most_levels = 250;    // of expressions in each other, as in what compilers take
constexpr std::size_t no_token = SIZE_MAX;  // also: no variable

template <std::size_t count>
bool is_one_of(std::string_view text, const std::array<std::string_view, count>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool qualifies(std::string_view word) {
  return is_one_of(word, std::array<std::string_view, 8>{"const", "volatile", "restrict", "__restrict", "__restrict__",
                                                         "register", "auto", "__extension__"});
}

bool outlives_function(std::string_view word) {
  return is_one_of(word, std::array<std::string_view, 4>{"static", "extern", "_Thread_local", "__thread"});
}

bool begins_struct(std::string_view word) { return word == "struct" || word == "union" || word == "enum"; }

bool begins_type(std::string_view word) {
  return qualifies(word) || outlives_function(word) || begins_struct(word) || is_number_word(word) || word == "void" ||
         word == "__attribute__";
}

// A statement's, or one that changes what the text around it means.
bool is_no_operand(std::string_view word) {
  return begins_type(word) ||
         is_one_of(word, std::array<std::string_view, 27>{
                             "if",      "else",     "for",         "while",          "do",        "switch",  "case",
                             "default", "return",   "goto",        "break",          "continue",  "asm",     "__asm",
                             "__asm__", "typeof",   "__typeof__",  "_Generic",       "typedef",   "inline",  "_Pragma",
                             "_Atomic", "__typeof", "__auto_type", "_Static_assert", "__label__", "_Alignas"});
}

bool asks_size(std::string_view word) {
  return is_one_of(word, std::array<std::string_view, 4>{"sizeof", "_Alignof", "__alignof__", "offsetof"});
}

bool is_comparison(std::string_view op) {
  return is_one_of(op, std::array<std::string_view, 8>{"==", "!=", "<", ">", "<=", ">=", "&&", "||"});
}

struct NotUnderstood {};

// What a value may have.
struct Addresses {
  ParamSet params = 0;   // addresses of what these point to, whatever its type
  bool holds = false;    // also of memory that has such addresses
  bool numbers = false;  // its type is a pointer to numbers

  [[nodiscard]] Addresses with(const Addresses& other) const {
    return {params | other.params, holds || other.holds,
            (params == 0 || numbers) && (other.params == 0 || other.numbers)};
  }
};

struct LocalVariable {
  std::string_view name;
  Addresses has = {};
  bool is_array = false;  // `has`: its elements, and the type of its name
  bool is_static = false;
  std::size_t begin = 0;  // tokens where the name means it
  std::size_t end = 0;
};

struct Operand : Addresses {
  enum class Where : std::uint8_t { nowhere, variable, inside, memory };
  Where where = Where::nowhere;     // inside: an element or member of a variable
  std::size_t variable = no_token;  // whose place it is
  bool is_array = false;            // a variable's name that is its address
  Addresses address = {};           // of a place in memory
  std::string_view name = {};       // of a variable or member in it, for messages
};

class FunctionReader {
 public:
  FunctionReader(const FunctionBody& body, const CalledFunctions& called)
      : body_(body), tokens_(body.tokens), called_(called), partner_(tokens_.size(), no_token) {}

  FunctionEscape read() {
    try {
      find_partners();
      for (std::size_t i = 0; i < body_.params.size(); ++i) {
        const EscapeParam& param = body_.params[i];
        LocalVariable& variable = declare(param.name, tokens_.size() + i, 0, tokens_.size());
        variable.has = {param.is_given ? param_bit(i) : 0, param.holds, param.numbers};
      }
      for (std::size_t round = 0; round < most_reads; ++round) {
        has_changed_ = false;
        for (at_ = 0; at_ < tokens_.size();) read_statement();
        if (!has_changed_) return result_;
      }
    } catch (const NotUnderstood&) {
    }
    const std::string_view at = at_ < tokens_.size() ? std::string_view(tokens_[at_].text) : "}";
    return {all_params, body_.name, "is not understood at " + in_quotes(at), {}};
  }

 private:
  using Where = Operand::Where;

  [[nodiscard]] bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].is(text);
  }
  [[nodiscard]] bool is_name(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].is_identifier() && !is_no_operand(tokens_[i].text);
  }
  void require(bool is_understood) const {
    if (!is_understood) throw NotUnderstood();
  }
  bool take(std::string_view text) {
    const bool is_next = is(at_, text);
    if (is_next) ++at_;
    return is_next;
  }
  void expect_token(std::string_view text) { require(take(text)); }

  void find_partners() {
    std::vector<std::size_t> open;
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      const MadeToken& token = tokens_[at_];
      if (token.is("(") || token.is("[") || token.is("{")) open.push_back(at_);
      if (!token.is(")") && !token.is("]") && !token.is("}")) continue;
      const char opening = token.is(")") ? '(' : token.is("]") ? '[' : '{';
      require(!open.empty() && tokens_[open.back()].text[0] == opening);
      partner_[open.back()] = at_;
      open.pop_back();
    }
    require(open.empty());
  }

  // From `i` on, outside of brackets; `end`: there is none.
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t i, std::size_t end) const {
    while (i < end && !is(i, text)) i = partner_[i] != no_token ? partner_[i] + 1 : i + 1;
    return std::min(i, end);
  }

  // --- Statements

  void read_statement() {
    if (take(";") || take("else") || take("do")) return;
    if (take("{")) {
      blocks_.push_back(partner_[at_ - 1]);
      return;
    }
    if (take("}")) {
      require(!blocks_.empty());
      return blocks_.pop_back();
    }
    if (is(at_, "for")) return read_for();
    if (is_control(tokens_[at_])) {
      ++at_;
      expect_token("(");
      (void)read_expression(0);
      return expect_token(")");
    }
    if (take("case")) {
      (void)read_expression(2);
      return expect_token(":");
    }
    if ((is_name(at_) || is(at_, "default")) && is(at_ + 1, ":")) {
      at_ += 2;
    } else if (take("return")) {
      if (!is(at_, ";")) give_back(read_expression(0));
      expect_token(";");
    } else if (take("goto")) {
      require(is_name(at_));
      ++at_;
      expect_token(";");
    } else if (take("break") || take("continue")) {
      expect_token(";");
    } else {
      read_declaration_or_expression(blocks_.empty() ? tokens_.size() : blocks_.back());
    }
  }

  // for (int i = 0; i < 3; ++i)
  void read_for() {
    std::size_t body = partner_[std::min(at_ + 1, tokens_.size() - 1)];
    at_ += 2;
    require(is(at_ - 1, "("));
    while (body + 1 < tokens_.size() && is_control(tokens_[body + 1])) {
      body = partner_[body + 2];
      require(body != no_token);
    }
    const std::size_t end = is(body + 1, "{") ? partner_[body + 1] : find(";", body + 1, tokens_.size());
    read_declaration_or_expression(end);
    if (!is(at_, ";")) (void)read_expression(0);
    expect_token(";");
    if (!is(at_, ")")) (void)read_expression(0);
    expect_token(")");
  }

  // Up to the semicolon, with it. `scope`: where the names end that it declares.
  void read_declaration_or_expression(std::size_t scope) {
    const std::size_t end = find(";", at_, tokens_.size());
    if (is_declaration(end)) {
      read_declaration(end, scope);
    } else if (at_ < end) {
      (void)read_expression(0);
    }
    expect_token(";");
  }

  [[nodiscard]] bool is_declaration(std::size_t end) const {
    if (at_ < end && tokens_[at_].is_identifier() && begins_type(tokens_[at_].text)) return true;
    if (!is_name(at_) || find_variable(at_) != no_token) return false;
    std::size_t name = at_ + 1;
    while (name < end && (is(name, "*") || qualifies(tokens_[name].text))) ++name;
    if (!is_name(name)) return false;
    // a * b = c is no expression, a * b, c = d is one.
    return name == at_ + 1 || is_type_name(at_) || (is(name + 1, "=") && find(",", name, end) == end);
  }

  // By its spelling.
  [[nodiscard]] bool is_type_name(std::size_t i) const {
    return is_name(i) && tokens_[i].text.ends_with("_t") && find_variable(i) == no_token &&
           !called_.find(tokens_[i].text).is_known;
  }

  void read_declaration(std::size_t end, std::size_t scope) {
    bool is_static = false;
    bool is_number = true;
    bool has_type = false;
    for (; at_ < end && tokens_[at_].is_identifier(); ++at_) {
      const std::string_view word = tokens_[at_].text;
      if (word == "__attribute__") {
        skip_attribute();
        --at_;
      } else if (outlives_function(word)) {
        is_static = true;
      } else if (!qualifies(word)) {
        if (has_type && !begins_type(word)) break;
        require(!has_type || (is_number && is_number_word(word)));  // UNKNOWN int* x
        has_type = true;
        is_number = is_number_word(word);
        require(is_number || is_name(at_) || begins_struct(word) || word == "void");
        if (begins_struct(word) && is_name(at_ + 1)) ++at_;
        if (begins_struct(word) && is(at_ + 1, "{")) at_ = partner_[at_ + 1];
      }
    }
    require(has_type);
    while (at_ < end) {
      std::size_t stars = 0;
      for (; is(at_, "*") || (is_identifier(at_) && qualifies(tokens_[at_].text)); ++at_)
        stars += is(at_, "*") ? 1U : 0U;
      require(is_name(at_));
      LocalVariable& variable = declare(tokens_[at_].text, at_, at_, scope);
      const std::size_t name = at_++;
      std::size_t arrays = 0;
      for (; take("["); ++arrays) {
        if (!is(at_, "]")) (void)read_expression(0);
        expect_token("]");
      }
      while (is(at_, "__attribute__")) skip_attribute();
      variable.has.numbers = is_number && stars + arrays == 1;
      variable.is_array = arrays > 0;
      variable.is_static = is_static;
      if (take("=")) {
        Operand target = operand_of(name);
        target.is_array = false;
        assign(read_expression(1), target);
      }
      require(at_ == end || take(","));
    }
  }

  [[nodiscard]] bool is_identifier(std::size_t i) const { return i < tokens_.size() && tokens_[i].is_identifier(); }

  // Of those that do nothing to what a variable means.
  void skip_attribute() {
    ++at_;
    require(is(at_, "("));
    for (const std::size_t close = partner_[at_]; at_ <= close; ++at_) {
      require(!tokens_[at_].is_identifier() ||
              is_one_of(tokens_[at_].text, std::array<std::string_view, 6>{"aligned", "__aligned__", "unused",
                                                                           "__unused__", "packed", "__packed__"}));
    }
  }

  LocalVariable& declare(std::string_view name, std::size_t at, std::size_t begin, std::size_t end) {
    const auto [known, is_new] = declared_.try_emplace(at, variables_.size());
    if (is_new) {
      variables_.push_back({name, {}, false, false, begin, end});
      named_[name].push_back(known->second);
    }
    return variables_[known->second];
  }

  // That the name means at the token.
  [[nodiscard]] std::size_t find_variable(std::size_t i) const {
    const auto found = named_.find(tokens_[i].text);
    if (found == named_.end()) return no_token;
    for (std::size_t k = found->second.size(); k-- > 0;) {
      const std::size_t one = found->second[k];
      if (variables_[one].begin <= i && i < variables_[one].end) return one;
    }
    return no_token;
  }

  // --- Where addresses go

  void escape(ParamSet params, std::string how, const std::string& by = {}, std::string synchronous = {}) {
    if ((params & ~result_.params) == 0) return;
    has_changed_ = true;
    if (result_.params == 0) {
      result_.by = by.empty() ? body_.name : by;
      result_.how = std::move(how);
      result_.synchronous = std::move(synchronous);
    }
    result_.params |= params;
  }

  void give_back(const Operand& value) { add(value, result_.returned, result_.returns_holder); }

  void add(const Addresses& value, ParamSet& params, bool& holds) {
    if ((value.params & ~params) == 0 && (holds || !value.holds)) return;
    has_changed_ = true;
    params |= value.params;
    holds = holds || value.holds;
  }

  void assign(const Operand& value, const Operand& target) {
    require(target.where != Where::nowhere && !target.is_array);
    if (value.params == 0) return;
    if (target.where == Where::memory) return escape(value.params, "stores it in " + in_quotes(target.name));
    Addresses& has = variables_[target.variable].has;
    add(value, has.params, has.holds);
  }

  // What is there. Numbers are no addresses, if none has been put there.
  [[nodiscard]] static Operand loaded(const Operand& pointer) {
    const bool has_none = pointer.numbers && !pointer.holds;
    const Addresses value = has_none ? Addresses() : Addresses{pointer.params, pointer.holds, false};
    return {value, Where::memory, no_token, false, pointer, pointer.name};
  }

  Operand element(const Operand& base, const Operand& index) {
    escape(index.params, "takes it for an index");
    if (!base.is_array) return loaded(base);
    return {{base.params, base.holds, false}, Where::inside, base.variable, false, {}, base.name};
  }

  // It may be an array, so it is an address, too.
  [[nodiscard]] static Operand member(Operand base, std::string_view name) {
    if (base.where == Where::variable) base.where = Where::inside;
    if (base.where == Where::inside) base.holds = base.params != 0;
    base.numbers = false;
    base.address.numbers = false;
    if (base.where == Where::memory) base.name = name;
    return base;
  }

  [[nodiscard]] Operand address_of(const Operand& value) const {
    require(value.where != Where::nowhere);
    if (value.where == Where::memory) return {value.address, Where::nowhere, no_token, false, {}, value.name};
    const ParamSet params = variables_[value.variable].has.params;
    return {{params, params != 0, false}, Where::nowhere, no_token, false, {}, value.name};
  }

  // Of a name.
  [[nodiscard]] Operand operand_of(std::size_t i) const {
    Operand result{{}, Where::memory, no_token, false, {}, tokens_[i].text};
    const std::size_t found = find_variable(i);
    if (found == no_token) {  // of the file, or of a branch that the preprocessor takes
      const auto all = named_.find(tokens_[i].text);
      if (all == named_.end()) return result;
      for (const std::size_t one : all->second) result.params |= variables_[one].has.params;
      result.holds = result.params != 0;
      return result;
    }
    const LocalVariable& variable = variables_[found];
    static_cast<Addresses&>(result) = variable.has;
    if (variable.is_array) result.holds = result.params != 0;
    if (variable.is_static) return result;
    result.where = Where::variable;
    result.variable = found;
    result.is_array = variable.is_array;
    return result;
  }

  // `name` empty: what is called is none.
  Operand call(std::string_view name, std::span<const Operand> arguments) {
    Operand result;
    const CalledFunction callee = name.empty() ? CalledFunction() : called_.find(name);
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const Operand& one = arguments[k];
      if (one.params == 0) continue;
      if (callee.synchronous != nullptr) {
        const HandsOn structs = callee.synchronous->structs;
        const bool may_hold = structs == HandsOn::all || (structs == HandsOn::first && k == 0);
        if ((one.holds && !may_hold) || k >= callee.synchronous->addresses) {
          escape(one.params, "copies it by " + in_quotes(name));
        }
      } else if (!callee.is_known || k >= callee.params) {
        escape(one.params, name.empty() ? "passes it to a function in a variable" : "passes it to " + in_quotes(name),
               {}, std::string(name));
      } else {
        const FunctionEscape& escaping = callee.escape;
        if ((escaping.params & param_bit(k)) != 0) {
          escape(one.params, escaping.how, escaping.by, escaping.synchronous);
        }
        called_.give(name, k, one.holds);
        const bool is_returned = (escaping.returned & param_bit(k)) != 0;
        if (is_returned) result.params |= one.params;
        result.holds = result.holds || (is_returned && (one.holds || escaping.returns_holder));
      }
    }
    const bool returns_first = callee.synchronous != nullptr && callee.synchronous->returns_first && !arguments.empty();
    return returns_first ? plain(arguments[0]) : result;
  }

  // --- Expressions

  [[nodiscard]] static Operand plain(const Addresses& value) { return {value}; }

  // The comma binds least (0), then assignments (1), ? (2).
  [[nodiscard]] int binding(std::size_t i) const {
    if (i >= tokens_.size() || tokens_[i].kind != TokenKind::punctuator) return -1;
    const std::string_view op = tokens_[i].text;
    if (op == ",") return 0;
    if (op == "=" || is_compound_assignment(op)) return 1;
    if (op == "?") return 2;
    const int found = precedence_of(op);
    return found < 1 ? -1 : found + 2;
  }

  // From at_ on, of operators that bind at least so.
  // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
  Operand read_expression(int least) {
    require(++level_ <= most_levels);
    Operand left = read_operand();
    for (int binds = binding(at_); binds >= least; binds = binding(at_)) {
      const std::string_view op = tokens_[at_++].text;
      const Operand right = read_expression(op == "?" ? 0 : binds == 1 ? 1 : binds + 1);
      if (op == "?") {
        expect_token(":");
        left = plain(right.with(read_expression(2)));
      } else if (binds == 1) {
        assign(right, left);
        left = plain(left.with(right));
      } else {
        left = op == "," ? plain(right) : is_comparison(op) ? Operand() : plain(left.with(right));
      }
    }
    --level_;
    return left;
  }

  // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
  Operand read_operand() {
    constexpr std::array<std::string_view, 8> prefixes = {"*", "&", "!", "-", "+", "~", "++", "--"};
    require(at_ < tokens_.size() && ++level_ <= most_levels);
    const std::size_t first = at_++;
    const MadeToken& token = tokens_[first];
    Operand result;
    if (token.is("(") && is_type(at_, partner_[at_ - 1])) {
      result = read_cast();
    } else if (token.is("(")) {
      result = read_expression(0);
      expect_token(")");
    } else if (token.is("{")) {
      result = read_list();
    } else if (is_one_of(token.text, prefixes)) {
      const Operand value = read_operand();
      --level_;
      if (token.is("*")) return loaded(value);
      if (token.is("&")) return address_of(value);
      return token.is("!") ? Operand() : plain(value);
    } else if (token.is_identifier() && asks_size(token.text)) {
      if (is(at_, "(")) {
        at_ = partner_[at_] + 1;
      } else {
        (void)read_operand();
      }
    } else if (token.kind == TokenKind::punctuator) {
      throw NotUnderstood();
    } else if (token.is_identifier()) {
      require(is_name(first));
      result = operand_of(first);
    }
    while (is_of_string(at_ - 1) && is_of_string(at_)) ++at_;
    const bool is_function = token.is_identifier() && find_variable(first) == no_token;
    result = read_postfix(result, is_function ? std::string_view(token.text) : std::string_view());
    --level_;
    return result;
  }

  // "n: %" PRIu32 "\n"
  [[nodiscard]] bool is_of_string(std::size_t i) const {
    return i < tokens_.size() &&
           (tokens_[i].kind == TokenKind::string || (is_name(i) && tokens_[i].text.starts_with("PRI")));
  }

  // Behind a bracket; also of a compound literal.
  // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
  Operand read_cast() {
    std::size_t stars = 0;
    bool is_number = true;
    for (; !is(at_, ")"); ++at_) {
      if (is(at_, "*") || is(at_, "[")) ++stars;
      is_number =
          is_number && (!is_identifier(at_) || qualifies(tokens_[at_].text) || is_number_word(tokens_[at_].text));
    }
    if (is(++at_, "{")) {
      ++at_;
      Operand list = read_list();
      list.where = Where::memory;
      list.address = list;
      return list;
    }
    const Operand value = read_operand();
    return {{value.params, value.holds, is_number && stars == 1}, Where::nowhere, no_token, false, {}, value.name};
  }

  // (const int8_t*), (uintptr_t), (struct job), (int8_t*[2])
  [[nodiscard]] bool is_type(std::size_t i, std::size_t end) const {
    if (i >= end || !is_identifier(i)) return false;
    const bool is_pointer = is_name(i) && find_variable(i) == no_token && (is(end - 1, "*") || is(i + 1, "["));
    if (!begins_type(tokens_[i].text) && !is_type_name(i) && !is_pointer) return false;
    while (i < end && (is_identifier(i) || is(i, "*"))) ++i;
    while (i < end && is(i, "[")) i = partner_[i] + 1;
    return i == end;
  }

  // {1, .to = p, [3] = q}, behind the brace.
  // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
  Operand read_list() {
    Operand all;
    while (!take("}")) {
      std::size_t behind = at_;
      while (is(behind, ".") || is(behind, "[")) behind = is(behind, "[") ? partner_[behind] + 1 : behind + 2;
      if (behind > at_ && is(behind, "=")) at_ = behind + 1;
      all.params |= read_expression(1).params;
      require(take(",") || is(at_, "}"));
    }
    all.holds = all.params != 0;
    return all;
  }

  // `function`: the name that it is, if it is no variable's.
  // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
  Operand read_postfix(Operand value, std::string_view function) {
    while (true) {
      if (take("[")) {
        value = element(value, read_expression(0));
        expect_token("]");
      } else if (take("(")) {
        std::vector<Operand> arguments;
        while (!take(")")) {
          arguments.push_back(read_expression(1));
          require(take(",") || is(at_, ")"));
        }
        value = call(function, arguments);
      } else if (is(at_, ".") || is(at_, "->")) {
        require(is_identifier(at_ + 1));
        value = member(is(at_, ".") ? value : loaded(value), tokens_[at_ + 1].text);
        at_ += 2;
      } else if (!take("++") && !take("--")) {
        return value;
      }
      function = {};
    }
  }

  const FunctionBody& body_;
  const MadeTokens& tokens_;
  const CalledFunctions& called_;
  std::vector<std::size_t> partner_;  // of brackets that open
  FunctionEscape result_;
  bool has_changed_ = false;
  std::vector<LocalVariable> variables_;
  std::map<std::size_t, std::size_t> declared_;                 // by the token of the name
  std::map<std::string_view, std::vector<std::size_t>> named_;  // in the order of their scopes' beginnings
  std::vector<std::size_t> blocks_;                             // that are open: where they close
  std::size_t at_ = 0;
  std::size_t level_ = 0;
};

}  // namespace

FunctionEscape escape_of(const FunctionBody& body, const CalledFunctions& called) {
  return FunctionReader(body, called).read();
}

bool is_number_word(std::string_view word) {
  return is_one_of(
      word, std::array<std::string_view, 29>{"int8_t",  "uint8_t",  "int16_t",   "uint16_t",  "int32_t",  "uint32_t",
                                             "int64_t", "uint64_t", "size_t",    "ptrdiff_t", "intptr_t", "uintptr_t",
                                             "char",    "short",    "int",       "long",      "float",    "double",
                                             "signed",  "unsigned", "bool",      "_Bool",     "q7_t",     "q15_t",
                                             "q31_t",   "q63_t",    "float16_t", "float32_t", "float64_t"});
}

}  // namespace usmp::tvm_c
