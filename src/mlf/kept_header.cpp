// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Puts the plan's values into the text of a header.
#include "usmp/mlf/kept_header.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "mlf/c_text.hpp"
#include "usmp/mlf/interface.hpp"
#include "usmp/support/text.hpp"

namespace usmp::mlf {
namespace {

// Where the value of a macro stands, without the blanks around it.
struct Value {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Finds values of macros that are defined once, in one line; nothing: of others.
std::map<std::string, std::optional<Value>> values_in(const CText& code, std::string_view text) {
  std::map<std::string, std::optional<Value>> values;
  for (const CMacro& macro : code.macros()) {
    std::optional<Value> value;
    if (!macro.is_function && !macro.value.empty()) {
      const c::Token& last = macro.value.back();
      value = {macro.value[0].offset, last.offset + last.text.size()};
      const bool is_in_a_line =
          text.substr(macro.offset, value->end - macro.offset).find('\n') == std::string_view::npos;
      if (!is_in_a_line || text.substr(last.offset, last.text.size()) != last.text) value.reset();
    }
    const auto [known, is_new] = values.try_emplace(std::string(macro.name), value);
    if (!is_new) known->second.reset();
  }
  return values;
}

// Other macros with the module's name are somebody's: #define TVMGEN_M_CLASSES 10
bool is_of_tvm(const std::string& declaration, const std::string& prefix) {
  constexpr std::string_view struct_word = "struct ";
  constexpr std::string_view macro_word = "macro ";
  if (declaration.starts_with(macro_word)) {
    return declaration.starts_with("macro " + upper_case(prefix) + "_") &&
           (declaration.ends_with("_SIZE") || declaration.ends_with("_DATA") || declaration.ends_with("_ALIGNMENT"));
  }
  if (declaration.starts_with(struct_word)) return declaration.starts_with("struct " + prefix + "_");
  return false;
}

// Also enumerators, unions and the like, which missing_declarations() does not look for.
bool has_other_words(const CText& code, const CText& planned) {
  std::set<std::string_view> known;
  for (const c::Token& token : planned.tokens()) known.insert(token.text);
  for (const std::string_view guard : code.guards()) {
    known.insert(guard);
    break;
  }
  return std::any_of(code.tokens().begin(), code.tokens().end(), [&](const c::Token& token) {
    return token.is_identifier() && !token.is("ifndef") && !known.contains(token.text);
  });
}

// extern uint8_t sram[512];
bool declares_one_of(const std::string& declaration, const std::set<std::string>& gone) {
  return declaration.starts_with("extern ") &&
         std::any_of(gone.begin(), gone.end(), [&](const std::string& name) { return mentions(declaration, name); });
}

}  // namespace

std::optional<std::string> kept_header(std::string_view before, std::string_view planned, std::string_view c,
                                       const std::string& prefix, const std::set<std::string>& gone) {
  const CText code(before);
  const CText planned_code(planned);
  const std::vector<std::string> added = missing_declarations(before, planned);
  const std::vector<std::string> includes = included_headers(planned);
  const auto is_included = [&](const std::string& name) {
    return std::find(includes.begin(), includes.end(), name) != includes.end();
  };
  const std::vector<std::string> included = included_headers(before);
  const bool has_more = !added.empty() || has_other_words(code, planned_code) ||
                        !std::all_of(included.begin(), included.end(), is_included);
  if (!has_more) return std::nullopt;
  const bool is_refused = std::any_of(added.begin(), added.end(), [&](const std::string& one) {
    return is_of_tvm(one, prefix) || declares_one_of(one, gone);
  });
  if (is_refused) return std::nullopt;
  std::set<std::string> planned_functions;
  for (const CFunction& function : planned_code.declared_functions()) planned_functions.insert(function.name);
  const std::set<std::string> interface = {prefix + "_run", prefix + "_map_inputs", prefix + "_map_outputs"};
  for (const CFunction& function : code.declared_functions()) {
    const bool is_of_module = gone.contains(function.name) || interface.contains(function.name);
    if (is_of_module && !planned_functions.contains(function.name)) return std::nullopt;
  }
  for (const std::string& one : missing_declarations(planned, before)) {
    constexpr std::string_view word = "macro ";
    if (!one.starts_with(word) || mentions(c, one.substr(word.size()))) return std::nullopt;
  }
  const std::map<std::string, std::optional<Value>> values = values_in(code, before);
  std::vector<std::pair<Value, std::string>> changes;
  for (const auto& [name, value] : values_in(planned_code, planned)) {
    if (!value || !code.mentions(name)) continue;
    const auto known = values.find(name);
    if (known == values.end() || !known->second) return std::nullopt;
    const std::string_view text = planned.substr(value->begin, value->end - value->begin);
    changes.emplace_back(*known->second, text);
  }
  std::sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  std::string result;
  std::size_t done = 0;
  for (const auto& [value, text] : changes) {
    result.append(before.substr(done, value.begin - done)).append(text);
    done = value.end;
  }
  result.append(before.substr(done));
  return result;
}

std::vector<std::string> macros_without_place(std::string_view before, std::string_view planned) {
  const auto values = values_in(CText(before), before);
  std::vector<std::string> result;
  for (const auto& [name, value] : values_in(CText(planned), planned)) {
    const auto known = values.find(name);
    if (value && known != values.end() && !known->second) result.push_back(name);
  }
  return result;
}

std::set<std::string> macros_of_header(const Archive& archive, const std::string& header) {
  std::set<std::string> result;
  std::set<std::string> seen = {header};
  std::vector<std::string> pending = {header};
  while (!pending.empty()) {
    const Member* member = archive.find(pending.back());
    pending.pop_back();
    if (member == nullptr) continue;
    const CText code(member->code());
    for (const CMacro& macro : code.macros()) {
      if (!macro.name.starts_with("TVMGEN_")) result.emplace(macro.name);
    }
    for (const std::string& include : code.includes()) {
      const std::string_view name = leaf_of(std::string_view(include).substr(1, include.size() - 2));
      for (const Member& other : archive.members) {
        if (leaf_of(other.name) == name && seen.insert(other.name).second) pending.push_back(other.name);
      }
    }
  }
  return result;
}

}  // namespace usmp::mlf
