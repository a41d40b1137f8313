// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>

namespace assay::onnx {
namespace {

constexpr std::int64_t kMaxSize = canonical::kMaxViewSize;

std::uint32_t checked_size(std::int64_t size) {
    if (size < 0) {
        refuse_invalid("a dimension of " + std::to_string(size));
    }
    if (size > kMaxSize) {
        refuse_too_large("a dimension of " + std::to_string(size));
    }
    return static_cast<std::uint32_t>(size);
}

Dims checked_dims(std::span<const std::int64_t> sizes) {
    Dims out;
    for (const std::int64_t size : sizes) {
        out.push_back(checked_size(size));
    }
    checked_elements(out);
    return out;
}

Outputs lower_identity(Call& call) { return {call.in(0)}; }

// The same numbers, in a node that the tape does not know.
Outputs lower_stop_gradient(Call& call) {
    const Operand& x = call.in(0);
    if (x->is_empty() || x->constant || kind_of(x->type) != Kind::kReal) {
        return {x};
    }
    Array out = call.array_any(0);
    out.value = call.graph().scale(call.lowering().real(out), 1.0F);
    return {call.lowering().add_array(out)};
}

Outputs lower_shape(Call& call) {
    const Dims& dims = call.in(0)->dims;
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto clamp = [rank](std::int64_t axis) {
        return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
    };
    const std::int64_t start = clamp(call.integer("start", 0));
    const std::int64_t end = clamp(call.integer("end", rank));
    std::vector<std::int64_t> sizes;
    for (std::int64_t axis = start; axis < end; ++axis) {
        sizes.push_back(dims[static_cast<std::size_t>(axis)]);
    }
    return {call.lowering().add_constant(make_index(sizes))};
}

Outputs lower_size(Call& call) {
    const auto count = static_cast<std::int64_t>(checked_elements(call.in(0)->dims));
    return {call.lowering().add_constant(make_integers(ElementType::kInt64, {}, {count}))};
}

template <class T>
std::vector<double> to_reals(const std::vector<T>& values) {
    return {values.begin(), values.end()};
}

Outputs lower_constant(Call& call) {
    Lowering& lowering = call.lowering();
    const std::string& name = call.node().outputs.empty() ? call.node().name : call.node().outputs[0];
    if (const Attribute* value = call.attribute("value", AttributeKind::kTensor)) {
        const HostTensor& tensor = value->tensor;
        if (checked_elements(tensor.dims) <= kMaxConstant) {
            return {lowering.add_constant(to_constant(tensor), name)};
        }
        auto slot = std::make_shared<Slot>();
        slot->type = tensor.type;
        slot->dims = tensor.dims;
        slot->name = name;
        slot->initializer = &tensor;
        return {slot};
    }
    if (call.has_attribute("value_float")) {
        return {lowering.add_constant(
            make_reals(ElementType::kFloat, {}, {static_cast<double>(call.real("value_float", 0.0F))}), name
        )};
    }
    if (call.has_attribute("value_int")) {
        return {lowering.add_constant(make_integers(ElementType::kInt64, {}, {call.integer("value_int")}), name)};
    }
    if (const Attribute* value = call.attribute("value_floats", AttributeKind::kFloats)) {
        const auto count = static_cast<std::uint32_t>(value->reals.size());
        return {lowering.add_constant(make_reals(ElementType::kFloat, {count}, to_reals(value->reals)), name)};
    }
    if (call.has_attribute("value_ints")) {
        return {lowering.add_constant(make_index(call.integers("value_ints")), name)};
    }
    refuse_invalid("there is no value");
}

Outputs lower_constant_of_shape(Call& call) {
    const Dims dims = checked_dims(call.known_integers(0, "shape"));
    Constant value = make_reals(ElementType::kFloat, {1}, {0.0});
    if (const Attribute* given = call.attribute("value", AttributeKind::kTensor)) {
        value = to_constant(given->tensor);
    }
    if (value.count() != 1) {
        refuse_invalid("the value is not one number");
    }
    value.dims = dims;
    if (checked_elements(dims) == 0) {
        value.reals.clear();
        value.integers.clear();
    }
    return {call.lowering().add_constant(std::move(value))};
}

Outputs lower_range(Call& call) {
    const ElementType type = call.in(0)->type;
    call.require_same_type(0, 1);
    call.require_same_type(0, 2);
    const double start = call.known_real(0, "start");
    const double limit = call.known_real(1, "limit");
    const double delta = call.known_real(2, "delta");
    const double steps = std::ceil((limit - start) / delta);
    if (!(steps <= static_cast<double>(kMaxConstant))) {
        refuse_too_large("the range has too many elements, or no end");
    }
    const auto count = static_cast<std::uint32_t>(std::max(steps, 0.0));
    Constant out{type, {count}, {}, {}};
    for (std::uint32_t i = 0; i < count; ++i) {
        const double value = start + i * delta;
        if (out.is_real()) {
            out.reals.push_back(rounded(type, value));
        } else {
            out.integers.push_back(static_cast<std::int64_t>(value));
        }
    }
    return {call.lowering().add_constant(std::move(out))};
}

Outputs lower_eye_like(Call& call) {
    const Dims& dims = call.in(0)->dims;
    if (dims.size() != 2) {
        refuse_invalid("the input is not a matrix");
    }
    const std::int64_t type = call.integer("dtype", static_cast<std::int64_t>(call.in(0)->type));
    if (type < 0 || type > 255 || !is_element_type(static_cast<ElementType>(type))) {
        call.unsupported_attribute("dtype", std::to_string(type));
    }
    if (checked_elements(dims) > kMaxConstant) {
        refuse_too_large("an identity matrix of dimensions " + to_text(dims));
    }
    const std::int64_t k = call.integer("k", 0);
    std::vector<std::int64_t> values;
    for (std::int64_t row = 0; row < dims[0]; ++row) {
        for (std::int64_t col = 0; col < dims[1]; ++col) {
            values.push_back(col - row == k ? 1 : 0);
        }
    }
    const Constant out = make_integers(ElementType::kInt64, dims, std::move(values));
    return {call.lowering().add_constant(cast_constant(out, static_cast<ElementType>(type)))};
}

Outputs lower_reshape(Call& call) {
    const Operand& x = call.in(0);
    std::vector<std::int64_t> sizes = call.known_integers(1, "shape");
    const bool allows_zero = call.integer("allowzero", 0) != 0;
    std::int64_t product = 1;
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] == 0 && !allows_zero) {
            if (i >= x->dims.size()) {
                refuse_invalid("dimension " + std::to_string(i) + " is to be copied, but the input has none");
            }
            sizes[i] = x->dims[i];
        }
        if (sizes[i] == -1 && !open) {
            open = i;
            continue;
        }
        product *= checked_size(sizes[i]);
        if (product > static_cast<std::int64_t>(kMaxElements)) {
            refuse_too_large("the shape has more than 2^31 elements");
        }
    }
    if (open) {
        const auto count = static_cast<std::int64_t>(checked_elements(x->dims));
        if (product == 0 || count % product != 0) {
            refuse_invalid("dimension " + std::to_string(*open) + " cannot be inferred from " + to_text(x->dims));
        }
        sizes[*open] = count / product;
    }
    return {call.lowering().reshape(x, checked_dims(sizes))};
}

Outputs lower_flatten(Call& call) {
    const Operand& x = call.in(0);
    const auto rank = static_cast<std::int64_t>(x->dims.size());
    std::int64_t axis = call.integer("axis", 1);
    if (axis < -rank || axis > rank) {
        refuse_invalid("axis " + std::to_string(axis) + " is out of range");
    }
    axis = axis < 0 ? axis + rank : axis;
    std::uint64_t rows = 1;
    std::uint64_t cols = 1;
    for (std::int64_t i = 0; i < rank; ++i) {
        (i < axis ? rows : cols) *= x->dims[static_cast<std::size_t>(i)];
    }
    const std::vector<std::int64_t> sizes{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(cols)};
    return {call.lowering().reshape(x, checked_dims(sizes))};
}

Outputs lower_squeeze(Call& call) {
    const Operand& x = call.in(0);
    std::vector<bool> drops(x->dims.size(), false);
    if (const auto axes = call.integers_or_input("axes", 1)) {
        for (const std::int64_t axis : *axes) {
            const std::uint32_t at = call.axis_of(axis, x->dims.size());
            if (x->dims[at] != 1) {
                refuse_invalid("axis " + std::to_string(axis) + " has " + std::to_string(x->dims[at]) + " elements");
            }
            drops[at] = true;
        }
    } else {
        std::transform(x->dims.begin(), x->dims.end(), drops.begin(), [](std::uint32_t size) { return size == 1; });
    }
    Dims dims;
    for (std::size_t i = 0; i < drops.size(); ++i) {
        if (!drops[i]) {
            dims.push_back(x->dims[i]);
        }
    }
    return {call.lowering().reshape(x, dims)};
}

Outputs lower_unsqueeze(Call& call) {
    const Operand& x = call.in(0);
    const auto axes = call.integers_or_input("axes", 1);
    if (!axes) {
        refuse_invalid("there are no axes");
    }
    const std::size_t rank = x->dims.size() + axes->size();
    std::vector<bool> is_new(rank, false);
    for (const std::int64_t axis : *axes) {
        const std::uint32_t at = call.axis_of(axis, rank);
        if (is_new[at]) {
            refuse_invalid("axis " + std::to_string(axis) + " is given twice");
        }
        is_new[at] = true;
    }
    Dims dims;
    std::size_t next = 0;
    for (std::size_t i = 0; i < rank; ++i) {
        dims.push_back(is_new[i] ? 1 : x->dims[next++]);
    }
    return {call.lowering().reshape(x, dims)};
}

Outputs lower_expand(Call& call) {
    const Dims dims = checked_dims(call.known_integers(1, "shape"));
    return {call.lowering().expand(call.in(0), broadcast_dims(call.in(0)->dims, dims))};
}

// Axis by axis: a new axis before it, repeated, and both as one.
Outputs lower_tile(Call& call) {
    Lowering& lowering = call.lowering();
    const std::vector<std::int64_t> repeats = call.known_integers(1, "repeats");
    Operand out = call.in(0);
    const Dims dims = out->dims;
    if (repeats.size() != dims.size()) {
        refuse_invalid("there are " + std::to_string(repeats.size()) + " repeats for " + to_text(dims));
    }
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        const std::uint32_t count = checked_size(repeats[axis]);
        Dims after = out->dims;
        after[axis] = checked_size(std::int64_t{after[axis]} * count);
        const auto elements = static_cast<std::int64_t>(checked_elements(after));
        if (elements == 0) {
            out = lowering.add_constant(Constant{out->type, after, {}, {}});
            continue;
        }
        std::int64_t inner = 1;
        for (std::size_t i = axis + 1; i < dims.size(); ++i) {
            inner *= out->dims[i];
        }
        inner *= dims[axis];
        const std::vector<std::int64_t> split{elements / (inner * count), 1, inner};
        const std::vector<std::int64_t> repeated{elements / (inner * count), count, inner};
        out = lowering.expand(lowering.reshape(out, checked_dims(split)), checked_dims(repeated));
        out = lowering.reshape(out, after);
    }
    return {out};
}

}  // namespace

std::vector<Operator> shape_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    constexpr Derivative kZero = Derivative::kZero;
    return {
        {"Identity", 1, kExact, {}, lower_identity},
        {"StopGradient", 1, kZero, {}, lower_stop_gradient, kOwnDomain},
        {"Shape", 1, kZero, {"start", "end"}, lower_shape},
        {"Size", 1, kZero, {}, lower_size},
        {"Constant", 1, kZero, {"value", "value_float", "value_floats", "value_int", "value_ints"}, lower_constant},
        {"ConstantOfShape", 9, kZero, {"value"}, lower_constant_of_shape},
        {"Range", 11, kZero, {}, lower_range},
        {"EyeLike", 9, kZero, {"dtype", "k"}, lower_eye_like},
        {"Reshape", 5, kExact, {"allowzero"}, lower_reshape},
        {"Flatten", 1, kExact, {"axis"}, lower_flatten},
        {"Squeeze", 1, kExact, {"axes"}, lower_squeeze},
        {"Unsqueeze", 1, kExact, {"axes"}, lower_unsqueeze},
        {"Expand", 8, kExact, {}, lower_expand},
        {"Tile", 6, kExact, {}, lower_tile},
    };
}

}  // namespace assay::onnx
