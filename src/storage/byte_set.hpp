// SPDX-License-Identifier: Apache-2.0
// Sets of bytes of a storage.
#pragma once

#include <optional>
#include <vector>

#include "usmp/support/checked.hpp"
#include "usmp/support/interval.hpp"

namespace usmp::storage {

struct ByteRange {  // [begin, end)
  Bytes begin = 0;
  Bytes end = 0;
};

// Of the elements; nothing: none are given, or a number leaves int64. Relative to something, they may be negative.
[[nodiscard]] std::optional<ByteRange> in_bytes(const std::optional<Interval>& elements, Bytes width);

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
