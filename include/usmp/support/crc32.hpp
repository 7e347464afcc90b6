// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// CRC-32 as in IEEE 802.3, zlib and gzip: reflected, polynomial 0xedb88320.
#pragma once

#include <cstdint>
#include <string_view>

namespace usmp {

// Of the bytes behind those whose CRC-32 is `before`; 0 for none. O(bytes).
[[nodiscard]] std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace usmp
