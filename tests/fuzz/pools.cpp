// The pools file.
#include "usmp/config/pools.hpp"

#include <set>

#include "fuzz.hpp"
#include "usmp/support/text.hpp"

using namespace usmp;

namespace {

void check_pools(const config::PoolsConfig& config) {
  fuzz::require(!config.workspace_pools.empty(), "no workspace pool");
  std::set<std::string> names;
  for (const auto* pools : {&config.workspace_pools, &config.parameter_pools}) {
    for (const config::PoolSpec& pool : *pools) {
      fuzz::require(c_identifier(pool.name) == pool.name, "a name that is no identifier");
      fuzz::require(names.insert(upper_case(pool.name)).second, "two pools of one name");
      fuzz::require(!pool.size_hint || (*pool.size_hint > 0 && pool.reserved < *pool.size_hint), "a pool without room");
      fuzz::require(pool.reserved >= 0, "a negative offset");
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
