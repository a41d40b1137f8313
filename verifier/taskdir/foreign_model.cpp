// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/foreign_model.hpp>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <verifier/artifacts/file.hpp>
#include <verifier/taskdir/open_file.hpp>
#include <verifier/taskdir/parser_orders.hpp>

namespace assay::taskdir {
namespace {

// A model's message, its tensors and the state made of them are in memory at once; numbers of one byte become eight.
constexpr std::uint32_t kModelFactor = 16;

using Imported = Result<onnx::TrainingImport, ModelError>;

Imported fail_model(ModelError error) { return Unexpected{std::move(error)}; }
Imported garbage_model() { return fail_model(sandbox::make_refusal(sandbox::RefusalKind::kGarbage)); }

/// A file that a model keeps weights in: it lies beside the model or in folders there.
std::optional<artifacts::StoredFile> open_beside(const std::filesystem::path& model, const std::string& location) {
    const std::filesystem::path name(location);
    const std::filesystem::path path = model.parent_path() / name;
    std::error_code error;
    if (name.empty() || name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end() ||
        !std::filesystem::is_regular_file(path, error)) {
        return std::nullopt;
    }
    return artifacts::StoredFile::open(path);
}

onnx::ExternalData weights_beside(const std::filesystem::path& model) {
    return [model](const std::string& location, std::uint64_t offset, std::uint64_t length) -> std::optional<Bytes> {
        const auto file = open_beside(model, location);
        if (!file || offset > file->size_bytes() || length > file->size_bytes() - offset) {
            return std::nullopt;
        }
        const ByteView part = file->view().subspan(offset, length);
        return Bytes(part.begin(), part.end());
    };
}

/// The call's files: the model, and what the order says beside it.
struct Files {
    std::vector<artifacts::StoredFile> all;
    std::vector<std::string> locations{};  ///< of those after the first
};

Result<sandbox::MappedFile, sandbox::Refusal> ask_for_model(
    const onnx::TrainingConfig& config, const Files& files, bool is_complete
) {
    ModelOrder order = to_order(config);
    order.locations = files.locations;
    order.is_complete = is_complete;
    sandbox::Call call{.parser = "onnx", .config = codec::encode(order)};
    std::uint64_t size_bytes = 0;
    for (const artifacts::StoredFile& file : files.all) {
        call.files.push_back({file.descriptor(), file.size_bytes()});
        size_bytes += file.size_bytes();
    }
    call.limits = sandbox::limits_for(size_bytes, kModelFactor);
    return sandbox::run(call);
}

/// Takes what the parser made, if it is what the importer promises.
Imported take_made(ModelMade made, ByteView values) {
    if (!program::check_program(made.program) || made.initial != program::types_of(made.program.initial)) {
        return garbage_model();
    }
    onnx::TrainingImport out{.program = std::move(made.program), .initial = {}, .notes = std::move(made.notes)};
    for (const canonical::TensorType& type : made.initial) {
        const std::uint64_t size = type.shape.element_count() * canonical::size_of(type.dtype);
        if (size > values.size()) {
            return garbage_model();
        }
        const ByteView data = values.first(size);
        values = values.subspan(size);
        out.initial.push_back({.dtype = type.dtype, .shape = type.shape, .data = Bytes(data.begin(), data.end())});
    }
    return values.empty() ? Imported(std::move(out)) : garbage_model();
}

Imported take_model_problem(ModelProblem problem) {
    const auto kind = static_cast<onnx::ImportErrorKind>(problem.kind);
    if (kind < onnx::ImportErrorKind::kMalformed || kind > onnx::ImportErrorKind::kConfig) {
        return garbage_model();
    }
    return fail_model(onnx::ImportError{
        .kind = kind,
        .message = std::move(problem.message),
        .op = std::move(problem.op),
        .input = std::move(problem.input)});
}

}  // namespace

std::string message_of(const ModelError& error) {
    const auto* problem = std::get_if<onnx::ImportError>(&error);
    return problem != nullptr ? problem->message : std::get<sandbox::Refusal>(error).message;
}

Imported import_foreign_model(const std::filesystem::path& path, const onnx::TrainingConfig& config) {
    ASSERT(!config.external);
    Files files{.all = {open_file(path)}};
    if (sandbox::mode() == sandbox::Mode::kOff) {
        onnx::TrainingConfig with_weights = config;
        with_weights.external = weights_beside(path);
        auto made = onnx::import_training(files.all[0].view(), with_weights);
        return made ? Imported(*std::move(made)) : fail_model(made.error());
    }
    for (const bool is_complete : {false, true}) {
        auto mapped = ask_for_model(config, files, is_complete);
        if (!mapped) {
            return fail_model(mapped.error());
        }
        ByteView rest = mapped->bytes();
        const auto encoded = take_answer(rest);
        auto answer = encoded ? codec::decode<ModelAnswer>(*encoded) : Unexpected{codec::DecodeError::kTruncated};
        if (!answer) {
            return garbage_model();
        }
        if (auto* made = std::get_if<ModelMade>(&*answer)) {
            return take_made(std::move(*made), rest);
        }
        if (auto* problem = std::get_if<ModelProblem>(&*answer)) {
            return take_model_problem(std::move(*problem));
        }
        for (const std::string& location : std::get<ModelNeeds>(*answer).locations) {
            if (auto file = open_beside(path, location)) {
                files.all.push_back(*std::move(file));
                files.locations.push_back(location);
            }
        }
    }
    return garbage_model();  // it asks once more, with everything at hand
}

}  // namespace assay::taskdir
