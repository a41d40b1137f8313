// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <verifier/compile/onnx/constant.hpp>
#include <verifier/compile/onnx/import.hpp>
#include <verifier/compile/onnx/refusal.hpp>
#include <verifier/compile/program/autodiff.hpp>

/// Internal to the importer: the values of a model while its operators are lowered into a graph.
namespace assay::onnx {

using program::Dims;
using program::Value;

/// A value computed by the graph or held in its state. Real numbers and bools (0 and 1) are f32. Integers are i32 while
/// they are only moved or used as indices, and f32 after arithmetic on them: exact up to 2^24.
struct Array {
    ElementType type = ElementType::kFloat;
    Dims dims;
    Value value;
    /// Whether the matrix has the axis order 0, 2, .., n, 1: convolutions use channels-last, and elementwise operations
    /// after them need not convert back.
    bool channels_last = false;
};

/// A value of a model: known at import, an array, or both (an initializer, or a constant that was needed at run time).
struct Slot {
    ElementType type = ElementType::kFloat;
    Dims dims;
    std::string name;
    std::optional<Constant> constant{};       ///< can be computed with at import
    const HostTensor* initializer = nullptr;  ///< known, but kept as a state tensor: a weight
    std::optional<Array> array{};
    bool is_graph_input = false;
    bool is_weight = false;  ///< a float initializer of the model

    bool is_empty() const;
};
using Operand = std::shared_ptr<Slot>;

/// A state tensor of the graph. Entries are in order of first use.
struct StateEntry {
    std::string name;
    canonical::TensorType type;
    canonical::Tensor value{};                ///< value of a constant; zeros for an input
    const HostTensor* initializer = nullptr;  ///< initializer, whose value is copied only if the entry is kept
    Dims dims{};
    bool is_weight = false;
    bool is_buffer = false;       ///< updated by the model itself, or fixed by its meaning; never trained
    std::optional<Value> next{};  ///< next value; unchanged if absent

    canonical::Tensor take_value() &&;
};

enum class Mode : std::uint8_t { kForward, kTraining };

class Lowering {
  public:
    Lowering(Mode mode, const program::Profile& profile);

    program::Tape& tape() { return tape_; }
    program::GraphBuilder& graph() { return graph_; }
    Mode mode() const { return mode_; }
    std::vector<StateEntry>& state() { return state_; }
    std::vector<std::string>& notes() { return notes_; }
    void note(std::string text);
    /// Returns an id that no other random tensor of the graph has.
    std::uint32_t next_tensor_id() { return ++tensor_ids_; }

    // Values.
    Operand add_constant(Constant constant, std::string name = {});
    Operand add_array(Array array);
    Value add_state(StateEntry entry);
    /// `x` as an array with its axes in order.
    Array array(const Operand& x);
    /// Like array(), but may be channels-last.
    Array array_any(const Operand& x);
    /// Returns the constant value of `x`; nullopt if it is computed at run time.
    std::optional<Constant> known(const Operand& x) const;
    /// Excludes initializer `x` from training.
    void mark_buffer(const Operand& x);
    /// Returns the state entry of `x` if it is an initializer; else nullptr.
    StateEntry* state_of(const Operand& x);

    // Data movement. Constant operands give constants.
    Operand reshape(const Operand& x, const Dims& dims);
    Operand permute(const Operand& x, std::span<const std::uint32_t> order);
    Operand slice(const Operand& x, std::uint32_t axis, std::int64_t first, std::uint32_t count, std::int32_t step = 1);
    Operand pad(
        const Operand& x, std::span<const std::int32_t> before, std::span<const std::int32_t> after, double fill = 0.0
    );
    Operand expand(const Operand& x, const Dims& dims);
    Operand concat(std::span<const Operand> parts, std::uint32_t axis);
    /// Gathers the elements at `indices` (all in range) along `axis` with slices; nullptr if that needs too many.
    Operand take(const Operand& x, std::uint32_t axis, std::span<const std::int64_t> indices);
    /// Applies any view whose dimensions have no zeros.
    Operand apply(const Operand& x, const canonical::View& view, double fill = 0.0);

    // Arrays as matrices.
    /// `x` as f32.
    Value real(const Array& x);
    /// `x` as i32.
    Value index(const Array& x);
    Array channels_last(const Array& x);
    Array channels_first(const Array& x);
    /// `x` with its axes permuted by `order`, as an f32 matrix of `shape`.
    Value matrix(const Array& x, std::span<const std::uint32_t> order, canonical::Shape shape);
    /// A view of f32 or i32, differentiable. A view that turns out to be a whole state tensor returns that tensor.
    Value view(const Value& x, const canonical::View& view, canonical::Shape shape, double fill = 0.0);
    Value transpose(const Value& x, std::uint32_t groups = 1);
    /// The same elements as a matrix of `shape`.
    Value view_as(const Value& x, canonical::Shape shape);
    /// Converts a matrix whose elements are in the order of `dims` to an array of these dimensions.
    Array from_matrix(const Value& value, ElementType type, const Dims& dims);
    /// fit() returns a [1,1], [1,N], [M,1] or [M,N] that broadcasts to an array of `to`; whole() returns exactly its
    /// matrix.
    Value fit(const Array& x, const Dims& to, bool channels_last);
    Value whole(const Array& x, const Dims& to, bool channels_last);
    Value scalar(float value) { return graph_.fill({1, 1}, value); }

    /// Applies `f` to each element.
    Array map(const Array& x, const std::function<Value(const Value&)>& f);
    /// Applies `f` to pairs of elements, with `b` broadcast; the first argument of `f` always has the full shape.
    Array zip(
        const Array& a, const Array& b, ElementType type, const std::function<Value(const Value&, const Value&)>& f,
        bool commutes = false
    );

    /// Throws Refusal for element types that graphs cannot compute with; adds a note if precision is lost.
    void require_computable(ElementType type);
    /// Counts elements computed at import. Throws Refusal beyond a fixed total.
    void charge(const Constant& constant);

  private:
    Array materialise(const Slot& slot);
    void join(std::vector<Value>& values, std::vector<Dims>& shapes, std::uint32_t axis);

    Mode mode_;
    program::GraphBuilder graph_;
    program::Tape tape_;
    std::vector<StateEntry> state_;
    std::vector<std::string> notes_;
    std::uint32_t tensor_ids_ = 0;
    std::uint64_t charged_ = 0;
};

/// Broadcasts shapes by NumPy's rules. Throws Refusal if they do not match.
Dims broadcast_dims(std::span<const Dims> shapes);
Dims broadcast_dims(const Dims& a, const Dims& b);
/// The permutation 0, 2, .., n, 1 to channels-last and its inverse 0, n, 1, .., n-1.
std::vector<std::uint32_t> to_channels_last(std::size_t rank);
std::vector<std::uint32_t> to_channels_first(std::size_t rank);
std::vector<std::uint32_t> inverse(std::span<const std::uint32_t> order);
Dims permuted(const Dims& dims, std::span<const std::uint32_t> order);

}  // namespace assay::onnx
