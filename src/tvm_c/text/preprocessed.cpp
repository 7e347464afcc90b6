// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the tokens that pieces of a file have become: each knows the places of the macros that have made it.
#include "tvm_c/text/preprocessed.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {

c::Environment environment_of(const Included& included, c::Files& files, std::set<std::size_t>& read) {
  for (std::size_t i = 0; i < included.count(); ++i) {
    files.add({included.name(i), included.code(i).text, included.code(i).mapped});
  }
  c::Environment environment;
  environment.include = [&](std::string_view name, bool, std::uint32_t) -> std::optional<std::uint32_t> {
    const auto found = included.only_source(name);
    if (found) read.insert(*found);
    return found ? std::optional(static_cast<std::uint32_t>(*found)) : std::nullopt;
  };
  return environment;
}

Names macros_unread(const Included& included, std::size_t file, const std::set<std::size_t>& read) {
  Names result;
  for (const std::size_t source : included.closed(file)) {
    if (read.contains(source)) continue;
    for (const auto& [name, definitions] : included.macros(source).definitions()) result.emplace(name);
  }
  return result;
}

Preprocessed::Preprocessed(const Included& included, std::size_t file, std::function<bool(std::string_view)> stays)
    : included_(included), file_(file) {
  std::set<std::size_t> read = {file};
  c::Environment environment = environment_of(included, files_, read);
  environment.stays = std::move(stays);
  try {
    unit_ = c::preprocess(files_, static_cast<std::uint32_t>(file), environment);
  } catch (const c::SyntaxError&) {
    return;
  }
  unread_ = macros_unread(included, file, read);
  std::size_t most = 0;
  for (const c::Token& token : unit_->tokens) {
    const c::Position place = c::position_of(*unit_, token);
    if (place.file == file) most = std::max<std::size_t>(most, place.offset);
    reached_.push_back(most);
  }
}

bool Preprocessed::is_number(std::string_view name) const {
  constexpr std::string_view operators = "()+-*/%<<>>&|~^";
  const AllDefinitions& all = included_.all_definitions(file_);
  const auto found = all.find(name);
  return found == all.end() || std::ranges::all_of(found->second, [&](std::string_view definition) {
           const std::vector<Token> tokens = plain_tokens(definition);
           return !tokens.empty() && std::ranges::all_of(tokens, [&](const Token& token) {
             return token.kind == TokenKind::number ||
                    (token.kind == TokenKind::punctuator && operators.find(token.text) != std::string_view::npos);
           });
         });
}

std::optional<std::vector<c::Token>> Preprocessed::tokens(std::size_t begin, std::size_t end) const {
  if (!unit_) return std::nullopt;
  const auto at = [&](std::size_t offset) {
    const auto is_in_front = [&](std::size_t one) { return one < offset; };
    return static_cast<std::size_t>(std::partition_point(reached_.begin(), reached_.end(), is_in_front) -
                                    reached_.begin());
  };
  const std::size_t behind = at(end);
  std::vector<Token> result;
  const auto add_mark = [&](std::string_view text) {
    Token token;
    token.kind = TokenKind::punctuator;
    token.text = text;
    result.push_back(token);
  };
  for (std::size_t i = at(begin); i < behind; ++i) {
    Token token = unit_->tokens[i];
    if (token.kind == TokenKind::group) {
      if (token.text != "if") add_mark("}");
      if (token.text != "endif") add_mark("{");
      continue;
    }
    const bool is_uncertain =
        token.kind == TokenKind::opaque || (token.is_identifier() && unread_.contains(token.text));
    if (is_uncertain && !is_number(token.text)) return std::nullopt;
    if (token.kind == TokenKind::opaque) token.kind = TokenKind::identifier;
    result.push_back(token);
  }
  return result;
}

Conditions Preprocessed::conditions() const {
  Conditions result;
  if (!unit_) return result;
  for (const c::Condition& one : unit_->conditions) {
    if (one.file == file_) result.emplace(one.offset, one.holds);
  }
  return result;
}

std::shared_ptr<const Conditions> known_conditions(const Included& included, std::size_t file) {
  const auto directives = directives_in(included.code(file));
  const bool asks = std::ranges::any_of(directives, [](const Directive& one) {
    return (opens_group(one.word) || one.word == "elif") && one.name != "__cplusplus";
  });
  return std::make_shared<const Conditions>(asks ? Preprocessed(included, file, nullptr).conditions() : Conditions());
}

}  // namespace usmp::tvm_c
