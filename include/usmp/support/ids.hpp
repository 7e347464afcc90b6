// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Typed indices: a BufferId cannot be used where a PoolId is meant.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace usmp {

// Index into the vector that owns the objects of type Tag. Ids order by index, which is what breaks ties.
template <class Tag>
struct Id {
  std::uint32_t value = UINT32_MAX;  // UINT32_MAX: no object

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}

  [[nodiscard]] constexpr std::size_t index() const { return value; }
  [[nodiscard]] constexpr bool valid() const { return value != UINT32_MAX; }

  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

}  // namespace usmp

template <class Tag>
struct std::hash<usmp::Id<Tag>> {
  std::size_t operator()(const usmp::Id<Tag>& id) const noexcept { return id.value; }
};
