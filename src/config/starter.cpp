// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "config/text_check.hpp"
#include "usmp/config/pools.hpp"

namespace usmp::config {
namespace {

// Text of the archive inside a comment: nothing in it may end the comment or make the file unreadable.
std::string in_comment(std::string_view text) {
  std::string result;
  for (const char c : text) result += is_control(c) || static_cast<unsigned char>(c) >= 0x80U ? '?' : c;
  return result;
}

// {c: rw, cmsis-nn: rw}
std::string targets_map(const std::vector<std::string>& targets, const std::string& access) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  std::vector<std::string> names;
  for (const std::string& target : targets) {
    const bool usable = !target.empty() && target[0] != '-' && target.find_first_not_of(plain) == std::string::npos;
    if (usable) names.push_back(target);
  }
  if (names.empty()) names.emplace_back("c");
  std::string result;
  for (const std::string& name : names) {
    result += result.empty() ? "{" : ", ";
    result += name;
    result += ": ";
    result += access;
  }
  return result + "}";
}

// Half of what the model needs, in whole KiB: a bound that makes the fallback to the next pool visible.
Bytes example_bound(Bytes workspace_load) {
  constexpr Bytes kib = 1024;
  return std::max(kib, align_up(workspace_load / 2, kib));
}

std::string bytes(Bytes count) { return std::to_string(count) + " bytes"; }

}  // namespace

std::string starter_file(const ModelSummary& model) {
  std::string text = "## Memory pools for " + in_comment(model.archive) + ", read by usmp-plan --pools.\n##\n";
  text += "## Workspace: " + bytes(model.workspace_load) +
          " are live at once: a lower bound, not a size. Plans may need more.\n";
  text += "## `usmp-plan " + in_comment(model.archive) + " --dry-run` shows how much. ";
  if (model.unplanned_workspace) text += "The archive's own build takes " + bytes(*model.unplanned_workspace) + ". ";
  text.back() = '\n';
  text += "## Constants: " + bytes(model.constant_bytes) + ".\n##\n";
  text +=
      "## Lines with a single '#' are settings: remove the '#' to use them.\n"
      "\n"
      "## Memory for intermediate data. The first pool is filled first; buffers that do not fit go to the next.\n"
      "workspace_pools:\n"
      "#  - name: dtcm\n";
  text += "#    size_hint_bytes: " + format_size(example_bound(model.workspace_load)) +
          "  # the pool's size (65536, 64KiB, 2MiB, 1GiB); unbounded without it\n";
  text +=
      "#    pool_offset: 256  # reserved bytes at the start of the pool\n"
      "#    alignment: 16  # of the pool and of every buffer in it\n"
      "#    internal: true  # the generated C defines the array; false: the application passes a pointer\n"
      "#    section: .bss.dtcm  # linker section of that array; .bss… takes no flash\n"
      "#    budget: {warn_at: 95%, max_growth: 1%}  # limits for usmp-plan check\n";
  text += "#    targets: " + targets_map(model.targets, "rw") + "  # without it, every target may read and write\n";
  text +=
      "  - name: sram\n"
      "\n"
      "## Memory for the constants. Without a pool, constants are arrays beside the operators' code.\n"
      "#parameter_pools:\n"
      "#  - name: flash\n";
  text += "#    targets: " + targets_map(model.targets, "ro") + "\n";
  text +=
      "\n"
      "## usmp-plan --list-algorithms lists them; the command line overrides this.\n"
      "#algorithm: optimal\n"
      "\n"
      "## true: inputs and outputs are placed in the workspace pools too.\n"
      "#workspace_io: false\n";
  return text;
}

std::string starter_json() { return "{\"workspace_pools\": [{\"name\": \"sram\"}]}\n"; }

}  // namespace usmp::config
