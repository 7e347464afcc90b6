// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Recognises options by tables of TVM's spellings, and collects their values pool by pool.
#include "usmp/config/tvmc.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "config/keys.hpp"
#include "config/size.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::config {
namespace {

constexpr std::string_view pass_config = "--pass-config";

// An option and its value, as one word or two.
struct Given {
  std::string option;  // "--workspace-pools"
  std::string value;   // not empty
};

// An option of one property of several pools: "--workspace-pools-read-latency-cycles".
struct PropertyOption {
  PoolKind kind;
  std::string property;  // as a key of a pools file: "read_latency_cycles"
};

struct ListOption {
  std::string_view option;
  PoolKind kind;
  std::string_view property_prefix;  // of the options of one property; empty: none
  std::string_view pool_prefix;      // of the options of one pool; empty: none
};

constexpr std::array<ListOption, 4> lists = {{
    {"--workspace-pools", PoolKind::workspace, "--workspace-pools-", {}},
    {"--constant-pools", PoolKind::constant, "--constant-pools-", {}},
    {"--usmp-workspace-pools", PoolKind::workspace, {}, "--usmp-workspace-pool-"},
    {"--usmp-parameter-pools", PoolKind::constant, {}, "--usmp-parameter-pool-"},
}};

constexpr std::string_view targets_property = "targets";
constexpr std::string_view access_property = "target_access";  // of older releases, instead of targets
constexpr std::string_view size_property = "size_hint_bytes";
constexpr std::string_view burst_property = "target_burst_bytes";

const std::vector<std::string>& number_properties() {
  static const std::vector<std::string> keys = {"clock_frequency_hz", "read_bandwidth_bytes_per_cycle",
                                                "write_bandwidth_bytes_per_cycle", "read_latency_cycles",
                                                "write_latency_cycles"};
  return keys;
}

std::vector<std::string> all_properties() {
  std::vector<std::string> all = number_properties();
  for (const std::string_view one : {targets_property, access_property, size_property, burst_property}) {
    all.emplace_back(one);
  }
  return all;
}

std::string replaced(std::string text, char old, char instead) {
  std::replace(text.begin(), text.end(), old, instead);
  return text;
}

std::vector<std::string> known_options() {
  std::vector<std::string> known = {std::string(pass_config)};
  for (const ListOption& list : lists) {
    known.emplace_back(list.option);
    if (list.property_prefix.empty()) continue;
    for (const std::string& property : all_properties()) {
      known.push_back(std::string(list.property_prefix) + replaced(property, '_', '-'));
    }
  }
  return known;
}

std::string option_text(const Given& given) {
  constexpr std::size_t longest = 100;
  const std::string whole = given.option + (given.option == pass_config ? " " : "=") + given.value;
  return whole.size() <= longest ? whole : whole.substr(0, longest) + "...";
}

[[noreturn]] void fail(const Given& given, const std::string& message) {
  throw Error(ErrorKind::usage, {{}, {}, option_text(given)}, message);
}

// Misspelled words are short.
std::string near_spelling(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 100;
  return word.size() > longest ? "" : did_you_mean(word, known);
}

std::vector<std::string> items_of(std::string_view text, char separator) {
  std::vector<std::string> items = split(text, separator);
  for (std::string& item : items) item = std::string(trimmed(item, " "));
  return items;
}

// What stands in front of the first `separator`, and what behind; nothing behind if there is none.
std::pair<std::string, std::optional<std::string>> halves(const std::string& text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string::npos) return {text, std::nullopt};
  const std::string_view whole = text;
  return {std::string(trimmed(whole.substr(0, at), " ")), std::string(trimmed(whole.substr(at + 1), " "))};
}

std::string target_of(const Given& given, const std::string& text) {
  if (!is_target_name(text)) {
    fail(given,
         "the target " + shown(text) + ": expected a name such as c or ethos-u (letters, digits, '_', '-', '.')");
  }
  return text;
}

Access access_of(const Given& given, const std::string& text) {
  if (text == "rw") return Access::read_write;
  if (text == "ro") return Access::read_only;
  fail(given, "the access " + shown(text) + ": expected ro or rw");
}

// Nothing for -1, which is TVM's word for unknown.
std::optional<std::int64_t> number_of(const Given& given, const std::string& text) {
  const auto number = parse_integer(text);
  if (!number || *number < -1) fail(given, shown(text) + ": expected a whole number from 0, or -1 for unknown");
  return *number == -1 ? std::nullopt : number;
}

std::optional<Bytes> size_of(const Given& given, const std::string& text) {
  if (text == "-1") return std::nullopt;
  const auto size = parse_size(text);
  if (!size || *size == 0) {
    fail(given, "the size " + shown(text) + ": expected bytes such as 65536 or 64KiB, or -1 for an unbounded pool");
  }
  return size;
}

bool flag_of(const Given& given, const std::string& value) {
  const std::string word = upper_case(value);
  if (word == "TRUE") return true;
  if (word == "FALSE") return false;
  if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos) {
    fail(given, shown(value) + ": expected 1 or 0, or true or false");
  }
  return value.find_first_not_of('0') != std::string::npos;
}

// The options of a command line in its order, each with its value.
std::vector<Given> given_in(const std::vector<std::string>& words) {
  std::vector<Given> all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_tvmc_option(words[i])) continue;
    const std::string& word = words[i];
    const std::size_t sign = word.find('=');
    Given given{.option = word.substr(0, sign), .value = sign == std::string::npos ? "" : word.substr(sign + 1)};
    if (takes_next_word(word) && i + 1 < words.size() && !words[i + 1].starts_with("--")) given.value = words[++i];
    if (given.value.empty()) {
      throw Error(ErrorKind::usage, {{}, {}, option_text(given)}, "has no value");
    }
    all.push_back(std::move(given));
  }
  return all;
}

const ListOption* list_of(const Given& given) {
  const auto found =
      std::find_if(lists.begin(), lists.end(), [&](const ListOption& list) { return list.option == given.option; });
  return found == lists.end() ? nullptr : found;
}

// The list whose pool the option describes: "--usmp-workspace-pool-dtcm".
const ListOption* pool_list_of(const Given& given) {
  const auto found = std::find_if(lists.begin(), lists.end(), [&](const ListOption& list) {
    return !list.pool_prefix.empty() && given.option.starts_with(list.pool_prefix);
  });
  return found == lists.end() ? nullptr : found;
}

std::optional<PropertyOption> property_of(const Given& given) {
  static const std::vector<std::string> properties = all_properties();
  for (const ListOption& list : lists) {
    if (list.property_prefix.empty() || !given.option.starts_with(list.property_prefix)) continue;
    std::string property = replaced(given.option.substr(list.property_prefix.size()), '-', '_');
    const bool known = given.option.find('_') == std::string::npos &&
                       std::find(properties.begin(), properties.end(), property) != properties.end();
    if (known) return PropertyOption{.kind = list.kind, .property = std::move(property)};
  }
  return std::nullopt;
}

class TvmcReader {
 public:
  TvmcSettings read(const std::vector<std::string>& words) {
    const std::vector<Given> all = given_in(words);
    for (const Given& given : all) read_list(given);
    for (const Given& given : all) read_option(given);
    // Accesses are of targets, in whatever order they were given.
    for (const Given& given : all) {
      const auto option = property_of(given);
      if (option && option->property == access_property) read_accesses(given, option->kind);
    }
    for (const TvmcPool& pool : settings_.workspace_pools) require_writer(pool);
    return std::move(settings_);
  }

 private:
  std::vector<TvmcPool>& pools(PoolKind kind) {
    return kind == PoolKind::constant ? settings_.parameter_pools : settings_.workspace_pools;
  }

  void read_list(const Given& given) {
    const ListOption* const list = list_of(given);
    if (list == nullptr) return;
    const std::vector<std::string> names = items_of(given.value, ',');
    std::vector<TvmcPool>& of_kind = pools(list->kind);
    if (!of_kind.empty()) {
      const bool same = std::equal(names.begin(), names.end(), of_kind.begin(), of_kind.end(),
                                   [](const std::string& name, const TvmcPool& pool) { return name == pool.name; });
      if (!same) fail(given, "a second list of other pools: expected one command line, with one list");
      return;
    }
    if (names.size() > max_pools) fail(given, "more than " + std::to_string(max_pools) + " pools");
    for (const std::string& name : names) {
      const std::string expected = expected_name(name);
      if (!expected.empty()) fail(given, "the pool " + shown(name) + ": expected " + expected);
      if (!names_.insert(upper_case(name)).second) {
        fail(given, "a second pool " + shown(name) + ": expected names that differ in upper case, for C macros");
      }
      TvmcPool pool;
      pool.name = name;
      of_kind.push_back(std::move(pool));
    }
  }

  void read_option(const Given& given) {
    if (given.option == pass_config) {
      read_pass_config(given);
    } else if (const ListOption* const list = pool_list_of(given)) {
      read_pool(given, *list);
    } else if (const auto option = property_of(given)) {
      read_property(given, *option);
    } else if (list_of(given) == nullptr) {
      static const std::vector<std::string> known = known_options();
      fail(given, "tvmc has no such option" + near_spelling(given.option, known));
    }
  }

  TvmcPool& pool_named(const Given& given, PoolKind kind, const std::string& name) {
    std::vector<TvmcPool>& of_kind = pools(kind);
    const auto found =
        std::find_if(of_kind.begin(), of_kind.end(), [&](const TvmcPool& pool) { return pool.name == name; });
    if (found != of_kind.end()) return *found;
    std::vector<std::string> known;
    known.reserve(of_kind.size());
    for (const TvmcPool& pool : of_kind) known.push_back(pool.name);
    const bool design = given.option.starts_with("--usmp-");
    const auto list = std::find_if(lists.begin(), lists.end(), [&](const ListOption& one) {
      return one.kind == kind && one.pool_prefix.empty() != design;
    });
    fail(given, "the pool " + shown(name) + " is not in " + std::string(list->option) + near_spelling(name, known));
  }

  void read_property(const Given& given, const PropertyOption& option) {
    if (option.property == targets_property) {
      read_targets(given, option.kind);
      return;
    }
    if (option.property == access_property) return;
    for (const std::string& item : items_of(given.value, ',')) {
      const auto [name, value] = halves(item, ':');
      const std::string form = option.property == burst_property ? "POOL:TARGET:BYTES" : "POOL:NUMBER";
      if (!value) fail(given, shown(item) + ": expected " + form);
      TvmcPool& pool = pool_named(given, option.kind, name);
      if (option.property == size_property) {
        pool.size_hint = size_of(given, *value);
      } else if (option.property == burst_property) {
        const auto [target, bytes] = halves(*value, ':');
        if (!bytes) fail(given, shown(item) + ": expected " + form);
        set(pool.burst_bytes, target_of(given, target), number_of(given, *bytes));
      } else {
        set(pool.properties, option.property, number_of(given, *value));
      }
    }
  }

  static void set(std::map<std::string, std::int64_t>& values, const std::string& key,
                  const std::optional<std::int64_t>& value) {
    if (value) {
      values.insert_or_assign(key, *value);
    } else {
      values.erase(key);
    }
  }

  // "dtcm:c,sram:c,accel": a target without a pool belongs to the pool in front of it.
  void read_targets(const Given& given, PoolKind kind) {
    TvmcPool* pool = nullptr;
    std::set<std::string> begun;  // what earlier options say of a pool does not count any more
    for (const std::string& item : items_of(given.value, ',')) {
      const auto [first, second] = halves(item, ':');
      if (second) {
        pool = &pool_named(given, kind, first);
        if (begun.insert(pool->name).second) pool->targets.clear();
      }
      if (pool == nullptr) fail(given, shown(item) + ": expected POOL:TARGET,TARGET");
      const Access access = kind == PoolKind::constant ? Access::read_only : Access::read_write;
      pool->targets.insert_or_assign(target_of(given, second.value_or(first)), access);
    }
  }

  void read_accesses(const Given& given, PoolKind kind) {
    for (const std::string& item : items_of(given.value, ',')) {
      const auto [name, rest] = halves(item, ':');
      const auto [target, access] = halves(rest.value_or(""), ':');
      if (!access) fail(given, shown(item) + ": expected POOL:TARGET:ACCESS");
      TvmcPool& pool = pool_named(given, kind, name);
      pool.targets.insert_or_assign(target_of(given, target), access_of(given, *access));
      accesses_.insert_or_assign(pool.name, given);
    }
  }

  // "target=c:rw,accel;size=1000".
  void read_pool(const Given& given, const ListOption& list) {
    TvmcPool& pool = pool_named(given, list.kind, given.option.substr(list.pool_prefix.size()));
    for (const std::string& item : items_of(given.value, ';')) {
      if (item.empty()) continue;
      const auto [key, value] = halves(item, '=');
      if (!value || (key != "target" && key != "size")) {
        fail(given, shown(item) + ": expected target=TARGET,TARGET or size=BYTES, with ';' between them");
      }
      if (key == "size") {
        pool.size_hint = size_of(given, *value);
        continue;
      }
      pool.targets.clear();
      for (const std::string& one : items_of(*value, ',')) {
        const auto [target, access] = halves(one, ':');
        const Access usual = list.kind == PoolKind::constant ? Access::read_only : Access::read_write;
        pool.targets.insert_or_assign(target_of(given, target), access ? access_of(given, *access) : usual);
      }
      accesses_.insert_or_assign(pool.name, given);
    }
  }

  void read_pass_config(const Given& given) {
    static const std::vector<std::string> of_usmp = {"tir.usmp.enable", "tir.usmp.algorithm",
                                                     "tir.usmp.use_workspace_io", "tir.usmp.custom_algorithm"};
    const auto [name, value] = halves(given.value, '=');
    if (!value || value->empty()) fail(given, "expected NAME=VALUE");
    const std::string start = option_text(given) + " is ignored: ";
    if (name == "tir.usmp.algorithm") {
      if (c_identifier(*value) != *value)
        fail(given, "the algorithm " + shown(*value) + ": expected a name such as hill_climb");
      settings_.algorithm = *value;
      settings_.algorithm_place = option_text(given);
    } else if (name == "tir.usmp.use_workspace_io") {
      settings_.workspace_io = flag_of(given, *value);
    } else if (name == "tir.usmp.enable") {
      if (!flag_of(given, *value)) settings_.notes.push_back(start + "usmp-plan always plans");
    } else if (name == "tir.usmp.custom_algorithm") {
      settings_.notes.push_back(start + "it names a function inside TVM; --algorithm exec:PROGRAM runs a program");
    } else if (name.starts_with("tir.usmp.")) {
      fail(given, "TVM has no such setting" + near_spelling(name, of_usmp));
    } else {
      settings_.notes.push_back(start + "it shapes code that the archive already has");
    }
  }

  void require_writer(const TvmcPool& pool) const {
    const bool writable =
        pool.targets.empty() || std::any_of(pool.targets.begin(), pool.targets.end(),
                                            [](const auto& one) { return one.second == Access::read_write; });
    if (writable) return;
    fail(accesses_.at(pool.name),
         "no target may write the workspace pool " + shown(pool.name) + ": expected rw for at least one target");
  }

  TvmcSettings settings_;
  std::set<std::string> names_;            // of all pools, in upper case
  std::map<std::string, Given> accesses_;  // by pool: the option that gave it a target that may not write
};

}  // namespace

bool is_tvmc_option(std::string_view word) {
  return word.starts_with("--workspace-pool") || word.starts_with("--constant-pool") || word.starts_with("--usmp-") ||
         word.starts_with(pass_config);
}

bool takes_next_word(std::string_view option) {
  const std::size_t sign = option.find('=');
  return sign == std::string_view::npos || sign + 1 == option.size();
}

TvmcSettings tvmc_settings(const std::vector<std::string>& words) { return TvmcReader().read(words); }

}  // namespace usmp::config
