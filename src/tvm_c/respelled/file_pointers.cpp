// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/entry_parts_test.cpp.
#include "tvm_c/respelled/file_pointers.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tvm_c/text/declared_names.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {
namespace {

struct FilePointer {
  std::string type;  // "void*"
  std::string_view name;
};

// static void* sid_1; or static float* x = NULL;
std::optional<FilePointer> pointer_in(std::string_view item) {
  Lexer tokens(item);
  if (!take(tokens, "static")) return std::nullopt;
  const Token type = tokens.next();
  for (const char* word : {"const", "volatile", "struct", "unsigned", "signed", "_Thread_local", "register"}) {
    if (type.is(word)) return std::nullopt;
  }
  if (!type.is_identifier() || !take(tokens, "*")) return std::nullopt;
  const Token name = tokens.next();
  if (!name.is_identifier()) return std::nullopt;
  if (take(tokens, "=")) {
    const Token value = tokens.next();
    if (!value.is("NULL") && value.text != "0") return std::nullopt;
  }
  if (!take(tokens, ";") || tokens.peek().kind != TokenKind::end) return std::nullopt;
  return FilePointer{std::string(type.text) + "*", name.text};
}

bool is_in_macro(std::string_view name, const AllDefinitions& macros) {
  return std::any_of(macros.begin(), macros.end(), [&](const auto& macro) {
    return std::any_of(macro.second.begin(), macro.second.end(),
                       [&](std::string_view definition) { return !places_of(definition, name).empty(); });
  });
}

}  // namespace

std::optional<EditedText> with_own_pointers(const FunctionText& entry, std::string_view entry_name,
                                            const FileScope& scope, const AllDefinitions& macros,
                                            const std::vector<const Source*>& headers) {
  const std::string_view text = entry.body.text();
  Edits edits;
  try {
    const auto function = std::find_if(scope.items.begin(), scope.items.end(), [&](const Item& item) {
      return item.kind == Item::Kind::function && item.name == entry_name;
    });
    if (function == scope.items.end()) return std::nullopt;
    // Conditions of the preprocessor may leave a pointer as it was.
    if (text.substr(function->begin, function->end - function->begin).find('#') != std::string_view::npos)
      return std::nullopt;
    const std::vector<Token> tokens = tokens_of(entry.body);
    for (const Item& item : scope.items) {
      const std::string_view all = text.substr(item.begin, item.end - item.begin);
      if (item.kind == Item::Kind::function || !all.starts_with("static")) continue;
      const auto pointer = pointer_in(all);
      if (!pointer) continue;
      const auto& [type, name] = *pointer;
      const std::vector<std::size_t> places = places_of(text, name);
      const bool is_entrys = std::all_of(places.begin(), places.end(), [&](std::size_t at) {
        return (item.begin <= at && at < item.end) || (function->begin <= at && at < function->end);
      });
      const bool is_in_header = std::any_of(headers.begin(), headers.end(), [variable = name](const Source* header) {
        return !places_of(header->text, variable).empty();
      });
      if (!is_entrys || is_in_header || is_in_macro(name, macros)) continue;
      std::size_t depth = 0;
      std::optional<std::size_t> set;
      bool is_sure = true;
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].is("{")) ++depth;
        if (tokens[i].is("}") && depth > 0) --depth;
        if (!tokens[i].is(name)) continue;
        const bool is_set =
            !set && depth == 0 && begins_statement(tokens, i) && i + 1 < tokens.size() && tokens[i + 1].is("=");
        if (is_set) {
          set = tokens[i].offset;
          while (i + 1 < tokens.size() && !tokens[i + 1].is(";")) is_sure = !tokens[++i].is(name) && is_sure;
        } else {
          is_sure = is_sure && set && !is_changed(tokens, i);
        }
      }
      if (!is_sure || !set) continue;
      edits[item.begin] = {item.end, ""};
      edits[*set] = {*set, type + " "};
    }
    return edits.empty() ? std::nullopt : replaced(text, edits);
  } catch (const SyntaxError&) {  // likewise
    return std::nullopt;
  }
}

Names static_pointers(std::string_view text, const FileScope& scope) {
  Names result;
  for (const Item& item : scope.items) {
    const std::string_view all = text.substr(item.begin, item.end - item.begin);
    if (item.kind == Item::Kind::function || !all.starts_with("static")) continue;
    try {
      if (const auto pointer = pointer_in(all)) result.emplace(pointer->name);
    } catch (const SyntaxError&) {  // told where the file is read
    }
  }
  return result;
}

bool sets_file_pointers(const FunctionText& entry) {
  try {
    const std::vector<Token> tokens = tokens_of(entry.body);
    std::map<std::string, std::size_t, std::less<>> declared;  // by name, where it is first
    for (const DeclaredName& one : declared_names(tokens)) declared.emplace(one.name, one.at);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!tokens[i].is("TVMBackendAllocWorkspace")) continue;
      std::size_t at = i;
      while (at > 0 && !begins_statement(tokens, at) && !tokens[at].is("=")) --at;
      if (at == 0 || !tokens[at].is("=")) continue;
      const auto found = declared.find(tokens[at - 1].text);
      const bool is_own = found != declared.end() && found->second < at && !is_member(tokens, at - 1);
      if (!is_own) return true;
    }
    return false;
  } catch (const SyntaxError&) {  // likewise
    return true;
  }
}

}  // namespace usmp::tvm_c
