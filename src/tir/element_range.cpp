// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes minimum and maximum in a loop for each width, which compilers make vector code of.
#include "usmp/tir/element_range.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "usmp/support/text.hpp"

namespace usmp::tir {
namespace {

template <class Integer>
Integer element(std::string_view bytes, std::size_t i) {
  if constexpr (std::endian::native == std::endian::little) {
    Integer value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof(Integer), sizeof(Integer));
    return value;
  } else {
    return static_cast<Integer>(little_endian(bytes, i * sizeof(Integer), sizeof(Integer)));
  }
}

template <class Integer>
std::optional<Interval> range_of(std::string_view bytes) {
  const std::size_t count = bytes.size() / sizeof(Integer);
  if (count == 0) return std::nullopt;
  Integer low = element<Integer>(bytes, 0);
  Integer high = low;
  for (std::size_t i = 1; i < count; ++i) {
    const auto value = element<Integer>(bytes, i);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (std::cmp_greater(high, std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return Interval{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

template <class Signed>
std::optional<Interval> range_of(const Constant& constant) {
  return constant.type.is_uint() ? range_of<std::make_unsigned_t<Signed>>(constant.bytes)
                                 : range_of<Signed>(constant.bytes);
}

}  // namespace

std::optional<Interval> range_of_elements(const Constant& constant) {
  switch (constant.type.element_bytes()) {
    case 1:
      return range_of<std::int8_t>(constant);
    case 2:
      return range_of<std::int16_t>(constant);
    case 4:
      return range_of<std::int32_t>(constant);
    case 8:
      return range_of<std::int64_t>(constant);
    default:
      return std::nullopt;
  }
}

}  // namespace usmp::tir
