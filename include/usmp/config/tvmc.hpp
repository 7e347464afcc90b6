// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pools as users of TVM write them: options of tvmc, in the spelling of its releases and of the USMP design.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/config/memory.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/support/checked.hpp"

namespace usmp::config {

struct TvmcPool {
  std::string name;                                 // a C identifier
  std::optional<Bytes> size_hint;                   // at least 1; absent: unbounded
  std::map<std::string, Access> targets;            // absent: every target. [A-Za-z0-9_.-]+, a letter or '_' in front
  std::map<std::string, std::int64_t> properties;   // TVM's, by their key in a pools file; at least 0
  std::map<std::string, std::int64_t> burst_bytes;  // by target; at least 0
  std::optional<Bytes> planned = {};                // that TVM's plan in the archive has there
  std::string region = {};                          // of a linker script, whose length is the size; empty: none
  std::string note = {};                            // a comment behind the name
};

// What tvmc's options, or C that TVM planned, say about a plan.
struct TvmcSettings {
  std::vector<TvmcPool> workspace_pools;  // preferred first; empty: not given
  std::vector<TvmcPool> parameter_pools;
  std::optional<std::string> algorithm;  // a C identifier; the caller checks whether it exists
  std::string algorithm_place;           // the option that names it
  std::optional<bool> workspace_io;
  std::vector<std::string> notes;  // a sentence for each option about planning that has no effect here
};

// Whether a word is an option of tvmc about pools or passes, perhaps a misspelled one: --workspace-pool…,
// --constant-pool…, --usmp-…, --pass-config….
[[nodiscard]] bool is_tvmc_option(std::string_view word);

// Whether the next word of a command line, if there is one, belongs to this option, as in "--workspace-pools sram" and
// "--usmp-workspace-pool-sram= target=c".
[[nodiscard]] bool takes_next_word(std::string_view option);

// Reads the words of a tvmc command line. Words that are no such options are skipped: the program, the model, other
// options. As in tvmc, the last of several values of a pool's property counts.
//
// Throws Error of kind usage, its place the option, for the first mistake: an unknown option or --pass-config of
// USMP's, one without a value, two different lists of pools of a kind, more than 64 pools of a kind, a name that no
// pools file may have, a value for a pool that is in no list, a malformed value, a workspace pool that no target may
// write. O(characters · log).
[[nodiscard]] TvmcSettings tvmc_settings(const std::vector<std::string>& words);

// The words of a command line in the text of a file: blanks and line breaks separate them; quotes, '\' and comments are
// those of a shell, and nothing is expanded. Throws Error of kind usage, its place "line L, column C", for a quote
// without its end. O(characters).
[[nodiscard]] std::vector<std::string> shell_words(std::string_view text);

// A commented pools file for the model, with the settings of tvmc's where they are given, else with examples in
// comments and one workspace pool. parse_pools accepts it.
// `schema`: where editors find the schema of pools files, a path relative to the file's; empty: nothing is said of it.
[[nodiscard]] std::string starter_file(const ModelSummary& model, const TvmcSettings& settings = {},
                                       const std::string& schema = {});

// A pool for each region of a linker script, in its order: a workspace pool for one that can be written, a parameter
// pool for one that cannot. Aliases have none. Those whose attributes are not given are in the notes, and so are those
// beyond 64 of a kind.
[[nodiscard]] TvmcSettings pools_of_regions(const std::vector<MemoryRegion>& regions);

// docs/schema/pools.schema.json: the JSON Schema of pools files.
extern const std::string_view pools_schema;

// The same settings without comments, as JSON, which is also YAML.
[[nodiscard]] std::string starter_json(const TvmcSettings& settings = {});

}  // namespace usmp::config
