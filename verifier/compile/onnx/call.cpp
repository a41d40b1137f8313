// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/call.hpp>

#include <verifier/compile/onnx/limits.hpp>

namespace assay::onnx {

const Operand& Call::in(std::size_t i) const {
    if (!has(i)) {
        refuse_invalid("input " + std::to_string(i) + " is missing");
    }
    return inputs_[i];
}

Constant Call::known(std::size_t i, const char* what) const {
    const Operand& x = in(i);
    if (auto constant = lowering_.known(x)) {
        return *std::move(constant);
    }
    const std::string reason = std::string("input ") + std::to_string(i) + " (" + what + ") must be known at import";
    if (x->is_graph_input) {
        throw Refusal(
            ImportErrorKind::kNeedsConstant, reason + ": fix graph input '" + x->name + "' or make it an initializer",
            x->name
        );
    }
    refuse_unsupported(reason + ", but is computed from the model's inputs");
}

std::vector<std::int64_t> Call::known_integers(std::size_t i, const char* what) const {
    const Constant constant = known(i, what);
    if (constant.is_real()) {
        refuse_invalid("input " + std::to_string(i) + " (" + what + ") holds no integers");
    }
    std::vector<std::int64_t> out;
    for (std::size_t k = 0; k < constant.count(); ++k) {
        out.push_back(constant.integer(k));
    }
    return out;
}

std::int64_t Call::known_integer(std::size_t i, const char* what) const {
    const Constant constant = known(i, what);
    if (constant.count() != 1) {
        refuse_invalid("input " + std::to_string(i) + " (" + what + ") is not one number");
    }
    constexpr double kLimit = 0x1p53;
    if (constant.is_real() && !(constant.real(0) >= -kLimit && constant.real(0) <= kLimit)) {
        refuse_invalid("input " + std::to_string(i) + " (" + what + ") is out of range");
    }
    return constant.is_real() ? static_cast<std::int64_t>(constant.real(0)) : constant.integer(0);
}

double Call::known_real(std::size_t i, const char* what) const {
    const Constant constant = known(i, what);
    if (constant.count() != 1) {
        refuse_invalid("input " + std::to_string(i) + " (" + what + ") is not one number");
    }
    return constant.real(0);
}

const Attribute* Call::attribute(const std::string& name, AttributeKind kind) const {
    const auto found = node_.attributes.find(name);
    if (found == node_.attributes.end()) {
        return nullptr;
    }
    if (found->second.kind != kind) {
        refuse_invalid("attribute '" + name + "' has the wrong type");
    }
    return &found->second;
}

std::int64_t Call::integer(const std::string& name, std::int64_t otherwise) const {
    const Attribute* found = attribute(name, AttributeKind::kInt);
    return found == nullptr ? otherwise : found->integer;
}

std::int64_t Call::integer(const std::string& name) const {
    if (!has_attribute(name)) {
        refuse_invalid("attribute '" + name + "' is missing");
    }
    return integer(name, 0);
}

float Call::real(const std::string& name, float otherwise) const {
    const Attribute* found = attribute(name, AttributeKind::kFloat);
    return found == nullptr ? otherwise : found->real;
}

std::string Call::text(const std::string& name, const std::string& otherwise) const {
    const Attribute* found = attribute(name, AttributeKind::kString);
    return found == nullptr ? otherwise : found->text;
}

std::vector<std::int64_t> Call::integers(const std::string& name) const {
    const Attribute* found = attribute(name, AttributeKind::kInts);
    return found == nullptr ? std::vector<std::int64_t>{} : found->integers;
}

std::uint32_t Call::axis_of(std::int64_t axis, std::size_t rank) const {
    const auto count = static_cast<std::int64_t>(rank);
    if (axis < -count || axis >= count) {
        refuse_invalid("axis " + std::to_string(axis) + " is out of range for " + std::to_string(rank) + " axes");
    }
    return static_cast<std::uint32_t>(axis < 0 ? axis + count : axis);
}

std::optional<std::vector<std::int64_t>> Call::integers_or_input(const std::string& name, std::size_t i) const {
    if (has_attribute(name)) {
        return integers(name);
    }
    return has(i) ? std::optional(known_integers(i, name.c_str())) : std::nullopt;
}

void Call::unsupported_attribute(const std::string& name, const std::string& value) const {
    refuse_unsupported(name + " " + value + " is not supported");
}

void Call::require_same_type(std::size_t i, std::size_t j) const {
    if (in(i)->type != in(j)->type) {
        refuse_invalid(
            "inputs " + std::to_string(i) + " and " + std::to_string(j) + " have element types " +
            to_string(in(i)->type) + " and " + to_string(in(j)->type)
        );
    }
}

void Call::require_kind(std::size_t i, Kind kind, const char* what) const {
    if (kind_of(in(i)->type) != kind) {
        refuse_unsupported(
            "input " + std::to_string(i) + " (" + what + ") of element type " + to_string(in(i)->type) +
            " is not supported"
        );
    }
}

}  // namespace assay::onnx
