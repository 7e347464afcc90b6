// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Items of a file and statements; what is beyond the grammar becomes the smallest opaque one.
#include "c/parser.hpp"

#include <algorithm>
#include <utility>

namespace usmp::c {
namespace {

char closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

// Brackets and parts of groups that are open.
class Partners {
 public:
  explicit Partners(std::span<const Token> tokens) : tokens_(tokens), partner_(tokens.size(), 0) {}

  std::vector<std::uint32_t> run() {
    for (std::uint32_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.kind == TokenKind::group) {
        group(i);
      } else if (token.kind == TokenKind::punctuator) {
        bracket(i, token.text[0]);
      }
    }
    if (!groups_.empty()) fail(groups_.back().part, "the conditional group does not end, expected #endif");
    if (!open_.empty()) fail(open_.back(), "the bracket " + std::string(tokens_[open_.back()].text) + " is not closed");
    return std::move(partner_);
  }

 private:
  struct Group {
    std::uint32_t part;  // the last of its parts
    std::size_t open;    // brackets around it
  };

  [[noreturn]] void fail(std::uint32_t i, std::string message) const {
    throw SyntaxError{tokens_[i].file, tokens_[i].offset, std::move(message)};
  }

  void bracket(std::uint32_t i, char c) {
    if (c == '(' || c == '[' || c == '{') return open_.push_back(i);
    if (c != ')' && c != ']' && c != '}') return;
    const bool is_inside = groups_.empty() || open_.size() > groups_.back().open;
    if (open_.empty() || !is_inside || closing(tokens_[open_.back()].text[0]) != c) {
      fail(i, "found " + std::string(1, c) + " without the bracket that it closes" +
                  (is_inside ? "" : ", in a conditional group of which is not known whether it is taken"));
    }
    partner_[i] = open_.back();
    partner_[open_.back()] = i;
    open_.pop_back();
  }

  void group(std::uint32_t i) {
    const Token& token = tokens_[i];
    if (token.text == "if") return groups_.push_back({i, open_.size()});
    if (groups_.empty()) fail(i, "#" + std::string(token.text) + " without #if");
    Group& group = groups_.back();
    if (open_.size() != group.open) {
      fail(open_.back(),
           "the bracket " + std::string(tokens_[open_.back()].text) +
               " is not closed in the part of a conditional group of which is not known whether it is taken");
    }
    partner_[group.part] = i;
    group.part = i;
    if (token.text == "endif") groups_.pop_back();
  }

  std::span<const Token> tokens_;
  std::vector<std::uint32_t> partner_;
  std::vector<std::uint32_t> open_;
  std::vector<Group> groups_;
};

}  // namespace

std::vector<std::uint32_t> partners_of(std::span<const Token> tokens) { return Partners(tokens).run(); }

StmtId Parser::add(Stmt stmt, std::size_t begin) {
  stmt.tokens = range_from(begin);
  tree_.stmts.push_back(std::move(stmt));
  return StmtId(tree_.stmts.size() - 1);
}

// The #endif of the group whose #if stands there.
std::size_t Parser::group_end(std::size_t at) const {
  while (tokens_[at].text != "endif") at = partner_[at];
  return at;
}

Tree Parser::file() {
  try {
    items(tokens_.size() - 1, tree_.items);
  } catch (const Unparsed&) {
    throw SyntaxError{here().file, here().offset, "found groups more than " + std::to_string(most_nested) + " deep"};
  }
  return std::move(tree_);
}

// NOLINTNEXTLINE(misc-no-recursion): linkage and groups in each other, at most most_nested deep
void Parser::items(std::size_t end, std::vector<StmtId>& into) {
  const Deeper deeper(*this);
  std::vector<StmtId> found;
  while (at_ < end) found.push_back(item());
  into = std::move(found);
}

// NOLINTNEXTLINE(misc-no-recursion): as above
StmtId Parser::item() {
  const std::size_t begin = at_;
  if (take(";")) return add({.kind = StmtKind::empty, .tokens = {}}, begin);
  if (is_group("if") && !is_prefix_group(at_)) return group(true);
  if (here().is("extern") && next().kind == TokenKind::string && token(at_ + 2).is("{")) return linkage();
  try {
    return is_assertion() ? simple_statement() : declaration(Where::file);
  } catch (const Unparsed&) {
    return opaque_item(begin);
  }
}

// To its semicolon, or to a brace that closes a body.
StmtId Parser::opaque_item(std::size_t begin) {
  at_ = begin;
  while (!is_end()) {
    const Token& token = here();
    if (token.is(";")) {
      ++at_;
      break;
    }
    if (token.kind == TokenKind::group) {
      if (token.text != "if") break;
      at_ = group_end(at_) + 1;
      continue;
    }
    if (token.is("}")) break;
    const bool is_body = token.is("{") && !this->token(at_ - 1).is("=");
    if (token.is("(") || token.is("[") || token.is("{")) {
      skip_brackets();
    } else {
      ++at_;
    }
    if (is_body && !here().is(";") && !here().is(",")) break;
  }
  return add({.kind = StmtKind::opaque, .tokens = {}}, begin);
}

// NOLINTNEXTLINE(misc-no-recursion): as above
StmtId Parser::linkage() {
  const std::size_t begin = at_;
  at_ += 2;
  const std::size_t close = partner_[at_++];
  Stmt stmt{.kind = StmtKind::linkage, .tokens = {}};
  items(close, stmt.body);
  ++at_;
  return add(std::move(stmt), begin);
}

// Whether each part of the group is only words in front of a declaration, such as IRAM_ATTR.
bool Parser::is_prefix_group(std::size_t at) const {
  const std::size_t end = group_end(at);
  bool has_words = false;
  for (std::size_t i = at + 1; i < end; ++i) {
    const Token& token = tokens_[i];
    if (token.kind == TokenKind::group) continue;
    has_words = true;
    if (token.is("(")) {
      i = partner_[i];
      continue;
    }
    const Keyword word = token.kind == TokenKind::identifier ? keyword_of(token.text) : Keyword::none;
    const bool is_word =
        token.kind == TokenKind::opaque || token.kind == TokenKind::string ||
        (token.kind == TokenKind::identifier && word != Keyword::statement && word != Keyword::foreign);
    if (!is_word) return false;
  }
  return has_words;
}

// NOLINTNEXTLINE(misc-no-recursion): as above
StmtId Parser::group(bool is_file) {
  const Deeper deeper(*this);
  const std::size_t begin = at_;
  Stmt stmt{.kind = StmtKind::group, .tokens = {}};
  const Counted around(conditional_);
  while (here().text != "endif") {
    const std::size_t part = at_++;
    const std::size_t end = partner_[part];
    Stmt body{.kind = StmtKind::block, .tokens = {}};
    if (is_file) {
      items(end, body.body);
    } else {
      statements(end, body.body);
    }
    stmt.body.push_back(add(std::move(body), part + 1));
  }
  ++at_;
  return add(std::move(stmt), begin);
}

// The body of the function whose brace stands here. What belongs to what is not known if a group cuts a statement.
// NOLINTNEXTLINE(misc-no-recursion): groups and linkage around it, at most most_nested deep
StmtId Parser::function_body() {
  const std::size_t begin = at_;
  const std::size_t close = partner_[begin];
  std::size_t at = begin;
  try {
    if (bodies_ == Bodies::parsed) return block();
  } catch (const Cut& cut) {
    at = cut.at;
  } catch (const Unparsed&) {
    at = at_;
  }
  at_ = close + 1;
  return add({.kind = StmtKind::opaque, .tokens = {}, .at = static_cast<std::uint32_t>(at)}, begin);
}

// NOLINTNEXTLINE(misc-no-recursion): at most most_nested deep
StmtId Parser::block() {
  const Deeper deeper(*this);
  const std::size_t begin = at_;
  const std::size_t close = partner_[begin];
  const OpenedNames names(names_);
  const OpenedTags tags(tags_);
  ++at_;
  Stmt stmt{.kind = StmtKind::block, .tokens = {}};
  statements(close, stmt.body);
  ++at_;
  return add(std::move(stmt), begin);
}

// NOLINTNEXTLINE(misc-no-recursion): as above
void Parser::statements(std::size_t end, std::vector<StmtId>& into) {
  while (at_ < end) into.push_back(statement());
}

// One that an if or a loop has; not a declaration, nor a group.
// NOLINTNEXTLINE(misc-no-recursion): as above
StmtId Parser::statement_inside() {
  if (here().kind == TokenKind::group) throw Cut{at_};
  return statement();
}

// NOLINTNEXTLINE(misc-no-recursion): as above
StmtId Parser::statement() {
  const Deeper deeper(*this);
  const std::size_t begin = at_;
  if (is_group("if") && !is_prefix_group(at_)) return group(false);
  if (here().is("{")) return block();
  if (take(";")) return add({.kind = StmtKind::empty, .tokens = {}}, begin);
  if (here().kind == TokenKind::identifier && keyword_of(here().text) == Keyword::statement) {
    if (here().is("else")) throw Cut{at_};
    if (here().is("if") || here().is("for") || here().is("while") || here().is("do") || here().is("switch"))
      return control();
    if (here().is("case") || here().is("default")) return labelled();
  } else if (is_name(here()) && next().is(":")) {
    return labelled();
  }
  try {
    return begins_declaration() ? declaration(Where::block) : simple_statement();
  } catch (const Unparsed&) {
    return opaque_statement(begin);
  }
}

StmtId Parser::simple_statement() {
  const std::size_t begin = at_;
  Stmt stmt;
  if (take("break")) {
    stmt.kind = StmtKind::break_out;
  } else if (take("continue")) {
    stmt.kind = StmtKind::continue_on;
  } else if (take("goto")) {
    if (!is_name(here())) throw Unparsed{};
    stmt.kind = StmtKind::jump_to;
    stmt.text = here().text;
    ++at_;
  } else if (is_assertion()) {
    ++at_;
    skip_brackets();
    stmt.kind = StmtKind::empty;
  } else if (take("return")) {
    stmt.kind = StmtKind::return_to;
    if (!here().is(";")) stmt.expr = full_expression();
  } else {
    stmt.kind = StmtKind::expression;
    stmt.expr = full_expression();
  }
  expect(";");
  return add(std::move(stmt), begin);
}

// NOLINTNEXTLINE(misc-no-recursion): as above
StmtId Parser::labelled() {
  const std::size_t begin = at_;
  Stmt stmt;
  if (take("case")) {
    stmt.kind = StmtKind::case_of;
    try {
      stmt.expr = full_expression();
      expect(":");
    } catch (const Unparsed&) {
      throw Cut{begin};
    }
  } else {
    stmt.kind = here().is("default") ? StmtKind::default_of : StmtKind::label;
    stmt.text = here().text;
    ++at_;
    if (!take(":")) throw Cut{begin};
  }
  stmt.body.push_back(statement_inside());
  return add(std::move(stmt), begin);
}

// What stands in the brackets of if, while and switch; opaque if it is beyond the grammar.
ExprId Parser::condition() {
  if (!here().is("(")) throw Cut{at_};
  const std::size_t close = partner_[at_];
  const std::size_t begin = ++at_;
  ExprId result;
  try {
    result = full_expression();
    if (at_ != close) throw Unparsed{};
  } catch (const Unparsed&) {
    result = opaque_expression(begin, close);
  }
  at_ = close + 1;
  return result;
}

// NOLINTNEXTLINE(misc-no-recursion): as above
StmtId Parser::control() {
  const std::size_t begin = at_;
  if (here().is("for")) return for_loop();
  Stmt stmt;
  if (take("do")) {
    stmt.kind = StmtKind::do_loop;
    stmt.body.push_back(statement_inside());
    if (!take("while")) throw Cut{at_};
    stmt.expr = condition();
    if (!take(";")) throw Cut{at_};
    return add(std::move(stmt), begin);
  }
  stmt.kind = here().is("if") ? StmtKind::if_else : here().is("while") ? StmtKind::while_loop : StmtKind::switch_of;
  ++at_;
  stmt.expr = condition();
  stmt.body.push_back(statement_inside());
  if (stmt.kind == StmtKind::if_else && take("else")) stmt.other.push_back(statement_inside());
  return add(std::move(stmt), begin);
}

// NOLINTNEXTLINE(misc-no-recursion): as above
StmtId Parser::for_loop() {
  const std::size_t begin = at_++;
  if (!here().is("(")) throw Cut{at_};
  const std::size_t open = at_;
  const std::size_t close = partner_[open];
  const OpenedNames names(names_);
  const OpenedTags tags(tags_);
  ++at_;
  Stmt stmt{.kind = StmtKind::for_loop, .tokens = {}};
  try {
    if (begins_declaration()) {
      stmt.other.push_back(declaration(Where::block));
    } else if (!take(";")) {
      stmt.other.push_back(simple_statement());
    }
    if (!here().is(";")) stmt.expr = full_expression();
    expect(";");
    if (at_ != close) stmt.step = full_expression();
    if (at_ != close) throw Unparsed{};
  } catch (const Unparsed&) {
    // FOR_EACH(…)-like headers too: what it declares is not known, nor how often its body runs.
    stmt.other.clear();
    stmt.step = {};
    stmt.expr = opaque_expression(open + 1, close);
  }
  at_ = close + 1;
  stmt.body.push_back(statement_inside());
  return add(std::move(stmt), begin);
}

// To its semicolon, or to a brace that closes a block of its own.
StmtId Parser::opaque_statement(std::size_t begin) {
  const auto at = static_cast<std::uint32_t>(std::exchange(at_, begin));
  while (true) {
    const Token& token = here();
    if (token.is(";")) {
      ++at_;
      break;
    }
    if (token.kind == TokenKind::group) {
      if (token.text != "if") throw Cut{at_};
      at_ = group_end(at_) + 1;
      continue;
    }
    if (token.is("}")) {
      if (at_ == begin) throw Cut{at_};  // a label in front of it is C of 2023
      break;
    }
    const bool is_body = token.is("{") && !this->token(at_ - 1).is("=");
    if (token.is("(") || token.is("[") || token.is("{")) {
      skip_brackets();
    } else {
      ++at_;
    }
    const bool goes_on = here().is(";") || here().is(",") || here().is(".") || here().is("[");
    if (is_body && !goes_on) {
      if (here().is("else") || here().is("while")) throw Cut{at_};
      break;
    }
  }
  return add({.kind = StmtKind::opaque, .tokens = {}, .at = at}, begin);
}

bool Parser::begins_declaration() const {
  if (here().kind == TokenKind::group) return true;  // of words in front of one
  if (begins_specifiers(here())) return true;
  if (!is_name(here()) || names_.find(here().text)) return false;
  // A type that no file declares, or a macro in front of one: `a b`, `a *b;`, `a(x) int b`.
  if (is_name(next()) || begins_specifiers(next())) return true;
  if (next().is("*")) {
    std::size_t i = at_ + 1;
    while (token(i).is("*") || token(i).is("const") || token(i).is("restrict")) ++i;
    const Token& behind = token(i + 1);
    return is_name(token(i)) && (behind.is(";") || behind.is("=") || behind.is(",") || behind.is("["));
  }
  return next().is("(") && begins_specifiers(token(partner_[at_ + 1] + std::size_t{1}));
}

// int f(a, n) int8_t* a; int n; { … }: over what stands between, of which, as of parameters, nothing is known.
TypeId Parser::without_old_params(TypeId function) {
  std::vector<std::string_view> names;
  for (const DeclId param : tree_[function].params) names.push_back(tree_[tree_[param].type].name);
  std::size_t end = at_;
  for (; !token(end).is("{"); ++end) {
    bool names_one = false;
    for (; !token(end).is(";"); ++end) {
      const bool is_odd = token(end).kind == TokenKind::end || token(end).kind == TokenKind::group;
      if (is_odd || token(end).is("{") || token(end).is("=")) return function;
      names_one = names_one || std::find(names.begin(), names.end(), token(end).text) != names.end();
    }
    if (!names_one) return function;
  }
  if (end == at_) return function;
  at_ = end;
  Type type = tree_[function];
  type.params.clear();
  type.has_prototype = false;
  return add(std::move(type));
}

// Names that may be macros: int8_t a[4] PROGMEM = …, void f(void) ALIGN(4) { … }
void Parser::words_behind(Decl& decl) {
  while (is_name(here())) {
    const std::size_t begin = at_++;
    if (here().is("(")) skip_brackets();
    decl.unknown.push_back(range_from(begin));
    attributes(decl.attributes);
  }
}

// Declares variables, types and functions; with the body of one.
// NOLINTNEXTLINE(misc-no-recursion): as above
StmtId Parser::declaration(Where where) {
  const std::size_t begin = at_;
  const Specifiers shared = specifiers(where);
  Stmt stmt{.kind = StmtKind::declaration, .tokens = {}};
  if (take(";")) return add(std::move(stmt), begin);
  while (true) {
    const Declarator one = declarator(shared.type, false);
    Decl decl;
    decl.name = one.name;
    decl.type = one.type;
    decl.storage = shared.storage;
    decl.is_inline = shared.is_inline;
    decl.is_at_file_scope = where == Where::file;
    decl.at = static_cast<std::uint32_t>(one.at);
    decl.declarator = one.tokens;
    decl.attributes = shared.attributes;
    decl.unknown = shared.unknown;
    attributes(decl.attributes);
    const bool is_function = tree_[one.type].kind == TypeKind::function;
    if (is_function) decl.type = without_old_params(one.type);
    if (where == Where::file) words_behind(decl);
    decl.kind = shared.is_type_name ? DeclKind::type : is_function ? DeclKind::function : DeclKind::variable;
    const DeclId id = add(std::move(decl));
    declare(id);
    stmt.decls.push_back(id);
    if (is_function && here().is("{") && where == Where::file && stmt.decls.size() == 1 && !shared.is_type_name) {
      const OpenedNames names(names_);
      for (const DeclId param : tree_.types[one.type.index()].params) declare(param);
      const StmtId body = function_body();
      tree_.decls[id.index()].body = body;
      tree_.decls[id.index()].tokens = range_from(begin);
      return add(std::move(stmt), begin);
    }
    if (take("=")) {
      const ExprId init = initializer();
      tree_.decls[id.index()].init = init;
    }
    if (!take(",")) break;
  }
  expect(";");
  for (const DeclId id : stmt.decls) tree_.decls[id.index()].tokens = range_from(begin);
  return add(std::move(stmt), begin);
}

Tree parse(std::span<const Token> tokens, Bodies bodies) { return Parser(tokens, bodies).file(); }

bool is_word(std::string_view name) { return keyword_of(name) != Keyword::none || standard_type(name).has_value(); }

std::optional<Parsed> parse_expression(std::span<const Token> tokens) {
  try {
    return Parser(tokens).expression();
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
}

}  // namespace usmp::c
