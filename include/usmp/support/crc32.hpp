// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// CRC-32 as in IEEE 802.3, zlib and gzip: reflected, polynomial 0xedb88320.
#pragma once

#include <cstdint>
#include <string_view>

namespace usmp {

// CRC-32 of these bytes and those in front, whose CRC-32 is `before`; 0: there are none. O(bytes).
[[nodiscard]] std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace usmp
