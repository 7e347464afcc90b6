// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/held_tensors_test.cpp.
#include "tvm_c/stays/address_keepers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tvm_c/stays/keeper_world.hpp"
#include "tvm_c/text/declared_names.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::size_t most_brackets = 250;    // in each other, as in what compilers take
constexpr std::size_t most_nested = 4;        // macros without arguments, in one another
constexpr std::size_t most_text = 1'000'000;  // bytes with what stands for these
constexpr std::size_t most_rounds = 16;       // in which a function is looked at again

// What a value is: an address of what a function is passed, or of where such addresses are.
enum class Kept : std::uint8_t { nothing, address, holder };

class KeeperFunction {
 public:
  KeeperFunction(std::string_view name, const FunctionText& function, const KeeperWorld& world)
      : KeeperFunction(name, tokens_of(function.params), body_text(function), world, false) {}

  // "(x, y) body"
  KeeperFunction(std::string_view name, std::string_view macro, const KeeperWorld& world)
      : KeeperFunction(name, tokens_of(Lexer(macro.substr(1))),
                       macro.substr(std::min(macro.find(')') + 1, macro.size())), world, true) {}

  [[nodiscard]] std::string_view name() const { return name_; }

  // The variable that keeps an address; empty: none does.
  [[nodiscard]] std::string keeps() {
    if (is_deep_) return std::string(name_);
    for (std::size_t round = 0; round < most_rounds; ++round) {
      const std::size_t known = addresses_.size() + holders_.size();
      std::string variable = keeps_once();
      if (!variable.empty() || known == addresses_.size() + holders_.size()) return variable;
    }
    return std::string(name_);
  }

  struct Passed {
    std::string_view callee;
    std::size_t position = 0;
    Kept kept = Kept::nothing;
  };
  // To others, by calls.
  [[nodiscard]] std::vector<Passed> passed() const {
    std::vector<Passed> result;
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      if (!tokens_[i].is("(") || !tokens_[i - 1].is_identifier() || is_control(tokens_[i - 1])) continue;
      const std::vector<TokenPart> arguments = arguments_of(i);
      for (std::size_t k = 0; k < arguments.size(); ++k) {
        result.push_back({tokens_[i - 1].text, k, value_of(arguments[k])});
      }
      if (arguments.empty()) result.push_back({tokens_[i - 1].text});
    }
    return result;
  }

  // Whether that is new: what is passed for the parameter.
  bool get(std::size_t position, Kept kept) {
    if (kept == Kept::nothing || names_.empty()) return false;
    const std::string_view name = names_[std::min(position, names_.size() - 1)];
    const bool is_new = addresses_.insert(name).second;
    if (!pointers_.contains(name)) numbers_.insert(name);
    return (kept == Kept::holder && holders_.insert(name).second) || is_new;
  }

 private:
  KeeperFunction(std::string_view name, std::vector<Token> params, std::string_view body, const KeeperWorld& world,
                 bool is_macro)
      : name_(name), params_(std::move(params)), world_(world) {
    auto text = with_statements(body);
    is_deep_ = !text;
    if (text) text_ = std::move(*text);
    tokens_ = plain_tokens(text_, directives_in(text_), plain_);
    std::size_t depth = 0;
    for (const Token& token : tokens_) {
      if (token.is("(") || token.is("[")) is_deep_ = ++depth > most_brackets || is_deep_;
      if ((token.is(")") || token.is("]")) && depth > 0) --depth;
    }
    if (is_deep_) tokens_.clear();
    for (std::size_t i = 0; i + 1 < params_.size(); ++i) {
      const bool is_name =
          params_[i].is_identifier() && (params_[i + 1].is(",") || params_[i + 1].is(")") || params_[i + 1].is("["));
      if (!is_name) continue;
      names_.push_back(params_[i].text);
      own_.insert(params_[i].text);
      if (!is_macro) read_type(i);
    }
    read_variables();
  }

  void read_variables() {
    const std::vector<DeclaredName> names = declared_names(tokens_);
    auto next = names.begin();
    std::vector<bool> declares(1);  // the statement so far, by brackets around the token
    std::size_t statement = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (begins_statement(tokens_, i)) statement = i;
      if (token.is("(") || token.is("[") || token.is("{")) declares.push_back(false);
      if ((token.is(")") || token.is("]") || token.is("}")) && declares.size() > 1) declares.pop_back();
      const bool is_end = token.is(";") || (token.is("}") && i + 1 < tokens_.size() && !tokens_[i + 1].is(","));
      if (is_end) declares.back() = false;
      if (next == names.end() || next->at != i) continue;
      const DeclaredName& one = *next++;
      if (is_followed(one, declares.back())) continue;
      declares.back() = declares.back() || one.is_sure;
      if (!tokens_[statement].is("static") && !tokens_[statement].is("extern")) add_variable(one);
    }
  }

  void add_variable(const DeclaredName& one) {
    const std::string_view variable = tokens_[one.at].text;
    own_.insert(variable);
    const bool is_array = one.at + 1 < tokens_.size() && tokens_[one.at + 1].is("[");
    if (one.is_sure || one.is_pointer) declared_.insert(one.at);
    if (is_array) arrays_.insert(variable);
    if (one.is_pointer && is_array) pointer_arrays_.insert(variable);
    if (one.is_pointer && !is_array) pointers_.insert(variable);
  }

  // It declares nothing: n = *last; or f(1, *last, 2); but int8_t *a = x, *last = y; does.
  [[nodiscard]] bool is_followed(const DeclaredName& one, bool is_declaration) const {
    const bool is_function = one.at + 2 < tokens_.size() && tokens_[one.at + 1].is(")") && tokens_[one.at + 2].is("(");
    if (one.is_sure || !one.is_pointer || is_function) return false;
    std::size_t i = one.at;
    while (i > 0 && tokens_[i - 1].is("*")) --i;
    return !is_declaration || i == 0 || !tokens_[i - 1].is(",");
  }

  // With what stands for macros without arguments. Nothing: it is very long.
  [[nodiscard]] std::optional<std::string> with_statements(std::string_view body) const {
    std::string result(body);
    for (std::size_t round = 0; round < most_nested && !world_.statements.empty(); ++round) {
      std::map<std::size_t, std::string_view> places;
      for_each_identifier(result, [&](std::string_view word) {
        if (world_.statements.contains(word))
          places.emplace(static_cast<std::size_t>(word.data() - result.data()), word);
      });
      if (places.empty()) break;
      std::string next;
      std::size_t from = 0;
      for (const auto& [at, word] : places) {
        if (next.size() > most_text) return {};
        next += result.substr(from, at - from);
        next += world_.statements.find(word)->second;
        from = at + word.size();
      }
      result = next + result.substr(from);
    }
    return result;
  }

  // Of a parameter.
  void read_type(std::size_t name) {
    std::size_t stars = name + 1 < params_.size() && params_[name + 1].is("[") ? 1 : 0;
    bool is_number = false;
    bool is_narrow = false;
    for (std::size_t i = name; i-- > 0 && !params_[i].is(",");) {
      if (params_[i].is("*")) ++stars;
      is_number = is_number || is_number_type(params_[i]);
      for (const char* word : {"int8_t", "uint8_t", "int16_t", "uint16_t", "char", "float"}) {
        is_narrow = is_narrow || params_[i].is(word);
      }
      if (params_[i].is("void") && stars == 1) is_number = true;  // until somebody passes more
    }
    const std::string_view text = params_[name].text;
    if (stars > 0) pointers_.insert(text);
    if (stars == 1 && is_narrow) narrow_.insert(text);
    if (stars > 0 || !is_number) addresses_.insert(text);
    if (stars > 1 || (stars > 0 && !is_number)) holders_.insert(text);
  }

  std::string keeps_once() {
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      if (tokens_[i].is("(")) {
        std::string_view variable = keeps_by_call(i);
        if (variable.empty()) variable = keeps_by_assembler(i);
        if (!variable.empty()) return std::string(variable);
      }
      if (!tokens_[i].is("=") && !is_compound_assignment(tokens_[i].text)) continue;
      const Kept kept = value_of({i + 1, end_of_value(i + 1)});
      if (kept == Kept::nothing) continue;
      const Target target = target_of(i);
      const bool is_small = target.is_narrow && !reads_bytes({i + 1, end_of_value(i + 1)});
      if (target.name.empty() || is_small) continue;
      const bool is_own = own_.contains(target.name) && !target.is_behind;
      if (!is_own) return std::string(target.name);
      addresses_.insert(target.name);
      if (casts_address({i + 1, end_of_value(i + 1)})) numbers_.insert(target.name);
      if (kept == Kept::holder || arrays_.contains(target.name)) holders_.insert(target.name);
    }
    return {};
  }

  // Of memory that has addresses, *to++ = *from++; or of an address that is a number: (uint8_t)(v >> 8)
  [[nodiscard]] bool reads_bytes(TokenPart value) const {
    for (std::size_t i = value.begin; i < value.end; ++i) {
      if (holders_.contains(tokens_[i].text) && narrow_.contains(tokens_[i].text)) return true;
      const bool is_between = i > 0 && i + 1 < tokens_.size();
      if (!is_between || !numbers_.contains(tokens_[i].text) || is_member(tokens_, i)) continue;
      const Token& before = tokens_[i - 1];
      const Token& after = tokens_[i + 1];
      const bool is_first = before.is("(") || before.is(")") || before.is("=");
      if (is_first && (after.is(";") || after.is(")") || after.is(">>") || after.is("&"))) return true;
    }
    return false;
  }

  // __asm__ volatile("str %0, [%1]" : : "r"(from), "r"(base)), whose bracket opens there: a name of the files in it.
  [[nodiscard]] std::string_view keeps_by_assembler(std::size_t open) const {
    std::size_t i = open - 1;
    while (i > 0 && (tokens_[i].is("volatile") || tokens_[i].is("__volatile__") || tokens_[i].is("inline"))) --i;
    if (!tokens_[i].is("asm") && !tokens_[i].is("__asm") && !tokens_[i].is("__asm__")) return {};
    const auto end = behind_bracketed(tokens_, open);
    if (!end || value_of_operands({open + 1, *end - 1}) == Kept::nothing) return {};
    std::string_view memory;  // "memory": anything may be written
    for (std::size_t k = open + 1; k + 1 < *end; ++k) {
      const std::string_view name = tokens_[k].text;
      const bool is_word = is_number_type(tokens_[k]) || tokens_[k].is("const") || tokens_[k].is("sizeof");
      const bool is_operand = tokens_[k].is_identifier() && !is_member(tokens_, k) && !is_word;
      if (is_operand && !own_.contains(name) && !world_.constants.contains(name)) return name;
      if (tokens_[k].text == "\"memory\"") memory = tokens_[i].text;
    }
    return memory;
  }

  // Each in its bracket.
  [[nodiscard]] Kept value_of_operands(TokenPart part) const {
    Kept result = Kept::nothing;
    for (std::size_t i = part.begin; i < part.end; ++i) {
      if (!tokens_[i].is("(")) continue;
      const auto end = behind_bracketed(tokens_, i);
      if (!end) break;
      result = std::max(result, value_of({i + 1, *end - 1}));
      i = *end - 1;
    }
    return result;
  }

  // (uintptr_t)from, or of what has that
  [[nodiscard]] bool casts_address(TokenPart value) const {
    for (std::size_t i = value.begin; i < value.end; ++i) {
      if (tokens_[i].is("uintptr_t") || tokens_[i].is("intptr_t")) return true;
    }
    return reads_bytes(value);
  }

  // Of one that begins there, up to a comma, another assignment, or what closes the bracket around it.
  [[nodiscard]] std::size_t end_of_value(std::size_t i) const {
    std::size_t depth = 0;
    for (; i < tokens_.size() && !tokens_[i].is(";"); ++i) {
      const Token& token = tokens_[i];
      const bool is_next = token.is("=") || is_compound_assignment(token.text);  // a = b = c
      if (depth == 0 && (is_next || token.is(",") || token.is(")") || token.is("]") || token.is("}"))) break;
      if (token.is("(") || token.is("[") || token.is("{")) ++depth;
      if (token.is(")") || token.is("]") || token.is("}")) --depth;
    }
    return i;
  }

  // Of a call whose bracket opens there.
  [[nodiscard]] std::vector<TokenPart> arguments_of(std::size_t open) const {
    std::vector<TokenPart> parts;
    const auto end = behind_bracketed(tokens_, open);
    if (!end || *end == open + 2) return parts;
    std::size_t depth = 0;
    std::size_t begin = open + 1;
    for (std::size_t i = open + 1; i < *end; ++i) {
      const Token& token = tokens_[i];
      const bool is_last = i + 1 == *end;
      if (token.is("(") || token.is("[") || token.is("{")) ++depth;
      if (is_last || (token.is(",") && depth == 0)) {
        parts.push_back({begin, i});
        begin = i + 1;
      } else if (token.is(")") || token.is("]") || token.is("}")) {
        --depth;
      }
    }
    return parts;
  }

  // Not p[i], *p or f(p).
  [[nodiscard]] Kept value_of(TokenPart part) const {
    Kept result = Kept::nothing;
    std::size_t calls = 0;        // brackets of calls
    std::vector<bool> are_calls;  // of the brackets that are open
    for (std::size_t i = part.begin; i < part.end; ++i) {
      if (tokens_[i].is("(") || tokens_[i].is("[")) {
        const bool is_call = i > 0 && tokens_[i].is("(") && tokens_[i - 1].is_identifier();
        are_calls.push_back(tokens_[i].is("[") || (is_call && !returns_address(tokens_[i - 1].text)));
        if (are_calls.back()) ++calls;
      }
      if ((tokens_[i].is(")") || tokens_[i].is("]")) && !are_calls.empty()) {
        if (are_calls.back()) --calls;
        are_calls.pop_back();
      }
      if (calls > 0 || !addresses_.contains(tokens_[i].text) || is_member(tokens_, i)) continue;
      result = std::max(result, kept_at(i));
    }
    return result;
  }

  // Of a name that has one.
  [[nodiscard]] Kept kept_at(std::size_t i) const {
    std::size_t front = i;
    while (front > 0 && tokens_[front - 1].is("(")) --front;
    const bool is_taken = front > 0 && tokens_[front - 1].is("&");
    const bool is_followed =
        front > 1 && tokens_[front - 1].is("*") && !tokens_[front - 2].is_identifier() && !tokens_[front - 2].is(")");
    std::size_t behind = i + 1;
    while (behind < tokens_.size() && tokens_[behind].is(")")) ++behind;         // ((int32_t*)p)[3]
    const bool is_element = behind < tokens_.size() && tokens_[behind].is("[");  // p->data may be an address
    const bool is_holder = holders_.contains(tokens_[i].text);
    if (is_taken) return is_element && !is_holder ? Kept::address : Kept::holder;
    if (is_followed || is_element) return is_holder ? Kept::address : Kept::nothing;
    const bool is_whole = behind >= tokens_.size() || (!tokens_[behind].is("->") && !tokens_[behind].is("."));
    return is_holder && is_whole ? Kept::holder : Kept::address;
  }

  [[nodiscard]] bool returns_address(std::string_view callee) const {
    return world_.returns.contains(callee) || world_.macros.contains(callee);
  }

  // A variable that a function which these files do not define, or a macro, may set to an address: memcpy(&job, &mine,
  // sizeof job), SET(job.out, out), __atomic_store_n(&to, out, 0); or one that is called, hook(out). Empty: none.
  [[nodiscard]] std::string_view keeps_by_call(std::size_t open) const {
    const std::string_view called = called_variable(open);
    const Token& callee = tokens_[open - 1];
    const bool is_read = world_.scope.functions.contains(callee.text) || is_control(callee);
    if (called.empty() && (!callee.is_identifier() || is_read)) return {};
    const std::vector<TokenPart> arguments = arguments_of(open);
    if (!called.empty()) {
      const bool has_address = std::any_of(arguments.begin(), arguments.end(),
                                           [&](TokenPart one) { return value_of(one) != Kept::nothing; });
      return has_address ? called : std::string_view();
    }
    const bool copies = callee.is("memcpy") || callee.is("memmove");
    const bool is_known = world_.macros.contains(callee.text);
    const bool is_macro = is_known || (!world_.scope.prototypes.contains(callee.text) && is_in_capitals(callee.text));
    std::string_view variable;
    bool has_address = false;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const Kept kept = value_of(arguments[k]);
      if (copies ? k == 1 && kept == Kept::holder : kept != Kept::nothing) has_address = true;
      if (variable.empty() && (k == 0 || is_known)) variable = set_in(arguments[k], copies, is_macro);
    }
    return has_address ? variable : std::string_view();
  }

  // Of an argument: the variable that the call may set.
  [[nodiscard]] std::string_view set_in(TokenPart argument, bool copies, bool is_macro) const {
    for (std::size_t i = argument.begin; i < argument.end; ++i) {
      if (!tokens_[i].is_identifier() || is_member(tokens_, i) || tokens_[i + 1].is("(")) continue;
      std::size_t front = i;
      while (front > argument.begin && tokens_[front - 1].is("(")) --front;
      const bool is_taken = tokens_[front - 1].is("&");
      const std::string_view name = tokens_[i].text;
      const bool is_plain = is_taken || (arrays_.contains(name) && !pointer_arrays_.contains(name));
      const bool is_own = own_.contains(name) && !(copies && (pointers_.contains(name) || !is_plain));
      const bool is_type = is_number_type(tokens_[i]) || tokens_[i + 1].is("*");
      if (!is_own && !is_type && (is_taken || is_macro || copies) && !world_.constants.contains(name)) return name;
    }
    return {};
  }

  // Of a call whose bracket opens there, what has the function's address: hook(…), (*hook)(…), ops->start(…),
  // table[3](…). Empty: a function's name.
  [[nodiscard]] std::string_view called_variable(std::size_t open) const {
    std::size_t i = open - 1;
    if (tokens_[i].is(")") && i > 2 && tokens_[i - 2].is("*") && tokens_[i - 3].is("(")) --i;  // (*hook)
    if (tokens_[i].is("]")) {
      while (i > 0 && !tokens_[i].is("[")) --i;
      if (i > 0) --i;
    }
    const std::string_view name = tokens_[i].text;
    if (!tokens_[i].is_identifier() || is_control(tokens_[i])) return {};
    const bool is_plain = i + 1 == open && !is_member(tokens_, i);
    const bool is_variable = own_.contains(name) || world_.variables.contains(name);
    const bool may_be =
        is_plain ? is_variable && !world_.scope.functions.contains(name) : is_member(tokens_, i) || is_variable;
    return may_be ? name : std::string_view();
  }

  struct Target {
    std::string_view name;
    bool is_inside = false;  // x->a, *x or x[3]
    bool is_behind = false;  // of a variable of the function: what it points to, or has the address of as a number
    bool is_narrow = false;  // an element that is too small for an address
  };

  // What stands in front of the assignment. Nothing: it is not understood.
  [[nodiscard]] Target target_of(std::size_t assignment) const {
    std::size_t begin = assignment;
    std::size_t depth = 0;
    while (begin > 0) {
      const Token& before = tokens_[begin - 1];
      if (before.is(")") && depth == 0 && ends_condition(begin - 1)) break;
      if (depth == 0 && (before.is("=") || is_compound_assignment(before.text))) break;
      if (before.is(")") || before.is("]")) ++depth;
      if (depth == 0 && (before.is(";") || before.is("{") || before.is("}") || before.is(",") || before.is("("))) break;
      if ((before.is("(") || before.is("[")) && depth > 0) --depth;
      --begin;
    }
    Target target;
    bool is_index = false;
    bool is_cast = false;
    std::size_t at = begin;  // of the name
    for (std::size_t i = begin; i < assignment; ++i) {
      if (tokens_[i].is("[")) is_index = true;
      is_cast = is_cast || tokens_[i].is("(");
      target.is_inside = target.is_inside || tokens_[i].is("->") || tokens_[i].is("[") || tokens_[i].is("*");
      if (!is_index && tokens_[i].is_identifier() && !is_member(tokens_, i)) {
        target.name = tokens_[i].text;
        at = i;
      }
      if (tokens_[i].is("]")) is_index = false;
    }
    // const int8_t* p = x; declares p.
    const bool is_plain = assignment > begin && tokens_[assignment - 1].text == target.name;
    if (is_plain && begin + 1 < assignment && tokens_[begin].is_identifier()) target.is_inside = false;
    target.is_narrow = target.is_inside && !is_cast && narrow_.contains(target.name);
    target.is_behind = target.is_inside && !declared_.contains(at) && is_behind({begin, assignment}, at, is_cast);
    return target;
  }

  // Whether what is assigned is none of the variable whose name stands there: q[0]->from, *q.from, *(int*)(base + 4)
  [[nodiscard]] bool is_behind(TokenPart target, std::size_t at, bool is_cast) const {
    const std::string_view name = tokens_[at].text;
    if (pointers_.contains(name)) return true;
    const bool is_taken = at > target.begin && tokens_[at - 1].is("&");
    std::size_t steps = 0;  // to other memory, or to elements of an array
    std::string_view member;
    for (std::size_t i = target.begin; i < target.end; ++i) {
      std::size_t behind = i;
      while (i < at && tokens_[behind].is("*")) ++behind;
      const bool is_star = behind > i && !tokens_[behind].is(")");  // of a cast
      if (is_star || tokens_[i].is("->")) ++steps;
      if (i > at && is_member(tokens_, i)) member = tokens_[i].text;
      const bool is_of_array =
          i > 0 && !member.empty() && tokens_[i - 1].text == member && world_.array_members.contains(member);  // x.a[3]
      if (i > at && tokens_[i].is("[") && !is_of_array) ++steps;
    }
    if (is_taken && steps > 0) --steps;  // *(int8_t**)&x
    const bool is_array = arrays_.contains(name);
    if (is_array && !pointer_arrays_.contains(name)) return steps > 1 && !member.empty();
    if (is_array) return steps > 1;
    return steps > 0 && (is_cast || !is_taken);
  }

  // Of for (…), if (…)
  [[nodiscard]] bool ends_condition(std::size_t close) const {
    std::size_t depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
      if (tokens_[i].is(")")) ++depth;
      if (tokens_[i].is("(") && --depth == 0) return i > 0 && is_control(tokens_[i - 1]);
    }
    return false;
  }

  std::string_view name_;
  bool is_deep_ = false;  // in brackets, or very long: it is not looked at
  std::vector<Token> params_;
  std::string text_;
  std::string plain_;  // `tokens_` are in it
  std::vector<Token> tokens_;
  const KeeperWorld& world_;
  std::vector<std::string_view> names_;        // of parameters
  std::set<std::string_view> own_;             // parameters and variables of the function
  std::set<std::string_view> pointers_;        // of these
  std::set<std::string_view> arrays_;          // likewise
  std::set<std::string_view> pointer_arrays_;  // of these: of pointers
  std::set<std::size_t> declared_;             // tokens that are names of variables where these are declared
  std::set<std::string_view> narrow_;          // pointers to elements that are too small for an address
  std::set<std::string_view> addresses_;       // of own_: that may have the address of what the function is passed
  std::set<std::string_view> holders_;         // of these: what they point to may have one
  std::set<std::string_view> numbers_;         // of addresses_: that have it as a number
};

class KeeperFinder {
 public:
  KeeperFinder(const FileScope& scope, const std::function<bool(const std::string&)>& asked, const KeeperTexts& texts)
      : world_(keeper_world(scope, texts.macros)) {
    for (const auto& [name, text] : scope.functions) {
      if (asked(name)) add(name, text);
    }
    for (const auto& [name, text] : texts.more) add(name, text);
    for (const auto& [name, definition] : texts.macros) {
      if (takes_arguments(definition)) add(name, definition);
    }
  }

  AddressKeepers find() && {
    std::vector<std::size_t> pending(functions_.size());
    for (std::size_t i = 0; i < pending.size(); ++i) pending[i] = i;
    std::vector<std::size_t> rounds(functions_.size());
    while (!pending.empty()) {
      std::set<std::size_t> next;
      for (const std::size_t i : pending) {
        KeeperFunction& function = *functions_[i];
        if (++rounds[i] > most_rounds) continue;
        std::string variable = function.keeps();
        if (!variable.empty()) keep(i, {std::move(variable), {}});
        for (const KeeperFunction::Passed& passed : function.passed()) {
          const auto callees = by_name_.find(passed.callee);
          if (callees == by_name_.end()) continue;
          for (const std::size_t callee : callees->second) {
            callers_[callee].insert(i);
            if (functions_[callee]->get(passed.position, passed.kept)) next.insert(callee);
          }
        }
      }
      pending.assign(next.begin(), next.end());
    }
    while (!kept_.empty()) {
      const std::size_t i = kept_.back();
      kept_.pop_back();
      const KeptAddress& kept = result_.find(functions_[i]->name())->second;
      for (const std::size_t caller : callers_[i]) keep(caller, {kept.variable, std::string(functions_[i]->name())});
    }
    for (const std::string& macro : world_.macros) {
      if (!is_function(macro)) result_.erase(macro);
    }
    return std::move(result_);
  }

 private:
  template <class Text>
  void add(std::string_view name, const Text& text) {
    try {
      functions_.push_back(std::make_unique<KeeperFunction>(name, text, world_));
      by_name_[name].push_back(functions_.size() - 1);
    } catch (const SyntaxError&) {  // told where it is read, if it is
    }
  }

  void keep(std::size_t i, KeptAddress kept) {
    if (result_.emplace(functions_[i]->name(), std::move(kept)).second) kept_.push_back(i);
  }

  [[nodiscard]] bool is_function(std::string_view name) const { return world_.scope.functions.contains(name); }

  KeeperWorld world_;
  std::vector<std::unique_ptr<KeeperFunction>> functions_;
  std::map<std::string_view, std::vector<std::size_t>> by_name_;
  std::map<std::size_t, std::set<std::size_t>> callers_;
  std::vector<std::size_t> kept_;  // whose callers keep, too
  AddressKeepers result_;
};

}  // namespace

AddressKeepers address_keepers(const FileScope& scope, const std::function<bool(const std::string&)>& asked,
                               const KeeperTexts& texts) {
  return KeeperFinder(scope, asked, texts).find();
}

}  // namespace usmp::tvm_c
