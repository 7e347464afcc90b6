// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Recognises functions and variables that give the address or the size of a pool.
#include "tvm_c/kept/pool_access.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/syntax.hpp"

namespace usmp::tvm_c {
namespace {

// Words of C and of its headers that planned C includes: it has no other types.
bool is_word_of_types(std::string_view name) {
  constexpr std::array<std::string_view, 21> words = {
      "void",     "char",     "int",     "long",      "unsigned", "signed",    "const",
      "volatile", "short",    "size_t",  "ptrdiff_t", "intptr_t", "uintptr_t", "uint8_t",
      "int8_t",   "uint16_t", "int16_t", "uint32_t",  "int32_t",  "uint64_t",  "int64_t"};
  return std::find(words.begin(), words.end(), name) != words.end();
}

// Reads a function or variable token by token, and cuts its text where a pool's name stands.
class Access {
 public:
  Access(const Item& item, std::string_view text, const std::vector<Token>& tokens, const Names& pools,
         const PoolAccessors& accessors)
      : item_(item), text_(text), tokens_(tokens), pools_(pools), accessors_(accessors), done_(item.begin) {
    found_.access.name = item.name;
  }

  std::optional<FoundPoolAccess> read() {
    const bool is_function = item_.kind == Item::Kind::function;
    if (!take_front() || (is_function ? !take_params() || !take("{") : !take("="))) return std::nullopt;
    bool has_return = false;
    do {
      const bool returns = is_function && take("return");
      if (has_return || (is_function && !returns && !take_target())) return std::nullopt;
      has_return = returns;
      if (!take_value()) return std::nullopt;
    } while (is_function && !is(at_, "}"));
    if (is_function && !take("}")) return std::nullopt;
    if (at_ != tokens_.size() || found_.access.pool.empty()) return std::nullopt;
    add_text(item_.end);
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is(std::size_t i, std::string_view spelling) const {
    return i < tokens_.size() && tokens_[i].is(spelling);
  }

  bool take(std::string_view spelling) {
    if (!is(at_, spelling)) return false;
    ++at_;
    return true;
  }

  // Types and attributes up to the name, with that. TVM_DLL says nothing here.
  bool take_front() {
    for (; at_ < tokens_.size() && !is(at_, item_.name); ++at_) {
      const Token& token = tokens_[at_];
      if (token.is("TVM_DLL")) {
        front_ += text_.substr(done_, token.offset - done_);
        done_ = token.offset + token.text.size();
        continue;
      }
      if (token.is("__attribute__") && is(at_ + 1, "(")) {
        at_ = behind_bracketed(tokens_, at_ + 1).value_or(tokens_.size()) - 1;
        continue;
      }
      const bool is_word = token.is("*") || token.is("static") || token.is("inline") || token.is("extern");
      if (!is_word && !(token.is_identifier() && is_word_of_types(token.text))) return false;
    }
    return take(item_.name);
  }

  // (void) or (uint8_t** begin, size_t* size)
  bool take_params() {
    if (!take("(")) return false;
    for (; at_ < tokens_.size() && !is(at_, ")"); ++at_) {
      const Token& token = tokens_[at_];
      const bool is_type = token.is_identifier() && is_word_of_types(token.text);
      if (is_type || token.is("*") || token.is(",")) continue;
      const bool is_pointer = token.is_identifier() && is(at_ - 1, "*") && (is(at_ + 1, ",") || is(at_ + 1, ")"));
      if (!is_pointer || pools_.contains(token.text)) return false;
      params_.emplace(token.text);
    }
    return take(")");
  }

  // *size =
  bool take_target() {
    if (!take("*") || at_ >= tokens_.size() || !params_.contains(tokens_[at_].text)) return false;
    ++at_;
    return take("=");
  }

  // Up to the semicolon, with that: an address or a size.
  bool take_value() {
    bool has_any = false;
    for (; at_ < tokens_.size() && !is(at_, ";"); ++at_) {
      if (!may_stand(at_)) return false;
      const Token& token = tokens_[at_];
      has_any = true;
      if (const auto called = accessors_.find(token.text); token.is_identifier() && called != accessors_.end()) {
        if (!is(at_ + 1, "(") || !is(at_ + 2, ")") || !note(called->second)) return false;
        found_.calls.insert(called->first);
      } else if (token.is_identifier() && pools_.contains(token.text)) {
        if (!note(std::string(token.text))) return false;
        add_text(token.offset);
        done_ = token.offset + token.text.size();
      }
    }
    return has_any && take(";");
  }

  void add_text(std::size_t end) {
    found_.access.text.push_back(std::exchange(front_, {}) + std::string(text_.substr(done_, end - done_)));
  }

  bool note(const std::string& pool) {
    if (found_.access.pool.empty()) found_.access.pool = pool;
    return found_.access.pool == pool;
  }

  // In `(uint32_t)&sram[0]`, `sizeof(sram)` and `sram + sizeof(sram)`: nothing else that computes with the address or
  // looks at what is there.
  [[nodiscard]] bool may_stand(std::size_t i) const {
    const auto is_pool = [&](std::size_t at) { return at < tokens_.size() && pools_.contains(tokens_[at].text); };
    const Token& token = tokens_[i];
    if (token.is_identifier()) {
      return is_word_of_types(token.text) || token.is("sizeof") || is_pool(i) || accessors_.contains(token.text);
    }
    if (token.is("(") || token.is(")")) return true;
    if (token.is("*")) return is(i - 1, "*") || is_word_of_types(tokens_[i - 1].text);
    if (token.is("&")) return is_pool(i + 1) || (is(i + 1, "(") && is_pool(i + 2));
    if (token.is("[")) return is_pool(i - 1) && (is(i - 2, "&") || (is(i - 2, "(") && is(i - 3, "&")));
    if (token.is("+")) {
      const bool is_size = is(i + 1, "sizeof") && is_pool(is(i + 2, "(") ? i + 3 : i + 2);
      return (is_pool(i - 1) || is(i - 1, "]")) && is_size;
    }
    if (token.text == "0") return is(i - 1, "[") && is(i + 1, "]");
    return token.is("]");
  }

  const Item& item_;
  std::string_view text_;
  const std::vector<Token>& tokens_;
  const Names& pools_;
  const PoolAccessors& accessors_;
  Names params_;
  FoundPoolAccess found_;
  std::string front_;   // of the next text
  std::size_t at_ = 0;  // of the tokens
  std::size_t done_;    // of the text
};

}  // namespace

std::optional<FoundPoolAccess> pool_access_of(const Item& item, const Code& file, const Names& pools,
                                              const PoolAccessors& accessors) {
  if (item.has_several) return std::nullopt;
  if (item.kind != Item::Kind::function && item.kind != Item::Kind::data) return std::nullopt;
  const auto tokens = tokens_of(item, file);
  return tokens ? Access(item, file.text, *tokens, pools, accessors).read() : std::nullopt;
}

}  // namespace usmp::tvm_c
