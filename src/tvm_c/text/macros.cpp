// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects definitions, enumerators and groups from the directives of a file.
#include "tvm_c/text/macros.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "usmp/c/parser.hpp"
#include "usmp/c/preprocessor.hpp"
#include "usmp/support/number_list.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::string_view line_blanks = " \t\r\f\v";

// Groups #if 0 … #endif that have no other part and are in none that begins so.
std::vector<Group> zero_groups(const std::vector<Directive>& directives) {
  std::vector<Group> result;
  std::size_t next = 0;  // behind the last that begins so
  for (const Group& group : groups_in(directives)) {
    if (!group.first || *group.first < next) continue;
    const Directive& first = directives[*group.first];
    if (first.word != "if" || first.only != "0") continue;
    if (!group.last) break;
    next = *group.last;
    if (!group.has_parts) result.push_back(group);
  }
  return result;
}

}  // namespace

std::string_view leading_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_identifier_char(text[end])) ++end;
  return text.substr(0, end);
}

bool is_in_capitals(std::string_view name) {
  // Both bounds: beyond ASCII a char may be less than 'a', or not.
  return std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

std::string_view without_blanks_in_front(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(line_blanks), text.size()));
}

std::vector<Token> plain_tokens(const Code& code, std::size_t begin, std::size_t end) {
  const std::vector<Token>& tokens = code.lexed->tokens;
  const Code::Range range = code.range(begin, end);
  std::vector<Token> result;
  std::size_t directive = range.first_directive;
  for (std::size_t i = range.first; i < range.behind;) {
    if (directive < range.behind_directives && code.lexed->directives[directive].token == i) {
      i = directive_of(code, directive++).behind;
      continue;
    }
    require_ended(tokens[i]);
    result.push_back(tokens[i++]);
  }
  return result;
}

std::vector<Token> plain_tokens(std::string_view text) { return plain_tokens(split(text), 0, text.size()); }

namespace {

// What may stand in front of a declaration, as a part of it: attributes, extern "C", names of macros without brackets.
// If `any`, all that ends no declaration.
bool may_be_front(const std::vector<Token>& tokens, bool any) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.is("{") || token.is("}") || token.is(";")) return false;
    if (token.is("(")) {
      const bool is_inside = depth > 0 || (i > 0 && is_attribute(tokens[i - 1].text));
      if (!any && !is_inside) return false;
      ++depth;
    } else if (token.is(")")) {
      if (depth-- == 0) return false;
    } else if (depth == 0 && !any && !token.is_identifier() && token.kind != TokenKind::string) {
      return false;
    }
  }
  return !tokens.empty() && depth == 0;
}

}  // namespace

std::size_t begin_with_groups(const Code& file, std::size_t from, std::size_t begin, std::size_t end) {
  const std::vector<Directive> directives = directives_in(file, from, begin);
  if (directives.empty()) return begin;
  std::vector<std::size_t> open;              // groups that end behind `begin`, by their first directives
  std::map<std::size_t, std::size_t> firsts;  // of the others, by their last
  for (const Group& group : groups_in(directives)) {
    if (!group.first) continue;
    if (group.last) {
      firsts.emplace(*group.last, *group.first);
    } else {
      open.push_back(*group.first);
    }
  }
  try {
    std::size_t next = directives.size();
    std::size_t result = begin;
    const auto is_closed = [](const Group& group) { return !group.first; };
    const auto closed =
        static_cast<std::size_t>(std::ranges::count_if(groups_in(directives_in(file, begin, end)), is_closed));
    if (closed > 0 && closed <= open.size()) {
      next = open[open.size() - closed];
      if (!may_be_front(plain_tokens(file, directives[next].begin, begin), true)) return begin;
      result = directives[next].begin;
    }
    while (next > 0 && firsts.contains(next - 1)) {
      const std::size_t behind = directives[next - 1].end;
      if (!plain_tokens(file, behind, result).empty()) break;
      const std::size_t first = firsts.at(next - 1);
      if (!may_be_front(plain_tokens(file, directives[first].begin, behind), false)) break;
      next = first;
      result = directives[first].begin;
    }
    return result;
  } catch (const SyntaxError&) {
    return begin;
  }
}

bool includes_code(const Directive& directive) {
  if (directive.word != "include") return false;
  const std::string_view name = directive.rest.substr(0, directive.rest.find_last_of(">\"") + 1);
  const bool is_of_library = name.starts_with('<') && name.find('.') == std::string_view::npos;
  return !is_of_library && !ends_with_any(name, {".h>", ".h\"", ".hpp>", ".hpp\"", ".hh>", ".hh\""});
}

bool has_hidden_code(const Code& file, std::size_t begin, std::size_t end) {
  try {
    const std::vector<Directive> directives = directives_in(file, begin, end);
    if (std::ranges::any_of(directives, includes_code)) return true;
    const auto groups = zero_groups(directives);
    auto group = groups.begin();
    const std::vector<Token> tokens = plain_tokens(file, begin, end);
    return std::ranges::any_of(tokens, [&](const Token& token) {
      while (group != groups.end() && directives[*group->last].begin < token.offset) ++group;
      const bool is_left_out = group != groups.end() && directives[*group->first].begin < token.offset;
      const bool is_linkage = token.is("extern") || token.is("{") || token.is("}") || token.is(";");
      return !is_left_out && !is_linkage && token.kind != TokenKind::string;
    });
  } catch (const SyntaxError&) {
    return true;
  }
}

Macros::Macros(const Code& code) {
  const std::vector<Directive> directives = directives_in(code);
  const std::vector<Group> zeros = zero_groups(directives);
  auto zero = zeros.begin();
  std::size_t depth = c::include_guard(code.lexed->tokens) ? 0 : 1;  // of conditional groups, and 1
  std::vector<std::pair<std::size_t, std::size_t>> groups;
  for (std::size_t i = 0; i < directives.size(); ++i) {
    if (zero != zeros.end() && i == *zero->first) {
      i = *(zero++)->last;
      continue;
    }
    const Directive& one = directives[i];
    if (one.word == "include") includes_.push_back({one.rest, depth != 1});
    if (opens_group(one.word) && ++depth == 2) groups.emplace_back(one.begin, code.text.size());
    if (one.word == "endif" && --depth == 1) groups.back().second = one.end;
    if (one.word != "define" && one.word != "undef") continue;
    const std::string_view name = one.name;
    bodies_[name].push_back(one.word == "define" ? one.rest.substr(name.size()) : std::string_view());
    if (depth != 1) conditional_.insert(name);
  }
  for (const Group& one : zeros) groups.emplace_back(directives[*one.first].begin, directives[*one.last].end);
  const auto is_enum = [](const Token& token) { return token.is("enum"); };
  if (std::ranges::any_of(code.lexed->tokens, is_enum)) read_enumerators(code, groups);
}

void Macros::read_enumerators(const Code& code, const std::vector<std::pair<std::size_t, std::size_t>>& groups) {
  std::vector<Token> tokens;
  c::Tree tree;
  try {
    tokens = plain_tokens(code, 0, code.text.size());
    tokens.push_back(code.lexed->tokens.back());
    tree = c::parse(tokens, c::Bodies::passed_over);
  } catch (const SyntaxError&) {
    return;
  } catch (const c::SyntaxError&) {
    return;
  }
  const auto is_conditional = [&](std::size_t at) {
    return std::ranges::any_of(groups, [&](const auto& group) { return group.first <= at && at < group.second; });
  };
  std::set<std::string_view> several;
  c::TypeId type;
  std::optional<Enumerator> next;  // of the type; nothing: how many stand in front is not known
  for (const c::Decl& decl : tree.decls) {
    if (decl.kind != c::DeclKind::enumerator) continue;
    if (decl.type != type) next.emplace();
    type = decl.type;
    if (is_conditional(tokens[decl.at].offset)) next.reset();
    if (!next) continue;
    if (decl.init.valid()) {
      const std::size_t begin = tokens[tree[decl.init].tokens.begin].offset;
      next = {code.text.substr(begin, tokens[decl.tokens.end].offset - begin), 0};
    }
    if (!enumerators_.emplace(decl.name, *next).second) several.insert(decl.name);
    ++next->more;
  }
  for (const std::string_view name : several) enumerators_.erase(name);
}

void Macros::add(const Macros& others, bool in_any_case) {
  for (const auto& [name, bodies] : others.bodies_) {
    auto& all = bodies_[name];
    all.insert(all.end(), bodies.begin(), bodies.end());
    if (!in_any_case || others.conditional_.contains(name)) conditional_.insert(name);
  }
}

std::optional<std::string_view> Macros::definition(std::string_view name) const {
  const auto found = bodies_.find(name);
  if (found == bodies_.end() || found->second.size() != 1 || conditional_.contains(name)) return std::nullopt;
  return found->second[0];
}

Names Macros::names_of(const std::vector<Token>& tokens) const {
  Names names;
  std::vector<std::string> pending;
  for (const Token& token : tokens) {
    if (token.is_identifier()) pending.emplace_back(token.text);
  }
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    if (!names.insert(name).second) continue;
    const auto macro = bodies_.find(name);
    if (macro == bodies_.end()) continue;
    for (const std::string_view body : macro->second) {
      if (body.size() > most_) {
        names.insert(anything);
        continue;
      }
      most_ -= body.size();
      for_each_identifier(body, [&](std::string_view used) { pending.emplace_back(used); });
    }
  }
  return names;
}

Names Macros::names_in(const Code& code, std::size_t begin, std::size_t end) const {
  try {
    return names_of(plain_tokens(code, begin, end));
  } catch (const SyntaxError&) {  // somebody's text in a group that is not read
    Names names;
    for_each_identifier(code.text.substr(begin, end - begin), [&](std::string_view name) { names.emplace(name); });
    return names;
  }
}

AllDefinitions macro_definitions(std::span<const Code> files) {
  AllDefinitions result;
  for (const Code& file : files) {
    for (const Directive& one : directives_in(file)) {
      if (one.word == "define") result[one.name].push_back(one.rest.substr(one.name.size()));
    }
  }
  return result;
}

Names macros_with(const AllDefinitions& definitions, const std::function<bool(std::string_view definition)>& is_one) {
  Names found;
  std::vector<std::string_view> pending;
  std::map<std::string_view, std::vector<std::string_view>> users;  // by a name in their definitions
  for (const auto& [macro, texts] : definitions) {
    for (const std::string_view text : texts) {
      for_each_identifier(text, [&, user = macro](std::string_view used) { users[used].push_back(user); });
    }
    if (std::ranges::any_of(texts, is_one) && found.emplace(macro).second) pending.push_back(macro);
  }
  while (!pending.empty()) {
    const std::string_view name = pending.back();
    pending.pop_back();
    for (const std::string_view user : users[name]) {
      if (found.emplace(user).second) pending.push_back(user);
    }
  }
  return found;
}

}  // namespace usmp::tvm_c
