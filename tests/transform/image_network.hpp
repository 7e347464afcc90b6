// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Networks of windows over images, for the tests of the step "rolling" by pixels and by strips.
#pragma once

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
#include "usmp/tir/printer.hpp"

namespace usmp::transform::image_network {

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
    const VarId ky = integer("ky");
    const VarId kx = integer("kx");
    const VarId c = integer("c");
    const VarId channel = integer("channel");
    const auto sums = [&](const std::vector<VarId>& params, const ExprRef& y, const ExprRef& x) {
      const VarId p0 = params[0];
      const VarId p1 = params[1];
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
    add_pixels({from, to}, {in, out}, is_fused, sums);
  }

  // A function with a loop over the pixels of its last tensor for each body(params, y, x).
  template <class... Bodies>
  void add_pixels(const std::vector<VarId>& tensors, const std::vector<Image>& images, bool is_fused,
                  const Bodies&... bodies) {
    const Image& out = images.back();
    std::vector<VarId> params;
    for (std::size_t i = 0; i < tensors.size(); ++i) params.push_back(pointer("p" + std::to_string(i), i32));
    Block loops;
    const auto add_loop = [&](const auto& body) {
      const VarId i = integer("i");
      const VarId j = integer("j");
      loops.push_back(is_fused ? loop(i, out.height * out.width,
                                      body(params, quotient(var(i), out.width), remainder(var(i), out.width)))
                               : loop(i, out.height, block(loop(j, out.width, body(params, var(i), var(j))))));
    };
    (add_loop(bodies), ...);
    const std::string name = new_name();
    function(name, params, std::move(loops));
    for (std::size_t i = 0; i < images.size(); ++i) shape(i, images[i]);
    calls_.push_back(call(name, tensors));
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

  // to = the sums of all pixels up to there, of each channel; the sums stand in a buffer.
  void add_running_sums(VarId from, VarId to, const Image& image) {
    const VarId p0 = pointer("p0", i32);
    const VarId p1 = pointer("p1", i32);
    const VarId sum = pointer("sum", i32);
    const VarId pixel = integer("pixel");
    const VarId cleared = integer("cleared");
    const VarId c = integer("c");
    const ExprRef here = add(mul(var(pixel), image.channels), var(c));
    const Stmt clear = loop(cleared, image.channels, block(store(sum, var(cleared), imm(0))));
    const Stmt add_up =
        loop(c, image.channels,
             block(store(sum, var(c), add(load(sum, var(c)), load(p0, here))), store(p1, here, load(sum, var(c)))));
    const std::string name = new_name();
    function(name, {p0, p1},
             block(allocate(sum, image.channels),
                   loop(pixel, image.height * image.width, block(when(less(var(pixel), 1), block(clear)), add_up))));
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
  std::string new_name() { return "f" + std::string(1, static_cast<char>('a' + calls_.size())); }

  void shape(std::size_t param, const Image& image) {
    module().functions.back().params[param].shape =
        std::vector<std::int64_t>{1, image.height, image.width, image.channels};
  }

  Block allocates_;
  Block calls_;
};

inline random_modules::Outcome check_same(const tir::Module& before, const tir::Module& after, const Image& in,
                                          const Image& out) {
  const auto fault = random_modules::fault_of(after);
  REQUIRE_MESSAGE(!fault, fault.value_or("") << "\n" << tir::print(after));
  std::string contents;
  for (std::int64_t n = 0; n < in.elements(); ++n) contents += {static_cast<char>((7 * n + 1) % 101), 0, 0, 0};
  std::vector<random_modules::Argument> arguments = {{contents.size(), contents},
                                                     {static_cast<std::size_t>(4 * out.elements()), std::nullopt}};
  const random_modules::Outcome reference = random_modules::Interpreter(before, 100).run(arguments);
  const auto difference = random_modules::difference_to(reference, arguments, after);
  REQUIRE_MESSAGE(!difference, difference.value_or("") << "\n" << tir::print(after));
  return random_modules::Interpreter(after, 100).run(arguments);
}

// in → a → b → out
inline tir::Module three_windows(const Image& image) {
  Network n;
  const VarId in = n.add_tensor("in", image, true);
  const VarId a = n.add_tensor("a", image);
  const VarId b = n.add_tensor("b", image);
  const VarId out = n.add_tensor("out", image, true);
  n.add_window(in, image, a, image, {}, true);
  n.add_window(a, image, b, image, {}, false);
  n.add_window(b, image, out, image, {}, true);
  return n.with_entry(in, out);
}

struct RandomChain {
  tir::Module module;
  Image in;
  Image out;
};

// Windows of all sizes and strides, and sums of two tensors.
inline RandomChain random_chain(std::mt19937& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
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
  return {n.with_entry(tensors.front().first, tensors.back().first), first, tensors.back().second};
}

}  // namespace usmp::transform::image_network
