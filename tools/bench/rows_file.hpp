// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <verifier/artifacts/dataset.hpp>

namespace assay::bench {

/// The dataset in a safetensors file with one i32 tensor "rows", as digits.py writes it. Throws std::runtime_error.
std::shared_ptr<const artifacts::Dataset> read_rows(const std::string& path);
/// The same rows, each with its number behind it.
std::shared_ptr<const artifacts::Dataset> numbered(const artifacts::Dataset& rows);

/// The windows of `context` + 1 characters of a text. Throws std::runtime_error.
artifacts::TextDataset read_text(const std::string& path, std::uint32_t context);

}  // namespace assay::bench
