// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Files that the tests of this module read.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE_MESSAGE(stream.good(), path.string());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// The contents of the ```yaml blocks of a Markdown text.
inline std::vector<std::string> yaml_blocks(std::string_view markdown) {
  constexpr std::string_view open = "```yaml\n";
  constexpr std::string_view close = "```";
  std::vector<std::string> blocks;
  for (std::size_t at = markdown.find(open); at != std::string_view::npos; at = markdown.find(open, at)) {
    at += open.size();
    const std::size_t end = markdown.find(close, at);
    REQUIRE(end != std::string_view::npos);
    blocks.emplace_back(markdown.substr(at, end - at));
    at = end + close.size();
  }
  return blocks;
}
