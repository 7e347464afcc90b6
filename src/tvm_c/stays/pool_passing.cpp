// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/pool_passing_test.cpp.
#include "tvm_c/stays/pool_passing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/syntax.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::size_t max_mentions = 64;

// An address or a size of a pool, by tokens.
struct Mention {
  std::string pool;
  std::size_t first = 0;
  std::size_t end = 0;
  bool is_size = false;
};

bool is_word_of_casts(const Token& token) {
  constexpr std::array<std::string_view, 4> words = {"const", "volatile", "unsigned", "signed"};
  if (!token.is_identifier()) return false;
  Lexer type(token.text);
  return token.text.ends_with("_t") || std::find(words.begin(), words.end(), token.text) != words.end() ||
         parse_type(type).has_value() || token.is("char") || token.is("short") || token.is("long");
}

class Passing {
 public:
  Passing(std::vector<Token> tokens, const Names& pools, const Macros& macros, const std::string& symbol)
      : tokens_(std::move(tokens)), pools_(pools), macros_(macros), symbol_(symbol) {}

  std::optional<PassedPools> find() {
    std::size_t depth = 0;
    bool is_in_body = false;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].is("(")) ++depth;
      if (tokens_[i].is(")") && depth > 0) --depth;
      is_in_body = is_in_body || (tokens_[i].is("{") && depth == 0);
      if (!tokens_[i].is_identifier()) continue;
      if (stands_for_pool(tokens_[i])) return std::nullopt;
      if (!pools_.contains(tokens_[i].text)) continue;
      const auto mention = mention_at(i);
      if (!is_in_body || !mention) return std::nullopt;
      mentions_.push_back(*mention);
      if (mentions_.size() > max_mentions) return std::nullopt;
    }
    PassedPools result;
    for (const Mention& mention : mentions_) {
      const std::size_t open = call_around(mention.first);
      if (!is_passed(mention, open)) return std::nullopt;
      const std::size_t begin = tokens_[mention.first].offset;
      const Token& last = tokens_[mention.end - 1];
      result.edits.push_back({begin, last.offset + last.text.size() - begin,
                              pool_function(symbol_, mention.pool) + (mention.is_size ? "_size()" : "()")});
      result.pools.insert(mention.pool);
      result.callees.emplace(tokens_[open - 1].text);
    }
    return mentions_.empty() ? std::nullopt : std::optional(std::move(result));
  }

 private:
  [[nodiscard]] bool is(std::size_t i, std::string_view spelling) const {
    return i < tokens_.size() && tokens_[i].is(spelling);
  }

  // A macro of the file.
  [[nodiscard]] bool stands_for_pool(const Token& name) const {
    if (!macros_.contains(name.text)) return false;
    const Names names = macros_.names_of({name});
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& one) { return one == Macros::anything || pools_.contains(one); });
  }

  // sizeof(sram), sizeof sram, &sram[0], &(sram[0]), &sram, sram; no element and no member.
  [[nodiscard]] std::optional<Mention> mention_at(std::size_t i) const {
    Mention found{std::string(tokens_[i].text), i, i + 1, false};
    const bool is_first = is(i + 1, "[") && i + 2 < tokens_.size() && tokens_[i + 2].text == "0" && is(i + 3, "]");
    if (i < 2 || is(i - 1, ".") || is(i - 1, "->")) return std::nullopt;
    if (is(i - 1, "sizeof") || (is(i - 1, "(") && is(i - 2, "sizeof") && is(i + 1, ")"))) {
      found.is_size = true;
      found.first = is(i - 1, "sizeof") ? i - 1 : i - 2;
      found.end = is(i - 1, "sizeof") ? i + 1 : i + 2;
    } else if (is(i - 1, "&")) {
      found.first = i - 1;
      found.end = is_first ? i + 4 : i + 1;
    } else if (is(i - 1, "(") && is(i - 2, "&") && is_first && is(i + 4, ")")) {
      found.first = i - 2;
      found.end = i + 5;
    }
    return is(found.end, "[") || is(found.end, ".") || is(found.end, "->") ? std::nullopt : std::optional(found);
  }

  [[nodiscard]] const Mention* mention_from(std::size_t i) const {
    const auto found = std::find_if(mentions_.begin(), mentions_.end(), [&](const Mention& m) { return m.first == i; });
    return found == mentions_.end() ? nullptr : &*found;
  }

  // The bracket behind the name of the function that is called with what stands there; 0: there is none.
  [[nodiscard]] std::size_t call_around(std::size_t i) const {
    std::size_t depth = 0;
    while (i-- > 1) {
      if (is(i, ";") || is(i, "{") || is(i, "}")) return 0;
      if (is(i, ")")) ++depth;
      if (!is(i, "(")) continue;
      if (depth > 0) {
        --depth;
      } else if (tokens_[i - 1].is_identifier()) {
        return i;
      }
    }
    return 0;
  }

  // By the call that begins with that bracket.
  [[nodiscard]] bool is_passed(const Mention& mention, std::size_t open) const {
    if (open < 2) return false;
    const Token& callee = tokens_[open - 1];
    if (is_control(callee) || callee.is("return") || callee.is("sizeof") || is_word_of_casts(callee)) return false;
    // A macro may have a size of its own, and in front of a declaration stands a type.
    const Token& front = tokens_[open - 2];
    const bool is_declared = front.is_identifier() && !front.is("return") && !front.is("else") && !front.is("do");
    if (macros_.contains(callee.text) || is_declared || front.is("*")) return false;
    const bool is_array = tokens_[mention.first].is("&") && mention.end == mention.first + 2;
    // &sram has the array's type, which a call that returns its address does not have.
    if (is_array && !callee.is("memset") && !is(mention.first - 1, ")")) return false;
    const auto close = behind_bracketed(tokens_, open);
    return close && are_plain(open + 1, *close - 1, mention.pool, callee.is("memset")) &&
           has_no_address(open - 1, *close);
  }

  // Of a call: whether what it returns is not the pool's address, as far as what is done with it says so. What has the
  // address could go beyond the pool.
  [[nodiscard]] bool has_no_address(std::size_t callee, std::size_t behind) const {
    const Token& front = tokens_[callee - 1];
    const bool ends = is(behind, ";");
    if (front.is(";") || front.is("{") || front.is("}") || front.is("else") || front.is("do")) return ends;
    if (front.is(")")) return ends && stands_behind_void_or_control(callee - 1);
    if (tokens_[callee].text.starts_with("mem")) return false;
    if (front.is("+=") || front.is("-=") || front.is("|=")) return ends;
    if (front.is("=")) return ends && callee > 3 && is_word_of_casts(tokens_[callee - 3]);
    if (front.is("return")) return ends && !returns_pointer();
    std::size_t open = callee - 1;
    if (is(open, "!")) --open;
    constexpr std::array<std::string_view, 7> compared = {")", "==", "!=", "<", ">", "<=", ">="};
    return is(open, "(") && (is(open - 1, "if") || is(open - 1, "while")) &&
           std::any_of(compared.begin(), compared.end(), [&](std::string_view one) { return is(behind, one); });
  }

  [[nodiscard]] bool stands_behind_void_or_control(std::size_t close) const {
    std::size_t depth = 0;
    for (std::size_t i = close; i > 0; --i) {
      if (is(i, ")")) ++depth;
      if (!is(i, "(") || --depth > 0) continue;
      return is_control(tokens_[i - 1]) || (i + 2 == close && is(i + 1, "void"));
    }
    return false;
  }

  [[nodiscard]] bool returns_pointer() const {
    const auto bracket = std::find_if(tokens_.begin(), tokens_.end(), [](const Token& t) { return t.is("("); });
    return std::any_of(tokens_.begin(), bracket, [](const Token& t) { return t.is("*"); });
  }

  // (const uint32_t*), behind it; else the bracket itself.
  [[nodiscard]] std::size_t behind_cast(std::size_t open) const {
    std::size_t i = open + 1;
    while (i < tokens_.size() && (is_word_of_casts(tokens_[i]) || (is(i, "*") && i > open + 1))) ++i;
    const bool is_cast = i > open + 1 && is(i, ")") && !is(i + 1, ",") && !is(i + 1, ")");
    return is_cast ? i + 1 : open;
  }

  // Of a cast's bracket: whether its type has any pool's size, or is a pointer.
  [[nodiscard]] bool is_wide(std::size_t open) const {
    constexpr std::array<std::string_view, 15> wide = {"const",   "volatile", "unsigned", "signed",    "int",
                                                       "long",    "size_t",   "ssize_t",  "ptrdiff_t", "uintptr_t",
                                                       "int32_t", "uint32_t", "int64_t",  "uint64_t",  "intptr_t"};
    const auto end = tokens_.begin() + static_cast<std::ptrdiff_t>(behind_cast(open)) - 1;
    const auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(open) + 1;
    return std::any_of(begin, end, [](const Token& token) { return token.is("*"); }) ||
           std::all_of(begin, end, [&](const Token& token) {
             return std::find(wide.begin(), wide.end(), token.text) != wide.end();
           });
  }

  // A pool's address or size, perhaps in brackets and behind more casts.
  [[nodiscard]] bool is_mention_in_brackets(std::size_t i) const {
    while (is(i, "(") && mention_from(i) == nullptr) i = std::max(i + 1, behind_cast(i));
    return mention_from(i) != nullptr;
  }

  // Of a call's arguments: whether nothing in them says how large a pool is but its size, which is among them.
  [[nodiscard]] bool are_plain(std::size_t first, std::size_t end, const std::string& pool, bool is_memset) const {
    std::size_t arguments = 1;
    bool has_size = false;
    for (std::size_t i = first; i < end;) {
      if (const Mention* const mention = mention_from(i)) {
        if (mention->pool != pool) return false;
        has_size = has_size || mention->is_size;
        i = mention->end;
        continue;
      }
      const Token& token = tokens_[i];
      if (token.is("(") && behind_cast(i) > i) {
        if (!is_wide(i) && is_mention_in_brackets(behind_cast(i))) return false;
        i = behind_cast(i);
        continue;
      }
      if (token.is(",")) ++arguments;
      const bool is_number = token.kind == TokenKind::number && (token.text == "0" || (is_memset && arguments == 2));
      const bool is_plain = token.is("(") || token.is(")") || token.is(",") || token.is("NULL") ||
                            token.kind == TokenKind::string || is_number;
      if (!is_plain) return false;
      ++i;
    }
    return has_size;
  }

  std::vector<Token> tokens_;
  const Names& pools_;
  const Macros& macros_;
  const std::string& symbol_;
  std::vector<Mention> mentions_;
};

}  // namespace

std::string pool_function(const std::string& symbol, std::string_view pool) {
  return "usmp_" + symbol + "_" + std::string(pool);
}

std::optional<PassedPools> passed_pools(const Item& item, std::string_view text, const Names& pools,
                                        const Macros& macros, const std::string& symbol) {
  if (item.kind != Item::Kind::function || pools.empty()) return std::nullopt;
  auto tokens = tokens_of(item, text);
  return tokens ? Passing(std::move(*tokens), pools, macros, symbol).find() : std::nullopt;
}

}  // namespace usmp::tvm_c
