// SPDX-License-Identifier: Apache-2.0
// The step "rolling" by pixels, on small networks of images: which pixels rings hold, and random chains of windows,
// strides and shortcuts. Every result is interpreted, with rings that know which element they hold.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "random_modules/interpreter.hpp"
#include "random_modules/transformed.hpp"
#include "tir_support/module_builder.hpp"
#include "transform/rolling.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform::rolling_pixels_test {
namespace {

using namespace tir::testing;  // NOLINT(google-build-using-namespace)
using tir::Block;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

struct Image {
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t channels = 1;

  [[nodiscard]] std::int64_t elements() const { return height * width * channels; }
};

struct Window {
  std::int64_t height = 3;
  std::int64_t width = 3;
  std::int64_t stride = 1;
  std::int64_t top = 1;  // padding above
  std::int64_t left = 1;
};

// Operators on images of int32, each with a loop over pixels or one over lines around one over pixels.
class Network : public ModuleBuilder {
 public:
  VarId add_tensor(const std::string& name, const Image& image, bool is_param = false) {
    const VarId tensor = pointer(name, i32);
    if (!is_param) allocates_.push_back(allocate(tensor, image.elements()));
    return tensor;
  }

  // The sums of windows of each channel; pixels that are not there count as 0.
  void add_window(VarId from, const Image& in, VarId to, const Image& out, const Window& window, bool is_fused) {
    const VarId p0 = pointer("p0", i32);
    const VarId p1 = pointer("p1", i32);
    const VarId ky = integer("ky");
    const VarId kx = integer("kx");
    const VarId c = integer("c");
    const VarId channel = integer("channel");
    const auto sums = [&](const ExprRef& y, const ExprRef& x) {
      const ExprRef there_y = sub(add(mul(y, window.stride), var(ky)), window.top);
      const ExprRef there_x = sub(add(mul(x, window.stride), var(kx)), window.left);
      const ExprRef is_there = both(both(at_least(there_y, 0), less(there_y, in.height)),
                                    both(at_least(there_x, 0), less(there_x, in.width)));
      const ExprRef read =
          add(add(mul(there_y, in.width * in.channels), mul(there_x, in.channels)), remainder(var(c), in.channels));
      const ExprRef here = add(add(mul(y, out.width * out.channels), mul(x, out.channels)), var(c));
      const Stmt term = loop(c, out.channels, block(store(p1, here, add(load(p1, here), load(p0, read)))));
      const ExprRef cleared = add(add(mul(y, out.width * out.channels), mul(x, out.channels)), var(channel));
      return block(loop(channel, out.channels, block(store(p1, cleared, imm(0)))),
                   loop(ky, window.height, block(loop(kx, window.width, block(when(is_there, block(term)))))));
    };
    add_loops(p0, in, p1, out, is_fused, sums);
    calls_.push_back(call(module().functions.back().name, {from, to}));
  }

  // to = a + b, in one loop over all elements.
  void add_sum(VarId a, VarId b, VarId to, const Image& image) {
    const VarId p0 = pointer("p0", i32);
    const VarId p1 = pointer("p1", i32);
    const VarId p2 = pointer("p2", i32);
    const VarId i = integer("i");
    const std::string name = new_name();
    function(name, {p0, p1, p2},
             block(loop(i, image.elements(), block(store(p2, var(i), add(load(p0, var(i)), load(p1, var(i))))))));
    for (std::size_t param = 0; param < 3; ++param) shape(param, image);
    calls_.push_back(call(name, {a, b, to}));
  }

  // to = from backwards.
  void add_turn(VarId from, VarId to, const Image& image) {
    const VarId p0 = pointer("p0", i32);
    const VarId p1 = pointer("p1", i32);
    const VarId i = integer("i");
    const std::string name = new_name();
    const ExprRef there = sub(image.elements() - 1, var(i));
    function(name, {p0, p1}, block(loop(i, image.elements(), block(store(p1, var(i), load(p0, there))))));
    for (std::size_t param = 0; param < 2; ++param) shape(param, image);
    calls_.push_back(call(name, {from, to}));
  }

  tir::Module with_entry(VarId in, VarId out) {
    Block body = allocates_;
    body.insert(body.end(), calls_.begin(), calls_.end());
    entry({in, out}, std::move(body));
    return build();
  }

 private:
  template <class Body>
  void add_loops(VarId p0, const Image& in, VarId p1, const Image& out, bool is_fused, const Body& body) {
    const VarId i = integer("i");
    const VarId j = integer("j");
    Block loops =
        is_fused
            ? block(loop(i, out.height * out.width, body(quotient(var(i), out.width), remainder(var(i), out.width))))
            : block(loop(i, out.height, block(loop(j, out.width, body(var(i), var(j))))));
    function(new_name(), {p0, p1}, std::move(loops));
    shape(0, in);
    shape(1, out);
  }

  std::string new_name() { return "f" + std::string(1, static_cast<char>('a' + calls_.size())); }

  void shape(std::size_t param, const Image& image) {
    module().functions.back().params[param].shape =
        std::vector<std::int64_t>{1, image.height, image.width, image.channels};
  }

  Block allocates_;
  Block calls_;
};

void check_same(const tir::Module& before, const tir::Module& after, const Image& in, const Image& out) {
  const auto fault = random_modules::fault_of(after);
  REQUIRE_MESSAGE(!fault, fault.value_or("") << "\n" << tir::print(after));
  std::string contents;
  for (std::int64_t n = 0; n < in.elements(); ++n) contents += {static_cast<char>((7 * n + 1) % 101), 0, 0, 0};
  std::vector<random_modules::Argument> arguments = {{contents.size(), contents},
                                                     {static_cast<std::size_t>(4 * out.elements()), std::nullopt}};
  const random_modules::Outcome reference = random_modules::Interpreter(before, 100).run(arguments);
  const auto difference = random_modules::difference_to(reference, arguments, after);
  REQUIRE_MESSAGE(!difference, difference.value_or("") << "\n" << tir::print(after));
}

struct Rolled {
  std::string rings;         // "a 13, b 1": pixels that are held
  std::int64_t windows = 0;  // rings of more than a pixel
  bool is_by_pixels = false;
};

Rolled rolled(const tir::Module& module, const Image& in, const Image& out, RollingGrain grain = RollingGrain::pixels) {
  tir::Module after = module;
  const std::vector<Change> changes = roll(after, {.steps = {Step::rolling}, .rolling_grain = grain});
  check_same(module, after, in, out);
  Rolled result;
  for (const tir::Function& function : after.functions) {
    tir::for_each_stmt(function.body, [&](const Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate == nullptr || !allocate->ring) return;
      result.rings += (result.rings.empty() ? "" : ", ") + after.var(allocate->var).name + " " +
                      std::to_string(allocate->ring->rows);
      if (allocate->ring->rows > 1) ++result.windows;
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
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  int by_pixels = 0;
  std::int64_t windows = 0;
  for (int trial = 0; trial < 300; ++trial) {
    CAPTURE(trial);
    Network n;
    std::vector<std::pair<VarId, Image>> tensors;
    const Image first{.height = pick(2, 9), .width = pick(2, 9), .channels = pick(1, 4)};
    tensors.emplace_back(n.add_tensor("in", first, true), first);
    const std::int64_t layers = pick(2, 5);
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      const auto [from, in] = tensors.back();
      const bool is_last = layer + 1 == layers;
      const std::string name(1, static_cast<char>('a' + layer));
      const auto alike = std::ranges::find_if(tensors.begin(), tensors.end() - 1, [&](const auto& other) {
        return other.second.elements() == in.elements() && other.second.width == in.width;
      });
      if (alike != tensors.end() - 1 && pick(0, 1) == 0) {
        const VarId other = alike->first;
        tensors.emplace_back(n.add_tensor(name, in, is_last), in);
        n.add_sum(from, other, tensors.back().first, in);
        continue;
      }
      const Window window{.height = pick(1, 3),
                          .width = pick(1, 3),
                          .stride = pick(0, 2) == 0 ? 2 : 1,
                          .top = pick(0, 2),
                          .left = pick(0, 2)};
      // Mostly as many pixels as there are windows that begin in the image or its padding.
      const Image out{.height = std::max<std::int64_t>((in.height + pick(-1, 1)) / window.stride, 1),
                      .width = std::max<std::int64_t>((in.width + pick(-1, 2)) / window.stride, 1),
                      .channels = pick(0, 1) == 0 ? in.channels : pick(1, 4)};
      tensors.emplace_back(n.add_tensor(name, out, is_last), out);
      n.add_window(from, in, tensors.back().first, out, window, pick(0, 1) == 0);
    }
    const tir::Module module = n.with_entry(tensors.front().first, tensors.back().first);
    const Rolled found = rolled(module, first, tensors.back().second);
    by_pixels += found.is_by_pixels ? 1 : 0;
    windows += found.windows;
    (void)rolled(module, first, tensors.back().second, RollingGrain::any);
  }
  CHECK(by_pixels >= 100);
  CHECK(windows >= 100);
}

}  // namespace
}  // namespace usmp::transform::rolling_pixels_test
