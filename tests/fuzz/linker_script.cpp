// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// MEMORY of a linker script.
#include <set>

#include "fuzz.hpp"
#include "usmp/config/memory.hpp"

using namespace usmp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::accepts({ErrorKind::usage}, [&] {
    std::set<std::string> names;
    for (const config::MemoryRegion& region : config::parse_memory(text)) {
      fuzz::require(region.length > 0 && region.length <= Bytes{1} << 48, "a length out of range");
      fuzz::require(names.insert(region.name).second, "two regions of one name");
    }
  });
  return 0;
}
