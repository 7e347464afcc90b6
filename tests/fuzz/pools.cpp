// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The pools file.
#include "usmp/config/pools.hpp"

#include <set>

#include "fuzz.hpp"
#include "usmp/support/text.hpp"

using namespace usmp;

namespace {

void check_budget(const config::PoolSpec& pool) {
  const config::Budget& budget = pool.budget;
  const auto stands = [](const auto& limit) {
    return !limit || (limit->position.line > 0 && limit->position.column > 0);
  };
  fuzz::require(
      stands(budget.max) && stands(budget.warn_at) && stands(budget.min_headroom) && stands(budget.max_growth),
      "a limit that stands nowhere");
  if (budget.max && pool.size_hint) fuzz::require(budget.max->value <= *pool.size_hint, "a limit above the size");
  if (budget.warn_at) fuzz::require(budget.max || pool.size_hint, "a warning at a part of nothing");
  if (budget.min_headroom) {
    fuzz::require(pool.size_hint && budget.min_headroom->value < *pool.size_hint, "headroom without room");
  }
  for (const auto& percent : {budget.warn_at, budget.max_growth}) {
    if (!percent) continue;
    const std::string text = config::format_percent(percent->value);
    fuzz::require(config::parse_percent(text) == percent->value, "a percentage is not read back");
  }
}

void check_pools(const config::PoolsConfig& config) {
  fuzz::require(!config.workspace_pools.empty(), "no workspace pool");
  std::set<std::string> names;
  for (const auto* pools : {&config.workspace_pools, &config.parameter_pools}) {
    for (const config::PoolSpec& pool : *pools) {
      fuzz::require(c_identifier(pool.name) == pool.name, "a name that is no identifier");
      fuzz::require(names.insert(upper_case(pool.name)).second, "two pools of one name");
      fuzz::require(!pool.size_hint || (*pool.size_hint > 0 && pool.reserved < *pool.size_hint), "a pool without room");
      fuzz::require(pool.reserved >= 0, "a negative offset");
      check_budget(pool);
    }
  }
  for (const config::PinSpec& pin : config.pinned) {
    fuzz::require(!pin.buffer.empty() && !pin.pool.empty() && pin.offset >= 0, "a pin without its parts");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::accepts({ErrorKind::usage}, [&] { check_pools(config::parse_pools(text)); });
  if (const auto bytes = config::parse_size(text)) {
    fuzz::require(config::parse_size(config::format_size(*bytes)) == bytes, "a size is not read back");
  }
  return 0;
}
