// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Any bytes as the C of a module. A form feed ends a file; the last of several is the header.
#include <string>
#include <vector>

#include "c_source.hpp"
#include "fuzz.hpp"

using namespace usmp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<tvm_c::Source> files;
  std::string_view rest = fuzz::text_of(data, size);
  while (true) {
    const std::size_t end = rest.find('\f');
    files.push_back({.name = "lib" + std::to_string(files.size()) + ".c", .text = rest.substr(0, end)});
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (files.size() > 1) files.back().name = "tvmgen_default.h";
  fuzz::check_c(files);
  return 0;
}
