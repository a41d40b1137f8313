// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/state_io.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
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

void check_type(const program::StateTensor& expected, const canonical::Tensor& tensor) {
    ASSERT(tensor.dtype == expected.type.dtype && tensor.shape == expected.type.shape);
    ASSERT(tensor.data.size() == tensor.shape.element_count() * canonical::size_of(tensor.dtype));
}

/// The layout of a file whose header is the one that encode_safetensors_head() writes for these tensors; nullopt of any
/// other file. Nothing is parsed.
std::optional<SafetensorsLayout> layout_by_head(const std::vector<NamedType>& types, ByteView bytes) {
    const Bytes head = encode_safetensors_head(types);
    if (bytes.size() < head.size() || !std::equal(head.begin(), head.end(), bytes.begin())) {
        return std::nullopt;
    }
    SafetensorsLayout out;
    std::uint64_t offset = head.size();
    for (const NamedType& tensor : types) {
        const std::uint64_t size = tensor.type.shape.element_count() * canonical::size_of(tensor.type.dtype);
        out.tensors.push_back(
            {.name = std::string(tensor.name), .type = tensor.type, .offset = offset, .size_bytes = size}
        );
        offset += size;
    }
    return offset == bytes.size() ? std::optional(std::move(out)) : std::nullopt;
}

Result<SafetensorsLayout, StateError> layout_of(const Names& /*names*/, const Frozen& /*frozen*/, ByteView bytes) {
    auto layout = decode_safetensors_layout(bytes);
    return layout ? Result<SafetensorsLayout, StateError>(*std::move(layout)) : Unexpected{StateError::kFormat};
}

/// Checkpoints that were fetched have the one encoding (ART-5, ART-16), so their headers need no parser. A file with
/// another one was damaged here or put here by hand.
Result<SafetensorsLayout, StateError> layout_of(const Names& names, const Frozen& frozen, const StoredFile& file) {
    std::vector<NamedType> in_file;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!frozen.has(i)) {
            in_file.push_back({.name = names[i].name, .type = names[i].type});
        }
    }
    if (auto layout = layout_by_head(in_file, file.view())) {
        return *std::move(layout);
    }
    auto layout = decode_foreign_layout(file);
    if (!layout) {
        const bool is_stopped = std::holds_alternative<sandbox::Refusal>(layout.error());
        return Unexpected{is_stopped ? StateError::kStopped : StateError::kFormat};
    }
    return *std::move(layout);
}

/// Hands the tensors to `take`, one after another in the order of `names`. `read` copies a part of the file, whose
/// layout is known. The file has all tensors, or all that are not frozen.
template <class Read, class Take>
Result<void, StateError> read_placed(
    const Names& names, const Frozen& frozen, const SafetensorsLayout& layout, const Read& read, const Take& take
) {
    std::map<std::string_view, const TensorPlace*> by_name;
    for (const TensorPlace& place : layout.tensors) {
        by_name.emplace(place.name, &place);
    }
    const bool is_whole = layout.tensors.size() == names.size();
    std::size_t found_count = 0;
    std::vector<const TensorPlace*> places;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto found = by_name.find(names[i].name);
        if (found == by_name.end() && (is_whole || !frozen.has(i))) {
            return Unexpected{StateError::kTensors};
        }
        if (found != by_name.end() && found->second->type != names[i].type) {
            return Unexpected{StateError::kType};
        }
        found_count += found != by_name.end() ? 1U : 0U;
        places.push_back(found != by_name.end() ? found->second : nullptr);
    }
    const auto frozen_count = static_cast<std::size_t>(
        std::count_if(frozen.places.begin(), frozen.places.end(), [](const auto& place) { return place.has_value(); })
    );
    if (found_count != layout.tensors.size() || (!is_whole && found_count + frozen_count != names.size())) {
        return Unexpected{StateError::kTensors};
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] == nullptr) {
            take(frozen.tensors[*frozen.places[i]]);
            continue;
        }
        canonical::Tensor tensor = canonical::make_tensor(places[i]->type.dtype, places[i]->type.shape);
        read(places[i]->offset, std::span(tensor.data));
        take(std::move(tensor));
    }
    return {};
}

auto copier_of(ByteView bytes) {
    return [bytes](std::uint64_t offset, std::span<std::uint8_t> out) {
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    };
}

auto copier_of(const StoredFile& file) {
    return [&file](std::uint64_t offset, std::span<std::uint8_t> out) { file.read(offset, out); };
}

template <class Source, class Take>
Result<void, StateError> read_named(const Names& names, const Frozen& frozen, const Source& source, const Take& take) {
    TRY_ASSIGN(const auto layout, layout_of(names, frozen, source));
    return read_placed(names, frozen, layout, copier_of(source), take);
}

template <class Source>
Result<std::vector<canonical::Tensor>, StateError> decode_named(
    const Names& names, const Frozen& frozen, const Source& source
) {
    std::vector<canonical::Tensor> tensors;
    tensors.reserve(names.size());
    TRY(read_named(names, frozen, source, [&tensors](canonical::Tensor tensor) {
        tensors.push_back(std::move(tensor));
    }));
    return tensors;
}

/// The tensors of the state that `file` has, by names and indices.
struct Selection {
    Names names;
    std::vector<std::size_t> indices;
};
Selection select(const program::Program& program, const Frozen& frozen) {
    Selection out;
    for (std::size_t i = 0; i < program.state.size(); ++i) {
        if (!frozen.has(i)) {
            out.names.push_back(program.state[i]);
            out.indices.push_back(i);
        }
    }
    return out;
}

template <class Write>
void write_state(
    const program::Program& program, std::span<const canonical::Tensor> state, const Frozen& frozen, const Write& write
) {
    ASSERT(state.size() == program.state.size());
    const Selection selection = select(program, frozen);
    write(encode_safetensors_head(named_types(selection.names)));
    for (const std::size_t index : selection.indices) {
        check_type(program.state[index], state[index]);
        write(state[index].data);
    }
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
        case StateError::kStopped:
            return "the parser of its header was stopped in the sandbox";
    }
    return "";
}

Bytes encode_state(const program::Program& program, std::span<const canonical::Tensor> state, const Frozen& frozen) {
    Bytes out;
    write_state(program, state, frozen, [&out](ByteView piece) { append(out, piece); });
    return out;
}

ContentStore::Entry store_state(
    const program::Program& program, std::span<const canonical::Tensor> state, const Leaves& leaves,
    const ContentStore& store, const Frozen& frozen
) {
    const Hash256 root = root_of_leaves(program::types_of(program.state), leaves);
    ContentStore::Writer writer(store, checkpoint_name(root, frozen.numbers()));
    write_state(program, state, frozen, [&writer](ByteView piece) { writer.write(piece); });
    const ContentStore::Entry stored = writer.finish();
    store.put_leaves(stored.hash, encode_leaves(leaves));
    return stored;
}

Result<std::vector<canonical::Tensor>, StateError> decode_state(
    const program::Program& program, ByteView bytes, const Frozen& frozen
) {
    return decode_named(program.state, frozen, bytes);
}

Result<std::vector<canonical::Tensor>, StateError> decode_state(
    const program::Program& program, const StoredFile& file, const Frozen& frozen
) {
    return decode_named(program.state, frozen, file);
}

Result<Hash256, StateError> root_of_state(
    const program::Program& program, const StoredFile& file, const Frozen& frozen
) {
    std::vector<Hash256> commitments;
    TRY(read_named(program.state, frozen, file, [&commitments](const canonical::Tensor& tensor) {
        commitments.push_back(commit_tensor(tensor));
    }));
    return dispute::state_root(commitments);
}

Bytes encode_initial(const program::Program& program, std::span<const canonical::Tensor> initial) {
    ASSERT(initial.size() == program.initial.size());
    Bytes out = encode_safetensors_head(named_types(program.initial));
    for (std::size_t i = 0; i < initial.size(); ++i) {
        check_type(program.initial[i], initial[i]);
        append(out, initial[i].data);
    }
    return out;
}

Result<std::vector<canonical::Tensor>, StateError> decode_initial(const program::Program& program, ByteView bytes) {
    return decode_named(program.initial, {}, bytes);
}

Result<std::vector<canonical::Tensor>, ForeignError<StateError>> decode_initial(
    const program::Program& program, const StoredFile& file
) {
    const auto layout = decode_foreign_layout(file);
    if (!layout) {
        const auto* refusal = std::get_if<sandbox::Refusal>(&layout.error());
        return Unexpected{
            refusal != nullptr ? ForeignError<StateError>(*refusal) : ForeignError<StateError>(StateError::kFormat)};
    }
    std::vector<canonical::Tensor> tensors;
    tensors.reserve(program.initial.size());
    const auto read = read_placed(program.initial, {}, *layout, copier_of(file), [&tensors](canonical::Tensor tensor) {
        tensors.push_back(std::move(tensor));
    });
    if (!read) {
        return Unexpected{ForeignError<StateError>(read.error())};
    }
    return tensors;
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
