// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The parts of the generator of networks. It keeps the interval of every integer tensor, so that accumulators and
// fixed-point products do not overflow; operators are written nest by nest through full buffers, as TVM does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "random_modules/generate.hpp"
#include "random_modules/generator.hpp"
#include "random_modules/random.hpp"

namespace usmp::random_modules {

using Shape = std::vector<std::int64_t>;

[[nodiscard]] std::int64_t elements_of(const Shape& shape);

// Sums and products with the zeros, ones and constants folded, as TVM prints them.
[[nodiscard]] ExprRef plus(const ExprRef& a, const ExprRef& b);
[[nodiscard]] ExprRef times(const ExprRef& a, std::int64_t factor);
[[nodiscard]] ExprRef minus(const ExprRef& a, std::int64_t amount);
[[nodiscard]] ExprRef floor_quotient(const ExprRef& a, std::int64_t divisor);
[[nodiscard]] ExprRef floor_remainder(const ExprRef& a, std::int64_t divisor);
// Row-major, without the terms of extents of 1.
[[nodiscard]] ExprRef index_of(const Shape& shape, const std::vector<ExprRef>& axes);

void add_store(Block& body, VarId storage, const ExprRef& index, const ExprRef& value);

inline constexpr std::int64_t most_elements = 160;  // of most tensors

struct Range {  // of an integer; floats have none
  std::int64_t low = 0;
  std::int64_t high = 0;
};

struct Tensor {
  VarId var;
  DataType type;
  Shape shape;
  Range range;
  bool is_own = false;  // a buffer of the operator, so it may be written again
};

struct Value {
  ExprRef expr;
  Range range;  // of what C computes: of a narrow type it may leave that
};

// Where the body of a loop nest is: an index a dimension, and the row-major one.
struct Axes {
  Shape shape;
  std::vector<ExprRef> axis;
  ExprRef linear;
};

using WriteBody = std::function<void(Block& body, const Axes& axes)>;
using ElementStep = std::function<Value(const Value& value, const ExprRef& channel)>;

// An operator as its callers see it.
struct Signature {
  std::string name;
  std::vector<Tensor> inputs;   // type, shape, the range that it was made for
  std::vector<Tensor> weights;  // constants that callers pass, behind the inputs
  Tensor output;
};

class NetworkGenerator {
 public:
  NetworkGenerator(std::uint64_t seed, bool is_wide, bool is_products)
      : random_(seed ^ 0x6e6574U),
        of_weights_(seed ^ 0x77656967U),
        of_storage_(seed ^ 0x73746f72U),
        of_channels_(seed ^ 0x6368616eU),
        is_wide_(is_wide),
        is_products_(is_products) {}
  TestModule run() &&;

 private:
  // --- networks.cpp: the entry
  VarId new_var(const std::string& name, DataType type);
  VarId new_pointer(const std::string& name, DataType element, const std::string& storage_scope = "");
  void make_entry(TestModule& test);
  void add_call(Block& body, bool is_last);
  const Signature& operator_for(const Tensor& tensor);
  Tensor result_of(const Signature& signature, const Tensor& input, bool is_last);

  // --- network_operators.cpp: an operator
  Signature make_operator(const Tensor& first);
  Tensor operator_body(Block& body, const std::vector<Tensor>& inputs);
  Tensor prologue(Block& body, const Tensor& input);
  Tensor core(Block& body, const Tensor& input);
  Tensor epilogue(Block& body, Tensor current);
  Tensor with_shared_reader(Block& body, const Tensor& current);
  Tensor into_output(Block& body, const Tensor& current);
  Tensor parameter(const std::string& name, DataType type, const Shape& shape, Range range);
  Tensor keep(const Tensor& written);
  std::shared_ptr<const tir::Constant> some_constant(DataType type, const Shape& shape, Range range);
  // Constants of the operator, or passed by its callers.
  Tensor weights(DataType type, const Shape& shape, Range range);
  Tensor buffer(Block& body, const std::string& name, DataType type, const Shape& shape, Range range);
  void share_storage(Block& body);

  // --- network_loops.cpp: nests, chains of elementwise operations
  void nest(Block& out, const Shape& shape, const WriteBody& write);
  void loops(Block& out, const std::vector<std::pair<VarId, std::int64_t>>& vars,
             const std::function<void(Block&)>& write);
  void split_last(Block& out, const Shape& shape, const WriteBody& write);
  void bind_linear(Block& body, Axes& axes);
  Value load(const Tensor& tensor, const Axes& axes);
  Value load_at(const Tensor& tensor, const ExprRef& index) const;
  void store(Block& body, const Tensor& tensor, const Axes& axes, const ExprRef& value);
  ElementStep some_step(DataType type, Range range, std::int64_t channels);
  ElementStep some_float_step(std::int64_t channels);
  ElementStep some_integer_step(DataType type, Range range, std::int64_t channels);
  std::vector<ElementStep> requantisation(Range range, std::int64_t channels);
  Tensor step_into_buffer(Block& body, const Tensor& input, const std::vector<ElementStep>& steps);
  void apply_into(Block& body, const Tensor& input, const std::vector<ElementStep>& steps, const Tensor& target);
  Value applied(Value value, const std::vector<ElementStep>& steps, const ExprRef& channel) const;

  // --- network_windows.cpp: what reads neighbours
  Tensor pad(Block& body, const Tensor& input, std::int64_t amount);
  Tensor convolution(Block& body, const Tensor& input);
  Tensor depthwise(Block& body, const Tensor& input);
  Tensor dense(Block& body, const Tensor& input);
  Tensor pool(Block& body, const Tensor& input);
  Tensor softmax(Block& body, const Tensor& input);
  bool can_multiply(const Tensor& input, std::int64_t terms) const;
  std::int64_t many(std::int64_t blocks);
  Tensor product_weights(const Tensor& input, const Shape& shape, std::int64_t terms, DataType type);
  Tensor widened_product_target(Block& body, const Tensor& input, const Tensor& weight, const Shape& shape,
                                std::int64_t terms);
  ExprRef product(const Tensor& a, const ExprRef& a_index, const Tensor& b, const ExprRef& b_index) const;
  void accumulate(Block& body, const Tensor& sum, const ExprRef& index, const ExprRef& term);

  // --- network_shapes.cpp: what moves elements
  Tensor moved(Block& body, const Tensor& input, const std::string& name, const Shape& shape,
               const std::function<ExprRef(const Axes&)>& index);
  Tensor copy(Block& body, const Tensor& input);
  Tensor crop(Block& body, const Tensor& input);
  Tensor layout(Block& body, const Tensor& input);
  Tensor upsampling(Block& body, const Tensor& input);
  Tensor reversed(Block& body, const Tensor& input);
  Tensor concatenation(Block& body, const Tensor& a, const Tensor& b);
  Tensor sum_of(Block& body, const Tensor& a, const Tensor& b);

  // --- network_near_misses.cpp: what forbids a transformation
  Tensor near_miss(Block& body, const Tensor& input);
  void update_in_place(Block& body, const Tensor& tensor);
  Tensor written_twice(Block& body, const Tensor& input);
  Tensor written_in_halves(Block& body, const Tensor& input);
  Tensor folded(Block& body, const Tensor& input);
  Tensor running(Block& body, const Tensor& input);
  Tensor carried(Block& body, const Tensor& input);

  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[random_.index(list.size())];
  }

  Random random_;
  Random of_weights_;   // their ranges
  Random of_storage_;   // where it is allocated
  Random of_channels_;  // how many outputs one has
  bool is_wide_;        // more channels, as blocks of sums want
  bool is_products_;    // sums of products alone
  tir::Module module_;
  std::vector<Signature> operators_;
  std::vector<Tensor> tensors_;     // of the entry, that may be read; inputs are not is_own
  std::vector<tir::Param> inputs_;  // of the entry
  std::vector<tir::Param> outputs_;
  Block allocates_;  // of the entry
  struct KnownConstant {
    std::shared_ptr<const tir::Constant> data;
    Range range;  // that it was made for
  };
  std::vector<KnownConstant> constants_;

  // The operator that is made.
  Block constant_statements_;
  std::vector<tir::Param> weight_params_;
  std::vector<Tensor> weights_;  // of these parameters
  std::vector<Tensor> written_;  // buffers that may be read again
  bool passes_weights_ = false;
};

}  // namespace usmp::random_modules
