// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares workspace, RAM, stack and constants with those of the unplanned build, a line for each.
#include "report/summary.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "report/layout.hpp"

namespace usmp::report {
namespace {

using plan_file::PlanDocument;

// The size of those that the application has. Nothing: the size of one is not known.
std::optional<Bytes> outside_of_pools(const std::vector<PlanDocument::Tensor>& tensors) {
  Bytes total = 0;
  for (const PlanDocument::Tensor& tensor : tensors) {
    if (tensor.in_pool) continue;
    if (!tensor.size) return std::nullopt;
    total += *tensor.size;
  }
  return total;
}

}  // namespace

std::string without_io(const PlanDocument& plan) {
  return plan.workspace_io.value_or(false) ? " without inputs and outputs" : "";
}

namespace {

// "workspace: 9488 bytes, 109632 (92.03%) fewer than the 119120 of the unplanned build"; of what TVM planned, of TVM's
// plan. Empty if neither is known.
std::string workspace_line(const PlanDocument& plan) {
  const std::optional<Bytes>& other = plan.tvm_workspace ? plan.tvm_workspace : plan.unplanned_workspace;
  if (!other) return {};
  const std::string what = plan.tvm_workspace ? "TVM's plan" : "the unplanned build" + without_io(plan);
  const Bytes used = plan.workspace_used;
  const std::string text = "workspace: " + bytes_text(used) + ", ";
  if (used == *other) return text + "as many as " + what;
  const Bytes difference = std::abs(used - *other);
  return text + std::to_string(difference) + (*other > 0 ? " (" + percent(difference, *other) + ")" : "") +
         (used < *other ? " fewer" : " more") + " than the " + std::to_string(*other) + " of " + what;
}

std::string ram_line(const PlanDocument& plan) {
  const std::optional<Bytes> inputs = outside_of_pools(plan.inputs);
  const std::optional<Bytes> outputs = outside_of_pools(plan.outputs);
  const bool complete = inputs && outputs && plan.unplanned.empty();
  std::string text =
      "RAM: " + std::string(complete ? "" : "at least ") +
      bytes_text(plan.workspace_used + inputs.value_or(0) + outputs.value_or(0) + plan.state_bytes.value_or(0)) +
      " = " + std::to_string(plan.workspace_used) + " workspace";
  if (inputs.value_or(0) > 0) text += " + " + std::to_string(*inputs) + " inputs";
  if (outputs.value_or(0) > 0) text += " + " + std::to_string(*outputs) + " outputs";
  if (plan.state_bytes) text += " + " + std::to_string(*plan.state_bytes) + " state";
  if (plan.workspace_io.value_or(false)) text += ", inputs and outputs included";
  return text;
}

std::string stack_line(const PlanDocument& plan) {
  const bool is_named = !plan.cpu.empty() && plan.cpu != "generic";
  std::string text = "stack: at most " + bytes_text(*plan.stack_estimate) +
                     " (estimate) without external kernels and the C library" +
                     (is_named ? "" : ", and without Helium; --cpu gives a nearer one");
  if (!plan.stack_arrays) return text;
  return text + "; of up to " + bytes_text(*plan.stack_arrays) + " of local arrays at once, " +
         std::to_string(*plan.stack_arrays - plan.stack_saved.value_or(0)) + " stay";
}

std::string constants_line(const PlanDocument& plan) {
  const bool in_pool = *plan.constant_bytes == 0 ||
                       std::any_of(plan.pools.begin(), plan.pools.end(), [](const PlanDocument::Pool& pool) {
                         return pool.kind == PoolKind::constant && pool.used > 0;
                       });
  // Code that nobody reads may have tables of its own.
  const bool complete =
      plan.multiply_accumulates || std::ranges::all_of(plan.calls, [](const PlanDocument::Call& call) {
        return call.kind.empty() || call.multiply_accumulates.has_value();
      });
  return "constants: " + bytes_text(*plan.constant_bytes) + (in_pool ? "" : ", outside of the pools") +
         (complete ? "" : ", without those inside external code and functions that stay as they are");
}

// "12.50 million" from a million on, else nothing.
std::optional<std::string> in_millions(std::int64_t count) {
  constexpr std::int64_t million = 1'000'000;
  if (count < million) return std::nullopt;
  const std::int64_t hundredths = count / (million / 100) + (count % (million / 100) >= million / 200 ? 1 : 0);
  return std::to_string(hundredths / 100) + "." + (hundredths % 100 < 10 ? "0" : "") +
         std::to_string(hundredths % 100) + " million";
}

// "work: 12501632 multiply-accumulates (12.50 million)".
std::string work_line(std::int64_t count) {
  const auto millions = in_millions(count);
  return "work: " + std::to_string(count) + " multiply-accumulates" + (millions ? " (" + *millions + ")" : "");
}

std::string joined_operands(const std::vector<std::string>& operands) {
  std::string text;
  for (const std::string& operand : operands) text += (text.empty() ? "" : ", ") + printable(operand);
  return text;
}

}  // namespace

std::string planned_text(const PlanDocument& plan) {
  return "planned by " + plan.algorithm + (plan.status == PlanStatus::optimal ? ", proved optimal" : "");
}

std::vector<std::string> summary_lines(const PlanDocument& plan) {
  std::vector<std::string> lines;
  if (std::string line = workspace_line(plan); !line.empty()) lines.push_back(std::move(line));
  if (!plan.inputs.empty() || !plan.outputs.empty()) lines.push_back(ram_line(plan));
  if (plan.stack_estimate) lines.push_back(stack_line(plan));
  if (plan.constant_bytes) lines.push_back(constants_line(plan));
  if (plan.multiply_accumulates) {
    lines.push_back(work_line(*plan.multiply_accumulates));
  } else {
    std::int64_t known = 0;
    bool says = false;
    for (const PlanDocument::Call& call : plan.calls) {
      const auto sum = call.multiply_accumulates ? checked_add(known, *call.multiply_accumulates) : std::nullopt;
      says = says || !call.kind.empty();
      known = sum.value_or(known);
    }
    if (says && known == 0) lines.emplace_back("work: multiply-accumulates are not known");
    if (says && known > 0) lines.push_back(work_line(known) + ", without operators for which they are not known");
  }
  if (plan.instructions && !lines.empty()) {
    const auto millions = in_millions(*plan.instructions);
    lines.back() += "; instructions (estimate" + (plan.cpu.empty() ? "" : " for " + printable(plan.cpu)) +
                    "): " + millions.value_or(std::to_string(*plan.instructions));
  }
  return lines;
}

std::string by_rows_text(const PlanDocument::Call& call) {
  if (call.by_rows.empty()) return {};
  std::string text = std::to_string(call.by_rows.front().number);
  if (call.by_rows.size() > 1) text += " to " + std::to_string(call.by_rows.back().number);
  std::vector<std::pair<std::string, std::size_t>> kinds;  // in the order in which they come, with their numbers
  for (const PlanDocument::RowOperator& one : call.by_rows) {
    const std::string kind = printable(one.kind.empty() ? one.callee : one.kind);
    const auto known = std::ranges::find(kinds, kind, &std::pair<std::string, std::size_t>::first);
    if (known == kinds.end()) {
      kinds.emplace_back(kind, 1);
    } else {
      ++known->second;
    }
  }
  const char* separator = ": ";
  for (const auto& [kind, count] : kinds) {
    text += separator + (count > 1 ? std::to_string(count) + " " : "") + kind;
    separator = ", ";
  }
  return text;
}

std::vector<std::string> row_lines(const PlanDocument& plan) {
  struct Rings {
    std::size_t count = 0;
    Bytes held = 0;
    Bytes all = 0;
  };
  std::map<std::string_view, Rings> rings_of;  // by function
  for (const PlanDocument::Buffer& buffer : plan.buffers) {
    if (!buffer.rows) continue;
    Rings& rings = rings_of[buffer.function];
    ++rings.count;
    rings.held += buffer.size;
    rings.all += buffer.rows->of * buffer.rows->row_bytes;
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < plan.calls.size(); ++i) {
    const PlanDocument::Call& call = plan.calls[i];
    if (call.by_rows.empty()) continue;
    const Rings rings = rings_of[call.callee];
    lines.push_back("#" + std::to_string(i + 1) + " runs operator" + (call.by_rows.size() > 1 ? "s " : " ") +
                    by_rows_text(call) + "; " + std::to_string(rings.count) +
                    (rings.count == 1 ? " ring holds " : " rings hold ") + std::to_string(rings.held) + " of " +
                    bytes_text(rings.all));
  }
  return lines;
}

std::string operands_text(const PlanDocument::Call& call) {
  if (call.reads.empty() && call.writes.empty()) return {};
  return joined_operands(call.reads) + (call.reads.empty() ? "-> " : " -> ") +
         (call.writes.empty() ? "?" : joined_operands(call.writes));
}

}  // namespace usmp::report
