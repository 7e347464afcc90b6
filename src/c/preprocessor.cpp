// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Directives of files: what is read of conditional groups, definitions, includes. Macros are expanded in expander.cpp.
#include "usmp/c/preprocessor.hpp"

#include <algorithm>
#include <utility>

#include "c/expander.hpp"
#include "c/fail.hpp"
#include "c/macro_table.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/c/parser.hpp"

namespace usmp::c {

std::uint32_t Files::add(File file) {
  files_.push_back({std::move(file), std::nullopt});
  return static_cast<std::uint32_t>(files_.size() - 1);
}

const std::vector<Token>& Files::tokens(std::uint32_t index) {
  Entry& entry = files_[index];
  if (!entry.lexed) entry.lexed = lex(entry.file, index);
  return entry.lexed->tokens;
}

namespace {

// Where the next line begins; `end` begins one.
std::size_t behind_line(const std::vector<Token>& tokens, std::size_t at) {
  do {
    ++at;
  } while (!tokens[at].begins_line);
  return at;
}

bool is_directive(const Token& token) { return token.begins_line && token.is("#"); }

enum class Truth : std::uint8_t { no, yes, unknown };

class Preprocessor final : public TokenSource {
 public:
  Preprocessor(Files& files, const Environment& environment)
      : files_(files), environment_(environment), macros_(environment), expander_(unit_, macros_) {
    unit_.expansions.emplace_back();
  }

  Unit run(std::uint32_t file) {
    enter(file);
    while (!open_.empty()) step();
    Token end;
    end.file = file;
    end.offset = static_cast<std::uint32_t>(files_[file].text.size());
    unit_.tokens.push_back(end);
    unit_.macros = macros_.all();
    return std::move(unit_);
  }

  // The next token of the text that is open, for the arguments of a macro; nothing: a directive, or the file's end.
  std::optional<Token> take() override {
    OpenFile& file = open_.back();
    const Token& token = (*file.tokens)[file.at];
    if (token.kind == TokenKind::end || is_directive(token)) return std::nullopt;
    ++file.at;
    return token;
  }
  [[nodiscard]] std::optional<Token> peek() const override {
    const OpenFile& file = open_.back();
    const Token& token = (*file.tokens)[file.at];
    if (token.kind == TokenKind::end || is_directive(token)) return std::nullopt;
    return token;
  }
  // Whether, behind directives, a bracket stands there: compilers do not agree on what a macro's name in front means.
  [[nodiscard]] bool has_bracket_behind_directives() const override {
    const OpenFile& file = open_.back();
    std::size_t at = file.at;
    while (is_directive((*file.tokens)[at])) at = behind_line(*file.tokens, at);
    return (*file.tokens)[at].is("(");
  }

 private:
  // A conditional group that is open.
  struct Group {
    std::size_t file = 0;  // that it is in: how many are open
    bool has_else = false;
    bool is_taken = false;       // a part was
    bool is_open_ended = false;  // of which parts are taken is not known: all are read
    Token begin;
  };
  struct OpenFile {
    std::uint32_t file = 0;
    const std::vector<Token>* tokens = nullptr;
    std::size_t at = 0;
  };

  void enter(std::uint32_t file) {
    const std::vector<Token>& tokens = files_.tokens(file);
    open_.push_back({file, &tokens, 0});
    // The name that guards the file is no one else's.
    if (const auto guard = include_guard(tokens)) macros_.set_undefined_outside(*guard);
  }

  void step() {
    OpenFile& file = open_.back();
    const Token& token = (*file.tokens)[file.at];
    if (token.kind == TokenKind::end) return leave();
    if (is_directive(token)) return directive();
    ++file.at;
    expander_.expand(token, *this, unit_.tokens);
  }

  void leave() {
    if (!groups_.empty() && groups_.back().file == open_.size()) {
      fail_at(groups_.back().begin, "the conditional group does not end, expected #endif");
    }
    open_.pop_back();
  }

  // The tokens of the directive's line, behind its '#'; the file goes on behind it.
  std::vector<Token> take_line() {
    OpenFile& file = open_.back();
    const std::size_t end = behind_line(*file.tokens, file.at);
    const auto first = file.tokens->begin() + static_cast<std::ptrdiff_t>(file.at);
    std::vector<Token> line(first + 1, file.tokens->begin() + static_cast<std::ptrdiff_t>(end));
    file.at = end;
    return line;
  }

  void directive() {
    const Token hash = (*open_.back().tokens)[open_.back().at];
    const std::vector<Token> line = take_line();
    if (line.empty()) return;
    const std::string_view word = line[0].text;
    if (word == "if" || word == "ifdef" || word == "ifndef") return open_group(hash, line);
    if (word == "elif" || word == "else") return next_part(hash, line);
    if (word == "endif") return close_group(hash);
    if (word == "define") return define(line);
    if (word == "undef") {
      if (line.size() != 2 || !line[1].is_identifier()) fail_at(line[0], "found #undef, expected one name behind it");
      macros_.undefine(line[1].text);
      return;
    }
    if (word == "include" || word == "include_next" || word == "import") return include(line);
    if (word == "pragma") {
      if (line.size() > 1 && line[1].is("once")) once_.insert(open_.back().file);
      if (line.size() > 1 && (line[1].is("pop_macro") || line[1].is("push_macro")))
        fail_at(line[0], "found pop_macro or push_macro, expected macros that only #define and #undef change");
      unit_.pragmas.push_back({unit_.tokens.size(), {line.begin() + 1, line.end()}});
    }
    // #error, #warning, #line and others: nothing that is read depends on them.
  }

  // Conditions.

  Truth truth_of(const std::vector<Token>& line) {
    if (line[0].is("ifdef") || line[0].is("ifndef")) {
      if (line.size() < 2 || !line[1].is_identifier())
        fail_at(line[0], "found #" + std::string(line[0].text) + ", expected a name behind it");
      const Truth defined = is_defined(line[1].text);
      if (defined == Truth::unknown || line[0].is("ifdef")) return defined;
      return defined == Truth::yes ? Truth::no : Truth::yes;
    }
    return value_of(line);
  }

  Truth is_defined(std::string_view name) const {
    switch (macros_.defined(name)) {
      case MacroTable::Defined::yes:
        return Truth::yes;
      case MacroTable::Defined::no:
        return Truth::no;
      default:
        return Truth::unknown;
    }
  }

  Truth value_of(const std::vector<Token>& line) {
    std::vector<Token> tokens;
    for (std::size_t i = 1; i < line.size(); ++i) {
      if (!line[i].is("defined")) {
        tokens.push_back(line[i]);
        continue;
      }
      const bool has_bracket = i + 1 < line.size() && line[i + 1].is("(");
      const std::size_t name = i + (has_bracket ? 2 : 1);
      if (name >= line.size() || !line[name].is_identifier() ||
          (has_bracket && (name + 1 >= line.size() || !line[name + 1].is(")"))))
        fail_at(line[i], "found defined, expected a name behind it");
      Token number = line[i];
      const Truth truth = is_defined(line[name].text);
      number.kind = truth == Truth::unknown ? TokenKind::opaque : TokenKind::number;
      number.text = truth == Truth::yes ? "1" : "0";
      tokens.push_back(number);
      i = name + (has_bracket ? 1 : 0);
    }
    std::vector<Token> expanded = expander_.expand_all(tokens);
    for (Token& token : expanded) {
      // What is not known becomes a name that has no value.
      if (token.kind == TokenKind::opaque) {
        token.kind = TokenKind::identifier;
        token.text = "?";
      } else if (token.is("defined")) {
        return Truth::unknown;  // that a macro makes, which compilers do not agree on
      }
    }
    expanded.emplace_back();
    const auto parsed = parse_expression(expanded);
    if (!parsed) return Truth::unknown;  // __has_include(<…>) and others
    const auto value =
        condition_value(parsed->tree, parsed->root, [&](std::string_view name) -> std::optional<std::int64_t> {
          const bool is_zero = name != "?" && macros_.defined(name) == MacroTable::Defined::no;
          return is_zero ? std::optional<std::int64_t>(0) : std::nullopt;
        });
    return !value ? Truth::unknown : value->value != 0 ? Truth::yes : Truth::no;
  }

  Truth note(const Token& hash, Truth truth) {
    if (truth != Truth::unknown) unit_.conditions.push_back({hash.file, hash.offset, truth == Truth::yes});
    return truth;
  }

  void open_group(const Token& hash, const std::vector<Token>& line) {
    const Truth truth = note(hash, truth_of(line));
    groups_.push_back({.file = open_.size(), .begin = hash});
    if (truth == Truth::no) return skip();
    read_part(hash, truth);
  }

  Group& current(const Token& hash, std::string_view word) {
    if (groups_.empty() || groups_.back().file != open_.size())
      fail_at(hash, "found #" + std::string(word) + " without #if");
    return groups_.back();
  }

  // The part behind the directive is read.
  void read_part(const Token& hash, Truth truth) {
    Group& group = groups_.back();
    if (group.is_open_ended) {
      mark(hash, truth == Truth::yes ? "else" : "elif");
    } else if (truth == Truth::unknown) {
      group.is_open_ended = true;
      mark(hash, "if");
      macros_.open_alternatives();
    }
    group.is_taken = truth == Truth::yes;  // of an open-ended one: one of the parts so far is
  }

  // Whether the part behind #elif or #else is read.
  bool begins_part(const Token& hash, const std::vector<Token>& line) {
    Group& group = groups_.back();
    if (group.has_else) fail_at(hash, "found #" + std::string(line[0].text) + " behind #else");
    group.has_else = line[0].is("else");
    if (group.is_taken) {
      if (!group.has_else) note(hash, Truth::no);
      return false;
    }
    const Truth truth = group.has_else ? Truth::yes : note(hash, value_of(line));
    if (truth == Truth::no) return false;
    read_part(hash, truth);
    return true;
  }

  // #elif or #else, where a part in front of it has been read.
  void next_part(const Token& hash, const std::vector<Token>& line) {
    if (!current(hash, line[0].text).is_taken) macros_.next_alternative();
    if (!begins_part(hash, line)) skip();
  }

  void close_group(const Token& hash) {
    const Group group = current(hash, "endif");
    groups_.pop_back();
    if (!group.is_open_ended) return;
    macros_.close_alternatives(group.is_taken);
    mark(hash, "endif");
  }

  void mark(const Token& hash, std::string_view word) {
    Token token = hash;
    token.kind = TokenKind::group;
    token.text = word;
    unit_.tokens.push_back(token);
  }

  // To the part that is read, or to the group's #endif.
  void skip() {
    OpenFile& file = open_.back();
    const std::vector<Token>& tokens = *file.tokens;
    const auto begin = static_cast<std::uint32_t>(tokens[file.at].offset);
    std::size_t depth = 0;
    while (true) {
      while (tokens[file.at].kind != TokenKind::end && !is_directive(tokens[file.at])) ++file.at;
      if (tokens[file.at].kind == TokenKind::end)
        fail_at(groups_.back().begin, "the conditional group does not end, expected #endif");
      const Token hash = tokens[file.at];
      const std::vector<Token> line = take_line();
      const std::string_view word = line.empty() ? std::string_view() : line[0].text;
      if (word == "if" || word == "ifdef" || word == "ifndef") ++depth;
      if (depth > 0) {
        if (word == "endif") --depth;
        continue;
      }
      if (word != "endif" && word != "else" && word != "elif") continue;
      if (word != "endif" && !begins_part(hash, line)) continue;
      left_out(hash, begin);
      if (word == "endif") close_group(hash);
      return;
    }
  }

  void left_out(const Token& hash, std::uint32_t begin) {
    if (begin < hash.offset) unit_.left_out.push_back({hash.file, begin, hash.offset});
  }

  // Definitions.

  void define(const std::vector<Token>& line) {
    if (line.size() < 2 || !line[1].is_identifier()) fail_at(line[0], "found #define, expected a name behind it");
    Macro macro;
    macro.name = line[1].text;
    macro.file = line[1].file;
    macro.offset = line[1].offset;
    std::size_t at = 2;
    if (at < line.size() && line[at].is("(") && !line[at].has_gap) at = params(line, macro);
    macro.body.assign(line.begin() + static_cast<std::ptrdiff_t>(at), line.end());
    if (!macro.body.empty()) macro.body[0].has_gap = false;
    check_operators(macro);
    if (environment_.stays && environment_.stays(macro.name)) return;
    unit_.definitions.push_back(std::move(macro));
    macros_.define(unit_.definitions.back());
  }

  // From the bracket on; behind the one that closes it.
  static std::size_t params(const std::vector<Token>& line, Macro& macro) {
    macro.is_function = true;
    std::size_t at = 3;
    const auto is = [&](std::string_view text) { return at < line.size() && line[at].is(text); };
    if (is(")")) return at + 1;
    while (true) {
      if (is("...")) {
        macro.is_variadic = true;
        macro.params.emplace_back("__VA_ARGS__");
        ++at;
      } else if (at < line.size() && line[at].is_identifier()) {
        macro.params.push_back(line[at++].text);
        if (is("...")) {  // GCC's args...
          macro.is_variadic = true;
          ++at;
        }
      } else {
        fail_at(line[0], "found #define, expected a list of parameters");
      }
      if (is(")")) return at + 1;
      if (!is(",") || macro.is_variadic) fail_at(line[0], "found #define, expected a list of parameters");
      ++at;
    }
  }

  static void check_operators(const Macro& macro) {
    const std::vector<Token>& body = macro.body;
    if (!body.empty() && (body.front().is("##") || body.back().is("##")))
      fail_at(body.front(), "found ## at an end of a macro, expected it between two tokens");
    for (std::size_t i = 0; macro.is_function && i < body.size(); ++i) {
      if (!body[i].is("#")) continue;
      const bool is_param = i + 1 < body.size() &&
                            std::find(macro.params.begin(), macro.params.end(), body[i + 1].text) != macro.params.end();
      if (!is_param) fail_at(body[i], "found # in a macro, expected a parameter behind it");
    }
  }

  // Includes.

  void include(const std::vector<Token>& line) {
    Include result;
    result.file = line[0].file;
    result.offset = line[0].offset;
    std::vector<Token> name(line.begin() + 1, line.end());
    if (!name.empty() && name[0].is_identifier()) name = expander_.expand_all(name);
    if (!name.empty() && name[0].kind == TokenKind::string) {
      result.is_quoted = true;
      result.name = name[0].text.substr(1, name[0].text.size() - 2);
    } else if (!name.empty() && name[0].is("<")) {
      const std::string_view text = files_[name[0].file].text;
      const std::size_t end =
          name[0].expansion == 0 ? text.find_first_of(">\n", name[0].offset) : std::string_view::npos;
      if (end != std::string_view::npos && text[end] == '>')
        result.name = text.substr(name[0].offset + 1, end - name[0].offset - 1);
    }
    if (!result.name.empty() && environment_.include && line[0].is("include")) {
      result.found = environment_.include(result.name, result.is_quoted, result.file);
    }
    const auto found = result.found;
    unit_.includes.push_back(std::move(result));
    if (!found || once_.contains(*found)) return;
    if (open_.size() >= most_included)
      fail_at(line[0], "found #include more than " + std::to_string(most_included) + " deep");
    if (++inclusions_ > most_inclusions)
      fail_at(line[0], "found more than " + std::to_string(most_inclusions) + " inclusions of files");
    enter(*found);
  }

  Files& files_;
  const Environment& environment_;
  Unit unit_;
  MacroTable macros_;
  Expander expander_;
  std::vector<OpenFile> open_;
  std::vector<Group> groups_;
  std::set<std::uint32_t> once_;
  std::size_t inclusions_ = 0;
};

}  // namespace

std::string_view asked_undefined(std::span<const Token> line) {
  const auto is = [&](std::size_t at, std::string_view text) { return at < line.size() && line[at].is(text); };
  if (is(0, "ifndef")) return line.size() == 2 ? line[1].text : std::string_view();
  if (!is(0, "if") || !is(1, "!") || !is(2, "defined")) return {};
  if (line.size() == 4) return line[3].text;
  return line.size() == 6 && is(3, "(") && is(5, ")") ? line[4].text : std::string_view();
}

std::optional<std::string_view> include_guard(const std::vector<Token>& tokens) {
  const auto is = [&](std::size_t at, std::string_view text) { return at < tokens.size() && tokens[at].is(text); };
  if (!is_directive(tokens[0])) return std::nullopt;
  const std::size_t define = behind_line(tokens, 0);
  const std::string_view name = asked_undefined(std::span(tokens).subspan(1, define - 1));
  if (name.empty() || !is(define, "#") || !is(define + 1, "define") || !is(define + 2, name)) return std::nullopt;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (!is_directive(tokens[at])) continue;
    const Token& word = tokens[at + 1];
    if (word.is("if") || word.is("ifdef") || word.is("ifndef")) ++depth;
    if (word.is("endif") && --depth == 0) return at + 3 == tokens.size() ? std::optional(name) : std::nullopt;
    if (depth == 1 && (word.is("else") || word.is("elif"))) return std::nullopt;
  }
  return std::nullopt;
}

Position position_of(const Unit& unit, const Token& token) {
  Position place{token.file, token.offset};
  for (std::uint32_t i = token.expansion; i != 0; i = unit.expansions[i].parent) {
    place = {unit.expansions[i].file, unit.expansions[i].offset};
  }
  return place;
}

Unit preprocess(Files& files, std::uint32_t file, const Environment& environment) {
  return Preprocessor(files, environment).run(file);
}

}  // namespace usmp::c
