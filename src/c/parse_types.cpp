// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Specifiers and declarators: types, records, enumerations, parameters.
#include <algorithm>
#include <utility>

#include "c/parser.hpp"
#include "usmp/c/constants.hpp"

namespace usmp::c {
namespace {

bool is_declarator_end(const Token& token) {
  return token.is(";") || token.is(",") || token.is("=") || token.is("[") || token.is("(") || token.is(":") ||
         token.is(")");
}

}  // namespace

bool Parser::begins_specifiers(const Token& token) const {
  if (token.kind != TokenKind::identifier) return false;
  switch (keyword_of(token.text)) {
    case Keyword::type:
    case Keyword::record:
    case Keyword::enumeration:
    case Keyword::qualifier:
    case Keyword::storage:
    case Keyword::function:
    case Keyword::attribute:
    case Keyword::ignored:
      return true;
    case Keyword::none:
      return names_type(token.text);
    default:
      return false;
  }
}

bool Parser::names_type(std::string_view name) const {
  if (const auto decl = names_.find(name)) return tree_[*decl].kind == DeclKind::type;
  return standard_type(name).has_value();
}

TypeId Parser::add(Type type) {
  tree_.types.push_back(std::move(type));
  return TypeId(tree_.types.size() - 1);
}

DeclId Parser::add(Decl decl) {
  decl.is_conditional = conditional_ > 0;
  tree_.decls.push_back(std::move(decl));
  return DeclId(tree_.decls.size() - 1);
}

void Parser::declare(DeclId decl) {
  if (!tree_[decl].name.empty()) names_.declare(tree_[decl].name, decl);
}

TypeId Parser::qualified(TypeId type, bool is_const, bool is_volatile) {
  if (!is_const && !is_volatile) return type;
  Type copy = tree_[type];
  copy.is_const = copy.is_const || is_const;
  copy.is_volatile = copy.is_volatile || is_volatile;
  return add(std::move(copy));
}

// __attribute__((…)), asm("…") and their like, as often as they stand here.
void Parser::attributes(std::vector<TokenRange>& into) {
  while (here().kind == TokenKind::identifier) {
    const Keyword word = keyword_of(here().text);
    if (word != Keyword::attribute && word != Keyword::assembler) return;
    const std::size_t begin = at_++;
    if (!here().is("(")) throw Unparsed{};
    skip_brackets();
    into.push_back(range_from(begin));
  }
}

TypeId Parser::named_type(std::string_view name) {
  if (const auto decl = names_.find(name)) return tree_[*decl].type;
  return add(*standard_type(name));
}

TypeId Parser::type_of_words(const std::vector<std::string_view>& words) {
  const auto count = [&](std::string_view word) { return std::count(words.begin(), words.end(), word); };
  const auto others = [&](std::initializer_list<std::string_view> known) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
      return std::find(known.begin(), known.end(), word) == known.end();
    });
  };
  Type type;
  if (words.size() == 1 && words[0] == "void") {
    type.kind = TypeKind::nothing;
    type.name = "void";
    return add(type);
  }
  if (words.size() == 1 && words[0] == "_Bool") return add(*standard_type("bool"));
  if (count("float") + count("double") > 0) {
    if (words.size() > 2 || (words.size() == 2 && (count("long") != 1 || count("double") != 1))) throw Unparsed{};
    type.kind = TypeKind::real;
    type.bits = words.size() == 2 ? std::uint8_t{0} : count("float") > 0 ? std::uint8_t{32} : std::uint8_t{64};
    type.name = words.size() == 2 ? "long double" : words[0];
    return add(type);
  }
  type.kind = TypeKind::integer;
  type.is_unsigned = count("unsigned") > 0;
  if (count("unsigned") + count("signed") > 1) throw Unparsed{};
  if (count("char") == 1) {
    if (others({"char", "signed", "unsigned"})) throw Unparsed{};
    type.bits = 8;
    type.name = words.size() == 1 ? "char" : type.is_unsigned ? "unsigned char" : "signed char";
  } else if (count("short") == 1) {
    if (others({"short", "int", "signed", "unsigned"}) || count("int") > 1) throw Unparsed{};
    type.bits = 16;
    type.name = type.is_unsigned ? "unsigned short" : "short";
  } else {
    if (others({"long", "int", "signed", "unsigned"}) || count("int") > 1 || count("long") > 2) throw Unparsed{};
    type.bits = count("long") == 2 ? std::uint8_t{64} : count("long") == 1 ? std::uint8_t{0} : std::uint8_t{32};
    type.name = count("long") == 2   ? (type.is_unsigned ? "unsigned long long" : "long long")
                : count("long") == 1 ? (type.is_unsigned ? "unsigned long" : "long")
                                     : (type.is_unsigned ? "unsigned int" : "int");
  }
  return add(type);
}

// A word here that no file declares: a type, or a macro in front of one. False: it is none of the specifiers.
bool Parser::unknown_word(Where where, bool has_type, Specifiers& result) {
  const Token& behind = next();
  const auto take_unknown = [&](std::size_t end) {
    const std::size_t begin = at_;
    at_ = end;
    result.unknown.push_back(range_from(begin));
    return true;
  };
  const bool goes_on = begins_specifiers(behind) || behind.kind == TokenKind::group;
  if (has_type) {
    if (tokens_[at_ - 1].is("}")) {  // struct { … } x PROGMEM = …, x SECTION(".x") = …
      const std::size_t end = at_ + 2;
      if (token(token(end).is("(") ? partner_[end] + std::size_t{1} : end).is("=")) return false;
    }
    if (behind.is("(")) {  // int8_t SECTION(".x") x[4]; void RAM(1) f(void) { … } but void f(void) ALIGN(4);
      const std::size_t close = partner_[at_ + 1];
      const Token& third = token(close + 2);
      const bool is_prefix =
          third.is("[") || third.is("=") || (third.is("(") && token(partner_[close + 2] + std::size_t{1}).is("{"));
      return where == Where::file && is_name(token(close + 1)) && is_prefix ? take_unknown(close + 1) : false;
    }
    // int8_t ALIGNED x; but int8_t x __attribute__((used))
    const bool is_attribute = behind.kind == TokenKind::identifier && keyword_of(behind.text) == Keyword::attribute;
    return is_name(behind) || (goes_on && !is_attribute) ? take_unknown(at_ + 1) : false;
  }
  if (goes_on) return take_unknown(at_ + 1);
  const auto take_type = [&] {
    Type type;
    type.name = here().text;
    result.type = add(type);
    ++at_;
    return true;
  };
  if (is_name(behind)) {
    const Token& third = token(at_ + 2);
    const bool is_declarator = is_declarator_end(third) || keyword_of(third.text) == Keyword::attribute ||
                               keyword_of(third.text) == Keyword::assembler;
    return is_declarator ? take_type() : take_unknown(at_ + 1);
  }
  if (behind.is("*")) return take_type();
  if (behind.is("(") && (where == Where::file || where == Where::block || where == Where::member)) {
    const std::size_t close = partner_[at_ + 1];
    const Token& third = token(close + 1);
    const bool is_prefix = begins_specifiers(third) || where == Where::file;
    return is_prefix ? take_unknown(close + 1) : false;
  }
  const bool may_be_nameless = where == Where::parameter || where == Where::type_name;
  return may_be_nameless && (behind.is(",") || behind.is(")") || behind.is("[")) ? take_type() : false;
}

// NOLINTNEXTLINE(misc-no-recursion): types in types, at most most_nested deep
Parser::Specifiers Parser::specifiers(Where where) {
  Specifiers result;
  result.begin = at_;
  std::vector<std::string_view> words;
  bool is_const = false;
  bool is_volatile = false;
  while (true) {
    const Token& token = here();
    if (token.kind == TokenKind::group && token.text == "if" && is_prefix_group(at_)) {
      const std::size_t begin = at_;
      at_ = group_end(at_) + 1;
      result.unknown.push_back(range_from(begin));
      continue;
    }
    if (token.kind != TokenKind::identifier) break;
    const Keyword word = keyword_of(token.text);
    const bool has_type = result.type.valid() || !words.empty();
    if (word == Keyword::none) {
      const bool is_type = !has_type && names_type(token.text);
      if (is_type) {
        // A name that is declared here may hide a type's.
        result.type = named_type(token.text);
        ++at_;
        continue;
      }
      if (!unknown_word(where, has_type, result)) break;
      continue;
    }
    if (word == Keyword::type) {
      if (result.type.valid()) throw Unparsed{};
      const std::string_view plain = plain_keyword(token.text);
      words.push_back(plain);
      ++at_;
    } else if (word == Keyword::record || word == Keyword::enumeration) {
      if (has_type) throw Unparsed{};
      result.type = word == Keyword::record ? record() : enumeration();
    } else if (word == Keyword::qualifier) {
      const std::string_view plain = plain_keyword(token.text);
      is_const = is_const || plain == "const";
      is_volatile = is_volatile || plain == "volatile" || plain == "_Atomic";
      ++at_;
    } else if (word == Keyword::storage) {
      if (where == Where::parameter ? plain_keyword(token.text) != "register"
                                    : where != Where::file && where != Where::block)
        throw Unparsed{};
      const std::string_view plain = plain_keyword(token.text);
      if (plain == "typedef") {
        result.is_type_name = true;
      } else if (plain != "_Thread_local" || result.storage == Storage::none) {
        result.storage = plain == "extern"          ? Storage::external
                         : plain == "static"        ? Storage::internal
                         : plain == "_Thread_local" ? Storage::thread
                                                    : Storage::automatic;
      }
      ++at_;
      if (plain == "extern" && here().kind == TokenKind::string) ++at_;  // extern "C" of one declaration
    } else if (word == Keyword::function) {
      result.is_inline = result.is_inline || plain_keyword(token.text) == "inline";
      ++at_;
    } else if (word == Keyword::attribute) {
      attributes(result.attributes);
    } else if (word == Keyword::ignored) {
      ++at_;
    } else {
      break;
    }
  }
  if (!words.empty()) result.type = type_of_words(words);
  if (!result.type.valid()) throw Unparsed{};
  result.type = qualified(result.type, is_const, is_volatile);
  return result;
}

// NOLINTNEXTLINE(misc-no-recursion): types in types, at most most_nested deep
TypeId Parser::record() {
  const bool is_union = here().is("union");
  ++at_;
  std::vector<TokenRange> odd;
  attributes(odd);
  std::string_view tag;
  if (is_name(here())) {
    tag = here().text;
    ++at_;
  }
  const bool is_defined = here().is("{");
  if (tag.empty() && !is_defined) throw Unparsed{};
  const auto known = is_defined ? tags_.find_here(tag) : tags_.find(tag);
  const bool is_new = tag.empty() || !known || tree_[*known].kind != TypeKind::record ||
                      (is_defined && tree_.records[tree_[*known].record].is_complete);
  TypeId type;
  if (is_new) {
    Record made;
    made.tag = tag;
    made.is_union = is_union;
    tree_.records.push_back(made);
    Type of;
    of.kind = TypeKind::record;
    of.name = tag;
    of.record = static_cast<std::uint32_t>(tree_.records.size() - 1);
    type = add(of);
    if (!tag.empty()) tags_.declare(tag, type);
  } else {
    type = *known;
  }
  if (!is_defined) return type;
  const std::uint32_t index = tree_[type].record;
  members(index);
  attributes(odd);
  tree_.records[index].is_complete = true;
  if (!odd.empty()) tree_.records[index].is_known = false;
  return type;
}

// NOLINTNEXTLINE(misc-no-recursion): records in records, at most most_nested deep
void Parser::members(std::uint32_t record) {
  const Deeper deeper(*this);
  const std::size_t close = partner_[at_];
  ++at_;
  while (at_ < close) {
    const std::size_t begin = at_;
    try {
      if (take(";")) continue;
      const Specifiers shared = specifiers(Where::member);
      if (!shared.attributes.empty() || !shared.unknown.empty()) tree_.records[record].is_known = false;
      if (here().is(";") && tree_[shared.type].kind == TypeKind::record) {  // members of a record without a name
        Decl decl;
        decl.kind = DeclKind::member;
        decl.type = shared.type;
        decl.at = static_cast<std::uint32_t>(begin);
        tree_.records[record].members.push_back(add(decl));
      }
      while (!here().is(";")) {
        Declarator one{{}, at_, shared.type, {}};
        if (!here().is(":")) one = declarator(shared.type, false);
        Decl decl;
        decl.kind = DeclKind::member;
        decl.name = one.name;
        decl.type = one.type;
        decl.at = static_cast<std::uint32_t>(one.at);
        if (take(":")) {
          tree_.records[record].is_known = false;  // a bit field
          decl.init = assignment_expression();
        }
        attributes(decl.attributes);
        if (!decl.attributes.empty()) tree_.records[record].is_known = false;
        decl.tokens = range_from(begin);
        tree_.records[record].members.push_back(add(std::move(decl)));
        if (!here().is(";")) expect(",");
      }
      ++at_;
    } catch (const Unparsed&) {
      tree_.records[record].is_known = false;
      at_ = close;
    }
    if (at_ > close) throw Unparsed{};
  }
  at_ = close + 1;
}

// NOLINTNEXTLINE(misc-no-recursion): types in types, at most most_nested deep
TypeId Parser::enumeration() {
  ++at_;
  std::vector<TokenRange> odd;
  attributes(odd);
  Type type;
  type.kind = TypeKind::enumeration;
  if (is_name(here())) {
    type.name = here().text;
    ++at_;
  }
  if (!here().is("{")) {
    if (type.name.empty()) throw Unparsed{};
    const auto known = tags_.find(type.name);
    return known ? *known : add(type);
  }
  const TypeId id = add(type);
  if (!type.name.empty()) tags_.declare(type.name, id);
  const std::size_t close = partner_[at_];
  ++at_;
  std::optional<std::int64_t> value = 0;  // of the next one
  while (at_ < close) {
    if (!is_name(here())) throw Unparsed{};
    Decl decl;
    decl.kind = DeclKind::enumerator;
    decl.name = here().text;
    decl.type = id;
    decl.at = static_cast<std::uint32_t>(at_);
    const std::size_t begin = at_++;
    attributes(decl.attributes);
    if (take("=")) {
      decl.init = assignment_expression();
      const auto constant = constant_value(tree_, decl.init);
      value = constant ? constant->as_int64() : std::nullopt;
    }
    decl.value = value;
    if (value) value = *value < INT32_MAX ? std::optional(*value + 1) : std::nullopt;
    decl.tokens = range_from(begin);
    declare(add(std::move(decl)));
    if (at_ < close) expect(",");
  }
  at_ = close + 1;
  attributes(odd);
  return id;
}

TypeId Parser::pointers(TypeId base) {
  while (take("*")) {
    Type pointer;
    pointer.kind = TypeKind::pointer;
    pointer.of = base;
    while (here().kind == TokenKind::identifier) {
      const Keyword word = keyword_of(here().text);
      if (word == Keyword::attribute) {
        attributes(tree_.unheeded);
        continue;
      }
      if (word != Keyword::qualifier) break;
      const std::string_view plain = plain_keyword(here().text);
      pointer.is_const = pointer.is_const || plain == "const";
      pointer.is_volatile = pointer.is_volatile || plain == "volatile" || plain == "_Atomic";
      ++at_;
    }
    base = add(pointer);
  }
  return base;
}

// NOLINTNEXTLINE(misc-no-recursion): at most most_nested deep
TypeId Parser::parameters(TypeId result) {
  const Deeper deeper(*this);
  const std::size_t close = partner_[at_];
  ++at_;
  Type function;
  function.kind = TypeKind::function;
  function.of = result;
  if (at_ == close) {
    ++at_;
    return add(std::move(function));
  }
  function.has_prototype = true;
  if (here().is("void") && at_ + 1 == close) {
    at_ = close + 1;
    return add(std::move(function));
  }
  const OpenedNames names(names_);
  while (true) {
    if (take("...")) {
      function.is_variadic = true;
      break;
    }
    const std::size_t begin = at_;
    Specifiers shared = specifiers(Where::parameter);
    const Declarator one = declarator(shared.type, true);
    Decl decl;
    decl.kind = DeclKind::parameter;
    decl.name = one.name;
    decl.type = one.type;
    decl.at = static_cast<std::uint32_t>(one.at);
    decl.attributes = std::move(shared.attributes);
    decl.unknown = std::move(shared.unknown);
    attributes(decl.attributes);
    decl.tokens = range_from(begin);
    decl.declarator = one.tokens;
    const DeclId id = add(std::move(decl));
    declare(id);
    function.params.push_back(id);
    if (!take(",")) break;
  }
  if (at_ != close) throw Unparsed{};
  ++at_;
  return add(std::move(function));
}

// NOLINTNEXTLINE(misc-no-recursion): extents in extents, at most most_nested deep
TypeId Parser::suffixes(TypeId base) {
  if (here().is("(")) return parameters(base);
  std::vector<ExprId> extents;
  while (here().is("[")) {
    const std::size_t close = partner_[at_];
    ++at_;
    ExprId extent;
    while (here().is("static") ||
           (here().kind == TokenKind::identifier && keyword_of(here().text) == Keyword::qualifier))
      ++at_;
    if (at_ != close) extent = assignment_expression();
    if (at_ != close) throw Unparsed{};
    ++at_;
    extents.push_back(extent);
  }
  if (!extents.empty() && here().is("(")) throw Unparsed{};
  while (!extents.empty()) {
    Type array;
    array.kind = TypeKind::array;
    array.of = base;
    array.extent = extents.back();
    extents.pop_back();
    base = add(array);
  }
  return base;
}

// NOLINTNEXTLINE(misc-no-recursion): at most most_nested deep
Parser::Declarator Parser::declarator(TypeId base, bool may_be_nameless) {
  const Deeper deeper(*this);
  const std::size_t begin = at_;
  const TypeId type = pointers(base);
  Declarator result{{}, at_, type, {}};
  const Token& inner = next();
  const bool is_nested =
      here().is("(") &&
      (inner.is("*") || inner.is("(") || inner.is("[") || (is_name(inner) && !names_type(inner.text)) ||
       (inner.kind == TokenKind::identifier && keyword_of(inner.text) == Keyword::attribute));
  if (is_nested) {
    const std::size_t open = at_;
    const std::size_t close = partner_[open];
    at_ = close + 1;
    const TypeId outer = suffixes(type);
    const std::size_t end = at_;
    at_ = open + 1;
    attributes(tree_.unheeded);
    result = declarator(outer, may_be_nameless);
    if (at_ != close) throw Unparsed{};
    at_ = end;
  } else {
    if (is_name(here())) {
      result.name = here().text;
      result.at = at_++;
    } else if (!may_be_nameless) {
      throw Unparsed{};
    }
    result.type = suffixes(type);
  }
  result.tokens = range_from(begin);
  return result;
}

// NOLINTNEXTLINE(misc-no-recursion): at most most_nested deep
std::optional<TypeId> Parser::type_name() {
  const Specifiers shared = specifiers(Where::type_name);
  tree_.unheeded.insert(tree_.unheeded.end(), shared.attributes.begin(), shared.attributes.end());
  if (!shared.unknown.empty()) return std::nullopt;
  const Declarator one = declarator(shared.type, true);
  return one.name.empty() ? std::optional(one.type) : std::nullopt;
}

}  // namespace usmp::c
