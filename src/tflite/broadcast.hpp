// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops over pairs of elements of two tensors whose shapes are stretched to that of the output.
#pragma once

#include <functional>

#include "tflite/operators.hpp"

namespace usmp::tflite {

// For each element of output 0: the value of the elements of inputs 0 and 1 that belong to it, which are given as they
// are stored. Extents that are 1 are repeated, missing ones in front are 1. Neighbouring dimensions along which both
// are dense are one loop. Refuses other shapes.
void for_each_pair(Emitter& e, const std::function<Num(const Num& a, const Num& b)>& value);

// The same of one input and the output, which have the same number of elements.
void for_each_element(Emitter& e, const std::function<Num(const Num& x)>& value);

}  // namespace usmp::tflite
