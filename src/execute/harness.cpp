// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes a table of memory regions, and a round: garbage into all of them, inputs, a run, checks, outputs.
#include "execute/harness.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "execute/harness_text.hpp"
#include "usmp/codegen/layout.hpp"
#include "usmp/placement/placement.hpp"

namespace usmp::execute {
namespace {

struct Gap {
  Bytes begin = 0;
  Bytes end = 0;
};

// What of a workspace pool belongs to no buffer: reserved bytes and those between buffers.
std::vector<Gap> gaps_of(const codegen::EmissionInput& module, PoolId pool, Bytes used) {
  std::vector<Gap> taken;
  for (const placement::Storage& storage : module.placements.storages) {
    const Allocation& place = storage.place;
    if (place.pool == pool) taken.push_back({place.offset, place.offset + storage.size});
  }
  std::sort(taken.begin(), taken.end(), [](const Gap& a, const Gap& b) { return a.begin < b.begin; });
  std::vector<Gap> gaps;
  Bytes end = 0;
  for (const Gap& buffer : taken) {
    if (buffer.begin > end) gaps.push_back({end, buffer.begin});
    end = std::max(end, buffer.end);
  }
  if (used > end) gaps.push_back({end, used});
  return gaps;
}

class Writer {
 public:
  Writer(const codegen::EmissionInput& module, const codegen::ModuleLayout& layout, const Tensors& tensors)
      : module_(module), layout_(layout), tensors_(tensors) {}

  Harness write(const std::string& entry_file) && {
    pools();
    // In the workspace inputs and outputs lie in pools.
    if (!module_.workspace_io) {
      for (const Tensor& tensor : tensors_.inputs) add_tensor("input", tensor);
      for (const Tensor& tensor : tensors_.outputs) add_tensor("output", tensor);
    }
    harness_.text = "/* Runs module " + layout_.symbol + ". Written by usmp-plan. */\n#include \"" + entry_file +
                    "\"\n#include \"" + layout_.symbol + ".h\"\n" + constants_ + harness_text + data_;
    harness_.text += "#define USMP_RUN_REGIONS " + std::to_string(harness_.regions.size()) +
                     "\nstatic struct usmp_run_region usmp_run_regions[USMP_RUN_REGIONS + 1] = {\n" + table_ +
                     "  {NULL, 0, 1, 0, NULL, NULL}};\n";
    round();
    harness_.text += harness_main;
    return std::move(harness_);
  }

 private:
  std::string add_region(const std::string& what, const std::string& memory, const std::string& size, Bytes alignment,
                         bool is_guarded, const std::vector<Gap>& gaps, const std::string& contents) {
    const std::string index = std::to_string(harness_.regions.size());
    data_ += "static const struct usmp_run_gap usmp_run_gaps_" + index + "[] = {";
    for (const Gap& gap : gaps) data_ += "{" + std::to_string(gap.begin) + ", " + std::to_string(gap.end) + "}, ";
    data_ += "{0, 0}};\n";
    table_ += "  {" + memory + ", " + size + ", " + std::to_string(alignment) + ", " +
              (is_guarded ? "USMP_RUN_GUARD" : "0") + ", usmp_run_gaps_" + index + ", " + contents + "},\n";
    harness_.regions.push_back(what);
    return "usmp_run_regions[" + index + "]";
  }

  void pools() {
    addresses_.resize(layout_.pools.size());
    for (std::size_t i = 0; i < layout_.pools.size(); ++i) {
      const codegen::PoolLayout& pool = layout_.pools[i];
      const std::string what = "pool '" + pool.name + "'";
      const std::string macro = layout_.macro + "_" + codegen::pool_macro(pool);
      if (pool.kind == PoolKind::constant) {
        if (pool.is_internal) continue;  // constants of the module itself
        const std::string data = "usmp_run_data_" + std::to_string(i);
        constants_ = "#include \"" + layout_.symbol + ".constants.h\"\n";
        data_ += "static const unsigned char " + data + "[] = {" + macro + "_DATA};\n";
        addresses_[i] = add_region(what, "NULL", macro + "_SIZE", pool.alignment, true, {}, data) + ".memory";
      } else if (!pool.is_internal) {
        if (pool.holds_state) keep_next_region(pool.used);
        addresses_[i] = add_region(what, "NULL", macro + "_SIZE", pool.alignment, true,
                                   gaps_of(module_, PoolId(i), pool.used), "NULL") +
                        ".memory";
      } else if (pool.in_use) {
        if (pool.holds_state) keep_next_region(pool.used);
        (void)add_region(what, pool.storage, macro + "_SIZE", pool.alignment, false,
                         gaps_of(module_, PoolId(i), pool.used), "NULL");
      }
    }
  }

  void keep_next_region(Bytes bytes) {
    state_region_ = harness_.regions.size();
    state_bytes_ = bytes;
  }

  // Aside, or back.
  void copy_states(bool is_aside) {
    for (const codegen::StateLayout& state : layout_.states) {
      const std::string offset = std::to_string(state.allocation->offset);
      const std::string aside = "kept + " + offset;
      const std::string place = "usmp_run_regions[" + std::to_string(*state_region_) + "].memory + " + offset;
      line("if (rounds > 0) memcpy(" + (is_aside ? aside : place) + ", " + (is_aside ? place : aside) + ", " +
           std::to_string(state.tensor.size) + ");");
    }
  }

  void add_tensor(const char* what, const Tensor& tensor) {
    addresses_of_tensors_.push_back(add_region(std::string(what) + " '" + tensor.name + "'", "NULL",
                                               std::to_string(tensor.size), tensor.element.element_bytes(), true, {},
                                               "NULL"));
  }

  [[nodiscard]] bool takes_structs() const { return !module_.info.packed_interface || module_.workspace_io; }

  void line(const std::string& text) { harness_.text += "  " + text + "\n"; }

  // One run of the model.
  void round() {
    harness_.text += "\nstatic void usmp_run_round(FILE* file) {\n";
    declarations();
    // In a pool it stays while all else gets new garbage.
    const bool is_in_pool = state_region_.has_value();
    if (is_in_pool) copy_states(true);
    line("for (i = 0; i < USMP_RUN_REGIONS; ++i) usmp_run_fill(&usmp_run_regions[i]);");
    if (is_in_pool) copy_states(false);
    for (std::size_t k = 0; k < tensors_.inputs.size(); ++k) {
      const std::string size = std::to_string(tensors_.inputs[k].size);
      line("if (copies[" + std::to_string(k) + "] == NULL) copies[" + std::to_string(k) + "] = (unsigned char*)" +
           "usmp_run_allocate(" + size + ");");
      line("usmp_run_read(file, copies[" + std::to_string(k) + "], " + size + ");");
      if (!module_.workspace_io) line(addresses_of_tensors_[k] + ".contents = copies[" + std::to_string(k) + "];");
    }
    arguments();
    // What the model keeps is set again once; what is in a pool, before the first run, too.
    if (!layout_.states.empty()) {
      const std::string first = is_in_pool ? "rounds == 0 || " : "";
      line("if (" + first + "rounds == 2) " + layout_.symbol + "_reset(" +
           (codegen::reset_takes_pools(layout_) ? "&pools" : "") + ");");
      line("++rounds;");
    }
    for (std::size_t k = 0; k < tensors_.inputs.size(); ++k) {
      const std::string to =
          module_.workspace_io ? "inputs." + tensors_.inputs[k].member : addresses_of_tensors_[k] + ".memory";
      line("memcpy(" + to + ", copies[" + std::to_string(k) + "], " + std::to_string(tensors_.inputs[k].size) + ");");
    }
    line("for (i = 0; i < USMP_RUN_REGIONS; ++i) usmp_run_for_guarded(&usmp_run_regions[i], usmp_run_poison);");
    line("status = " + call() + ";");
    line("for (i = 0; i < USMP_RUN_REGIONS; ++i) usmp_run_for_guarded(&usmp_run_regions[i], usmp_run_unpoison);");
    line(
        "for (i = 0; i < USMP_RUN_REGIONS; ++i) {\n    usmp_run_current = (uint32_t)i;\n"
        "    usmp_run_check(&usmp_run_regions[i]);\n  }");
    line("usmp_run_finish(status);");
    for (std::size_t k = 0; k < tensors_.outputs.size(); ++k) {
      const std::string from = module_.workspace_io ? "outputs." + tensors_.outputs[k].member
                                                    : addresses_of_tensors_[tensors_.inputs.size() + k] + ".memory";
      line("usmp_run_write(" + from + ", " + std::to_string(tensors_.outputs[k].size) + ");");
    }
    harness_.text += "}\n";
  }

  void declarations() {
    const std::string symbol = "struct " + layout_.symbol;
    line("static unsigned char* copies[" + std::to_string(tensors_.inputs.size() + 1) + "];");
    if (!layout_.states.empty()) line("static int rounds = 0;");
    if (state_region_) line("static unsigned char kept[" + std::to_string(state_bytes_) + " + 1];");
    line("int32_t status;");
    line("size_t i;");
    if (takes_structs()) {
      line(symbol + "_inputs inputs;");
      line(symbol + "_outputs outputs;");
      if (!layout_.external.empty()) line(symbol + "_workspace_pools pools;");
      if (!layout_.devices.empty()) line(symbol + "_devices devices;");
    }
    if (module_.info.packed_interface) {
      line("unsigned char* values = (unsigned char*)calloc(" + std::to_string(packed_count() + 1) + ", 8);");
      line("unsigned char* tensors = (unsigned char*)calloc(" + std::to_string(packed_count() + 1) + ", 64);");
      line("int codes[" + std::to_string(packed_count() + 1) + "] = {0};");
    }
  }

  // Pointers to memory, which never moves between rounds.
  void arguments() {
    if (takes_structs()) {
      line("memset(&inputs, 0, sizeof inputs);");
      line("memset(&outputs, 0, sizeof outputs);");
      if (!layout_.devices.empty()) line("memset(&devices, 0, sizeof devices);");
      for (const PoolId pool : layout_.external) {
        line("pools." + layout_.pools[pool.index()].member + " = " + addresses_[pool.index()] + ";");
      }
    }
    if (module_.workspace_io) {
      const std::string pools = layout_.external.empty() ? "()" : "(&pools)";
      line("inputs = " + layout_.symbol + "_map_inputs" + pools + ";");
      line("outputs = " + layout_.symbol + "_map_outputs" + pools + ";");
    } else if (!module_.info.packed_interface) {
      const std::size_t inputs = tensors_.inputs.size();
      for (std::size_t k = 0; k < addresses_of_tensors_.size(); ++k) {
        line((k < inputs ? "inputs." + tensors_.inputs[k].member : "outputs." + tensors_.outputs[k - inputs].member) +
             " = " + addresses_of_tensors_[k] + ".memory;");
      }
    }
    if (module_.info.packed_interface) packed_arguments();
  }

  [[nodiscard]] std::size_t packed_count() const { return addresses_of_tensors_.size() + layout_.external.size(); }

  // TVM's TVMValue and DLTensor begin with the pointer, whatever else there is in them; copying bytes is the one way to
  // fill them that does not depend on how the module declares them.
  void packed_arguments() {
    line("if (values == NULL || tensors == NULL) usmp_run_stop(\"out of memory\");");
    std::size_t k = 0;
    for (const std::string& tensor : addresses_of_tensors_) {
      const std::string index = std::to_string(k++);
      line("{ void* tensor = tensors + " + index + " * 64;\n    memcpy(tensor, &" + tensor +
           ".memory, sizeof(void*));\n" + "    memcpy(values + " + index + " * 8, &tensor, sizeof(void*)); codes[" +
           index + "] = 7; }");
    }
    for (const PoolId pool : layout_.external) {
      const std::string index = std::to_string(k++);
      line("memcpy(values + " + index + " * 8, &" + addresses_[pool.index()] + ", sizeof(void*)); codes[" + index +
           "] = 3;");
    }
  }

  [[nodiscard]] std::string call() const {
    if (module_.info.packed_interface) {
      return layout_.symbol + "_run(values, codes, " + std::to_string(packed_count()) + ", NULL, NULL, NULL)";
    }
    std::string arguments = module_.workspace_io ? "" : "&inputs, &outputs";
    const auto add = [&](const char* argument) {
      arguments += (arguments.empty() ? "" : ", ") + std::string(argument);
    };
    if (!layout_.external.empty()) add("&pools");
    if (!layout_.devices.empty()) add("&devices");
    return layout_.symbol + "_run(" + arguments + ")";
  }

  const codegen::EmissionInput& module_;
  const codegen::ModuleLayout& layout_;
  const Tensors& tensors_;
  Harness harness_;
  std::string constants_;  // includes their header, if there is one
  std::string data_;       // arrays that the table of regions points to
  std::string table_;      // its rows
  std::optional<std::size_t> state_region_;
  Bytes state_bytes_ = 0;
  std::vector<std::string> addresses_;             // by PoolId, of external pools
  std::vector<std::string> addresses_of_tensors_;  // regions of the inputs, then of the outputs
};

}  // namespace

Harness harness_of(const codegen::EmissionInput& module, const codegen::ModuleLayout& layout, const Tensors& tensors,
                   const std::string& entry_file) {
  return Writer(module, layout, tensors).write(entry_file);
}

}  // namespace usmp::execute
