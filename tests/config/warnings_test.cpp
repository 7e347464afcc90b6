// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a pools file says that is right but hardly meant.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "usmp/config/pools.hpp"

namespace usmp::config::warnings_test {
namespace {

using Sentences = std::vector<std::string>;

Sentences warnings(const std::string& keys, const std::string& constants = "") {
  const std::string parameters = constants.empty() ? "" : "parameter_pools:\n  - {name: flash, " + constants + "}\n";
  return warnings_of(parse_pools("workspace_pools:\n  - {name: dtcm, " + keys + "}\n" + parameters));
}

}  // namespace

TEST_CASE("a section that fills the image with zeros is warned of, with one that does not") {
  const std::string rest =
      " takes space in the image for zeros unless the linker script marks it NOLOAD; .bss.dtcm takes none";
  CHECK(warnings("section: .dtcm") == Sentences{"pool 'dtcm': section .dtcm" + rest});
  CHECK(warnings("section: dtcm") == Sentences{"pool 'dtcm': section dtcm" + rest});
  CHECK(warnings("section: .bssdtcm").size() == 1);
  for (const char* section : {".bss", ".bss.dtcm", ".sbss", ".sbss.dtcm", ".noinit", ".noinit.dtcm"}) {
    CHECK_MESSAGE(warnings(std::string("section: ") + section).empty(), section);
  }
  CHECK(warnings("internal: true").empty());
  CHECK_MESSAGE(warnings("internal: true", "section: .rodata.model").empty(), "constants are in the image anyway");
}

TEST_CASE("a section of an array that the application defines is warned of") {
  CHECK(warnings("internal: true", "section: .rodata.model, internal: false") ==
        Sentences{
            "pool 'flash': section .rodata.model has no effect, since the application defines the array: internal is "
            "false"});
  CHECK(warnings("section: .bss.dtcm, internal: false").size() == 1);
  CHECK_MESSAGE(warnings("internal: true", "section: .bss.model, internal: false").size() == 1,
                "no constants are lost");
}

}  // namespace usmp::config::warnings_test
