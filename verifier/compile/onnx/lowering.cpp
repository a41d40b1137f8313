// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/lowering.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/compile/onnx/limits.hpp>

namespace assay::onnx {

using canonical::DType;

namespace {

constexpr std::uint64_t kMaxCharged = std::uint64_t{1} << 25U;

canonical::Tensor tensor_of(const Constant& constant) {
    const Kind kind = kind_of(constant.type);
    const canonical::TensorType type = state_type_of(constant.type, constant.dims);
    canonical::Tensor out = canonical::make_tensor(type.dtype, type.shape);
    for (std::size_t i = 0; i < constant.count(); ++i) {
        const std::uint32_t word = kind == Kind::kReal
                                       ? std::bit_cast<std::uint32_t>(static_cast<float>(constant.real(i)))
                                       : word_of(constant.integer(i), kind);
        std::memcpy(out.data.data() + i * 4, &word, 4);
    }
    return out;
}

}  // namespace

canonical::Tensor StateEntry::take_value() && {
    return initializer != nullptr ? state_tensor_of(*initializer) : std::move(value);
}

bool Slot::is_empty() const { return std::find(dims.begin(), dims.end(), 0U) != dims.end(); }

Lowering::Lowering(Mode mode, const program::Profile& profile) : mode_(mode), tape_(graph_, profile) {}

void Lowering::note(std::string text) {
    if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) {
        notes_.push_back(std::move(text));
    }
}

void Lowering::require_computable(ElementType type) {
    if (type == ElementType::kFloat16 || type == ElementType::kBfloat16) {
        refuse_unsupported(std::string("element type ") + to_string(type) + " is not supported; export in float32");
    }
    if (type == ElementType::kDouble) {
        note("float64 values are computed as float32");
    }
}

void Lowering::charge(const Constant& constant) {
    charged_ += constant.reals.size() + constant.integers.size();
    if (charged_ > kMaxCharged) {
        refuse_too_large("constants of more than 2^25 elements in all");
    }
}

Operand Lowering::add_constant(Constant constant, std::string name) {
    charge(constant);
    auto slot = std::make_shared<Slot>();
    slot->type = constant.type;
    slot->dims = constant.dims;
    slot->name = std::move(name);
    slot->constant = std::move(constant);
    return slot;
}

Operand Lowering::add_array(Array array) {
    auto slot = std::make_shared<Slot>();
    slot->type = array.type;
    slot->dims = array.dims;
    slot->array = std::move(array);
    return slot;
}

Value Lowering::add_state(StateEntry entry) {
    if (state_.size() >= canonical::kMaxStateTensors) {
        refuse_too_large(
            "more than " + std::to_string(canonical::kMaxStateTensors) + " tensors of weights and constants"
        );
    }
    const auto has_name = [&](const StateEntry& other) { return other.name == entry.name; };
    while (std::any_of(state_.begin(), state_.end(), has_name)) {
        entry.name += "'";
    }
    const auto index = static_cast<std::uint32_t>(state_.size());
    const Value value = program::GraphBuilder::state(index, entry.type);
    state_.push_back(std::move(entry));
    return value;
}

Array Lowering::materialise(const Slot& slot) {
    require_computable(slot.type);
    Array out{slot.type, slot.dims, {}, false};
    if (slot.constant && slot.constant->is_uniform() && kind_of(slot.type) != Kind::kInteger) {
        require_array(slot.dims);
        out.value = graph_.fill(program::matrix_shape(slot.dims), static_cast<float>(slot.constant->real(0)));
        return out;
    }
    ASSERT(slot.constant || slot.initializer != nullptr);
    StateEntry entry;
    entry.name = slot.name.empty() ? "constant." + std::to_string(state_.size()) : slot.name;
    entry.type = state_type_of(slot.type, slot.dims);
    if (slot.constant) {
        entry.value = tensor_of(*slot.constant);
    } else {
        entry.initializer = slot.initializer;
    }
    entry.dims = slot.dims;
    entry.is_weight = slot.is_weight;
    out.value = add_state(std::move(entry));
    return out;
}

Array Lowering::array_any(const Operand& x) {
    if (!x->array) {
        x->array = materialise(*x);
    }
    return *x->array;
}

Array Lowering::array(const Operand& x) { return channels_first(array_any(x)); }

std::optional<Constant> Lowering::known(const Operand& x) const {
    if (x->constant) {
        return x->constant;
    }
    if (x->initializer != nullptr) {
        return to_constant(*x->initializer);
    }
    return std::nullopt;
}

StateEntry* Lowering::state_of(const Operand& x) {
    if (x->initializer == nullptr) {
        return nullptr;
    }
    const Array found = array_any(x);
    ASSERT(found.value.source == canonical::Source::kState);
    return &state_[found.value.index];
}

void Lowering::mark_buffer(const Operand& x) {
    if (StateEntry* entry = state_of(x)) {
        entry->is_buffer = true;
    }
}

Value Lowering::real(const Array& x) { return x.value.dtype == DType::kI32 ? graph_.to_float(x.value) : x.value; }

Value Lowering::index(const Array& x) { return x.value.dtype == DType::kF32 ? graph_.to_int(x.value) : x.value; }

Array Lowering::map(const Array& x, const std::function<Value(const Value&)>& f) {
    Array out = x;
    out.value = f(real(x));
    return out;
}

Array Lowering::zip(
    const Array& a, const Array& b, ElementType type, const std::function<Value(const Value&, const Value&)>& f,
    bool commutes
) {
    Array out{type, broadcast_dims(a.dims, b.dims), {}, a.channels_last || b.channels_last};
    require_array(out.dims);
    const bool swaps = commutes && a.dims != out.dims && b.dims == out.dims;
    const Array& first = swaps ? b : a;
    const Array& second = swaps ? a : b;
    const Value x = whole(first, out.dims, out.channels_last);
    out.value = f(x, fit(second, out.dims, out.channels_last));
    return out;
}

}  // namespace assay::onnx
