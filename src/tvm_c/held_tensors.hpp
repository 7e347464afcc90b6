// SPDX-License-Identifier: Apache-2.0
// Tensors of functions that may go on with them after they have returned, until what may wait for that is done.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tvm_c/address_keepers.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

struct HeldTensors {
  std::vector<std::string> functions;  // that keep addresses of memory of the entry's own, in the order of calls
  bool by_entry = false;               // it waits for one of them
  std::string text;                    // functions of C that functions of the module now call
};

// start(a, b); … wait(); is how an accelerator is used beside the processor: an opaque call or a statement whose text
// stays, and that gets no memory, may wait for what another one has started. Behind the last one of a function's own
// block stands then a call that does nothing, of all memory that calls in front of it were passed that may go on: in
// the entry those of `keepers`, in operators also those of functions that no file defines (`is_unknown`). So this is
// live until then. O(module · log).
[[nodiscard]] HeldTensors hold_tensors(const AddressKeepers& keepers,
                                       const std::function<bool(const std::string& function)>& is_unknown,
                                       const std::string& entry, tir::Module& module);

}  // namespace usmp::tvm_c
