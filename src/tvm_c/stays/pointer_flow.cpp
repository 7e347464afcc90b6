// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/edited_entry_test.cpp.
#include "tvm_c/stays/pointer_flow.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/syntax.hpp"

namespace usmp::tvm_c {
namespace {

bool stores_value(const MadeToken& token) { return token.is("=") || is_compound_assignment(token.text); }

template <std::size_t count>
bool is_any(const MadeToken& token, const std::array<std::string_view, count>& spellings) {
  return std::any_of(spellings.begin(), spellings.end(), [&](std::string_view one) { return token.is(one); });
}

// The result is no pointer.
bool compares(const MadeToken& token) {
  return is_any(token, std::array<std::string_view, 8>{"==", "!=", "<", ">", "<=", ">=", "&&", "||"});
}

bool is_no_call(const MadeToken& token) { return is_control(token) || token.is("sizeof"); }

bool is_qualifier(const MadeToken& token) {
  return is_any(token, std::array<std::string_view, 5>{"const", "volatile", "restrict", "__restrict", "__restrict__"});
}

bool returns_first(const MadeToken& token) {
  return is_any(
      token, std::array<std::string_view, 7>{"memset", "memcpy", "memmove", "strcpy", "strncpy", "strcat", "strncat"});
}

bool opens(const MadeToken& token) { return token.is("(") || token.is("[") || token.is("{"); }
bool closes(const MadeToken& token) { return token.is(")") || token.is("]") || token.is("}"); }

class PointerFlow {
 public:
  explicit PointerFlow(const MadeTokens& tokens) : tokens_(tokens), partner_(tokens.size(), none) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (opens(tokens[i])) open.push_back(i);
      if (!closes(tokens[i]) || open.empty()) continue;
      partner_[i] = open.back();
      partner_[open.back()] = i;
      open.pop_back();
    }
    find_lists();
  }

  void add_kept(Names& kept) const {
    std::vector<std::string> pending;
    Sources sources = sources_of(pending, {});
    if (!lists_.empty()) {  // what its pointers point to may be lists
      Names holders;
      for (const auto& [name, from] : sources) holders.insert(name);
      pending.clear();
      sources = sources_of(pending, holders);
    }
    while (!pending.empty()) {
      const std::string name = std::move(pending.back());
      pending.pop_back();
      if (!kept.insert(name).second) continue;
      const auto found = sources.find(name);
      if (found != sources.end()) pending.insert(pending.end(), found->second.begin(), found->second.end());
    }
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;
  static constexpr std::size_t any_levels = 1000;

  using Sources = std::map<std::string, std::vector<std::string>, std::less<>>;

  // Of pointers that the statement declares; and those that live on. `holders`: of lists, at any number of levels.
  [[nodiscard]] Sources sources_of(std::vector<std::string>& kept, const Names& holders) const {
    Sources sources;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!tokens_[i].is_identifier() || is_member(tokens_, i)) continue;
      const auto target = target_of(i, holders);
      if (!target) continue;
      if (target->empty()) {
        kept.push_back(tokens_[i].text);
      } else if (*target != tokens_[i].text) {
        sources[*target].push_back(tokens_[i].text);
      }
    }
    return sources;
  }

  // Tokens of an expression, the first and the last.
  struct Span {
    std::size_t first = 0;
    std::size_t last = 0;
    bool is_pointer = true;  // the value of the variable, or an address in what it points to; else a number there
    // How often what it points to, or is, is a struct or an array of the statement's own that holds such.
    std::size_t lists = 0;
    bool is_flat = false;  // it is a struct that has no arrays

    void follow() {
      is_pointer = lists > 0;
      if (lists > 0) --lists;
    }
  };

  // Who gets a value, as target_of says; or it is that of a larger expression.
  struct Use {
    std::optional<std::string> target = {};
    bool is_part = false;
  };

  // Variables that the statement declares with a list: struct view v = {x, 3}; none where one may outlive it, or where
  // its bytes may be copied.
  void find_lists() {
    for (const MadeToken& token : tokens_) {
      if (returns_first(token) || token.text.find("mem") != std::string::npos) return;
      if (is_any(token, std::array<std::string_view, 4>{"static", "extern", "_Thread_local", "register"})) return;
    }
    for (std::size_t i = 2; i + 1 < tokens_.size(); ++i) {
      if (!is(i, "=") || !is(i + 1, "{")) continue;
      std::size_t name = i - 1;
      std::size_t levels = 0;
      for (; name > 1 && is(name, "]") && partner_[name] != none && partner_[name] > 0; ++levels) {
        name = partner_[name] - 1;
      }
      if (levels == 0 || !is(name - 1, "*")) ++levels;  // of structs
      const bool is_declared = tokens_[name].is_identifier() && name > 0 &&
                               (tokens_[name - 1].is_identifier() || is(name - 1, "}") || is(name - 1, "*"));
      if (!is_declared) continue;
      lists_[tokens_[name].text] = levels;
      if (name + 1 == i && is(name - 1, "}") && is_flat(name - 1)) flat_.insert(tokens_[name].text);
    }
  }

  // struct { const int8_t* a; int n; }, by its last brace.
  [[nodiscard]] bool is_flat(std::size_t close) const {
    const std::size_t open = partner_[close];
    if (open == none) return false;
    return std::none_of(tokens_.begin() + static_cast<std::ptrdiff_t>(open) + 1,
                        tokens_.begin() + static_cast<std::ptrdiff_t>(close),
                        [](const MadeToken& token) { return opens(token) || token.is("struct") || token.is("union"); });
  }

  // Who gets what stands in the list that begins there: the variable that it is the value of, or what gets (type){x}.
  [[nodiscard]] Use of_list(std::size_t brace, Span& span) const {
    while (brace > 0 && is(brace - 1, "{")) --brace;
    if (partner_[brace] == none || brace < 2) return {std::string()};
    if (is(brace - 1, ")") && partner_[brace - 1] != none) {
      span = {partner_[brace - 1], partner_[brace], true, 1, false};
      return {.is_part = true};
    }
    std::size_t name = brace - 2;
    while (name > 0 && is(name, "]") && partner_[name] != none && partner_[name] > 0) name = partner_[name] - 1;
    const bool is_own = is(brace - 1, "=") && lists_.contains(tokens_[name].text);
    return {is_own ? tokens_[name].text : std::string()};
  }

  [[nodiscard]] bool is(std::size_t i, std::string_view spelling) const {
    return i < tokens_.size() && tokens_[i].is(spelling);
  }

  // & and * in front of an operand, not between two.
  [[nodiscard]] bool is_unary(std::size_t i) const {
    if (i == 0) return true;
    const MadeToken& before = tokens_[i - 1];
    if (before.is(")")) return partner_[i - 1] != none && is_cast(partner_[i - 1]);
    const bool is_operand = before.is_identifier() || before.kind == TokenKind::number || before.is("]");
    return !is_operand || before.is("return") || before.is("else") || before.is("do");
  }

  // (const int8_t*), by its first bracket.
  [[nodiscard]] bool is_cast(std::size_t open) const {
    const std::size_t close = partner_[open];
    if (close == none || close == open + 1 || !tokens_[open + 1].is_identifier()) return false;
    const bool follows_name = open > 0 && tokens_[open - 1].is_identifier() && !is(open - 1, "return");
    const bool is_call = open > 0 && (is(open - 1, ")") || is(open - 1, "]")) && !is_cast_behind(open - 1);
    if (follows_name || is_call) return false;
    return std::all_of(tokens_.begin() + static_cast<std::ptrdiff_t>(open) + 1,
                       tokens_.begin() + static_cast<std::ptrdiff_t>(close),
                       [](const MadeToken& token) { return token.is_identifier() || token.is("*"); });
  }

  // Whether a bracket that closes there ends what may stand in front of a cast: another, or if (x).
  [[nodiscard]] bool is_cast_behind(std::size_t close) const {
    const std::size_t open = partner_[close];
    if (open == none || !is(close, ")")) return false;
    if (open > 0 && is_no_call(tokens_[open - 1])) return true;
    return open + 1 < close && tokens_[open + 1].is_identifier() && is(close - 1, "*");
  }

  // The variable that gets the value: "" for what lives longer, the name of a pointer that the statement declares;
  // nothing: none does.
  [[nodiscard]] std::optional<std::string> target_of(std::size_t name, const Names& holders) const {
    const std::string& text = tokens_[name].text;
    const auto list = lists_.find(text);
    const std::size_t own = list == lists_.end() ? 0 : list->second;
    Span span{name, name, true, own == 0 && holders.contains(text) ? any_levels : own, flat_.contains(text)};
    while (true) {
      while (extend_behind(span)) {
      }
      if (is(span.last + 1, "(")) return std::nullopt;  // a function
      if (span.first > 0 && is(span.first - 1, "&") && is_unary(span.first - 1)) {
        if (span.is_pointer && span.lists == 0) return std::string();  // who has its address may change and keep it
        span.is_pointer = true;
        if (span.lists > 0) ++span.lists;
        --span.first;
      } else if (span.first > 0 && is(span.first - 1, "*") && is_unary(span.first - 1)) {
        span.follow();
        --span.first;
      } else if (span.first > 0 && (is(span.first - 1, "++") || is(span.first - 1, "--"))) {
        --span.first;
      } else if (span.first > 0 && is(span.first - 1, ")")) {
        const std::size_t open = partner_[span.first - 1];
        if (open == none) return std::string();
        if (!is_cast(open)) return std::nullopt;  // if (x)
        span.first = open;
      } else if (span.first > 0 && is(span.first - 1, "(") && is(span.last + 1, ")") && !is_call(span.first - 1)) {
        --span.first;
        ++span.last;
      } else if (!span.is_pointer || (span.first > 0 && is(span.first - 1, "!"))) {
        return std::nullopt;
      } else if (auto use = around(span, tokens_[name].text); !use.is_part) {
        return std::move(use.target);
      }
    }
  }

  // [3], .member, ->member, ++
  bool extend_behind(Span& span) const {
    const std::size_t next = span.last + 1;
    if (is(next, "[") && partner_[next] != none) {
      span.last = partner_[next];
      span.follow();
    } else if (is(next, ".") || is(next, "->")) {
      span.last = std::min(next + 1, tokens_.size() - 1);
      span.is_pointer = true;  // it may be an array, also one of pointers
      span.lists = span.lists > 0 && !span.is_flat ? std::max<std::size_t>(span.lists, 1) : 0;
    } else if (is(next, "++") || is(next, "--")) {
      span.last = next;
    } else {
      return false;
    }
    return true;
  }

  // f( and if(, but not a bracket of an expression's.
  [[nodiscard]] bool is_call(std::size_t open) const {
    if (open == 0) return false;
    const MadeToken& before = tokens_[open - 1];
    if (before.is_identifier()) return !before.is("return") && !before.is("else") && !before.is("do");
    if (before.is(")")) return partner_[open - 1] == none || !is_cast(partner_[open - 1]);
    return before.is("]");
  }

  // Of an operand, with the expression around it. What it is a part of becomes the span.
  [[nodiscard]] Use around(Span& span, const std::string& name) const {
    for (std::size_t i = span.last + 1; i < tokens_.size() && !closes(tokens_[i]) && !is(i, ";") && !is(i, ","); ++i) {
      if (compares(tokens_[i]) || is(i, "?") || stores_value(tokens_[i])) return {};
      if (is(i, ":")) break;
      if (opens(tokens_[i]) && partner_[i] != none) i = partner_[i];
    }
    bool is_chosen = false;  // a ? x : b
    bool is_listed = false;  // f(a, x)
    for (std::size_t i = span.first; i-- > 0;) {
      if (closes(tokens_[i])) {
        if (partner_[i] == none || is(i, "}")) return {};
        const std::size_t open = partner_[i];
        if (is(i, ")") && open > 0 && is_no_call(tokens_[open - 1])) return {};
        i = open;
      } else if (is(i, ";") || is(i, "[") || (compares(tokens_[i]) && !is_chosen && !is_listed)) {
        return {};
      } else if (is(i, "{")) {
        if (!is_list(i)) return {};
        return of_list(i, span);
      } else if (is(i, "(")) {
        return bracketed(i, is_listed, span);
      } else if (is(i, "return")) {
        return {std::string()};
      } else if (is(i, ",")) {
        is_listed = true;
      } else if (is(i, "?") || is(i, ":")) {
        is_chosen = true;
      } else if (is(i, "=") && i >= 3 && is(i - 2, ".") && (is(i - 3, "{") || is(i - 3, ","))) {
        is_listed = true;  // {.data = x}
        i -= 2;
      } else if (stores_value(tokens_[i]) && !is_listed) {
        return {is_own_sum(i, name) ? name : declared_at(i)};
      }
    }
    return {};
  }

  // Where the bracket in front of the expression opens.
  [[nodiscard]] Use bracketed(std::size_t open, bool is_listed, Span& span) const {
    if (partner_[open] == none) return {std::string()};
    const bool is_first = is_call(open) && !is_listed && returns_first(tokens_[open - 1]);
    if (is_call(open) && !is_first) return {};  // it is passed, or asked for
    span = {is_first ? open - 1 : open, partner_[open]};
    return {.is_part = true};
  }

  // = {x, 3} or (struct view){x, 3}, but not if (x) { or a block.
  [[nodiscard]] bool is_list(std::size_t brace) const {
    while (brace > 0 && is(brace - 1, "{")) --brace;
    if (brace == 0) return false;
    const MadeToken& before = tokens_[brace - 1];
    if (before.is(")")) {
      const std::size_t open = partner_[brace - 1];
      return open == none || open == 0 || !is_no_call(tokens_[open - 1]);
    }
    return before.is("=") || before.is(",") || before.is("(");
  }

  // p = p + 3
  [[nodiscard]] bool is_own_sum(std::size_t assignment, const std::string& name) const {
    if (assignment < 1 || !is(assignment - 1, name)) return false;
    return assignment < 2 || is(assignment - 2, ";") || is(assignment - 2, "{") || is(assignment - 2, "}");
  }

  // const int8_t* p =, or int8_t *p = x, *q =
  [[nodiscard]] std::string declared_at(std::size_t assignment) const {
    if (assignment < 2 || !is(assignment, "=") || !tokens_[assignment - 1].is_identifier()) return {};
    std::size_t star = assignment - 2;
    while (star > 0 && is_qualifier(tokens_[star])) --star;
    if (!is(star, "*")) return {};
    std::size_t begin = star;
    for (; begin > 0; --begin) {
      const std::size_t before = begin - 1;
      if (is(before, ";") || opens(tokens_[before]) || is(before, "}")) break;
      if (is(before, ")")) {
        const std::size_t open = partner_[before];
        if (open == none || (open > 0 && is_no_call(tokens_[open - 1]))) break;
        begin = open + 1;
      }
    }
    while (is(begin, "else") || is(begin, "do")) ++begin;
    // A type: names and then the star, or the first variable's.
    std::size_t end = begin;
    while (end < star && tokens_[end].is_identifier()) ++end;
    const bool is_type = end > begin && is(end, "*") && (end == star || tokens_[end + 1].is_identifier());
    return is_type ? tokens_[assignment - 1].text : std::string();
  }

  const MadeTokens& tokens_;
  std::vector<std::size_t> partner_;                       // of brackets
  std::map<std::string, std::size_t, std::less<>> lists_;  // find_lists(): Span::lists
  Names flat_;                                             // of these, structs without arrays
};

}  // namespace

void add_kept(const MadeTokens& statement, Names& kept) { PointerFlow(statement).add_kept(kept); }

}  // namespace usmp::tvm_c
