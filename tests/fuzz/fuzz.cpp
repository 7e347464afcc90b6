// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks kind, message and length of an error, and aborts where something is wrong.
#include "fuzz.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace usmp::fuzz {
namespace {

// A line on a terminal has about a hundred characters. Lists of names that a user has to choose from may be longer.
constexpr std::size_t longest_message = 20'000;

}  // namespace

void fail(std::string_view what) {
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

void check_error(const Error& error, std::initializer_list<ErrorKind> kinds) {
  static const bool verbose = std::getenv("USMP_FUZZ_VERBOSE") != nullptr;
  if (verbose) std::fprintf(stderr, "refused: %s\n", error.what());
  const ErrorKind kind = error.kind() == ErrorKind::too_large ? ErrorKind::archive : error.kind();
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    fail("an error of the wrong kind: " + std::string(error.what()));
  }
  require(!error.message().empty(), "an error without a message");
  if (std::string_view(error.what()).size() > longest_message) {
    fail("a message of " + std::to_string(std::string_view(error.what()).size()) +
         " bytes: " + error.message().substr(0, longest_message));
  }
}

}  // namespace usmp::fuzz
