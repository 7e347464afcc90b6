// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads the metadata of all versions of the format.
#include "usmp/mlf/metadata.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <utility>

#include "mlf/json_document.hpp"
#include "mlf/modules.hpp"
#include "usmp/support/base64.hpp"
#include "usmp/support/text.hpp"

namespace usmp::mlf {
namespace {

using nlohmann::json;

constexpr int flat_version = 5;     // TVM 0.8
constexpr int modules_version = 7;  // TVM 0.9 to 0.18
constexpr std::size_t max_modules = 100;

int read_version(const JsonPlace& root) {
  const auto place = root.member("version");
  if (!place) throw root.fault("there is no \"version\", expected 5 or 7");
  const json& value = place->value();
  const bool known =
      value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 && value.get<std::uint64_t>() <= modules_version;
  if (!known) throw place->fault("found version " + value.dump(-1, ' ', true).substr(0, 40) + ", expected 5 or 7");
  return value.get<int>() <= flat_version ? flat_version : modules_version;
}

// Members are found by the name, and files are written under it.
void check_name(const JsonPlace& module, const std::string& name) {
  const bool bad_character = std::any_of(name.begin(), name.end(), [](char c) {
    return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  constexpr std::size_t max_length = 200;
  if (name.empty() || name.size() > max_length || name.front() == '.' || bad_character) {
    throw module.fault("the module's name cannot be part of a file name, expected something like \"default\"");
  }
}

// Every style and executor but the full model run ahead of time is some other program's business.
void check_plannable(const JsonPlace& module) {
  if (const auto style = module.member("style"); style && style->string() != "full-model") {
    throw style->fault("found style \"" + style->string() +
                       "\", expected \"full-model\": only whole models can be planned");
  }
  for (const char* key : {"executors", "runtimes"}) {
    const auto list = module.member(key);
    if (!list) continue;
    std::string found;
    bool has_aot = false;
    for (std::size_t i = 0; i < list->elements(); ++i) {
      const std::string name = list->element(i)->string();
      has_aot = has_aot || name == "aot";
      found += (found.empty() ? "\"" : ", \"") + name + "\"";
    }
    if (has_aot) continue;
    throw list->fault("found " + (found.empty() ? "an empty list" : found) +
                      ", expected \"aot\": the graph executor plans memory at run time; compile with --executor=aot");
  }
}

// What archives have that were made of TensorFlow Lite models: shape, scale and zero_point.
void read_numbers(const JsonPlace& fields, model::Tensor& tensor) {
  if (const auto shape = fields.member("shape")) {
    tensor.shape.emplace();
    for (std::size_t i = 0; i < shape->elements(); ++i) tensor.shape->push_back(shape->element(i)->extent());
  }
  const auto scale = fields.member("scale");
  if (!scale) return;
  const auto zero_point = fields.member("zero_point");
  const auto value = static_cast<float>(scale->number());
  if (!(value > 0) || !std::isfinite(value)) throw scale->fault("expected a finite scale above 0");
  tensor.quantization = {value, zero_point ? zero_point->integer() : 0};
}

// The same: what the model keeps from run to run.
std::vector<model::State> read_states(const JsonPlace& main) {
  std::vector<model::State> states;
  const auto list = main.member("state");
  for (std::size_t i = 0; list && i < list->elements(); ++i) {
    const auto place = list->element(i);
    const auto field = [&](const char* name) {
      const auto found = place->member(name);
      if (!found) throw place->fault(std::string("there is no \"") + name + "\"");
      return *found;
    };
    const JsonPlace initial = field("initial");
    DecodedBase64 decoded = decode_base64(initial.string());
    if (!decoded.fault.empty()) throw initial.fault(decoded.fault);
    const JsonPlace name = field("name");
    if (c_identifier(name.string()) != name.string()) throw name.fault("found no C identifier");
    states.push_back({name.string(), field("dtype").string(), std::move(decoded.bytes)});
    const JsonPlace size = field("size");
    if (size.bytes() != static_cast<Bytes>(states.back().initial.size())) {
      throw size.fault("found " + bytes_text(size.bytes()) + ", expected the " +
                       bytes_text(static_cast<Bytes>(states.back().initial.size())) + " of \"initial\"");
    }
  }
  return states;
}

json tensors_json(const std::vector<model::Tensor>& tensors) {
  json list = json::object();
  for (const model::Tensor& tensor : tensors) {
    json& fields = list[tensor.name];
    fields = {{"dtype", tensor.dtype}, {"size", tensor.size.value_or(0)}};
    if (tensor.shape) fields["shape"] = *tensor.shape;
    if (!tensor.quantization) continue;
    fields["scale"] = static_cast<double>(tensor.quantization->scale);
    fields["zero_point"] = tensor.quantization->zero_point;
  }
  return list;
}

Bytes bytes_of(const std::vector<model::Tensor>& tensors) {
  Bytes sum = 0;
  for (const model::Tensor& tensor : tensors) sum += tensor.size.value_or(0);
  return sum;
}

constexpr int indent = 2;  // as Python's json.dumps, which TVM uses

std::vector<model::Tensor> read_tensors(const JsonPlace& main, const std::string& key) {
  std::vector<model::Tensor> tensors;
  const auto map = main.member(key);
  if (!map) return tensors;
  for (const auto& [name, ignored] : map->object()) {
    model::Tensor tensor{.name = name, .dtype = "", .size = std::nullopt};
    if (const auto fields = map->member(name)) {
      if (const auto dtype = fields->member("dtype")) tensor.dtype = dtype->string();
      if (const auto size = fields->member("size")) tensor.size = size->bytes();
      read_numbers(*fields, tensor);
    }
    tensors.push_back(std::move(tensor));
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const model::Tensor& a, const model::Tensor& b) { return natural_less(a.name, b.name); });
  return tensors;
}

model::Description read_module(const Archive& archive, const JsonPlace& place, const std::string& name) {
  check_name(place, name);
  check_plannable(place);
  model::Description module;
  module.name = name;
  const std::string tir = "src/" + name + ".tir.json";
  if (archive.find(tir) != nullptr) module.tir_member = tir;
  auto memory = place.member("memory");
  if (memory && memory->value().is_array()) memory.reset();  // development versions of TVM: other content
  const auto functions = memory ? memory->member("functions") : std::nullopt;
  const auto mains = functions ? functions->member("main") : std::nullopt;
  if (const auto main = mains ? mains->element(0) : std::nullopt) {
    if (const auto size = main->member("workspace_size_bytes")) module.workspace_bytes = size->bytes();
    module.inputs = read_tensors(*main, "inputs");
    module.outputs = read_tensors(*main, "outputs");
    module.states = read_states(*main);
  }
  order_tensors(archive, module);
  return module;
}

// main has an entry a device; the figures are those of the whole module.
void update_functions(json& functions, const MemoryFigures& figures) {
  if (json* mains = functions.contains("main") ? &functions["main"] : nullptr; mains != nullptr && mains->is_array()) {
    for (json& main : *mains) {
      if (!main.is_object()) continue;
      main["workspace_size_bytes"] = figures.workspace_bytes;
      main["constants_size_bytes"] = figures.constants_bytes;
    }
  }
  if (!functions.contains("operator_functions") || !functions["operator_functions"].is_array()) return;
  for (json& function : functions["operator_functions"]) {
    if (!function.is_object() || !function.contains("workspace") || !function["workspace"].is_array()) continue;
    for (json& workspace : function["workspace"]) {
      if (workspace.is_object()) workspace["workspace_size_bytes"] = 0;
    }
  }
}

}  // namespace

Metadata read_metadata(const Archive& archive) {
  if (archive.is_checkout && archive.find("metadata.json") == nullptr) {
    Metadata found{.version = modules_version, .modules = {}};
    for (const std::string& name : modules_in(archive)) found.modules.push_back(module_without_metadata(archive, name));
    find_libraries(archive, found.modules);
    return found;
  }
  const json document = parse_metadata(archive);
  const JsonPlace root(archive, document, "");
  Metadata metadata;
  check_plannable(root);  // archives of single operators are flat whatever their version
  metadata.version = read_version(root);
  if (const auto modules = root.member("modules")) {
    if (modules->object().size() > max_modules) {
      throw modules->fault("more than " + std::to_string(max_modules) + " modules, the limit");
    }
    for (const auto& [name, ignored] : modules->object()) {
      const auto place = modules->member(name);
      if (!place) throw modules->fault("module \"" + name + "\" is null, expected an object");
      metadata.modules.push_back(read_module(archive, *place, name));
    }
    if (metadata.modules.empty()) throw modules->fault("there are no modules");
  } else {
    const auto name = root.member("model_name");
    if (!name) throw root.fault("there is neither \"modules\" nor \"model_name\"");
    metadata.modules.push_back(read_module(archive, root, name->string()));
  }
  find_libraries(archive, metadata.modules);
  return metadata;
}

std::string updated_metadata(const Archive& archive, const std::vector<MemoryFigures>& figures) {
  json document = parse_metadata(archive);
  for (const MemoryFigures& entry : figures) {
    json* module = &document;
    if (document.contains("modules")) {
      assert(document["modules"].contains(entry.module));
      module = &document["modules"][entry.module];
    }
    if (!module->is_object() || !module->contains("memory")) continue;
    json& memory = (*module)["memory"];
    if (memory.is_object() && memory.contains("functions") && memory["functions"].is_object()) {
      update_functions(memory["functions"], entry);
    }
  }
  return document.dump(indent, ' ', true);
}

std::string new_metadata(const model::Description& module, const UnplannedFigures& figures) {
  constexpr int cpu = 1;  // TVM's number of this kind of device
  json states = json::array();
  for (const model::State& state : module.states) {
    states.push_back({{"name", state.name},
                      {"dtype", state.dtype},
                      {"size", state.initial.size()},
                      {"initial", encode_base64(state.initial)}});
  }
  json main = {{"device", cpu},
               {"workspace_size_bytes", figures.workspace_bytes},
               {"constants_size_bytes", figures.constants_bytes},
               {"io_size_bytes", bytes_of(module.inputs) + bytes_of(module.outputs)},
               {"inputs", tensors_json(module.inputs)},
               {"outputs", tensors_json(module.outputs)}};
  if (!states.empty()) main["state"] = std::move(states);
  json operators = json::array();
  for (const auto& [name, bytes] : figures.workspace_of) {
    const json workspace = {{"device", cpu}, {"workspace_size_bytes", bytes}};
    operators.push_back({{"function_name", name}, {"workspace", json::array({workspace})}});
  }
  const json memory = {{"functions", {{"main", json::array({std::move(main)})}, {"operator_functions", operators}}}};
  const json described = {{"model_name", module.name},
                          {"memory", memory},
                          {"target", json::array({"c -keys=cpu"})},
                          {"executors", json::array({"aot"})},
                          {"style", "full-model"}};
  const json document = {{"version", modules_version}, {"modules", {{module.name, described}}}};
  return document.dump(indent, ' ', true);
}

}  // namespace usmp::mlf
