// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs random models on both sides.
#include "tflite_random/campaign.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "random_modules/interpreter.hpp"
#include "tflite_random/generate.hpp"
#include "tflite_random/interpreter.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tflite/reader.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::tflite_random {
namespace {

constexpr std::size_t patience = 100;

std::vector<Run> reference_runs(const RandomModel& random) {
  Interpreter interpreter(random.model);
  std::vector<Run> runs;
  for (const std::vector<std::string>& inputs : random.inputs) runs.push_back({inputs, interpreter.run(inputs)});
  return runs;
}

// The first operator whose output is another one, if all outputs are the model's.
std::string place_of(const RandomModel& random) {
  RandomModel open = random;
  Graph& graph = open.model.graphs.front();
  graph.outputs.clear();
  std::vector<std::size_t> makers;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    for (const int output : graph.operators[i].outputs) {
      if (graph.tensors[static_cast<std::size_t>(output)].type == Type::resource) continue;
      graph.outputs.push_back(output);
      makers.push_back(i);
    }
  }
  const std::string file = file_of(open.model, open.style);
  const std::vector<Run> runs = reference_runs(open);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    Model one = open.model;
    one.graphs.front().outputs = {graph.outputs[i]};
    std::vector<Run> its = runs;
    for (Run& run : its) run.outputs = {run.outputs[i]};
    const std::string fault = product_fault(file_of(one, open.style), one, its, false);
    if (!fault.empty()) return "; first by operator " + std::to_string(makers[i]) + " (" + fault + ")";
  }
  return "";
}

struct Outcome {
  bool is_undefined = false;
  bool is_transformed = false;
  std::string fault;
  std::vector<std::string> operators;
};

Outcome check(std::uint64_t seed, const Settings& settings) {
  Outcome outcome;
  const RandomModel random = random_model(seed);
  std::vector<Run> runs;
  try {
    runs = reference_runs(random);
  } catch (const Undefined&) {
    outcome.is_undefined = true;
    return outcome;
  } catch (const std::exception& error) {
    outcome.fault = std::string("the reference: ") + error.what();
    return outcome;
  }
  const Graph& graph = random.model.graphs.front();
  for (const Operator& op : graph.operators) {
    const int tensor = op.outputs.empty() ? -1 : op.outputs.front();
    const std::string type = tensor < 0 ? "" : name_of(graph.tensors[static_cast<std::size_t>(tensor)].type);
    outcome.operators.push_back(std::to_string(static_cast<int>(op.code)) + " " + type);
  }
  const std::string file = file_of(random.model, random.style);
  try {
    outcome.fault = product_fault(file, random.model, runs, false);
    if (!outcome.fault.empty()) outcome.fault += place_of(random);
    if (outcome.fault.empty() && settings.transform_every > 0 && seed % settings.transform_every == 0) {
      outcome.is_transformed = true;
      outcome.fault = product_fault(file, random.model, runs, true);
      if (!outcome.fault.empty()) outcome.fault += " after transformations";
    }
  } catch (const std::exception& error) {
    outcome.fault = error.what();
  }
  if (outcome.fault.empty() && !settings.folder.empty() && seed % settings.write_every == 0) {
    write_golden(settings.folder, "random_" + std::to_string(seed), file, random.model, runs);
  }
  return outcome;
}

}  // namespace

std::string product_fault(const std::string& file, const Model& model, const std::vector<Run>& runs,
                          bool is_transformed) {
  tflite::ReadModel read = tflite::read_model(file, "m");
  if (is_transformed) {
    const std::vector<transform::Step> steps(std::begin(transform::all_steps), std::end(transform::all_steps));
    read.module = transform::transform(read.module, {.steps = steps}).module();
  }
  std::vector<std::string> states;
  for (const model::State& state : read.description.states) states.push_back(state.initial);
  const Graph& graph = model.graphs.front();
  const std::size_t inputs = graph.inputs.size();
  const std::size_t outputs = graph.outputs.size();
  if (read.description.inputs.size() != inputs || read.description.outputs.size() != outputs) {
    return "another interface";
  }
  for (std::size_t run = 0; run < runs.size(); ++run) {
    std::vector<random_modules::Argument> arguments;
    for (const std::string& input : runs[run].inputs) arguments.push_back({input.size(), input});
    for (const std::string& output : runs[run].outputs) arguments.push_back({output.size(), std::nullopt});
    for (const std::string& state : states) arguments.push_back({state.size(), state});
    const random_modules::Outcome found = random_modules::Interpreter(read.module, patience).run(arguments);
    for (std::size_t i = 0; i < outputs; ++i) {
      const Tensor& tensor = graph.tensors[static_cast<std::size_t>(graph.outputs[i])];
      const std::string& bytes = found.memory.instances()[found.params[inputs + i]].bytes;
      const std::size_t count = differences(tensor.type, runs[run].outputs[i], bytes);
      if (count > 0) {
        return "run " + std::to_string(run) + ", output " + std::to_string(i) + ": " + std::to_string(count) + " of " +
               std::to_string(elements_of(tensor.shape)) + " elements differ";
      }
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      states[i] = found.memory.instances()[found.params[inputs + outputs + i]].bytes;
    }
  }
  return "";
}

Totals run_campaign(const Settings& settings, const std::function<void(const Totals&)>& progress) {
  Totals totals;
  if (!settings.folder.empty()) std::filesystem::create_directories(settings.folder);
  std::mutex mutex;
  std::atomic<std::uint64_t> next = 0;
  const auto work = [&] {
    while (true) {
      const std::uint64_t i = next++;
      if (i >= settings.count) return;
      const Outcome outcome = check(settings.seed + i, settings);
      const std::scoped_lock lock(mutex);
      ++totals.models;
      totals.undefined += outcome.is_undefined ? 1U : 0U;
      totals.transformed += outcome.is_transformed ? 1U : 0U;
      const bool is_written = outcome.fault.empty() && !outcome.is_undefined && !settings.folder.empty() &&
                              (settings.seed + i) % settings.write_every == 0;
      totals.written += is_written ? 1U : 0U;
      for (const std::string& op : outcome.operators) ++totals.operators[op];
      if (!outcome.fault.empty()) totals.failures.push_back({settings.seed + i, outcome.fault});
      if (progress) progress(totals);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < settings.jobs; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  std::sort(totals.failures.begin(), totals.failures.end(),
            [](const Failure& a, const Failure& b) { return a.seed < b.seed; });
  return totals;
}

std::string print(const Model& model) {
  std::ostringstream out;
  for (const Graph& graph : model.graphs) {
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
      const Tensor& tensor = graph.tensors[i];
      out << "tensor " << i << ": " << name_of(tensor.type);
      for (const int extent : tensor.shape) out << ' ' << extent;
      if (!tensor.scales.empty()) {
        out << ", " << tensor.scales.size() << " scales from " << tensor.scale() << ", zero point "
            << tensor.zero_point();
      }
      if (tensor.data) out << ", constant";
      if (tensor.data && tensor.type == Type::int32 && elements_of(tensor.shape) < 12) {
        out << ':';
        for (const std::int64_t value : values_of(*tensor.data, Type::int32).whole) out << ' ' << value;
      }
      if (tensor.is_variable) out << ", variable";
      out << '\n';
    }
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      const Operator& op = graph.operators[i];
      out << "operator " << i << ": " << static_cast<int>(op.code) << '(';
      for (const int input : op.inputs) out << ' ' << input;
      out << " ) →";
      for (const int output : op.outputs) out << ' ' << output;
      for (const auto& [name, value] : op.options) out << ' ' << name << '=' << value;
      for (const int value : op.list) out << ' ' << value;
      out << op.text << '\n';
    }
    out << "outputs:";
    for (const int output : graph.outputs) out << ' ' << output;
    out << '\n';
  }
  return out.str();
}

}  // namespace usmp::tflite_random
