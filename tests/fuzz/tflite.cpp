// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Bytes of a TensorFlow Lite model → module, when its buffers are live → plan.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz.hpp"
#include "modules.hpp"
#include "usmp/assemble/assemble.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/program/outside.hpp"
#include "usmp/tflite/reader.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/verify/verify.hpp"

using namespace usmp;

namespace {

constexpr std::uint64_t most_steps = 100'000;  // of the search for accesses outside of their storage

// What is listed for people agrees with what is read: nothing is read with an operator that is marked.
void check_list(std::string_view bytes, bool is_read) {
  fuzz::accepts({ErrorKind::archive}, [&] {
    const std::vector<tflite::OperatorLine> lines = tflite::operators_of(bytes);
    const bool is_marked =
        std::any_of(lines.begin(), lines.end(), [](const auto& line) { return !line.fault.empty(); });
    fuzz::require(!is_read || !is_marked, "a model with an operator that is not supported is read");
  });
}

void check_description(const model::Description& info) {
  for (const auto* tensors : {&info.inputs, &info.outputs}) {
    for (const model::Tensor& tensor : *tensors) {
      fuzz::require(!tensor.name.empty(), "a tensor without a name");
    }
  }
}

void check_plan(const tir::Module& module) {
  const liveness::Analysis analysis = liveness::analyse(module);
  const assemble::Assembly assembly = assemble::assemble(module, analysis, config::default_pools());
  const PlanResult result = planners::greedy_by_size(assembly.problem, {});
  fuzz::require(result.has_plan(), "no plan in pools without bounds");
  const auto violations = verify::check(assembly.problem, result.plan, 1);
  if (!violations.empty()) fuzz::fail("a wrong plan: " + violations.front().message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  const bool is_read = fuzz::accepts({ErrorKind::archive}, [&] {
    const tflite::ReadModel read = tflite::read_model(bytes, "fuzzed");
    const auto fault = tir::find_fault(read.module);
    if (fault) fuzz::fail("a module that is not well formed: " + tir::to_string(read.module, *fault));
    if (const auto outside = program::find_outside_access(read.module, most_steps)) {
      fuzz::fail("an access outside of its storage: " + outside->place + ": " + outside->message);
    }
    check_description(read.description);
    fuzz::check_module(read.module);
    check_plan(read.module);
  });
  check_list(bytes, is_read);
  return 0;
}
