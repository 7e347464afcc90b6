// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects what TVM's header and C declare, and compares it with what takes its place.
#include "usmp/mlf/interface.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "mlf/c_text.hpp"
#include "mlf/modules.hpp"
#include "usmp/support/text.hpp"

namespace usmp::mlf {
namespace {

// "<name>" or "\"name\"", as the text includes the header of this name.
std::optional<std::string> include_of(std::string_view text, std::string_view header) {
  for (const std::string& name : CText(text).includes()) {
    if (file_name_of(name.substr(1, name.size() - 2)) == header) return name;
  }
  return std::nullopt;
}

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ') result += c;
  }
  return result;
}

// Those with a value, or those without but the guards of headers: TVM writes no others.
std::set<std::string> macros_in(const CText& code, bool has_value) {
  std::set<std::string> names;
  for (const CMacro& macro : code.macros()) {
    if (macro.value.empty() != has_value) names.emplace(macro.name);
  }
  for (const std::string_view guard : code.guards()) {
    if (!has_value) names.erase(std::string(guard));
  }
  return names;
}

// "extern uint32_t runs" and "typedef struct { int a; } t" on one line, up to the semicolon.
std::vector<std::string> variables_and_types(const CText& text) {
  const std::vector<c::Token>& code = text.code();
  std::vector<std::string> result;
  for (const std::string_view word : {"extern", "typedef"}) {
    for (std::size_t i = 0; i < code.size(); ++i) {
      const bool is_linkage = i + 1 < code.size() && code[i + 1].kind == c::TokenKind::string;
      if (!code[i].is(word) || is_linkage) continue;
      std::size_t depth = 0;
      std::size_t end = i;
      bool has_bracket = false;
      for (; end < code.size() && (depth > 0 || !code[end].is(";")); ++end) {
        if (code[end].is("{")) ++depth;
        if (code[end].is("}") && depth-- == 0) break;
        has_bracket = has_bracket || code[end].is("(");
      }
      const bool is_function = word == "extern" && has_bracket;
      if (!is_function) result.push_back(spelled(std::span(code).subspan(i, end - i)));
      i = end;
    }
  }
  return result;
}

std::set<std::string> structs_in(const CText& text) {
  std::set<std::string> names;
  const std::vector<c::Token>& code = text.code();
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    if (code[i].is("struct") && code[i + 1].is_identifier()) names.emplace(code[i + 1].text);
  }
  return names;
}

// Without what may differ.
std::string plain_prototype(const CFunction& function) {
  std::string text = without_blanks(function.prototype);
  if (text.ends_with("(void)")) text.replace(text.size() - 6, 6, "()");
  return text;
}

std::optional<CFunction> defined_entry(const Archive& archive, const std::string& prefix, const ModuleFiles& files) {
  if (files.operators.empty()) return std::nullopt;
  std::optional<CFunction> entry;
  for (const CFunction& function : functions_of_file(archive.find(files.operators)->code())) {
    if (function.name == prefix + "___tvm_main__" || function.name == prefix + "_run_model") entry = function;
  }
  return entry;
}

// The entry as the firmware calls it, if no function of TVM's does. Returns what is in its way, the end of a message:
// another file that uses the entry. Empty: something else, or nothing.
std::string find_called(const Archive& archive, const model::Description& module, const std::string& prefix,
                        ModuleFiles& files) {
  std::optional<CFunction> entry = defined_entry(archive, prefix, files);
  if (!entry || mentions(entry->prototype, "num_args") != module.packed_interface) return {};
  for (const std::string& name : module.c_members) {
    if (name.ends_with(".h") || name == files.operators) continue;
    if (module.packed_interface && name == files.registry) continue;  // which finds it as the firmware does
    const Member& member = *archive.find(name);
    if (mentions(member.code(), entry->name)) {
      return ", and " + in_quotes(member.shown_name()) + " uses the entry, " + entry->name +
             ", itself: rename its function that does so to " + prefix + "_run, or write elsewhere with -o";
    }
  }
  if (!files.header.empty()) {
    for (const CFunction& function : CText(archive.find(files.header)->bytes).declared_functions()) {
      if (function.name == entry->name) entry->prototype = function.prototype;
    }
  }
  const auto params = param_names(entry->prototype);
  if (!params) return {};
  files.called = entry->prototype;
  files.called_params = *params;
  files.entry = files.operators;
  return {};
}

}  // namespace

std::optional<std::vector<std::string>> param_names(const std::string& prototype) {
  std::vector<std::string> names;
  const std::size_t open = prototype.find('(');
  const std::size_t close = prototype.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  const std::string list = prototype.substr(open + 1, close - open - 1);
  if (list.find_first_of("()[]") != std::string::npos) return std::nullopt;
  for (const std::string& param : split(list, ',')) {
    std::size_t begin = param.size();
    while (begin > 0 && is_identifier_char(param[begin - 1])) --begin;
    std::string name = param.substr(begin);
    if (name.empty() || param.find_first_not_of(' ') == begin) return std::nullopt;  // a type alone
    names.push_back(std::move(name));
  }
  return names;
}

ModuleFiles files_of_module(const Archive& archive, const model::Description& module) {
  const std::string prefix = "tvmgen_" + c_identifier(module.name);
  const auto fail = [&](const Member& member, const std::string& message) {
    throw Error(ErrorKind::archive, {archive.path, member.shown_name(), {}}, message);
  };
  ModuleFiles files;
  for (const std::string& name : module.c_members) {
    const Member& member = *archive.find(name);
    if (name.ends_with(".h")) {
      const bool is_named_so = file_name_of(name) == prefix + ".h";
      if (is_named_so || (files.header.empty() && mentions(member.code(), prefix + "_run"))) files.header = name;
      continue;
    }
    const std::vector<std::string> entries = entries_in(member.code());
    if (entries.size() > 1)
      fail(member, "defines several modules (" + joined(entries) +
                       "), expected one a file: divide it, or write elsewhere with -o");
    const bool is_metadata = member.code().find("kTvmgenMetadata") != std::string::npos;
    const bool is_entry = defines_ending_in(member.code(), prefix + "_run");
    const bool is_registry = holds_registry(member.code());
    if (is_registry && !files.registry.empty()) {
      fail(member, "holds a registry of functions, as " + in_quotes(files.registry) + " does, expected one");
    }
    if (is_registry) files.registry = name;
    if (is_entry) files.entry = name;
    if (!entries.empty()) files.operators = name;
    const bool is_unchanged = is_metadata && !is_entry && !is_registry && entries.empty();
    if (is_unchanged) files.metadata.push_back(name);
    if (!is_entry && entries.empty() && !is_unchanged) files.others.push_back(name);
  }
  if (const auto entry = defined_entry(archive, prefix, files)) files.entry_prototype = entry->prototype;
  std::string obstacle;
  if (files.entry.empty()) obstacle = find_called(archive, module, prefix, files);
  if (files.entry.empty()) {
    throw Error(ErrorKind::archive, {archive.path, {}, {}},
                "no C file of module " + in_quotes(module.name) + " defines " + prefix + "_run, the function to call" +
                    obstacle);
  }
  if (!files.header.empty()) {
    const auto include = include_of(archive.find(files.entry)->code(), file_name_of(files.header));
    if (include) files.include = {*include};
  }
  return files;
}

void require_functions(const Archive& archive, const model::Description& module, const std::set<std::string>& known) {
  const std::string prefix = "tvmgen_" + c_identifier(module.name) + "_";
  for (const std::string& name : module.c_members) {
    const Member& member = *archive.find(name);
    if (name.ends_with(".h") || member.code().find("kTvmgenMetadata") != std::string::npos) continue;
    for (const CFunction& function : functions_of_file(member.code())) {
      if (function.name.starts_with(prefix) || known.contains(function.name)) continue;
      if (function.name == "TVMSystemLibEntryPoint") continue;  // planned_registry defines it
      // Instructions that TVM's kernels for Cortex-M define for themselves, as src/tvm_c/kept/added_code.cpp has it.
      if (function.is_always_inline && function.name.starts_with("__")) continue;
      throw Error(ErrorKind::archive, {archive.path, member.shown_name(), {}},
                  "defines " + in_quotes(function.name) +
                      ", which planned C would not have, expected TVM's functions and what they call");
    }
  }
}

std::vector<std::string> missing_declarations(std::string_view before, std::string_view after) {
  const CText old_code(before);
  const CText new_code(after);
  std::vector<std::string> missing;
  for (const bool has_value : {true, false}) {
    const std::set<std::string> macros = macros_in(new_code, has_value);
    for (const std::string& name : macros_in(old_code, has_value)) {
      if (!macros.contains(name)) missing.push_back("macro " + name);
    }
  }
  const std::string dense_code = without_blanks(spelled(new_code.code()));
  for (const std::string& text : variables_and_types(old_code)) {
    if (dense_code.find(without_blanks(text) + ";") == std::string::npos) missing.push_back(text);
  }
  for (const std::string& name : structs_in(old_code)) {
    const auto members = old_code.struct_members(name);
    if (members && members != new_code.struct_members(name)) {
      missing.push_back("struct " + name + " with members " + joined(*members));
    }
  }
  std::set<std::string> prototypes;
  for (const CFunction& function : new_code.declared_functions()) prototypes.insert(plain_prototype(function));
  for (const CFunction& function : old_code.declared_functions()) {
    if (!prototypes.contains(plain_prototype(function))) missing.push_back("function " + function.prototype);
  }
  return missing;
}

std::set<std::string> tvm_headers(std::string_view text) {
  std::set<std::string> found;
  for (std::string& name : included_headers(text)) {
    if (name.starts_with("tvm/") || name.starts_with("dlpack/")) found.insert(std::move(name));
  }
  return found;
}

bool define_alike(std::string_view before, std::string_view after, std::string_view function) {
  const auto prototype = [&](std::string_view text) {
    for (const CFunction& one : functions_of_file(text)) {
      if (one.name == function) return plain_prototype(one);
    }
    return std::string();
  };
  return prototype(before) == prototype(after);
}

}  // namespace usmp::mlf
