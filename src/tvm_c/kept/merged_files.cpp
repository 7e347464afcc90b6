// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares names, types and macros of files whose code comes into one.
#include "tvm_c/kept/merged_files.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/places.hpp"
#include "usmp/c/preprocessor.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

std::string_view text_of_item(const Item& item, std::span<const Source> files) {
  return files[item.file].text.substr(item.begin, item.end - item.begin);
}

std::vector<Token> all_tokens(std::string_view text) {
  std::vector<Token> result;
  Lexer tokens(text);
  tokens.pass_over_conditions();
  for (Token token = tokens.next(); token.kind != TokenKind::end; token = tokens.next()) result.push_back(token);
  return result;
}

// What the declaration of a type declares: "struct point" and "point_t", and enumerators.
std::vector<std::string> declared_by_type(std::string_view declaration) {
  std::vector<std::string> names;
  const std::vector<Token> tokens = all_tokens(declaration);
  std::size_t depth = 0;
  std::vector<bool> are_enumerators;  // in the braces that are open
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool is_record = token.is("struct") || token.is("union") || token.is("enum");
    if (is_record && i + 2 < tokens.size() && tokens[i + 1].is_identifier() && tokens[i + 2].is("{")) {
      names.push_back("struct " + std::string(tokens[i + 1].text));
    }
    if (token.is("{")) {
      ++depth;
      are_enumerators.push_back((i > 0 && tokens[i - 1].is("enum")) || (i > 1 && tokens[i - 2].is("enum")));
    } else if (token.is("}") && depth > 0) {
      --depth;
      are_enumerators.pop_back();
    } else if (depth > 0 && are_enumerators.back() && token.is_identifier()) {
      if (tokens[i - 1].is("{") || tokens[i - 1].is(",")) names.emplace_back(token.text);
    }
  }
  if (!tokens.empty() && tokens[0].is("typedef")) {
    for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
      if (tokens[i].is("{")) ++depth;
      if (tokens[i].is("}") && depth > 0) --depth;
      const bool is_name =
          depth == 0 && tokens[i].is_identifier() &&
          (tokens[i + 1].is(";") || tokens[i + 1].is("[") || (tokens[i - 1].is("*") && tokens[i + 1].is(")")));
      if (is_name) names.emplace_back(tokens[i].text);
    }
  }
  return names;
}

// In a conditional group, but for those that are around all of a header.
bool is_conditional(std::size_t at, const Code& file) {
  std::size_t depth = 0;
  for (const Directive& one : directives_in(file, 0, at)) {
    if (opens_group(one.word)) ++depth;
    if (one.word == "endif" && depth > 0) --depth;
  }
  return depth > 0;
}

bool is_read_once(const Code& header) {
  const auto directives = directives_in(header);
  return c::include_guard(header.lexed->tokens).has_value() ||
         std::ranges::any_of(directives,
                             [](const Directive& one) { return one.word == "pragma" && one.rest == "once"; });
}

// Whether it has more than prototypes and macros. What is no header by its name may be part of a list.
bool may_not_be_read_twice(const std::string& name, const Code& header) {
  return ends_with_any(name, {".h", ".hh", ".hpp"}) && !is_read_once(header) &&
         std::ranges::any_of(header.lexed->tokens,
                             [](const Token& token) { return token.is("{") || token.is("=") || token.is("typedef"); });
}

// Those of directives, too; not in comments and literals.
Names identifiers_in(const Code& code) {
  Names result;
  bool is_word = false;  // of a directive
  for (const Token& token : code.lexed->tokens) {
    if (token.is_identifier() && !is_word) result.emplace(token.text);
    is_word = token.begins_line && token.is("#");
  }
  return result;
}

using AllMacros = std::map<std::string_view, std::vector<std::string_view>, std::less<>>;

// What each of the files whose texts follow one another has from headers.
class Order {
 public:
  Order(const std::map<std::size_t, std::string>& texts, std::span<const Source> files, const Included& included)
      : texts_(texts), files_(files), included_(included) {}

  void check() {
    for (const auto& [file, text] : texts_) macros_.emplace(file, included_.all_definitions(file));
    for (auto next = texts_.begin(); next != texts_.end(); ++next) {
      for (auto front = texts_.begin(); front != next; ++front) {
        check_mentioned(front->first, next->first);
        check_shared(front->first, next->first);
        check_guards(front->first, next->first);
      }
    }
  }

 private:
  // A macro of the file in front, or of its headers, in the next file and its headers.
  void check_mentioned(std::size_t front, std::size_t next) {
    Names mentioned = identifiers_in(split(texts_.at(next)));
    for (const std::size_t header : included_.headers_of(next)) mentioned.merge(Names(identifiers_of(header)));
    for (const auto& [name, definitions] : macros_.at(front)) {
      if (mentioned.contains(name)) require_same(name, front, next);
    }
  }

  // A header that both include is read once, as the one in front has it.
  void check_shared(std::size_t front, std::size_t next) {
    const std::vector<std::size_t> headers = included_.headers_of(front);
    for (const std::size_t header : included_.headers_of(next)) {
      if (std::find(headers.begin(), headers.end(), header) == headers.end()) continue;
      for (const std::string& name : identifiers_of(header)) {
        if (macros_.at(next).contains(name)) require_same(name, front, next);
      }
    }
    const auto includes = [&](std::size_t file) {
      std::vector<std::string_view> names;
      for (const Macros::Include& include : included_.macros(file).includes()) names.push_back(include.name);
      return names;
    };
    if (headers.empty() || includes(front) == includes(next)) return;
    for (const auto& [name, definitions] : macros_.at(next)) {  // the last one, or the first, counts
      const auto other = [first = definitions.front()](std::string_view one) { return one != first; };
      const bool is_one = std::none_of(definitions.begin(), definitions.end(), other);
      if (!is_one && macros_.at(front).contains(name) && defined_by(name, headers) > 1) fail(name, front, next);
    }
  }

  // A header that both include needs a guard, and one that only the next includes needs another than those in front.
  void check_guards(std::size_t front, std::size_t next) const {
    const std::set<std::size_t>& before = included_.closed(front);
    for (const std::size_t header : included_.closed(next)) {
      if (header == next) continue;
      const Code& code = included_.code(header);
      const std::string& name = included_.name(header);
      if (before.contains(header)) {
        if (!may_not_be_read_twice(name, code)) continue;
        throw Error(ErrorKind::archive, {{}, files_[next].name, {}},
                    "includes " + in_quotes(name) + ", as " + files_[front].name +
                        " does, expected '#pragma once' or an include guard there: both files' code comes into one "
                        "file");
      }
      const auto guard = c::include_guard(code.lexed->tokens);
      if (!guard || !macros_.at(front).contains(*guard)) continue;
      throw Error(ErrorKind::archive, {{}, files_[next].name, {}},
                  "includes " + in_quotes(name) + ", whose include guard " + in_quotes(*guard) + " " +
                      files_[front].name +
                      " or a header of its defines, too, expected another name: both files' code comes into one file");
    }
  }

  [[nodiscard]] std::size_t defined_by(std::string_view name, const std::vector<std::size_t>& headers) {
    return static_cast<std::size_t>(std::count_if(headers.begin(), headers.end(), [&](std::size_t header) {
      return !included_.macros(header).definitions(name).empty();
    }));
  }

  void require_same(std::string_view name, std::size_t front, std::size_t next) const {
    if (is_static_word(name) || name == "TVM_DLL") return;
    const auto one = macros_.at(front).find(name);
    const auto other = macros_.at(next).find(name);
    const bool has_both = one != macros_.at(front).end() && other != macros_.at(next).end();
    if (!has_both || one->second != other->second) fail(name, front, next);
  }

  [[noreturn]] void fail(std::string_view name, std::size_t front, std::size_t next) const {
    throw Error(ErrorKind::archive, {{}, files_[next].name, {}},
                "uses " + in_quotes(name) + ", a macro that " + files_[front].name +
                    " or a header of its defines otherwise, expected a name of its own, or the same #include and "
                    "#define lines in both: both files' code comes into one file");
  }

  const Names& identifiers_of(std::size_t header) {
    const auto [known, is_new] = identifiers_.try_emplace(header);
    if (is_new) known->second = identifiers_in(included_.code(header));
    return known->second;
  }

  const std::map<std::size_t, std::string>& texts_;
  std::span<const Source> files_;
  const Included& included_;
  std::map<std::size_t, AllMacros> macros_;   // by file, with headers
  std::map<std::size_t, Names> identifiers_;  // of headers
};

struct DeclaredType {
  std::size_t file = 0;
  std::size_t offset = 0;
  std::string_view text;
  bool is_conditional = false;
  std::size_t item = 0;  // without a condition
};

// Up to #else or #elif.
std::string_view first_part(std::string_view group) {
  std::size_t depth = 0;
  for (const Directive& one : directives_in(group)) {
    if (opens_group(one.word)) {
      ++depth;
    } else if (one.word == "endif" && depth > 0) {
      --depth;
    } else if (belongs_to_group(one.word) && depth == 0) {
      return group.substr(0, one.begin);
    }
  }
  return group;
}

// Also in groups that are left out here.
std::vector<DeclaredType> types_of(const std::set<std::size_t>& kept_files, const FileScope& scope,
                                   std::span<const Source> files) {
  std::vector<DeclaredType> result;
  for (std::size_t i = 0; i < scope.items.size(); ++i) {
    const Item& item = scope.items[i];
    if (item.kind != Item::Kind::other || item.is_variable || !kept_files.contains(item.file)) continue;
    const bool is_in_group = is_conditional(item.begin, scope.code.at(item.file));
    result.push_back({item.file, item.begin, text_of_item(item, files), is_in_group, i});
  }
  for (const auto& [file, names] : scope.left_out) {
    if (!kept_files.contains(file)) continue;
    std::set<std::size_t> groups;
    for (const auto& [name, begin] : names) groups.insert(begin);
    for (const std::size_t begin : groups) {
      const std::string_view text = first_part(text_of_group(scope.code.at(file), begin));
      FileScope group;
      try {
        read_file_scope(split(text), 0, true, group, {}, nullptr, false);
      } catch (const SyntaxError&) {  // a part of something else
        continue;
      }
      for (const Item& item : group.items) {
        if (item.kind != Item::Kind::other || item.is_variable) continue;
        result.push_back({file, begin + item.begin, text.substr(item.begin, item.end - item.begin), true});
      }
    }
  }
  return result;
}

}  // namespace

std::string_view text_of_group(const Code& code, std::size_t begin) {
  std::size_t depth = 0;
  for (const Directive& one : directives_in(code, begin)) {
    if (opens_group(one.word)) ++depth;
    if (one.word != "endif") continue;
    if (depth == 0) return code.text.substr(begin, one.begin - begin);
    --depth;
  }
  return code.text.substr(begin);
}

bool is_static_word(std::string_view name) {
  constexpr std::array<std::string_view, 3> names = {"__STATIC_INLINE", "__STATIC_FORCEINLINE", "__INLINE"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

void require_one_text(const Item& first, const Item& second, std::span<const Source> files) {
  if (text_of_item(first, files) == text_of_item(second, files)) return;
  throw Error(ErrorKind::archive, {{}, files[second.file].name, {}},
              "defines " + in_quotes(second.name) + " otherwise than " + files[first.file].name +
                  ", expected one of that name in code that stays as it is");
}

std::set<std::size_t> repeated_types(const std::set<std::size_t>& kept_files, const FileScope& scope,
                                     std::span<const Source> files) {
  std::set<std::size_t> repeated;
  if (kept_files.size() < 2) return repeated;
  const std::vector<DeclaredType> types = types_of(kept_files, scope, files);
  std::map<std::string, const DeclaredType*, std::less<>> known;
  for (const DeclaredType& type : types) {
    for (const std::string& name : declared_by_type(type.text)) {
      const auto [first, is_new] = known.emplace(name, &type);
      if (is_new || first->second->file == type.file) continue;
      const DeclaredType& other = *first->second;
      const bool stay = type.is_conditional || other.is_conditional;  // both, and of what has braces only one may
      if (other.text != type.text || (stay && type.text.find('{') != std::string_view::npos)) {
        throw Error(ErrorKind::archive, {{}, files[type.file].name, place_in(files[type.file], type.offset)},
                    "declares " + in_quotes(name) + (stay ? " under other conditions than " : " otherwise than ") +
                        files[other.file].name +
                        ", expected one type or constant of that name: both files' code comes into one file");
      }
      if (!stay) repeated.insert(type.item);
    }
  }
  return repeated;
}

void require_own_macros(const std::map<std::size_t, std::string>& texts, std::span<const Source> files,
                        const Included& included) {
  Order(texts, files, included).check();
}

}  // namespace usmp::tvm_c
