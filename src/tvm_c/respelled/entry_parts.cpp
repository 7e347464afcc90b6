// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/entry_parts_test.cpp.
#include "tvm_c/respelled/entry_parts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tvm_c/respelled/file_pointers.hpp"
#include "tvm_c/text/declared_names.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// All of them in the item, of each conditional group. `plain`: the text that they are views into.
std::vector<Token> all_tokens(std::string_view text, const Item& item, std::string& plain) {
  const std::string_view all = text.substr(item.begin, item.end - item.begin);
  return plain_tokens(all, directives_in(all), plain);
}

// A call of the entry's own block that may be what the function does.
struct PartCall {
  std::size_t first = 0;  // token
  std::size_t name = 0;
  std::size_t last = 0;      // behind the statement
  std::string failure = {};  // "-1" of the check
  bool is_returned = false;  // return f(x);
};

class Parts {
 public:
  Parts(const FunctionText& entry, std::string_view entry_name, const FileScope& scope, const AllDefinitions& macros)
      : text_(entry.body.text()),
        entry_(entry),
        entry_name_(entry_name),
        scope_(scope),
        macros_(macros),
        tokens_(tokens_of(entry.body)),
        declared_(declared_names(tokens_)) {}

  std::optional<EditedText> run() && {
    const auto item = std::find_if(scope_.items.begin(), scope_.items.end(), [&](const Item& one) {
      return one.kind == Item::Kind::function && one.name == entry_name_;
    });
    if (item == scope_.items.end()) return std::nullopt;
    entry_item_ = &*item;
    for (const Item& one : scope_.items) items_[one.name].push_back(&one);
    std::size_t depth = 0;
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (is(i, "{")) ++depth;
      if (is(i, "}") && depth > 0) --depth;
      if (depth > 0 || !begins_statement(tokens_, i)) continue;
      const auto call = call_at(i);
      auto made = call ? with_part(*call) : std::nullopt;
      if (made) return made;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool is(std::size_t i, std::string_view spelling) const {
    return i < tokens_.size() && tokens_[i].is(spelling);
  }

  // Before a part is read.
  void read_entrys_names() {
    if (!entrys_own_.empty()) return;
    std::string plain;
    const std::vector<Token> all = all_tokens(text_, *entry_item_, plain);
    defines_type_ = define_type(all);
    UsedMacros used = used_macros(all, macros_);
    for (const Token& token : all) {
      if (token.is_identifier()) entrys_words_.emplace(token.text);
    }
    entrys_words_.merge(Names(used.names));
    entrys_own_ = std::move(used.declared);
    for (const DeclaredName& one : declared_names(all)) entrys_own_.insert(one.name);
    Lexer params = entry_.params;
    while (parse_type(params)) {
      const Token param = params.next();
      entrys_own_.emplace(param.text);
      entrys_params_.emplace(param.text);
      if (!take(params, ",")) break;
    }
  }

  [[nodiscard]] std::optional<PartCall> call_at(std::size_t i) const {
    PartCall call{.first = i, .name = i};
    const bool is_check = is(i, "if") && is(i + 1, "(");
    call.is_returned = is(i, "return");
    if (is_check) call.name = i + 2;
    if (call.is_returned) call.name = i + 1;
    if (call.name + 1 >= tokens_.size() || !tokens_[call.name].is_identifier() || !is(call.name + 1, "(")) return {};
    if (!scope_.functions.contains(tokens_[call.name].text)) return {};
    const auto behind = behind_bracketed(tokens_, call.name + 1);
    if (!behind) return {};
    std::size_t at = *behind;
    if (is_check) {
      if (is(at, "!=") && at + 1 < tokens_.size() && tokens_[at + 1].text == "0") at += 2;
      if (!is(at, ")")) return {};
      ++at;
      const bool has_braces = is(at, "{");
      if (has_braces) ++at;
      if (!is(at, "return")) return {};
      for (++at; at < tokens_.size() && !is(at, ";"); ++at) call.failure += tokens_[at].text;
      if (!is_failure(call.failure)) return {};
      ++at;
      if (has_braces && !is(at++, "}")) return {};
      if (is(at, "else")) return {};
    } else if (!is(at++, ";")) {
      return {};
    }
    call.last = at;
    return call;
  }

  // "-1" or "3", of 32 bits
  static bool is_failure(std::string_view text) {
    constexpr std::size_t most_digits = 9;
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text.size() <= most_digits && text[0] != '0' &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  }

  [[nodiscard]] std::optional<EditedText> with_part(const PartCall& call) {
    const std::string_view name = tokens_[call.name].text;
    const FunctionText& part = scope_.functions.find(name)->second;
    if (name == entry_name_ || part.file != entry_.file || part.is_ambiguous) return std::nullopt;
    const auto items = items_.find(name);
    if (items == items_.end()) return std::nullopt;
    Edits edits;
    bool is_local = false;
    std::size_t own = 1;  // places of its name: the call
    for (const Item* item : items->second) {
      const bool is_of_it = item->kind == Item::Kind::function || item->kind == Item::Kind::prototype;
      const std::string_view all = text_.substr(item->begin, item->end - item->begin);
      if (!is_of_it || all.find('#') != std::string_view::npos) return std::nullopt;
      if (!returns_status(all, name)) return std::nullopt;
      is_local = is_local || (item->is_local && all.starts_with("static"));
      edits[item->begin] = {item->end, ""};
      ++own;
    }
    if (!is_local || !tried_.insert(name).second || places_of(text_, name).size() != own) return std::nullopt;
    const std::size_t begin = tokens_[call.first].offset;
    const std::size_t end = tokens_[call.last - 1].offset + tokens_[call.last - 1].text.size();
    if (text_.substr(begin, end - begin).find('#') != std::string_view::npos || is_in_group(begin)) return std::nullopt;
    read_entrys_names();
    if (defines_type_ || !have_same_macros(part)) return std::nullopt;
    const auto statements = statements_of(part, call);
    if (!statements) return std::nullopt;
    edits[begin] = {end, *statements};
    return replaced(text_, edits);
  }

  // Whether nothing but these words stands in front of the name: an attribute may say where the function's code is, and
  // a narrow type is not what the entry returns.
  static bool returns_status(std::string_view item, std::string_view name) {
    Lexer tokens(item);
    for (Token token = tokens.next(); !token.is(name); token = tokens.next()) {
      const bool is_word_of_type =
          token.is("static") || token.is("inline") || token.is("int32_t") || token.is("int") || token.is("void");
      if (!is_word_of_type) return false;
    }
    return true;
  }

  // Conditions of the preprocessor in the entry may leave it out.
  [[nodiscard]] bool is_in_group(std::size_t place) const {
    std::size_t depth = 0;
    for (const Directive& one : directives_in(text_.substr(entry_item_->begin, place - entry_item_->begin))) {
      if (opens_group(one.word)) ++depth;
      if (one.word == "endif" && depth > 0) --depth;
    }
    return depth > 0;
  }

  // Whether its macros are the same in the entry: none of them is defined between the two.
  [[nodiscard]] bool have_same_macros(const FunctionText& part) const {
    const std::vector<Token> body = tokens_of(part.body);
    Names words = used_macros(body, macros_).names;
    for (const Token& token : body) words.emplace(token.text);
    const std::size_t begin = std::min(part.offset, entry_.offset);
    const std::size_t end = std::max(part.offset, entry_.offset);
    const std::vector<Directive> between = directives_in(text_.substr(begin, end - begin));
    return std::none_of(between.begin(), between.end(), [&](const Directive& one) {
      return one.word == "include" ||
             ((one.word == "define" || one.word == "undef") && words.contains(leading_name(one.rest)));
    });
  }

  // With the call's arguments in the place of its parameters.
  [[nodiscard]] std::optional<std::string> statements_of(const FunctionText& part, const PartCall& call) const {
    std::vector<Token> body = tokens_of(part.body);
    if (body.empty() || !body.back().is("}")) return std::nullopt;
    body.pop_back();
    if (!runs_operators(body) && !sets_pointers(part, body)) return std::nullopt;
    const auto arguments = arguments_of(part, call);
    if (!arguments || define_type(body)) return std::nullopt;
    const auto renamed = other_names(body, *arguments, call);
    if (!renamed) return std::nullopt;
    MadeTokens made;
    const MadeTokens all = made_tokens(body);
    for (std::size_t i = 0; i < body.size(); ++i) {
      const Token& token = body[i];
      if (is_refused(token.text)) return std::nullopt;
      if (token.is("return")) {
        std::string value;
        std::size_t end = i + 1;
        for (; end < body.size() && !body[end].is(";"); ++end) value += body[end].text;
        const bool is_end = end + 1 == body.size() && begins_statement(body, i);
        if (is_end && (value == "0" || value.empty()) && !call.is_returned) break;
        if (!call.is_returned && (call.failure.empty() || !is_failure(value))) return std::nullopt;
        if (!call.is_returned) {
          const MadeTokens other = made_tokens(std::string_view("return " + call.failure));
          made.insert(made.end(), other.begin(), other.end());
          made[made.size() - other.size()].is_apart = true;
          i = end - 1;
          continue;
        }
      }
      MadeToken one = all[i];
      const auto found = arguments->find(token.text);
      const bool is_name = token.is_identifier() && !is_member(body, i);
      if (is_name && found != arguments->end()) {
        if (is_changed(body, i) || !(found->second.is_alike || is_passed(body, i))) return std::nullopt;
        one.text = found->second.name.text;
        one.kind = found->second.name.kind;
      } else if (const auto other = renamed->find(token.text); is_name && other != renamed->end()) {
        one.text = other->second;
      }
      made.push_back(std::move(one));
    }
    return text_of_statements(made);
  }

  // By itself, or through others. It may take and give back their memory, too.
  [[nodiscard]] bool runs_operators(const std::vector<Token>& body) const {
    std::set<std::string_view> seen;
    std::vector<std::vector<Token>> pending = {body};
    while (!pending.empty()) {
      const std::vector<Token> tokens = std::move(pending.back());
      pending.pop_back();
      for (const Token& token : tokens) {
        const bool is_models =
            token.text.starts_with("tvmgen_") || token.is("TVMBackendAllocWorkspace") || token.is(free_function);
        if (token.is_identifier() && is_models) return true;
        const auto called = scope_.functions.find(token.text);
        if (called != scope_.functions.end() && seen.insert(token.text).second) {
          pending.push_back(tokens_of(called->second.body));
        }
      }
    }
    return false;
  }

  // To workspace, which operators get elsewhere: sid_1 = (&(pool[16])); of static void* sid_1;
  [[nodiscard]] bool sets_pointers(const FunctionText& part, const std::vector<Token>& body) const {
    const Names pointers = static_pointers(text_, scope_);
    Names given = {"TVMBackendAllocWorkspace"};
    for (const Token& token : tokens_of(part.params)) {
      if (token.is_identifier()) given.emplace(token.text);
    }
    for (std::size_t i = 0; i + 1 < body.size(); ++i) {
      if (!pointers.contains(body[i].text) || !begins_statement(body, i) || !body[i + 1].is("=")) continue;
      for (std::size_t k = i + 2; k < body.size() && !body[k].is(";"); ++k) {
        if (given.contains(body[k].text)) return true;
      }
    }
    return false;
  }

  struct Argument {
    Token name;            // or number
    bool is_alike = true;  // of the parameter's type
  };
  using Arguments = std::map<std::string_view, Argument, std::less<>>;  // by parameter

  // What may mean something else in the entry, or reaches beyond the statements.
  static bool is_refused(std::string_view word) {
    constexpr std::array<std::string_view, 14> words = {
        "static",        "goto",    "switch",   "typedef",      "asm",
        "__asm",         "__asm__", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__",
        "__attribute__", "_Pragma", "typeof",   "__typeof__"};
    return std::find(words.begin(), words.end(), word) != words.end();
  }

  // Whether the name at the token is an argument of a call: f(a, name)
  static bool is_passed(const std::vector<Token>& body, std::size_t i) {
    const auto is_in = [&](std::size_t k, std::string_view spelling) {
      return k < body.size() && body[k].is(spelling);
    };
    if (i == 0 || !(is_in(i - 1, "(") || is_in(i - 1, ",")) || !(is_in(i + 1, ")") || is_in(i + 1, ","))) return false;
    std::size_t depth = 1;
    std::size_t open = i;
    while (open > 0 && depth > 0) {
      --open;
      if (is_in(open, ")")) ++depth;
      if (is_in(open, "(")) --depth;
      if (is_in(open, ";") || is_in(open, "{") || is_in(open, "}")) return false;
    }
    if (depth > 0 || open == 0 || !body[open - 1].is_identifier()) return false;
    const Token& function = body[open - 1];
    return !is_control(function) && !function.is("return") && !function.is("else") && !function.is("do") &&
           !function.is("case");
  }

  // Of a parameter of the entry that has this type.
  [[nodiscard]] bool is_entrys(const Token& name, const CType& type) const {
    Lexer params = entry_.params;
    while (const auto of = parse_type(params)) {
      const Token param = params.next();
      if (param.is(name.text)) return of->stars == type.stars && of->element == type.element;
      if (!take(params, ",")) break;
    }
    return false;
  }

  // Whether the name is a pointer that only the entry can change, so not while the part runs.
  [[nodiscard]] bool is_entrys_pointer(const Token& name, std::size_t call) const {
    return entrys_params_.contains(name.text) ||
           std::any_of(declared_.begin(), declared_.end(), [&](const DeclaredName& one) {
             return one.name == name.text && one.is_sure && one.is_pointer && one.depth == 0 && one.at < call;
           });
  }

  // Whether a number may stand for the parameter: of 32 bits with a sign, as numbers are.
  static bool is_number_for(const Token& number, const CType& type) {
    return number.kind == TokenKind::number && type.stars == 0 && type.element == tir::int32_type &&
           std::all_of(number.text.begin(), number.text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
           number_at({number}, 0).has_value();
  }

  [[nodiscard]] std::optional<Arguments> arguments_of(const FunctionText& part, const PartCall& call) const {
    Arguments arguments;
    Lexer params = part.params;
    for (const Token& token : tokens_of(params)) {
      if (token.is("volatile")) return std::nullopt;  // what the argument points to is not
    }
    std::size_t at = call.name + 2;
    if (take(params, ")")) return is(at, ")") ? std::optional(arguments) : std::nullopt;
    if (Lexer ahead = params; take(ahead, "void") && take(ahead, ")")) {
      return is(at, ")") ? std::optional(arguments) : std::nullopt;
    }
    while (true) {
      const auto type = parse_type(params);
      const Token param = params.next();
      if (!type || !param.is_identifier() || at + 1 >= tokens_.size()) return std::nullopt;
      const Token& argument = tokens_[at];
      const bool is_number = is_number_for(argument, *type);
      if (!is_number && (type->stars != 1 || !is_entrys_pointer(argument, call.first))) return std::nullopt;
      const bool is_alike = is_number || is_entrys(argument, *type);
      if (!arguments.emplace(param.text, Argument{argument, is_alike}).second) return std::nullopt;
      const bool goes_on = take(params, ",");
      if (!is(at + 1, goes_on ? "," : ")")) return std::nullopt;
      if (!goes_on) return take(params, ")") ? std::optional(arguments) : std::nullopt;
      at += 2;
    }
  }

  // For what the part declares, if the entry has the name, too. Nothing: a name, or one in a macro, may mean something
  // else in the entry, or to what stands there.
  [[nodiscard]] std::optional<std::map<std::string, std::string, std::less<>>> other_names(
      const std::vector<Token>& body, const Arguments& arguments, const PartCall& call) const {
    const UsedMacros used = used_macros(body, macros_);
    const bool leave = std::any_of(used.names.begin(), used.names.end(),
                                   [](std::string_view word) { return word == "return" || is_refused(word); });
    if (leave || used.have_unknown) return std::nullopt;
    std::map<std::string, bool, std::less<>> parts_own;  // whether its first place declares it
    for (const DeclaredName& one : declared_names(body)) {
      const bool is_first = std::none_of(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(one.at),
                                         [&](const Token& token) { return token.is(one.name); });
      parts_own.emplace(one.name, is_first && one.is_sure);
    }
    for (const std::string& name : used.declared_behind) {
      if (entrys_words_.contains(name)) return std::nullopt;
    }
    std::set<std::string, std::less<>> taken;
    for_each_identifier(text_, [&](std::string_view word) { taken.emplace(word); });
    std::map<std::string, std::string, std::less<>> result;
    const auto is_of_macros = [&](std::string_view name) { return used.names.contains(name); };
    for (const auto& [param, argument] : arguments) {
      if (parts_own.contains(param)) return std::nullopt;  // in a block of its own
      if (!argument.name.is(param) && (is_of_macros(param) || used.have_arguments)) return std::nullopt;
    }
    const auto is_captured = [&](std::string_view word) {
      const auto argument = arguments.find(word);
      const bool is_same = argument != arguments.end() && argument->second.name.text == word;
      return !is_same && !parts_own.contains(word) && entrys_own_.contains(word);
    };
    if (std::any_of(used.names.begin(), used.names.end(), is_captured)) return std::nullopt;
    for (std::size_t i = 0; i < body.size(); ++i) {
      const std::string_view name = body[i].text;
      if (!body[i].is_identifier() || is_member(body, i) || arguments.contains(name)) continue;
      if (is_captured(name)) return std::nullopt;
      const auto own = parts_own.find(name);
      if (own == parts_own.end() || !(entrys_words_.contains(name) || entrys_own_.contains(name))) continue;
      if (result.contains(name)) continue;
      const bool is_sure = own->second && !items_.contains(name);  // of the file: behind the block that declares it
      if (!is_sure || is_of_macros(name) || used.have_arguments) return std::nullopt;
      std::string other;
      for (std::size_t n = call.first; other.empty() || taken.contains(other); ++n)
        other = std::string(name) + "_" + std::to_string(n);
      taken.insert(other);
      result.emplace(name, std::move(other));
    }
    return result;
  }

  std::string_view text_;
  const FunctionText& entry_;
  std::string_view entry_name_;
  const FileScope& scope_;
  const AllDefinitions& macros_;
  std::vector<Token> tokens_;
  std::vector<DeclaredName> declared_;                          // by the tokens
  std::map<std::string_view, std::vector<const Item*>> items_;  // by name
  const Item* entry_item_ = nullptr;
  std::set<std::string_view> tried_;  // static functions; what is called twice is no part
  bool defines_type_ = false;         // the entry
  Names entrys_words_;                // that it uses, in any conditional group and in macros
  Names entrys_own_;                  // of these: that it may declare
  Names entrys_params_;
};

}  // namespace

std::optional<EditedText> with_one_part(const FunctionText& entry, std::string_view entry_name, const FileScope& scope,
                                        const AllDefinitions& macros) {
  try {
    return Parts(entry, entry_name, scope, macros).run();
  } catch (const SyntaxError&) {  // told where the function is read
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c
