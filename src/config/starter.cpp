// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes tvmc's settings or examples as YAML or JSON, and makes pools of the regions of a linker script.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "config/keys.hpp"
#include "config/text_check.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/config/tvmc.hpp"
#include "usmp/support/text.hpp"

namespace usmp::config {
namespace {

// Text of the archive inside a comment: nothing in it may end the comment or make the file unreadable.
std::string in_comment(std::string_view text) {
  std::string result;
  for (const char c : text) result += is_control(c) || static_cast<unsigned char>(c) >= 0x80U ? '?' : c;
  return result;
}

// {c: rw, cmsis-nn: rw}
std::string targets_map(const std::vector<std::string>& targets, const std::string& access) {
  std::vector<std::string> names;
  std::copy_if(targets.begin(), targets.end(), std::back_inserter(names), is_target_name);
  if (names.empty()) names.emplace_back("c");
  std::string result;
  for (const std::string& name : names) {
    result += result.empty() ? "{" : ", ";
    result += name;
    result += ": ";
    result += access;
  }
  return result + "}";
}

std::string bytes(Bytes count) { return std::to_string(count) + " bytes"; }

std::string header(const ModelSummary& model) {
  std::string text = "# Memory pools for " + in_comment(model.archive) + ", read by usmp-plan --pools.\n#\n";
  text += "# Workspace: " + bytes(model.workspace_load) +
          " are live at once: a lower bound, not a size. Plans may need more.\n";
  text += "# `usmp-plan MODEL --dry-run` shows how much. ";
  if (model.unplanned_workspace) text += "The unplanned build takes " + bytes(*model.unplanned_workspace) + ". ";
  text.back() = '\n';
  text += "# Constants: " + bytes(model.constant_bytes) + ".\n#\n";
  text += "# Lines such as '#  - name: dtcm' are settings: remove the '#' to use them.\n";
  return text;
}

enum class Syntax { yaml, json };

// A word of our own or a name. YAML takes some words for the absence of a value.
std::string word(const std::string& text, Syntax syntax) {
  const bool plain = syntax == Syntax::yaml && upper_case(text) != "NULL";
  return plain ? text : '"' + text + '"';
}

struct Setting {
  std::string key;
  std::string value;
};

// {c: rw, ethos-u: rw}
template <class Value, class Text>
std::string map_text(const std::map<std::string, Value>& values, Syntax syntax, const Text& text_of) {
  std::vector<std::string> entries;
  entries.reserve(values.size());
  for (const auto& [key, value] : values) entries.push_back(word(key, syntax) + ": " + text_of(value));
  return "{" + joined(entries) + "}";
}

std::vector<Setting> settings_of(const TvmcPool& pool, Syntax syntax) {
  std::vector<Setting> settings = {{"name", word(pool.name, syntax)}};
  if (pool.size_hint) {
    settings.push_back(
        {"size_hint_bytes", syntax == Syntax::yaml ? format_size(*pool.size_hint) : std::to_string(*pool.size_hint)});
  }
  if (!pool.region.empty()) settings.push_back({"size_hint_bytes", word("ld:" + pool.region, syntax)});
  if (!pool.targets.empty()) {
    settings.push_back({"targets", map_text(pool.targets, syntax, [&](Access access) {
                          return word(access == Access::read_write ? "rw" : "ro", syntax);
                        })});
  }
  for (const auto& [key, value] : pool.properties) settings.push_back({key, std::to_string(value)});
  if (!pool.burst_bytes.empty()) {
    settings.push_back({"target_burst_bytes",
                        map_text(pool.burst_bytes, syntax, [](std::int64_t value) { return std::to_string(value); })});
  }
  return settings;
}

std::string yaml_list(const std::string& key, const std::vector<TvmcPool>& pools) {
  std::string text = key + ":\n";
  for (const TvmcPool& pool : pools) {
    std::string start = "  - ";
    for (const Setting& setting : settings_of(pool, Syntax::yaml)) {
      text += std::exchange(start, "    ") + setting.key + ": " + setting.value;
      if (setting.key == "name" && pool.planned) text += "  # TVM's plan: " + bytes(*pool.planned);
      if (setting.key == "name" && !pool.note.empty()) text += "  # " + in_comment(pool.note);
      text += "\n";
    }
  }
  return text;
}

std::string json_list(const std::string& key, const std::vector<TvmcPool>& pools) {
  std::vector<std::string> entries;
  for (const TvmcPool& pool : pools) {
    std::vector<std::string> settings;
    for (const Setting& setting : settings_of(pool, Syntax::json)) {
      settings.push_back(word(setting.key, Syntax::json) + ": " + setting.value);
    }
    entries.push_back("{" + joined(settings) + "}");
  }
  return word(key, Syntax::json) + ": [" + joined(entries) + "]";
}

// The name of the workspace pool of a file that names none.
std::string only_pool_name(const std::vector<TvmcPool>& parameter_pools) {
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(parameter_pools.begin(), parameter_pools.end(),
                       [&](const TvmcPool& pool) { return upper_case(pool.name) == upper_case(name); });
  };
  std::string name = "sram";
  while (is_taken(name)) name += "_workspace";
  return name;
}

std::string workspace_pools(const ModelSummary& model, const TvmcSettings& settings) {
  std::string text =
      "# Memory for intermediate data. The first pool is filled first; buffers that do not fit go to the next.\n";
  if (!settings.workspace_pools.empty()) {
    return text + "# Pools can also have pool_offset, alignment, internal, section and budget (docs/pools.md).\n" +
           yaml_list("workspace_pools", settings.workspace_pools);
  }
  text += "workspace_pools:\n#  - name: dtcm\n";
  text +=
      "#    size_hint_bytes: 64KiB  # of your board (65536, 64KiB, 2MiB, 1GiB); unbounded without it\n"
      "#    pool_offset: 256  # reserved bytes at the start of the pool\n"
      "#    alignment: 16  # of the pool and of every buffer in it\n"
      "#    internal: true  # the generated C defines the array; false: the application passes a pointer\n"
      "#    section: .bss.dtcm  # linker section of that array; .bss… takes no flash\n"
      "#    budget: {warn_at: 95%, max_growth: 1%}  # limits for usmp-plan check\n";
  text += "#    targets: " + targets_map(model.targets, "rw") + "  # without it, every target may read and write\n";
  return text + "  - name: " + only_pool_name(settings.parameter_pools) + "\n";
}

std::string parameter_pools(const ModelSummary& model, const std::vector<TvmcPool>& chosen) {
  const std::string text =
      "# Memory for the constants. Without a pool, constants are arrays beside the operators' code.\n";
  if (!chosen.empty()) return text + yaml_list("parameter_pools", chosen);
  return text + "#parameter_pools:\n#  - name: flash\n#    targets: " + targets_map(model.targets, "ro") + "\n";
}

}  // namespace

TvmcSettings pools_of_regions(const std::vector<MemoryRegion>& regions) {
  TvmcSettings settings;
  std::set<std::string> taken;  // in upper case
  std::vector<const MemoryRegion*> placed;
  for (const MemoryRegion& region : regions) {
    if (!region.alias_of.empty()) continue;
    if (!region.is_writable) {
      settings.notes.push_back("region " + region.name + " (" + format_size(region.length) +
                               ") has no pool: it has no attributes, such as (rw), that say whether it can be written");
      continue;
    }
    std::vector<TvmcPool>& pools = *region.is_writable ? settings.workspace_pools : settings.parameter_pools;
    if (pools.size() == max_pools) {
      settings.notes.push_back("region " + region.name + " has no pool: a pools file has at most " +
                               std::to_string(max_pools) + " of a kind");
      continue;
    }
    TvmcPool& pool = pools.emplace_back();
    for (const char c : region.name) pool.name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    pool.name = c_identifier(pool.name);
    while (!expected_name(pool.name).empty() || taken.contains(upper_case(pool.name))) pool.name += "_memory";
    taken.insert(upper_case(pool.name));
    pool.region = region.name;
    pool.note = "a region of " + format_size(region.length);
    const auto before =
        std::ranges::find_if(placed, [&](const MemoryRegion* one) { return overlap_of(*one, region) > 0; });
    if (before != placed.end()) {
      settings.notes.push_back("regions " + (*before)->name + " and " + region.name + " overlap in " +
                               std::to_string(overlap_of(**before, region)) +
                               " bytes, which their pools count both: keep one of the pools");
    }
    placed.push_back(&region);
  }
  return settings;
}

std::string starter_file(const ModelSummary& model, const TvmcSettings& settings, const std::string& schema) {
  std::string text = schema.empty() ? "" : "# yaml-language-server: $schema=" + in_comment(schema) + "\n";
  text +=
      header(model) + "\n" + workspace_pools(model, settings) + "\n" + parameter_pools(model, settings.parameter_pools);
  text += "\n# usmp-plan --list-algorithms lists them; the command line overrides this.\n";
  text += settings.algorithm ? "algorithm: " + word(*settings.algorithm, Syntax::yaml) + "\n" : "#algorithm: optimal\n";
  text += "\n# true: inputs and outputs are placed in the workspace pools too.\n";
  if (!settings.workspace_io) return text + "#workspace_io: false\n";
  return text + "workspace_io: " + (*settings.workspace_io ? "true" : "false") + "\n";
}

std::string starter_json(const TvmcSettings& settings) {
  std::vector<TvmcPool> workspace = settings.workspace_pools;
  if (workspace.empty()) workspace.emplace_back().name = only_pool_name(settings.parameter_pools);
  std::vector<std::string> entries = {json_list("workspace_pools", workspace)};
  if (!settings.parameter_pools.empty()) entries.push_back(json_list("parameter_pools", settings.parameter_pools));
  if (settings.algorithm) entries.push_back("\"algorithm\": " + word(*settings.algorithm, Syntax::json));
  if (settings.workspace_io)
    entries.push_back(std::string("\"workspace_io\": ") + (*settings.workspace_io ? "true" : "false"));
  return "{" + joined(entries) + "}\n";
}

}  // namespace usmp::config
