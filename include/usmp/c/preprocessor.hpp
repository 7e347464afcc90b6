// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Macros, conditions and includes (C11 6.10), where what is defined outside of the files is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/c/lexer.hpp"
#include "usmp/c/token.hpp"

namespace usmp::c {

// Files by index; each is split into tokens once. A value that is not copied: tokens are views into it.
class Files {
 public:
  Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  std::uint32_t add(File file);
  [[nodiscard]] std::size_t size() const { return files_.size(); }
  [[nodiscard]] const File& operator[](std::uint32_t index) const { return files_[index].file; }
  // Throws SyntaxError, as lex().
  [[nodiscard]] const std::vector<Token>& tokens(std::uint32_t index);

 private:
  struct Entry {
    File file;
    std::optional<Lexed> lexed;
  };
  std::deque<Entry> files_;
};

struct Macro {
  std::string_view name;
  std::uint32_t file = 0;
  std::uint32_t offset = 0;  // of its name in #define
  bool is_function = false;
  bool is_variadic = false;  // its last parameter takes all further arguments
  std::vector<std::string_view> params;
  std::vector<Token> body;
};

// What a name may stand for at a place.
struct MacroState {
  std::vector<const Macro*> definitions;  // of the files, in order
  bool may_be_undefined = false;
  bool may_be_foreign = false;  // the compiler, the command line or a missing header may define it, or not
  [[nodiscard]] bool is_sure() const { return definitions.size() == 1 && !may_be_undefined; }
};

// A macro that is expanded, or an argument of one.
struct Expansion {
  const Macro* macro = nullptr;
  std::uint32_t file = 0;  // where its name stands
  std::uint32_t offset = 0;
  std::uint32_t parent = 0;  // of the name: Unit::expansions; 0: it stands in the file
};

// What is left out of a file, for certain: between a directive and the next one of its group.
struct LeftOut {
  std::uint32_t file = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// A condition of #if, #ifdef, #ifndef or #elif that is known. Behind a part that is taken, #elif counts as one that
// does not hold.
struct Condition {
  std::uint32_t file = 0;
  std::uint32_t offset = 0;  // of the directive
  bool holds = false;
};

struct Include {
  std::uint32_t file = 0;  // that has the directive
  std::uint32_t offset = 0;
  std::string name;  // empty: it is not known
  bool is_quoted = false;
  std::optional<std::uint32_t> found;
};

// A line #pragma, which is none of the tokens.
struct Pragma {
  std::size_t at = 0;         // tokens of the unit that stand in front
  std::vector<Token> tokens;  // behind the word, of which no macro is expanded
};

struct Unit {
  std::vector<Token> tokens;                      // `end` is the last
  std::vector<Expansion> expansions;              // the first stands for none
  std::map<std::string_view, MacroState> macros;  // behind the last line; names that the files define
  std::vector<LeftOut> left_out;
  std::vector<Include> includes;
  std::vector<Condition> conditions;
  std::vector<Pragma> pragmas;  // but of parts that are left out

  std::deque<Macro> definitions;  // that the others point to
  std::deque<std::string> texts;  // that # and ## make
};

// Where the token stands in a file: one that a macro makes, at the macro's name there. O(expansions inside each other).
struct Position {
  std::uint32_t file = 0;
  std::uint32_t offset = 0;
};
[[nodiscard]] Position position_of(const Unit& unit, const Token& token);

// Beyond them SyntaxError.
inline constexpr std::size_t most_included = 200;        // files inside each other
inline constexpr std::size_t most_inclusions = 10'000;   // of files, in all
inline constexpr std::size_t most_arguments_deep = 100;  // calls of macros in arguments of each other

struct Environment {
  // The file that #include "name" or <name> in the file means; nothing: it is not here.
  std::function<std::optional<std::uint32_t>(std::string_view name, bool is_quoted, std::uint32_t file)> include;
  // Whether no compiler, command line or missing header defines the name. Null: only of __cplusplus.
  std::function<bool(std::string_view name)> is_undefined;
  // Names whose definitions do not count: they stay as they are. Null: none.
  std::function<bool(std::string_view name)> stays;
  std::size_t most_expanded = 4'000'000;  // tokens that macros make, in all; beyond them SyntaxError
  // Whether calls of the macro stay as they are, like those of a function. Null: of none.
  std::function<bool(const Macro& macro)> calls_stay;
};

// NAME of ifndef NAME, if !defined(NAME) or if !defined NAME, the tokens of a directive behind its '#'; empty: it asks
// for something else.
[[nodiscard]] std::string_view asked_undefined(std::span<const Token> line);

// NAME, of a file that is all in #ifndef NAME or #if !defined(NAME), #define NAME … #endif.
[[nodiscard]] std::optional<std::string_view> include_guard(const std::vector<Token>& tokens);

// The file with what it includes. Groups whose condition depends on a name that somebody else may define stay, with all
// their parts, between tokens `group`; what they define is not sure, and stays unexpanded (TokenKind::opaque). A file
// that has an include_guard() is included once.
//
// Throws SyntaxError: as lex(), directives and calls of macros that C does not allow, or that compilers do not agree
// on. O(tokens that are read and made · log macros).
[[nodiscard]] Unit preprocess(Files& files, std::uint32_t file, const Environment& environment);

}  // namespace usmp::c
