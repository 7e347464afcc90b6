// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/entry_jumps_test.cpp.
#include "tvm_c/respelled/entry_jumps.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/declared_names.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {
namespace {

class JumpBody {
 public:
  explicit JumpBody(const FunctionText& function) : text_(function.body.text()), tokens_(tokens_of(function.body)) {}

  [[nodiscard]] std::string_view file() const { return text_; }
  [[nodiscard]] const std::vector<Token>& tokens() const { return tokens_; }
  [[nodiscard]] bool is(std::size_t i, std::string_view spelling) const {
    return i < tokens_.size() && tokens_[i].is(spelling);
  }
  [[nodiscard]] std::size_t begin_of(std::size_t i) const { return tokens_[i].offset; }
  [[nodiscard]] std::size_t end_of(std::size_t i) const { return tokens_[i].offset + tokens_[i].text.size(); }
  [[nodiscard]] std::string_view text(TokenPart part) const {
    if (part.begin == part.end) return {};
    return text_.substr(begin_of(part.begin), end_of(part.end - 1) - begin_of(part.begin));
  }

  // Behind the statement at `i`, if it is a block, or one that ends with a semicolon outside of brackets.
  [[nodiscard]] std::optional<std::size_t> behind_simple(std::size_t i) const {
    if (i >= tokens_.size()) return std::nullopt;
    if (is(i, "{")) return behind_bracketed(tokens_, i);
    for (; i < tokens_.size() && !is(i, ";"); ++i) {
      if (is(i, "{") || is(i, "}")) return std::nullopt;
    }
    return i < tokens_.size() ? std::optional(i + 1) : std::nullopt;
  }

  // Whether control never comes behind it: { …; return x; } or return x;
  [[nodiscard]] bool leaves(TokenPart part) const {
    if (is(part.begin, "return")) return true;
    if (!is(part.begin, "{") || part.end - part.begin < 4) return false;
    return is(last_statement(part.begin + 1, part.end - 1), "return");
  }

  // Whether one of these statements may be a declaration, int x; or t* y = z; or struct t { … } x;
  [[nodiscard]] bool declares(TokenPart part) const {
    std::size_t depth = 0;
    for (std::size_t i = part.begin; i < part.end; ++i) {
      const bool begins =
          depth == 0 && (i == part.begin || begins_statement(tokens_, i) || is(i - 1, "else") || is(i - 1, ")"));
      if (is(i, "(") || is(i, "{") || is(i, "[")) ++depth;
      if (is(i, ")") || is(i, "}") || is(i, "]")) --depth;
      if (!begins || !tokens_[i].is_identifier() || is_control(tokens_[i])) continue;
      if (is(i, "return") || is(i, "else") || is(i, "do")) continue;
      const bool is_call = is(i + 1, "(") && !is(i + 2, "*");  // which int (*f)(void) is not
      const bool is_other = is_call || is(i + 1, "=") || is(i + 1, "[") || is(i + 1, "++") || is(i + 1, ";") ||
                            is(i + 1, "--") || is(i + 1, "->") || is(i + 1, ".") || is(i + 1, "+=");
      if (!is_other) return true;
    }
    return false;
  }

  // Where the last of the statements in [begin, end) begins.
  [[nodiscard]] std::size_t last_statement(std::size_t begin, std::size_t end) const {
    std::size_t last = begin;
    std::size_t depth = 0;
    for (std::size_t i = begin; i + 1 < end; ++i) {
      if (is(i, "(") || is(i, "{") || is(i, "[")) ++depth;
      if (is(i, ")") || is(i, "}") || is(i, "]")) --depth;
      if (depth == 0 && (is(i, ";") || is(i, "}"))) last = i + 1;
    }
    return last;
  }

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
};

class ElseBranches {
 public:
  ElseBranches(const FunctionText& function, const AllDefinitions& macros)
      : body_(function), macros_(macros), replaced_(body_.file()) {}

  std::optional<EditedText> run() {
    for (std::size_t i = 0; i < body_.tokens().size(); ++i) {
      const bool begins =
          begins_statement(body_.tokens(), i) || (i > 0 && removed_ == i - 1 && body_.is(i - 1, "else"));
      if (begins && body_.is(i, "if") && body_.begin_of(i) >= replaced_.end()) read(i);
    }
    return replaced_.text();
  }

 private:
  void read(std::size_t at) {
    if (!body_.is(at + 1, "(")) return;
    const auto condition = behind_bracketed(body_.tokens(), at + 1);
    const auto behind = condition ? body_.behind_simple(*condition) : std::nullopt;
    if (!behind || !body_.is(*behind, "else")) return;
    const TokenPart then{*condition, *behind};
    const bool is_then_plain = body_.is(then.begin, "{") || body_.is(then.begin, "return") || body_.is(then.begin, ";");
    if (!is_then_plain) return;
    if (body_.leaves(then)) {
      if (body_.text({at, *behind}).find('#') != std::string_view::npos) return;
      if (!calls_operator(body_.tokens(), {at, behind_all(*behind + 1)})) return;
      replaced_.replace(body_.begin_of(*behind), body_.end_of(*behind), "");
      removed_ = *behind;
      return;
    }
    const auto end = body_.behind_simple(*behind + 1);
    if (!end) return;
    const TokenPart otherwise{*behind + 1, *end};
    if (!body_.leaves(otherwise) || !calls_operator(body_.tokens(), {at, *end})) return;
    const std::string_view all = body_.text({at, *end});
    if (all.find('#') != std::string_view::npos) return;
    if (all.find("//") != std::string_view::npos) return;  // which would hide what follows
    const bool has_braces = body_.is(then.begin, "{") && !declares({then.begin + 1, then.end - 1});
    const TokenPart inside = has_braces ? TokenPart{then.begin + 1, then.end - 1} : then;
    std::string made = "if (!" + std::string(body_.text({at + 1, *condition})) + ") " +
                       std::string(body_.text(otherwise)) + " " +
                       std::string(body_.is(inside.begin, ";") ? std::string_view() : body_.text(inside));
    std::replace(made.begin(), made.end(), '\n', ' ');
    replaced_.replace(body_.begin_of(at), body_.end_of(*end - 1), made);
  }

  // By itself, or by a macro.
  [[nodiscard]] bool declares(TokenPart part) const {
    const auto begin = body_.tokens().begin();
    const UsedMacros used = used_macros(std::vector<Token>(begin + static_cast<std::ptrdiff_t>(part.begin),
                                                           begin + static_cast<std::ptrdiff_t>(part.end)),
                                        macros_);
    return body_.declares(part) || used.have_unknown || !used.declared_behind.empty();
  }

  // Behind the statement at the token, or one that is not followed.
  [[nodiscard]] std::size_t behind_all(std::size_t i) const {
    std::size_t depth = 0;
    for (; i < body_.tokens().size(); ++i) {
      if (body_.is(i, "{")) ++depth;
      if (body_.is(i, "}") && (depth == 0 || --depth == 0)) return i;
      if (depth == 0 && body_.is(i, ";")) return i;
    }
    return i;
  }

  JumpBody body_;
  const AllDefinitions& macros_;
  Replacements replaced_;
  std::size_t removed_ = SIZE_MAX;  // the last else that is gone
};

class GotoEnds {
 public:
  GotoEnds(const FunctionText& function, const AllDefinitions& macros)
      : body_(function), macros_(macros), replaced_(body_.file()) {
    for (const Token& token : tokens_of(function.params)) params_.emplace(token.text);
  }

  std::optional<EditedText> run() {
    const auto& tokens = body_.tokens();
    if (tokens.empty() || !find_label()) return std::nullopt;
    const TokenPart tail{label_ + 2, tokens.size() - 1};
    const bool is_end = tail.begin < tail.end && body_.is(body_.last_statement(tail.begin, tail.end), "return") &&
                        body_.is(tail.end - 1, ";") && body_.text(tail).find('#') == std::string_view::npos;
    if (!is_end || gotos_.empty() || (tail.end - tail.begin) * gotos_.size() > most_tokens) return std::nullopt;
    const MadeTokens all = made_tokens(tokens, tail.begin, tail.end);
    const std::vector<std::size_t> kept = needed(tail);
    if (hides_name(kept)) return std::nullopt;
    MadeTokens made;
    for (const std::size_t i : kept) {
      if (!means_the_same(i)) return std::nullopt;
      made.push_back(all[i - tail.begin]);
    }
    const std::string copy = text_of_statements(made);
    for (const std::size_t at : gotos_) {
      const bool needs_braces = !begins_statement(body_.tokens(), at);
      replaced_.replace(body_.begin_of(at), body_.end_of(at + 2), needs_braces ? "{ " + copy + " }" : copy);
    }
    const std::size_t last = body_.last_statement(0, label_);
    const std::size_t begin = last > 0 ? body_.end_of(last - 1) : body_.begin_of(last);
    const bool is_sure = body_.file().substr(begin, body_.begin_of(label_) - begin).find('#') == std::string_view::npos;
    const bool is_reached = !body_.is(last, "return") || !is_sure;
    replaced_.replace(body_.begin_of(label_), body_.end_of(is_reached ? label_ + 1 : tail.end - 1), "");
    return replaced_.text();
  }

 private:
  static constexpr std::size_t most_tokens = 20000;  // of all copies

  // The one label, in the function's own block, and the statements that go there, which are all that jump.
  bool find_label() {
    std::size_t depth = 0;
    for (std::size_t i = 0; i + 1 < body_.tokens().size(); ++i) {
      if (body_.is(i, "{")) ++depth;
      if (body_.is(i, "}") && depth > 0) --depth;
      if (body_.is(i, "switch") || body_.is(i, "case") || body_.is(i, "default")) return false;
      const bool is_label =
          body_.tokens()[i].is_identifier() && body_.is(i + 1, ":") && begins_statement(body_.tokens(), i);
      if (is_label && (label_ != 0 || depth > 0 || i == 0)) return false;
      if (is_label) label_ = i;
    }
    if (label_ == 0) return false;
    for (std::size_t i = 0; i + 2 < body_.tokens().size(); ++i) {
      if (!body_.is(i, "goto")) continue;
      const bool goes_there = i < label_ && body_.is(i + 1, body_.tokens()[label_].text) && body_.is(i + 2, ";");
      const bool is_statement = begins_statement(body_.tokens(), i) || (i > 0 && body_.is(i - 1, ")"));
      if (!goes_there || !is_statement) return false;
      gotos_.push_back(i);
    }
    return true;
  }

  // Of a name behind the label: nothing between the first goto and the label declares it, nor does a block with a goto.
  [[nodiscard]] bool means_the_same(std::size_t at) const {
    const auto& tokens = body_.tokens();
    const Token& name = tokens[at];
    if (!name.is_identifier() || is_member(tokens, at) || params_.contains(name.text) || body_.is(at + 1, "("))
      return true;
    bool is_known = false;
    std::size_t depth = 0;
    for (std::size_t i = 0; i < label_; ++i) {
      if (body_.is(i, "{")) ++depth;
      if (body_.is(i, "}") && depth > 0) --depth;
      if (!body_.is(i, name.text)) continue;
      if (is_keyword(name.text)) return true;
      const bool is_assigned = begins_statement(body_.tokens(), i) && body_.is(i + 1, "=");
      const bool is_passed =
          i > 0 && (body_.is(i - 1, "(") || body_.is(i - 1, ",")) && (body_.is(i + 1, ")") || body_.is(i + 1, ","));
      if (!is_known && (depth > 0 || i > gotos_.front())) return false;
      if (is_known && depth > 0 && !is_assigned && !is_passed) return false;
      is_known = true;
    }
    return true;
  }

  // Whether what is called behind the label, or a name of the macros there, may be declared where a goto is and not at
  // the label.
  [[nodiscard]] bool hides_name(const std::vector<std::size_t>& kept) const {
    std::vector<Token> tail;
    tail.reserve(kept.size());
    for (const std::size_t i : kept) tail.push_back(body_.tokens()[i]);
    const UsedMacros used = used_macros(tail, macros_);
    if (used.have_unknown) return true;
    Names names = used.names;
    for (const std::size_t i : kept) {
      if (body_.is(i + 1, "(")) names.emplace(body_.tokens()[i].text);
    }
    std::string plain;
    const std::string_view front = body_.file().substr(body_.begin_of(0), body_.begin_of(label_) - body_.begin_of(0));
    const std::vector<Token> tokens = plain_tokens(front, directives_in(front), plain);
    if (define_type(tokens) && !used.names.empty()) return true;
    std::size_t first = 0;
    while (first < tokens.size() && !tokens[first].is("goto")) ++first;
    for (const DeclaredName& one : declared_names(tokens)) {
      if ((one.depth > 0 || one.at > first) && names.contains(one.name)) return true;
    }
    const Names declared = used_macros(tokens, macros_).declared;
    return std::any_of(declared.begin(), declared.end(), [&](const std::string& name) { return names.contains(name); });
  }

  static bool is_keyword(std::string_view word) {
    return word == "return" || word == "if" || word == "void" || word == "NULL" || word == "sizeof";
  }

  // Variables that are declared with workspace: void* sid_1 = TVMBackendAllocWorkspace(…);
  [[nodiscard]] Names planned() const {
    Names result;
    std::string_view set;
    for (std::size_t i = 1; i < label_; ++i) {
      if (body_.is(i, ";")) set = {};
      if (body_.is(i, "=")) set = i > 1 && body_.is(i - 2, "*") ? body_.tokens()[i - 1].text : std::string_view();
      if (body_.is(i, "TVMBackendAllocWorkspace") && !set.empty()) result.emplace(set);
    }
    return result;
  }

  // All but TVMBackendFreeWorkspace(1, 0, sid_1); of what is planned.
  [[nodiscard]] std::vector<std::size_t> needed(TokenPart tail) const {
    std::vector<std::size_t> result;
    const Names names = planned();
    for (std::size_t i = tail.begin; i < tail.end; ++i) {
      const bool begins = i == tail.begin || begins_statement(body_.tokens(), i);
      const bool gives_back = begins && body_.is(i, "TVMBackendFreeWorkspace") && body_.is(i + 1, "(");
      const auto end = gives_back ? behind_bracketed(body_.tokens(), i + 1) : std::nullopt;
      if (end && body_.is(*end, ";") && names.contains(body_.tokens()[*end - 2].text)) {
        i = *end;
      } else {
        result.push_back(i);
      }
    }
    return result;
  }

  JumpBody body_;
  const AllDefinitions& macros_;
  Replacements replaced_;
  std::set<std::string, std::less<>> params_;
  std::size_t label_ = 0;
  std::vector<std::size_t> gotos_;
};

}  // namespace

std::optional<EditedText> without_else(const FunctionText& function, const AllDefinitions& macros) {
  try {
    return ElseBranches(function, macros).run();
  } catch (const SyntaxError&) {  // told where the function is read
    return std::nullopt;
  }
}

std::optional<EditedText> without_goto(const FunctionText& function, const AllDefinitions& macros) {
  try {
    return GotoEnds(function, macros).run();
  } catch (const SyntaxError&) {  // likewise
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c
