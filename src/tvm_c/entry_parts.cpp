// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/entry_parts_test.cpp.
#include "tvm_c/entry_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tvm_c/expressions.hpp"
#include "tvm_c/function_tokens.hpp"
#include "tvm_c/literals.hpp"
#include "tvm_c/macro_expansion.hpp"
#include "tvm_c/macros.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

bool is_boundary(const std::vector<Token>& tokens, std::size_t i) {
  return i == 0 || tokens[i - 1].is(";") || tokens[i - 1].is("{") || tokens[i - 1].is("}");
}

// Whether the name at the token is assigned, counted, or has its address taken.
bool is_changed(const std::vector<Token>& tokens, std::size_t i) {
  const auto is = [&](std::size_t k, std::string_view spelling) { return k < tokens.size() && tokens[k].is(spelling); };
  if (is(i + 1, "=") || is(i + 1, "++") || is(i + 1, "--")) return true;
  if (i + 1 < tokens.size() && is_compound_assignment(tokens[i + 1].text)) return true;
  while (i > 0 && is(i - 1, "(")) --i;
  return i > 0 && (is(i - 1, "++") || is(i - 1, "--") || is(i - 1, "&"));
}

bool is_member(const std::vector<Token>& tokens, std::size_t i) {
  return i > 0 && (tokens[i - 1].is(".") || tokens[i - 1].is("->"));
}

// Places in the text, also in comments, where the name stands.
std::vector<std::size_t> places_of(std::string_view text, std::string_view name) {
  std::vector<std::size_t> places;
  for_each_identifier(text, [&](std::string_view word) {
    if (word == name) places.push_back(static_cast<std::size_t>(word.data() - text.data()));
  });
  return places;
}

// `edits`: by where a piece of the text begins, its end and what stands there instead.
std::optional<EditedText> edited(std::string_view text,
                                 const std::map<std::size_t, std::pair<std::size_t, std::string>>& edits) {
  Replacements replaced(text);
  for (const auto& [begin, edit] : edits) replaced.replace(begin, edit.first, edit.second);
  return replaced.text();
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
  Parts(const FunctionText& entry, std::string_view entry_name, const FileScope& scope)
      : text_(entry.body.text()),
        entry_(entry),
        entry_name_(entry_name),
        scope_(scope),
        tokens_(tokens_of(entry.body)) {}

  std::optional<EditedText> run() const {
    std::size_t depth = 0;
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (is(i, "{")) ++depth;
      if (is(i, "}") && depth > 0) --depth;
      if (depth > 0 || !is_boundary(tokens_, i)) continue;
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

  // "-1" or "3"
  static bool is_failure(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text[0] != '0' &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  }

  [[nodiscard]] std::optional<EditedText> with_part(const PartCall& call) const {
    const std::string_view name = tokens_[call.name].text;
    const FunctionText& part = scope_.functions.find(name)->second;
    if (name == entry_name_ || part.file != entry_.file || part.is_ambiguous) return std::nullopt;
    const std::size_t begin = tokens_[call.first].offset;
    const std::size_t end = tokens_[call.last - 1].offset + tokens_[call.last - 1].text.size();
    if (text_.substr(begin, end - begin).find('#') != std::string_view::npos) return std::nullopt;
    std::map<std::size_t, std::pair<std::size_t, std::string>> edits;
    bool is_local = false;
    std::size_t own = 1;  // places of its name: the call
    for (const Item& item : scope_.items) {
      if (item.name != name) continue;
      const bool is_of_it = item.kind == Item::Kind::function || item.kind == Item::Kind::prototype;
      const std::string_view all = text_.substr(item.begin, item.end - item.begin);
      if (!is_of_it || all.find('#') != std::string_view::npos) return std::nullopt;
      is_local = is_local || (item.is_local && all.starts_with("static"));
      edits[item.begin] = {item.end, ""};
      ++own;
    }
    if (!is_local || places_of(text_, name).size() != own) return std::nullopt;
    const auto statements = statements_of(part, call);
    if (!statements) return std::nullopt;
    edits[begin] = {end, *statements};
    return edited(text_, edits);
  }

  // With the call's arguments in the place of its parameters.
  [[nodiscard]] std::optional<std::string> statements_of(const FunctionText& part, const PartCall& call) const {
    std::vector<Token> body = tokens_of(part.body);
    if (body.empty() || !body.back().is("}")) return std::nullopt;
    body.pop_back();
    if (!runs_operators(body)) return std::nullopt;
    const auto arguments = arguments_of(part, call);
    if (!arguments) return std::nullopt;
    const auto renamed = other_names(body, *arguments, call);
    MadeTokens made;
    const MadeTokens all = made_tokens(body);
    for (std::size_t i = 0; i < body.size(); ++i) {
      const Token& token = body[i];
      for (const char* word : {"static", "goto", "switch", "typedef", "asm", "__asm__", "__func__"}) {
        if (token.is(word)) return std::nullopt;
      }
      if (token.is("return")) {
        std::string value;
        std::size_t end = i + 1;
        for (; end < body.size() && !body[end].is(";"); ++end) value += body[end].text;
        const bool is_end = end + 1 == body.size() && is_boundary(body, i);
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
      if (is_name && found != arguments->end() && !may_be_argument(body, i, found->second)) return std::nullopt;
      if (is_name && found != arguments->end()) {
        if (is_changed(body, i)) return std::nullopt;
        one.text = found->second.name.text;
        one.kind = found->second.name.kind;
      } else if (const auto other = renamed.find(token.text); is_name && other != renamed.end()) {
        one.text = other->second;
      } else if (is_name && is_argument(*arguments, token.text)) {
        return std::nullopt;  // something else of that name
      }
      made.push_back(std::move(one));
    }
    return text_of(made);
  }

  // By itself, or through others.
  [[nodiscard]] bool runs_operators(const std::vector<Token>& body) const {
    std::set<std::string_view> seen;
    std::vector<std::vector<Token>> pending = {body};
    while (!pending.empty()) {
      const std::vector<Token> tokens = std::move(pending.back());
      pending.pop_back();
      for (const Token& token : tokens) {
        if (token.is_identifier() && token.text.starts_with("tvmgen_")) return true;
        const auto called = scope_.functions.find(token.text);
        if (called != scope_.functions.end() && seen.insert(token.text).second) {
          pending.push_back(tokens_of(called->second.body));
        }
      }
    }
    return false;
  }

  struct Argument {
    Token name;            // or number
    bool is_alike = true;  // of the parameter's type
  };
  using Arguments = std::map<std::string_view, Argument, std::less<>>;  // by parameter

  // In the place of the parameter at the token: of another type only where it is passed on, and not where a macro may
  // say its name.
  [[nodiscard]] bool may_be_argument(const std::vector<Token>& body, std::size_t i, const Argument& argument) const {
    const auto is_in = [&](std::size_t k, std::string_view spelling) {
      return k < body.size() && body[k].is(spelling);
    };
    const bool is_passed =
        i > 0 && (is_in(i - 1, "(") || is_in(i - 1, ",")) && (is_in(i + 1, ")") || is_in(i + 1, ","));
    if (!argument.is_alike && !is_passed) return false;
    if (argument.name.is(body[i].text)) return true;
    for (std::size_t k = 0; k + 1 < body.size(); ++k) {
      if (body[k].is_identifier() && is_in_capitals(body[k].text) && is_in(k + 1, "(")) return false;
    }
    return true;
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

  // A pointer of the file may change while the part runs.
  [[nodiscard]] bool is_files_pointer(const Token& name) const {
    return std::any_of(scope_.items.begin(), scope_.items.end(), [&](const Item& item) {
      const std::string_view all = text_.substr(item.begin, item.end - item.begin);
      return item.kind != Item::Kind::function && item.kind != Item::Kind::prototype &&
             all.find('*') != std::string_view::npos && !places_of(all, name.text).empty();
    });
  }

  static bool is_argument(const Arguments& arguments, std::string_view name) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const auto& one) { return one.second.name.text == name; });
  }

  [[nodiscard]] std::optional<Arguments> arguments_of(const FunctionText& part, const PartCall& call) const {
    Arguments arguments;
    Lexer params = part.params;
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
      const bool is_number = argument.kind == TokenKind::number && !is_real(argument) && type->stars == 0;
      if (!is_number && (!argument.is_identifier() || type->stars != 1)) return std::nullopt;
      if (!is_number && is_files_pointer(argument)) return std::nullopt;
      const bool is_alike = is_number || is_entrys(argument, *type);
      if (!arguments.emplace(param.text, Argument{argument, is_alike}).second) return std::nullopt;
      const bool goes_on = take(params, ",");
      if (!is(at + 1, goes_on ? "," : ")")) return std::nullopt;
      if (!goes_on) return take(params, ")") ? std::optional(arguments) : std::nullopt;
      at += 2;
    }
  }

  // For what the part declares, if the entry has the name, too.
  [[nodiscard]] std::map<std::string, std::string, std::less<>> other_names(const std::vector<Token>& body,
                                                                            const Arguments& arguments,
                                                                            const PartCall& call) const {
    std::set<std::string, std::less<>> taken;
    for_each_identifier(text_, [&](std::string_view word) { taken.emplace(word); });
    std::map<std::string, std::string, std::less<>> result;
    for (std::size_t i = 1; i + 1 < body.size(); ++i) {
      const bool ends = body[i + 1].is("=") || body[i + 1].is(";") || body[i + 1].is("[") || body[i + 1].is(",");
      const bool is_typed = body[i - 1].is("*") || (body[i - 1].is_identifier() && !body[i - 1].is("return"));
      if (!body[i].is_identifier() || !ends || !is_typed || arguments.contains(body[i].text)) continue;
      const bool is_taken =
          std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& token) { return token.is(body[i].text); });
      if (!is_taken || result.contains(body[i].text)) continue;
      const std::string name(body[i].text);
      std::string other;
      for (std::size_t n = call.first; other.empty() || taken.contains(other); ++n)
        other = name + "_" + std::to_string(n);
      taken.insert(other);
      result.emplace(name, std::move(other));
    }
    return result;
  }

  std::string_view text_;
  const FunctionText& entry_;
  std::string_view entry_name_;
  const FileScope& scope_;
  std::vector<Token> tokens_;
};

struct FilePointer {
  std::string type;  // "void*"
  std::string_view name;
};

// static void* sid_1; or static float* x = NULL;
std::optional<FilePointer> pointer_in(std::string_view item) {
  Lexer tokens(item);
  if (!take(tokens, "static")) return std::nullopt;
  const Token type = tokens.next();
  for (const char* word : {"const", "volatile", "struct", "unsigned", "signed", "_Thread_local", "register"}) {
    if (type.is(word)) return std::nullopt;
  }
  if (!type.is_identifier() || !take(tokens, "*")) return std::nullopt;
  const Token name = tokens.next();
  if (!name.is_identifier()) return std::nullopt;
  if (take(tokens, "=")) {
    const Token value = tokens.next();
    if (!value.is("NULL") && value.text != "0") return std::nullopt;
  }
  if (!take(tokens, ";") || tokens.peek().kind != TokenKind::end) return std::nullopt;
  return FilePointer{std::string(type.text) + "*", name.text};
}

}  // namespace

std::optional<EditedText> with_one_part(const FunctionText& entry, std::string_view entry_name,
                                        const FileScope& scope) {
  try {
    return Parts(entry, entry_name, scope).run();
  } catch (const SyntaxError&) {  // told where the function is read
    return std::nullopt;
  }
}

std::optional<EditedText> with_own_pointers(const FunctionText& entry, std::string_view entry_name,
                                            const FileScope& scope) {
  const std::string_view text = entry.body.text();
  std::map<std::size_t, std::pair<std::size_t, std::string>> edits;
  try {
    const auto function = std::find_if(scope.items.begin(), scope.items.end(), [&](const Item& item) {
      return item.kind == Item::Kind::function && item.name == entry_name;
    });
    if (function == scope.items.end()) return std::nullopt;
    // Conditions of the preprocessor may leave a pointer as it was.
    if (text.substr(function->begin, function->end - function->begin).find('#') != std::string_view::npos)
      return std::nullopt;
    const std::vector<Token> tokens = tokens_of(entry.body);
    for (const Item& item : scope.items) {
      const std::string_view all = text.substr(item.begin, item.end - item.begin);
      if (item.kind == Item::Kind::function || !all.starts_with("static")) continue;
      const auto pointer = pointer_in(all);
      if (!pointer) continue;
      const auto& [type, name] = *pointer;
      const std::vector<std::size_t> places = places_of(text, name);
      const bool is_entrys = std::all_of(places.begin(), places.end(), [&](std::size_t at) {
        return (item.begin <= at && at < item.end) || (function->begin <= at && at < function->end);
      });
      if (!is_entrys) continue;
      std::size_t depth = 0;
      std::optional<std::size_t> set;
      bool is_sure = true;
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].is("{")) ++depth;
        if (tokens[i].is("}") && depth > 0) --depth;
        if (!tokens[i].is(name)) continue;
        const bool is_set =
            !set && depth == 0 && is_boundary(tokens, i) && i + 1 < tokens.size() && tokens[i + 1].is("=");
        if (is_set) {
          set = tokens[i].offset;
          while (i + 1 < tokens.size() && !tokens[i + 1].is(";")) is_sure = !tokens[++i].is(name) && is_sure;
        } else {
          is_sure = is_sure && set && !is_changed(tokens, i);
        }
      }
      if (!is_sure || !set) continue;
      edits[item.begin] = {item.end, ""};
      edits[*set] = {*set, type + " "};
    }
    return edits.empty() ? std::nullopt : edited(text, edits);
  } catch (const SyntaxError&) {  // likewise
    return std::nullopt;
  }
}

bool names_file_pointers(const FunctionText& entry, const FileScope& scope) {
  try {
    const std::string_view text = entry.body.text();
    const std::vector<Token> tokens = tokens_of(entry.body);
    return std::any_of(scope.items.begin(), scope.items.end(), [&](const Item& item) {
      const std::string_view all = text.substr(item.begin, item.end - item.begin);
      const bool may_be = item.kind != Item::Kind::function && all.starts_with("static");
      const auto pointer = may_be ? pointer_in(all) : std::nullopt;
      return pointer &&
             std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) { return token.is(pointer->name); });
    });
  } catch (const SyntaxError&) {  // likewise
    return true;
  }
}

}  // namespace usmp::tvm_c
