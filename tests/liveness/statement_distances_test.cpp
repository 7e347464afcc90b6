// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What buffers of one statement may share if the others are in an order that lets them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "liveness/program_of_nests.hpp"

namespace usmp::liveness::testing::statement_distances_test {
namespace {

// "in>=out+3 (in dies)", by statement that is not a declaration.
std::vector<std::string> texts_of(const tir::Module& module, const Options& options = {}) {
  std::vector<std::string> texts;
  const auto found = find_statement_distances(module, options);
  const tir::Block& body = module.functions[module.entry].body;
  REQUIRE(found.size() == body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (std::holds_alternative<tir::Allocate>(body[i].node)) continue;
    std::vector<std::string> lines;
    for (const DyingDistance& dying : found[i]) {
      lines.push_back(module.var(dying.distance.above).name + ">=" + module.var(dying.distance.below).name + "+" +
                      std::to_string(dying.distance.bytes) + " (" + module.var(dying.dying).name + " dies)");
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
    texts.push_back(text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE("a tensor of two readers: either may be the last") {
  Program p;
  const VarId from = p.pointer("from");
  const VarId to = p.pointer("to");
  p.function("op", {from, to}, block(p.for_i(16, block(p.store(to, p.i(), p.load(from, p.i()))))));
  const VarId in = p.buffer("in", 32);
  const VarId first = p.temporary("first", 16);
  const VarId second = p.temporary("second", 16);
  p.is_kept(first);
  p.is_kept(second);
  const tir::Module module = p.module_of({p.call("op", {in, first}), p.call("op", {in, second})});
  const Texts found = texts_of(module);
  REQUIRE(found.size() == 5);  // fill, both calls, two drains
  CHECK(found[1] ==
        "first>=in+0 (first dies); first>=in+16 (in dies); in>=first+0 (first dies); in>=first+0 (in dies)");
  CHECK(found[2] ==
        "in>=second+0 (in dies); in>=second+0 (second dies); second>=in+0 (second dies); second>=in+16 (in dies)");
  CHECK(found[0] + found[3] + found[4] == "");
  // As it stands, only the second one can write where `in` is still read.
  CHECK(text_of(module) == "first>=in+16; in>=second+0; second>=in+16");
}

}  // namespace
}  // namespace usmp::liveness::testing::statement_distances_test
