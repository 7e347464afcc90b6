// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of whatever type in registers, several at a time.
#pragma once

#include <cstdint>

#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

// for k …: { for s: sum[s] = sum[s] + t(k, s); for s: sum[4 + s] = sum[4 + s] + u(k, s); … }
// becomes, for as many elements as are held at a time,
// { s0 = sum[0]; …; for k …: { s0 = s0 + t(k, 0); … }; sum[0] = s0; … }
// once for each group of elements. Each sum gets its terms in the same order, so results are the same bits in floats,
// too. Terms of neighbouring elements use the same data, which compilers then load once.
//
// `vectors`: of neighbouring floats, four are one number of type float32x4, in an array of four that is only read and
// set whole, where each load in their terms reads neighbours or the same element for all.
//
// In functions but opaque ones, where `sum` is one parameter that nothing else reaches, terms read other parameters and
// constants, and the elements of an iteration are different ones. Groups that differ in places alone become a loop, and
// stores in front that set all elements to one literal go. `ints`: how many integers are held; of floats it is 16,
// which is best on every core measured. O(size of the module).
void hold_sums(tir::Module& module, std::int64_t ints, bool vectors = false);

}  // namespace usmp::kernels
