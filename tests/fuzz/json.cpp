// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The JSON files that the program writes and reads: earlier plans, problems, answers of external algorithms. All three
// readers see each input; the format that it names decides which of them goes on.
#include "usmp/instance/json.hpp"

#include "fuzz.hpp"
#include "usmp/plan_file/plan_json.hpp"
#include "usmp/verify/verify.hpp"

using namespace usmp;

namespace {

// What the answers are about.
const Problem& asked() {
  static const Problem problem = [] {
    Problem two;
    two.pools = {{.name = "dtcm", .capacity = 48, .alignment = 8}, {.name = "sram"}};
    two.buffers = {
        {.name = "a", .function = "main", .size = 32, .candidates = {PoolId(0), PoolId(1)}, .live = {{0, 2}}},
        {.name = "b", .function = "f", .size = 16, .alignment = 16, .candidates = {PoolId(0)}, .live = {{1, 4}}},
        {.name = "c", .function = "main", .size = 32, .candidates = {PoolId(1)}, .live = {{3, 5}, {7, 9}}}};
    two.horizon = 9;
    return two;
  }();
  return problem;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::accepts({ErrorKind::usage}, [&] {
    const plan_file::PlanDocument document = plan_file::parse_plan_document(text);
    for (const auto& buffer : document.buffers) {
      fuzz::require(buffer.size >= 0 && buffer.offset >= 0, "a place out of range");
    }
    fuzz::require(plan_file::parse_plan_document(plan_file::plan_json(document)) == document,
                  "a plan is not read back");
  });
  fuzz::accepts({ErrorKind::usage}, [&] {
    const Problem problem = instance::parse_problem(text);
    fuzz::require(!invalid_reason(problem), "an invalid problem");
    const std::string written = instance::problem_json(problem);
    fuzz::require(instance::problem_json(instance::parse_problem(written)) == written, "a problem is not read back");
  });
  fuzz::accepts({ErrorKind::usage}, [&] {
    const instance::Answer answer = instance::parse_answer(text, asked());
    fuzz::require(answer.plan.allocations.size() == asked().buffers.size(), "not an allocation a buffer");
    const auto pairs = verify::check(asked(), answer.plan, verify::Method::pairs);
    const auto sweep = verify::check(asked(), answer.plan, verify::Method::sweep);
    fuzz::require(pairs.size() == sweep.size(), "the verifier's methods disagree");
  });
  return 0;
}
