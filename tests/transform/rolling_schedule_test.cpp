// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Schedules run as nested loops: every row is there when it is read, and rings are no larger than needed.
#include "transform/rolling_schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace usmp::transform::rolling_schedule_test {
namespace {

RowNeed window(std::size_t tensor, std::int64_t step, std::int64_t low, std::int64_t high) {
  return {.tensor = tensor, .advance = {.step = step}, .reach = {low, high}};
}

// Tensors of so many rows of a byte, each computed from the one in front by a stage; the last one is whole.
RowChain chain_of(const std::vector<std::int64_t>& rows) {
  RowChain chain;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const bool is_end = t == 0 || t + 1 == rows.size();
    chain.tensors.push_back({.rows = rows[t], .row_bytes = 1, .is_whole = is_end, .is_free = is_end});
  }
  return chain;
}

void add_stage(RowChain& chain, std::size_t tensor, std::vector<RowNeed> needs) {
  RowStage stage;
  stage.iterations = chain.tensors[tensor].rows;
  stage.supply = RowSupply{tensor, 1, {0, 0}};
  stage.needs = std::move(needs);
  chain.stages.push_back(std::move(stage));
}

// Runs the schedule as the nested loops that come of it, with rings of rows that know what they hold.
class Execution {
 public:
  Execution(const RowChain& chain, const RowSchedule& schedule) : chain_(chain), schedule_(schedule) {
    for (std::size_t t = 0; t < chain.tensors.size(); ++t) {
      held_.emplace_back(static_cast<std::size_t>(schedule.ring_rows[t]), -1);
      for (std::int64_t row = 0; row < schedule.ring_rows[t] && !is_supplied(t); ++row) hold(t, row);
    }
    done_.assign(chain.stages.size(), 0);
  }

  // Rows that were read and not there.
  std::vector<std::string> run() {
    const std::size_t last = chain_.stages.size() - 1;
    while (done_[last] < chain_.stages[last].iterations) iterate(last);
    return faults_;
  }

  [[nodiscard]] const std::vector<std::int64_t>& runs() const { return done_; }

 private:
  [[nodiscard]] bool is_supplied(std::size_t tensor) const {
    return std::ranges::any_of(chain_.stages,
                               [&](const RowStage& stage) { return stage.supply && stage.supply->tensor == tensor; });
  }

  void hold(std::size_t tensor, std::int64_t row) {
    held_[tensor][static_cast<std::size_t>(row % schedule_.ring_rows[tensor])] = row;
  }

  void iterate(std::size_t stage) {
    const RowStage& here = chain_.stages[stage];
    const std::int64_t n = done_[stage];
    for (const std::size_t inner : schedule_.inside[stage]) {
      const RowNeed& demand = schedule_.demand[inner];
      const Interval rows = demand.in(n, chain_.tensors[demand.tensor].rows);
      const std::int64_t end = rows.low > rows.high ? 0 : chain_.stages[inner].supply->iterations_for(rows.high);
      while (done_[inner] < end) iterate(inner);
    }
    for (const RowNeed& need : here.needs) {
      const Interval rows = need.in(n, chain_.tensors[need.tensor].rows);
      for (std::int64_t row = rows.low; row <= rows.high; ++row) {
        const auto place = static_cast<std::size_t>(row % schedule_.ring_rows[need.tensor]);
        if (held_[need.tensor][place] == row) continue;
        faults_.push_back("stage " + std::to_string(stage) + " reads row " + std::to_string(row) + " of tensor " +
                          std::to_string(need.tensor) + " in iteration " + std::to_string(n));
      }
    }
    if (here.supply) {
      for (std::int64_t row = here.supply->step * n + here.supply->reach.low;
           row <= here.supply->step * n + here.supply->reach.high; ++row) {
        if (row >= 0 && row < chain_.tensors[here.supply->tensor].rows) hold(here.supply->tensor, row);
      }
    }
    ++done_[stage];
  }

  const RowChain& chain_;
  const RowSchedule& schedule_;
  std::vector<std::vector<std::int64_t>> held_;  // row, by tensor and place
  std::vector<std::int64_t> done_;
  std::vector<std::string> faults_;
};

std::vector<std::int64_t> rings(const RowChain& chain) {
  const auto schedule = row_schedule(chain);
  REQUIRE(schedule);
  CHECK(Execution(chain, *schedule).run().empty());
  return schedule->ring_rows;
}

TEST_CASE("windows keep as many rows as they are high") {
  RowChain chain = chain_of({16, 16, 16, 16});
  add_stage(chain, 1, {window(0, 1, -1, 1)});
  add_stage(chain, 2, {window(1, 1, -2, 2)});
  add_stage(chain, 3, {window(2, 1, 0, 0)});
  CHECK(rings(chain) == std::vector<std::int64_t>{16, 5, 1, 16});
}

TEST_CASE("strides") {
  RowChain chain = chain_of({32, 32, 16, 8});
  add_stage(chain, 1, {window(0, 1, -1, 1)});
  add_stage(chain, 2, {window(1, 2, 0, 2)});
  add_stage(chain, 3, {window(2, 2, 0, 0)});
  const auto schedule = row_schedule(chain);
  REQUIRE(schedule);
  CHECK(schedule->ring_rows == std::vector<std::int64_t>{32, 3, 1, 8});
  CHECK(schedule->runs == std::vector<std::int64_t>{31, 15, 8});  // the last rows are not needed
}

TEST_CASE("a shortcut waits in the ring") {
  // y = window(window(x)) + x: x is two rows ahead of what is added.
  RowChain chain = chain_of({16, 16, 16, 16});
  add_stage(chain, 1, {window(0, 1, 0, 0)});
  add_stage(chain, 2, {window(1, 1, -1, 1)});
  add_stage(chain, 3, {window(2, 1, -1, 1), window(1, 1, 0, 0)});
  CHECK(rings(chain) == std::vector<std::int64_t>{16, 3, 3, 16});
}

TEST_CASE("upsampling repeats rows, pooling supplies several at a time") {
  RowChain chain = chain_of({8, 8, 16, 16});
  add_stage(chain, 1, {window(0, 1, 0, 0)});
  RowStage twice;
  twice.iterations = 8;
  twice.supply = RowSupply{2, 2, {0, 1}};
  twice.needs = {window(1, 1, 0, 0)};
  chain.stages.push_back(twice);
  add_stage(chain, 3, {window(2, 1, -1, 1), RowNeed{.tensor = 1, .advance = {.step = 1, .per = 2}, .reach = {0, 0}}});
  CHECK(rings(chain) == std::vector<std::int64_t>{8, 2, 4, 16});
}

TEST_CASE("a stage that needs all rows leaves no ring") {
  RowChain chain = chain_of({8, 8, 8, 8});
  add_stage(chain, 1, {window(0, 1, 0, 0)});
  add_stage(chain, 2, {RowNeed{.tensor = 1, .advance = {.step = 0}, .reach = {0, 7}}});
  add_stage(chain, 3, {window(2, 1, 0, 0)});
  CHECK(rings(chain) == std::vector<std::int64_t>{8, 8, 1, 8});
}

TEST_CASE("whole tensors come and go by rows, of several planes at once") {
  // A window of three rows on 16: as its row n is written, rows from n - 1 on are still there.
  for (const std::size_t scattered : {0U, 1U, 2U}) {
    CAPTURE(scattered);
    RowChain chain = chain_of({16, 16});
    for (RowTensor& tensor : chain.tensors) tensor.is_free = false;
    chain.tensors[0].is_whole = false;
    add_stage(chain, 1, {window(0, 1, -1, 1)});
    if (scattered < 2) chain.tensors[scattered].is_scattered = true;
    const auto schedule = row_schedule(chain);
    REQUIRE(schedule);
    CHECK(schedule->whole_bytes == (scattered < 2 ? 32 : 18));
  }
}

TEST_CASE("a tensor that is read elsewhere must be computed whole") {
  RowChain chain = chain_of({32, 32, 16});
  chain.tensors[1].is_whole = true;
  add_stage(chain, 1, {window(0, 1, 0, 0)});
  add_stage(chain, 2, {window(1, 2, 0, 0)});
  CHECK_FALSE(row_schedule(chain));  // nobody needs the last row
  chain.stages[1].needs = {window(1, 2, 0, 1)};
  CHECK(row_schedule(chain));
}

TEST_CASE("rows that nobody writes are waited for in vain") {
  RowChain chain = chain_of({8, 8, 8});
  add_stage(chain, 1, {window(0, 1, 0, 0)});
  add_stage(chain, 2, {window(1, 1, 0, 0)});
  CHECK(row_schedule(chain));
  chain.stages[0].iterations = 4;  // the upper half
  CHECK_FALSE(row_schedule(chain));
}

TEST_CASE("a limit on the bytes is met or there is no schedule") {
  RowChain chain = chain_of({16, 16, 16, 16});
  chain.tensors[0].is_free = false;
  for (RowTensor& tensor : chain.tensors) tensor.row_bytes = 10;
  add_stage(chain, 1, {window(0, 1, -1, 1)});
  add_stage(chain, 2, {window(1, 1, -2, 2)});
  add_stage(chain, 3, {window(2, 1, 0, 0)});
  const auto schedule = row_schedule(chain);
  REQUIRE(schedule);
  CHECK(schedule->ring_bytes == 60);    // five rows and one
  CHECK(schedule->whole_bytes == 160);  // the input
  const auto within = row_schedule(chain, 220);
  REQUIRE(within);
  CHECK(within->ring_rows == schedule->ring_rows);
  CHECK_FALSE(row_schedule(chain, 219));
}

// The pixels of windows in an image of `width` for one of `out_width`.
RowNeed window_of_pixels(std::size_t tensor, std::int64_t width, std::int64_t out_width, std::int64_t stride,
                         Interval window) {
  const std::int64_t turn = stride * (width - out_width);
  return {.tensor = tensor,
          .advance = {.step = stride, .per = 1, .turn = turn, .width = turn == 0 ? 1 : out_width},
          .reach = {window.low * width + window.low, window.high * width + window.high},
          .lines = loops::Window{{.step = stride * width, .per = out_width},
                                 {window.low * width, window.high * width + width - 1}}};
}

TEST_CASE("windows of pixels keep as many as they reach over") {
  // 10 x 8, 10 x 8, 5 x 4
  RowChain chain = chain_of({80, 80, 20});
  add_stage(chain, 1, {window_of_pixels(0, 8, 8, 1, {0, 0})});
  add_stage(chain, 2, {window_of_pixels(1, 8, 4, 2, {-1, 1})});
  CHECK(rings(chain) == std::vector<std::int64_t>{80, 19, 20});
}

TEST_CASE("a shortcut of pixels waits for no pixel of the next line") {
  // 12 x 8, 12 x 8, 6 x 4 (windows of every second pixel), 6 x 4: the last one reads the second one too.
  RowChain chain = chain_of({96, 96, 24, 24});
  add_stage(chain, 1, {window_of_pixels(0, 8, 8, 1, {0, 0})});
  add_stage(chain, 2, {window_of_pixels(1, 8, 4, 2, {0, 2})});
  add_stage(chain, 3, {window_of_pixels(2, 4, 4, 1, {-1, 1}), window_of_pixels(1, 8, 4, 2, {0, 0})});
  CHECK(rings(chain) == std::vector<std::int64_t>{96, 37, 11, 24});
  chain.stages[2].needs[0].lines.reset();
  CHECK(rings(chain) == std::vector<std::int64_t>{96, 45, 11, 24});
}

TEST_CASE("random chains find every row where they look for it, and hardly a ring is larger than it has to be") {
  std::mt19937 random(7);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  int scheduled = 0;
  int rings = 0;
  int wasteful = 0;  // a row less would do: rows that nobody reads stand in between
  for (int trial = 0; trial < 3000; ++trial) {
    CAPTURE(trial);
    const auto stages = static_cast<std::size_t>(pick(2, 7));
    std::vector<std::int64_t> rows = {pick(8, 40)};
    std::vector<std::vector<RowNeed>> needs;
    for (std::size_t s = 0; s < stages; ++s) {
      // Readers of several tensors need as many rows of each.
      std::vector<RowNeed> own;
      const auto from =
          s == 0 ? 0
                 : static_cast<std::size_t>(std::max<std::int64_t>(
                       pick(0, 3) == 0 ? pick(0, static_cast<std::int64_t>(s)) : static_cast<std::int64_t>(s), 0));
      const std::int64_t step = pick(1, 2);
      const std::int64_t low = pick(-2, 1);
      own.push_back(window(from, step, low, low + pick(0, 3)));
      std::int64_t count = std::max<std::int64_t>(rows[from] / step, 1);
      for (std::size_t other = 0; other <= s; ++other) {
        if (other == from || pick(0, 4) != 0) continue;
        const std::int64_t ratio = rows[other] / count;
        if (ratio < 1 || ratio > 4) continue;
        own.push_back(window(other, ratio, 0, pick(0, 1)));
      }
      rows.push_back(count);
      needs.push_back(std::move(own));
    }
    RowChain chain = chain_of(rows);
    for (std::size_t s = 0; s < stages; ++s) add_stage(chain, s + 1, needs[s]);
    const auto schedule = row_schedule(chain);
    if (!schedule) continue;
    ++scheduled;
    Execution execution(chain, *schedule);
    REQUIRE(execution.run() == std::vector<std::string>());
    REQUIRE(execution.runs() == schedule->runs);
    for (std::size_t t = 1; t + 1 < rows.size(); ++t) {
      if (schedule->ring_rows[t] < 2) continue;
      RowSchedule less = *schedule;
      --less.ring_rows[t];
      ++rings;
      if (Execution(chain, less).run().empty()) ++wasteful;
    }
  }
  CHECK(scheduled > 1000);
  CHECK(wasteful * 20 < rings);
}

}  // namespace
}  // namespace usmp::transform::rolling_schedule_test
