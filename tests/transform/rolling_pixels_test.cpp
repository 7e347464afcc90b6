// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step "rolling" by pixels, on small networks of images: which pixels rings hold, and random chains of windows,
// strides and shortcuts. Every result is interpreted, with rings that know which element they hold.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "transform/image_network.hpp"
#include "transform/rings.hpp"
#include "transform/rolling.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform::rolling_pixels_test {
namespace {

using namespace image_network;  // NOLINT(google-build-using-namespace)
using tir::Stmt;
using tir::VarId;

struct Rolled {
  std::string rings;         // "a 13, b 1": pixels that are held
  std::int64_t windows = 0;  // rings of more than a pixel
  bool is_by_pixels = false;
};

Rolled rolled(const tir::Module& module, const Image& in, const Image& out, RollingGrain grain = RollingGrain::pixels) {
  tir::Module after = module;
  const std::vector<Change> changes = roll(after, {.steps = {Step::rolling}, .rolling_grain = grain});
  (void)check_same(module, after, in, out);
  Rolled result{.rings = rings_of(after)};
  for (const tir::Function& function : after.functions) {
    tir::for_each_stmt(function.body, [&](const Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr && allocate->ring && allocate->ring->rows > 1) ++result.windows;
    });
  }
  for (const Change& change : changes) {
    result.is_by_pixels = result.is_by_pixels || change.text.find("pixel by pixel") != std::string::npos;
  }
  return result;
}

constexpr Image image{.height = 9, .width = 6, .channels = 4};

TEST_CASE("a ring of a 3 x 3 window holds two lines and three pixels") {
  for (const bool is_fused : {true, false}) {
    CAPTURE(is_fused);
    Network n;
    const VarId in = n.add_tensor("in", image, true);
    const VarId a = n.add_tensor("a", image);
    const VarId b = n.add_tensor("b", image);
    const VarId out = n.add_tensor("out", image, true);
    n.add_window(in, image, a, image, {}, is_fused);
    n.add_window(a, image, b, image, {}, !is_fused);
    n.add_window(b, image, out, image, {.height = 1, .width = 1, .top = 0, .left = 0}, is_fused);
    const tir::Module module = n.with_entry(in, out);
    CHECK(rolled(module, image, image).rings == "a 15, b 1");
    CHECK(rolled(module, image, image, RollingGrain::any).is_by_pixels);
    CHECK(rolled(module, image, image, RollingGrain::rows).rings == "a 3, b 1");
  }
}

TEST_CASE("with a stride and lines of another length, windows step from line to line") {
  const Image half{.height = 5, .width = 3, .channels = 8};
  Network n;
  const VarId in = n.add_tensor("in", image, true);
  const VarId a = n.add_tensor("a", image);
  const VarId out = n.add_tensor("out", half, true);
  n.add_window(in, image, a, image, {}, true);
  n.add_window(a, image, out, half, {.stride = 2}, true);
  CHECK(rolled(n.with_entry(in, out), image, half).rings == "a 15");
}

TEST_CASE("a shortcut is kept until it is added") {
  Network n;
  const VarId in = n.add_tensor("in", image, true);
  const VarId a = n.add_tensor("a", image);
  const VarId b = n.add_tensor("b", image);
  const VarId c = n.add_tensor("c", image);
  const VarId out = n.add_tensor("out", image, true);
  n.add_window(in, image, a, image, {}, true);
  n.add_window(a, image, b, image, {}, true);
  n.add_window(b, image, c, image, {}, true);
  n.add_sum(c, a, out, image);
  // b is computed 6 + 1 pixels ahead of the sum, and a as many ahead of b.
  CHECK(rolled(n.with_entry(in, out), image, image).rings == "a 15, b 15, c 1");
}

TEST_CASE("at the end of a line nothing of the next one is waited for") {
  const Image large{.height = 12, .width = 8, .channels = 2};
  const Image small{.height = 6, .width = 4, .channels = 2};
  const Window every_second{.height = 1, .width = 1, .stride = 2, .top = 0, .left = 0};
  Network n;
  const VarId in = n.add_tensor("in", large, true);
  const VarId a = n.add_tensor("a", large);
  const VarId b = n.add_tensor("b", small);
  const VarId c = n.add_tensor("c", small);
  const VarId d = n.add_tensor("d", small);
  const VarId out = n.add_tensor("out", small, true);
  n.add_window(in, large, a, large, {}, true);
  n.add_window(a, large, b, small, {.stride = 2, .top = 0, .left = 0}, true);
  n.add_window(b, small, c, small, {}, true);
  n.add_window(a, large, d, small, every_second, true);
  n.add_sum(c, d, out, small);
  // b is computed a line and a pixel ahead of the sum, for which two lines and two pixels of a are stepped over, and
  // its window has two lines and three pixels. If b were computed from the next line already, a would need two lines
  // more.
  CHECK(rolled(n.with_entry(in, out), large, small).rings == "a 37, b 11, c 1, d 1");
}

TEST_CASE("what cannot run by pixels runs by rows in a chain by pixels") {
  const Image wide{.height = 9, .width = 9, .channels = 4};
  Network n;
  const VarId in = n.add_tensor("in", image, true);
  const VarId a = n.add_tensor("a", image);
  const VarId b = n.add_tensor("b", wide);
  const VarId c = n.add_tensor("c", wide);
  const VarId out = n.add_tensor("out", wide, true);
  n.add_window(in, image, a, image, {}, true);
  n.add_window(a, image, b, wide, {.left = 3}, true);  // begins further left at each new line
  n.add_window(b, wide, c, wide, {}, true);
  n.add_window(c, wide, out, wide, {}, true);
  // Three lines of 6; three of 9, of which each is computed at once; two lines and three pixels.
  CHECK(rolled(n.with_entry(in, out), image, wide).rings == "a 18, b 27, c 21");
}

TEST_CASE("rows, if pixels need no less") {
  const Image column{.height = 12, .width = 1, .channels = 4};
  Network n;
  const VarId in = n.add_tensor("in", column, true);
  const VarId a = n.add_tensor("a", column);
  const VarId out = n.add_tensor("out", column, true);
  n.add_window(in, column, a, column, {}, false);
  n.add_window(a, column, out, column, {}, false);
  const Rolled found = rolled(n.with_entry(in, out), column, column, RollingGrain::any);
  CHECK(found.rings == "a 3");
  CHECK_FALSE(found.is_by_pixels);
}

TEST_CASE("rows, if something else needs more than both") {
  const Image large{.height = 12, .width = 6, .channels = 4};
  const Image half{.height = 6, .width = 3, .channels = 8};
  Network n;
  const VarId in = n.add_tensor("in", large, true);
  const VarId a = n.add_tensor("a", large);
  const VarId b = n.add_tensor("b", half);
  const VarId c = n.add_tensor("c", half);
  const VarId out = n.add_tensor("out", half, true);
  n.add_window(in, large, a, large, {}, true);
  n.add_window(a, large, b, half, {.stride = 2}, true);
  n.add_turn(b, c, half);
  n.add_turn(c, out, half);
  const Rolled found = rolled(n.with_entry(in, out), large, half, RollingGrain::any);
  CHECK(found.rings == "a 3");
  CHECK_FALSE(found.is_by_pixels);
}

TEST_CASE("random chains of windows compute the same by pixels") {
  std::mt19937 random(11);
  int by_pixels = 0;
  std::int64_t windows = 0;
  for (int trial = 0; trial < 300; ++trial) {
    CAPTURE(trial);
    const RandomChain chain = random_chain(random);
    const Rolled found = rolled(chain.module, chain.in, chain.out);
    by_pixels += found.is_by_pixels ? 1 : 0;
    windows += found.windows;
    (void)rolled(chain.module, chain.in, chain.out, RollingGrain::any);
  }
  CHECK(by_pixels >= 100);
  CHECK(windows >= 100);
}

}  // namespace
}  // namespace usmp::transform::rolling_pixels_test
