// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/respelled.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/check_macros.hpp"
#include "tvm_c/edited_run.hpp"
#include "tvm_c/expanded_calls.hpp"
#include "tvm_c/file_scope.hpp"
#include "tvm_c/function_tokens.hpp"
#include "tvm_c/included.hpp"
#include "tvm_c/own_c.hpp"
#include "usmp/support/characters.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

class Respeller {
 public:
  Respeller(std::span<const Source> files, std::span<const Source> headers, const std::string& module)
      : files_(files), included_(files, headers), symbol_("tvmgen_" + c_identifier(module)) {
    result_.files.assign(files.begin(), files.end());
  }

  Respelled run() && {
    read_macros();
    keep_run();
    if (result_.texts.empty()) result_.included = std::move(included_);
    return std::move(result_);
  }

 private:
  // Macros around calls of the entry, as what they stand for.
  void read_macros() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].name.ends_with(".h")) continue;
      for (const bool are_checks : {true, false}) {
        if (auto text = expanded_text(i, are_checks)) {
          result_.files[i].text = result_.texts.emplace_back(std::move(*text));
        }
      }
      if (auto text = with_zeros(i)) result_.files[i].text = result_.texts.emplace_back(std::move(*text));
    }
  }

  // The entry, if the file as it is read by now has it.
  std::optional<FunctionText> entry_in(std::size_t i) const {
    FileScope scope;
    try {
      read_file_scope(result_.files[i].text, i, true, scope, {}, nullptr, false);
    } catch (const SyntaxError&) {  // told later
      return std::nullopt;
    }
    for (const std::string_view ending : entry_endings) {
      const auto entry = scope.functions.find(symbol_ + std::string(ending));
      if (entry != scope.functions.end()) return entry->second;
    }
    return std::nullopt;
  }

  // Of a file, if results of the entry's calls are compared with a name that stands for 0: with 0, as long as the name.
  std::optional<std::string> with_zeros(std::size_t i) const {
    if (!compares_names(result_.files[i].text)) return std::nullopt;
    const auto entry = entry_in(i);
    if (!entry) return std::nullopt;
    std::vector<Token> tokens;
    try {
      tokens = tokens_of(entry->body);
    } catch (const SyntaxError&) {  // likewise
      return std::nullopt;
    }
    std::string text(result_.files[i].text);
    bool is_changed = false;
    for (std::size_t at = 2; at + 1 < tokens.size(); ++at) {
      const Token& name = tokens[at];
      const bool is_compared = (tokens[at - 1].is("!=") || tokens[at - 1].is("==")) && tokens[at + 1].is(")");
      if (!name.is_identifier() || !is_compared || !is_zero(i, name.text) || declares(tokens, name.text)) continue;
      text.replace(name.offset, name.text.size(), "0" + std::string(name.text.size() - 1, ' '));
      is_changed = true;
    }
    return is_changed ? std::optional(std::move(text)) : std::nullopt;
  }

  // Whether there is "== name" or "!= name", but for NULL: few files have it.
  static bool compares_names(std::string_view text) {
    for (std::size_t at = text.find('=', 1); at != std::string_view::npos; at = text.find('=', at + 1)) {
      if (text[at - 1] != '=' && text[at - 1] != '!') continue;
      const std::string_view behind = without_blanks_in_front(text.substr(at + 1));
      if (!behind.empty() && is_identifier_char(behind[0]) && !is_digit(behind[0]) && !behind.starts_with("NULL"))
        return true;
    }
    return false;
  }

  // Whether the function has a variable of that name.
  static bool declares(const std::vector<Token>& tokens, std::string_view name) {
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      if (tokens[i].is(name) &&
          (tokens[i - 1].is("*") || (tokens[i - 1].is_identifier() && !tokens[i - 1].is("return"))))
        return true;
    }
    return false;
  }

  // A macro, an enumerator, or TVM's own, whose header is its runtime's.
  [[nodiscard]] bool is_zero(std::size_t file, std::string_view name) const {
    if (included_.is_macro(file, name)) return included_.number(file, name) == 0;
    if (const auto value = included_.enumerator(file, name)) return *value == 0;
    return name == "kTvmErrorNoError";
  }

  // Of a file, if macros around calls are checks, or if they are others.
  std::optional<std::string> expanded_text(std::size_t i, bool are_checks) {
    Definitions definitions = included_.definitions(i);
    CheckMacros checks;
    for (const auto& [name, definition] : definitions) {
      auto macro = are_checks ? check_macro(definition) : std::nullopt;
      if (macro) checks.emplace(name, std::move(*macro));
    }
    if (are_checks && checks.empty()) return std::nullopt;
    const auto entry = entry_in(i);
    if (!entry) return std::nullopt;
    const std::string_view text = files_[i].text;
    const std::string_view before = text.substr(0, entry->offset);
    const auto is_behind = [&](const auto& macro) {
      const bool is_of_file = std::less_equal<>()(text.data(), macro.second.data()) &&
                              std::less<>()(macro.second.data(), text.data() + text.size());
      return is_of_file && !std::less<>()(macro.second.data(), before.data() + before.size());
    };
    std::erase_if(definitions, is_behind);
    return are_checks ? with_checks(*entry, checks) : with_expanded_calls(*entry, definitions, included_.names(i));
  }

  // What somebody added to the function that the firmware calls.
  void keep_run() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      Source& file = result_.files[i];
      if (file.name.ends_with(".h")) continue;
      FileScope scope;
      try {
        read_file_scope(file.text, i, true, scope, included_.constants(i), nullptr, false);
      } catch (const SyntaxError&) {  // told later
        continue;
      }
      const auto run = scope.functions.find(symbol_ + "_run");
      if (run == scope.functions.end() || scope.left_out[i].contains(symbol_ + "_run")) continue;
      for (const std::string_view ending : entry_endings) {
        const std::string entry = symbol_ + std::string(ending);
        if (!added_to_run(run->second, run->first, entry, scope)) return;
        auto edited = with_planned_run(file.text, run->first, entry, scope);
        if (!edited) continue;
        file.text = result_.texts.emplace_back(std::move(edited->text));
        result_.kept_run = std::move(edited->members);
        return;
      }
    }
  }

  std::span<const Source> files_;
  Included included_;  // before anything is respelled
  const std::string symbol_;
  Respelled result_;
};

// C of this program, as TVM would have written it.
Respelled respelled_own(std::span<const Source> files, const std::string& module) {
  Respelled result;
  result.is_own = true;
  FileScope constants;
  std::size_t tensors = 0;
  for (const Source& file : files) {
    if (!file.name.ends_with(".h")) continue;
    try {
      read_pool_macros(file.text, c_identifier(module), constants);
    } catch (const SyntaxError& error) {
      throw located(file, error);
    }
    tensors += tensors_in(file.text, c_identifier(module));
  }
  for (const Source& file : files) {
    Source& copy = result.files.emplace_back(file);
    if (file.name.ends_with(".h") || !is_own_c(file.text)) continue;
    try {
      copy.text = result.texts.emplace_back(as_unplanned(file.text, constants, tensors));
    } catch (const SyntaxError& error) {
      throw located(file, error);
    }
  }
  return result;
}

}  // namespace

Respelled respelled(std::span<const Source> files, std::span<const Source> headers, const std::string& module,
                    bool are_kept) {
  Respelled result;
  if (std::any_of(files.begin(), files.end(), [](const Source& file) { return is_own_c(file.text); })) {
    result = respelled_own(files, module);
  } else if (are_kept) {
    result = Respeller(files, headers, module).run();
  } else {
    result.files.assign(files.begin(), files.end());
  }
  if (!result.included) result.included.emplace(result.files, headers);
  return result;
}

}  // namespace usmp::tvm_c
