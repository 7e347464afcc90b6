// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which parameter of the entry function is which tensor of the interface. The archive says the names, the module the
// order of the parameters; docs/generated-c.md states the rules.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "codegen/member_names.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/program/effects.hpp"
#include "usmp/support/characters.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::codegen {
namespace {

using tir::Param;

// "output", "output2": what TVM calls the outputs' parameters that the user did not name.
bool is_default_output_name(const std::string& name) {
  return name.starts_with("output") && std::all_of(name.begin() + 6, name.end(), is_digit);
}

class Matcher {
 public:
  Matcher(const model::Description& info, const tir::Module& module)
      : info_(info), module_(module), entry_(module.functions[module.entry]), taken_(entry_.params.size(), false) {
    const bool has_tensors =
        std::any_of(entry_.params.begin(), entry_.params.end(), [](const Param& param) { return param.is_tensor; });
    // TVM 0.8 gives the entry function plain handles only.
    for (std::size_t i = 0; i < entry_.params.size(); ++i) {
      if (entry_.params[i].is_tensor || !has_tensors) tensors_.push_back(i);
    }
  }

  Interface run() && {
    take_states();
    if (info_.inputs.empty() && info_.outputs.empty()) {
      divide_by_writes();
    } else {
      match_inputs();
      match_outputs();
    }
    collect_devices();
    name_members(interface_.inputs);
    name_members(interface_.outputs);
    name_members(interface_.devices);
    name_members(interface_.states);
    return std::move(interface_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorKind::archive, {.file = {}, .member = {}, .place = entry_.name}, message);
  }

  // Neither inputs nor outputs.
  void take_states() {
    for (const model::State& state : info_.states) {
      const auto found = std::ranges::find(tensors_, state.name, [&](std::size_t i) { return entry_.params[i].name; });
      if (found == tensors_.end()) fail("there is no parameter for the state " + in_quotes(state.name));
      const auto size = static_cast<Bytes>(state.initial.size());
      if (tir::size_of(entry_.params[*found]).value_or(size) != size) {
        fail("the state " + in_quotes(state.name) + " has " + std::to_string(size) +
             " bytes, its parameter has others");
      }
      if (state.dtype != tir::to_string(entry_.params[*found].element)) {
        fail("the state " + in_quotes(state.name) + " is " + shown(state.dtype) + ", its parameter is " +
             tir::to_string(entry_.params[*found].element));
      }
      taken_[*found] = true;
      interface_.states.push_back({.name = state.name, .member = {}, .param = *found, .size = size});
      tensors_.erase(found);
    }
  }

  std::vector<std::size_t> free_tensors() const {
    std::vector<std::size_t> free;
    for (const std::size_t i : tensors_) {
      if (!taken_[i]) free.push_back(i);
    }
    return free;
  }

  // The first free tensor parameter of that name; an exact match wins over one of the sanitised names.
  std::optional<std::size_t> find_free(const std::string& name) const {
    std::optional<std::size_t> sanitised;
    for (const std::size_t i : tensors_) {
      if (taken_[i]) continue;
      if (entry_.params[i].name == name) return i;
      if (!sanitised && c_identifier(entry_.params[i].name) == c_identifier(name)) sanitised = i;
    }
    return sanitised;
  }

  // One free parameter a tensor, by names; nothing if a name is not found.
  std::optional<std::vector<std::size_t>> match_names(const std::vector<model::Tensor>& tensors) {
    const std::vector<bool> before = taken_;
    std::vector<std::size_t> matched;
    for (const model::Tensor& tensor : tensors) {
      const auto param = find_free(tensor.name);
      if (!param) {
        taken_ = before;
        return std::nullopt;
      }
      taken_[*param] = true;
      matched.push_back(*param);
    }
    return matched;
  }

  void match_inputs() {
    const std::size_t expected = info_.inputs.size() + info_.outputs.size();
    auto matched = match_names(info_.inputs);
    // TVM 0.8 calls all inputs alike; then their order decides.
    if (!matched && tensors_.size() == expected) {
      matched.emplace(tensors_.begin(), tensors_.begin() + static_cast<std::ptrdiff_t>(info_.inputs.size()));
      for (const std::size_t i : *matched) taken_[i] = true;
    }
    if (!matched) {
      for (const model::Tensor& input : info_.inputs) {
        if (!find_free(input.name)) {
          fail("the archive names an input " + in_quotes(input.name) +
               ", which is not a parameter of the entry function");
        }
      }
      fail("the archive names inputs that share parameters of the entry function");
    }
    for (std::size_t i = 0; i < matched->size(); ++i) {
      interface_.inputs.push_back(checked(info_.inputs[i], (*matched)[i], "input"));
    }
  }

  void match_outputs() {
    std::vector<std::size_t> free = free_tensors();
    const bool all_are_handles =
        std::none_of(free.begin(), free.end(), [&](std::size_t i) { return entry_.params[i].is_tensor; });
    // Where the module does not tell tensors from device contexts, the contexts come last.
    if (all_are_handles && free.size() > info_.outputs.size()) free.resize(info_.outputs.size());
    if (free.size() != info_.outputs.size()) {
      fail("the archive names " + std::to_string(info_.outputs.size()) + " outputs, but the entry function has " +
           std::to_string(free.size()) + " tensor parameters besides its inputs");
    }
    if (auto matched = match_names(info_.outputs)) free = std::move(*matched);
    for (std::size_t i = 0; i < free.size(); ++i) {
      taken_[free[i]] = true;
      interface_.outputs.push_back(checked(info_.outputs[i], free[i], "output"));
    }
  }

  InterfaceTensor checked(const model::Tensor& tensor, std::size_t index, const char* what) const {
    const Param& param = entry_.params[index];
    const auto size = tir::size_of(param);
    if (size && tensor.size && *size != *tensor.size) {
      fail(std::string(what) + " " + in_quotes(tensor.name) + " has " + std::to_string(*tensor.size) +
           " bytes in metadata.json, but parameter " + in_quotes(param.name) + " has " + std::to_string(*size));
    }
    if (param.is_tensor && !tensor.dtype.empty() && tensor.dtype != tir::to_string(param.element)) {
      fail(std::string(what) + " " + in_quotes(tensor.name) + " is " + tensor.dtype +
           " in metadata.json, but parameter " + in_quotes(param.name) + " is " + tir::to_string(param.element));
    }
    const auto range = param.is_tensor ? tir::range_of_type(param.element) : std::nullopt;
    if (range && tensor.quantization &&
        !Interval{tensor.quantization->zero_point, tensor.quantization->zero_point}.within(*range)) {
      fail(std::string(what) + " " + in_quotes(tensor.name) + " has the zero point " +
           std::to_string(tensor.quantization->zero_point) + " in metadata.json, which is no " +
           tir::to_string(param.element));
    }
    if (param.is_tensor && tensor.size && tensor.shape && tir::size_of(*tensor.shape, param.element) != tensor.size) {
      fail(std::string(what) + " " + in_quotes(tensor.name) + " has " + std::to_string(*tensor.size) +
           " bytes in metadata.json, which are not those of its shape");
    }
    return {.name = tensor.name, .member = {}, .param = index, .size = size.value_or(tensor.size.value_or(0))};
  }

  // The archive names no tensors: what the module writes is an output.
  void divide_by_writes() {
    const auto effects = program::param_effects(module_)[module_.entry];
    std::vector<std::size_t> outputs;
    for (const std::size_t i : tensors_) {
      if (effects[i].may_be_written()) outputs.push_back(i);
    }
    // Opaque callees may write all they are handed; then TVM's own names have to tell.
    if (outputs.size() == tensors_.size()) {
      std::erase_if(outputs, [&](std::size_t i) { return !is_default_output_name(entry_.params[i].name); });
    }
    for (const std::size_t i : outputs) {
      taken_[i] = true;
      // As TVM names the members: "output", or "output0", "output1", … if there are several.
      const std::string number = outputs.size() == 1 ? "" : std::to_string(interface_.outputs.size());
      interface_.outputs.push_back(
          {.name = "output" + number, .member = {}, .param = i, .size = tir::size_of(entry_.params[i]).value_or(0)});
    }
    for (const std::size_t i : free_tensors()) {
      taken_[i] = true;
      interface_.inputs.push_back({.name = entry_.params[i].name,
                                   .member = {},
                                   .param = i,
                                   .size = tir::size_of(entry_.params[i]).value_or(0)});
    }
  }

  void collect_devices() {
    const std::string prefix = "device_context_";  // TVM's name of the parameter of device "d" is "device_context_d"
    for (std::size_t i = 0; i < entry_.params.size(); ++i) {
      if (taken_[i]) continue;
      const std::string& name = entry_.params[i].name;
      const bool has_prefix = name.starts_with(prefix) && name.size() > prefix.size();
      interface_.devices.push_back(
          {.name = has_prefix ? name.substr(prefix.size()) : name, .member = {}, .param = i, .size = 0});
    }
  }

  static void name_members(std::vector<InterfaceTensor>& tensors) {
    UniqueNames names;
    for (InterfaceTensor& tensor : tensors) tensor.member = names.add(tensor.name);
  }

  const model::Description& info_;
  const tir::Module& module_;
  const tir::Function& entry_;
  std::vector<std::size_t> tensors_;  // indices of the parameters that may be inputs or outputs
  std::vector<bool> taken_;           // by parameter
  Interface interface_;
};

}  // namespace

Interface interface_of(const model::Description& info, const tir::Module& module) {
  return Matcher(info, module).run();
}

}  // namespace usmp::codegen
