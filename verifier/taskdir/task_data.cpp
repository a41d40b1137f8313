// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/task_data.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include <core/base/assert.hpp>
#include <core/crypto/hash.hpp>
#include <verifier/artifacts/foreign.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <verifier/taskdir/foreign_text.hpp>
#include <verifier/taskdir/open_file.hpp>

namespace assay::taskdir {
namespace {

using canonical::DType;
using canonical::Tensor;

constexpr const char* kRowsName = "rows";
constexpr std::uint32_t kUnknownRow = 0xffffffffU;  // -1, which is no row of a table

std::uint32_t word_at(ByteView data, std::size_t i) {
    std::uint32_t value = 0;
    for (std::size_t b = 0; b < 4; ++b) {
        value |= std::uint32_t{data[4 * i + b]} << (8 * b);
    }
    return value;
}

void store_word(Bytes& data, std::size_t i, std::uint32_t value) {
    for (std::size_t b = 0; b < 4; ++b) {
        data[4 * i + b] = static_cast<std::uint8_t>(value >> (8 * b));
    }
}

/// The word of an i32; nullopt for a number that is none.
std::optional<std::uint32_t> word_of(std::int64_t value) {
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
}

/// Element `i` as an i32.
std::optional<std::uint32_t> integer_at(const Tensor& tensor, std::size_t i) {
    if (tensor.dtype == DType::kI32) {
        return word_at(tensor.data, i);
    }
    if (tensor.dtype == DType::kI64) {
        const std::uint64_t high = word_at(tensor.data, 2 * i + 1);
        return word_of(static_cast<std::int64_t>(high << 32U | word_at(tensor.data, 2 * i)));
    }
    const float value = std::bit_cast<float>(word_at(tensor.data, i));
    constexpr float kBeyond = 2147483648.0F;  // 2^31; NaN is within nothing
    const bool is_whole = value >= -kBeyond && value < kBeyond && std::floor(value) == value;
    return is_whole ? word_of(static_cast<std::int64_t>(value)) : std::nullopt;
}

/// The bits of element `i` of reals, unless it is infinite or no number.
std::optional<std::uint32_t> finite_at(const Tensor& tensor, std::size_t i) {
    const std::uint32_t word = word_at(tensor.data, i);
    return std::isfinite(std::bit_cast<float>(word)) ? std::optional(word) : std::nullopt;
}

bool is_classifier(const Model& model) {
    return std::holds_alternative<program::MlpConfig>(model) || std::holds_alternative<program::CnnConfig>(model);
}

bool has_boundary(const Model& model) {
    const auto* const mlp = std::get_if<program::MlpConfig>(&model);
    return mlp != nullptr && mlp->boundary.after != 0;
}

bool takes_tokens(const Model& model) {
    return std::holds_alternative<program::CharModelConfig>(model) || std::holds_alternative<program::GptConfig>(model);
}

std::uint32_t context_of(const Model& model) {
    if (const auto* const gpt = std::get_if<program::GptConfig>(&model)) {
        return gpt->context;
    }
    return std::get<program::CharModelConfig>(model).context;
}

/// One after another in each row: where a tensor's values go.
struct Column {
    std::string name;
    const Tensor* tensor = nullptr;
    std::uint64_t rows = 0;
    std::uint64_t width = 0;
    std::uint64_t integers_from = 0;  ///< columns from here on are written as integers whatever they are stored as
};

/// "[data] rows" and so on: what a finding about the task's data names.
std::string key(const TaskFile& task, const char* name) { return "[" + task.data.section + "] " + name; }

std::string no_column(const std::string& path, const std::string& name) {
    return path + " has no tensor \"" + name + "\", and none named \"rows\"";
}

/// What of `file` makes the rows; empty after a finding.
std::vector<Column> choose_columns(
    const TaskFile& task, const artifacts::SafetensorsFile& file, const std::string& path, Findings& findings
) {
    const auto find = [&file](const std::string& name) {
        return std::find_if(file.tensors.begin(), file.tensors.end(), [&name](const auto& t) {
            return t.name == name;
        });
    };
    std::vector<Column> columns;
    if (const auto rows = find(kRowsName); rows != file.tensors.end()) {
        columns.push_back({.name = kRowsName, .tensor = &rows->tensor});
    } else {
        for (const std::string& name : task.data.columns) {
            const auto column = find(name);
            if (column == file.tensors.end()) {
                findings.error(key(task, "columns"), no_column(path, name));
                return {};
            }
            columns.push_back({.name = name, .tensor = &column->tensor});
        }
    }
    // A vector [n] was read as [1,n]; beside a matrix of n rows it means [n,1].
    std::uint64_t rows = 0;
    for (const Column& column : columns) {
        rows = std::max<std::uint64_t>(rows, column.tensor->shape.rows);
    }
    for (Column& column : columns) {
        const canonical::Shape shape = column.tensor->shape;
        const bool is_vector = shape.rows == 1 && shape.cols == rows && rows > 1;
        column.rows = is_vector ? rows : shape.rows;
        column.width = is_vector ? 1 : shape.cols;
        column.integers_from = column.width;
        if (column.rows != rows) {
            findings.error(
                key(task, "rows"), path + ": \"" + column.name + "\" has " + std::to_string(column.rows) +
                                       " rows, and another tensor " + std::to_string(rows)
            );
            return {};
        }
    }
    if (is_classifier(task.model)) {
        columns.back().integers_from = columns.size() == 1 ? columns.back().width - 1 : 0;
    }
    return columns;
}

/// Writes one column's values; false after a finding.
bool write_column(
    const Column& column, std::uint64_t at, std::uint64_t width, Bytes& out, const std::string& key, Findings& findings
) {
    const Tensor& tensor = *column.tensor;
    for (std::uint64_t row = 0; row < column.rows; ++row) {
        for (std::uint64_t col = 0; col < column.width; ++col) {
            const std::size_t from = row * column.width + col;
            const std::size_t to = row * width + at + col;
            const bool is_real = tensor.dtype == DType::kF32 && col < column.integers_from;
            const auto value = is_real ? finite_at(tensor, from) : integer_at(tensor, from);
            if (!value) {
                findings.error(
                    key, "\"" + column.name + "\" has in row " + std::to_string(row) + " a number that is " +
                             (is_real ? "not finite" : "no 32-bit integer")
                );
                return false;
            }
            store_word(out, to, *value);
        }
    }
    return true;
}

TaskData finish(const TaskFile& task, artifacts::Dataset dataset) {
    TaskData data;
    data.section = task.data.section;
    data.is_real.assign(dataset.shape().width, false);
    data.dataset = std::make_shared<const artifacts::Dataset>(std::move(dataset));
    return data;
}

void report(
    const TaskFile& task, const TokensError& error, const std::filesystem::path& tokenizer,
    const std::filesystem::path& text, Findings& findings
) {
    if (const auto* problem = std::get_if<text::TokenizerProblem>(&error)) {
        findings.error(key(task, "tokenizer"), tokenizer.string() + ": " + problem->message);
    } else if (const auto* refusal = std::get_if<sandbox::Refusal>(&error)) {
        findings.error(key(task, "tokenizer"), tokenizer.string() + ": " + refusal->message);
    } else {
        findings.error(key(task, "text"), text.string() + ": " + text::to_string(std::get<text::EncodeError>(error)));
    }
}

/// The text at `path` as the tokens of the task's tokenizer.
std::optional<TaskData> load_tokens(const TaskFile& task, const std::filesystem::path& path, Findings& findings) {
    const auto tokenizer_path = task.directory / *task.data.tokenizer;
    const artifacts::StoredFile file = open_file(tokenizer_path);
    const auto tokens = cut_by_foreign_tokenizer(file, open_file(path));
    if (!tokens) {
        report(task, tokens.error(), tokenizer_path, path, findings);
        return std::nullopt;
    }
    auto dataset = artifacts::window_tokens(tokens->ids, context_of(task.model));
    if (!dataset) {
        findings.error(
            key(task, "text"), path.string() + ": " + artifacts::to_string(dataset.error()) + ": it has " +
                                   std::to_string(tokens->ids.size()) + " tokens"
        );
        return std::nullopt;
    }
    TaskData data = finish(task, *std::move(dataset));
    data.vocabulary = tokens->vocabulary_size;
    data.tokenizer = crypto::sha256(file.view());
    return data;
}

std::optional<TaskData> load_text(const TaskFile& task, Findings& findings) {
    const auto path = task.directory / *task.data.text;  // an absolute path replaces the directory
    if (!takes_tokens(task.model)) {
        findings.error(
            key(task, "text"),
            std::string("a ") + kind_of(task.model) + " model takes no text; give it rows, a safetensors file"
        );
        return std::nullopt;
    }
    if (task.data.tokenizer) {
        return load_tokens(task, path, findings);
    }
    auto built = artifacts::build_text_dataset(read_file(path), context_of(task.model));
    if (!built) {
        findings.error(key(task, "text"), path.string() + ": " + artifacts::to_string(built.error()));
        return std::nullopt;
    }
    TaskData data = finish(task, std::move(built->dataset));
    data.vocabulary = built->vocabulary_size;
    data.characters = std::move(built->vocabulary);
    return data;
}

/// The file's tensors; nullopt after a finding.
std::optional<artifacts::SafetensorsFile> read_tensors(
    const std::filesystem::path& path, const std::string& key, Findings& findings
) {
    const artifacts::StoredFile file = open_file(path);
    auto layout = artifacts::decode_foreign_layout(file);
    if (!layout) {
        const auto* refusal = std::get_if<sandbox::Refusal>(&layout.error());
        findings.error(
            key,
            refusal != nullptr
                ? path.string() + ": " + refusal->message
                : path.string() +
                      " is not a safetensors file of F32, I32 and I64 tensors of one or two dimensions (ART-1 to 4)"
        );
        return std::nullopt;
    }
    return artifacts::take_tensors(*std::move(layout), file.view());
}

/// The number of each row, by which a boundary knows it. Rows of a hold-out set are none that it knows.
Tensor row_numbers(std::uint64_t rows, bool are_unknown) {
    Tensor out = canonical::make_tensor(DType::kI32, {static_cast<std::uint32_t>(rows), 1});
    for (std::uint64_t row = 0; row < rows; ++row) {
        store_word(out.data, row, are_unknown ? kUnknownRow : static_cast<std::uint32_t>(row));
    }
    return out;
}

std::optional<TaskData> load_rows(const TaskFile& task, Findings& findings) {
    const auto path = task.directory / *task.data.rows;
    const auto file = read_tensors(path, key(task, "rows"), findings);
    if (!file) {
        return std::nullopt;
    }
    std::vector<Column> columns = choose_columns(task, *file, path.string(), findings);
    if (columns.empty()) {
        return std::nullopt;
    }
    const Tensor numbers = row_numbers(columns[0].rows, task.data.section == "evaluation");
    if (has_boundary(task.model)) {
        columns.push_back({.name = "row", .tensor = &numbers, .rows = columns[0].rows, .width = 1, .integers_from = 0});
    }
    std::uint64_t width = 0;
    for (const Column& column : columns) {
        width += column.width;
    }
    const std::uint64_t rows = columns[0].rows;
    const canonical::DatasetShape widest{.rows = rows, .width = static_cast<std::uint32_t>(width)};
    if (width > canonical::kMaxDimension || !canonical::is_valid(widest)) {
        findings.error(
            key(task, "rows"), path.string() + ": " + std::to_string(rows) + " rows of " + std::to_string(width) +
                                   " values; a row has at most " + std::to_string(canonical::kMaxDimension) + " (PRG-9)"
        );
        return std::nullopt;
    }
    if (takes_tokens(task.model) && columns[0].tensor->dtype == DType::kF32) {
        findings.error(
            key(task, "rows"), path.string() + ": \"" + columns[0].name + "\" holds reals; tokens are integers"
        );
        return std::nullopt;
    }
    Bytes words(rows * width * 4);
    std::uint64_t at = 0;
    bool is_real = true;
    for (const Column& column : columns) {
        if (!write_column(column, at, width, words, key(task, "rows"), findings)) {
            return std::nullopt;
        }
        at += column.width;
        is_real = is_real && column.tensor->dtype == DType::kF32 && column.integers_from == column.width;
    }
    TaskData data = finish(task, artifacts::pack_rows(std::move(words), widest.width, is_real));
    data.is_real.clear();
    for (const Column& column : columns) {
        for (std::uint64_t i = 0; i < column.width; ++i) {
            data.is_real.push_back(column.tensor->dtype == DType::kF32 && i < column.integers_from);
        }
    }
    return data;
}

/// A finding about the first value of columns [first, last) that is not below `end`; negative numbers are not either.
void check_below(
    const TaskData& data, std::uint32_t first, std::uint32_t last, std::uint32_t end, const std::string& what,
    Findings& findings
) {
    const canonical::DatasetShape shape = data.dataset->shape();
    for (std::uint64_t row = 0; row < shape.rows; ++row) {
        const Bytes words = data.dataset->row(row);
        for (std::uint32_t col = first; col < last; ++col) {
            const std::uint32_t word = word_at(words, col);
            if (word >= end) {
                findings.error(
                    data.section, "value " + std::to_string(col) + " of row " + std::to_string(row) + " is " +
                                      std::to_string(static_cast<std::int32_t>(word)) + "; " + what + " are 0 to " +
                                      std::to_string(end - 1)
                );
                return;
            }
        }
    }
}

}  // namespace

std::optional<TaskData> load_data(const TaskFile& task, Findings& findings) {
    return task.data.text ? load_text(task, findings) : load_rows(task, findings);
}

void check_data(const Model& model, const TaskData& data, Findings& findings) {
    const std::uint32_t width = data.dataset->shape().width;
    if (const auto* const mlp = std::get_if<program::MlpConfig>(&model)) {
        const std::uint32_t end = has_boundary(model) ? width - 1 : width;
        check_below(data, end - 1, end, mlp->classes, "classes", findings);
    } else if (const auto* const cnn = std::get_if<program::CnnConfig>(&model)) {
        check_below(data, width - 1, width, cnn->classes, "classes", findings);
    } else if (const auto* const gpt = std::get_if<program::GptConfig>(&model)) {
        check_below(data, 0, width, gpt->vocabulary, "tokens", findings);
    } else if (const auto* const character = std::get_if<program::CharModelConfig>(&model)) {
        check_below(data, 0, width, character->vocabulary, "tokens", findings);
    }
}

}  // namespace assay::taskdir
