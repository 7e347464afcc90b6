// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sets of bytes of a storage.
#pragma once

#include <map>
#include <optional>

#include "usmp/support/checked.hpp"
#include "usmp/support/interval.hpp"

namespace usmp::storage {

struct ByteRange {  // [begin, end)
  Bytes begin = 0;
  Bytes end = 0;
};

// The elements' bytes; nothing: none are given, or a number leaves int64. Relative to something, they may be negative.
[[nodiscard]] std::optional<ByteRange> in_bytes(const std::optional<Interval>& elements, Bytes width);

// Disjoint ranges, ascending.
class ByteSet {
 public:
  ByteSet() = default;
  explicit ByteSet(ByteRange range) { add(range); }

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] Bytes end() const { return ranges_.empty() ? 0 : ranges_.rbegin()->second; }
  // O(log ranges).
  [[nodiscard]] bool contains(ByteRange range) const;
  // O((ranges added + ranges that disappear) · log ranges).
  void add(ByteRange range);
  void add(const ByteSet& other);
  // The same, of the smaller of the two sets.
  void remove(const ByteSet& other);

 private:
  using Ranges = std::map<Bytes, Bytes>;  // the end by the beginning

  void remove(ByteRange range);
  [[nodiscard]] Ranges::const_iterator first_behind(Bytes begin) const;  // the first range that ends behind it

  Ranges ranges_;
};

}  // namespace usmp::storage
