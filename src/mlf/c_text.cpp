// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "mlf/c_text.hpp"
#include "usmp/support/number_list.hpp"
#include "usmp/support/text.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace usmp::mlf {
namespace {

constexpr std::size_t npos = std::string_view::npos;

// Of the text before a brace no more is looked at.
constexpr std::size_t max_declaration = std::size_t{1} << 16;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::size_t skip_space(std::string_view text, std::size_t from) {
  while (from < text.size() && is_space(text[from])) ++from;
  return from;
}

std::size_t find_identifier(std::string_view text, std::string_view name, std::size_t from = 0) {
  for (std::size_t at = text.find(name, from); at != npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || !is_identifier_char(text[at - 1]);
    const bool ends = at + name.size() == text.size() || !is_identifier_char(text[at + name.size()]);
    if (starts && ends) return at;
  }
  return npos;
}

// One past the literal that opens at `at`; a literal that is not closed ends with its line.
std::size_t literal_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    } else if (text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

// The end of a directive or of a comment // with its continuations.
std::size_t line_end(std::string_view text, std::size_t at) {
  for (;;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::size_t last = end;
    while (last > at && text[last - 1] == '\r') --last;
    if (end == text.size() || last == at || text[last - 1] != '\\') return end;
    at = end + 1;
  }
}

std::size_t comment_end(std::string_view text, std::size_t at) {
  if (text[at + 1] == '*') {
    const std::size_t close = text.find("*/", at + 2);
    return close == npos ? text.size() : close + 2;
  }
  return line_end(text, at);
}

// Behind the blanks, comments and line splices that begin at `from`.
std::size_t skip_gaps(std::string_view text, std::size_t from) {
  while (from < text.size()) {
    const std::string_view rest = text.substr(from, 3);
    if (is_space(rest[0]) || rest.starts_with("\\\n") || rest == "\\\r\n") {
      ++from;  // what follows a backslash is a blank
    } else if (rest.starts_with("//") || rest.starts_with("/*")) {
      from = comment_end(text, from);
    } else {
      break;
    }
  }
  return from;
}

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

// One past the bracket that closes the one at `open`; npos if none does.
std::size_t closing(std::string_view text, std::size_t open, char opener, char closer) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opener) ++depth;
    if (text[i] == closer && --depth == 0) return i + 1;
  }
  return npos;
}

// One past the bracket that closes a list of parameters, in which there may be comments; npos if none does.
std::size_t behind_parameters(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size();) {
    const std::string_view rest = text.substr(i, 2);
    if (rest == "//" || rest == "/*") {
      i = comment_end(text, i);
      continue;
    }
    if (rest[0] == '(') ++depth;
    if (rest[0] == ')' && --depth == 0) return i + 1;
    ++i;
  }
  return npos;
}

// The bracket that opens the group closed at `close`; npos if there is none.
std::size_t opening(std::string_view text, std::size_t close) {
  std::size_t depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return npos;
}

// The identifier that ends at `end` (exclusive), white space before `end` left out.
std::string_view name_before(std::string_view text, std::size_t end) {
  while (end > 0 && is_space(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_identifier_char(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

std::string without_word(std::string_view text, std::string_view word) {
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = find_identifier(text, word, from)) != npos; from = at + word.size()) {
    result += text.substr(from, at - from);
  }
  result += text.substr(from);
  return result;
}

std::string single_spaced(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!is_space(c)) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

// Attributes say how to compile the definition; a caller's declaration does without.
std::string without_attributes(std::string_view text) {
  constexpr std::string_view attribute = "__attribute__";
  std::string result;
  for (;;) {
    const std::size_t at = find_identifier(text, attribute);
    if (at == npos) break;
    const std::size_t open = skip_space(text, at + attribute.size());
    const std::size_t end = open < text.size() && text[open] == '(' ? closing(text, open, '(', ')') : npos;
    if (end == npos) break;
    result += text.substr(0, at);
    text.remove_prefix(end);
  }
  result += text;
  return result;
}

// Without macros in front of a function's name that only say where it is to be, which other files may not have:
// "int32_t " of "IRAM_ATTR int32_t ". The same text if that is not sure.
std::string without_placements(const std::string& front) {
  constexpr std::string_view types[] = {"int", "unsigned", "signed", "long", "short", "char", "void", "bool", "float"};
  std::string result;
  std::string_view rest = front;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, std::min(rest.find(' '), rest.size()));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (!std::all_of(word.begin(), word.end(), is_identifier_char) || word == "struct" || word == "enum") return front;
    const bool is_type = std::find(std::begin(types), std::end(types), word) != std::end(types) || word.ends_with("_t");
    if (is_type) result += std::string(word) + " ";
  }
  return result.empty() ? front : result;
}

// The function that `declaration`, the text before a brace, introduces; nothing if it is something else (a struct, an
// initialiser, a static helper that no other file can call).
std::optional<CFunction> function_of(std::string_view declaration) {
  std::string text = without_attributes(without_word(without_word(declaration, "TVM_DLL"), "extern"));
  std::erase(text, '"');
  text = single_spaced(text);
  if (text.empty() || text.back() != ')') return std::nullopt;
  const std::size_t open = opening(text, text.size() - 1);
  if (open == npos) return std::nullopt;
  const std::string_view name = name_before(text, open);
  const bool has_type = name.data() != text.data();
  const auto is_mentioned = [&](std::string_view word) { return mentions(text, word); };
  constexpr std::string_view linkage[] = {"static", "inline", "__STATIC_FORCEINLINE",
                                          "__STATIC_INLINE"};  // CMSIS's too
  const bool hidden = std::any_of(std::begin(linkage), std::end(linkage), is_mentioned) || text.find('=') != npos;
  if (name.empty() || !has_type || hidden) return std::nullopt;
  const auto front = static_cast<std::size_t>(name.data() - text.data());
  return CFunction{std::string(name), without_placements(text.substr(0, front)) + text.substr(front)};
}

// Those whose text ends with `end`: a brace, or a semicolon.
std::vector<CFunction> functions_in(std::string_view code, char end);

}  // namespace

namespace {

std::optional<std::string> text_without_tables(std::string_view text, const MappedFile* file, std::size_t most) {
  std::string result;
  std::size_t copied = 0;
  // Where more than `most` would be left.
  const auto limit = [&] {
    const std::size_t room = most - result.size();
    return text.size() - copied > room ? copied + room + 1 : text.size();
  };
  const auto brace = [&](std::size_t from) { return text.substr(0, std::max(from, limit())).find('{', from); };
  for (std::size_t at = brace(0); at != npos; at = brace(at)) {
    std::size_t end = ++at;
    for_numbers_behind(text, at, [&](std::string_view piece) {
      end += piece.size();
      if (file != nullptr) file->release(piece);
    });
    // A line's beginning stays one, and a comment's end.
    const std::size_t line = text.substr(at, end - at).rfind('\n');
    if (at - copied > most - result.size()) return std::nullopt;
    result += text.substr(copied, at - copied);
    copied = line == npos ? end : at + line;
    at = end;
  }
  if (text.size() - copied > most - result.size()) return std::nullopt;
  return result += text.substr(copied);
}

}  // namespace

std::string without_tables(std::string_view text) { return *text_without_tables(text, nullptr, text.size()); }

std::optional<std::string> without_tables(std::string_view text, const MappedFile& file, std::size_t most) {
  return text_without_tables(text, &file, most);
}

bool is_c_source(std::string_view name) { return ends_with_any(name, {".c", ".cc", ".cpp", ".cxx"}); }

std::string code_only(std::string_view text) {
  std::string result(text);
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '/' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '*')) {
      const std::size_t end = comment_end(text, i);
      blank(result, i, end);
      i = end;
    } else if (text[i] == '"' || text[i] == '\'') {
      const std::size_t end = literal_end(text, i);
      blank(result, i + 1, end > i + 1 && text[end - 1] == text[i] ? end - 1 : end);
      i = end;
    } else {
      ++i;
    }
  }
  return result;
}

std::vector<CFunction> functions_of_file(std::string_view text) {
  return defined_functions(code_only(without_tables(text)));
}
std::vector<CFunction> defined_functions(std::string_view code) { return functions_in(code, '{'); }
std::vector<CFunction> declared_functions(std::string_view code) { return functions_in(code, ';'); }

namespace {

std::vector<CFunction> functions_in(std::string_view code, char end) {
  std::vector<CFunction> result;
  std::string declaration;
  std::size_t depth = 0;  // of braces, not counting those of extern "C"
  bool line_start = true;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '#' && line_start) {
      i = line_end(code, i);
      declaration += ' ';
      continue;
    }
    line_start = c == '\n' || (line_start && is_space(c));
    if (depth > 0) {
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0) declaration.clear();
    } else if (c == '{') {
      const bool linkage = find_identifier(declaration, "extern") != npos && single_spaced(declaration).ends_with('"');
      if (!linkage) {
        if (auto function = end == '{' ? function_of(declaration) : std::nullopt) {
          result.push_back(*std::move(function));
        }
        depth = 1;
      }
      declaration.clear();
    } else if (c == ';' || c == '}') {
      if (auto function = c == end ? function_of(declaration) : std::nullopt) result.push_back(*std::move(function));
      declaration.clear();
    } else if (declaration.size() < max_declaration) {
      declaration += c == '\\' ? ' ' : c;  // of a line splice
    }
  }
  return result;
}

}  // namespace

namespace {

// What stands in the brackets behind a function's name, if `{` follows them.
std::optional<std::string_view> defined_behind(std::string_view text, std::size_t at) {
  const std::size_t open = skip_gaps(text, at);
  if (open >= text.size() || text[open] != '(') return std::nullopt;
  const std::size_t close = behind_parameters(text, open);
  const std::size_t brace = close == npos ? npos : skip_gaps(text, close);
  if (brace >= text.size() || text[brace] != '{') return std::nullopt;
  return text.substr(open + 1, close - open - 2);
}

}  // namespace

// A parameter list never names its own function: every search ends where the next one starts, which keeps the sum
// linear.
bool defines_ending_in(std::string_view text, std::string_view suffix) {
  for (std::size_t at = text.find(suffix); at != npos;) {
    const std::size_t next = text.find(suffix, at + suffix.size());
    if (defined_behind(text.substr(0, next), at + suffix.size())) return true;
    at = next;
  }
  return false;
}

std::optional<std::string_view> defined_parameters(std::string_view text, std::string_view name) {
  for (std::size_t at = find_identifier(text, name); at != npos;) {
    const std::size_t next = find_identifier(text, name, at + name.size());
    if (const auto parameters = defined_behind(text.substr(0, next), at + name.size())) return parameters;
    at = next;
  }
  return std::nullopt;
}

bool mentions(std::string_view text, std::string_view name) { return find_identifier(text, name) != npos; }

std::vector<std::string> included_headers(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    line.remove_prefix(skip_space(line, 0));
    if (line.empty() || line[0] != '#') continue;
    line.remove_prefix(skip_space(line, 1));
    if (!line.starts_with("include")) continue;
    line.remove_prefix(skip_space(line, std::string_view("include").size()));
    if (line.empty() || (line[0] != '"' && line[0] != '<')) continue;
    const std::size_t close = line.find(line[0] == '"' ? '"' : '>', 1);
    if (close != npos) result.emplace_back(line.substr(1, close - 1));
  }
  return result;
}

std::optional<std::vector<std::string>> struct_members(std::string_view code, std::string_view name) {
  for (std::size_t at = 0; (at = find_identifier(code, name, at)) != npos; ++at) {
    const std::size_t brace = skip_space(code, at + name.size());
    if (name_before(code, at) != "struct" || brace >= code.size() || code[brace] != '{') continue;
    const std::size_t end = std::min(code.find('}', brace), code.size());
    std::vector<std::string> members;
    for (std::size_t i = brace + 1; i < end;) {
      const std::size_t semicolon = std::min(code.find(';', i), end);
      const std::string_view member = name_before(code, semicolon);
      if (semicolon < end && !member.empty()) members.emplace_back(member);
      i = semicolon + 1;
    }
    return members;
  }
  return std::nullopt;
}

std::map<std::string, Bytes, std::less<>> number_macros(std::string_view code) {
  constexpr std::string_view define = "define";
  std::map<std::string, Bytes, std::less<>> result;
  for (std::size_t at = 0; (at = find_identifier(code, define, at)) != npos;) {
    const std::size_t name_begin = skip_space(code, at + define.size());
    std::size_t name_end = name_begin;
    while (name_end < code.size() && is_identifier_char(code[name_end])) ++name_end;
    const std::size_t value_begin = skip_space(code, name_end);
    Bytes value = 0;
    const auto [end, fault] = std::from_chars(code.data() + value_begin, code.data() + code.size(), value);
    const bool whole = end == code.data() + code.size() || is_space(*end);
    if (fault == std::errc() && whole && value >= 0)
      result.emplace(code.substr(name_begin, name_end - name_begin), value);
    at = name_end;
  }
  return result;
}

}  // namespace usmp::mlf
