// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/host_tensor.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/refusal.hpp>

namespace assay::onnx {

static_assert(std::endian::native == std::endian::little, "tensors of models are read as they lie in memory");

namespace {

template <class T>
T load(const HostTensor& tensor, std::size_t i) {
    T out{};
    std::memcpy(&out, tensor.data.data() + i * sizeof out, sizeof out);
    return out;
}

// IEEE 754 binary16, exactly.
double half_to_real(std::uint16_t bits) {
    const int exponent = (bits >> 10U) & 0x1f;
    const int fraction = bits & 0x3ff;
    double magnitude = 0.0;
    if (exponent == 0x1f) {
        magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else if (exponent == 0) {
        magnitude = std::ldexp(fraction, -24);
    } else {
        magnitude = std::ldexp(fraction + 0x400, exponent - 25);
    }
    return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

}  // namespace

const char* to_string(ElementType type) noexcept {
    switch (type) {
        case ElementType::kFloat:
            return "float32";
        case ElementType::kUint8:
            return "uint8";
        case ElementType::kInt8:
            return "int8";
        case ElementType::kUint16:
            return "uint16";
        case ElementType::kInt16:
            return "int16";
        case ElementType::kInt32:
            return "int32";
        case ElementType::kInt64:
            return "int64";
        case ElementType::kBool:
            return "bool";
        case ElementType::kFloat16:
            return "float16";
        case ElementType::kDouble:
            return "float64";
        case ElementType::kUint32:
            return "uint32";
        case ElementType::kUint64:
            return "uint64";
        case ElementType::kBfloat16:
            return "bfloat16";
    }
    return "unknown";
}

bool is_element_type(ElementType type) noexcept {
    const auto n = static_cast<std::uint8_t>(type);
    return (n >= 1 && n <= 7) || (n >= 9 && n <= 13) || n == 16;
}

Kind kind_of(ElementType type) noexcept {
    switch (type) {
        case ElementType::kBool:
            return Kind::kTruth;
        case ElementType::kFloat:
        case ElementType::kDouble:
        case ElementType::kFloat16:
        case ElementType::kBfloat16:
            return Kind::kReal;
        default:
            return Kind::kInteger;
    }
}

std::size_t size_of(ElementType type) noexcept {
    switch (type) {
        case ElementType::kUint8:
        case ElementType::kInt8:
        case ElementType::kBool:
            return 1;
        case ElementType::kUint16:
        case ElementType::kInt16:
        case ElementType::kFloat16:
        case ElementType::kBfloat16:
            return 2;
        case ElementType::kFloat:
        case ElementType::kInt32:
        case ElementType::kUint32:
            return 4;
        case ElementType::kInt64:
        case ElementType::kUint64:
        case ElementType::kDouble:
            return 8;
    }
    return 0;
}

std::uint32_t integer_bits(ElementType type) noexcept {
    return kind_of(type) == Kind::kInteger ? static_cast<std::uint32_t>(size_of(type) * 8) : 0;
}

bool is_signed(ElementType type) noexcept {
    return type == ElementType::kInt8 || type == ElementType::kInt16 || type == ElementType::kInt32 ||
           type == ElementType::kInt64;
}

std::size_t count_of(const HostTensor& tensor) noexcept { return tensor.data.size() / size_of(tensor.type); }

double real_at(const HostTensor& tensor, std::size_t i) noexcept {
    switch (tensor.type) {
        case ElementType::kDouble:
            return load<double>(tensor, i);
        case ElementType::kFloat16:
            return half_to_real(load<std::uint16_t>(tensor, i));
        case ElementType::kBfloat16:
            return static_cast<double>(std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(tensor, i)} << 16U));
        default:
            return static_cast<double>(load<float>(tensor, i));
    }
}

std::int64_t integer_at(const HostTensor& tensor, std::size_t i) {
    switch (tensor.type) {
        case ElementType::kBool:
            return tensor.data[i] != 0 ? 1 : 0;
        case ElementType::kUint8:
            return load<std::uint8_t>(tensor, i);
        case ElementType::kInt8:
            return load<std::int8_t>(tensor, i);
        case ElementType::kUint16:
            return load<std::uint16_t>(tensor, i);
        case ElementType::kInt16:
            return load<std::int16_t>(tensor, i);
        case ElementType::kUint32:
            return load<std::uint32_t>(tensor, i);
        case ElementType::kInt32:
            return load<std::int32_t>(tensor, i);
        case ElementType::kUint64: {
            const auto value = load<std::uint64_t>(tensor, i);
            if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
                refuse_too_large("integer " + std::to_string(value) + " is beyond int64");
            }
            return static_cast<std::int64_t>(value);
        }
        default:
            return load<std::int64_t>(tensor, i);
    }
}

canonical::TensorType state_type_of(ElementType type, const program::Dims& dims) {
    require_array(dims);
    const bool is_integer = kind_of(type) == Kind::kInteger;
    return {is_integer ? canonical::DType::kI32 : canonical::DType::kF32, program::matrix_shape(dims)};
}

canonical::Tensor state_tensor_of(const HostTensor& tensor) {
    const Kind kind = kind_of(tensor.type);
    const canonical::TensorType type = state_type_of(tensor.type, tensor.dims);
    canonical::Tensor out = canonical::make_tensor(type.dtype, type.shape);
    if (tensor.type == ElementType::kFloat) {
        out.data = tensor.data;
        return out;
    }
    for (std::size_t i = 0; i < count_of(tensor); ++i) {
        std::uint32_t word = 0;
        if (kind == Kind::kReal) {
            word = std::bit_cast<std::uint32_t>(static_cast<float>(real_at(tensor, i)));
        } else {
            word = word_of(integer_at(tensor, i), kind);
        }
        std::memcpy(out.data.data() + i * 4, &word, 4);
    }
    return out;
}

}  // namespace assay::onnx
