// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Expressions and initialisers, by precedence, with stacks of their own: their depth costs no stack of the program.
#include <algorithm>
#include <array>

#include "c/parser.hpp"
#include "usmp/c/operators.hpp"

namespace usmp::c {
namespace {

// Behind a string; also of a header that is not here: "%" PRIu32 "\n".
bool is_of_string(const Token& token) {
  return token.kind == TokenKind::string ||
         (token.kind == TokenKind::identifier && (token.text.starts_with("PRI") || token.text.starts_with("SCN")));
}

bool is_prefix(const Token& token) {
  constexpr std::array<std::string_view, 8> all = {"+", "-", "!", "~", "*", "&", "++", "--"};
  return token.kind == TokenKind::punctuator && std::find(all.begin(), all.end(), token.text) != all.end();
}

}  // namespace

// What waits for its last operand, or for its bracket.
struct Parser::Pending {
  enum class Kind : std::uint8_t {
    prefix,
    cast,
    binary,
    assign,
    question,
    colon,
    bracket,
    subscript,
    call,
    braces,
    designator
  };
  Kind kind = Kind::binary;
  int precedence = 0;  // 0: of brackets
  std::string_view text;
  std::size_t begin = 0;     // token
  std::size_t operands = 0;  // that wait in front of it, with its own
  TypeId type = {};          // of a cast; of braces: of the literal
  bool has_index = false;    // of a designator: its first operand
  bool is_chain = false;     // of a designator: another one follows
};

class Parser::Expression {
 public:
  // `may_be_braces`: the whole, as an initialiser.
  Expression(Parser& parser, bool takes_commas, bool may_be_braces = false)
      : p_(parser), takes_commas_(takes_commas), may_be_braces_(may_be_braces) {}

  // NOLINTNEXTLINE(misc-no-recursion): types in expressions, at most most_nested deep
  ExprId run() {
    const Deeper deeper(p_);
    while (needs_operand_ ? operand() : infix()) {
    }
    return operands_.back();
  }

 private:
  using Kind = Pending::Kind;

  [[nodiscard]] std::size_t begin_of(ExprId id) const { return p_.tree_[id].tokens.begin; }

  void push(Kind kind, int precedence, std::string_view text, std::size_t begin, std::size_t operands) {
    pending_.push_back({kind, precedence, text, begin, operands});
  }

  // Its operands are the last ones, from `first` on.
  void make(Expr expr, std::size_t first, std::size_t begin) {
    expr.tokens = p_.range_from(begin);
    const ExprId id = p_.add(expr, std::span(operands_).subspan(first));
    operands_.resize(first);
    operands_.push_back(id);
  }

  // What binds more than `precedence`.
  void reduce(int precedence) {
    while (!pending_.empty() && pending_.back().precedence > precedence) {
      const Pending one = pending_.back();
      pending_.pop_back();
      switch (one.kind) {
        case Kind::prefix:
          make({.kind = ExprKind::prefix, .tokens = {}, .text = one.text}, operands_.size() - 1, one.begin);
          break;
        case Kind::cast:
          make({.kind = ExprKind::cast, .tokens = {}, .type = one.type}, operands_.size() - 1, one.begin);
          break;
        case Kind::binary:
        case Kind::assign: {
          const std::size_t first = operands_.size() - 2;
          make({.kind = one.kind == Kind::binary ? ExprKind::binary : ExprKind::assign, .tokens = {}, .text = one.text},
               first, begin_of(operands_[first]));
          break;
        }
        case Kind::colon: {
          const std::size_t first = operands_.size() - 3;
          make({.kind = ExprKind::conditional, .tokens = {}}, first, begin_of(operands_[first]));
          break;
        }
        case Kind::designator: {
          Expr expr;
          expr.kind = ExprKind::designated;
          expr.name = one.text;
          make(expr, operands_.size() - (one.has_index ? 2 : 1), one.begin);
          break;
        }
        default:
          throw Unparsed{};  // a question without a colon
      }
    }
  }

  void leaf(ExprKind kind, std::size_t tokens, DeclId decl = {}) {
    Expr expr;
    expr.kind = kind;
    expr.text = p_.here().text;
    expr.decl = decl;
    const std::size_t begin = p_.at_;
    p_.at_ += tokens;
    make(expr, operands_.size(), begin);
    needs_operand_ = false;
  }

  // A type in brackets here: of a cast, or of a literal.
  // NOLINTNEXTLINE(misc-no-recursion): types in expressions, at most most_nested deep
  bool bracketed_type() {
    const std::size_t begin = p_.at_;
    const std::size_t close = p_.partner_[begin];
    const Token& first = p_.next();
    const bool is_type = p_.begins_specifiers(first);
    if (!is_type && !is_unknown_type(close)) return false;
    ++p_.at_;
    const auto type = p_.type_name();
    if (!type) throw Unparsed{};
    p_.expect(")");
    if (p_.here().is("{")) {
      push(Kind::braces, 0, {}, begin, operands_.size());
      pending_.back().type = *type;
      ++p_.at_;
      return true;
    }
    push(Kind::cast, prefix_precedence, {}, begin, operands_.size());
    pending_.back().type = *type;
    return true;
  }

  // (T)x, (T){x} and (T*)x of a T that no file declares, where nothing else is possible.
  [[nodiscard]] bool is_unknown_type(std::size_t close) const {
    const Token& name = p_.next();
    if (!p_.is_name(name) || p_.names_.find(name.text)) return false;
    std::size_t end = p_.at_ + 2;
    while (p_.token(end).is("const")) ++end;
    const bool has_stars = p_.token(end).is("*");
    while (p_.token(end).is("*")) ++end;
    if (end != close) return false;
    const Token& behind = p_.token(close + 1);
    const bool is_operand = is_name(behind) || behind.kind == TokenKind::number || behind.kind == TokenKind::string ||
                            behind.kind == TokenKind::character || behind.is("{");
    return has_stars || is_operand;
  }

  // NOLINTNEXTLINE(misc-no-recursion): types in expressions, at most most_nested deep
  bool operand() {
    const Token& token = p_.here();
    if (!pending_.empty() && pending_.back().is_chain && !token.is(".") && !token.is("[")) throw Unparsed{};
    switch (token.kind) {
      case TokenKind::number:
        leaf(ExprKind::number, 1);
        return true;
      case TokenKind::character:
        leaf(ExprKind::character, 1);
        return true;
      case TokenKind::string: {
        std::size_t count = 1;
        while (is_of_string(p_.token(p_.at_ + count))) ++count;
        leaf(ExprKind::string, count);
        return true;
      }
      case TokenKind::numbers:
        if (pending_.empty()) throw Unparsed{};  // else it stands behind the brace on top
        leaf(ExprKind::numbers, 1);
        needs_operand_ = true;  // its last comma is in it
        if (p_.here().is("}")) close_braces();
        return true;
      case TokenKind::identifier:
        return word();
      case TokenKind::punctuator:
        break;
      default:
        throw Unparsed{};
    }
    if (token.is("(")) {
      if (bracketed_type()) {
        if (pending_.back().kind == Kind::braces && p_.here().is("}")) close_braces();
        return true;
      }
      push(Kind::bracket, 0, {}, p_.at_++, operands_.size());
      return true;
    }
    if (token.is("{")) {
      const bool is_element =
          !pending_.empty() && (pending_.back().kind == Kind::braces || pending_.back().kind == Kind::designator);
      if (!is_element && !(may_be_braces_ && pending_.empty())) throw Unparsed{};
      push(Kind::braces, 0, {}, p_.at_++, operands_.size());
      if (p_.here().is("}")) close_braces();
      return true;
    }
    if (token.is(".") || token.is("[")) return designator();
    if (!is_prefix(token)) throw Unparsed{};
    push(Kind::prefix, prefix_precedence, token.text, p_.at_++, operands_.size());
    return true;
  }

  // .name or [index], and more of them, up to '='.
  // NOLINTNEXTLINE(misc-no-recursion): indices, at most most_nested deep
  bool designator() {
    const bool is_element = !pending_.empty() && (pending_.back().kind == Kind::braces || pending_.back().is_chain);
    if (!is_element) throw Unparsed{};
    const std::size_t begin = p_.at_++;
    if (p_.token(begin).is(".")) {
      if (!is_name(p_.here())) throw Unparsed{};
      push(Kind::designator, assignment_precedence, p_.here().text, begin, operands_.size());
      ++p_.at_;
    } else {
      const std::size_t close = p_.partner_[begin];
      operands_.push_back(p_.assignment_expression());
      if (p_.at_ != close) throw Unparsed{};
      ++p_.at_;
      push(Kind::designator, assignment_precedence, {}, begin, operands_.size());
      pending_.back().has_index = true;
    }
    pending_.back().is_chain = !p_.take("=");
    return true;
  }

  // NOLINTNEXTLINE(misc-no-recursion): types in expressions, at most most_nested deep
  bool word() {
    const Token& token = p_.here();
    const Keyword word = keyword_of(token.text);
    if (word == Keyword::none) {
      if (p_.names_type(token.text)) throw Unparsed{};
      leaf(ExprKind::name, 1, p_.names_.find(token.text).value_or(DeclId()));
      return true;
    }
    if (word == Keyword::ignored) {
      ++p_.at_;
      return true;
    }
    if (word != Keyword::size) throw Unparsed{};
    const std::size_t begin = p_.at_++;
    if (p_.here().is("(")) {
      const Token& first = p_.next();
      const std::size_t close = p_.partner_[p_.at_];
      const bool is_type = p_.begins_specifiers(first);
      if (is_type && !p_.token(close + 1).is("{")) {
        ++p_.at_;
        const auto type = p_.type_name();
        if (!type) throw Unparsed{};
        p_.expect(")");
        make({.kind = ExprKind::size_of, .tokens = {}, .type = *type}, operands_.size(), begin);
        needs_operand_ = false;
        return true;
      }
    }
    push(Kind::prefix, prefix_precedence, "sizeof", begin, operands_.size());
    return true;
  }

  // The braces that are open, whose end stands here.
  void close_braces() {
    const Pending one = pending_.back();
    pending_.pop_back();
    ++p_.at_;
    const std::size_t open = one.type.valid() ? p_.partner_[one.begin] + std::size_t{1} : one.begin;
    make({.kind = ExprKind::braces, .tokens = {}}, one.operands, open);
    if (one.type.valid()) make({.kind = ExprKind::literal, .tokens = {}, .type = one.type}, one.operands, one.begin);
    needs_operand_ = false;
  }

  void postfix(const Expr& expr, std::size_t operands) {
    const std::size_t first = operands_.size() - operands;
    make(expr, first, begin_of(operands_[first]));
  }

  bool infix() {
    const Token& token = p_.here();
    if (token.is("[")) {
      push(Kind::subscript, 0, {}, p_.at_++, operands_.size() - 1);
      needs_operand_ = true;
      return true;
    }
    if (token.is("(")) {
      push(Kind::call, 0, {}, p_.at_++, operands_.size() - 1);
      needs_operand_ = true;
      if (p_.here().is(")")) close(")");
      return true;
    }
    if (token.is(".") || token.is("->")) {
      if (!is_name(p_.next())) throw Unparsed{};
      p_.at_ += 2;
      postfix({.kind = ExprKind::member, .tokens = {}, .text = token.text, .name = p_.token(p_.at_ - 1).text}, 1);
      return true;
    }
    if (token.is("++") || token.is("--")) {
      ++p_.at_;
      postfix({.kind = ExprKind::postfix, .tokens = {}, .text = token.text}, 1);
      return true;
    }
    if (token.is(")") || token.is("]") || token.is("}")) return close(token.text);
    if (token.is(":")) return colon();
    if (token.is(",")) return comma();
    if (is_assignment(token.text)) {
      reduce(assignment_precedence);
      return binary(Kind::assign, assignment_precedence);
    }
    const int precedence = precedence_of(token.text);
    if (precedence == 0) return ends();
    if (precedence == conditional_precedence) {
      reduce(conditional_precedence);
      push(Kind::question, 0, {}, p_.at_++, operands_.size());
      needs_operand_ = true;
      return true;
    }
    reduce(precedence - 1);
    return binary(Kind::binary, precedence);
  }

  bool binary(Kind kind, int precedence) {
    push(kind, precedence, p_.here().text, p_.at_, operands_.size());
    ++p_.at_;
    needs_operand_ = true;
    return true;
  }

  bool ends() {
    reduce(0);
    if (!pending_.empty()) throw Unparsed{};
    return false;
  }

  bool colon() {
    reduce(0);
    if (pending_.empty()) return false;
    if (pending_.back().kind != Kind::question) throw Unparsed{};
    pending_.pop_back();
    push(Kind::colon, conditional_precedence, {}, p_.at_++, operands_.size());
    needs_operand_ = true;
    return true;
  }

  bool comma() {
    reduce(0);  // with a comma in front of this one
    const Kind around = pending_.empty() ? Kind::binary : pending_.back().kind;
    if (pending_.empty() && !takes_commas_) return ends();
    if (around == Kind::call || around == Kind::braces) {
      ++p_.at_;
      needs_operand_ = true;
      if (around == Kind::braces && p_.here().is("}")) close_braces();
      return true;
    }
    return binary(Kind::binary, comma_precedence);
  }

  bool close(std::string_view bracket) {
    if (!needs_operand_) reduce(0);
    if (pending_.empty()) return false;
    const Pending one = pending_.back();
    if (bracket == "}") {
      if (one.kind != Kind::braces) throw Unparsed{};
      close_braces();
      return true;
    }
    const bool is_square = bracket == "]";
    if (is_square != (one.kind == Kind::subscript)) throw Unparsed{};
    pending_.pop_back();
    ++p_.at_;
    needs_operand_ = false;
    if (one.kind == Kind::bracket) {
      // The brackets belong to the tokens of what they hold.
      p_.tree_.exprs[operands_.back().index()].tokens = p_.range_from(one.begin);
    } else if (one.kind == Kind::call || one.kind == Kind::subscript) {
      Expr expr;
      expr.kind = one.kind == Kind::call ? ExprKind::call : ExprKind::subscript;
      make(expr, one.operands, begin_of(operands_[one.operands]));
    } else {
      throw Unparsed{};
    }
    return true;
  }

  Parser& p_;
  bool takes_commas_;
  bool may_be_braces_;
  bool needs_operand_ = true;
  std::vector<ExprId> operands_;
  std::vector<Pending> pending_;
};

ExprId Parser::full_expression() { return Expression(*this, true).run(); }
// NOLINTNEXTLINE(misc-no-recursion): types in expressions, at most most_nested deep
ExprId Parser::assignment_expression() { return Expression(*this, false).run(); }

ExprId Parser::initializer() {
  const std::size_t begin = at_;
  try {
    return Expression(*this, false, true).run();
  } catch (const Unparsed&) {
    if (!tokens_[begin].is("{")) throw;
    at_ = partner_[begin] + std::size_t{1};
    return opaque_expression(begin, at_);
  }
}

ExprId Parser::opaque_expression(std::size_t begin, std::size_t end) {
  Expr expr;
  expr.tokens = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  return add(expr, {});
}

ExprId Parser::add(Expr expr, std::span<const ExprId> operands) {
  expr.first_operand = static_cast<std::uint32_t>(tree_.operands.size());
  expr.operand_count = static_cast<std::uint32_t>(operands.size());
  tree_.operands.insert(tree_.operands.end(), operands.begin(), operands.end());
  tree_.exprs.push_back(expr);
  return ExprId(tree_.exprs.size() - 1);
}

std::optional<Parsed> Parser::expression() {
  try {
    const ExprId root = full_expression();
    if (!is_end()) return std::nullopt;
    return Parsed{std::move(tree_), root};
  } catch (const Unparsed&) {
    return std::nullopt;
  }
}

}  // namespace usmp::c
