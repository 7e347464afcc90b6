// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Preprocesses and parses each text with its headers, and compares the declarations of each two.
#include "tvm_c/kept/own_names.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/kept/merged_files.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/macros.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/c/preprocessor.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

enum class Meaning : std::uint8_t { type, function, variable, unknown };

// What a file and its headers say of a name.
struct Declared {
  Meaning meaning = Meaning::unknown;
  bool is_internal = false;  // static; of what is not known whether it is, a variable is taken to be
  bool is_constant = false;
  bool has_static = false;        // in the function's body
  std::string tokens;             // of the definition
  std::set<std::size_t> sources;  // that declare it: files and headers
};

// "pack(push,1)" of #pragma or _Pragma, without blanks: whether packing goes on behind them.
bool is_open_ended(const std::vector<std::string>& pragmas) {
  std::size_t pushed = 0;
  bool is_packed = false;
  for (const std::string_view words : pragmas) {
    if (words.starts_with("pack(push")) {
      ++pushed;
    } else if (words.starts_with("pack(pop")) {
      if (pushed > 0) --pushed;
    } else if (words.starts_with("pack") && pushed == 0) {
      is_packed = !words.starts_with("pack()");
    }
  }
  return is_packed || pushed > 0;
}

std::string words_of(std::string_view text) {
  std::string words;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\r' && c != '"') words += c;
  }
  return words;
}

bool is_constant(const c::Tree& tree, c::TypeId type) {
  while (tree[type].kind == c::TypeKind::array) type = tree[type].of;
  return tree[type].is_const;
}

// What one text declares, with its headers.
class Declarations {
 public:
  Declarations(std::size_t file, c::Files& files, const Included& included) : file_(file), included_(included) {
    const auto all = included.all_definitions(file);
    MacroDefinitions definitions;
    for (const auto& [name, bodies] : all) {
      for (const std::string_view body : bodies) definitions.push_back({name, body});
      macros_.insert(std::string(name));
    }
    makes_static_ = macros_with(definitions, [](std::string_view body) { return !places_of(body, "static").empty(); });
    std::set<std::size_t> read = {file};
    read_unit(file, files, read);
    packs_ = std::exchange(pragmas_, {});
    // Headers of one name: each may be what is included.
    for (const std::size_t source : included.closed(file)) {
      if (!read.contains(source)) read_unit(source, files, read);
      if (is_open_ended(std::exchange(pragmas_, {}))) packs_.emplace_back("pack(push");
    }
    for (const std::string& name : mentioned_) names_.try_emplace(name);
    unit_ = {};
    tree_ = {};
  }

  [[nodiscard]] const std::map<std::string, Declared>& names() const { return names_; }
  [[nodiscard]] bool ends_packed() const { return is_open_ended(packs_); }

 private:
  void read_unit(std::size_t source, c::Files& files, std::set<std::size_t>& read) {
    c::Environment environment;
    environment.include = [&](std::string_view name, bool, std::uint32_t) -> std::optional<std::uint32_t> {
      const auto found = included_.only_source(name);
      if (found) read.insert(*found);
      return found ? std::optional(static_cast<std::uint32_t>(*found)) : std::nullopt;
    };
    try {
      unit_ = c::preprocess(files, static_cast<std::uint32_t>(source), environment);
      take_pragmas();
      tree_ = c::parse(unit_.tokens);
    } catch (const c::SyntaxError& error) {
      const bool is_header = error.file != file_;  // which is no other text than it was
      throw Error(ErrorKind::archive,
                  {{},
                   included_.name(error.file),
                   is_header ? line_and_column(included_.code(error.file).text, error.offset + 1) : std::string()},
                  error.message + ": its code comes into one file with that of others");
    }
    add_items();
  }

  // _Pragma("…") is no token of the grammar; and a macro of which is not known what it stands for is a word like any.
  void take_pragmas() {
    std::vector<Token> tokens;
    auto line = unit_.pragmas.begin();
    for (std::size_t i = 0; i < unit_.tokens.size(); ++i) {
      for (; line != unit_.pragmas.end() && line->at <= i; ++line) {
        std::string words;
        for (const Token& token : line->tokens) words += token.text;
        pragmas_.push_back(words_of(words));
      }
      Token& token = unit_.tokens[i];
      const bool is_pragma = token.is("_Pragma") && i + 3 < unit_.tokens.size() && unit_.tokens[i + 1].is("(") &&
                             unit_.tokens[i + 2].kind == TokenKind::string && unit_.tokens[i + 3].is(")");
      if (is_pragma) {
        pragmas_.push_back(words_of(unit_.tokens[i + 2].text));
        i += 3;
        continue;
      }
      if (token.kind == TokenKind::opaque) token.kind = TokenKind::identifier;
      tokens.push_back(token);
    }
    unit_.tokens = std::move(tokens);
  }

  void add_items() {
    std::set<std::string_view> enumerators;
    for (const c::Decl& decl : tree_.decls) {
      if (decl.kind == c::DeclKind::enumerator) enumerators.insert(decl.name);
    }
    std::vector<c::StmtId> pending(tree_.items.rbegin(), tree_.items.rend());
    for (const c::Decl& decl : tree_.decls) {  // in functions, too, where it means one of a file
      const bool is_declared = decl.storage == c::Storage::external && !decl.body.valid() && !decl.init.valid();
      if (is_declared) add(decl);
    }
    for (const c::Stmt& stmt : tree_.stmts) {
      for (const c::DeclId decl : stmt.decls) {
        if (tree_[decl].kind == c::DeclKind::function && !tree_[decl].body.valid()) add(tree_[decl]);
      }
    }
    while (!pending.empty()) {
      const c::Stmt& stmt = tree_[pending.back()];
      pending.pop_back();
      for (const c::DeclId decl : stmt.decls) add(tree_[decl]);
      if (stmt.kind == c::StmtKind::opaque) {
        for (std::size_t i = stmt.tokens.begin; i < stmt.tokens.end; ++i) {
          const Token& token = unit_.tokens[i];
          const bool is_name = token.is_identifier() && !c::is_word(token.text) && !enumerators.contains(token.text);
          if (is_name) mentioned_.emplace(token.text);
        }
      }
      pending.insert(pending.end(), stmt.body.rbegin(), stmt.body.rend());
    }
  }

  void add(const c::Decl& decl) {
    Declared& name = names_[std::string(decl.name)];
    const Meaning meaning = decl.kind == c::DeclKind::type       ? Meaning::type
                            : decl.kind == c::DeclKind::function ? Meaning::function
                                                                 : Meaning::variable;
    const bool is_first = name.sources.empty();
    const bool is_const = meaning == Meaning::variable && is_constant(tree_, decl.type);
    name.is_constant = is_const && (is_first || name.is_constant);
    name.meaning = is_first || name.meaning == meaning ? meaning : Meaning::unknown;
    name.is_internal = name.is_internal || is_internal(decl, meaning);
    name.sources.insert(source_of(unit_.tokens[decl.at]));
    if (!decl.body.valid() && !decl.init.valid()) return;
    for (std::size_t i = decl.tokens.begin; i < decl.tokens.end; ++i) {
      name.tokens += unit_.tokens[i].text;
      name.tokens += ' ';
    }
    if (!decl.body.valid()) return;
    const c::TokenRange body = tree_[decl.body].tokens;
    for (std::size_t i = body.begin; i < body.end; ++i) {
      const Token& token = unit_.tokens[i];
      name.has_static = name.has_static || token.is("static") || makes_static_.contains(token.text);
    }
  }

  // A word in front of which nothing is known may be static. Of a function, that changes nothing for those who have
  // the same text, or call what one file alone defines.
  [[nodiscard]] bool is_internal(const c::Decl& decl, Meaning meaning) const {
    if (meaning == Meaning::type || decl.storage == c::Storage::external) return false;
    if (decl.storage == c::Storage::internal || decl.storage == c::Storage::thread) return true;
    return std::any_of(decl.unknown.begin(), decl.unknown.end(), [&](c::TokenRange words) {
      for (std::size_t i = words.begin; i < words.end; ++i) {
        const Token& token = unit_.tokens[i];
        const std::string_view word = token.text;
        if (token.is("static") || makes_static_.contains(word) || is_static_word(word)) return true;
        const bool is_unknown = token.is_identifier() && !macros_.contains(word) && word != "TVM_DLL";
        if (is_unknown && meaning == Meaning::variable) return true;
      }
      return false;
    });
  }

  // Where the token stands, or the macro's name that has made it.
  [[nodiscard]] std::size_t source_of(const Token& token) const {
    std::size_t source = token.file;
    for (std::uint32_t i = token.expansion; i != 0; i = unit_.expansions[i].parent) source = unit_.expansions[i].file;
    return source;
  }

  std::size_t file_;
  const Included& included_;
  c::Unit unit_;
  c::Tree tree_;
  Names macros_;        // that the file and its headers define
  Names makes_static_;  // of these
  std::vector<std::string> pragmas_;
  std::vector<std::string> packs_;
  Names mentioned_;  // by what is beyond the grammar
  std::map<std::string, Declared> names_;
};

class Comparison {
 public:
  Comparison(const Names& once, const Included& included) : once_(once), included_(included) {}

  void compare(std::size_t front, const Declarations& before, std::size_t next, const Declarations& after) const {
    for (const auto& [name, one] : before.names()) {
      const auto found = after.names().find(name);
      if (found == after.names().end()) continue;
      if (const char* what = fault(name, one, found->second)) fail(what, name, front, next, found->second);
    }
  }

 private:
  // What is wrong; null: nothing.
  [[nodiscard]] const char* fault(const std::string& name, const Declared& one, const Declared& other) const {
    const bool are_unknown = one.meaning == Meaning::unknown || other.meaning == Meaning::unknown;
    const bool is_internal = one.is_internal || other.is_internal;
    if (one.meaning != other.meaning || are_unknown) {
      const auto is_plain = [](const Declared& of) {
        return of.meaning == Meaning::type || (of.meaning == Meaning::function && !of.is_internal);
      };
      return are_unknown && (is_plain(one) || is_plain(other)) ? nullptr : "";
    }
    if (!is_internal) return nullptr;
    if (one.is_internal != other.is_internal) return "";
    const bool is_headers = one.sources == other.sources;
    const bool is_one = one.tokens == other.tokens && (is_headers || one.tokens.empty() || once_.contains(name));
    if (one.meaning == Meaning::variable) return is_one && one.is_constant && other.is_constant ? nullptr : "";
    if (one.has_static || other.has_static) return "static variables in ";
    return is_one || one.tokens.empty() || other.tokens.empty() ? nullptr : "";
  }

  [[noreturn]] void fail(const std::string& what, const std::string& name, std::size_t front, std::size_t next,
                         const Declared& in_next) const {
    const bool is_own = in_next.sources.contains(next) || in_next.sources.empty();
    const std::size_t source = is_own ? next : *in_next.sources.begin();
    const std::string include = is_own
                                    ? ", as " + included_.name(front) + " does"
                                    : ", and " + included_.name(front) + " and " + included_.name(next) + " include it";
    throw Error(ErrorKind::archive, {{}, included_.name(source), place_of(name, source)},
                "declares " + what + in_quotes(name) + include +
                    ", expected variables and functions of other names: both files' code comes into one file, where "
                    "they would be one");
  }

  // Where it stands first.
  [[nodiscard]] std::string place_of(const std::string& name, std::size_t source) const {
    const Code& code = included_.code(source);
    for (const Token& token : code.lexed->tokens) {
      if (token.is_identifier() && token.text == name) return line_and_column(code.text, token.offset + 1);
    }
    return {};
  }

  const Names& once_;
  const Included& included_;
};

}  // namespace

void require_own_names(std::span<const std::size_t> order, const std::map<std::size_t, std::string>& texts,
                       const Names& once, const Included& included) {
  c::Files files;
  for (std::size_t i = 0; i < included.count(); ++i) {
    const auto text = texts.find(i);
    const Code& code = included.code(i);
    files.add(text == texts.end() ? c::File{{}, code.text, code.mapped} : c::File{{}, text->second});
  }
  std::vector<std::pair<std::size_t, Declarations>> known;
  for (const std::size_t file : order) {
    if (!known.empty() && known.back().second.ends_packed()) {
      throw Error(ErrorKind::archive, {{}, included.name(known.back().first), {}},
                  "found '#pragma pack' that goes on to the end, expected '#pragma pack()' or 'pop' behind: code of " +
                      included.name(file) + " comes into one file with it");
    }
    Declarations next(file, files, included);
    for (const auto& [front, before] : known) Comparison(once, included).compare(front, before, file, next);
    known.emplace_back(file, std::move(next));
  }
}

}  // namespace usmp::tvm_c
