// SPDX-License-Identifier: Apache-2.0
// Sets of bytes of a storage.
#pragma once

#include <vector>

#include "usmp/support/checked.hpp"

namespace usmp::storage {

struct ByteRange {  // [begin, end)
  Bytes begin = 0;
  Bytes end = 0;
};

// Disjoint ranges, ascending.
class ByteSet {
 public:
  ByteSet() = default;
  explicit ByteSet(ByteRange range) { add(range); }

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] Bytes end() const { return ranges_.empty() ? 0 : ranges_.back().end; }
  [[nodiscard]] const std::vector<ByteRange>& ranges() const { return ranges_; }
  // O(ranges).
  [[nodiscard]] bool contains(ByteRange range) const;
  void add(ByteRange range);
  void add(const ByteSet& other);
  void remove(const ByteSet& other);

 private:
  std::vector<ByteRange> ranges_;
};

}  // namespace usmp::storage
