// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What all fuzz targets share. A target is one file that defines LLVMFuzzerTestOneInput: it hands the input to a public
// stage and asks more of the result than that nothing crashes. It is linked with libFuzzer, which looks for inputs, or
// with replay.cpp, which runs those that have been kept (testdata/fuzz/<target>).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "usmp/support/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace usmp::fuzz {

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the program with `what` on standard error: the input is a crash.
[[noreturn]] void fail(std::string_view what);

inline void require(bool holds, std::string_view what) {
  if (!holds) fail(what);
}

// That bad input is told as it should be: an error of one of the kinds, with a message that it cannot flood.
void check_error(const Error& error, std::initializer_list<ErrorKind> kinds);

// Whether `read` accepts its input, that is, ends without an Error. Any other exception goes on, and is a crash.
template <class Read>
bool accepts(std::initializer_list<ErrorKind> kinds, const Read& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    check_error(error, kinds);
    return false;
  }
}

}  // namespace usmp::fuzz
