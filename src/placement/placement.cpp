// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes the largest end and the common alignment of each pool, and lines contents up from the first address on.
#include "usmp/placement/placement.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>

#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::placement {

std::vector<Bytes> used_bytes(const Table& table) {
  std::vector<Bytes> used(table.pools.size(), 0);
  for (const Storage& storage : table.storages) {
    Bytes& end = used[storage.place.pool.index()];
    end = std::max(end, storage.place.offset + storage.size);
  }
  return used;
}

std::vector<Bytes> alignments(const Table& table) {
  std::vector<Bytes> result;
  result.reserve(table.pools.size());
  for (const Pool& pool : table.pools) result.push_back(pool.alignment);
  for (const Storage& storage : table.storages) {
    Bytes& alignment = result[storage.place.pool.index()];
    alignment = std::lcm(alignment, storage.alignment);
  }
  return result;
}

void put_contents_in_a_row(const std::vector<Table*>& modules) {
  struct Row {
    Bytes begin = 0;
    Bytes end = 0;
  };
  std::map<std::string, Row, std::less<>> rows;  // by pool
  for (Table* table : modules) {
    const std::vector<Bytes> used = used_bytes(*table);
    const std::vector<Bytes> aligned = alignments(*table);
    for (std::size_t i = 0; i < used.size(); ++i) {
      Pool& pool = table->pools[i];
      if (!pool.address || used[i] == 0) continue;
      if (*pool.address % aligned[i] != 0) {
        throw Error(ErrorKind::usage, {},
                    "pool " + in_quotes(pool.name) + ": address " + hex_text(*pool.address) + " is not a multiple of " +
                        std::to_string(aligned[i]) + ", the alignment of its contents");
      }
      Row& row = rows.try_emplace(pool.name, Row{*pool.address, *pool.address}).first->second;
      const Bytes padding = (aligned[i] - row.end % aligned[i]) % aligned[i];
      pool.address = row.end + padding;
      row.end = *pool.address + used[i];
    }
  }
  for (auto one = rows.begin(); one != rows.end(); ++one) {
    for (auto other = std::next(one); other != rows.end(); ++other) {
      if (one->second.end <= other->second.begin || other->second.end <= one->second.begin) continue;
      throw Error(ErrorKind::usage, {},
                  "pools " + in_quotes(one->first) + " and " + in_quotes(other->first) +
                      " both have contents at address " + hex_text(std::max(one->second.begin, other->second.begin)));
    }
  }
}

}  // namespace usmp::placement
