// SPDX-License-Identifier: Apache-2.0
// Operators that move data.
#include "tflite/operators.hpp"

namespace usmp::tflite {

void copy(Emitter& e) {
  const std::int64_t count = e.input(0).count();
  const Array in = e.in(0);
  const Array out = e.out();
  Nest& nest = e.nest();
  nest.loop("i", count, [&](const Num& i) { nest.store(out, i, nest.load(in, i)); });
}

}  // namespace usmp::tflite
