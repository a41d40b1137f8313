// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/rows_file.hpp>

#include <stdexcept>
#include <utility>

#include <core/system/file.hpp>
#include <tools/bench/bench.hpp>
#include <verifier/artifacts/safetensors.hpp>

namespace assay::bench {

std::shared_ptr<const artifacts::Dataset> read_rows(const std::string& path) {
    auto file = artifacts::decode_safetensors(as_bytes(read_file(path)));
    if (!file || file->tensors.size() != 1 || file->tensors[0].name != "rows" ||
        file->tensors[0].tensor.dtype != canonical::DType::kI32) {
        throw std::runtime_error(path + ": it does not hold one i32 tensor named rows");
    }
    canonical::Tensor& rows = file->tensors[0].tensor;
    return std::make_shared<const artifacts::Dataset>(artifacts::pack_rows(std::move(rows.data), rows.shape.cols, false)
    );
}

artifacts::TextDataset read_text(const std::string& path, std::uint32_t context) {
    auto text = artifacts::build_text_dataset(read_file(path), context);
    if (!text) {
        throw std::runtime_error(path + ": " + artifacts::to_string(text.error()));
    }
    return *std::move(text);
}

}  // namespace assay::bench
