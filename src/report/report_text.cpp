// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lays out the tables behind the plan's text: shares of the peak, a timeline with bars, operands.
#include <algorithm>
#include <optional>
#include <utility>

#include "report/all_modules.hpp"
#include "report/layout.hpp"
#include "report/peak.hpp"
#include "report/proved.hpp"
#include "report/summary.hpp"
#include "usmp/compare/figures.hpp"
#include "usmp/report/report.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using compare::operator_name;
using compare::OperatorIndex;
using compare::plan_figures;
using compare::PlanFigures;
using compare::PoolFigures;
using plan_file::PlanDocument;

constexpr std::size_t most_shares = 10;     // of each pool, unless verbose
constexpr std::size_t most_operators = 40;  // the same
constexpr std::size_t most_named = 6;       // buffers in a line, the same

std::string name_of(const PlanDocument& plan, const OperatorIndex& call, std::size_t row_operator) {
  return call ? printable(operator_name(plan, *call, row_operator)) : "between operators";
}

std::string shares_table(const PlanDocument& plan, const PoolFigures& figures, std::size_t most) {
  Table table({{"Occupied", Align::right}, {"Share", Align::right}, {"Operator that made them", Align::left}});
  for (std::size_t i = 0; i < std::min(most, figures.shares.size()); ++i) {
    const PoolFigures::Share& share = figures.shares[i];
    table.add({std::to_string(share.bytes), percent(share.bytes, figures.occupied_at_peak),
               name_of(plan, share.call, share.row_operator)});
  }
  std::string text = table.text("  ");
  if (figures.shares.size() > most)
    text += "  and " + std::to_string(figures.shares.size() - most) + " more (--verbose lists all)\n";
  return text;
}

// What the entry adds to the instructions of its calls, so that the column has the sum that is told; 0: not known.
std::int64_t instructions_of_entry(const PlanDocument& plan) {
  std::int64_t rest = plan.instructions.value_or(0);
  for (const PlanDocument::Call& call : plan.calls) {
    if (!call.instructions) return 0;
    rest -= *call.instructions;
  }
  return rest;
}

// What is live in each operator, in order of execution, with a bar as long as its share of the peak.
std::string timeline_table(const PlanDocument& plan, const PoolFigures& figures, std::size_t most) {
  constexpr Bytes longest_bar = 6;  // so that most rows are within a page's columns
  const bool describes = std::any_of(plan.calls.begin(), plan.calls.end(), [](const PlanDocument::Call& call) {
    return !call.kind.empty() || !operands_text(call).empty();
  });
  std::vector<Table::Column> columns = {{"Most live", Align::right}, {"", Align::left}, {"In operator", Align::left}};
  if (describes) {
    columns.push_back({"MACs", Align::right});
    columns.push_back({"Instructions", Align::right});
    columns.push_back({"Kernels", Align::left});
  }
  Table table(std::move(columns));
  for (std::size_t i = 0; i < std::min(most, plan.calls.size()); ++i) {
    const Bytes live = figures.most_live(plan.calls[i].ticks);
    const auto length = static_cast<std::size_t>((live * longest_bar + figures.load - 1) / figures.load);
    std::vector<std::string> cells = {std::to_string(live), std::string(length, '#'),
                                      printable(operator_name(plan, i))};
    if (describes) {
      const std::optional<std::int64_t>& sums = plan.calls[i].multiply_accumulates;
      cells.push_back(sums ? std::to_string(*sums) : "?");
      const std::optional<std::int64_t>& instructions = plan.calls[i].instructions;
      cells.push_back(instructions ? std::to_string(*instructions) : "?");
      cells.push_back(joined(plan.calls[i].kernels));
    }
    table.add(std::move(cells));
    if (!describes) continue;
    for (const PlanDocument::RowOperator& one : plan.calls[i].by_rows) {
      if (!one.instructions) continue;
      const std::string instructions = std::to_string(*one.instructions);
      table.add({"", "", printable(operator_name(plan, i, one.number)), "", instructions, joined(one.kernels)});
    }
  }
  const std::int64_t entry = describes ? instructions_of_entry(plan) : 0;
  if (entry > 0) table.add({"", "", "the entry itself", "", std::to_string(entry), ""});
  std::string text = table.text("  ");
  if (plan.calls.size() > most)
    text += "  and " + std::to_string(plan.calls.size() - most) + " more (--verbose lists all)\n";
  return text;
}

// What all operators that the tables name read and write, once.
std::string operands_table(const PlanDocument& plan, std::size_t most) {
  Table table({{"Operator", Align::left}, {"Reads -> writes", Align::left}});
  bool is_empty = true;
  for (std::size_t i = 0; i < std::min(most, plan.calls.size()); ++i) {
    std::string operands = operands_text(plan.calls[i]);
    is_empty = is_empty && operands.empty();
    table.add({printable(operator_name(plan, i)), std::move(operands)});
  }
  return is_empty ? "" : "\n" + table.text("  ");
}

std::string without_lines(const PlanDocument& plan, const PlanFigures& figures, std::size_t pool) {
  std::string text;
  for (const PoolFigures::Without& without : figures.pools[pool].without) {
    const OperatorIndex& call = figures.operators[without.buffer];
    const PlanDocument::Buffer& buffer = plan.buffers[without.buffer];
    text += "  without " + printable(buffer.name) + " (" +
            printable(call ? figures.operators_text(plan, without.buffer) : buffer.function) +
            ") the other buffers would need at least " + bytes_text(without.at_least) + "\n";
  }
  return text;
}

std::string all_modules_lines(const PlanDocument& plan) {
  std::string text;
  for (const PlanDocument::Pool& pool : plan.pools) {
    if (!pool.all_modules) continue;
    if (text.empty()) text = "\nPools of all modules\n";
    text += "  " + printable(pool.name + ": " + all_modules_text(*pool.all_modules, pool.kind)) + "\n";
  }
  return text;
}

}  // namespace

std::string report_text(const PlanDocument& plan, const TextOptions& options) {
  std::string text =
      plan_text(plan, {.color = options.color, .peak = true, .verbose = options.verbose}) + all_modules_lines(plan);
  const PlanFigures figures = plan_figures(plan);
  const std::size_t operators = options.verbose ? plan.calls.size() : most_operators;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    const PlanDocument::Pool& pool = plan.pools[i];
    const PoolFigures& of_pool = figures.pools[i];
    if (pool.kind != PoolKind::workspace || of_pool.load == 0) continue;
    text += "\n" + printable(pool.name) + ": " + used_text(pool, of_pool) + "; " + bytes_text(of_pool.asked) +
            " without reuse\n";
    const std::string proof = proof_line(plan, pool, of_pool, options.verbose ? plan.buffers.size() : most_named);
    if (!proof.empty()) text += "  " + proof;
    text += shares_table(plan, of_pool, options.verbose ? of_pool.shares.size() : most_shares) +
            without_lines(plan, figures, i);
    if (!plan.calls.empty()) text += "\n" + timeline_table(plan, of_pool, operators);
  }
  return folded(text + operands_table(plan, operators));
}

}  // namespace usmp::report
