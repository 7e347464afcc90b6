// SPDX-License-Identifier: Apache-2.0
#include "transform/rolling_schedule.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace usmp::transform {
namespace {

constexpr std::size_t no_stage = static_cast<std::size_t>(-1);

// Runs the last stage, and the others as it needs them.
class Simulation {
 public:
  // `order`: by stage, its needs, in the order in which they are met.
  Simulation(const RowChain& chain, const std::vector<std::vector<std::size_t>>& order, Bytes most)
      : chain_(chain), most_(most), done_(chain.stages.size(), 0), around_(chain.stages.size(), no_stage) {
    supplier_.assign(chain.tensors.size(), no_stage);
    for (std::size_t s = 0; s < chain.stages.size(); ++s) {
      if (chain.stages[s].supply) supplier_[chain.stages[s].supply->tensor] = s;
    }
    readers_.resize(chain.tensors.size());
    for (std::size_t s = 0; s < chain.stages.size(); ++s) {
      for (const std::size_t i : order[s]) {
        const RowNeed& need = chain.stages[s].needs[i];
        readers_[need.tensor].push_back(needs_.size());
        needs_.push_back({&need, supplier_[need.tensor], chain.tensors[need.tensor].rows, {}, 0});
      }
      first_need_.push_back(needs_.size() - order[s].size());
    }
    first_need_.push_back(needs_.size());
    for (std::size_t s = 0; s < chain.stages.size(); ++s) find_rows(s);
    result_.inside.resize(chain.stages.size());
    result_.demand.resize(chain.stages.size());
    result_.ring_rows.assign(chain.tensors.size(), 1);
    for (std::size_t t = 0; t < chain.tensors.size(); ++t) {
      const RowTensor& tensor = chain.tensors[t];
      if (tensor.is_whole || supplier_[t] == no_stage) result_.ring_rows[t] = tensor.rows;
      if (supplier_[t] == no_stage && !tensor.is_free) whole_ += tensor.rows * tensor.row_bytes;
      if (supplier_[t] != no_stage && !tensor.is_whole) result_.ring_bytes += tensor.row_bytes;
    }
    complete_.assign(chain.tensors.size(), 0);
    released_.assign(chain.tensors.size(), 0);
    result_.whole_bytes = whole_;
  }

  std::optional<RowSchedule> run() && {
    const std::size_t last = chain_.stages.size() - 1;
    for (std::int64_t n = 0; n < chain_.stages[last].iterations; ++n) {
      if (!iterate(last) || result_.ring_bytes + result_.whole_bytes > most_) return std::nullopt;
    }
    for (std::size_t t = 0; t < chain_.tensors.size(); ++t) {
      const RowTensor& tensor = chain_.tensors[t];
      if (supplier_[t] == no_stage) continue;
      if (tensor.is_whole && complete_[t] < tensor.rows) return std::nullopt;
    }
    for (std::size_t s = 0; s < last; ++s) {
      if (around_[s] == no_stage) return std::nullopt;
    }
    // In the order in which needs are met.
    for (std::size_t s = 0; s < chain_.stages.size(); ++s) {
      for (std::size_t i = first_need_[s]; i < first_need_[s + 1]; ++i) {
        const std::size_t supplier = needs_[i].supplier;
        if (supplier != no_stage && around_[supplier] == s) result_.inside[s].push_back(supplier);
      }
    }
    result_.runs = done_;
    return std::move(result_);
  }

 private:
  struct Need {
    const RowNeed* need;
    std::size_t supplier;
    std::int64_t tensor_rows;
    Interval rows;        // that the stage's next iteration reads
    std::int64_t oldest;  // the first row that is still to be read; as many as there are rows: none
  };

  struct Frame {
    std::size_t stage;
    std::size_t next;  // need
  };

  // What the next iteration of the stage needs.
  void find_rows(std::size_t stage) {
    const std::int64_t next = done_[stage];
    const bool is_over = next >= chain_.stages[stage].iterations;
    for (std::size_t i = first_need_[stage]; i < first_need_[stage + 1]; ++i) {
      Need& need = needs_[i];
      need.rows = need.need->in(next, need.tensor_rows);
      need.oldest = is_over ? need.tensor_rows : std::max<std::int64_t>(need.rows.low, 0);
    }
  }

  // One iteration of the stage, after those of the stages that it waits for. False: one would have two stages around
  // it.
  bool iterate(std::size_t stage) {
    frames_.push_back({stage, first_need_[stage]});
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == first_need_[frame.stage + 1]) {
        finish(frame.stage);
        frames_.pop_back();
        continue;
      }
      const Need& need = needs_[frame.next];
      const std::size_t supplier = need.supplier;
      if (supplier == no_stage || need.rows.low > need.rows.high || complete_[need.need->tensor] > need.rows.high) {
        ++frame.next;
        continue;
      }
      if (done_[supplier] == chain_.stages[supplier].iterations) return false;  // rows that nobody writes
      if (around_[supplier] == no_stage) {
        around_[supplier] = frame.stage;
        result_.demand[supplier] = *need.need;
      } else if (around_[supplier] != frame.stage) {
        return false;
      }
      frames_.push_back({supplier, first_need_[supplier]});
    }
    return true;
  }

  void finish(std::size_t stage) {
    const RowStage& here = chain_.stages[stage];
    if (here.supply) write(*here.supply, done_[stage]);
    ++done_[stage];
    find_rows(stage);
    for (std::size_t i = first_need_[stage]; i < first_need_[stage + 1]; ++i) {
      if (needs_[i].supplier == no_stage) release(needs_[i].need->tensor);
    }
  }

  void write(const RowSupply& supply, std::int64_t iteration) {
    const RowTensor& tensor = chain_.tensors[supply.tensor];
    const std::int64_t before = complete_[supply.tensor];
    const std::int64_t end = supply.complete(iteration + 1, tensor.rows);
    complete_[supply.tensor] = end;
    if (tensor.is_whole) {
      const std::int64_t rows = !tensor.is_scattered ? end - before : iteration == 0 ? tensor.rows : 0;
      if (!tensor.is_free) count(rows * tensor.row_bytes);
      return;
    }
    const std::int64_t first = std::min(oldest(supply.tensor), before);
    std::int64_t& rows = result_.ring_rows[supply.tensor];
    if (end - first <= rows) return;
    result_.ring_bytes += (end - first - rows) * tensor.row_bytes;
    rows = end - first;
  }

  // The first row that is still to be read; as many as there are rows: none.
  [[nodiscard]] std::int64_t oldest(std::size_t tensor) const {
    std::int64_t row = chain_.tensors[tensor].rows;
    for (const std::size_t reader : readers_[tensor]) row = std::min(row, needs_[reader].oldest);
    return row;
  }

  // Rows of inputs that are read for the last time.
  void release(std::size_t tensor) {
    const RowTensor& t = chain_.tensors[tensor];
    if (t.is_whole || t.is_free) return;
    const std::int64_t dead = oldest(tensor);
    if (dead <= released_[tensor] || (t.is_scattered && dead < t.rows)) return;
    count(-(dead - released_[tensor]) * t.row_bytes);
    released_[tensor] = dead;
  }

  void count(Bytes bytes) {
    whole_ += bytes;
    result_.whole_bytes = std::max(result_.whole_bytes, whole_);
  }

  const RowChain& chain_;
  const Bytes most_;
  std::vector<std::int64_t> done_;                 // iterations, by stage
  std::vector<std::int64_t> complete_;             // rows, by tensor that a stage supplies
  std::vector<std::size_t> around_;                // by stage
  std::vector<std::size_t> supplier_;              // by tensor
  std::vector<Need> needs_;                        // stage by stage, in the order in which they are met
  std::vector<std::size_t> first_need_;            // by stage, and the end
  std::vector<std::vector<std::size_t>> readers_;  // by tensor: needs
  std::vector<std::int64_t> released_;             // rows of inputs
  std::vector<Frame> frames_;                      // iterations that have begun
  Bytes whole_ = 0;
  RowSchedule result_;
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
