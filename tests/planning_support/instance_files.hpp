// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads the public instances: "id,lower,upper,size" with half-open lives, one unbounded pool.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::test {

inline std::vector<std::int64_t> numbers_of(const std::string& line) {
  std::vector<std::int64_t> numbers;
  const char* at = line.data();
  const char* end = at + line.size();
  while (at < end) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) throw std::runtime_error("not a line of numbers: " + line);
    numbers.push_back(number);
    at = next + 1;
  }
  return numbers;
}

inline Problem read_instance(const std::filesystem::path& path) {
  Problem problem;
  problem.pools.push_back({.name = "pool", .kind = PoolKind::workspace, .capacity = {}, .alignment = 1});
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  if (line != "id,lower,upper,size") throw std::runtime_error(path.string() + ": unknown columns: " + line);
  while (std::getline(file, line)) {
    const auto numbers = numbers_of(line);
    if (numbers.size() != 4) throw std::runtime_error(path.string() + ": not four numbers: " + line);
    Buffer buffer;
    buffer.name = std::to_string(numbers[0]);
    buffer.size = numbers[3];
    buffer.candidates = {PoolId(0)};
    buffer.live = {{numbers[1], numbers[2]}};
    problem.horizon = std::max(problem.horizon, numbers[2]);
    problem.buffers.push_back(buffer);
  }
  return problem;
}

}  // namespace usmp::test
