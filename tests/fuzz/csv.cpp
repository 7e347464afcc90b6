// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Instances in CSV, planned by a quick algorithm and written with their offsets.
#include "usmp/instance/csv.hpp"

#include "fuzz.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/verify.hpp"

using namespace usmp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::accepts({ErrorKind::usage}, [&] {
    const instance::CsvInstance read = instance::parse_csv(text);
    fuzz::require(!invalid_reason(read.problem), "an invalid problem");
    const PlanResult result = planners::fast(read.problem, {});
    fuzz::require(result.has_plan(), "no plan for a pool without bound");
    fuzz::require(verify::check(read.problem, result.plan).empty(), "a wrong plan");
    const std::string written = instance::csv_with_offsets(text, read, result.plan);
    const instance::CsvInstance again = instance::parse_csv(written);
    fuzz::require(again.rows == read.rows, "the rows are not read back");
    for (std::size_t i = 0; i < again.problem.buffers.size(); ++i) {
      fuzz::require(again.problem.buffers[i].pinned == result.plan.allocations[i].offset, "an offset is not read back");
    }
  });
  return 0;
}
