// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/held_tensors_test.cpp.
#include "tvm_c/stays/keeper_world.hpp"

#include <cstddef>
#include <string>

#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

bool is_number_type(const Token& token) {
  for (const char* word : {"int", "char", "short", "long", "float", "double", "bool", "_Bool", "unsigned", "signed"}) {
    if (token.is(word)) return true;
  }
  const std::string_view text = token.text;
  if (!text.ends_with("_t") || text.size() < 4) return false;
  const bool is_fixed = (text[0] == 'q' || text.starts_with("float")) && text[text.size() - 3] <= '9';  // q7_t
  return text.find("int") < 2 || is_fixed || text == "size_t";
}

namespace {

// By file, of those with functions.
using FileTexts = std::map<std::size_t, std::string_view>;

FileTexts texts_of(const FileScope& scope) {
  FileTexts texts;
  for (const auto& [name, function] : scope.functions) texts.emplace(function.file, function.body.text());
  return texts;
}

// Of the files, that nothing is written to.
Names constants_in(const FileScope& scope, const FileTexts& texts) {
  Names result;
  for (const Item& item : scope.items) {
    const auto text = texts.find(item.file);
    if (item.kind == Item::Kind::function || text == texts.end()) continue;
    const std::string_view all = text->second.substr(item.begin, item.end - item.begin);
    const std::string_view front = all.substr(0, all.find('='));
    if (front.find("const ") != std::string_view::npos && front.find('*') == std::string_view::npos) {
      result.emplace(item.name);
    }
  }
  return result;
}

// Of static void (*const hook)(int8_t*) = start; "hook". Empty: it is another item.
std::string_view called_pointer(std::string_view item) {
  constexpr std::size_t most = 200;  // bytes in front of it
  const std::size_t at = item.substr(0, most).find("(*");
  if (at == std::string_view::npos) return {};
  item.remove_prefix(at + 2);
  while (true) {
    item = without_blanks_in_front(item);
    const std::string_view name = leading_name(item);
    if (name != "const" && name != "volatile") return name;
    item.remove_prefix(name.size());
  }
}

// Of a function's text: int8_t* half(…), uintptr_t place_of(…), job_t job_of(…)
bool returns_address(std::string_view item, std::string_view name) {
  Lexer tokens(item);
  bool is_wide = false;
  bool is_number = false;
  bool is_other = false;
  try {
    for (Token token = tokens.next(); token.kind != TokenKind::end && !token.is(name); token = tokens.next()) {
      if (token.is("*")) return true;
      for (const char* word : {"uintptr_t", "intptr_t", "uint32_t", "uint64_t", "unsigned", "long"}) {
        is_wide = is_wide || token.is(word);
      }
      is_number = is_number || is_number_type(token) || token.is("void");
      const bool is_word = token.is("static") || token.is("inline") || token.is("const") || token.is("extern");
      is_other = is_other || (token.is_identifier() && !is_word && !is_in_capitals(token.text));
    }
  } catch (const SyntaxError&) {  // told where it is read, if it is
  }
  return is_wide || (is_other && !is_number);
}

// Of a type: struct { int8_t* to[3]; int8_t** from; } has the array `to` and the pointer `from`.
void add_members(std::string_view item, Names& arrays, Names& pointers) {
  Lexer tokens(item);
  Token name;
  bool is_pointer = false;
  try {
    for (Token token = tokens.next(); token.kind != TokenKind::end; token = tokens.next()) {
      const bool is_end = token.is(";") || token.is(",");
      if (name.is_identifier() && token.is("[")) arrays.emplace(name.text);
      if (name.is_identifier() && is_end && is_pointer) pointers.emplace(name.text);
      is_pointer = name.is("*") && token.is_identifier();
      name = token;
    }
  } catch (const SyntaxError&) {  // told where it is read, if it is
  }
}

}  // namespace

KeeperWorld keeper_world(const FileScope& scope, const MacroDefinitions& definitions) {
  KeeperWorld world{scope, {}, {}, {}, {}, {}, {}};
  const FileTexts files = texts_of(scope);
  world.constants = constants_in(scope, files);
  Names pointer_members;
  for (const Item& item : scope.items) {
    if (item.kind == Item::Kind::data) world.variables.emplace(item.name);
    const auto file = files.find(item.file);
    if (file == files.end()) continue;
    const std::string_view text = file->second.substr(item.begin, item.end - item.begin);
    if (item.kind == Item::Kind::function) {
      if (returns_address(text, item.name)) world.returns.emplace(item.name);
    } else {
      world.variables.emplace(called_pointer(text));
      if (item.kind == Item::Kind::other) add_members(text, world.array_members, pointer_members);
    }
  }
  for (const std::string& name : pointer_members) world.array_members.erase(name);
  const Names assigning = macros_with(
      definitions, [](std::string_view definition) { return definition.find('=') != std::string_view::npos; });
  for (const auto& [name, definition] : definitions) {
    if (takes_arguments(definition)) {
      world.macros.emplace(name);
    } else if (assigning.contains(name)) {
      world.statements.emplace(name, definition);
    }
  }
  return world;
}

}  // namespace usmp::tvm_c
