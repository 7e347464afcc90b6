// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The preprocessor's lines in C that is not preprocessed, and what macros of a file stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macro_expansion.hpp"

namespace usmp::tvm_c {

[[nodiscard]] std::string_view without_blanks_in_front(std::string_view text);

// The identifier that the text begins with.
[[nodiscard]] std::string_view leading_name(std::string_view text);

// Whether it has no small letter, as names of macros.
[[nodiscard]] bool is_in_capitals(std::string_view name);

// All tokens but those of directives, of every conditional group; a long list of numbers is one. Throws SyntaxError.
// O(text).
[[nodiscard]] std::vector<Token> plain_tokens(std::string_view text);
[[nodiscard]] std::vector<Token> plain_tokens(const Code& code, std::size_t begin, std::size_t end);

// What macros of a file stand for.
class Macros {
 public:
  Macros() = default;
  explicit Macros(const Code& code);

  // With those of another file; unless it is there in `any_case`, nothing of them is certain.
  void add(const Macros& others, bool in_any_case);

  // Also of one that is undefined somewhere.
  [[nodiscard]] bool contains(std::string_view name) const { return bodies_.contains(name); }

  // What stands behind the names in each of their definitions, whatever conditions say; nothing for #undef.
  [[nodiscard]] const AllDefinitions& definitions() const { return bodies_; }

  // What stands behind the name of one that is defined once, outside of conditional groups but the one around a header.
  [[nodiscard]] std::optional<std::string_view> definition(std::string_view name) const;

  // A name of an enumeration, outside of such groups: so much more than what stands behind the '=' of one in front of
  // it, or than 0.
  struct Enumerator {
    std::string_view base;
    std::int64_t more = 0;
  };
  [[nodiscard]] const std::map<std::string_view, Enumerator>& enumerators() const { return enumerators_; }

  struct Include {
    std::string_view name;  // what stands behind #include
    bool is_conditional = false;
  };
  [[nodiscard]] const std::vector<Include>& includes() const { return includes_; }

  // The names in the tokens, and in what they stand for. Where that is too much, `anything` is among them.
  static constexpr const char* anything = "#";
  [[nodiscard]] Names names_of(const std::vector<Token>& tokens) const;

  // The same of [begin, end) of a file, in which comments and literals do not count.
  [[nodiscard]] Names names_in(const Code& code, std::size_t begin, std::size_t end) const;

 private:
  void read_enumerators(const Code& code, const std::vector<std::pair<std::size_t, std::size_t>>& groups);

  AllDefinitions bodies_;
  std::map<std::string_view, Enumerator> enumerators_;
  std::set<std::string_view> conditional_;  // of these: some conditional group defines or undefines them
  std::vector<Include> includes_;
  mutable std::size_t most_ = 10'000'000;  // names that are looked at
};

// All of these files, whatever conditions say. O(texts).
[[nodiscard]] AllDefinitions macro_definitions(std::span<const Code> files);

// Macros of which `is_one` holds for a definition, or for what stands for another one there. O(text · log names).
[[nodiscard]] Names macros_with(const AllDefinitions& definitions,
                                const std::function<bool(std::string_view definition)>& is_one);

// Whether a directive includes what may be more than a header: neither <name>, name.h nor name.hpp.
[[nodiscard]] bool includes_code(const Directive& directive);

// Whether there is anything but what TVM writes around functions in [begin, end), between two items of a file: code in
// conditional groups that are passed over, or what is included.
[[nodiscard]] bool has_hidden_code(const Code& file, std::size_t begin, std::size_t end);

// Where the declaration [begin,end) begins if groups in front of it belong to it: #if X / attribute / #else, whose
// #endif it holds; #ifdef ESP32 / IRAM_ATTR / #endif; and what TVM writes there for C++. `from`: the end of the item
// before.
[[nodiscard]] std::size_t begin_with_groups(const Code& file, std::size_t from, std::size_t begin, std::size_t end);

}  // namespace usmp::tvm_c
