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

/// Inside onnx only: the values of a model while its operators are written into a graph.
namespace assay::onnx {

using program::Dims;
using program::Value;

/// Something that the graph computes or its state holds. Real numbers and bools (0 and 1) are f32. Integers are i32 as
/// long as they are only moved or used as indices, and f32 once there was arithmetic on them: exact up to 2^24.
struct Array {
    ElementType type = ElementType::kFloat;
    Dims dims;
    Value value;
    /// Whether the matrix holds the axes in the order 0, 2, .., n, 1: convolutions work on channels last, and what
    /// follows element by element need not move them back.
    bool channels_last = false;
};

/// One value of a model: known at import, or an array, or both (an initializer, a constant that was needed at run
/// time).
struct Slot {
    ElementType type = ElementType::kFloat;
    Dims dims;
    std::string name;
    std::optional<Constant> constant{};       ///< operators may compute with it at import
    const HostTensor* initializer = nullptr;  ///< known, but kept as a tensor: a weight
    std::optional<Array> array{};
    bool is_graph_input = false;
    bool is_weight = false;  ///< a float initializer of the model

    bool is_empty() const;
};
using Operand = std::shared_ptr<Slot>;

/// What the state of the graph holds, in the order in which it was needed.
struct StateEntry {
    std::string name;
    canonical::TensorType type;
    canonical::Tensor value{};                ///< of a constant; of an input, zeros
    const HostTensor* initializer = nullptr;  ///< whose value is copied only into what is kept
    Dims dims{};
    bool is_weight = false;
    bool is_buffer = false;         ///< changed by the model itself or fixed by its meaning, never trained
    std::optional<Value> next{};    ///< what the step makes of it; unchanged when absent

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
    /// A number that no other random tensor of the graph has.
    std::uint32_t next_tensor_id() { return ++tensor_ids_; }

    // Values.
    Operand add_constant(Constant constant, std::string name = {});
    Operand add_array(Array array);
    Value add_state(StateEntry entry);
    /// `x` as an array in the order of its axes.
    Array array(const Operand& x);
    /// The same, but channels may be last.
    Array array_any(const Operand& x);
    /// What is known of `x` at import; nullopt when it is computed.
    std::optional<Constant> known(const Operand& x) const;
    /// Excludes initializer `x` from training.
    void mark_buffer(const Operand& x);
    /// The state tensor that `x` is, if it is an initializer.
    StateEntry* state_of(const Operand& x);

    // Movement; constants stay constants.
    Operand reshape(const Operand& x, const Dims& dims);
    Operand permute(const Operand& x, std::span<const std::uint32_t> order);
    Operand slice(const Operand& x, std::uint32_t axis, std::int64_t first, std::uint32_t count, std::int32_t step = 1);
    Operand pad(
        const Operand& x, std::span<const std::int32_t> before, std::span<const std::int32_t> after, double fill = 0.0
    );
    Operand expand(const Operand& x, const Dims& dims);
    Operand concat(std::span<const Operand> parts, std::uint32_t axis);
    /// The elements at `indices` (all in range) along `axis`, as slices; nullptr when that would be too many.
    Operand take(const Operand& x, std::uint32_t axis, std::span<const std::int64_t> indices);
    /// Any view; its dimensions have no zeros.
    Operand apply(const Operand& x, const canonical::View& view, double fill = 0.0);

    // Arrays as matrices.
    /// `x` as f32.
    Value real(const Array& x);
    /// `x` as i32.
    Value index(const Array& x);
    Array channels_last(const Array& x);
    Array channels_first(const Array& x);
    /// Array `x` with its axes in another order, as a matrix of `shape`; f32.
    Value matrix(const Array& x, std::span<const std::uint32_t> order, canonical::Shape shape);
    /// A view of f32 or i32, differentiated. What turns out to be a tensor of the state is that tensor.
    Value view(const Value& x, const canonical::View& view, canonical::Shape shape, double fill = 0.0);
    Value transpose(const Value& x, std::uint32_t groups = 1);
    /// The same elements as a matrix of `shape`.
    Value view_as(const Value& x, canonical::Shape shape);
    /// Elements in the order of `dims` as an array of these dimensions.
    Array from_matrix(const Value& value, ElementType type, const Dims& dims);
    /// A [1,1], [1,N], [M,1] or [M,N] that broadcasts to an array of `to`; or exactly its matrix.
    Value fit(const Array& x, const Dims& to, bool channels_last);
    Value whole(const Array& x, const Dims& to, bool channels_last);
    Value scalar(float value) { return graph_.fill({1, 1}, value); }

    /// What operator `f` makes of each element.
    Array map(const Array& x, const std::function<Value(const Value&)>& f);
    /// What `f` makes of pairs, `b` broadcast; the first argument of `f` is whole.
    Array zip(
        const Array& a, const Array& b, ElementType type, const std::function<Value(const Value&, const Value&)>& f,
        bool commutes = false
    );

    /// Refuses element types that graphs cannot compute with; notes what loses precision.
    void require_computable(ElementType type);
    /// Counts elements computed at import, and refuses beyond a fixed total.
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

/// NumPy's broadcasting of several shapes. Throws Refusal when they do not fit.
Dims broadcast_dims(std::span<const Dims> shapes);
Dims broadcast_dims(const Dims& a, const Dims& b);
/// 0, 2, .., n, 1 and its inverse 0, n, 1, .., n-1.
std::vector<std::uint32_t> to_channels_last(std::size_t rank);
std::vector<std::uint32_t> to_channels_first(std::size_t rank);
std::vector<std::uint32_t> inverse(std::span<const std::uint32_t> order);
Dims permuted(const Dims& dims, std::span<const std::uint32_t> order);

}  // namespace assay::onnx
