// SPDX-License-Identifier: Apache-2.0
// Linked into the tests whose code runs passes.
#include "usmp/tir/verify.hpp"

namespace {

[[maybe_unused]] const bool is_on = [] {
  usmp::tir::set_pass_checks(true);
  return true;
}();

}  // namespace
