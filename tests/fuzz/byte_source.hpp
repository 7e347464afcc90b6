// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The input of a target as a source of small numbers. Behind its end it gives zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace usmp::fuzz {

class ByteSource {
 public:
  ByteSource(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  [[nodiscard]] bool empty() const { return at_ == end_; }
  unsigned byte() { return empty() ? 0U : *at_++; }
  unsigned word() {
    const unsigned low = byte();
    return low | byte() << 8U;
  }
  [[nodiscard]] std::string_view rest() const {
    return {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(end_ - at_)};
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

}  // namespace usmp::fuzz
