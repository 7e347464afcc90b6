// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Simulates all iterations on row numbers, tries other orders, and measures what rings have to hold.
#include "transform/rolling_schedule.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace usmp::transform {
namespace {

// Runs the last stage, and the others as it needs them. Everything that an iteration looks at is found by pointers, as
// there are millions.
class Simulation {
 public:
  // `order`: by stage, its needs, in the order in which they are met.
  Simulation(const RowChain& chain, const std::vector<std::vector<std::size_t>>& order, Bytes most)
      : most_(most), stages_(chain.stages.size()), tensors_(chain.tensors.size()) {
    for (std::size_t t = 0; t < tensors_.size(); ++t) tensors_[t].of = &chain.tensors[t];
    std::size_t needs = 0;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      stages_[s].of = &chain.stages[s];
      needs += order[s].size();
      if (!chain.stages[s].supply) continue;
      stages_[s].supplied = &tensors_[chain.stages[s].supply->tensor];
      stages_[s].supplied->supplier = &stages_[s];
    }
    needs_.reserve(needs);  // they stay where they are
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      stages_[s].first_need = needs_.data() + needs_.size();
      for (const std::size_t i : order[s]) {
        const RowNeed& need = chain.stages[s].needs[i];
        needs_.push_back({&need, &tensors_[need.tensor], {}, 0});
        tensors_[need.tensor].readers.push_back(&needs_.back());
      }
      stages_[s].end_need = needs_.data() + needs_.size();
      find_rows(stages_[s]);
    }
    for (Tensor& tensor : tensors_) {
      const RowTensor& t = *tensor.of;
      const bool is_ring = !t.is_whole && tensor.supplier != nullptr;
      tensor.ring_rows = is_ring ? 1 : t.rows;
      if (is_ring) ring_bytes_ += t.row_bytes;
      if (tensor.supplier == nullptr && !t.is_free) whole_ += t.rows * t.row_bytes;
    }
    whole_bytes_ = whole_;
  }

  std::optional<RowSchedule> run() && {
    Stage& last = stages_.back();
    for (std::int64_t n = 0; n < last.of->iterations; ++n) {
      if (!iterate(last) || ring_bytes_ + whole_bytes_ > most_) return std::nullopt;
    }
    for (const Tensor& tensor : tensors_) {
      if (tensor.supplier == nullptr) continue;
      if (tensor.of->is_whole && tensor.complete < tensor.of->rows) return std::nullopt;
    }
    RowSchedule result;
    for (const Stage& stage : stages_) {
      if (stage.around == nullptr && &stage != &last) return std::nullopt;
      result.demand.push_back(stage.demand == nullptr ? RowNeed() : *stage.demand);
      result.runs.push_back(stage.done);
      // In the order in which needs are met.
      std::vector<std::size_t>& inside = result.inside.emplace_back();
      for (const Need* need = stage.first_need; need != stage.end_need; ++need) {
        const Stage* supplier = need->tensor->supplier;
        if (supplier == nullptr || supplier->around != &stage) continue;
        inside.push_back(static_cast<std::size_t>(supplier - stages_.data()));
      }
    }
    for (const Tensor& tensor : tensors_) result.ring_rows.push_back(tensor.ring_rows);
    result.ring_bytes = ring_bytes_;
    result.whole_bytes = whole_bytes_;
    return result;
  }

 private:
  struct Stage;
  struct Tensor;

  struct Need {
    const RowNeed* need;
    Tensor* tensor;
    Interval rows;        // that the stage's next iteration reads
    std::int64_t oldest;  // the first row that is still to be read; as many as there are rows: none
  };

  struct Tensor {
    const RowTensor* of = nullptr;
    Stage* supplier = nullptr;  // null: none
    std::vector<const Need*> readers = {};
    std::int64_t complete = 0;  // rows, of one that a stage supplies
    std::int64_t released = 0;  // rows, of an input
    std::int64_t ring_rows = 0;
  };

  struct Stage {
    const RowStage* of = nullptr;
    Tensor* supplied = nullptr;  // null: none
    Need* first_need = nullptr;
    Need* end_need = nullptr;
    const Stage* around = nullptr;    // null: not known
    const RowNeed* demand = nullptr;  // of the stage around it
    std::int64_t done = 0;            // iterations
  };

  struct Frame {
    Stage* stage;
    const Need* next;
  };

  // What the next iteration of the stage needs.
  static void find_rows(const Stage& stage) {
    const bool is_over = stage.done >= stage.of->iterations;
    for (Need* need = stage.first_need; need != stage.end_need; ++need) {
      const std::int64_t rows = need->tensor->of->rows;
      need->rows = need->need->in(stage.done, rows);
      need->oldest = is_over ? rows : std::max<std::int64_t>(need->rows.low, 0);
    }
  }

  // One iteration of the stage, after those of the stages that it waits for. False: one would have two stages around
  // it.
  bool iterate(Stage& stage) {
    frames_.push_back({&stage, stage.first_need});
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == frame.stage->end_need) {
        finish(*frame.stage);
        frames_.pop_back();
        continue;
      }
      const Need& need = *frame.next;
      Stage* supplier = need.tensor->supplier;
      if (supplier == nullptr || need.rows.low > need.rows.high || need.tensor->complete > need.rows.high) {
        ++frame.next;
        continue;
      }
      if (supplier->done == supplier->of->iterations) return false;  // rows that nobody writes
      if (supplier->around == nullptr) {
        supplier->around = frame.stage;
        supplier->demand = need.need;
      } else if (supplier->around != frame.stage) {
        return false;
      }
      frames_.push_back({supplier, supplier->first_need});
    }
    return true;
  }

  void finish(Stage& stage) {
    if (stage.supplied != nullptr) write(*stage.of->supply, *stage.supplied, stage.done);
    ++stage.done;
    find_rows(stage);
    for (const Need* need = stage.first_need; need != stage.end_need; ++need) {
      if (need->tensor->supplier == nullptr) release(*need->tensor);
    }
  }

  void write(const RowSupply& supply, Tensor& tensor, std::int64_t iteration) {
    const RowTensor& t = *tensor.of;
    const std::int64_t before = tensor.complete;
    const std::int64_t end = supply.complete(iteration + 1, t.rows);
    tensor.complete = end;
    if (t.is_whole) {
      const std::int64_t rows = !t.is_scattered ? end - before : iteration == 0 ? t.rows : 0;
      if (!t.is_free) count(rows * t.row_bytes);
      return;
    }
    const std::int64_t first = std::min(oldest(tensor), before);
    if (end - first <= tensor.ring_rows) return;
    ring_bytes_ += (end - first - tensor.ring_rows) * t.row_bytes;
    tensor.ring_rows = end - first;
  }

  // The first row that is still to be read; as many as there are rows: none.
  [[nodiscard]] static std::int64_t oldest(const Tensor& tensor) {
    std::int64_t row = tensor.of->rows;
    for (const Need* reader : tensor.readers) row = std::min(row, reader->oldest);
    return row;
  }

  // Rows of inputs that are read for the last time.
  void release(Tensor& tensor) {
    const RowTensor& t = *tensor.of;
    if (t.is_whole || t.is_free) return;
    const std::int64_t dead = oldest(tensor);
    if (dead <= tensor.released || (t.is_scattered && dead < t.rows)) return;
    count(-(dead - tensor.released) * t.row_bytes);
    tensor.released = dead;
  }

  void count(Bytes bytes) {
    whole_ += bytes;
    whole_bytes_ = std::max(whole_bytes_, whole_);
  }

  const Bytes most_;
  std::vector<Stage> stages_;
  std::vector<Tensor> tensors_;
  std::vector<Need> needs_;    // stage by stage, in the order in which they are met
  std::vector<Frame> frames_;  // iterations that have begun
  Bytes whole_ = 0;
  Bytes ring_bytes_ = 0;   // as RowSchedule says
  Bytes whole_bytes_ = 0;  // the same
};

// By stage, how many stages have to run before it, one behind the other.
std::vector<std::size_t> depths(const RowChain& chain) {
  std::vector<std::size_t> of_tensor(chain.tensors.size(), 0);
  std::vector<std::size_t> depth;
  for (const RowStage& stage : chain.stages) {
    std::size_t deepest = 0;
    for (const RowNeed& need : stage.needs) deepest = std::max(deepest, of_tensor[need.tensor]);
    depth.push_back(deepest + 1);
    if (stage.supply) of_tensor[stage.supply->tensor] = deepest + 1;
  }
  return of_tensor;
}

}  // namespace

Interval RowNeed::in(std::int64_t iteration, std::int64_t rows) const {
  const std::int64_t first = advance.at(iteration);
  Interval read{std::max<std::int64_t>(0, first + reach.low), std::min(first + reach.high, rows - 1)};
  if (lines) {
    const std::int64_t line = lines->advance.at(iteration);
    read = {std::max(read.low, line + lines->reach.low), std::min(read.high, line + lines->reach.high)};
  }
  return read;
}

std::int64_t RowSupply::complete(std::int64_t iterations, std::int64_t rows) const {
  if (iterations == 0) return 0;
  return std::clamp<std::int64_t>(step * (iterations - 1) + reach.high + 1, 0, rows);
}

std::int64_t RowSupply::iterations_for(std::int64_t row) const {
  return std::max<std::int64_t>(floor_quotient(row - reach.high + step - 1, step) + 1, 0);
}

std::optional<RowSchedule> row_schedule(const RowChain& chain, Bytes most) {
  // A tensor with several readers has to be computed inside of the one that is ahead of the others: mostly the one with
  // the most stages between, so its way is gone first.
  const std::vector<std::size_t> depth = depths(chain);
  std::optional<RowSchedule> best;
  std::set<std::vector<std::vector<std::size_t>>> tried;  // most chains have only one order
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::vector<std::vector<std::size_t>> order;
    for (const RowStage& stage : chain.stages) {
      std::vector<std::size_t> needs(stage.needs.size());
      for (std::size_t i = 0; i < needs.size(); ++i) needs[i] = i;
      if (attempt == 0) {
        std::ranges::stable_sort(needs, std::greater(), [&](std::size_t i) { return depth[stage.needs[i].tensor]; });
      } else if (attempt == 2) {
        std::ranges::reverse(needs);
      }
      order.push_back(std::move(needs));
    }
    if (!tried.insert(order).second) continue;
    auto schedule = Simulation(chain, order, most).run();
    if (!schedule) continue;
    const auto bytes = [](const RowSchedule& s) { return s.ring_bytes + s.whole_bytes; };
    if (!best || bytes(*schedule) < bytes(*best)) best = std::move(schedule);
  }
  return best;
}

}  // namespace usmp::transform
