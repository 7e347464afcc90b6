// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Cuts the entry into statements, and finds those that share no name with TVM's.
#include "tvm_c/kept/added_statements.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "tvm_c/kept/guarded.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// A statement, a conditional group of whole statements, or another directive.
struct Unit {
  AddedText place;
  c::StmtId statement = {};
  c::TokenRange range = {};
  std::vector<Token> tokens = {};  // without directives
  bool is_group = false;
  Reason reason = {};    // why it does not stay
  bool is_read = false;  // a call with constants
  std::vector<Guarded> guarded = {};
};

std::vector<Unit> units_of(const BodyTree& body) {
  std::vector<Unit> units;
  for (const c::StmtId id : body.statements()) {
    const c::Stmt& stmt = body.tree[id];
    units.push_back({.place = {body.begin_of(stmt.tokens), body.end_of(stmt.tokens)},
                     .statement = id,
                     .range = stmt.tokens,
                     .tokens = body.without_directives(stmt.tokens),
                     .is_group = stmt.kind == c::StmtKind::group});
  }
  for (const Directive& one : body.directives) {
    if (belongs_to_group(one.word) || one.word == "pragma" || one.word == "line") continue;
    const auto is_in_front = [&](const Unit& unit) { return unit.place.end <= one.begin; };
    auto found = std::partition_point(units.begin(), units.end(), is_in_front);
    if (found == units.end() || found->place.begin > one.begin) {
      found = units.insert(found, Unit{.place = {one.begin, one.end}});
    }
    found->reason = {"has a directive"};
  }
  return units;
}

bool is_stream(std::string_view name) { return name == "stdout" || name == "stderr"; }

// What names of types and of the language are. A name as reg_t may be a variable's.
bool says_nothing(std::string_view name) {
  return c::is_word(name) || is_of_library(name) || name == "NULL" || name == "true" || name == "false";
}

// f(3, "x"); of what is no macro: as the reader understands calls.
bool is_plain_call(const c::Tree& tree, const Unit& unit, const Macros& macros) {
  const c::Stmt& stmt = tree[unit.statement];
  const auto name = stmt.kind == c::StmtKind::expression ? called_function(tree, stmt.expr) : std::string_view();
  if (name.empty() || says_nothing(name) || is_in_capitals(name) || macros.contains(name)) return false;
  return std::all_of(unit.tokens.begin() + 2, unit.tokens.end() - 2, [](const Token& token) {
    return token.kind == TokenKind::number || token.kind == TokenKind::string || token.is(",") || token.is("-");
  });
}

// uint32_t, not a type that somebody defined.
bool is_number_type(std::string_view word) { return word.ends_with("_t") && c::is_word(word); }

// uint64_t v_ = (uint64_t)0; without qualifiers: the name of the variable, which TVM's generator writes also where
// nothing uses it.
std::string_view plain_number(const Unit& unit) {
  const std::vector<Token>& tokens = unit.tokens;
  const bool has_cast = tokens.size() == 8 && is_number_type(tokens[4].text);
  if (unit.is_group || (tokens.size() != 5 && !has_cast) || !is_number_type(tokens[0].text) || !tokens[2].is("="))
    return {};
  return tokens[tokens.size() - 2].kind == TokenKind::number ? tokens[1].text : std::string_view();
}

class Added {
 public:
  Added(const FunctionText& entry, const FileScope& scope, const Included& included)
      : entry_(entry), scope_(scope), code_(scope.code(entry.file)), macros_(included.all_macros(entry.file)) {}

  AddedStatements run() {
    const std::size_t begin = entry_.body_begin();
    const std::size_t behind = begin + entry_.body_text.size() - 1;
    std::optional<BodyTree> body;
    try {
      body = body_tree(code_, begin, behind);
    } catch (const SyntaxError&) {  // in a group that is not read
    }
    if (!body) return {};
    std::vector<Unit> units = units_of(*body);
    find_variables(units);
    for (Unit& unit : units) {
      if (!unit.is_group && unit.statement.valid()) unit.guarded = guarded_in(*body, unit.statement, macros_);
    }
    find_names(*body, units);
    AddedStatements result;
    std::size_t end = begin;  // of the unit before
    bool is_kept = false;
    for (const Unit& unit : units) {
      const AddedText place = with_comments(code_.text.substr(0, behind), end, unit.place);
      const bool joins = is_kept;
      is_kept = unit.reason.empty() && !unit.is_read && !is_empty(unit);
      end = unit.place.end;
      if (is_kept) {
        if (joins) {
          result.texts.back().end = place.end;
        } else {
          result.texts.push_back(place);
        }
        end = place.end;
      } else if (!unit.reason.empty()) {
        result.others.push_back({unit.place, unit.reason});
        for (const Guarded& guarded : unit.guarded) result.guarded.push_back(guarded.text);
      }
    }
    return result;
  }

 private:
  static bool is_empty(const Unit& unit) {
    return std::ranges::all_of(unit.tokens, [](const Token& token) { return token.is(";"); });
  }

  // From the line on behind what stands in front, up to a comment that ends the line.
  static AddedText with_comments(std::string_view text, std::size_t behind, AddedText place) {
    const std::size_t line = text.find('\n', behind);
    if (line < place.begin) place.begin = line + 1;
    const std::size_t end = std::min(text.find('\n', place.end), text.size());
    const std::string_view rest = without_blanks_in_front(text.substr(place.end, end - place.end));
    const std::size_t close = rest.starts_with("/*") ? rest.find("*/") : std::string_view::npos;
    const bool is_comment = rest.starts_with("//") ? !rest.ends_with('\\')
                                                   : close != std::string_view::npos &&
                                                         without_blanks_in_front(rest.substr(close + 2)).empty();
    if (is_comment) place.end = end;
    return place;
  }

  // Names of the library that stand for something else here, and names that are not only those of functions.
  void find_variables(const std::vector<Unit>& units) {
    for (const auto& [macro, definitions] : macros_.definitions()) {
      for (const std::string_view definition : definitions) find_uncalled(definition);
    }
    const auto find = [&](std::span<const Token> tokens) {
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (!tokens[i].is_identifier()) continue;
        const bool is_called = i + 1 < tokens.size() && tokens[i + 1].is("(");
        if (!is_called) uncalled_.emplace(tokens[i].text);
        if (!is_of_library(tokens[i].text)) continue;
        const bool is_passed = i > 0 && (tokens[i - 1].is("(") || tokens[i - 1].is(","));
        const bool is_used = is_stream(tokens[i].text) ? is_passed : is_called;
        if (!is_used) variables_.emplace(tokens[i].text);
      }
    };
    for (const Unit& unit : units) find(unit.tokens);
    find(entry_.params);
  }

  void find_uncalled(std::string_view definition) {
    for_each_identifier(definition, [&](std::string_view name) {
      const auto behind = static_cast<std::size_t>(name.data() - definition.data()) + name.size();
      if (!without_blanks_in_front(definition.substr(behind)).starts_with("(")) uncalled_.emplace(name);
    });
  }

  // What is only called is a function, or a macro that is looked into, if it is one of this file.
  [[nodiscard]] bool is_only_called(std::string_view name) const {
    return !uncalled_.contains(name) && (!is_in_capitals(name) || macros_.contains(name));
  }

  [[nodiscard]] bool is_shared(std::string_view name) const {
    return (!says_nothing(name) && !is_only_called(name)) || variables_.contains(name);
  }

  // Text that is the model's or is not, as one: a statement without what it guards, or that.
  struct Part {
    Unit* unit = nullptr;
    Guarded* guarded = nullptr;
    Names names;
  };

  // Those in front are the statements.
  [[nodiscard]] std::vector<Part> parts_of(const BodyTree& body, std::vector<Unit>& units) const {
    std::vector<Part> parts;
    for (Unit& unit : units) {
      std::vector<Token> rest;
      std::uint32_t at = unit.range.begin;
      const auto keep_up_to = [&](std::uint32_t end) {
        const std::vector<Token> tokens = body.without_directives({at, end});
        rest.insert(rest.end(), tokens.begin(), tokens.end());
      };
      for (const Guarded& guarded : unit.guarded) {
        keep_up_to(guarded.tokens.begin);
        at = guarded.tokens.end;
      }
      keep_up_to(unit.range.end);
      parts.push_back({&unit, nullptr, macros_.names_of(rest)});
    }
    for (Unit& unit : units) {
      for (Guarded& guarded : unit.guarded) {
        Part part{&unit, &guarded, macros_.names_of(body.without_directives(guarded.tokens))};
        if (part.names.erase(std::string(guarded.variable)) > 0) guarded.text.variable = guarded.variable;
        parts.push_back(std::move(part));
      }
    }
    return parts;
  }

  void find_names(const BodyTree& body, std::vector<Unit>& units) {
    const std::vector<Part> parts = parts_of(body, units);
    const Names of_model = params();
    std::map<std::string_view, std::vector<std::size_t>> users;
    std::vector<std::size_t> pending;
    const auto refuse = [&](std::size_t i, const Reason& reason) {
      const Part& part = parts[i];
      if (part.guarded != nullptr && part.guarded->text.reason.empty()) {
        part.guarded->text.reason = reason.text;
        pending.push_back(i);
      }
      // Also the statement around it is the model's.
      if (!part.unit->reason.empty()) return;
      part.unit->reason = reason;
      pending.push_back(static_cast<std::size_t>(part.unit - units.data()));
    };
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (const std::string& name : parts[i].names) {
        if (is_shared(name)) users[name].push_back(i);
      }
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      const bool is_known = part.guarded == nullptr && !part.unit->reason.empty();
      const Reason reason = is_known ? Reason() : reason_of(body, part, of_model);
      if (!reason.empty()) refuse(i, reason);
      if (is_known) pending.push_back(i);
    }
    for (Unit& unit : units) {
      if (!unit.reason.empty()) continue;
      const auto found = users.find(plain_number(unit));
      unit.is_read = is_plain_call(body.tree, unit, macros_) || (found != users.end() && found->second.size() == 1);
    }
    while (!pending.empty()) {
      const std::size_t part = pending.back();
      pending.pop_back();
      for (const std::string& name : parts[part].names) {
        for (const std::size_t user : users[name]) {
          if (!parts[user].unit->is_read) refuse(user, {"mentions " + in_quotes(name) + ", as the model does", true});
        }
        users[name].clear();
      }
    }
  }

  // Parameters of the entry, and pools that they are.
  [[nodiscard]] Names params() const {
    Names names;
    for (const Token& token : entry_.params) {
      if (!token.is_identifier() || !is_shared(token.text)) continue;
      names.emplace(token.text);
      if (const auto pool = pool_of_param(token.text)) names.insert(*pool);
    }
    return names;
  }

  [[nodiscard]] Reason reason_of(const BodyTree& body, const Part& part, const Names& of_model) const {
    const Unit& unit = *part.unit;
    const bool is_whole = part.guarded == nullptr;
    const bool ends_entry = is_whole && !unit.is_group && unit.tokens[0].is("return");
    if (ends_entry) return {"has 'return'"};
    for (const char* jump : {"goto", "break", "continue"}) {
      if ((!is_whole || std::string_view(jump) == "goto") && part.names.contains(jump))
        return {"has " + in_quotes(jump)};
    }
    if (part.names.contains(Macros::anything)) return {"has macros that stand for too much text"};
    const c::TokenRange range = is_whole ? unit.range : part.guarded->tokens;
    if (body.tokens[range.begin + 1].is(":")) return {"has a label"};
    for (const std::string& name : part.names) {
      if (is_of_tvm(name) || of_model.contains(name) || scope_.constant_pools.contains(name)) {
        return {"mentions " + in_quotes(name) + ", which is the model's", true};
      }
    }
    return {};
  }

  const FunctionText& entry_;
  const FileScope& scope_;
  const Code& code_;
  Macros macros_;
  Names variables_;
  Names uncalled_;
};

}  // namespace

bool is_of_tvm(std::string_view name) {
  if (is_of_library(name)) return false;
  return is_generated(name) || name.starts_with("TVM") || name.starts_with("DLTensor") || name.starts_with("usmp_") ||
         name.starts_with("USMP_");
}

bool is_of_library(std::string_view name) {
  constexpr std::array<std::string_view, 18> names = {"printf",
                                                      "puts",
                                                      "putchar",
                                                      "fprintf",
                                                      "fputs",
                                                      "fflush",
                                                      "stdout",
                                                      "stderr",
                                                      "memcpy",
                                                      "memset",
                                                      "memmove",
                                                      "abort",
                                                      "exit",
                                                      "TVMLogf",
                                                      "TVMAPISetLastError",
                                                      "TVMPlatformTimerStart",
                                                      "TVMPlatformTimerStop",
                                                      "TVMPlatformAbort"};
  return std::ranges::find(names, name) != names.end();
}

AddedStatements added_statements(const FunctionText& entry, const FileScope& scope, const Included& included) {
  return Added(entry, scope, included).run();
}

}  // namespace usmp::tvm_c
