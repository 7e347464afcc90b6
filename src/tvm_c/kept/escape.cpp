// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Follows addresses from function to function: the least set of parameters that escape. Tests:
// tests/tvm_c/escape_test.cpp.
#include "tvm_c/kept/escape.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "tvm_c/kept/escape_function.hpp"
#include "tvm_c/text/branches.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/preprocessed.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// What is included there may be anything.
bool has_odd_directives(const Code& file, const AddedText& place) {
  const auto directives = directives_in(file, place.begin, place.end);
  return std::ranges::any_of(directives, [](const Directive& one) {
    return !belongs_to_group(one.word) && one.word != "pragma" && one.word != "define" && one.word != "undef";
  });
}

class EscapeFinder {
 public:
  EscapeFinder(const FileScope& scope, const Included& included, const SynchronousFunctions& synchronous)
      : scope_(scope), included_(included), synchronous_(synchronous) {
    for (const Item& item : scope.items) {
      if (item.kind == Item::Kind::function) definitions_[item.name].push_back(&item);
    }
  }

  Escapes find(const std::vector<AskedFunction>& asked) && {
    for (const AskedFunction& one : asked) {
      const auto defined = scope_.functions.find(one.name);
      add(one, defined == scope_.functions.end() || is_certain(one.name, defined->second, one.text.file));
    }
    while (!pending_.empty()) {
      const std::string name = *pending_.begin();
      pending_.erase(pending_.begin());
      Known& function = functions_.find(name)->second;
      if (function.body) read(name, function);
    }
    Escapes result;
    for (auto& [name, function] : functions_) result.emplace(name, std::move(function.escape));
    return result;
  }

 private:
  struct Known {
    std::optional<FunctionBody> body;  // nothing: all of it escapes
    std::size_t file = 0;
    FunctionEscape escape = {};
    std::set<std::string, std::less<>> callers = {};
  };

  void read(const std::string& name, Known& function) {
    const auto called = [&](std::string_view callee) { return called_by(name, function, callee); };
    const auto give = [this](std::string_view callee, std::size_t i, const Addresses& value) {
      Known& to = functions_.find(callee)->second;
      if (!to.body) return;
      EscapeParam& param = to.body->params[i];
      const bool is_new = (value.params != 0 && !param.is_given) || (value.holds && !param.holds) ||
                          (value.is_lasting && !param.is_lasting);
      if (!is_new) return;
      param.is_given = param.is_given || value.params != 0;
      param.holds = param.holds || value.holds;
      param.is_lasting = param.is_lasting || value.is_lasting;
      pending_.insert(std::string(callee));
    };
    FunctionEscape escape = escape_of(*function.body, {called, give});
    FunctionEscape& before = function.escape;
    const bool is_more = ((escape.params & ~before.params) | (escape.returned & ~before.returned) |
                          (escape.stored & ~before.stored)) != 0 ||
                         (escape.returns_holder && !before.returns_holder);
    if (!is_more) return;
    before = std::move(escape);
    pending_.insert(function.callers.begin(), function.callers.end());
  }

  CalledFunction called_by(const std::string& caller, const Known& by, std::string_view name) {
    CalledFunction result;
    const auto defined = scope_.functions.find(name);
    result.synchronous = synchronous_.find(name, defined != scope_.functions.end());
    if (result.synchronous != nullptr || defined == scope_.functions.end()) return result;
    const FunctionText& text = defined->second;
    if (!is_certain(defined->first, text, by.file)) return result;
    if (!functions_.contains(name)) add({defined->first, text, {}}, true);
    Known& known = functions_.find(name)->second;
    known.callers.insert(caller);
    result.is_known = true;
    result.params = known.body ? known.body->params.size() : SIZE_MAX;
    result.escape = known.escape;
    return result;
  }

  // Whether the name means this text, in the file that calls it, whatever is compiled and linked.
  [[nodiscard]] bool is_certain(const std::string& name, const FunctionText& text, std::size_t caller) {
    if (scope_.doubts.contains(name) || !branches(text.file).conditions(text.offset).empty()) return false;
    const auto found = definitions_.find(name);
    if (found == definitions_.end() || found->second.size() > 1) return false;
    const Item& definition = *found->second.front();
    return !definition.is_local || definition.file == caller;
  }

  void add(const AskedFunction& asked, bool is_certain) {
    const auto [known, is_new] = functions_.try_emplace(asked.name);
    if (!is_new) return;
    known->second.file = asked.text.file;
    const char* const reason = is_certain ? prepare(asked, known->second) : "may be another function of that name";
    if (reason != nullptr) {
      known->second.body.reset();
      known->second.escape = {all_params, asked.name, reason, {}};
    } else {
      pending_.insert(asked.name);
    }
  }

  // Why it is not understood; null: it may be.
  const char* prepare(const AskedFunction& asked, Known& known) {
    try {
      const Preprocessed& file = preprocessed(asked.text.file);
      std::string_view text = asked.text.body_text;
      if (text.ends_with('}')) text.remove_suffix(1);
      const std::size_t body = asked.text.body_begin();
      const AddedText place = asked.statement.value_or(AddedText{body, body + text.size()});
      if (has_odd_directives(included_.code(asked.text.file), place)) return "has directives that are not understood";
      auto head = file.tokens(asked.text.params.front().offset, asked.text.params.back().offset + 1);
      auto statements = file.tokens(place.begin, place.end);
      if (!head || !statements) return "has macros that are not understood";
      if (asked.statement) {  // the text around it is of plain names
        text.remove_suffix(place.end - place.begin + 1);
        head.emplace(asked.text.params.begin(), asked.text.params.end());
        const std::vector<Token> front = plain_tokens(text);
        statements->insert(statements->begin(), front.begin(), front.end());
      }
      auto tree = function_tree(*head, *statements);
      if (!tree) return "has brackets that do not match";
      known.body = function_body(asked.name, std::move(*tree));
      return known.body ? nullptr : "has parameters or attributes that are not understood";
    } catch (const SyntaxError&) {  // told where it is read, if it is
      return "is not understood";
    }
  }

  const Branches& branches(std::size_t file) {
    return branches_.try_emplace(file, scope_.code(file), scope_.files.at(file)->conditions).first->second;
  }

  const Preprocessed& preprocessed(std::size_t file) {
    return preprocessed_
        .try_emplace(file, included_, file, [this](std::string_view name) { return synchronous_.may_be_macro(name); })
        .first->second;
  }

  const FileScope& scope_;
  const Included& included_;
  const SynchronousFunctions& synchronous_;
  std::map<std::string_view, std::vector<const Item*>, std::less<>> definitions_;
  std::map<std::size_t, Preprocessed> preprocessed_;  // by file
  std::map<std::size_t, Branches> branches_;
  std::map<std::string, Known, std::less<>> functions_;
  std::set<std::string> pending_;
};

}  // namespace

Escapes escapes_of(const std::vector<AskedFunction>& asked, const FileScope& scope, const Included& included,
                   const SynchronousFunctions& synchronous) {
  return EscapeFinder(scope, included, synchronous).find(asked);
}

}  // namespace usmp::tvm_c
