// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step "rolling" by strips: which columns a stage needs, whatever it reads, with a near miss for each condition.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "transform/image_network.hpp"
#include "transform/plain_entry.hpp"
#include "transform/rolling.hpp"
#include "transform/rolling_strips.hpp"
#include "transform/rolling_units.hpp"

namespace usmp::transform::strip_columns_test {
namespace {

using namespace image_network;  // NOLINT(google-build-using-namespace)
using tir::Block;
using tir::VarId;

constexpr Image image{.height = 6, .width = 12, .channels = 4};
constexpr Image half{.height = 6, .width = 6, .channels = 4};

// A pixel that is read, under a condition or always.
struct Read {
  ExprRef y;
  ExprRef x;
  ExprRef condition = nullptr;
};
using Reads = std::vector<Read>;
// What pixel (y, x) of the output is made of; `square` is that of the channel, counted from the first one of the loop.
using ReadsOf = std::function<Reads(const ExprRef& y, const ExprRef& x, const ExprRef& square)>;

Reads same(const ExprRef& y, const ExprRef& x, const ExprRef&) { return {{y, x}}; }

class Sums : public Network {
 public:
  // to = sums of what is read.
  void add_sums(VarId from, const Image& in, VarId to, const Image& out, bool is_fused, const ReadsOf& reads) {
    add_pixels({from, to}, {in, out}, is_fused, loop_over(0, 1, {0, out.channels - 1}, {in, out}, reads));
  }

  // The first two channels of `to` are sums of `first`, the others of `second`: a loop for each.
  void add_halves(VarId first, const ReadsOf& of_first, VarId second, const ReadsOf& of_second, VarId to) {
    const std::vector<VarId> arguments = first == second ? std::vector{first, to} : std::vector{first, second, to};
    const std::vector<Image> images(arguments.size(), image);
    add_pixels(arguments, images, false, loop_over(0, arguments.size() - 1, {0, 1}, images, of_first),
               loop_over(arguments.size() - 2, arguments.size() - 1, {2, 3}, images, of_second));
  }

 private:
  using Body = std::function<Block(const std::vector<VarId>& params, const ExprRef& y, const ExprRef& x)>;
  Body loop_over(std::size_t from, std::size_t to, Interval channels, const std::vector<Image>& images,
                 const ReadsOf& reads) {
    return [=, this](const std::vector<VarId>& params, const ExprRef& y, const ExprRef& x) {
      const VarId c = integer("c");
      const VarId square = integer("square");
      const auto index = [&](const Image& of, const ExprRef& line, const ExprRef& column) {
        const ExprRef pixel = add(mul(line, of.width * of.channels), mul(column, of.channels));
        return add(add(pixel, var(c)), channels.low);
      };
      ExprRef sum = imm(1);
      for (const Read& read : reads(y, x, var(square))) {
        const ExprRef value = load(params[from], index(images[from], read.y, read.x));
        sum = add(sum, read.condition ? choice(read.condition, value, imm(0)) : value);
      }
      return block(loop(c, channels.high - channels.low + 1,
                        block(let(square, mul(var(c), var(c))), store(params[to], index(images[to], y, x), sum))));
    };
  }
};

// in → a → out, a window and sums.
tir::Module in_sums(const ReadsOf& reads, bool is_fused) {
  Sums n;
  const VarId in = n.add_tensor("in", image, true);
  const VarId a = n.add_tensor("a", image);
  const VarId out = n.add_tensor("out", image, true);
  n.add_window(in, image, a, image, {}, true);
  n.add_sums(a, image, out, image, is_fused, reads);
  return n.with_entry(in, out);
}

// in → a → b → out, windows but for b, of which the first half reads a or in.
tir::Module in_halves(const ReadsOf& first, const ReadsOf& second, bool is_of_a = true) {
  Sums n;
  const VarId in = n.add_tensor("in", image, true);
  const VarId a = n.add_tensor("a", image);
  const VarId b = n.add_tensor("b", image);
  const VarId out = n.add_tensor("out", image, true);
  n.add_window(in, image, a, image, {}, true);
  n.add_halves(is_of_a ? a : in, first, a, second, b);
  n.add_window(b, image, out, image, {.height = 1, .width = 1, .top = 0, .left = 0}, true);
  return n.with_entry(in, out);
}

// All calls of the entry as a chain; nothing: they cannot run by strips.
std::optional<Segment> in_strips(tir::Module module) {
  const auto entry = read_plain_entry(module);
  REQUIRE(entry);
  const std::vector<CallRun> runs = call_runs(module, *entry, false);
  REQUIRE(runs.size() == 1);
  return rolled_segment(module, runs[0], 0, entry->calls.size(), Grain::strips);
}

bool has_strips(const tir::Module& module) { return in_strips(module).has_value(); }
// In one half; from every other line, so that no loop over lines divides more tensors than the one over pixels does.
bool has_strips(const ReadsOf& reads, bool is_of_a = true) { return has_strips(in_halves(same, reads, is_of_a)); }

// What the second of the strips of four columns needs of the first tensor.
Interval columns_for(const tir::Module& module) {
  const std::optional<Segment> segment = in_strips(module);
  REQUIRE(segment);
  return segment->columns[0].in(1, 4);
}

// By strips of all widths that the work allowed leads to.
void check_strips(const tir::Module& module) {
  std::size_t changes = 0;
  for (const std::int64_t percent : {20, 50, 100, 1000}) {
    CAPTURE(percent);
    tir::Module after = module;
    const Options options{.steps = {Step::rolling}, .strip_percent = percent, .rolling_grain = RollingGrain::strips};
    changes += roll(after, options).size();
    check_same(module, after, image, image);
  }
  CHECK(changes > 0);
}

Reads cross(const ExprRef& y, const ExprRef& x, const ExprRef&) {
  return {{y, x},
          {sub(y, 1), x, at_least(y, 1)},
          {add(y, 1), x, less(y, image.height - 1)},
          {y, sub(x, 1), at_least(x, 1)},
          {y, add(x, 2), less(x, image.width - 2)}};
}

TEST_CASE("a cross needs the columns to both sides") {
  for (const bool is_fused : {true, false}) {
    CAPTURE(is_fused);
    const tir::Module module = in_sums(cross, is_fused);
    CHECK(columns_for(module) == Interval{3, 9});
    check_strips(module);
  }
}

TEST_CASE("a stage of two loops needs the columns of both") {
  // Both need the line below, and only one the line above: of no line they need the columns that the two ends of what
  // both need together are in.
  const ReadsOf left = [](const ExprRef& y, const ExprRef& x, const ExprRef&) -> Reads {
    return {{y, x}, {add(y, 1), sub(x, 2), both(less(y, image.height - 1), at_least(x, 2))}};
  };
  const ReadsOf lines = [](const ExprRef& y, const ExprRef& x, const ExprRef&) -> Reads {
    return {{y, x}, {sub(y, 1), x, at_least(y, 1)}, {add(y, 1), x, less(y, image.height - 1)}};
  };
  for (const bool is_first : {true, false}) {
    CAPTURE(is_first);
    const tir::Module module = is_first ? in_halves(left, lines) : in_halves(lines, left);
    CHECK(columns_for(module) == Interval{2, 7});
    check_strips(module);
  }
}

TEST_CASE("lines may be read in any way that a chain by rows knows") {
  for (const bool is_of_a : {true, false}) {
    const auto check_lines = [&](const std::function<ExprRef(const ExprRef&)>& line) {
      const ReadsOf lines = [&](const ExprRef& y, const ExprRef& x, const ExprRef&) -> Reads {
        return {{line(y), x}, {line(y), sub(x, 1), at_least(x, 1)}};
      };
      const tir::Module module = in_halves(same, lines, is_of_a);
      CHECK(columns_for(module) == Interval{3, 7});
      check_strips(module);
    };
    check_lines([](const ExprRef& y) { return y; });
    check_lines([](const ExprRef& y) { return quotient(y, 2); });
    check_lines([](const ExprRef& y) { return add(quotient(y, 2), remainder(y, 2)); });
  }
}

TEST_CASE("columns are read from left to right") {
  const auto strips = [](const std::function<ExprRef(const ExprRef&)>& column) {
    const ReadsOf reads = [&](const ExprRef& y, const ExprRef& x, const ExprRef&) -> Reads {
      return {{quotient(y, 2), column(x)}};
    };
    return has_strips(reads, false);
  };
  CHECK(strips([](const ExprRef& x) { return x; }));
  CHECK_FALSE(strips([](const ExprRef& x) { return sub(image.width - 1, x); }));
}

TEST_CASE("all accesses of a stage take one step from column to column") {
  const auto strips = [](std::int64_t first, std::int64_t second) {
    return has_strips([&](const ExprRef& y, const ExprRef& x, const ExprRef&) -> Reads {
      const ExprRef condition = less(x, 6);
      return {{quotient(y, 2), mul(x, first), condition}, {quotient(y, 2), mul(x, second), condition}};
    });
  };
  CHECK(strips(1, 1));
  CHECK_FALSE(strips(1, 2));
  CHECK_FALSE(strips(2, 1));
  CHECK_FALSE(strips(2, 2));  // of the other loop, 1
}

TEST_CASE("columns that are no known sums are not known") {
  const auto strips = [](bool is_known) {
    return has_strips([&](const ExprRef& y, const ExprRef& x, const ExprRef& square) -> Reads {
      const ExprRef there = add(x, is_known ? imm(1) : square);
      return {{quotient(y, 2), there, both(at_least(there, 0), less(there, image.width))}};
    });
  };
  CHECK(strips(true));
  CHECK_FALSE(strips(false));
  CHECK_FALSE(has_strips([&](const ExprRef& y, const ExprRef& x, const ExprRef&) -> Reads {
    return {{y, mul(x, remainder(x, 2))}};
  }));
}

TEST_CASE("all readers of a tensor take one step from column to column") {
  const auto strips = [&](std::int64_t step) {
    Sums n;
    const VarId in = n.add_tensor("in", image, true);
    const VarId a = n.add_tensor("a", image);
    const VarId b = n.add_tensor("b", half);
    const VarId c = n.add_tensor("c", half);
    const VarId out = n.add_tensor("out", half, true);
    n.add_window(in, image, a, image, {}, true);
    for (const VarId to : {b, c}) {
      n.add_sums(a, image, to, half, true, [&](const ExprRef& y, const ExprRef& x, const ExprRef&) -> Reads {
        return {{y, mul(x, to == b ? 2 : step)}};
      });
    }
    n.add_sum(b, c, out, half);
    return has_strips(n.with_entry(in, out));
  };
  CHECK(strips(2));
  CHECK_FALSE(strips(1));
}

TEST_CASE("numbers of columns fit into the program's integers") {
  // For the first two columns, half of the channels read what is 5 columns apart. As if there were more, it is 5 to the
  // power of the number of steps in the first tensor.
  const auto strips = [](int steps) {
    Sums n;
    const VarId in = n.add_tensor("in", image, true);
    VarId from = n.add_tensor("first", image);
    n.add_window(in, image, from, image, {}, true);
    for (int i = 0; i < steps; ++i) {
      const VarId to = n.add_tensor("t" + std::to_string(i), image);
      n.add_halves(
          in, same, from,
          [](const ExprRef& y, const ExprRef& x, const ExprRef&) -> Reads {
            return {{quotient(y, 2), mul(x, 5), less(x, 2)}};
          },
          to);
      from = to;
    }
    const VarId out = n.add_tensor("out", image, true);
    n.add_window(from, image, out, image, {}, true);
    return has_strips(n.with_entry(in, out));
  };
  CHECK(strips(10));
  CHECK_FALSE(strips(11));
}

}  // namespace
}  // namespace usmp::transform::strip_columns_test
