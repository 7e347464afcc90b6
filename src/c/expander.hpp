// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Expands macros (C11 6.10.3), in the order of GCC where C leaves it open.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "c/macro_table.hpp"

namespace usmp::c {

// The text behind a macro's name.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // Nothing: a directive or the end of the file stands next.
  virtual std::optional<Token> take() = 0;
  [[nodiscard]] virtual std::optional<Token> peek() const = 0;
  [[nodiscard]] virtual bool has_bracket_behind_directives() const = 0;
};

class Expander {
 public:
  Expander(Unit& unit, const MacroTable& macros) : unit_(unit), macros_(macros) {}

  // A token of the text; arguments of a macro are taken from `source`.
  void expand(const Token& token, TokenSource& source, std::vector<Token>& result);
  // All of the tokens, as arguments are.
  [[nodiscard]] std::vector<Token> expand_all(const std::vector<Token>& tokens);

 private:
  class Run;
  struct Argument;

  std::string_view keep(std::string text) {
    unit_.texts.push_back(std::move(text));
    return unit_.texts.back();
  }

  Unit& unit_;
  const MacroTable& macros_;
  std::unordered_set<const Macro*> disabled_;  // that are being expanded
  std::size_t made_ = 0;                       // tokens
  std::size_t depth_ = 0;                      // of arguments in arguments
};

}  // namespace usmp::c
