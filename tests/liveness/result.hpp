// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// An analysis with its sites found by name.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/liveness/liveness.hpp"

namespace usmp::liveness::testing {

using namespace tir::testing;  // NOLINT(google-build-using-namespace)

inline std::string text(const std::vector<LiveRange>& ranges) {
  std::string result;
  for (const LiveRange& range : ranges) {
    result += (result.empty() ? "" : " ") + std::to_string(range.begin) + "-" + std::to_string(range.end);
  }
  return result;
}

struct Result {
  Analysis analysis;

  [[nodiscard]] const Site& site(const std::string& name) const {
    const auto found =
        std::find_if(analysis.sites.begin(), analysis.sites.end(), [&](const Site& s) { return s.name == name; });
    REQUIRE_MESSAGE(found != analysis.sites.end(), "no site ", name);
    return *found;
  }
  // "0-3 5-6", half-open
  [[nodiscard]] std::string live(const std::string& name) const { return text(site(name).live); }
  [[nodiscard]] bool conflict(const std::string& a, const std::string& b) const {
    REQUIRE(!site(a).live.empty());
    REQUIRE(!site(b).live.empty());
    return overlap(site(a).live, site(b).live);
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Site& s : analysis.sites) result.push_back(s.name);
    return result;
  }
};

inline Result run(ModuleBuilder& builder, const Options& options = {}) { return {analyse(builder.build(), options)}; }

inline Options with_io() { return {.workspace_io = true, .inputs = {}, .outputs = {}}; }

// The message of the Error that analyse throws.
inline std::string error_of(ModuleBuilder& builder, const Options& options = {}) {
  try {
    (void)analyse(builder.build(), options);
  } catch (const Error& error) {
    CHECK((error.kind() == ErrorKind::archive || error.kind() == ErrorKind::too_large));
    return error.what();
  }
  return "no error";
}

}  // namespace usmp::liveness::testing
