// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The pools file (docs/pools.md, docs/schema/pools.schema.json). The only user of yaml-cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/config/budget.hpp"
#include "usmp/config/memory.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/error.hpp"

namespace usmp::config {

enum class Access { read_only, read_write };  // "ro", "rw"

// How fast a pool is, by TVM's properties. Nothing: not known.
struct Speed {
  std::optional<std::int64_t> clock_hz;               // >= 1
  std::optional<std::int64_t> read_bytes_per_cycle;   // >= 1
  std::optional<std::int64_t> write_bytes_per_cycle;  // >= 1
  std::optional<std::int64_t> read_latency_cycles;    // >= 0
  std::optional<std::int64_t> write_latency_cycles;   // >= 0

  // Whether what an access takes is known.
  [[nodiscard]] bool is_known() const {
    return read_bytes_per_cycle || write_bytes_per_cycle || read_latency_cycles || write_latency_cycles;
  }
  friend bool operator==(const Speed&, const Speed&) = default;
};

// What plans are chosen by.
enum class Objective {
  size,      // the bytes in the first pools, then the sizes of pools
  accesses,  // the loads and stores that the first pools serve, or the cycles that all take; then as for `size`
};

// "size", "accesses".
[[nodiscard]] const char* to_string(Objective objective);
[[nodiscard]] std::optional<Objective> objective_named(std::string_view name);

// The properties of a pool in a pools file. TVM's burst lengths are checked but not kept.
struct PoolSpec {
  std::string name;  // a C identifier
  PoolKind kind = PoolKind::workspace;
  std::optional<Bytes> size_hint;  // absent: unbounded
  Bytes reserved = 0;              // pool_offset: bytes at the pool's start that no buffer may use
  Bytes beside = 0;                // of these, what modules that run side by side with this one have there
  Bytes alignment = 1;  // a power of two; of the pool's start and of every offset in it. Absent: 1, and then the start
                        // is as aligned as the buffers in it ask for
  std::map<std::string, Access> targets;             // absent: every target may read and write
  std::map<std::string, Position> target_positions;  // of their names in the file
  std::string section;                               // linker section of an internal pool; absent: none
  std::string region;                                // of the linker script, which gave the size; absent: none
  bool internal = false;  // the generated C owns the array. Absent in the file: if there is a section
  bool is_binary =
      false;  // contents of an external parameter pool: a binary file, not a macro. Its section: the stub's
  std::optional<Bytes> address;  // of such a file's first byte, where a programmer writes it. Absent: a linker does
  bool holds_state = false;      // and nothing else: what models keep from run to run
  Speed speed;                   // the objective `accesses` counts with it
  Budget budget;                 // planning knows nothing of it
  Position position;             // of the pool's entry; none for pools that only a module describes
  Position size_position;        // of size_hint_bytes; none without
};

// A buffer with a fixed place. A buffer is identified by its name, its function, and its number among the planned
// buffers of the same name and function, from 0 in the order of reports. Function and number are absent where the name
// is enough.
struct PinSpec {
  std::string buffer;
  std::optional<std::string> function;
  std::optional<std::size_t> occurrence;
  std::string pool;
  Bytes offset = 0;   // >= 0, from the pool's start
  std::string place;  // where it stands: "line L, column C"
};

// Modules that run side by side, so that they may share no bytes of a workspace pool.
struct ConcurrentModules {
  std::vector<std::string> modules;  // at least two, all different
  std::string place;                 // where it stands: "line L, column C"
};

struct PoolsConfig {
  std::vector<PoolSpec> workspace_pools;  // preferred first
  std::vector<PoolSpec> parameter_pools;  // preferred first; empty: constants are arrays in the operators' file
  std::optional<PoolSpec> state_pool;     // a workspace pool of the file; absent: state is in arrays of the C
  std::optional<std::string> algorithm;
  std::string algorithm_place;  // where it stands: "line L, column C"
  std::optional<Objective> objective;
  std::optional<bool> workspace_io;
  WholeBudget budgets;                // planning knows nothing of them, nor of what follows
  std::vector<MemoryRegion> regions;  // of the linker script; empty: there is none
  std::string io_region;        // where inputs, outputs and state outside of pools are; empty: the file does not say
  std::string stack_region;     // where the stack is; empty: the file does not say
  std::vector<PinSpec> pinned;  // the caller checks whether their buffers and pools exist
  std::vector<ConcurrentModules> concurrent;  // the caller checks whether the modules exist
};

// Parses the text of a pools file (at most 1 MiB, 64 pools of a kind, names of 100 characters). The result has at least
// one workspace pool, and the names of all pools differ, also in upper case. The caller checks whether `algorithm`
// exists.
//
// Throws Error of kind usage for the first mistake, its place "line L, column C" (from 1, columns in bytes), with a
// similar name where there is one: malformed YAML, YAML beyond plain lists, maps and values (aliases, tags, …), unknown
// key, wrong type, bad size (right: "64KiB", "2MiB", "65536"), alignment not a power of two up to 2^20, name that is
// not a C identifier, is a keyword or is taken, a pool that no target can use or that reserves its whole size, one
// whose contents cannot be as `emit` says or where `address` says, a budget that limits nothing or that the pool's size
// contradicts, a pin without buffer, pool or offset.
//
// `memory`, unless null: the regions of a linker script. A pool with the size "ld:NAME" has that of region NAME; one
// without a size, that of the region of its own name, ignoring case; with the address "ld:NAME", it begins where the
// region does, and has its size if none is given. If no pool takes a size from there, it is an
// error.
[[nodiscard]] PoolsConfig parse_pools(std::string_view yaml, const std::vector<MemoryRegion>* memory = nullptr);

// What is right but hardly meant: a section for a pool whose array the application defines, a section of a workspace
// pool that takes room in the image, and pools in regions of the linker script that overlap. GCC and clang leave arrays
// out of the image whose section is called .bss…, .sbss… or .noinit…; others they fill with zeros, unless the linker
// script says NOLOAD. A sentence each: on sections in the order of the pools, then on regions.
[[nodiscard]] std::vector<std::string> warnings_of(const PoolsConfig& config);

// Without a pools file: one unbounded internal workspace pool named "global_workspace".
[[nodiscard]] PoolsConfig default_pools();

// "65536", "64KiB", "2MiB", "1GiB": a decimal integer >= 0, optionally followed by a unit. Nothing for anything else
// and on overflow.
[[nodiscard]] std::optional<Bytes> parse_size(std::string_view text);

// "64KiB", "2MiB", "65536" for a byte count, the shortest exact form.
[[nodiscard]] std::string format_size(Bytes size);

// The properties of a model that `usmp-plan init` uses in a starter file.
struct ModelSummary {
  std::string archive;               // file name only
  std::vector<std::string> targets;  // in order of appearance
  Bytes workspace_load = 0;          // lower bound of the workspace
  Bytes constant_bytes = 0;
  std::optional<Bytes> unplanned_workspace;
};

}  // namespace usmp::config
