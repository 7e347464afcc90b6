// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Merges options into the pools file, and refuses what contradicts it.
#include "settings.hpp"

#include <set>
#include <utility>

#include "documents.hpp"
#include "file_kind.hpp"
#include "model.hpp"
#include "search.hpp"
#include "usmp/support/error.hpp"

namespace usmp::driver {
namespace {

// More is not even read. The reader of pools files has the same limit.
constexpr std::size_t most_pools_bytes = std::size_t{1} << 20;

std::optional<std::vector<config::MemoryRegion>> read_memory(const PoolsFiles& files) {
  if (!files.memory) return std::nullopt;
  try {
    if (!files.pools) throw Error(ErrorKind::usage, {}, "--memory gives sizes to pools, expected --pools as well");
    return config::parse_memory(read_text_file(*files.memory, ErrorKind::usage, most_pools_bytes));
  } catch (const Error& error) {
    throw error.with_file(*files.memory);
  }
}

}  // namespace

std::optional<std::int64_t> bytes_of(const std::string& text) { return config::parse_size(text); }

Settings read_settings(const PoolsFiles& files, const std::optional<std::string>& algorithm, bool workspace_io,
                       const std::optional<std::string>& objective) {
  Settings settings;
  const std::optional<std::string>& pools_file = files.pools;
  settings.pools_file = pools_file;
  settings.request.pools = config::default_pools();
  settings.algorithm = pipeline::default_algorithm();
  const auto memory = read_memory(files);
  if (pools_file) {
    require_pools_file(*pools_file);
    try {
      settings.request.pools = config::parse_pools(read_text_file(*pools_file, ErrorKind::usage, most_pools_bytes),
                                                   memory ? &*memory : nullptr);
      if (settings.request.pools.algorithm) {
        settings.algorithm =
            pipeline::algorithm_named(*settings.request.pools.algorithm, settings.request.pools.algorithm_place);
      }
    } catch (const Error& error) {
      throw error.with_file(*pools_file);
    }
  }
  if (algorithm) settings.algorithm = pipeline::algorithm_named(*algorithm);
  if (objective) {
    settings.request.pools.objective = config::objective_named(*objective);
    if (!settings.request.pools.objective) {
      throw Error(ErrorKind::usage, {}, "unknown objective '" + *objective + "': expected size or accesses");
    }
  }
  settings.request.workspace_io = workspace_io || settings.request.pools.workspace_io.value_or(false);
  settings.request.log = debug_log();
  return settings;
}

void read_earlier_plans(Settings& settings, const std::vector<std::string>& files, Check check) {
  std::set<std::string> modules;
  for (const std::string& file : files) {
    for (plan_file::PlanDocument& document : read_plan_file(file, check)) {
      if (!modules.insert(document.module).second) {
        throw Error(ErrorKind::usage, {file, {}, {}}, "a second plan of module '" + document.module + "'");
      }
      settings.request.earlier.push_back(std::move(document));
      settings.earlier_files.push_back(file);
    }
  }
}

}  // namespace usmp::driver
