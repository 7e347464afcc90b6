// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Storage of some rows of a tensor: which element each byte was stored for.
#include <doctest/doctest.h>

#include "replay/played.hpp"

namespace usmp::replay::testing::rings_test {
namespace {

// A tensor of `planes` planes of 6 rows of 2 int32, of which `rows` are held. Row i is written, then the row `back`
// behind it is read, of every plane.
std::string said_of(std::int64_t planes, std::int64_t rows, std::int64_t back) {
  Program p;
  constexpr std::int64_t stride = 2;
  constexpr std::int64_t extent = 6;
  const VarId ring = p.pointer("ring", int32_type);
  tir::Stmt allocate = p.allocate(ring, planes * rows * stride);
  std::get<tir::Allocate>(allocate.node).ring = tir::Ring{.stride = stride, .extent = extent, .rows = rows};
  const auto element = [&](ExprRef row, std::int64_t plane) {
    return add(mul(std::move(row), make_int(stride)), add(make_int(plane * extent * stride), p.j()));
  };
  tir::Block body;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    body.push_back(p.for_j(stride, block(p.store(ring, element(p.i(), plane), make_int(1, int32_type)))));
  }
  const ExprRef behind = sub(p.i(), make_int(back));
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    body.push_back(
        p.when(at_least(behind, make_int(0)), block(p.for_j(stride, block(p.read(ring, element(behind, plane)))))));
  }
  return p.said({{"ring", 0}}, {std::move(allocate), p.for_i(extent, std::move(body))});
}

TEST_CASE("a row is held until another one takes its place") {
  CHECK(said_of(1, 3, 2) == "1 of 1, 20 accesses");
  CHECK(said_of(2, 3, 2) == "1 of 1, 40 accesses");
  CHECK(said_of(1, 1, 0) == "1 of 1, 24 accesses");
}

TEST_CASE("a row that is gone is lost, though nobody else has written its bytes") {
  const std::string lost =
      "\nelement of 'ring' at byte 0 of pool 'global_workspace' is read after another row of it has overwritten it, "
      "in function 'main', iteration i = 2, j = 0";
  CHECK(said_of(1, 2, 2) == "1 of 1, 20 accesses" + lost);
  CHECK(said_of(2, 2, 2) == "1 of 1, 40 accesses" + lost);
}

TEST_CASE("a row that has not come yet is no element of the ring either") {
  CHECK(said_of(1, 3, -1).find("is read after another row of it") != std::string::npos);
}

}  // namespace
}  // namespace usmp::replay::testing::rings_test
