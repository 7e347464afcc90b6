// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/respelled/respelled.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/respelled/check_macros.hpp"
#include "tvm_c/respelled/entry_jumps.hpp"
#include "tvm_c/respelled/entry_parts.hpp"
#include "tvm_c/respelled/expanded_calls.hpp"
#include "tvm_c/respelled/file_pointers.hpp"
#include "tvm_c/respelled/opened_blocks.hpp"
#include "tvm_c/respelled/own_c.hpp"
#include "tvm_c/stays/edited_run.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/included.hpp"
#include "tvm_c/text/result_tests.hpp"
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
      if (entry_in(i)) {
        const AllDefinitions macros = included_.all_definitions(i);
        read_parts(i, macros);
        read_jumps(i, macros);
      }
      edit(result_.files[i], blocks_text(i));
      for (const bool are_checks : {true, false}) edit(result_.files[i], expanded_text(i, are_checks));
      edit(result_.files[i], tests_text(i));
    }
  }

  // Functions that somebody made of the entry, and the pointers that they share.
  // All of these or none: the others would set pointers that are the entry's now.
  void read_parts(std::size_t i, const AllDefinitions& macros) {
    const Source before = result_.files[i];
    constexpr std::size_t most = 64;
    for (std::size_t parts = 0; parts <= most;) {
      const auto entry = entry_in(i);
      if (!entry) return;
      auto edited = with_own_pointers(*entry, entry_name_, entry_scope_, macros, included_.headers_of(i));
      if (!edited) {
        edited = with_one_part(*entry, entry_name_, entry_scope_, macros);
        ++parts;
      }
      if (!edited) {
        if (sets_file_pointers(*entry)) result_.files[i] = before;
        return;
      }
      edit(result_.files[i], std::move(edited));
    }
    result_.files[i] = before;
  }

  // Else and goto of the entry, as far as TVM's checks are the same.
  void read_jumps(std::size_t i, const AllDefinitions& macros) {
    if (const auto entry = entry_in(i)) edit(result_.files[i], without_goto(*entry, macros));
    constexpr std::size_t most = 64;  // that stand in one another
    for (std::size_t passes = 0; passes < most; ++passes) {
      const auto entry = entry_in(i);
      auto edited = entry ? without_else(*entry, macros) : std::nullopt;
      if (!edited) return;
      edit(result_.files[i], std::move(edited));
    }
  }

  void edit(Source& file, std::optional<EditedText> edited) {
    if (!edited) return;
    auto origin = std::make_shared<const Origin>(file, std::move(edited->pieces));
    file.text = result_.texts.emplace_back(std::move(edited->text));
    file.origin = std::move(origin);
  }

  // The entry, if the file as it is read by now has it.
  std::optional<FunctionText> entry_in(std::size_t i) {
    if (const char* text = result_.files[i].text.data(); text != entry_of_) {
      entry_of_ = text;
      entry_ = found_entry(i);
    }
    return entry_;
  }

  [[nodiscard]] std::optional<FunctionText> found_entry(std::size_t i) {
    entry_scope_ = {};
    FileScope& scope = entry_scope_;
    try {
      read_file_scope(result_.files[i].text, i, true, scope, {}, nullptr, false);
    } catch (const SyntaxError&) {  // told later
      return std::nullopt;
    }
    for (const std::string_view ending : entry_endings) {
      const auto entry = scope.functions.find(symbol_ + std::string(ending));
      if (entry == scope.functions.end()) continue;
      entry_name_ = entry->first;
      return entry->second;
    }
    return std::nullopt;
  }

  // Of a file, if conditions of the entry ask for results of calls in other words than TVM's.
  std::optional<EditedText> tests_text(std::size_t i) {
    const auto entry = entry_in(i);
    if (!entry) return std::nullopt;
    const AllDefinitions macros = included_.sure_definitions(i, entry->offset);
    return with_plain_tests(*entry, test_names(i, macros));
  }

  [[nodiscard]] ResultTestNames test_names(std::size_t file, const AllDefinitions& macros) const {
    return {.macros = macros,
            .is_zero = [this, file, &macros](std::string_view name) { return is_zero(file, name, macros); },
            .may_be_declared = [this, file](std::string_view name) { return may_be_declared(file, name); }};
  }

  // A macro, an enumerator, or TVM's own, whose header is its runtime's.
  [[nodiscard]] bool is_zero(std::size_t file, std::string_view name, const AllDefinitions& macros) const {
    if (const auto macro = macros.find(name); macro != macros.end()) {
      return !macro->second.empty() && included_.number(file, name) == 0;
    }
    if (const auto value = included_.enumerator(file, name)) return *value == 0;
    return name == "kTvmErrorNoError" && !may_be_declared(file, name);
  }

  [[nodiscard]] bool may_be_declared(std::size_t file, std::string_view name) const {
    const auto [known, is_new] = declared_.try_emplace({file, std::string(name)}, false);
    if (is_new) known->second = included_.may_be_declared(file, name);
    return known->second;
  }

  // Of a file, if macros open and close blocks of the entry.
  std::optional<EditedText> blocks_text(std::size_t i) {
    const auto entry = entry_in(i);
    return entry ? with_opened_blocks(*entry, included_.sure_definitions(i, entry->offset)) : std::nullopt;
  }

  // Of a file, if macros around calls are checks, or if they are others.
  std::optional<EditedText> expanded_text(std::size_t i, bool are_checks) {
    const auto entry = entry_in(i);
    if (!entry) return std::nullopt;
    const AllDefinitions macros = included_.sure_definitions(i, entry->offset);
    if (!are_checks) {
      const Names names = included_.names(i);
      return with_expanded_calls(*entry,
                                 {.definitions = macros,
                                  .parts = [this, i](std::string_view name) { return included_.parts(i, name); },
                                  .names = names,
                                  .tests = test_names(i, macros)});
    }
    CheckMacros checks;
    for (const auto& [name, definitions] : macros) {
      auto macro = definitions.empty() ? std::nullopt : check_macro(definitions[0]);
      const bool is_one = macro && std::all_of(definitions.begin(), definitions.end(),
                                               [&](std::string_view other) { return check_macro(other) == macro; });
      if (is_one) checks.emplace(name, std::move(*macro));
    }
    return checks.empty() ? std::nullopt : with_checks(*entry, checks);
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
        edit(file, std::move(edited->text));
        result_.kept_run = std::move(edited->members);
        return;
      }
    }
  }

  std::span<const Source> files_;
  Included included_;  // before anything is respelled
  const std::string symbol_;
  Respelled result_;
  std::optional<FunctionText> entry_;  // of the text that begins there
  const char* entry_of_ = nullptr;
  std::string entry_name_;                                                // if there is one
  FileScope entry_scope_;                                                 // of the file that has it
  mutable std::map<std::pair<std::size_t, std::string>, bool> declared_;  // may_be_declared()
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
