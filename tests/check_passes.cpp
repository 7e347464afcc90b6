// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Linked into the tests whose code runs passes.
#include "usmp/tir/verify.hpp"

namespace {

[[maybe_unused]] const bool is_on = [] {
  usmp::tir::set_pass_checks(true);
  return true;
}();

}  // namespace
