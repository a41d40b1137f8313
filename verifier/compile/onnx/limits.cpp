// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/limits.hpp>

namespace assay::onnx {

std::string to_text(const program::Dims& dims) {
    std::string out;
    for (const std::uint32_t size : dims) {
        out += out.empty() ? '[' : ',';
        out += std::to_string(size);
    }
    return out.empty() ? "[]" : out + ']';
}

std::uint64_t checked_elements(const program::Dims& dims) {
    if (dims.size() > canonical::kMaxViewAxes) {
        refuse_too_large("an array has " + std::to_string(dims.size()) + " axes; at most 8 are supported");
    }
    std::uint64_t count = 1;
    bool is_empty = false;
    for (const std::uint32_t size : dims) {
        is_empty = is_empty || size == 0;
        count *= size == 0 ? 1 : size;
        if (count > kMaxElements) {
            refuse_too_large(
                "an array of dimensions " + to_text(dims) +
                " has more than 2^31 elements; a smaller batch, with accumulation, needs smaller ones"
            );
        }
    }
    return is_empty ? 0 : count;
}

canonical::Shape checked_shape(std::uint64_t rows, std::uint64_t cols) {
    if (rows == 0 || cols == 0 || rows > canonical::kMaxDimension || cols > canonical::kMaxDimension ||
        rows * cols > kMaxElements) {
        refuse_too_large(
            "a matrix of " + std::to_string(rows) + " by " + std::to_string(cols) +
            ": each is 1 to 2^24, and together at most 2^31 elements; a smaller batch, with accumulation, needs "
            "smaller ones"
        );
    }
    return {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(cols)};
}

void require_array(const program::Dims& dims) {
    const std::uint64_t count = checked_elements(dims);
    if (count == 0) {
        refuse_unsupported("an array of dimensions " + to_text(dims) + " has no elements");
    }
    const std::uint64_t cols = dims.empty() ? 1 : dims.back();
    checked_shape(count / cols, cols);
}

}  // namespace assay::onnx
