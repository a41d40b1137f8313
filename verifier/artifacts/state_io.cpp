// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/state_io.hpp>

#include <map>
#include <string>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::artifacts {
namespace {

using Names = std::vector<program::StateTensor>;

Bytes encode_named(const Names& names, std::span<const canonical::Tensor> tensors) {
    ASSERT(tensors.size() == names.size());
    SafetensorsFile file;
    file.tensors.reserve(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        ASSERT(tensors[i].dtype == names[i].type.dtype && tensors[i].shape == names[i].type.shape);
        file.tensors.push_back({.name = names[i].name, .tensor = tensors[i]});
    }
    return encode_safetensors(file);
}

Result<std::vector<canonical::Tensor>, StateError> decode_named(const Names& names, ByteView bytes) {
    auto file = decode_safetensors(bytes);
    if (!file) {
        return Unexpected{StateError::kFormat};
    }
    if (file->tensors.size() != names.size()) {
        return Unexpected{StateError::kTensors};
    }
    std::map<std::string, canonical::Tensor> by_name;
    for (NamedTensor& named : file->tensors) {
        by_name.emplace(std::move(named.name), std::move(named.tensor));
    }
    std::vector<canonical::Tensor> tensors;
    tensors.reserve(names.size());
    for (const program::StateTensor& expected : names) {
        const auto found = by_name.find(expected.name);
        if (found == by_name.end()) {
            return Unexpected{StateError::kTensors};
        }
        if (found->second.dtype != expected.type.dtype || found->second.shape != expected.type.shape) {
            return Unexpected{StateError::kType};
        }
        tensors.push_back(std::move(found->second));
    }
    return tensors;
}

}  // namespace

const char* to_string(StateError error) noexcept {
    switch (error) {
        case StateError::kFormat:
            return "it is not a safetensors file";
        case StateError::kTensors:
            return "its tensors are not the program's";
        case StateError::kType:
            return "a tensor's type is not the program's";
    }
    return "";
}

Bytes encode_state(const program::Program& program, std::span<const canonical::Tensor> state) {
    return encode_named(program.state, state);
}

Result<std::vector<canonical::Tensor>, StateError> decode_state(const program::Program& program, ByteView bytes) {
    return decode_named(program.state, bytes);
}

Bytes encode_initial(const program::Program& program, std::span<const canonical::Tensor> initial) {
    return encode_named(program.initial, initial);
}

Result<std::vector<canonical::Tensor>, StateError> decode_initial(const program::Program& program, ByteView bytes) {
    return decode_named(program.initial, bytes);
}

dispute::ProgramCommitment commit_program(const program::Program& program, const Hash256& initial_root) {
    return dispute::commit_program(
        program.init, program.step, static_cast<std::uint32_t>(program.state.size()), program.batch_size,
        program.dataset, {.count = static_cast<std::uint32_t>(program.initial.size()), .root = initial_root}
    );
}

std::vector<canonical::TensorType> state_types(const program::Program& program) {
    std::vector<canonical::TensorType> types;
    types.reserve(program.state.size());
    for (const program::StateTensor& tensor : program.state) {
        types.push_back(tensor.type);
    }
    return types;
}

}  // namespace assay::artifacts
