// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes the number of each element apart, and adds it up with the other distances.
#include "usmp/tir/element_order.hpp"

#include <algorithm>
#include <cstddef>

namespace usmp::tir {

std::string reordered(const Constant& data, std::span<const ElementDigit> digits) {
  const auto bytes = static_cast<std::size_t>(data.type.bytes());
  std::string result(data.bytes.size(), '\0');
  for (std::size_t i = 0; i < data.bytes.size() / bytes; ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t place = 0;
    for (const ElementDigit& digit : digits) {
      place += rest / digit.before * digit.after;
      rest %= digit.before;
    }
    std::copy_n(&data.bytes[i * bytes], bytes, &result[static_cast<std::size_t>(place) * bytes]);
  }
  return result;
}

}  // namespace usmp::tir
