// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes and reads files of TensorFlow Lite, field by field under the numbers of the format: no schema is compiled.
#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstring>

#include "tflite_random/model.hpp"

namespace usmp::tflite_random {
namespace {

namespace fb = flatbuffers;
using Kind = Option::Kind;

constexpr fb::voffset_t at(int field) { return static_cast<fb::voffset_t>(4 + 2 * field); }

// A table whose parts were written before.
class Table {
 public:
  explicit Table(fb::FlatBufferBuilder& builder) : builder_(builder), start_(builder.StartTable()) {}
  template <class T>
  Table& add(int field, T value, T otherwise = T()) {
    builder_.AddElement<T>(at(field), value, otherwise);
    return *this;
  }
  template <class T>
  Table& refer(int field, fb::Offset<T> to) {
    builder_.AddOffset(at(field), to);
    return *this;
  }
  fb::Offset<fb::Table> end() { return {builder_.EndTable(start_)}; }

 private:
  fb::FlatBufferBuilder& builder_;
  fb::uoffset_t start_;
};

class Writer {
 public:
  Writer(const Model& model, const Style& style) : model_(model), style_(style) {}

  std::string run() {
    std::vector<fb::Offset<fb::Table>> graphs;
    for (const Graph& graph : model_.graphs) graphs.push_back(graph_of(graph));
    const auto graph_list = b_.CreateVector(graphs);
    std::vector<fb::Offset<fb::Table>> codes;
    for (const Code code : codes_) codes.push_back(code_of(code));
    const auto code_list = b_.CreateVector(codes);
    std::vector<fb::Offset<fb::Table>> buffers;
    for (const std::string& buffer : buffers_) {
      if (buffer.empty()) {
        buffers.push_back(Table(b_).end());
        continue;
      }
      b_.ForceVectorAlignment(buffer.size(), 1, 16);
      const auto data = b_.CreateVector(reinterpret_cast<const std::uint8_t*>(buffer.data()), buffer.size());
      buffers.push_back(Table(b_).refer(0, data).end());
    }
    const auto buffer_list = b_.CreateVector(buffers);
    const auto description = b_.CreateString("random");
    fb::Offset<fb::Vector<fb::Offset<fb::Table>>> signature_list;
    if (style_.signatures) signature_list = signature();
    Table root(b_);
    root.add<std::uint32_t>(0, 3).refer(1, code_list).refer(2, graph_list).refer(3, description).refer(4, buffer_list);
    if (style_.signatures) root.refer(7, signature_list);
    b_.Finish(root.end(), "TFL3");
    return {reinterpret_cast<const char*>(b_.GetBufferPointer()), b_.GetSize()};
  }

 private:
  fb::Offset<fb::Table> code_of(Code code) {
    const int number = static_cast<int>(code);
    Table table(b_);
    table.add<std::int8_t>(0, static_cast<std::int8_t>(std::min(number, 127)));
    table.add<std::int32_t>(2, style_.version, 1);
    if (!style_.old_codes || number > 127) table.add<std::int32_t>(3, number);
    return table.end();
  }

  int buffer_of(const std::string& data) {
    if (style_.shared_buffers) {
      const auto found = std::find(buffers_.begin() + 1, buffers_.end(), data);
      if (found != buffers_.end()) return static_cast<int>(found - buffers_.begin());
    }
    buffers_.push_back(data);
    return static_cast<int>(buffers_.size()) - 1;
  }

  fb::Offset<fb::Table> tensor_of(const Tensor& tensor) {
    const auto shape = b_.CreateVector(tensor.shape);
    const auto name = b_.CreateString(tensor.name);
    fb::Offset<fb::Table> quantization;
    if (!tensor.scales.empty()) {
      const auto scales = b_.CreateVector(tensor.scales);
      const auto zero_points = b_.CreateVector(tensor.zero_points);
      const bool is_odd = style_.odd_dimension && tensor.scales.size() == 1;
      quantization = Table(b_)
                         .refer(2, scales)
                         .refer(3, zero_points)
                         .add<std::int32_t>(6, is_odd ? 7 : tensor.quantized_dimension)
                         .end();
    }
    fb::Offset<fb::Table> sparsity;
    if (tensor.is_sparse) sparsity = Table(b_).end();
    fb::Offset<fb::Vector<std::int32_t>> signature;
    if (!tensor.signature.empty()) signature = b_.CreateVector(tensor.signature);
    Table table(b_);
    if (!tensor.shape.empty()) table.refer(0, shape);
    table.add<std::int8_t>(1, static_cast<std::int8_t>(tensor.type));
    // Without data, some converters write buffer 0 and some an empty one of the tensor's own.
    if (tensor.data) {
      table.add<std::uint32_t>(2, static_cast<std::uint32_t>(buffer_of(*tensor.data)));
    } else if (!style_.shared_buffers) {
      buffers_.emplace_back();
      table.add<std::uint32_t>(2, static_cast<std::uint32_t>(buffers_.size() - 1));
    }
    table.refer(3, name);
    if (!tensor.scales.empty()) table.refer(4, quantization);
    table.add<std::uint8_t>(5, tensor.is_variable ? 1 : 0);
    if (tensor.is_sparse) table.refer(6, sparsity);
    if (!tensor.signature.empty()) table.refer(7, signature);
    return table.end();
  }

  fb::Offset<fb::Table> operator_of(const Operator& op) {
    const auto known = std::find(codes_.begin(), codes_.end(), op.code);
    const auto index = static_cast<std::uint32_t>(known - codes_.begin());
    if (known == codes_.end()) codes_.push_back(op.code);
    const OptionTable& table = options_of(op.code);
    bool has_other = false;
    for (const Option& option : table.options) {
      const auto given = op.options.find(option.name);
      has_other = has_other || (given != op.options.end() && given->second != option.otherwise) ||
                  option.kind == Kind::list || option.kind == Kind::text;
    }
    const bool has_options = table.number != 0 && (has_other || !style_.no_default_options);
    fb::Offset<fb::Table> options;
    if (has_options) options = options_table(op, table);
    const auto inputs = b_.CreateVector(op.inputs);
    const auto outputs = b_.CreateVector(op.outputs);
    Table result(b_);
    result.add<std::uint32_t>(0, index).refer(1, inputs).refer(2, outputs);
    if (has_options) {
      result.add<std::uint8_t>(3, static_cast<std::uint8_t>(table.number)).refer(4, options);
    }
    return result.end();
  }

  fb::Offset<fb::Table> options_table(const Operator& op, const OptionTable& table) {
    fb::Offset<fb::Vector<std::int32_t>> list;
    fb::Offset<fb::String> text;
    for (const Option& option : table.options) {
      if (option.kind == Kind::list) list = b_.CreateVector(op.list);
      if (option.kind == Kind::text) text = b_.CreateString(op.text);
    }
    Table result(b_);
    for (const Option& option : table.options) {
      const auto given = op.options.find(option.name);
      const double value = given == op.options.end() ? option.otherwise : given->second;
      const auto otherwise = static_cast<int>(option.otherwise);
      switch (option.kind) {
        case Kind::byte:
          result.add<std::int8_t>(option.field, static_cast<std::int8_t>(value));
          break;
        case Kind::boolean:
          result.add<std::uint8_t>(option.field, value != 0 ? 1 : 0, static_cast<std::uint8_t>(otherwise));
          break;
        case Kind::integer:
          result.add<std::int32_t>(option.field, static_cast<int>(value), otherwise);
          break;
        case Kind::real:
          result.add<float>(option.field, static_cast<float>(value));
          break;
        case Kind::list:
          result.refer(option.field, list);
          break;
        case Kind::text:
          result.refer(option.field, text);
          break;
      }
    }
    return result.end();
  }

  fb::Offset<fb::Table> graph_of(const Graph& graph) {
    std::vector<fb::Offset<fb::Table>> tensors;
    for (const Tensor& tensor : graph.tensors) tensors.push_back(tensor_of(tensor));
    std::vector<fb::Offset<fb::Table>> operators;
    for (const Operator& op : graph.operators) operators.push_back(operator_of(op));
    const auto tensor_list = b_.CreateVector(tensors);
    const auto inputs = b_.CreateVector(graph.inputs);
    const auto outputs = b_.CreateVector(graph.outputs);
    const auto operator_list = b_.CreateVector(operators);
    const auto name = b_.CreateString("main");
    return Table(b_)
        .refer(0, tensor_list)
        .refer(1, inputs)
        .refer(2, outputs)
        .refer(3, operator_list)
        .refer(4, name)
        .end();
  }

  fb::Offset<fb::Vector<fb::Offset<fb::Table>>> signature() {
    const auto maps = [&](const std::vector<int>& list, const char* word) {
      std::vector<fb::Offset<fb::Table>> result;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const auto name = b_.CreateString(word + std::to_string(i));
        result.push_back(Table(b_).refer(0, name).add<std::uint32_t>(1, static_cast<std::uint32_t>(list[i])).end());
      }
      return b_.CreateVector(result);
    };
    const auto inputs = maps(model_.graphs.front().inputs, "argument_");
    const auto outputs = maps(model_.graphs.front().outputs, "result_");
    const auto key = b_.CreateString("serving_default");
    return b_.CreateVector(std::vector{Table(b_).refer(0, inputs).refer(1, outputs).refer(2, key).end()});
  }

  const Model& model_;
  const Style& style_;
  fb::FlatBufferBuilder b_;
  std::vector<std::string> buffers_ = {""};  // number 0 is always there and empty
  std::vector<Code> codes_;
};

// --- Reading. The files are TensorFlow Lite's own or ours: nothing is checked.

using Tables = fb::Vector<fb::Offset<fb::Table>>;

template <class T>
std::vector<T> vector_of(const fb::Table& table, int field) {
  const auto* found = table.GetPointer<const fb::Vector<T>*>(at(field));
  return found == nullptr ? std::vector<T>() : std::vector<T>(found->begin(), found->end());
}

std::string text_of(const fb::Table& table, int field) {
  const auto* found = table.GetPointer<const fb::String*>(at(field));
  return found == nullptr ? std::string() : found->str();
}

std::vector<const fb::Table*> tables_of(const fb::Table& table, int field) {
  std::vector<const fb::Table*> result;
  if (const auto* found = table.GetPointer<const Tables*>(at(field))) result.assign(found->begin(), found->end());
  return result;
}

Tensor read_tensor(const fb::Table& table, const std::vector<const fb::Table*>& buffers) {
  Tensor tensor;
  tensor.shape = vector_of<std::int32_t>(table, 0);
  tensor.type = static_cast<Type>(table.GetField<std::int8_t>(at(1), 0));
  const auto buffer = table.GetField<std::uint32_t>(at(2), 0);
  const std::vector<std::uint8_t> data = vector_of<std::uint8_t>(*buffers.at(buffer), 0);
  if (buffer != 0 && !data.empty()) tensor.data = std::string(data.begin(), data.end());
  tensor.name = text_of(table, 3);
  if (const auto* quantization = table.GetPointer<const fb::Table*>(at(4))) {
    tensor.scales = vector_of<float>(*quantization, 2);
    tensor.zero_points = vector_of<std::int64_t>(*quantization, 3);
    tensor.quantized_dimension = quantization->GetField<std::int32_t>(at(6), 0);
  }
  tensor.is_variable = table.GetField<std::uint8_t>(at(5), 0) != 0;
  tensor.signature = vector_of<std::int32_t>(table, 7);
  return tensor;
}

Operator read_operator(const fb::Table& table, const std::vector<Code>& codes) {
  Operator op;
  op.code = codes.at(table.GetField<std::uint32_t>(at(0), 0));
  op.inputs = vector_of<std::int32_t>(table, 1);
  op.outputs = vector_of<std::int32_t>(table, 2);
  const auto* options = table.GetPointer<const fb::Table*>(at(4));
  if (options == nullptr) return op;
  for (const Option& option : options_of(op.code).options) {
    const auto otherwise = static_cast<int>(option.otherwise);
    double value = 0;
    switch (option.kind) {
      case Kind::byte:
        value = options->GetField<std::int8_t>(at(option.field), 0);
        break;
      case Kind::boolean:
        value = options->GetField<std::uint8_t>(at(option.field), static_cast<std::uint8_t>(otherwise));
        break;
      case Kind::integer:
        value = options->GetField<std::int32_t>(at(option.field), otherwise);
        break;
      case Kind::real:
        value = static_cast<double>(options->GetField<float>(at(option.field), 0.0F));
        break;
      case Kind::list:
        op.list = vector_of<std::int32_t>(*options, option.field);
        break;
      case Kind::text:
        op.text = text_of(*options, option.field);
        break;
    }
    op.options[option.name] = value;
  }
  return op;
}

}  // namespace

const OptionTable& options_of(Code code) {
  static const std::map<Code, OptionTable> tables = [] {
    constexpr Kind byte = Kind::byte;
    constexpr Kind boolean = Kind::boolean;
    constexpr Kind integer = Kind::integer;
    constexpr Kind real = Kind::real;
    const OptionTable pool = {5,
                              {{"padding", 0, byte},
                               {"stride_w", 1, integer},
                               {"stride_h", 2, integer},
                               {"filter_width", 3, integer},
                               {"filter_height", 4, integer},
                               {"activation", 5, byte}}};
    const OptionTable reducer = {27, {{"keep_dims", 0, boolean}}};
    std::map<Code, OptionTable> all;
    all[Code::conv_2d] = {1,
                          {{"padding", 0, byte},
                           {"stride_w", 1, integer},
                           {"stride_h", 2, integer},
                           {"activation", 3, byte},
                           {"dilation_w", 4, integer, 1},
                           {"dilation_h", 5, integer, 1}}};
    all[Code::depthwise_conv_2d] = {2,
                                    {{"padding", 0, byte},
                                     {"stride_w", 1, integer},
                                     {"stride_h", 2, integer},
                                     {"depth_multiplier", 3, integer},
                                     {"activation", 4, byte},
                                     {"dilation_w", 5, integer, 1},
                                     {"dilation_h", 6, integer, 1}}};
    all[Code::average_pool_2d] = pool;
    all[Code::max_pool_2d] = pool;
    all[Code::svdf] = {6, {{"rank", 0, integer}, {"activation", 1, byte}, {"asymmetric", 2, boolean}}};
    all[Code::fully_connected] = {8,
                                  {{"activation", 0, byte},
                                   {"weights_format", 1, byte},
                                   {"keep_num_dims", 2, boolean},
                                   {"asymmetric", 3, boolean}}};
    all[Code::softmax] = {9, {{"beta", 0, real}}};
    all[Code::concatenation] = {10, {{"axis", 0, integer}, {"activation", 1, byte}}};
    all[Code::add] = {11, {{"activation", 0, byte}, {"pot_scale_int16", 1, boolean, 1}}};
    all[Code::sub] = {28, {{"activation", 0, byte}, {"pot_scale_int16", 1, boolean, 1}}};
    all[Code::mul] = {21, {{"activation", 0, byte}}};
    all[Code::div] = {29, {{"activation", 0, byte}}};
    all[Code::resize_bilinear] = {15, {{"align_corners", 2, boolean}, {"half_pixel_centers", 3, boolean}}};
    all[Code::resize_nearest_neighbor] = {74, {{"align_corners", 0, boolean}, {"half_pixel_centers", 1, boolean}}};
    all[Code::reshape] = {17, {{"new_shape", 0, Kind::list}}};
    all[Code::space_to_depth] = {19, {{"block_size", 0, integer}}};
    all[Code::depth_to_space] = {94, {{"block_size", 0, integer}}};
    all[Code::gather] = {23, {{"axis", 0, integer}, {"batch_dims", 1, integer}}};
    for (const Code c : {Code::mean, Code::sum, Code::reduce_max, Code::reduce_min}) all[c] = reducer;
    all[Code::squeeze] = {30, {{"squeeze_dims", 0, Kind::list}}};
    all[Code::strided_slice] = {32,
                                {{"begin_mask", 0, integer},
                                 {"end_mask", 1, integer},
                                 {"ellipsis_mask", 2, integer},
                                 {"new_axis_mask", 3, integer},
                                 {"shrink_axis_mask", 4, integer}}};
    all[Code::split] = {35, {{"num_splits", 0, integer}}};
    all[Code::split_v] = {79, {{"num_splits", 0, integer}}};
    all[Code::cast] = {37, {{"in_data_type", 0, byte}, {"out_data_type", 1, byte}}};
    all[Code::arg_max] = {40, {{"output_type", 0, byte}}};
    all[Code::arg_min] = {57, {{"output_type", 0, byte}}};
    all[Code::shape] = {55, {{"out_type", 0, byte}}};
    all[Code::transpose_conv] = {
        49, {{"padding", 0, byte}, {"stride_w", 1, integer}, {"stride_h", 2, integer}, {"activation", 3, byte}}};
    all[Code::pack] = {59, {{"values_count", 0, integer}, {"axis", 1, integer}}};
    all[Code::unpack] = {64, {{"num", 0, integer}, {"axis", 1, integer}}};
    all[Code::unidirectional_sequence_lstm] = {71,
                                               {{"activation", 0, byte},
                                                {"cell_clip", 1, real},
                                                {"proj_clip", 2, real},
                                                {"time_major", 3, boolean},
                                                {"asymmetric", 4, boolean},
                                                {"diagonal", 5, boolean}}};
    all[Code::leaky_relu] = {75, {{"alpha", 0, real}}};
    all[Code::mirror_pad] = {77, {{"mode", 0, byte}}};
    all[Code::batch_matmul] = {101, {{"adj_x", 0, boolean}, {"adj_y", 1, boolean}, {"asymmetric", 2, boolean}}};
    all[Code::call_once] = {103, {{"init_subgraph_index", 0, integer}}};
    all[Code::var_handle] = {111, {{"shared_name", 1, Kind::text}}};
    return all;
  }();
  static const OptionTable none;
  const auto found = tables.find(code);
  return found == tables.end() ? none : found->second;
}

std::size_t size_of(Type type) {
  switch (type) {
    case Type::int8:
    case Type::uint8:
    case Type::boolean:
      return 1;
    case Type::int16:
      return 2;
    case Type::float32:
    case Type::int32:
    case Type::resource:
      return 4;
    case Type::int64:
      return 8;
  }
  throw Unknown("a type");
}

const char* name_of(Type type) {
  switch (type) {
    case Type::int8:
      return "int8";
    case Type::uint8:
      return "uint8";
    case Type::boolean:
      return "bool";
    case Type::int16:
      return "int16";
    case Type::float32:
      return "float32";
    case Type::int32:
      return "int32";
    case Type::resource:
      return "resource";
    case Type::int64:
      return "int64";
  }
  throw Unknown("a type");
}

std::size_t elements_of(const Shape& shape) {
  std::size_t product = 1;
  for (const int extent : shape) product *= static_cast<std::size_t>(extent);
  return product;
}

std::string file_of(const Model& model, const Style& style) { return Writer(model, style).run(); }

Model model_of(std::string_view bytes) {
  const fb::Table& root = *fb::GetRoot<fb::Table>(bytes.data());
  std::vector<Code> codes;
  for (const fb::Table* code : tables_of(root, 1)) {
    const int old = code->GetField<std::uint8_t>(at(0), 0);
    codes.push_back(static_cast<Code>(std::max(old, code->GetField<std::int32_t>(at(3), 0))));
  }
  const std::vector<const fb::Table*> buffers = tables_of(root, 4);
  Model model;
  for (const fb::Table* table : tables_of(root, 2)) {
    Graph graph;
    for (const fb::Table* tensor : tables_of(*table, 0)) graph.tensors.push_back(read_tensor(*tensor, buffers));
    graph.inputs = vector_of<std::int32_t>(*table, 1);
    graph.outputs = vector_of<std::int32_t>(*table, 2);
    for (const fb::Table* op : tables_of(*table, 3)) graph.operators.push_back(read_operator(*op, codes));
    model.graphs.push_back(std::move(graph));
  }
  return model;
}

}  // namespace usmp::tflite_random
