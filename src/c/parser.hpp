// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What parses items and statements (parser.cpp), types and declarators (parse_types.cpp) and expressions
// (parse_expressions.cpp): one class, as each needs the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "c/keywords.hpp"
#include "c/scopes.hpp"
#include "usmp/c/parser.hpp"

namespace usmp::c {

// For each bracket the other one of its pair; for each part of a conditional group the next one, or #endif. Throws
// SyntaxError: they do not match.
[[nodiscard]] std::vector<std::uint32_t> partners_of(std::span<const Token> tokens);

class Parser {
 public:
  explicit Parser(std::span<const Token> tokens, Bodies bodies = Bodies::parsed)
      : tokens_(tokens), bodies_(bodies), partner_(partners_of(tokens)) {}

  Tree file();
  std::optional<Parsed> expression();

 private:
  // Beyond the grammar: what holds it becomes opaque.
  struct Unparsed {};
  // A conditional group has a part of a statement: what belongs to what is not known in the whole function.
  struct Cut {
    std::size_t at = 0;
  };

  // One more, for as long as it lives.
  class Counted {
   public:
    explicit Counted(std::size_t& count) : count_(count) { ++count_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --count_; }

   private:
    std::size_t& count_;
  };
  // One level deeper. Throws Unparsed: beyond most_nested.
  class Deeper : Counted {
   public:
    explicit Deeper(Parser& parser) : Counted(checked(parser.depth_)) {}

   private:
    static std::size_t& checked(std::size_t& depth) {
      if (depth > most_nested) throw Unparsed{};
      return depth;
    }
  };
  using OpenedNames = Scopes<DeclId>::Opened;
  using OpenedTags = Scopes<TypeId>::Opened;

  struct Specifiers {
    std::size_t begin = 0;
    TypeId type;
    bool is_type_name = false;  // typedef
    Storage storage = Storage::none;
    bool is_inline = false;
    std::vector<TokenRange> attributes;
    std::vector<TokenRange> unknown;
  };
  struct Declarator {
    std::string_view name;
    std::size_t at = 0;
    TypeId type;
    TokenRange tokens;
  };
  // Where specifiers stand.
  enum class Where : std::uint8_t { file, block, parameter, member, type_name };

  // Tokens.
  [[nodiscard]] const Token& token(std::size_t i) const { return tokens_[i < tokens_.size() ? i : tokens_.size() - 1]; }
  [[nodiscard]] const Token& here() const { return token(at_); }
  [[nodiscard]] const Token& next() const { return token(at_ + 1); }
  [[nodiscard]] bool is_end() const { return here().kind == TokenKind::end; }
  [[nodiscard]] bool is_group(std::string_view word) const {
    return here().kind == TokenKind::group && here().text == word;
  }
  [[nodiscard]] static bool is_name(const Token& token) {
    return token.kind == TokenKind::identifier && keyword_of(token.text) == Keyword::none;
  }
  bool take(std::string_view text) {
    if (!here().is(text)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) throw Unparsed{};
  }
  [[nodiscard]] TokenRange range_from(std::size_t begin) const {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)};
  }
  [[nodiscard]] bool is_assertion() const {
    return (here().is("_Static_assert") || here().is("static_assert")) && next().is("(");
  }
  // Over a bracket that opens here, and all up to the one that closes it.
  void skip_brackets() { at_ = partner_[at_] + std::size_t{1}; }

  // parser.cpp
  [[nodiscard]] std::size_t group_end(std::size_t at) const;
  void items(std::size_t end, std::vector<StmtId>& into);
  StmtId item();
  StmtId opaque_item(std::size_t begin);
  StmtId linkage();
  StmtId group(bool is_file);
  [[nodiscard]] bool is_prefix_group(std::size_t at) const;
  StmtId function_body();
  StmtId block();
  void statements(std::size_t end, std::vector<StmtId>& into);
  StmtId statement();
  StmtId statement_inside();
  StmtId simple_statement();
  StmtId labelled();
  StmtId control();
  StmtId for_loop();
  ExprId condition();
  StmtId opaque_statement(std::size_t begin);
  [[nodiscard]] bool begins_declaration() const;
  StmtId declaration(Where where);
  void words_behind(Decl& decl);
  TypeId without_old_params(TypeId function);
  StmtId add(Stmt stmt, std::size_t begin);

  // parse_types.cpp
  [[nodiscard]] bool begins_specifiers(const Token& token) const;
  [[nodiscard]] bool names_type(std::string_view name) const;
  Specifiers specifiers(Where where);
  bool unknown_word(Where where, bool has_type, Specifiers& result);
  TypeId type_of_words(const std::vector<std::string_view>& words);
  TypeId named_type(std::string_view name);
  TypeId record();
  void members(std::uint32_t record);
  TypeId enumeration();
  Declarator declarator(TypeId base, bool may_be_nameless);
  TypeId pointers(TypeId base);
  TypeId suffixes(TypeId base);
  TypeId parameters(TypeId result);
  void attributes(std::vector<TokenRange>& into);
  std::optional<TypeId> type_name();
  TypeId qualified(TypeId type, bool is_const, bool is_volatile);
  TypeId add(Type type);
  DeclId add(Decl decl);
  void declare(DeclId decl);

  // parse_expressions.cpp
  struct Pending;
  class Expression;
  ExprId full_expression();        // with commas
  ExprId assignment_expression();  // without
  ExprId initializer();
  ExprId opaque_expression(std::size_t begin, std::size_t end);
  ExprId add(Expr expr, std::span<const ExprId> operands);

  std::span<const Token> tokens_;
  Bodies bodies_;
  std::vector<std::uint32_t> partner_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;        // of statements and declarators
  std::size_t conditional_ = 0;  // groups around here
  Scopes<DeclId> names_;
  Scopes<TypeId> tags_;
  Tree tree_;
};

}  // namespace usmp::c
