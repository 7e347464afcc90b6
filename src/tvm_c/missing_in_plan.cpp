// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares what the files have with what planned C has of them.
#include "tvm_c/missing_in_plan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/kept/kept_text.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/section_words.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

std::string kind_and_name(const Item& item) {
  if (item.kind == Item::Kind::function) return "function " + in_quotes(item.name);
  if (item.kind == Item::Kind::data) return "variable " + in_quotes(item.name);
  return "a declaration";
}

// "m_lib1.c: what (line 3, column 1)"
std::string placed(const FilesRead& read, const std::string& what, std::size_t file, std::size_t offset) {
  return read.files[file].name + ": " + what + " (" + read.places.at(file, offset) + ")";
}

// Whether the parameters are TVM's: structs of the interface, or those of a packed function.
bool takes_interface(const FunctionText& run, const std::string& symbol) {
  if (takes_packed(run)) return true;
  constexpr std::array<std::string_view, 4> structs = {"_inputs", "_outputs", "_workspace_pools", "_devices"};
  const auto head = head_tree(run);
  return head && std::ranges::all_of(head->params(), [&](c::DeclId param) {
           const std::string_view type = name_behind(head->tree, head->tree[param].type);
           return std::ranges::any_of(structs,
                                      [&](std::string_view name) { return type == symbol + std::string(name); });
         });
}

}  // namespace

std::vector<std::string> left_out_code(const FilesRead& read, const std::vector<std::size_t>& items) {
  std::vector<std::string> result;
  for (const std::size_t i : items) {
    const Item& item = read.scope.items[i];
    result.push_back(placed(read, kind_and_name(item), item.file, item.begin) +
                     " is not in planned C, since the model does not use it; --in-place keeps it");
  }
  const std::string run = read.symbol + "_run";
  const auto found = read.scope.functions.find(run);
  if (found != read.scope.functions.end() && !takes_interface(found->second, read.symbol)) {
    result.push_back(placed(read, in_quotes(run), found->second.file, found->second.offset) +
                     " has other parameters in planned C, structs of inputs and outputs: include its header in all "
                     "files that call it");
  }
  if (!read.scope.functions.contains(run) && !read.scope.functions.contains("TVMSystemLibEntryPoint")) {
    result.push_back("no file of the model defines " + in_quotes(run) + ", so the firmware calls " +
                     in_quotes(read.entry) + ", which is not in planned C; call " + in_quotes(run) +
                     ", or use --in-place, which keeps it");
  }
  return result;
}

std::vector<std::string> left_out_includes(const FilesRead& read, const std::set<std::size_t>& stay) {
  std::vector<std::string> result;
  for (const auto& [file, source] : read.scope.files) {
    if (stay.contains(file)) continue;
    for (const Directive& one : directives_in(source->code)) {
      const auto holds = [&, at = file](const Item& item) {
        return item.file == at && item.begin < one.begin && one.begin < item.end;
      };
      if (!includes_code(one) || std::ranges::any_of(read.scope.items, holds)) continue;
      result.push_back(placed(read, "#include " + std::string(one.rest), file, one.begin) +
                       " is not in planned C: if it has functions or variables that others use, compile it apart; "
                       "--in-place keeps it");
    }
  }
  return result;
}

std::vector<std::string> undefined_names(const FilesRead& read, const Needs& needs) {
  Names missing;
  Names missing_data;
  const auto is_alias = [&](std::string_view name) {
    const auto found = read.scope.prototypes.find(name);
    if (found == read.scope.prototypes.end()) return false;
    const std::string_view text = read.scope.items[found->second].text;
    return text.find("alias") != std::string_view::npos || text.find("weakref") != std::string_view::npos;
  };
  const auto note = [&](std::string_view name) {
    const bool is_known = is_alias(name) || read.scope.functions.contains(name) || read.scope.foreign.contains(name) ||
                          is_of_library(name) || name == "assert";
    if (!is_known) missing.emplace(name);
  };
  std::set<std::size_t> in_text;
  for (const auto& [name, file] : needs.external) {
    if (!name.starts_with("TVM")) note(name);
    in_text.insert(file);
  }
  for (std::size_t i = 0; i < needs.stays.size(); ++i) {
    const Item& item = read.scope.items[i];
    if (!needs.stays[i]) continue;
    in_text.insert(item.file);
    for_each_identifier(item.text, [&](std::string_view name) {
      if (read.scope.prototypes.contains(name)) note(name);
      if (needs.defined_elsewhere.contains(name)) missing_data.emplace(name);
    });
  }
  std::vector<std::string> result;
  for (const auto& [verb, of] : {std::pair("calls ", &missing), std::pair("uses ", &missing_data)}) {
    std::string names;
    for (const std::string& name : *of) names += (names.empty() ? "" : ", ") + in_quotes(name);
    if (names.empty()) continue;
    result.push_back("planned C " + (verb + names) + ", which no file of the model defines: link it from elsewhere");
  }
  for (const std::size_t file : in_text) {
    for (const std::string_view name : read.included.c_files(file)) {
      result.push_back(read.files[file].name + ": planned C includes " + in_quotes(name) +
                       ", which is not copied: compile it with that directory among the include paths");
    }
  }
  return result;
}

std::vector<std::string> lost_placements(const FilesRead& read, const std::vector<PlannedPool>& pools,
                                         const std::function<bool(const Item&)>& is_read, bool sections) {
  std::vector<std::string> result;
  const FileScope& scope = read.scope;
  std::set<std::string_view> words;
  std::map<std::size_t, std::set<std::string_view>> nothing;  // by file
  for (std::size_t i = 0; i < scope.items.size(); ++i) {
    const Item& item = scope.items[i];
    const std::string name(item.name);
    const bool is_pool = item.kind == Item::Kind::data &&
                         (scope.owned.contains(name) || scope.constant_pools.contains(name)) &&
                         std::ranges::any_of(pools, [&](const auto& pool) { return pool.name == name; });
    const auto alignment = scope.unknown_alignments.find(name);
    if (is_pool && alignment != scope.unknown_alignments.end()) {
      result.push_back(placed(read, "the alignment of " + in_quotes(name), item.file, alignment->second.offset) +
                       " is not determined by the files, so planned C does not have it; --pools gives one");
    }
    if (!is_pool && !is_read(item)) continue;
    // The section that an attribute of workspace names is that of planned C.
    const bool counts_sections = sections && !(is_pool && scope.owned.contains(name));
    const Code& text = scope.code(item.file);
    const std::size_t front = i > 0 && scope.items[i - 1].file == item.file ? scope.items[i - 1].end : 0;
    const auto [of_file, is_new] = nothing.try_emplace(item.file);
    if (is_new) of_file->second = defined_as_nothing(text.lexed->tokens);
    auto found = section_word_of(item, *scope.files.at(item.file), of_file->second, counts_sections);
    if (!found)
      found = conditional_section_word(text, begin_with_groups(text, front, item.begin, item.end), item.begin);
    if (!found || !words.insert(found->word).second) continue;
    result.push_back(placed(read, in_quotes(found->word) + " of " + in_quotes(name), item.file, found->offset) +
                     " is not in planned C" + (is_pool ? "; --pools can give its section" : ""));
  }
  return result;
}

std::vector<std::string> shared_pools(const FilesRead& read, const std::vector<PlannedPool>& pools) {
  std::vector<std::string> result;
  for (const PlannedPool& pool : pools) {
    const auto found = read.scope.not_static.find(pool.name);
    if (found == read.scope.not_static.end()) continue;
    result.push_back(placed(read, "pool " + in_quotes(pool.name), found->second.file, found->second.offset) +
                     " is not static, so other files may use it; planned C has static pools of its own instead");
  }
  return result;
}

std::vector<LostName> lost_names(const FilesRead& read, const std::vector<PlannedPool>& pools,
                                 const std::function<bool(const Item&)>& is_read) {
  std::vector<LostName> result;
  for (const PlannedPool& pool : pools) {
    const auto found = read.scope.not_static.find(pool.name);
    if (found == read.scope.not_static.end()) continue;
    const auto [file, offset] = found->second;
    result.push_back({pool.name, read.files[file].name, read.places.at(file, offset), LostName::Kind::pool});
  }
  for (const Item& item : read.scope.items) {
    if (item.is_local || item.name == read.entry || !is_read(item)) continue;
    const bool is_constant = item.kind == Item::Kind::data;
    bool is_declared = false;
    for (std::size_t i = 0; i < read.included.count() && is_constant && !is_declared; ++i) {
      is_declared = i != item.file && read.included.code(i).mentions(item.name);
    }
    result.push_back({std::string(item.name), read.files[item.file].name, read.places.at(item.file, item.begin),
                      is_constant ? LostName::Kind::constant : LostName::Kind::function, is_declared});
  }
  return result;
}

}  // namespace usmp::tvm_c
