// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads each key into its property, then checks what several keys say together.
#include "usmp/config/pools.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>
#include <utility>

#include "config/budget.hpp"
#include "config/keys.hpp"
#include "config/section.hpp"
#include "config/values.hpp"
#include "config/yaml_tree.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/support/text.hpp"

namespace usmp::config {
namespace {

constexpr std::int64_t max_alignment = std::int64_t{1} << 20;

Bytes alignment_of(const YamlEntry& entry) {
  static const std::string expected = "a power of two from 1 to " + std::to_string(max_alignment);
  const auto alignment = integer_at_least(entry.value, 1);
  if (!alignment || *alignment > max_alignment || !std::has_single_bit(static_cast<std::uint64_t>(*alignment))) {
    fail_value(entry, expected);
  }
  return *alignment;
}

std::string name_of(const YamlEntry& entry) {
  const YamlNode& value = entry.value;
  const std::string expected = expected_name(value.kind == YamlNode::Kind::scalar ? value.text : "");
  if (!expected.empty()) fail_value(entry, expected);
  return value.text;
}

std::string section_of(const YamlEntry& entry) {
  // What a section name may hold in a C attribute without changing the text around it.
  constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,$-";
  const YamlNode& value = entry.value;
  if (value.kind != YamlNode::Kind::scalar || value.text.empty() ||
      value.text.find_first_not_of(allowed) != std::string::npos) {
    fail_value(entry, "a linker section such as .dtcm (letters, digits, '_', '.', ',', '$', '-')");
  }
  return value.text;
}

// How the contents of a parameter pool are written.
enum class Emit { array, header, binary };

Emit emit_of(const YamlEntry& entry, PoolKind kind) {
  if (kind == PoolKind::workspace) {
    fail(entry.mark,
         "emit says how contents are written, but a workspace pool has none: expected it in parameter_pools");
  }
  const std::string& word = entry.value.text;
  if (entry.value.kind == YamlNode::Kind::scalar) {
    if (word == "array") return Emit::array;
    if (word == "header") return Emit::header;
    if (word == "binary") return Emit::binary;
  }
  fail_value(entry, "array, header or binary");
}

void check_target_name(const YamlEntry& target) {
  if (target.key.empty()) fail(target.mark, "an empty target name: expected a target such as c");
}

std::map<std::string, Access> targets_of(const YamlEntry& entry, PoolKind kind) {
  if (entry.value.kind != YamlNode::Kind::map) fail_value(entry, "a map of targets to ro or rw, such as {c: rw}");
  std::map<std::string, Access> targets;
  bool writable = false;
  for (const YamlEntry& target : entry.value.entries) {
    check_target_name(target);
    const YamlNode& value = target.value;
    const bool read_write = value.kind == YamlNode::Kind::scalar && value.text == "rw";
    if (!read_write && (value.kind != YamlNode::Kind::scalar || value.text != "ro")) {
      fail(value.mark, "access of target " + shown(target.key) + " is " + found(value) + ": expected ro or rw");
    }
    targets.emplace(target.key, read_write ? Access::read_write : Access::read_only);
    writable = writable || read_write;
  }
  if (targets.empty()) {
    fail(entry.value.mark,
         "targets is empty, so nothing can use the pool: expected at least one target; without the key all may use it");
  }
  if (kind == PoolKind::workspace && !writable) {
    fail(entry.value.mark, "no target may write this workspace pool: expected rw for at least one target");
  }
  return targets;
}

// Checked, so that a file is right when something reads it; kept nowhere, since nothing does.
void check_burst_bytes(const YamlEntry& entry) {
  if (entry.value.kind != YamlNode::Kind::map) fail_value(entry, "a map of targets to bytes, such as {c: 4}");
  for (const YamlEntry& target : entry.value.entries) {
    check_target_name(target);
    if (!integer_at_least(target.value, -1)) {
      fail(target.value.mark, "target_burst_bytes of target " + shown(target.key) + " is " + found(target.value) +
                                  ": expected an integer >= -1");
    }
  }
}

// TVM's properties of speed. -1: not known, and so is a bandwidth or clock of 0.
void read_speed(const YamlEntry& entry, Speed& speed) {
  const auto number = integer_at_least(entry.value, -1);
  if (!number) fail_value(entry, "an integer >= -1");
  const auto known = [&](std::int64_t least) { return *number >= least ? number : std::nullopt; };
  if (entry.key == "clock_frequency_hz") {
    speed.clock_hz = known(1);
  } else if (entry.key == "read_bandwidth_bytes_per_cycle") {
    speed.read_bytes_per_cycle = known(1);
  } else if (entry.key == "write_bandwidth_bytes_per_cycle") {
    speed.write_bytes_per_cycle = known(1);
  } else if (entry.key == "read_latency_cycles") {
    speed.read_latency_cycles = known(0);
  } else {
    speed.write_latency_cycles = known(0);
  }
}

constexpr std::string_view region_prefix = "ld:";

std::vector<std::string> names_of(const std::vector<MemoryRegion>& memory) {
  std::vector<std::string> names;
  names.reserve(memory.size());
  for (const MemoryRegion& region : memory) names.push_back(region.name);
  return names;
}

bool names_region(const YamlNode& value) {
  return value.kind == YamlNode::Kind::scalar && value.text.starts_with(region_prefix);
}

// The region that "ld:NAME" names, whose size or place is `what`.
const MemoryRegion& named_region(const YamlEntry& entry, const std::vector<MemoryRegion>* memory, const char* what) {
  const std::string name = entry.value.text.substr(region_prefix.size());
  if (memory == nullptr) {
    fail(entry.value.mark, entry.key + " is " + found(entry.value) + ", the " + what +
                               " of a region of a linker script: expected --memory with the script");
  }
  const auto region =
      std::find_if(memory->begin(), memory->end(), [&](const MemoryRegion& known) { return known.name == name; });
  if (region == memory->end()) {
    const std::vector<std::string> names = names_of(*memory);
    fail(entry.value.mark, entry.key + " names region " + shown(name) + ", which the linker script does not have" +
                               did_you_mean(name, names) + ": expected one of " + first_few(names));
  }
  return *region;
}

// Where a programmer writes the contents of a pool. What follows stays below 2^56.
Bytes address_of(const YamlEntry& entry, const std::vector<MemoryRegion>* memory, PoolSpec& pool) {
  constexpr std::uint64_t most = std::uint64_t{1} << 48;
  const YamlNode& value = entry.value;
  if (pool.kind == PoolKind::workspace) {
    fail(entry.mark,
         "address says where a programmer writes contents, but a workspace pool has none: expected it in "
         "parameter_pools");
  }
  std::optional<std::uint64_t> address;
  if (names_region(value)) {
    const MemoryRegion& region = named_region(entry, memory, "place");
    pool.region = region.name;
    address = region.origin;
  } else if (value.kind == YamlNode::Kind::scalar && !value.quoted) {
    const bool is_hexadecimal = value.text.starts_with("0x") || value.text.starts_with("0X");
    std::uint64_t number = 0;
    const char* end = value.text.data() + value.text.size();
    const auto read =
        std::from_chars(value.text.data() + (is_hexadecimal ? 2 : 0), end, number, is_hexadecimal ? 16 : 10);
    if (read.ec == std::errc{} && read.ptr == end) address = number;
  }
  if (!address || *address > most) fail_value(entry, "an address from 0 to 2^48 such as 0x90000000, or ld:REGION");
  return static_cast<Bytes>(*address);
}

// Gives a pool without a size that of the region of its address, else of the region with its name. Two that differ in
// case: the first.
void take_region(const std::vector<MemoryRegion>& memory, PoolSpec& pool) {
  for (const MemoryRegion& region : memory) {
    const bool is_it =
        pool.region.empty() ? upper_case(region.name) == upper_case(pool.name) : region.name == pool.region;
    if (!is_it) continue;
    pool.region = region.name;
    pool.size_hint = region.length;
    return;
  }
}

void read_pool_key(const YamlEntry& entry, const std::vector<MemoryRegion>* memory, PoolSpec& pool) {
  const std::string& key = entry.key;
  if (key == "name") {
    pool.name = name_of(entry);
  } else if (key == "size_hint_bytes") {
    if (names_region(entry.value)) {
      const MemoryRegion& region = named_region(entry, memory, "size");
      pool.region = region.name;
      pool.size_hint = region.length;
    } else {
      pool.size_hint = size_hint_of(entry);
    }
    pool.size_position = {.line = entry.value.mark.line, .column = entry.value.mark.column};
  } else if (key == "pool_offset") {
    pool.reserved = offset_of(entry);
  } else if (key == "alignment") {
    pool.alignment = alignment_of(entry);
  } else if (key == "targets") {
    pool.targets = targets_of(entry, pool.kind);
    for (const YamlEntry& target : entry.value.entries) {
      pool.target_positions[target.key] = {.line = target.mark.line, .column = target.mark.column};
    }
  } else if (key == "section") {
    pool.section = section_of(entry);
  } else if (key == "internal") {
    pool.internal = bool_of(entry);
  } else if (key == "emit") {
    pool.is_binary = emit_of(entry, pool.kind) == Emit::binary;
  } else if (key == "address") {
    pool.address = address_of(entry, memory, pool);
  } else if (key == "state") {
    if (pool.kind != PoolKind::workspace) fail(entry.mark, "state is written: expected it in workspace_pools");
    pool.holds_state = bool_of(entry);
  } else if (key == "budget") {
    pool.budget = read_budget(entry);
  } else if (key == "target_burst_bytes") {
    check_burst_bytes(entry);
  } else {
    read_speed(entry, pool.speed);
  }
}

// A name of the model: any text, since the model decides what it holds.
std::string model_name_of(const YamlEntry& entry, const std::string& what) {
  if (entry.value.kind != YamlNode::Kind::scalar || entry.value.text.empty()) fail_value(entry, "the name of " + what);
  return entry.value.text;
}

PinSpec read_pin(const YamlNode& item) {
  PinSpec pin;
  pin.place = line_and_column(item.mark.line, item.mark.column);
  bool has_offset = false;
  for (const YamlEntry& entry : item.entries) {
    if (entry.key == "buffer") {
      pin.buffer = model_name_of(entry, "a buffer");
    } else if (entry.key == "function") {
      pin.function = model_name_of(entry, "the function that declares the buffer");
    } else if (entry.key == "occurrence") {
      const auto number = integer_at_least(entry.value, 0);
      if (!number) fail_value(entry, "an integer >= 0");
      pin.occurrence = static_cast<std::size_t>(*number);
    } else if (entry.key == "pool") {
      pin.pool = model_name_of(entry, "a pool");
    } else if (entry.key == "offset") {
      pin.offset = offset_of(entry);
      has_offset = true;
    } else {
      fail_unknown_key(entry, "a pin", pin_keys());
    }
  }
  if (pin.buffer.empty()) fail(item.mark, "a pin without a buffer: expected the key buffer");
  if (pin.pool.empty()) fail(item.mark, "the pin of " + shown(pin.buffer) + " without a pool: expected the key pool");
  if (!has_offset) fail(item.mark, "the pin of " + shown(pin.buffer) + " without an offset: expected the key offset");
  return pin;
}

class Reader {
 public:
  explicit Reader(const std::vector<MemoryRegion>* memory) : memory_(memory) {}

  PoolsConfig read(const YamlNode& root) {
    if (root.kind == YamlNode::Kind::null) {
      fail(Mark{},
           "the file names no pools: expected workspace_pools (usmp-plan init MODEL.tar prints a starter file)");
    }
    if (root.kind != YamlNode::Kind::map) {
      fail(root.mark, "the file contains " + found(root) + ": expected the keys " + joined(file_keys()));
    }
    for (const YamlEntry& entry : root.entries) read_file_key(entry);
    if (config_.workspace_pools.empty() && config_.state_pool) {
      fail(workspace_mark_.value_or(root.mark), "no workspace pool but " + in_quotes(config_.state_pool->name) +
                                                    ", which holds state only: expected another");
    }
    if (config_.workspace_pools.empty()) {
      fail(workspace_mark_.value_or(root.mark), "no workspace pool: expected at least one entry in workspace_pools");
    }
    if (memory_ != nullptr && !takes_region_) {
      fail(root.mark, "no pool takes its size from the linker script: expected a pool with the name of a region, or " +
                          std::string("size_hint_bytes: ld:REGION; the regions are ") + first_few(names_of(*memory_)));
    }
    if (memory_ != nullptr) config_.regions = *memory_;
    return std::move(config_);
  }

 private:
  void read_file_key(const YamlEntry& entry) {
    if (entry.key == "workspace_pools") {
      workspace_mark_ = entry.mark;
      config_.workspace_pools = read_pools(entry, PoolKind::workspace);
      take_state_pool(entry);
    } else if (entry.key == "parameter_pools") {
      config_.parameter_pools = read_pools(entry, PoolKind::constant);
    } else if (entry.key == "algorithm") {
      if (entry.value.kind != YamlNode::Kind::scalar || entry.value.text.empty()) {
        fail_value(entry, "the name of an algorithm");
      }
      config_.algorithm = entry.value.text;
      config_.algorithm_place = line_and_column(entry.value.mark.line, entry.value.mark.column);
    } else if (entry.key == "objective") {
      if (entry.value.kind == YamlNode::Kind::scalar) config_.objective = objective_named(entry.value.text);
      if (!config_.objective) fail_value(entry, "size or accesses");
    } else if (entry.key == "workspace_io") {
      config_.workspace_io = bool_of(entry);
    } else if (entry.key == "budgets") {
      config_.budgets = read_whole_budget(entry);
      for (const RegionBudget& budget : config_.budgets.regions) require_region(budget.region, budget.max.position);
    } else if (entry.key == "io_region") {
      config_.io_region = region_of(entry);
    } else if (entry.key == "stack_region") {
      config_.stack_region = region_of(entry);
    } else if (entry.key == "pinned") {
      config_.pinned = read_pins(entry);
    } else if (entry.key == "concurrent") {
      config_.concurrent = read_concurrent(entry);
    } else {
      fail_unknown_key(entry, "the pools file", file_keys());
    }
  }

  // Without a script, names of regions have no effect.
  void require_region(const std::string& name, Position position) const {
    if (memory_ == nullptr) return;
    const auto known = std::ranges::find(*memory_, name, &MemoryRegion::name);
    const Mark mark{.line = position.line, .column = position.column};
    if (known == memory_->end()) {
      const std::vector<std::string> names = names_of(*memory_);
      fail(mark, "the linker script has no region " + shown(name) + did_you_mean(name, names) + ": expected one of " +
                     first_few(names));
    }
    if (!known->alias_of.empty()) {
      fail(mark, "region " + shown(name) + " is an alias: expected " + shown(known->alias_of));
    }
  }

  [[nodiscard]] std::string region_of(const YamlEntry& entry) const {
    if (entry.value.kind != YamlNode::Kind::scalar || entry.value.text.empty()) {
      fail_value(entry, "a region of the linker script");
    }
    require_region(entry.value.text, {.line = entry.value.mark.line, .column = entry.value.mark.column});
    return entry.value.text;
  }

  // Planning has nothing to do with it: what it holds is live at any time.
  void take_state_pool(const YamlEntry& list) {
    std::vector<PoolSpec> others;
    for (std::size_t i = 0; i < config_.workspace_pools.size(); ++i) {
      PoolSpec& pool = config_.workspace_pools[i];
      if (!pool.holds_state) {
        others.push_back(std::move(pool));
        continue;
      }
      const Mark mark = list.value.items[i].mark;
      if (config_.state_pool) fail(mark, "a second pool with state: true: expected one");
      static const std::set<std::string> allowed = {"name",    "size_hint_bytes", "alignment",
                                                    "section", "internal",        "state"};
      for (const YamlEntry& entry : list.value.items[i].entries) {
        if (allowed.contains(entry.key)) continue;
        fail(entry.mark, entry.key +
                             " has no meaning in a pool with state: true: expected only name, size_hint_bytes, "
                             "alignment, section and internal");
      }
      config_.state_pool = std::move(pool);
    }
    config_.workspace_pools = std::move(others);
  }

  static std::vector<PinSpec> read_pins(const YamlEntry& list) {
    static const std::string example = "'- {buffer: sid_1, pool: sram, offset: 0}'";
    if (list.value.kind != YamlNode::Kind::list) fail_value(list, "a list of pins, such as " + example);
    std::vector<PinSpec> pins;
    for (const YamlNode& item : list.value.items) {
      if (item.kind != YamlNode::Kind::map) {
        fail(item.kind == YamlNode::Kind::null ? list.value.mark : item.mark,
             "entry " + std::to_string(pins.size() + 1) + " of pinned is " + found(item) +
                 ": expected a pin, such as " + example);
      }
      pins.push_back(read_pin(item));
    }
    return pins;
  }

  static std::vector<ConcurrentModules> read_concurrent(const YamlEntry& list) {
    static const std::string example = "a list of lists of modules, such as [[kws, vww]]";
    if (list.value.kind != YamlNode::Kind::list) fail_value(list, example);
    std::vector<ConcurrentModules> groups;
    for (const YamlNode& item : list.value.items) {
      const Mark mark = item.kind == YamlNode::Kind::null ? list.value.mark : item.mark;
      if (item.kind != YamlNode::Kind::list) {
        fail(mark, "entry " + std::to_string(groups.size() + 1) + " of concurrent is " + found(item) + ": expected " +
                       example);
      }
      ConcurrentModules group{.modules = {}, .place = line_and_column(mark.line, mark.column)};
      std::set<std::string> names;
      for (const YamlNode& name : item.items) {
        if (name.kind != YamlNode::Kind::scalar || name.text.empty()) {
          fail(mark, "a module in concurrent is " + found(name) + ": expected its name");
        }
        if (!names.insert(name.text).second) fail(name.mark, "module " + shown(name.text) + " twice in one list");
        group.modules.push_back(name.text);
      }
      if (group.modules.size() < 2)
        fail(mark, "a list of concurrent with fewer than two modules: expected those that run side by side");
      groups.push_back(std::move(group));
    }
    return groups;
  }

  std::vector<PoolSpec> read_pools(const YamlEntry& list, PoolKind kind) {
    if (list.value.kind != YamlNode::Kind::list) fail_value(list, "a list of pools, each starting with '- name: '");
    std::vector<PoolSpec> pools;
    for (const YamlNode& item : list.value.items) {
      if (item.kind != YamlNode::Kind::map) {
        // The parser puts an absent entry where the next token stands.
        fail(item.kind == YamlNode::Kind::null ? list.value.mark : item.mark,
             "entry " + std::to_string(pools.size() + 1) + " of " + list.key + " is " + found(item) +
                 ": expected a pool, such as '- name: sram'");
      }
      if (pools.size() == max_pools)
        fail(item.mark, "more than " + std::to_string(max_pools) + " pools in " + list.key);
      pools.push_back(read_pool(item, kind));
    }
    return pools;
  }

  PoolSpec read_pool(const YamlNode& item, PoolKind kind) {
    PoolSpec pool;
    pool.kind = kind;
    pool.position = {.line = item.mark.line, .column = item.mark.column};
    bool says_internal = false;
    std::optional<Emit> emit;
    Mark emit_mark;
    bool says_size = false;
    Mark offset_mark;
    Mark section_mark;
    Mark address_mark;
    const std::string owner = kind == PoolKind::workspace ? "a workspace pool" : "a parameter pool";
    for (const YamlEntry& entry : item.entries) {
      if (std::find(pool_keys().begin(), pool_keys().end(), entry.key) == pool_keys().end()) {
        fail_unknown_key(entry, owner, pool_keys());
      }
      read_pool_key(entry, memory_, pool);
      says_size = says_size || entry.key == "size_hint_bytes";
      if (entry.key == "name") claim_name(pool.name, entry.value.mark);
      if (entry.key == "pool_offset") offset_mark = entry.value.mark;
      if (entry.key == "section") section_mark = entry.value.mark;
      if (entry.key == "address") address_mark = entry.mark;
      says_internal = says_internal || entry.key == "internal";
      if (entry.key != "emit") continue;
      emit = emit_of(entry, kind);
      emit_mark = entry.value.mark;
    }
    if (pool.name.empty()) fail(item.mark, owner + " without a name: expected the key name");
    if (memory_ != nullptr && !says_size) take_region(*memory_, pool);
    takes_region_ = takes_region_ || !pool.region.empty();
    if (pool.size_hint && pool.reserved >= *pool.size_hint) {
      fail(offset_mark, "pool_offset is " + format_size(pool.reserved) + ", which leaves nothing of the pool's " +
                            format_size(*pool.size_hint) + ": expected less than size_hint_bytes");
    }
    check_budget(pool.budget, pool.size_hint);
    // A section says where the generated C puts an array, so the array is its own unless the file says otherwise.
    if (!says_internal) pool.internal = emit ? emit == Emit::array : !pool.section.empty();
    if (emit && pool.internal != (emit == Emit::array)) {
      fail(emit_mark, std::string("an array of the generated C is internal, and contents that the application has are "
                                  "not: expected emit: ") +
                          (pool.internal ? "array" : "header or binary") +
                          " with internal: " + (pool.internal ? "true" : "false"));
    }
    if (pool.address && !pool.is_binary) {
      fail(address_mark, "address says where a programmer writes a file: expected emit: binary beside it");
    }
    if (pool.address && !pool.section.empty()) {
      fail(section_mark, "a section for contents that no linker places: expected section or address");
    }
    const bool has_section = pool.internal || pool.is_binary;
    if (kind == PoolKind::constant && has_section && stays_out_of_image(pool.section)) {
      fail(section_mark, "section " + pool.section + " of parameter pool '" + pool.name +
                             "' has no contents in the image, so the constants would be lost: expected a section such "
                             "as .rodata." +
                             pool.name);
    }
    return pool;
  }

  // Names become macros in upper case, so they must differ there too.
  void claim_name(const std::string& name, Mark mark) {
    const auto [first, is_new] = names_.emplace(upper_case(name), FirstUse{name, mark.line});
    if (is_new) return;
    const std::string line = " on line " + std::to_string(first->second.line);
    if (first->second.name == name) fail(mark, "pool '" + name + "' appears twice (first" + line + ")");
    fail(mark, "pool '" + name + "' differs only in case from '" + first->second.name + "'" + line +
                   ": expected names that differ in upper case, for C macros");
  }

  struct FirstUse {
    std::string name;
    std::size_t line;
  };

  const std::vector<MemoryRegion>* memory_;
  bool takes_region_ = false;
  PoolsConfig config_;
  std::optional<Mark> workspace_mark_;
  std::map<std::string, FirstUse> names_;  // by the name in upper case
};

}  // namespace

const char* to_string(Objective objective) { return objective == Objective::accesses ? "accesses" : "size"; }

std::optional<Objective> objective_named(std::string_view name) {
  for (const Objective objective : {Objective::size, Objective::accesses}) {
    if (name == to_string(objective)) return objective;
  }
  return std::nullopt;
}

PoolsConfig parse_pools(std::string_view yaml, const std::vector<MemoryRegion>* memory) {
  return Reader(memory).read(read_yaml(yaml));
}

PoolsConfig default_pools() {
  PoolSpec pool;
  pool.name = "global_workspace";
  pool.internal = true;
  PoolsConfig config;
  config.workspace_pools.push_back(std::move(pool));
  return config;
}

}  // namespace usmp::config
