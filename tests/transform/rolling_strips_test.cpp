// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step "rolling" by strips: which columns are computed, which places rings have, what it costs. Every result is
// interpreted, with rings that know which element they hold.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "transform/image_network.hpp"
#include "transform/plain_entry.hpp"
#include "transform/rings.hpp"
#include "transform/rolling.hpp"
#include "transform/rolling_strips.hpp"
#include "transform/rolling_units.hpp"
#include "usmp/loops/cost.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform::rolling_strips_test {
namespace {

using namespace image_network;  // NOLINT(google-build-using-namespace)
using tir::Stmt;
using tir::VarId;

struct InStrips {
  std::string what;  // of the changes
  std::string rings;
  double work = 1;  // as a multiple of that before
};

// How often rows and pixels are computed, as the loops say, is how often they are.
InStrips in_strips(const tir::Module& module, const Image& in, const Image& out, std::int64_t percent) {
  tir::Module after = module;
  const Options options{.steps = {Step::rolling}, .strip_percent = percent, .rolling_grain = RollingGrain::strips};
  InStrips result;
  for (const Change& change : roll(after, options)) result.what += change.text + "; ";
  const random_modules::Outcome outcome = check_same(module, after, in, out);
  for (const tir::Function& function : after.functions) {
    tir::for_each_stmt(function.body, [&](const Stmt& stmt) {
      const auto* loop = std::get_if<tir::For>(&stmt.node);
      if (loop != nullptr && loop->row_runs > 0) CHECK(outcome.row_runs.at(loop->var) == loop->row_runs);
    });
  }
  result.rings = rings_of(after);
  result.work = loops::work_of(after) / loops::work_of(module);
  CHECK(result.work <= 1 + static_cast<double>(percent) / 100);
  return result;
}

constexpr Image image{.height = 6, .width = 12, .channels = 4};

TEST_CASE("three lines of a strip and its borders are held") {
  const tir::Module module = three_windows(image);
  // Two strips of 6 columns: of b 7, of a 8. Lines of 12 begin at 0, 12 and 24: modulo 32 these are 12, 12 and 8 apart,
  // modulo 31 12, 12 and 7.
  CHECK(strip_places(3, 8, 12, 72) == 32);
  CHECK(strip_places(3, 7, 12, 72) == 31);
  const InStrips two = in_strips(module, image, image, 20);
  CHECK(two.what == "operators 1 to 3 run row by row of 2 strips of 6 columns, rings hold 1008 of 2304 bytes; ");
  CHECK(two.rings == "a 32, b 31");
}

TEST_CASE("columns of strips are what their windows reach") {
  tir::Module module = three_windows(image);
  const auto entry = read_plain_entry(module);
  REQUIRE(entry);
  const std::vector<CallRun> runs = call_runs(module, *entry, false);
  REQUIRE(runs.size() == 1);
  std::optional<Segment> segment = rolled_segment(module, runs[0], 0, 3, Grain::strips);
  REQUIRE(segment);
  REQUIRE(segment->columns.size() == 3);
  REQUIRE(divide_into_strips(runs[0], *segment, 5));
  CHECK(segment->strips == 3);
  CHECK(segment->columns[2].in(0, 5) == Interval{0, 4});
  CHECK(segment->columns[2].in(2, 5) == Interval{10, 11});
  CHECK(segment->columns[1].in(0, 5) == Interval{0, 5});
  CHECK(segment->columns[1].in(1, 5) == Interval{4, 10});
  CHECK(segment->columns[0].in(1, 5) == Interval{3, 11});
  CHECK(segment->columns[0].in(2, 5) == Interval{8, 11});
  // Six rows each.
  CHECK(segment->computed[2] == 6 * 12);
  CHECK(segment->computed[1] == 6 * (6 + 7 + 3));
  CHECK(segment->computed[0] == 6 * (7 + 9 + 4));
}

TEST_CASE("work that is allowed buys memory") {
  const tir::Module module = three_windows(image);
  Bytes least = 2304 + 1;
  double most = 0;
  for (const std::int64_t percent : {20, 40, 90, 200}) {
    CAPTURE(percent);
    const InStrips found = in_strips(module, image, image, percent);
    const std::size_t at = found.what.find("rings hold ");
    REQUIRE(at != std::string::npos);
    const Bytes held = std::stoll(found.what.substr(at + std::string("rings hold ").size()));
    CHECK(held < least);
    CHECK(found.work > most);
    least = held;
    most = found.work;
  }
}

TEST_CASE("of more columns than are looked at there are no strips") {
  for (const auto& [width, has_strips] : {std::pair(16384, true), std::pair(16385, false)}) {
    tir::Module module = three_windows({.height = 6, .width = width, .channels = 4});
    const Options options{.steps = {Step::rolling}, .strip_percent = 10, .rolling_grain = RollingGrain::strips};
    CHECK(roll(module, options).empty() != has_strips);
  }
}

TEST_CASE("within no work, or in one column, there are no strips") {
  CHECK(in_strips(three_windows(image), image, image, 1).what.empty());
  const Image column{.height = 12, .width = 1, .channels = 4};
  Network n;
  const VarId in = n.add_tensor("in", column, true);
  const VarId a = n.add_tensor("a", column);
  const VarId out = n.add_tensor("out", column, true);
  n.add_window(in, column, a, column, {}, false);
  n.add_window(a, column, out, column, {}, false);
  CHECK(in_strips(n.with_entry(in, out), column, column, 1000).what.empty());
}

// in → a → b, and out = a, backwards; or b's. Pixels of b are those of a to the right.
tir::Module read_behind(bool is_inner) {
  Network n;
  const VarId in = n.add_tensor("in", image, true);
  const VarId a = n.add_tensor("a", image);
  const VarId b = n.add_tensor("b", image);
  const VarId out = n.add_tensor("out", image, true);
  n.add_window(in, image, a, image, {}, true);
  n.add_window(a, image, b, image, {.height = 1, .width = 1, .top = 0, .left = -1}, true);
  n.add_turn(is_inner ? a : b, out, image);
  return n.with_entry(in, out);
}

bool has_strips(tir::Module module, std::size_t calls) {
  const auto entry = read_plain_entry(module);
  REQUIRE(entry);
  const std::vector<CallRun> runs = call_runs(module, *entry, false);
  return rolled_segment(module, runs[0], 0, calls, Grain::strips).has_value();
}

TEST_CASE("a tensor inside that is read behind the chain is whole: no strips") {
  // They would leave out the first column, which the chain itself does not read.
  CHECK(has_strips(read_behind(false), 2));
  CHECK_FALSE(has_strips(read_behind(true), 2));
  Network n;
  const VarId in = n.add_tensor("in", image, true);
  const VarId a = n.add_tensor("a", image);
  const VarId b = n.add_tensor("b", image);
  const VarId c = n.add_tensor("c", image);
  const VarId out = n.add_tensor("out", image, true);
  n.add_window(in, image, a, image, {}, true);
  n.add_window(a, image, b, image, {}, true);
  n.add_turn(b, c, image);
  n.add_sum(c, a, out, image);
  CHECK(in_strips(n.with_entry(in, out), image, image, 1000).what.empty());
}

TEST_CASE("what does not fit into a room is made small, though the peak stays") {
  const Image half{.height = 3, .width = 6, .channels = 8};
  Network n;
  const VarId in = n.add_tensor("in", image, true);
  const VarId a = n.add_tensor("a", image);
  const VarId b = n.add_tensor("b", image);
  const VarId c = n.add_tensor("c", half);
  const VarId d = n.add_tensor("d", half);
  const VarId out = n.add_tensor("out", half, true);
  n.add_window(in, image, a, image, {}, true);
  n.add_turn(a, b, image);
  n.add_window(b, image, c, half, {.stride = 2}, true);
  n.add_window(c, half, d, half, {}, true);
  n.add_window(d, half, out, half, {}, true);
  const tir::Module module = n.with_entry(in, out);
  CHECK(transform(module, {.steps = {Step::rolling}}).changes().empty());
  const Result in_room = transform(module, {.steps = {Step::rolling}, .rolling_room = 1400});
  REQUIRE(in_room.changes().size() == 1);
  CHECK(in_room.changes()[0].text.starts_with("operators 2 to 3 run"));
  CHECK(in_room.load == 2 * 1152);
  check_same(module, in_room.module(), image, half);
  // Nothing needs to change where all but the peak fits.
  CHECK(transform(module, {.steps = {Step::rolling}, .rolling_room = 2304}).changes().empty());
}

TEST_CASE("sums that run on from pixel to pixel, whatever their order, are computed once") {
  Network n;
  const VarId in = n.add_tensor("in", image, true);
  const VarId a = n.add_tensor("a", image);
  const VarId b = n.add_tensor("b", image);
  const VarId out = n.add_tensor("out", image, true);
  n.add_window(in, image, a, image, {}, true);
  n.add_running_sums(a, b, image);
  n.add_window(b, image, out, image, {}, true);
  const tir::Module module = n.with_entry(in, out);
  CHECK(in_strips(module, image, image, 1000).what.find("operators 1 to 3") == std::string::npos);
  tir::Module by_rows = module;
  CHECK_FALSE(roll(by_rows, {.steps = {Step::rolling}}).empty());
}

TEST_CASE("a stride halves the columns of a strip") {
  const Image half{.height = 3, .width = 6, .channels = 8};
  Network n;
  const VarId in = n.add_tensor("in", image, true);
  const VarId a = n.add_tensor("a", image);
  const VarId out = n.add_tensor("out", half, true);
  n.add_window(in, image, a, image, {}, true);
  n.add_window(a, image, out, half, {.stride = 2}, true);
  tir::Module module = n.with_entry(in, out);
  const auto entry = read_plain_entry(module);
  REQUIRE(entry);
  const std::vector<CallRun> runs = call_runs(module, *entry, false);
  std::optional<Segment> segment = rolled_segment(module, runs[0], 0, 2, Grain::strips);
  REQUIRE(segment);
  REQUIRE(divide_into_strips(runs[0], *segment, 2));
  CHECK(segment->columns[0].in(0, 2) == Interval{0, 3});
  CHECK(segment->columns[0].in(1, 2) == Interval{3, 7});
  CHECK(segment->columns[0].in(2, 2) == Interval{7, 11});
  CHECK(in_strips(module, image, half, 15).what.find("3 strips of 2 columns") != std::string::npos);
  CHECK(in_strips(module, image, half, 50).what.find("6 strips of 1 column,") != std::string::npos);
}

TEST_CASE("places of strips: none is two pixels that are held together") {
  for (std::int64_t line = 2; line <= 24; ++line) {
    for (std::int64_t rows = 1; rows <= 4; ++rows) {
      for (std::int64_t columns = 1; columns <= line; ++columns) {
        const std::int64_t pixels = 6 * line;
        const std::int64_t places = strip_places(rows, columns, line, pixels);
        CAPTURE(line);
        CAPTURE(rows);
        CAPTURE(columns);
        CHECK(places >= rows * columns);
        CHECK(places <= pixels);
        std::set<std::int64_t> taken;
        for (std::int64_t y = 0; y < rows; ++y) {
          for (std::int64_t x = 0; x < columns; ++x) taken.insert((y * line + x) % places);
        }
        CHECK(static_cast<std::int64_t>(taken.size()) == rows * columns);
      }
    }
  }
}

TEST_CASE("random chains of windows compute the same by strips") {
  std::mt19937 random(19);
  int chains = 0;
  for (int trial = 0; trial < 400; ++trial) {
    CAPTURE(trial);
    const RandomChain chain = random_chain(random);
    bool has_strips = false;
    for (const std::int64_t percent : {15, 60, 1000}) {
      CAPTURE(percent);
      has_strips = !in_strips(chain.module, chain.in, chain.out, percent).what.empty() || has_strips;
    }
    chains += has_strips ? 1 : 0;
  }
  CHECK(chains >= 100);
}

}  // namespace
}  // namespace usmp::transform::rolling_strips_test
