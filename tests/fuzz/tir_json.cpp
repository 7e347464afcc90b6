// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TIR JSON → module → text, and when its buffers are live.
#include "fuzz.hpp"
#include "modules.hpp"
#include "usmp/tir_json/reader.hpp"

using namespace usmp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accepts({ErrorKind::archive}, [&] { fuzz::check_module(tir_json::read_module(fuzz::text_of(data, size))); });
  return 0;
}
