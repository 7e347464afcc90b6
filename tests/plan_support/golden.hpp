// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Golden files of a module, tests/<module>/golden. USMP_REWRITE_GOLDEN=1 in the environment writes them anew.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE_MESSAGE(stream.good(), path.string());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline void check_golden(const std::string& name, const std::string& text, const std::string& module = "report") {
  const std::filesystem::path path = std::filesystem::path(USMP_TESTDATA "/../tests") / module / "golden" / name;
  if (std::getenv("USMP_REWRITE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  CHECK(text == read_file(path));
}
