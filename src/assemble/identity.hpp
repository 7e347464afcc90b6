// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What makes a buffer the same one in an earlier plan: see pins.hpp.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace usmp::assemble {

using Identity = std::pair<std::pair<std::string, std::string>, std::size_t>;

// Numbers the buffers of one name and function.
class Occurrences {
 public:
  Identity next(const std::string& buffer, const std::string& function) {
    const auto key = std::pair(buffer, function);
    return {key, seen_[key]++};
  }

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> seen_;
};

}  // namespace usmp::assemble
