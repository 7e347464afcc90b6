// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes the headers of a changed tar valid again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>

namespace usmp::fuzz {

// Sets the checksum of every header that is found by following the sizes of members from the first block on.
inline void correct_checksums(std::uint8_t* tar, std::size_t size) {
  constexpr std::size_t block = 512;
  constexpr std::size_t size_at = 124;
  constexpr std::size_t size_digits = 11;
  constexpr std::size_t checksum_at = 148;
  constexpr std::size_t checksum_bytes = 8;
  for (std::size_t at = 0; at + block <= size;) {
    std::uint8_t* header = tar + at;
    if (std::all_of(header, header + block, [](std::uint8_t byte) { return byte == 0; })) return;
    std::fill_n(header + checksum_at, checksum_bytes, std::uint8_t{' '});
    const unsigned sum = std::accumulate(header, header + block, 0U);
    char text[checksum_bytes];
    std::snprintf(text, sizeof text, "%06o", sum);
    std::copy_n(text, checksum_bytes - 1, header + checksum_at);
    std::size_t claimed = 0;
    for (std::size_t i = 0; i < size_digits; ++i) {
      const unsigned digit = header[size_at + i] - unsigned{'0'};
      claimed = claimed * 8 + (digit < 8 ? digit : 0);
    }
    at += block + std::min(size, (claimed + block - 1) / block * block);
  }
}

}  // namespace usmp::fuzz
