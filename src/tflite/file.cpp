// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The only user of FlatBuffers: the Verifier first, then every number that another one is looked up with.
#include "tflite/file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "tflite/tflite_generated.h"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tflite {
namespace {

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_tables = 1000000;
// Tables and lists of a file may be shared, so that a small file could claim much: what all claim together.
constexpr std::size_t max_items = 4000000;
constexpr std::size_t max_name = 1000;  // letters of a name that are kept
constexpr std::int64_t max_extent = INT32_MAX;

[[noreturn]] void fail(std::string place, const std::string& message) {
  throw Error(ErrorKind::archive, {.file = {}, .member = {}, .place = std::move(place)}, message);
}

std::string operator_place(std::size_t subgraph, std::size_t index) {
  return (subgraph == 0 ? "" : "subgraph " + std::to_string(subgraph) + " ") + "operator " + std::to_string(index);
}

struct TypeRow {
  Type type;
  const char* name;
  Bytes bytes;
};
constexpr TypeRow type_rows[] = {
    {Type::float32, "float32", 4}, {Type::float16, "float16", 2},   {Type::int32, "int32", 4},
    {Type::uint8, "uint8", 1},     {Type::int64, "int64", 8},       {Type::string, "string", 0},
    {Type::boolean, "bool", 1},    {Type::int16, "int16", 2},       {Type::int8, "int8", 1},
    {Type::float64, "float64", 8}, {Type::resource, "resource", 4}, {Type::int4, "int4", 1},
};

const TypeRow* row_of(Type type) {
  const auto* found = std::ranges::find(type_rows, type, &TypeRow::type);
  return found == std::end(type_rows) ? nullptr : found;
}

template <class T>
const T& only(const T* pointer, const std::string& place, const char* what) {
  if (pointer == nullptr) fail(place, std::string("has no ") + what);
  return *pointer;
}

// The Verifier only asks that a list begins where its length may stand, at four bytes.
std::int64_t number_at(const flatbuffers::Vector<std::int64_t>& list, std::size_t index) {
  std::int64_t value = 0;
  std::memcpy(&value, list.Data() + index * sizeof value, sizeof value);
  return flatbuffers::EndianScalar(value);
}

class FileReader {
 public:
  explicit FileReader(std::string_view bytes) : bytes_(bytes) {}

  Model run() {
    const schema::Model& file = verified();
    if (file.version() != 3) fail("", "version " + std::to_string(file.version()) + " of the format, expected 3");
    if (file.operator_codes() != nullptr) {
      for (const schema::OperatorCode* code : *file.operator_codes()) codes_.push_back(code);
    }
    buffers_ = file.buffers();
    const auto& subgraphs = only(file.subgraphs(), "", "list of subgraphs");
    if (subgraphs.size() == 0) fail("", "has no subgraph");
    Model model;
    for (const schema::SubGraph* graph : subgraphs) {
      claim(1, "subgraphs");
      model.subgraphs.push_back(read_subgraph(*graph, model.subgraphs.size()));
    }
    name_interface(file, model);
    return model;
  }

 private:
  const schema::Model& verified() {
    constexpr std::size_t first_bytes = 8;  // of the root, and the identifier
    if (bytes_.size() < first_bytes || bytes_.substr(4, 4) != "TFL3") {
      fail("", "is no TensorFlow Lite model: expected the identifier TFL3 at byte 4");
    }
    if (bytes_.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
      fail("", "has " + std::to_string(bytes_.size()) + " bytes, expected less than 2 GiB");
    }
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes_.data());
    flatbuffers::Verifier verifier(data, bytes_.size(), max_depth, max_tables);
    if (!schema::VerifyModelBuffer(verifier)) {
      fail("", "is damaged: an offset leads out of the file of " + std::to_string(bytes_.size()) +
                   " bytes, or there are more than " + std::to_string(max_tables) + " tables");
    }
    return *schema::GetModel(data);
  }

  void claim(std::size_t items, const char* what) {
    items_ += items;
    if (items_ > max_items) {
      fail("", "lists more than " + std::to_string(max_items) + " " + what + ", dimensions and scales in all");
    }
  }

  // --- Tensors

  static std::string name_of_tensor(const schema::Tensor& tensor) {
    if (tensor.name() == nullptr) return {};
    return std::string(tensor.name()->string_view().substr(0, max_name));
  }

  Shape read_shape(const schema::Tensor& from, Tensor& tensor, const std::string& place) {
    Shape shape;
    const auto* extents = from.shape();
    if (extents == nullptr) return shape;
    if (extents->size() > max_rank) {
      fail(place,
           "has " + std::to_string(extents->size()) + " dimensions, expected at most " + std::to_string(max_rank));
    }
    claim(extents->size(), "tensors");
    Bytes bytes = std::max<Bytes>(bytes_of(tensor.type), 1);
    for (flatbuffers::uoffset_t i = 0; i < extents->size(); ++i) {
      std::int64_t extent = extents->Get(i);
      if (extent == -1 && i == 0) extent = 1;  // any batch: one
      if (extent == -1) tensor.fault = "has a dynamic shape";
      if (extent < 0 && extent != -1) fail(place, "has an extent of " + std::to_string(extent));
      shape.push_back(std::max<std::int64_t>(extent, 0));
      const auto product = checked_mul(bytes, shape.back());
      if (!product || *product > max_extent) fail(place, "has a shape of 2 GiB or more");
      bytes = *product;
    }
    return shape;
  }

  Quantization read_quantization(const schema::Tensor& from, const Tensor& tensor, const std::string& place) {
    Quantization result;
    const schema::QuantizationParameters* given = from.quantization();
    if (given == nullptr || given->scale() == nullptr || given->scale()->size() == 0) return result;
    const std::size_t count = given->scale()->size();
    claim(2 * count, "tensors");
    if (count > 1) {
      const auto dimension = static_cast<std::int64_t>(given->quantized_dimension());
      if (dimension < 0 || dimension >= static_cast<std::int64_t>(tensor.shape.size())) {
        fail(place, "has scales along dimension " + std::to_string(dimension) + ", but " +
                        std::to_string(tensor.shape.size()) + " dimensions");
      }
      result.dimension = static_cast<std::size_t>(dimension);
      if (count != static_cast<std::size_t>(tensor.shape[result.dimension])) {
        fail(place, "has " + std::to_string(count) + " scales along dimension " + std::to_string(dimension) +
                        ", which has " + std::to_string(tensor.shape[result.dimension]) + " elements");
      }
    }
    for (const float scale : *given->scale()) {
      // Kernels divide by scales, so 1 / scale has to be finite, too.
      const bool is_possible = std::isnormal(scale) && scale > 0;
      // Nobody asks for those of tensors that are not quantised.
      if (!is_possible && !is_quantized(tensor.type)) return {};
      std::array<char, 32> text{};
      const auto end = std::to_chars(text.data(), text.data() + text.size(), scale).ptr;
      if (!is_possible)
        fail(place, "has the scale " + std::string(text.data(), end) + ", expected a positive number, from 2^-126 on");
      result.scales.push_back(scale);
    }
    const Interval limits = range_of(tensor.type);
    const auto* points = given->zero_point();
    if (points != nullptr && points->size() != 0 && points->size() != count) {
      fail(place, "has " + std::to_string(count) + " scales and " + std::to_string(points->size()) + " zero points");
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t point = points == nullptr || points->size() == 0 ? 0 : number_at(*points, i);
      if (point < limits.low || point > limits.high) {
        fail(place, "has the zero point " + std::to_string(point) + ", which is no " + name_of(tensor.type));
      }
      result.zero_points.push_back(point);
    }
    return result;
  }

  void read_data(const schema::Tensor& from, Tensor& tensor, const std::string& place) {
    if (from.buffer() == 0) return;
    if (buffers_ == nullptr || from.buffer() >= buffers_->size()) {
      fail(place, "has buffer " + std::to_string(from.buffer()) + ", but there are " +
                      std::to_string(buffers_ == nullptr ? 0 : buffers_->size()));
    }
    const schema::Buffer* buffer = buffers_->Get(from.buffer());
    std::string_view data;
    if (buffer->data() != nullptr && buffer->data()->size() > 0) {
      data = {reinterpret_cast<const char*>(buffer->data()->data()), buffer->data()->size()};
    } else if (buffer->offset() > 1) {
      if (buffer->offset() > bytes_.size() || buffer->size() > bytes_.size() - buffer->offset()) {
        fail(place, "has data at byte " + std::to_string(buffer->offset()) + ", but the file has " +
                        std::to_string(bytes_.size()));
      }
      data = bytes_.substr(buffer->offset(), buffer->size());
    }
    if (data.empty()) return;
    const std::int64_t count = count_of(tensor.shape);
    const Bytes needed = tensor.type == Type::int4 ? (count + 1) / 2 : count * bytes_of(tensor.type);
    if (data.size() < static_cast<std::size_t>(needed)) {
      fail(place, "has " + std::to_string(data.size()) + " bytes of data, expected " + std::to_string(needed));
    }
    tensor.data = data.substr(0, static_cast<std::size_t>(needed));
    tensor.is_constant = true;
  }

  Tensor read_tensor(const schema::Tensor& from, std::size_t index) {
    Tensor tensor;
    tensor.name = name_of_tensor(from);
    const std::string place = "tensor " + std::to_string(index) + (tensor.name.empty() ? "" : " " + shown(tensor.name));
    claim(1 + tensor.name.size() / 16, "tensors");
    const auto type = static_cast<Type>(static_cast<std::uint8_t>(from.type()));
    tensor.type = row_of(type) == nullptr ? Type::unknown : type;
    if (bytes_of(tensor.type) == 0) {
      tensor.fault = "has elements of type " +
                     (tensor.type == Type::unknown ? std::to_string(from.type()) : std::string(name_of(tensor.type)));
    }
    tensor.shape = read_shape(from, tensor, place);
    tensor.quantization = read_quantization(from, tensor, place);
    tensor.is_variable = from.is_variable();
    if (from.sparsity() != nullptr) tensor.fault = "is sparse";
    if (from.external_buffer() != 0) tensor.fault = "has data in another file";
    if (from.quantization() != nullptr && from.quantization()->details_type() != 0) {
      tensor.fault = "has quantization of another kind than scales and zero points";
    }
    if (tensor.fault.empty()) read_data(from, tensor, place);
    return tensor;
  }

  // --- Operators

  template <class T>
  const T* table(const schema::Operator& from, const std::string& place) {
    const auto* options = reinterpret_cast<const T*>(from.builtin_options());
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes_.data());
    flatbuffers::Verifier verifier(data, bytes_.size(), max_depth, max_tables);
    if (!verifier.VerifyTable(options)) fail(place, "has damaged options");
    return options;
  }

  static Padding padding_of(int value, const std::string& place) {
    if (value != 0 && value != 1) fail(place, "has padding " + std::to_string(value) + ", expected 0 or 1");
    return value == 0 ? Padding::same : Padding::valid;
  }

  static Activation activation_of(int value, const std::string& place) {
    constexpr int most = 5;
    if (value < 0 || value > most) fail(place, "has activation " + std::to_string(value) + ", expected 0 to 5");
    return static_cast<Activation>(value);
  }

  static float finite(float value, const std::string& place) {
    if (!std::isfinite(value)) fail(place, "has an option that is not finite");
    return value;
  }

  template <class Table>
  static void read_convolution(const Table& from, Options& to, const std::string& place) {
    to.padding = padding_of(from.padding(), place);
    to.activation = activation_of(from.fused_activation_function(), place);
    to.stride_width = from.stride_w();
    to.stride_height = from.stride_h();
    to.dilation_width = from.dilation_w_factor();
    to.dilation_height = from.dilation_h_factor();
  }

  // The table of each type of options that says anything.
  void read_options(const schema::Operator& from, Options& to, const std::string& place) {
    if (from.builtin_options() == nullptr) return;
    switch (from.builtin_options_type()) {
      case 1:
        read_convolution(*table<schema::Conv2DOptions>(from, place), to, place);
        break;
      case 2:
        read_convolution(*table<schema::DepthwiseConv2DOptions>(from, place), to, place);
        break;
      case 5: {
        const auto* o = table<schema::Pool2DOptions>(from, place);
        to.padding = padding_of(o->padding(), place);
        to.activation = activation_of(o->fused_activation_function(), place);
        to.stride_width = o->stride_w();
        to.stride_height = o->stride_h();
        to.filter_width = o->filter_width();
        to.filter_height = o->filter_height();
        break;
      }
      case 6: {
        const auto* o = table<schema::SVDFOptions>(from, place);
        to.rank = o->rank();
        to.activation = activation_of(o->fused_activation_function(), place);
        break;
      }
      case 8: {
        const auto* o = table<schema::FullyConnectedOptions>(from, place);
        to.activation = activation_of(o->fused_activation_function(), place);
        to.shuffled_weights = o->weights_format() != 0;
        to.keep_dims = o->keep_num_dims();
        break;
      }
      case 9:
        to.beta = finite(table<schema::SoftmaxOptions>(from, place)->beta(), place);
        break;
      case 10: {
        const auto* o = table<schema::ConcatenationOptions>(from, place);
        to.axis = o->axis();
        to.activation = activation_of(o->fused_activation_function(), place);
        break;
      }
      case 11:
      case 28: {
        const auto* o = table<schema::SumOptions>(from, place);
        to.activation = activation_of(o->fused_activation_function(), place);
        to.pot_scale_int16 = o->pot_scale_int16();
        break;
      }
      case 12:
      case 21:
      case 29:
        to.activation =
            activation_of(table<schema::ActivationOptions>(from, place)->fused_activation_function(), place);
        break;
      default:
        read_more_options(from, to, place);
    }
  }

  void read_more_options(const schema::Operator& from, Options& to, const std::string& place) {
    switch (from.builtin_options_type()) {
      case 15: {
        const auto* o = table<schema::ResizeBilinearOptions>(from, place);
        to.align_corners = o->align_corners();
        to.half_pixel_centers = o->half_pixel_centers();
        break;
      }
      case 74: {
        const auto* o = table<schema::ResizeNearestNeighborOptions>(from, place);
        to.align_corners = o->align_corners();
        to.half_pixel_centers = o->half_pixel_centers();
        break;
      }
      case 19:
      case 94:
        to.block_size = table<schema::BlockOptions>(from, place)->block_size();
        break;
      case 23: {
        const auto* o = table<schema::GatherOptions>(from, place);
        to.axis = o->axis();
        to.batch_dims = o->batch_dims();
        break;
      }
      case 27:
        to.keep_dims = table<schema::ReducerOptions>(from, place)->keep_dims();
        break;
      case 30: {
        const auto* dimensions = table<schema::SqueezeOptions>(from, place)->squeeze_dims();
        if (dimensions == nullptr) break;
        if (dimensions->size() > max_rank) fail(place, "squeezes more dimensions than there can be");
        to.dimensions.assign(dimensions->begin(), dimensions->end());
        break;
      }
      case 32: {
        const auto* o = table<schema::StridedSliceOptions>(from, place);
        to.begin_mask = o->begin_mask();
        to.end_mask = o->end_mask();
        to.ellipsis_mask = o->ellipsis_mask();
        to.new_axis_mask = o->new_axis_mask();
        to.shrink_axis_mask = o->shrink_axis_mask();
        to.is_offset = o->offset();
        break;
      }
      case 35:
      case 79:
        to.count = table<schema::SplitOptions>(from, place)->num_splits();
        break;
      case 49: {
        const auto* o = table<schema::TransposeConvOptions>(from, place);
        to.padding = padding_of(o->padding(), place);
        to.activation = activation_of(o->fused_activation_function(), place);
        to.stride_width = o->stride_w();
        to.stride_height = o->stride_h();
        break;
      }
      case 59: {
        const auto* o = table<schema::PackOptions>(from, place);
        to.count = o->values_count();
        to.axis = o->axis();
        break;
      }
      case 64: {
        const auto* o = table<schema::UnpackOptions>(from, place);
        to.count = o->num();
        to.axis = o->axis();
        break;
      }
      case 71: {
        const auto* o = table<schema::UnidirectionalSequenceLSTMOptions>(from, place);
        to.activation = activation_of(o->fused_activation_function(), place);
        to.cell_clip = finite(o->cell_clip(), place);
        to.projection_clip = finite(o->proj_clip(), place);
        to.is_time_major = o->time_major();
        to.is_diagonal = o->diagonal_recurrent_tensors();
        break;
      }
      case 75:
        to.alpha = finite(table<schema::LeakyReluOptions>(from, place)->alpha(), place);
        break;
      case 77:
        to.is_symmetric = table<schema::MirrorPadOptions>(from, place)->mode() != 0;
        break;
      case 101: {
        const auto* o = table<schema::BatchMatMulOptions>(from, place);
        to.transpose_x = o->adj_x();
        to.transpose_y = o->adj_y();
        break;
      }
      case 102: {
        const auto* o = table<schema::CumsumOptions>(from, place);
        to.is_exclusive = o->exclusive();
        to.is_reverse = o->reverse();
        break;
      }
      case 103:
        to.subgraph = table<schema::CallOnceOptions>(from, place)->init_subgraph_index();
        break;
      case 111: {
        const auto* name = table<schema::VarHandleOptions>(from, place)->shared_name();
        if (name != nullptr) to.shared_name = std::string(name->string_view().substr(0, max_name));
        claim(to.shared_name.size() / 16, "operators");
        break;
      }
      default:
        break;
    }
  }

  std::size_t tensor_index(std::int64_t index, const Subgraph& graph, const std::string& place) {
    if (index < 0 || index >= static_cast<std::int64_t>(graph.tensors.size())) {
      fail(place, "names tensor " + std::to_string(index) + ", but there are " + std::to_string(graph.tensors.size()));
    }
    return static_cast<std::size_t>(index);
  }

  std::vector<std::size_t> tensor_list(const flatbuffers::Vector<std::int32_t>* list, const Subgraph& graph,
                                       const std::string& place) {
    std::vector<std::size_t> result;
    if (list == nullptr) return result;
    claim(list->size(), "operands");
    for (const std::int32_t index : *list) result.push_back(tensor_index(index, graph, place));
    return result;
  }

  Operator read_operator(const schema::Operator& from, const Subgraph& graph, const std::string& place) {
    Operator result;
    if (from.opcode_index() >= codes_.size()) {
      fail(place,
           "has code " + std::to_string(from.opcode_index()) + ", but there are " + std::to_string(codes_.size()));
    }
    const schema::OperatorCode& code = *codes_[from.opcode_index()];
    result.code = std::max<std::int32_t>(code.deprecated_builtin_code(), code.builtin_code());
    if (result.code < 0) fail(place, "has the code " + std::to_string(result.code));
    if (code.custom_code() != nullptr) {
      result.custom = std::string(code.custom_code()->string_view().substr(0, max_name));
      claim(result.custom.size() / 16, "operators");
    }
    if (from.inputs() != nullptr) {
      claim(from.inputs()->size(), "operands");
      for (const std::int32_t index : *from.inputs()) {
        result.inputs.push_back(index == -1 ? std::nullopt : std::optional(tensor_index(index, graph, place)));
      }
    }
    result.outputs = tensor_list(from.outputs(), graph, place);
    result.intermediates = tensor_list(from.intermediates(), graph, place);
    read_options(from, result.options, place);
    return result;
  }

  Subgraph read_subgraph(const schema::SubGraph& from, std::size_t number) {
    Subgraph graph;
    const std::string place = number == 0 ? "" : "subgraph " + std::to_string(number);
    if (from.tensors() != nullptr) {
      for (const schema::Tensor* tensor : *from.tensors()) {
        graph.tensors.push_back(read_tensor(*tensor, graph.tensors.size()));
      }
    }
    graph.inputs = tensor_list(from.inputs(), graph, place + (place.empty() ? "" : " ") + "inputs");
    graph.outputs = tensor_list(from.outputs(), graph, place + (place.empty() ? "" : " ") + "outputs");
    if (from.operators() != nullptr) {
      for (const schema::Operator* one : *from.operators()) {
        claim(1, "operators");
        graph.operators.push_back(read_operator(*one, graph, operator_place(number, graph.operators.size())));
      }
    }
    check_order(graph, number);
    return graph;
  }

  // Each tensor is written once, and before it is read.
  static void check_order(const Subgraph& graph, std::size_t number) {
    std::vector<bool> is_known(graph.tensors.size());
    std::vector<bool> is_input(graph.tensors.size());
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
      is_known[i] =
          graph.tensors[i].is_constant || graph.tensors[i].is_variable || count_of(graph.tensors[i].shape) == 0;
    }
    for (const std::size_t input : graph.inputs) {
      if (is_input[input]) fail("inputs", "name " + place_of_tensor(graph, input) + " twice");
      if (graph.tensors[input].is_constant) fail(place_of_tensor(graph, input), "is an input and a constant");
      is_input[input] = is_known[input] = true;
    }
    std::vector<bool> is_written(graph.tensors.size());
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      const Operator& one = graph.operators[i];
      for (const auto& input : one.inputs) {
        if (input && !is_known[*input]) {
          fail(operator_place(number, i),
               "reads " + place_of_tensor(graph, *input) + ", which is written later or never");
        }
      }
      for (const std::size_t output : one.outputs) {
        const Tensor& tensor = graph.tensors[output];
        if (is_written[output] || is_input[output] || tensor.is_constant) {
          fail(operator_place(number, i), "writes " + place_of_tensor(graph, output) + ", which is " +
                                              (is_written[output] ? "written before" : "an input or a constant"));
        }
        is_written[output] = is_known[output] = true;
      }
    }
    for (const std::size_t output : graph.outputs) {
      if (!is_known[output]) fail("outputs", "name " + place_of_tensor(graph, output) + ", which is never written");
    }
  }

  // --- Names

  static std::string tensor_name(const Subgraph& graph, std::size_t tensor) {
    std::string name = graph.tensors[tensor].name;
    constexpr std::string_view prefix = "serving_default_";
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
    const std::size_t colon = name.rfind(':');
    if (colon != std::string::npos && colon > 0 && colon + 1 < name.size() &&
        std::all_of(name.begin() + static_cast<std::ptrdiff_t>(colon) + 1, name.end(),
                    [](char c) { return c >= '0' && c <= '9'; })) {
      name.erase(colon);
    }
    return name;
  }

  // Takes those of the first signature, if it names them all and is the model's; else the tensors'.
  std::vector<std::string> names_of(const Subgraph& graph, const std::vector<std::size_t>& tensors,
                                    const flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>* maps,
                                    std::string_view otherwise) {
    std::vector<std::string> names(tensors.size());
    if (maps != nullptr) {
      claim(maps->size(), "names");
      std::vector<std::pair<std::size_t, std::string>> known;
      for (const schema::TensorMap* map : *maps) {
        if (map->name() == nullptr) continue;
        known.emplace_back(map->tensor_index(), map->name()->string_view().substr(0, max_name));
        claim(known.back().second.size() / 16, "names");
      }
      std::ranges::stable_sort(known, {}, &std::pair<std::size_t, std::string>::first);
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const auto found = std::ranges::lower_bound(known, tensors[i], {}, &std::pair<std::size_t, std::string>::first);
        if (found != known.end() && found->first == tensors[i]) names[i] = found->second;
      }
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (names[i].empty()) names[i] = tensor_name(graph, tensors[i]);
      if (names[i].empty()) names[i] = std::string(otherwise) + (tensors.size() > 1 ? std::to_string(i) : "");
    }
    return names;
  }

  void name_interface(const schema::Model& file, Model& model) {
    const schema::SignatureDef* signature = nullptr;
    if (file.signature_defs() != nullptr && file.signature_defs()->size() > 0)
      signature = file.signature_defs()->Get(0);
    if (signature != nullptr && signature->subgraph_index() != 0) signature = nullptr;
    const Subgraph& graph = model.subgraphs.front();
    model.input_names = names_of(graph, graph.inputs, signature == nullptr ? nullptr : signature->inputs(), "input");
    model.output_names =
        names_of(graph, graph.outputs, signature == nullptr ? nullptr : signature->outputs(), "output");
  }

  std::string_view bytes_;
  std::size_t items_ = 0;
  std::vector<const schema::OperatorCode*> codes_;
  const flatbuffers::Vector<flatbuffers::Offset<schema::Buffer>>* buffers_ = nullptr;
};

}  // namespace

const char* name_of(Type type) {
  const TypeRow* row = row_of(type);
  return row == nullptr ? "unknown" : row->name;
}

Interval range_of(Type type) {
  switch (type) {
    case Type::int8:
      return {INT8_MIN, INT8_MAX};
    case Type::uint8:
      return {0, UINT8_MAX};
    case Type::int16:
      return {INT16_MIN, INT16_MAX};
    default:
      return {INT32_MIN, INT32_MAX};
  }
}

Bytes bytes_of(Type type) {
  const TypeRow* row = row_of(type);
  return row == nullptr ? 0 : row->bytes;
}

bool is_quantized(Type type) {
  return type == Type::int8 || type == Type::uint8 || type == Type::int16 || type == Type::int4;
}

std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::string text_of(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "scalar" : text;
}

std::string place_of_tensor(const Subgraph& graph, std::size_t tensor) {
  const std::string& name = graph.tensors[tensor].name;
  return "tensor " + std::to_string(tensor) + (name.empty() ? "" : " " + shown(name));
}

Model read_file(std::string_view bytes) { return FileReader(bytes).run(); }

}  // namespace usmp::tflite
