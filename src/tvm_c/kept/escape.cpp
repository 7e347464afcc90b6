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
#include "tvm_c/kept/macros_at.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/macros.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// Each branch becomes a block of its own: what it declares is not known behind it. Nothing: it includes something.
std::optional<std::string> with_all_branches(std::string_view text) {
  std::string result;
  std::size_t from = 0;
  for (const Directive& one : directives_in(text)) {
    result += text.substr(from, one.begin - from);
    from = one.end;
    if (opens_group(one.word)) {
      result += "\n{\n";
    } else if (one.word == "else" || one.word == "elif") {
      result += "\n} {\n";
    } else if (one.word == "endif") {
      result += "\n}\n";
    } else if (one.word != "pragma" && one.word != "define" && one.word != "undef") {
      return std::nullopt;
    }
  }
  return result + std::string(text.substr(from));
}

// What stands for it is a number, whichever definition holds: (1 << 4)
bool is_number_definition(const std::vector<std::string_view>& definitions) {
  constexpr std::string_view operators = "()+-*/%<<>>&|~^";
  return !definitions.empty() && std::all_of(definitions.begin(), definitions.end(), [&](std::string_view definition) {
    const MadeTokens tokens = made_tokens(definition);
    return !tokens.empty() && std::all_of(tokens.begin(), tokens.end(), [&](const MadeToken& token) {
      return token.kind == TokenKind::number ||
             (token.kind == TokenKind::punctuator && operators.find(token.text) != std::string_view::npos);
    });
  });
}

// Of the tokens behind the bracket that opens them.
std::optional<std::vector<EscapeParam>> escape_params(const MadeTokens& tokens) {
  std::vector<EscapeParam> params;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    const bool is_last = i == tokens.size();
    if (!is_last && !tokens[i].is(",") && !tokens[i].is(")")) continue;
    std::size_t end = i;
    std::size_t pointers = 0;
    while (end > begin && tokens[end - 1].is("]")) {
      while (end > begin && !tokens[--end].is("[")) {
      }
      ++pointers;
    }
    EscapeParam param;
    bool is_number = end > begin + 1;
    for (std::size_t k = begin; k + 1 < end; ++k) {
      const bool is_pointer = tokens[k].is("*");
      if (!is_pointer && !tokens[k].is_identifier()) return std::nullopt;
      pointers += is_pointer ? 1 : 0;
      is_number = is_number && (is_pointer || tokens[k].is("const") || tokens[k].is("volatile") ||
                                tokens[k].is("restrict") || is_number_word(tokens[k].text));
    }
    if (end > begin && tokens[end - 1].is_identifier()) param.name = tokens[end - 1].text;
    param.numbers = is_number && pointers == 1;
    param.is_given = !is_number || pointers > 0;
    if (end > begin && !tokens[begin].is("...")) params.push_back(std::move(param));
    begin = i + 1;
    if (!is_last && tokens[i].is(")")) break;
  }
  return params;
}

class EscapeFinder {
 public:
  EscapeFinder(const FileScope& scope, const Included& included, const SynchronousFunctions& synchronous)
      : scope_(scope), included_(included), synchronous_(synchronous) {
    for (const auto& [name, function] : scope.functions) texts_.emplace(function.file, function.body.text());
    for (const Item& item : scope.items) {
      if (item.kind == Item::Kind::function || item.kind == Item::Kind::prototype) items_[item.name].push_back(&item);
    }
  }

  Escapes find(const std::vector<AskedFunction>& asked) && {
    for (const AskedFunction& one : asked) {
      const auto defined = scope_.functions.find(one.name);
      add(one, defined == scope_.functions.end() || (is_certain(one.name, defined->second, one.text.file, one.at) &&
                                                     macros_at(one.text.file).is_around_all(one.at)));
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
    std::size_t at = 0;
    FunctionEscape escape = {};
    std::set<std::string, std::less<>> callers = {};
  };

  void read(const std::string& name, Known& function) {
    const auto called = [&](std::string_view callee) { return called_by(name, function, callee); };
    const auto give = [this](std::string_view callee, std::size_t i, bool holds) {
      Known& to = functions_.find(callee)->second;
      if (!to.body || (to.body->params[i].is_given && (to.body->params[i].holds || !holds))) return;
      to.body->params[i].is_given = true;
      to.body->params[i].holds = to.body->params[i].holds || holds;
      pending_.insert(std::string(callee));
    };
    FunctionEscape escape = escape_of(*function.body, {called, give});
    FunctionEscape& before = function.escape;
    const bool is_more = ((escape.params & ~before.params) | (escape.returned & ~before.returned)) != 0 ||
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
    if (!is_certain(defined->first, text, by.file, by.at)) return result;
    if (!functions_.contains(name)) add({defined->first, text, text.offset}, true);
    Known& known = functions_.find(name)->second;
    known.callers.insert(caller);
    result.is_known = true;
    result.params = known.body ? known.body->params.size() : SIZE_MAX;
    result.escape = known.escape;
    return result;
  }

  // Whether the name means this text, in the file that calls it, whatever is compiled and linked.
  [[nodiscard]] bool is_certain(const std::string& name, const FunctionText& text, std::size_t caller, std::size_t at) {
    if (text.is_ambiguous) return false;
    const MacrosAt& groups = macros_at(text.file);
    if (caller == text.file ? !groups.is_around(at, text.offset) : !groups.is_around_all(text.offset)) return false;
    const auto items = items_.find(name);
    if (items == items_.end()) return false;
    std::size_t definitions = 0;
    for (const Item* item : items->second) {
      const auto file = texts_.find(item->file);
      if (file == texts_.end()) continue;
      const bool is_function = item->kind == Item::Kind::function;
      if (is_function && (++definitions > 1 || (item->is_local && item->file != caller))) return false;
      std::string_view head = file->second.substr(item->begin, item->end - item->begin);
      head = head.substr(0, head.find('{'));
      for (const char* word : {"weak", "WEAK", "Weak", "alias", "ifunc"}) {  // another may take its place
        if (head.find(word) != std::string_view::npos) return false;
      }
    }
    return texts_.find(text.file)->second.find("pragma weak") == std::string_view::npos;
  }

  void add(const AskedFunction& asked, bool is_certain) {
    const auto [known, is_new] = functions_.try_emplace(asked.name);
    if (!is_new) return;
    known->second.file = asked.text.file;
    known->second.at = asked.at;
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
    const char* const unknown_macros = "has macros that are not understood";
    try {
      std::string_view text = body_text(asked.text);
      if (text.ends_with('}')) text.remove_suffix(1);
      const auto branches = with_all_branches(text);
      if (!branches) return "has directives that are not understood";
      auto body = expanded(asked, made_tokens(*branches));
      const auto head = expanded(asked, made_tokens(tokens_of(asked.text.params)));
      if (!body || !head) return unknown_macros;
      const auto params = escape_params(*head);
      if (!params) return "has parameters that are not understood";
      known.body = FunctionBody{asked.name, *params, std::move(*body)};
      return nullptr;
    } catch (const SyntaxError&) {  // told where it is read, if it is
      return "is not understood";
    }
  }

  const MacrosAt& macros_at(std::size_t file) {
    const auto found = macros_at_.find(file);
    return found != macros_at_.end() ? found->second
                                     : macros_at_.emplace(file, MacrosAt(texts_.find(file)->second)).first->second;
  }

  // Nothing: a macro stands there that is not defined for certain.
  std::optional<MadeTokens> expanded(const AskedFunction& asked, const MadeTokens& tokens) {
    const std::size_t file = asked.text.file;
    const auto [known, is_new] = macros_.try_emplace(file);
    const AllDefinitions& all = known->second;
    if (is_new) known->second = included_.all_definitions(file);
    Definitions certain;
    Names uncertain;
    std::optional<AllDefinitions> sure;
    std::vector<MadeTokens> pending = {tokens};
    while (!pending.empty()) {
      const MadeTokens now = std::move(pending.back());
      pending.pop_back();
      for (const MadeToken& token : now) {
        const auto macro = all.find(token.text);
        if (!token.is_identifier() || macro == all.end() || uncertain.contains(token.text)) continue;
        if (certain.contains(macro->first) || synchronous_.may_be_macro(token.text)) continue;
        MacrosAt::Definition definition = definition_at(macro->first, macro->second, file, asked.at, sure);
        if (definition.state == MacrosAt::State::none) continue;
        if (definition.state == MacrosAt::State::unknown) {
          if (!is_number_definition(macro->second)) uncertain.insert(token.text);
          continue;
        }
        certain.emplace(macro->first, definition.text);
        pending.push_back(made_tokens(definition.text));
      }
    }
    auto result = certain.empty() ? tokens : tvm_c::expanded(tokens, certain);
    if (!result) return result;
    const bool has_uncertain = std::any_of(result->begin(), result->end(), [&](const MadeToken& token) {
      return token.is_identifier() && uncertain.contains(token.text);
    });
    return has_uncertain ? std::nullopt : std::move(result);
  }

  MacrosAt::Definition definition_at(std::string_view name, const std::vector<std::string_view>& definitions,
                                     std::size_t file, std::size_t at, std::optional<AllDefinitions>& sure) {
    const auto text = texts_.find(file);
    const bool is_own =
        text != texts_.end() && std::all_of(definitions.begin(), definitions.end(), [&](std::string_view one) {
          return one.data() == nullptr || (std::greater_equal<>()(one.data(), text->second.data()) &&
                                           std::less_equal<>()(one.data(), text->second.data() + text->second.size()));
        });
    if (is_own) return macros_at(file).find(name, at);
    if (!sure) sure = included_.sure_definitions(file, at);
    const auto found = sure->find(name);
    if (found == sure->end() || found->second.size() != 1) return {MacrosAt::State::unknown};
    return {MacrosAt::State::defined, found->second.front()};
  }

  const FileScope& scope_;
  const Included& included_;
  const SynchronousFunctions& synchronous_;
  std::map<std::size_t, std::string_view> texts_;  // by file, of those with functions
  std::map<std::string_view, std::vector<const Item*>, std::less<>> items_;
  std::map<std::size_t, AllDefinitions> macros_;  // by file, likewise
  std::map<std::size_t, MacrosAt> macros_at_;
  std::map<std::string, Known, std::less<>> functions_;
  std::set<std::string> pending_;
};

}  // namespace

Escapes escapes_of(const std::vector<AskedFunction>& asked, const FileScope& scope, const Included& included,
                   const SynchronousFunctions& synchronous) {
  return EscapeFinder(scope, included, synchronous).find(asked);
}

}  // namespace usmp::tvm_c
