// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A tvmc command line in a file. What is made of it is a pools file that is accepted, as YAML and as JSON.
#include "usmp/config/tvmc.hpp"

#include "fuzz.hpp"

using namespace usmp;

namespace {

void check_file(const std::string& file, const config::TvmcSettings& settings) {
  const config::PoolsConfig pools = config::parse_pools(file);
  fuzz::require(settings.workspace_pools.empty() || pools.workspace_pools.size() == settings.workspace_pools.size(),
                "a workspace pool is lost");
  fuzz::require(pools.parameter_pools.size() == settings.parameter_pools.size(), "a parameter pool is lost");
  for (std::size_t i = 0; i < settings.workspace_pools.size(); ++i) {
    const config::TvmcPool& pool = settings.workspace_pools[i];
    const config::PoolSpec& read = pools.workspace_pools[i];
    fuzz::require(read.name == pool.name && read.size_hint == pool.size_hint && read.targets == pool.targets,
                  "a pool is not read back");
  }
  fuzz::require(pools.algorithm == settings.algorithm && pools.workspace_io == settings.workspace_io,
                "a choice is not read back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  config::TvmcSettings settings;
  const bool accepted =
      fuzz::accepts({ErrorKind::usage}, [&] { settings = config::tvmc_settings(config::shell_words(text)); });
  if (!accepted) return 0;
  check_file(config::starter_file({}, settings), settings);
  check_file(config::starter_json(settings), settings);
  return 0;
}
