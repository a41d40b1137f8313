// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/state_io.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::artifacts {
namespace {

using Names = std::vector<program::StateTensor>;

std::vector<NamedType> named_types(const Names& names) {
    std::vector<NamedType> types;
    for (const program::StateTensor& tensor : names) {
        types.push_back({.name = tensor.name, .type = tensor.type});
    }
    return types;
}

/// Hands the pieces of the encoding to `write`.
template <class Write>
void encode_named(const Names& names, std::span<const canonical::Tensor> tensors, const Write& write) {
    ASSERT(tensors.size() == names.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        ASSERT(tensors[i].dtype == names[i].type.dtype && tensors[i].shape == names[i].type.shape);
        ASSERT(tensors[i].data.size() == tensors[i].shape.element_count() * canonical::size_of(tensors[i].dtype));
    }
    write(encode_safetensors_head(named_types(names)));
    for (const canonical::Tensor& tensor : tensors) {
        write(tensor.data);
    }
}

Bytes encode_named(const Names& names, std::span<const canonical::Tensor> tensors) {
    Bytes out;
    encode_named(names, tensors, [&out](ByteView piece) { append(out, piece); });
    return out;
}

/// Hands the tensors to `take`, one after another in the order of `names`. `read` copies a part of the file, of which
/// `bytes` is a view.
template <class Read, class Take>
Result<void, StateError> read_named(const Names& names, ByteView bytes, const Read& read, const Take& take) {
    const auto layout = decode_safetensors_layout(bytes);
    if (!layout) {
        return Unexpected{StateError::kFormat};
    }
    if (layout->tensors.size() != names.size()) {
        return Unexpected{StateError::kTensors};
    }
    std::map<std::string_view, const TensorPlace*> by_name;
    for (const TensorPlace& place : layout->tensors) {
        by_name.emplace(place.name, &place);
    }
    std::vector<const TensorPlace*> places;
    for (const program::StateTensor& expected : names) {
        const auto found = by_name.find(expected.name);
        if (found == by_name.end()) {
            return Unexpected{StateError::kTensors};
        }
        if (found->second->type != expected.type) {
            return Unexpected{StateError::kType};
        }
        places.push_back(found->second);
    }
    for (const TensorPlace* place : places) {
        canonical::Tensor tensor = canonical::make_tensor(place->type.dtype, place->type.shape);
        read(place->offset, std::span(tensor.data));
        take(std::move(tensor));
    }
    return {};
}

template <class Take>
Result<void, StateError> read_named(const Names& names, const StoredFile& file, const Take& take) {
    const auto read = [&file](std::uint64_t offset, std::span<std::uint8_t> out) { file.read(offset, out); };
    return read_named(names, file.view(), read, take);
}

template <class... Source>
Result<std::vector<canonical::Tensor>, StateError> decode_named(const Names& names, const Source&... source) {
    std::vector<canonical::Tensor> tensors;
    tensors.reserve(names.size());
    TRY(read_named(names, source..., [&tensors](canonical::Tensor tensor) { tensors.push_back(std::move(tensor)); }));
    return tensors;
}

auto copier_of(ByteView bytes) {
    return [bytes](std::uint64_t offset, std::span<std::uint8_t> out) {
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    };
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

ContentStore::Entry store_state(
    const program::Program& program, std::span<const canonical::Tensor> state, const Leaves& leaves,
    const ContentStore& store
) {
    ContentStore::Writer writer(store);
    encode_named(program.state, state, [&writer](ByteView piece) { writer.write(piece); });
    const ContentStore::Entry stored = writer.finish();
    store.put_leaves(stored.hash, encode_leaves(leaves));
    return stored;
}

Result<std::vector<canonical::Tensor>, StateError> decode_state(const program::Program& program, ByteView bytes) {
    return decode_named(program.state, bytes, copier_of(bytes));
}

Result<std::vector<canonical::Tensor>, StateError> decode_state(
    const program::Program& program, const StoredFile& file
) {
    return decode_named(program.state, file);
}

Result<Hash256, StateError> root_of_state(const program::Program& program, const StoredFile& file) {
    std::vector<Hash256> commitments;
    TRY(read_named(program.state, file, [&commitments](const canonical::Tensor& tensor) {
        commitments.push_back(commit_tensor(tensor));
    }));
    return dispute::state_root(commitments);
}

Bytes encode_initial(const program::Program& program, std::span<const canonical::Tensor> initial) {
    return encode_named(program.initial, initial);
}

Result<std::vector<canonical::Tensor>, StateError> decode_initial(const program::Program& program, ByteView bytes) {
    return decode_named(program.initial, bytes, copier_of(bytes));
}

Result<std::vector<canonical::Tensor>, StateError> decode_initial(
    const program::Program& program, const StoredFile& file
) {
    return decode_named(program.initial, file);
}

std::uint64_t tensor_file_bytes_max(std::span<const program::StateTensor> tensors) {
    std::uint64_t bytes = kMaxSafetensorsFraming;
    for (const program::StateTensor& tensor : tensors) {
        bytes += tensor.type.shape.element_count() * canonical::size_of(tensor.type.dtype);
    }
    return bytes;
}

dispute::ProgramCommitment commit_program(const program::Program& program, const Hash256& initial_root) {
    return dispute::commit_program(
        program.init, program.step, static_cast<std::uint32_t>(program.state.size()), program.batch_size,
        program.dataset, {.count = static_cast<std::uint32_t>(program.initial.size()), .root = initial_root}
    );
}

}  // namespace assay::artifacts
