// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/task_evaluation.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <core/crypto/hash.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/compile/program/evaluation.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::taskdir {
namespace {

using canonical::Tensor;

constexpr const char* kSection = "evaluation";

/// The code points of valid UTF-8, one by one.
std::vector<std::string_view> characters_of(std::string_view text) {
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
    std::vector<std::string_view> out;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        while (end < text.size() && continues(text[end])) {
            ++end;
        }
        out.push_back(text.substr(at, end - at));
        at = end;
    }
    return out;
}

std::uint32_t load_word(const Bytes& data, std::size_t i) {
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < 4; ++b) {
        word |= std::uint32_t{data[4 * i + b]} << (8 * b);
    }
    return word;
}

/// Gives the characters of a hold-out text the numbers that they have in the data; false after a finding.
bool renumber(Tensor& rows, const std::string& holdout, const std::string& data, Findings& findings) {
    std::map<std::string_view, std::uint32_t> known;
    for (const std::string_view character : characters_of(data)) {
        known.emplace(character, static_cast<std::uint32_t>(known.size()));
    }
    std::vector<std::uint32_t> ids;
    for (const std::string_view character : characters_of(holdout)) {
        const auto found = known.find(character);
        if (found == known.end()) {
            findings.error("[evaluation] text", "has \"" + std::string(character) + "\", which the data do not have");
            return false;
        }
        ids.push_back(found->second);
    }
    for (std::size_t i = 0; i < rows.shape.element_count(); ++i) {
        const std::uint32_t id = ids[load_word(rows.data, i)];
        for (std::size_t b = 0; b < 4; ++b) {
            rows.data[4 * i + b] = static_cast<std::uint8_t>(id >> (8 * b));
        }
    }
    return true;
}

/// Rows of `all`, `count` of them, spread evenly.
Tensor spread_rows(const artifacts::Dataset& all, std::uint64_t count) {
    const canonical::DatasetShape shape = all.shape();
    Tensor out{.dtype = canonical::DType::kI32, .shape = {static_cast<std::uint32_t>(count), shape.width}, .data = {}};
    out.data.reserve(out.shape.element_count() * 4);
    for (std::uint64_t i = 0; i < count; ++i) {
        append(out.data, all.row(i * shape.rows / count));
    }
    return out;
}

/// As many rows as were asked for, or as there are and as the evaluation's graph holds; 0 after a finding.
std::uint64_t choose_rows(
    const Holdout& wanted, std::uint64_t available, const program::Program& trained, Findings& findings
) {
    const std::uint64_t batch = trained.batch_size;
    const std::uint64_t whole = available / batch;
    if (whole == 0 || wanted.batches.value_or(0) > whole) {
        findings.error(
            wanted.batches ? "[evaluation] batches" : kSection,
            "needs batches of " + std::to_string(batch) + " rows, and there are " + std::to_string(available) + " rows"
        );
        return 0;
    }
    const std::uint64_t rows = wanted.batches.value_or(whole) * batch;
    const auto made = program::make_evaluation(trained, rows);
    if (made) {
        return rows;
    }
    const std::uint64_t fit = made.error().rows_fit;
    switch (made.error().error) {
        case program::EvaluationError::kTooLarge:
            if (!wanted.batches && fit != 0) {
                return fit;
            }
            findings.error(
                "[evaluation] batches", "makes a graph of more than " + std::to_string(canonical::kMaxNodes) +
                                            " nodes; " + std::to_string(fit / batch) + " batches fit"
            );
            return 0;
        case program::EvaluationError::kTensors:
            findings.error(
                kSection, "is for states of at most " + std::to_string(canonical::kMaxStateTensors) +
                              " tensors; this one has " + std::to_string(trained.state.size())
            );
            return 0;
        case program::EvaluationError::kLoss:
            findings.error(
                kSection, "cannot be made: the loss depends on the step or on random numbers other than dropout"
            );
            return 0;
        case program::EvaluationError::kRows:
            break;
    }
    return 0;
}

/// The file's data, of the width and kinds of the task's; nullopt after a finding.
std::optional<TaskData> load_holdout(const TaskFile& task, const TaskData& data, Findings& findings) {
    TaskFile described = task;
    described.data = task.holdout->files;
    auto loaded = load_data(described, findings);
    if (!loaded) {
        return std::nullopt;
    }
    if (loaded->dataset->shape().width != data.dataset->shape().width || loaded->is_real != data.is_real) {
        findings.error(kSection, "has rows of other values than the data");
        return std::nullopt;
    }
    if (!task.holdout->files.text) {
        check_data(task.model, *loaded, findings);
    }
    return findings.has_errors() ? std::nullopt : std::move(loaded);
}

}  // namespace

std::optional<BuiltEvaluation> build_evaluation(
    const TaskFile& task, const TaskData& data, const program::Program& trained, Findings& findings
) {
    const auto holdout = load_holdout(task, data, findings);
    if (!holdout) {
        return std::nullopt;
    }
    const std::uint64_t available = holdout->dataset->shape().rows;
    const std::uint64_t count = choose_rows(*task.holdout, available, trained, findings);
    if (count == 0) {
        return std::nullopt;
    }
    if (count < available) {
        const std::string there_are = std::to_string(available) + " rows that there are";
        findings.note(kSection, "takes " + std::to_string(count) + " of the " + there_are);
    }
    Tensor rows = spread_rows(*holdout->dataset, count);
    if (task.holdout->files.text && !data.tokenizer &&
        !renumber(rows, holdout->characters, data.characters, findings)) {
        return std::nullopt;
    }
    BuiltEvaluation out{std::move(rows), program::make_evaluation(trained, count).value(), {}};
    out.artifact = artifacts::encode_holdout(out.holdout);
    return out;
}

contracts::EvaluationCommitment commit_evaluation(const BuiltEvaluation& evaluation) {
    const dispute::ProgramCommitment commitment = artifacts::commit_program(evaluation.program, Hash256{});
    return {
        .graph_root = commitment.init_root,
        .nodes = commitment.init_nodes,
        .holdout = dispute::commit_tensor(evaluation.holdout),
        .data =
            {.sha256 = crypto::sha256(evaluation.artifact), .size_bytes = evaluation.artifact.size(), .location = {}},
        .work = commitment.init_work,
        .outputs = commitment.outputs};
}

}  // namespace assay::taskdir
