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

std::shared_ptr<const artifacts::Dataset> numbered(const artifacts::Dataset& rows) {
    const canonical::DatasetShape shape = rows.shape();
    Bytes words;
    for (std::uint64_t i = 0; i < shape.rows; ++i) {
        const Bytes row = rows.row(i);
        words.insert(words.end(), row.begin(), row.end());
        for (int byte = 0; byte < 4; ++byte) {
            words.push_back(static_cast<std::uint8_t>(i >> (8 * byte)));
        }
    }
    return std::make_shared<const artifacts::Dataset>(artifacts::pack_rows(std::move(words), shape.width + 1, false));
}

artifacts::TextDataset read_text(const std::string& path, std::uint32_t context) {
    auto text = artifacts::build_text_dataset(read_file(path), context);
    if (!text) {
        throw std::runtime_error(path + ": " + artifacts::to_string(text.error()));
    }
    return *std::move(text);
}

}  // namespace assay::bench
