// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Goes through the operators once to find what needs no code, then gives tensors storage, then drops what nobody reads.
#include "tflite/prepare.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tflite/file.hpp"
#include "tflite/operators.hpp"
#include "tflite/slices.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tflite {
namespace {

constexpr std::int32_t code_concatenation = 2;
constexpr std::int32_t code_conv_2d = 3;
constexpr std::int32_t code_depthwise_conv_2d = 4;
constexpr std::int32_t code_reshape = 22;
constexpr std::int32_t code_svdf = 27;
constexpr std::int32_t code_pad = 34;
constexpr std::int32_t code_gather = 36;
constexpr std::int32_t code_squeeze = 43;
constexpr std::int32_t code_lstm = 44;
constexpr std::int32_t code_strided_slice = 45;
constexpr std::int32_t code_cast = 53;
constexpr std::int32_t code_expand_dims = 70;
constexpr std::int32_t code_shape = 77;
constexpr std::int32_t code_pack = 83;
constexpr std::int32_t code_call_once = 129;
constexpr std::int32_t code_var_handle = 142;
constexpr std::int32_t code_read_variable = 143;
constexpr std::int32_t code_assign_variable = 144;

// Elements of a constant that is computed.
constexpr std::int64_t most_computed = 10000;
// Bytes of all states together: a small file may ask for any number.
constexpr std::int64_t max_states = std::int64_t{16} << 20U;

struct Refused {
  std::string message;
};

[[noreturn]] void refuse(std::string message) { throw Refused{std::move(message)}; }

bool is_view(std::int32_t code) { return code == code_reshape || code == code_squeeze || code == code_expand_dims; }

// A variable: a name that several handles share.
struct Variable {
  std::string name;
  std::optional<std::size_t> value;  // first one that is read or assigned: its type and shape
  std::string initial;
  std::optional<std::size_t> storage;
  std::vector<std::size_t> assigned;  // positions in order_
};

class Preparation {
 public:
  Preparation(const Model& model, std::vector<Fault>& faults)
      : model_(model), file_(model.subgraphs.front()), faults_(faults) {}

  Graph run() && {
    add_values();
    for (std::size_t i = 0; i < file_.operators.size(); ++i) {
      try {
        take(i);
      } catch (const Refused& refused) {
        faults_.push_back({i, refused.message});
      }
    }
    fold_padding();
    bind_variables();
    give_storage();
    drop_unread();
    return std::move(graph_);
  }

 private:
  // --- Values

  void add_values() {
    graph_.values.reserve(file_.tensors.size());
    for (std::size_t i = 0; i < file_.tensors.size(); ++i) {
      const Tensor& tensor = file_.tensors[i];
      Value value{.name = tensor.name,
                  .type = tensor.type,
                  .shape = tensor.shape,
                  .quantization = tensor.quantization,
                  .is_constant = tensor.is_constant || (count_of(tensor.shape) == 0 && bytes_of(tensor.type) > 0),
                  .data = tensor.data,
                  .storage = {},
                  .number = i};
      if (tensor.type == Type::int4) unpack(value);
      graph_.values.push_back(std::move(value));
    }
    sources_.resize(graph_.values.size());
  }

  // Two to a byte, the lower half first.
  void unpack(Value& value) {
    if (!value.is_constant) return;
    std::string bytes;
    const std::int64_t count = value.count();
    bytes.reserve(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) {
      const auto two = static_cast<std::uint8_t>(value.data[static_cast<std::size_t>(k / 2)]);
      const int half = k % 2 == 0 ? two & 15 : two >> 4;
      bytes += static_cast<char>(half < 8 ? half : half - 16);
    }
    value.type = Type::int8;
    set_data(value, std::move(bytes));
  }

  void set_data(Value& value, std::string bytes) {
    graph_.owned.push_back(std::move(bytes));
    value.data = graph_.owned.back();
    value.is_constant = true;
  }

  // --- Operators

  void check_tensors(const Operator& one) const {
    const auto check = [&](std::size_t tensor) {
      const std::string& fault = file_.tensors[tensor].fault;
      if (!fault.empty()) refuse(place_of_tensor(file_, tensor) + " " + fault);
    };
    for (const auto& input : one.inputs) {
      if (input) check(*input);
    }
    std::ranges::for_each(one.outputs, check);
  }

  void take(std::size_t index) {
    const Operator& one = file_.operators[index];
    const OperatorKind* kind = kind_of(one.code);
    if (kind == nullptr) {
      refuse(one.code == 32 ? "custom operator " + shown(one.custom) + " is not supported"
                            : "the operator is not supported");
    }
    if (one.inputs.size() < kind->least_inputs || one.inputs.size() > kind->most_inputs) {
      refuse("found " + counted(one.inputs.size(), "input") + ", supported: " + std::to_string(kind->least_inputs) +
             (kind->most_inputs == kind->least_inputs ? "" : " or more"));
    }
    const bool any_outputs = kind->outputs == 0 && kind->emit != nullptr;
    if (any_outputs ? one.outputs.empty() : one.outputs.size() != kind->outputs) {
      refuse("found " + counted(one.outputs.size(), "output") +
             ", supported: " + (any_outputs ? "1 or more" : std::to_string(kind->outputs)));
    }
    check_tensors(one);
    Node node{.kind = kind,
              .options = one.options,
              .inputs = one.inputs,
              .outputs = one.outputs,
              .intermediates = one.intermediates,
              .index = index};
    switch (one.code) {
      case code_call_once:
        return call_once(one);
      case code_var_handle:
        handles_[one.outputs[0]] = variable_named(one.options.shared_name);
        return;
      case code_read_variable:
        return read_variable(node);
      case code_assign_variable:
        return assign_variable(node);
      default:
        break;
    }
    if (is_view(one.code)) return view(node);
    if (computed(node)) return;
    order_.push_back(std::move(node));
  }

  void view(const Node& node) {
    const Value& input = graph_.values[required(node, 0)];
    Value& output = graph_.values[node.outputs[0]];
    if (input.type != output.type || input.count() != output.count()) {
      refuse("found " + std::string(name_of(input.type)) + " " + text_of(input.shape) + " that becomes " +
             name_of(output.type) + " " + text_of(output.shape) + ", supported: as many elements of one type");
    }
    if (input.is_constant) {
      output.data = input.data;
      output.is_constant = true;
      return;
    }
    sources_[node.outputs[0]] = required(node, 0);
  }

  static std::size_t required(const Node& node, std::size_t i) {
    if (i >= node.inputs.size() || !node.inputs[i]) refuse("found no input " + std::to_string(i));
    return *node.inputs[i];
  }

  // --- Constants that can be computed now: shapes, and what is made of them

  bool computed(const Node& node) {
    Value& output = graph_.values[node.outputs[0]];
    if ((output.type != Type::int32 && output.type != Type::int64) || output.count() > most_computed) return false;
    if (node.kind->code == code_shape) {
      const Shape& shape = graph_.values[required(node, 0)].shape;
      store(output, shape);
      return true;
    }
    std::vector<std::vector<std::int64_t>> inputs;
    for (const auto& index : node.inputs) {
      if (!index) return false;
      const Value& input = graph_.values[*index];
      if (!input.is_constant || (input.type != Type::int32 && input.type != Type::int64)) return false;
      inputs.push_back(integers_of(input));
    }
    const auto result = value_of(node, inputs);
    if (!result) return false;
    if (static_cast<std::int64_t>(result->size()) != output.count()) {
      refuse("found " + std::to_string(result->size()) + " elements for a tensor of " + text_of(output.shape));
    }
    store(output, *result);
    return true;
  }

  void store(Value& output, const std::vector<std::int64_t>& values) {
    if (static_cast<std::int64_t>(values.size()) != output.count()) {
      refuse("found a shape of " + std::to_string(values.size()) + " dimensions for a tensor of " +
             text_of(output.shape));
    }
    std::string bytes;
    const auto width = static_cast<std::size_t>(bytes_of(output.type));
    for (const std::int64_t value : values) {
      for (std::size_t b = 0; b < width; ++b) bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * b));
    }
    set_data(output, std::move(bytes));
  }

  // Computes lists alone.
  std::optional<std::vector<std::int64_t>> value_of(const Node& node,
                                                    const std::vector<std::vector<std::int64_t>>& inputs) {
    const Shape& shape = graph_.values[*node.inputs[0]].shape;
    switch (node.kind->code) {
      case code_cast:
        return inputs[0];
      case code_pack:
      case code_concatenation: {
        const bool are_lists = std::ranges::all_of(node.inputs, [&](const auto& input) {
          return graph_.values[*input].shape.size() <= (node.kind->code == code_pack ? 0U : 1U);
        });
        if (!are_lists) return std::nullopt;
        std::vector<std::int64_t> all;
        for (const auto& input : inputs) all.insert(all.end(), input.begin(), input.end());
        return all;
      }
      case code_gather: {
        if (shape.size() != 1) return std::nullopt;
        std::vector<std::int64_t> taken;
        for (const std::int64_t i : inputs[1]) {
          if (i < 0 || i >= shape[0]) return std::nullopt;
          taken.push_back(inputs[0][static_cast<std::size_t>(i)]);
        }
        return taken;
      }
      case code_strided_slice: {
        if (shape.size() != 1) return std::nullopt;
        std::string fault;
        const auto slice = slice_of(node.options, shape, inputs[1], inputs[2], inputs[3], fault);
        if (!slice) refuse(fault);
        std::vector<std::int64_t> taken;
        for (std::int64_t i = 0; i < slice->count[0]; ++i) {
          const std::int64_t at = slice->begin[0] + i * slice->stride[0];
          if (at < 0 || at >= shape[0]) return std::nullopt;
          taken.push_back(inputs[0][static_cast<std::size_t>(at)]);
        }
        return taken;
      }
      default:
        return std::nullopt;
    }
  }

  // --- Variables

  std::size_t variable_named(const std::string& name) {
    const auto [known, is_new] = variable_names_.emplace(name, variables_.size());
    if (is_new) variables_.emplace_back().name = name;
    return known->second;
  }

  Variable& variable_of(std::size_t handle) {
    const auto found = handles_.find(handle);
    if (found == handles_.end()) refuse("found a handle that no VAR_HANDLE makes");
    return variables_[found->second];
  }

  void use_as(Variable& variable, std::size_t index) {
    const Value& value = graph_.values[index];
    if (!variable.value) {
      variable.value = index;
      return;
    }
    const Value& known = graph_.values[*variable.value];
    if (known.type != value.type || known.count() != value.count()) {
      refuse("found a variable that is " + std::string(name_of(known.type)) + " " + text_of(known.shape) + " and " +
             name_of(value.type) + " " + text_of(value.shape));
    }
  }

  void read_variable(Node node) {
    Variable& variable = variable_of(required(node, 0));
    use_as(variable, node.outputs[0]);
    node.inputs = {};
    reads_.push_back({handles_.at(*file_.operators[node.index].inputs[0]), order_.size(), node.outputs[0]});
    order_.push_back(std::move(node));
  }

  void assign_variable(Node node) {
    Variable& variable = variable_of(required(node, 0));
    const std::size_t value = required(node, 1);
    use_as(variable, value);
    variable.assigned.push_back(order_.size());
    node.inputs = {value};
    assigns_.push_back({handles_.at(*file_.operators[node.index].inputs[0]), order_.size(), value});
    order_.push_back(std::move(node));
  }

  // A subgraph that assigns constants to variables.
  void call_once(const Operator& one) {
    const std::int64_t number = one.options.subgraph;
    if (number <= 0 || number >= static_cast<std::int64_t>(model_.subgraphs.size())) {
      refuse("found subgraph " + std::to_string(number) + " of " + std::to_string(model_.subgraphs.size()));
    }
    const Subgraph& graph = model_.subgraphs[static_cast<std::size_t>(number)];
    std::map<std::size_t, std::size_t> handles;
    for (const Operator& step : graph.operators) {
      if (step.code == code_var_handle && step.outputs.size() == 1) {
        handles[step.outputs[0]] = variable_named(step.options.shared_name);
        continue;
      }
      const bool assigns = step.code == code_assign_variable && step.inputs.size() == 2 && step.inputs[0] &&
                           step.inputs[1] && handles.contains(*step.inputs[0]);
      if (!assigns || !graph.tensors[*step.inputs[1]].is_constant) {
        refuse("found " + name_of_code(step.code) + " in subgraph " + std::to_string(number) +
               ", supported: constants that are assigned to variables");
      }
      variables_[handles.at(*step.inputs[0])].initial = std::string(graph.tensors[*step.inputs[1]].data);
    }
  }

  // --- Padding of convolutions

  // A PAD of lines and columns with zero points, all of whose readers are convolutions, becomes theirs.
  void fold_padding() {
    std::map<std::size_t, std::vector<std::size_t>> readers;  // nodes that read a value
    for (std::size_t i = 0; i < order_.size(); ++i) {
      for (const auto& input : order_[i].inputs) {
        if (input) readers[*input].push_back(i);
      }
    }
    std::set<std::size_t> shared;  // values that are views' sources or outputs
    for (const auto& source : sources_) {
      if (source) shared.insert(*source);
    }
    shared.insert(file_.outputs.begin(), file_.outputs.end());
    std::vector<bool> gone(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Node& node = order_[i];
      if (node.kind->code != code_pad || shared.contains(node.outputs[0])) continue;
      const auto padding = padding_of(node);
      const std::vector<std::size_t>& users = readers[node.outputs[0]];
      const bool all_convolve = std::ranges::all_of(users, [&](std::size_t user) {
        const Node& reader = order_[user];
        const std::int32_t code = reader.kind->code;
        return (code == code_conv_2d || code == code_depthwise_conv_2d) && reader.inputs[0] == node.outputs[0] &&
               std::ranges::count(reader.inputs, std::optional(node.outputs[0])) == 1;
      });
      if (!padding || !all_convolve || users.empty()) continue;
      for (const std::size_t user : users) {
        order_[user].inputs[0] = node.inputs[0];
        order_[user].padding = *padding;
      }
      gone[i] = true;
    }
    remove(gone);
  }

  std::optional<std::array<std::int64_t, 4>> padding_of(const Node& node) const {
    if (!node.inputs[0] || !node.inputs[1]) return std::nullopt;
    const Value& input = graph_.values[*node.inputs[0]];
    const Value& output = graph_.values[node.outputs[0]];
    const Value& sizes = graph_.values[*node.inputs[1]];
    const bool is_image = input.shape.size() == 4 && sizes.is_constant && sizes.count() == 8 &&
                          (sizes.type == Type::int32 || sizes.type == Type::int64) && input.type == output.type;
    if (!is_image) return std::nullopt;
    if (input.type != Type::float32) {
      const bool is_alike = input.quantization.scales.size() == 1 &&
                            input.quantization.scales == output.quantization.scales &&
                            input.quantization.zero_points == output.quantization.zero_points;
      if (!is_alike) return std::nullopt;
    }
    const std::vector<std::int64_t> p = integers_of(sizes);
    constexpr std::int64_t most = 1 << 16;
    const bool is_of_image = p[0] == 0 && p[1] == 0 && p[6] == 0 && p[7] == 0 &&
                             std::ranges::all_of(p, [](std::int64_t one) { return one >= 0 && one <= most; });
    if (!is_of_image) return std::nullopt;
    return std::array<std::int64_t, 4>{p[2], p[3], p[4], p[5]};
  }

  // Positions in order_ that were noted move along.
  void remove(const std::vector<bool>& gone) {
    std::vector<std::size_t> place(order_.size() + 1);
    std::vector<Node> left;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      place[i] = left.size();
      if (!gone[i]) left.push_back(std::move(order_[i]));
    }
    place[order_.size()] = left.size();
    order_ = std::move(left);
    for (Access& one : reads_) one.position = place[one.position];
    for (Access& one : assigns_) one.position = place[one.position];
    for (Variable& variable : variables_) {
      for (std::size_t& position : variable.assigned) position = place[position];
    }
  }

  // --- Storage

  // The value that a chain of views shows.
  std::size_t root_of(std::size_t value) const {
    while (sources_[value]) value = *sources_[value];
    return value;
  }

  std::size_t add_storage(Storage::Kind kind, const Value& value, std::string name) {
    graph_.storages.push_back({kind, std::move(name), value.type, value.count(), {}});
    return graph_.storages.size() - 1;
  }

  // Whether the state is within what all of them may have; else that is a fault of the operator.
  bool take_state(const Value& value, std::size_t operation) {
    if (value.count() > state_left_ / bytes_of(value.type)) {
      faults_.push_back({operation, "found states of more than " + std::to_string(max_states) + " bytes"});
      return false;
    }
    state_left_ -= value.count() * bytes_of(value.type);
    return true;
  }

  std::string initial_of(const Value& value) const {
    const auto bytes = static_cast<std::size_t>(value.count() * bytes_of(value.type));
    const std::int64_t zero = value.type == Type::float32 || !value.quantization.is_there() ? 0 : value.zero_point();
    if (bytes_of(value.type) == 1) return std::string(bytes, static_cast<char>(zero));
    std::string result(bytes, '\0');
    if (value.type == Type::int16) {
      for (std::size_t i = 0; i < bytes; ++i) {
        result[i] = static_cast<char>(static_cast<std::uint64_t>(zero) >> (8 * (i % 2)));
      }
    }
    return result;
  }

  // What reads a variable sees its storage, unless it is assigned before the last use: then it is copied. What is
  // assigned is written there at once, where nobody reads the variable between.
  void bind_variables() {
    std::map<std::size_t, std::size_t> last_use;  // of roots, reads included; by position
    std::map<std::size_t, std::size_t> producer;
    const auto note_uses = [&] {
      last_use.clear();
      producer.clear();
      for (std::size_t i = 0; i < order_.size(); ++i) {
        for (const auto& input : order_[i].inputs) {
          if (input) last_use[root_of(*input)] = i;
        }
        for (const std::size_t output : order_[i].outputs) producer[output] = i;
      }
      for (const std::size_t output : file_.outputs) last_use[root_of(output)] = order_.size();
    };
    for (Variable& variable : variables_) {
      if (!variable.value) continue;
      const Value& value = graph_.values[*variable.value];
      const std::size_t operation = order_[variable.assigned.empty() ? 0 : variable.assigned[0]].index;
      const bool is_taken = take_state(value, operation);
      variable.storage = add_storage(Storage::Kind::state, value, variable.name);
      Storage& storage = graph_.storages[*variable.storage];
      if (is_taken) storage.initial = variable.initial.empty() ? initial_of(value) : variable.initial;
      if (is_taken && storage.initial.size() != static_cast<std::size_t>(value.count() * bytes_of(value.type))) {
        faults_.push_back(
            {operation, "found a variable that begins with " + std::to_string(storage.initial.size()) + " bytes"});
      }
      graph_.states.push_back(*variable.storage);
    }
    note_uses();
    std::vector<bool> gone(order_.size());
    std::map<std::size_t, std::vector<std::pair<std::size_t, std::size_t>>> seen;  // variable → [read, last use]
    for (const Access& read : reads_) {
      const Variable& variable = variables_[read.variable];
      const std::size_t last = last_use.contains(read.value) ? last_use[read.value] : read.position;
      const bool is_overwritten =
          std::ranges::any_of(variable.assigned, [&](std::size_t at) { return at > read.position && at < last; });
      if (is_overwritten || last == order_.size()) {
        order_[read.position].kind = &copy_kind();
        order_[read.position].inputs = {state_value(variable)};
        seen[read.variable].emplace_back(read.position, read.position);
        continue;
      }
      graph_.values[read.value].storage = variable.storage;
      seen[read.variable].emplace_back(read.position, last);
      gone[read.position] = true;
    }
    for (const Access& assign : assigns_) {
      const Variable& variable = variables_[assign.variable];
      const std::size_t root = root_of(assign.value);
      Value& value = graph_.values[root];
      Node& node = order_[assign.position];
      node.kind = &copy_kind();
      node.inputs = {assign.value};
      const auto made = producer.find(root);
      const bool is_inner = !value.is_constant && !value.storage && made != producer.end() && !gone[made->second] &&
                            order_[made->second].kind->code != code_read_variable;
      const bool is_output =
          std::ranges::any_of(file_.outputs, [&](std::size_t output) { return root_of(output) == root; });
      // Between the two nobody reads or assigns it.
      const bool is_free = is_inner && !is_output &&
                           std::ranges::none_of(seen[assign.variable],
                                                [&](const auto& read) {
                                                  return read.first < assign.position && read.second >= made->second;
                                                }) &&
                           std::ranges::none_of(variable.assigned, [&](std::size_t at) {
                             return at != assign.position && at >= made->second && at <= last_use[root];
                           });
      if (is_free) {
        value.storage = variable.storage;
        gone[assign.position] = true;
        continue;
      }
      node.outputs = {state_value(variable)};
    }
    remove(gone);
  }

  // A value that is the variable.
  std::size_t state_value(const Variable& variable) {
    Value value = graph_.values[*variable.value];
    value.storage = variable.storage;
    value.is_constant = false;
    graph_.values.push_back(std::move(value));
    sources_.emplace_back();
    return graph_.values.size() - 1;
  }

  void give_storage() {
    for (std::size_t i = 0; i < file_.inputs.size(); ++i) {
      Value& value = graph_.values[file_.inputs[i]];
      const std::string& fault = file_.tensors[file_.inputs[i]].fault;
      if (!fault.empty()) {
        throw Error(ErrorKind::archive, {{}, {}, "input " + std::to_string(i)},
                    place_of_tensor(file_, file_.inputs[i]) + " " + fault);
      }
      value.storage = add_storage(Storage::Kind::input, value, model_.input_names[i]);
      graph_.inputs.push_back(*value.storage);
      graph_.input_values.push_back(file_.inputs[i]);
    }
    add_operator_states();
    const auto give = [&](std::size_t output) {
      Value& value = graph_.values[output];
      const bool has_one = value.storage || value.is_constant || sources_[output];
      if (!has_one) value.storage = add_storage(Storage::Kind::inner, value, value.name);
    };
    for (const Node& node : order_) std::ranges::for_each(node.outputs, give);
    // Those of operators that are not supported: what reads them may be.
    for (const Operator& one : file_.operators) std::ranges::for_each(one.outputs, give);
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      if (sources_[i]) graph_.values[i].storage = graph_.values[root_of(i)].storage;
    }
    for (std::size_t i = 0; i < file_.outputs.size(); ++i) add_output(i);
    graph_.nodes = std::move(order_);
  }

  // SVDF and LSTM keep what is_variable tensors hold.
  void add_operator_states() {
    for (const Node& node : order_) {
      if (node.kind->code != code_svdf && node.kind->code != code_lstm) continue;
      for (const auto& input : node.inputs) {
        if (!input || !file_.tensors[*input].is_variable || graph_.values[*input].storage) continue;
        Value& value = graph_.values[*input];
        value.storage = add_storage(Storage::Kind::state, value, value.name);
        if (take_state(value, node.index)) graph_.storages[*value.storage].initial = initial_of(value);
        graph_.states.push_back(*value.storage);
      }
    }
  }

  // The writer of inner storage writes the output; an input, a constant, a state or another output is copied.
  void add_output(std::size_t i) {
    const std::size_t index = file_.outputs[i];
    const std::string& fault = file_.tensors[index].fault;
    if (!fault.empty()) {
      throw Error(ErrorKind::archive, {{}, {}, "output " + std::to_string(i)},
                  place_of_tensor(file_, index) + " " + fault);
    }
    Value& value = graph_.values[index];
    graph_.output_values.push_back(index);
    if (value.storage && graph_.storages[*value.storage].kind == Storage::Kind::inner) {
      Storage& storage = graph_.storages[*value.storage];
      storage.kind = Storage::Kind::output;
      storage.name = model_.output_names[i];
      graph_.outputs.push_back(*value.storage);
      return;
    }
    Value copied = value;
    copied.is_constant = false;
    copied.storage = add_storage(Storage::Kind::output, value, model_.output_names[i]);
    graph_.outputs.push_back(*copied.storage);
    graph_.values.push_back(std::move(copied));
    sources_.emplace_back();
    order_.push_back({.kind = &copy_kind(),
                      .options = {},
                      .inputs = {index},
                      .outputs = {graph_.values.size() - 1},
                      .intermediates = {},
                      .index = file_.operators.size()});
  }

  // Operators whose outputs are not read, and are no outputs of the model nor states.
  void drop_unread() {
    std::vector<bool> is_read(graph_.storages.size());
    for (std::size_t i = 0; i < graph_.storages.size(); ++i) {
      is_read[i] = graph_.storages[i].kind == Storage::Kind::output || graph_.storages[i].kind == Storage::Kind::state;
    }
    std::vector<Node> kept;
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      Node& node = graph_.nodes[i];
      const bool is_needed = std::ranges::any_of(node.outputs,
                                                 [&](std::size_t output) {
                                                   const auto& storage = graph_.values[output].storage;
                                                   return storage && is_read[*storage];
                                                 }) ||
                             std::ranges::any_of(node.inputs, [&](const auto& input) {
                               const auto storage = input ? graph_.values[*input].storage : std::nullopt;
                               return storage && graph_.storages[*storage].kind == Storage::Kind::state &&
                                      (node.kind->code == code_svdf || node.kind->code == code_lstm);
                             });
      if (!is_needed) continue;
      for (const auto& input : node.inputs) {
        if (input && graph_.values[*input].storage) is_read[*graph_.values[*input].storage] = true;
      }
      kept.push_back(std::move(node));
    }
    std::ranges::reverse(kept);
    graph_.nodes = std::move(kept);
  }

  struct Access {
    std::size_t variable = 0;
    std::size_t position = 0;  // in order_
    std::size_t value = 0;
  };

  const Model& model_;
  const Subgraph& file_;
  std::vector<Fault>& faults_;
  std::int64_t state_left_ = max_states;  // bytes
  Graph graph_;
  std::vector<Node> order_;
  std::vector<std::optional<std::size_t>> sources_;  // of views: what they show
  std::map<std::string, std::size_t> variable_names_;
  std::vector<Variable> variables_;
  std::map<std::size_t, std::size_t> handles_;  // values → variables
  std::vector<Access> reads_;
  std::vector<Access> assigns_;
};

}  // namespace

Graph prepare(const Model& model, std::vector<Fault>& faults) { return Preparation(model, faults).run(); }

}  // namespace usmp::tflite
