// SPDX-License-Identifier: Apache-2.0
#include "usmp/placement/placement.hpp"

#include <algorithm>

namespace usmp::placement {

std::vector<Bytes> used_bytes(const Table& table) {
  std::vector<Bytes> used(table.pools.size(), 0);
  for (const Storage& storage : table.storages) {
    Bytes& end = used[storage.place.pool.index()];
    end = std::max(end, storage.place.offset + storage.size);
  }
  return used;
}

}  // namespace usmp::placement
