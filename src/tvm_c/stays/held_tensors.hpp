// SPDX-License-Identifier: Apache-2.0
// Tensors of functions that may go on with them after they have returned, until what may wait for that is done.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tvm_c/stays/address_keepers.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

struct HoldingFunctions {
  const AddressKeepers& keepers;
  std::function<bool(const std::string&)> is_unknown;
  const Names& beside;  // functions of a device's files that have keepers, and others that call these
};

struct HeldTensors {
  std::vector<std::string> functions;  // that keep addresses of memory of the entry's own, in the order of calls
  std::vector<std::string> passed_on;  // operators that pass such memory to `is_unknown`, likewise
  bool by_entry = false;               // it may wait for one of them
  std::string text;                    // functions of C that functions of the module now call
};

// start(a, b); … wait(); is how an accelerator is used beside the processor. What may go on are calls of `keepers`, in
// operators also of functions that no file defines (`is_unknown`), and of operators that call these and then nothing
// that may wait. Three kinds of statements may wait for them:
// - an opaque call, or text that stays, that gets no memory, or the call of an operator that calls what is `beside` a
//   keeper: for everything that calls in front of it were passed;
// - an opaque call, or that of an operator with one inside, that gets memory which such a call was passed: for that
//   call;
// - the next one that may go on, that is `beside` a keeper, or an operator that calls one, as drivers have no two jobs
//   at a time.
// Behind the last one of the first two kinds in a block, and on both sides of that next one, stands then a call that
// does nothing, of this memory, which so is live until then; at the next one also of its own memory, so that it stays
// there. In a loop, what stands behind may have been started in the iteration before. O(module · (depth + log)).
[[nodiscard]] HeldTensors hold_tensors(const HoldingFunctions& functions, const std::string& entry,
                                       tir::Module& module);

}  // namespace usmp::tvm_c
