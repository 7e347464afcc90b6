// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Computes quotients, remainders and shifts.
#include "replay/instructions.hpp"

namespace usmp::replay {
namespace {

std::int64_t quotient(Code code, std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return unknown;  // -1 may overflow, and no index is divided by it
  const bool rounds_down = (code == Code::floor_div || code == Code::floor_mod) && a % b != 0 && (a < 0) != (b < 0);
  if (code == Code::div || code == Code::floor_div) return a / b - (rounds_down ? 1 : 0);
  return a % b + (rounds_down ? b : 0);
}

std::int64_t shifted(Code code, std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = 31;
  if (a < 0 || b < 0 || b > most) return unknown;
  return code == Code::shift_right ? a >> b : checked_mul(a, std::int64_t{1} << b).value_or(unknown);
}

}  // namespace

std::int64_t compute_rare(Code code, std::int64_t a, std::int64_t b) {
  return code == Code::shift_left || code == Code::shift_right ? shifted(code, a, b) : quotient(code, a, b);
}

}  // namespace usmp::replay
