// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/cli/tiny_task.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <verifier/taskdir/task_build.hpp>
#include <verifier/taskdir/task_directory.hpp>

/// Task directories of the families of models that need no file of their own.
namespace assay::cli_test {

inline const std::string kMlp = kTaskHead + R"([model]
kind = "mlp"
hidden = [8]
classes = 3
batch_size = 2
[optimizer]
kind = "sgd"
[data]
rows = "rows.safetensors"
)";
inline const std::string kCnn = kTaskHead + R"([model]
kind = "cnn"
height = 4
width = 4
filters = [2]
classes = 3
batch_size = 2
[optimizer]
kind = "adam"
[data]
rows = "rows.safetensors"
)";
inline const std::string kGpt = kTaskHead + R"([model]
kind = "gpt"
context = 32
layers = 1
heads = 1
width = 32
batch_size = 2
[optimizer]
kind = "adamw"
weight_decay = 0.1
clip_norm = 1.0
accumulation = 2
[schedule]
kind = "cosine"
warmup_updates = 2
final_fraction = 0.1
[numerics]
profile = "XG-24"
[data]
text = "text.txt"
)";

inline canonical::Tensor integers(std::uint32_t rows, std::uint32_t cols, const std::vector<std::int32_t>& values) {
    REQUIRE(values.size() == std::size_t{rows} * cols);
    canonical::Tensor out = canonical::make_tensor(canonical::DType::kI32, {rows, cols});
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t b = 0; b < 4; ++b) {
            out.data[4 * i + b] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(values[i]) >> (8 * b));
        }
    }
    return out;
}

inline canonical::Tensor reals(std::uint32_t rows, std::uint32_t cols, const std::vector<float>& values) {
    std::vector<std::int32_t> bits;
    for (const float value : values) {
        bits.push_back(std::bit_cast<std::int32_t>(value));
    }
    canonical::Tensor out = integers(rows, cols, bits);
    out.dtype = canonical::DType::kF32;
    return out;
}

inline canonical::Tensor wide(std::uint32_t rows, std::uint32_t cols, const std::vector<std::int64_t>& values) {
    canonical::Tensor out = canonical::make_tensor(canonical::DType::kI64, {rows, cols});
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t b = 0; b < 8; ++b) {
            out.data[8 * i + b] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(values[i]) >> (8 * b));
        }
    }
    return out;
}

struct Directory {
    TemporaryDirectory at;

    Directory(const std::string& toml, std::vector<artifacts::NamedTensor> tensors) {
        write_text(at.path() / "task.toml", toml);
        write_text(at.path() / "text.txt", "the quick brown fox jumps over the lazy dog, twice");
        const Bytes bytes = artifacts::encode_safetensors({.tensors = std::move(tensors), .metadata = {}});
        write_text(at.path() / "rows.safetensors", std::string(bytes.begin(), bytes.end()));
    }
    taskdir::BuiltTask build() const {
        taskdir::Findings findings(taskdir::task_file_name(at.path()));
        auto task = taskdir::build_task(at.path(), findings);
        findings.throw_if_wrong();
        REQUIRE(task.has_value());
        return *std::move(task);
    }
    void check_refused(const std::string& part) const {
        CAPTURE(read_text(at.path() / "task.toml"));
        CHECK_THROWS_WITH_AS(build(), doctest::Contains(part.c_str()), taskdir::TaskDirectoryError);
    }
};

/// Two features and a class.
inline std::vector<artifacts::NamedTensor> small_rows() {
    return {{"rows", integers(4, 3, {1, 2, 0, 3, 4, 1, 5, 6, 2, 7, 8, 0})}};
}

inline std::vector<std::uint32_t> words_of(const taskdir::BuiltTask& task, std::uint64_t row) {
    std::vector<std::uint32_t> out;
    const Bytes bytes = task.data.dataset->row(row);
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
        out.push_back(
            bytes[i] | std::uint32_t{bytes[i + 1]} << 8U | std::uint32_t{bytes[i + 2]} << 16U |
            std::uint32_t{bytes[i + 3]} << 24U
        );
    }
    return out;
}

}  // namespace assay::cli_test
