// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/reference.hpp>

#include <algorithm>
#include <utility>

#include <contracts/state/task.hpp>
#include <core/canonical/node.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <verifier/artifacts/safetensors.hpp>

namespace assay::artifacts {
namespace {

bool is_in_file(const ExpectedState& state, std::size_t tensor) {
    return state.lacking.empty() || !state.lacking[tensor];
}

}  // namespace

bool Frozen::is_any() const {
    return std::any_of(places.begin(), places.end(), [](const auto& place) { return place.has_value(); });
}

std::vector<std::optional<std::uint32_t>> frozen_places(
    const contracts::TaskSpec& spec, const program::Program& program, std::uint32_t checkpoint
) {
    const bool is_whole = checkpoint >= contracts::segment_count(spec) || (spec.parent && checkpoint == 0);
    if (is_whole) {
        return {};  // another task may start from the last one
    }
    return spec.parent ? program::inherited_tensors(program) : program::frozen_tensors(program);
}

std::vector<std::uint32_t> Frozen::numbers() const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < places.size(); ++i) {
        if (places[i]) {
            out.push_back(i);
        }
    }
    return out;
}

ExpectedState expected_state(const program::Program& program, const Hash256& root, const Frozen& frozen) {
    ExpectedState out{.tensors = program.state, .root = root};
    if (frozen.is_any()) {
        for (const auto& place : frozen.places) {
            out.lacking.push_back(place ? std::optional(frozen.commitments[*place]) : std::nullopt);
        }
    }
    return out;
}

Hash256 checkpoint_name(const Hash256& root, const std::vector<std::uint32_t>& lacking) {
    static const crypto::TaggedHash kTrained("assay/trained");
    return lacking.empty() ? root : kTrained(root.view(), codec::encode(lacking));
}

Hash256 name_of(const ExpectedState& state) {
    std::vector<std::uint32_t> lacking;
    for (std::uint32_t i = 0; i < state.lacking.size(); ++i) {
        if (state.lacking[i]) {
            lacking.push_back(i);
        }
    }
    return checkpoint_name(state.root, lacking);
}

Bytes head_of(const ExpectedState& state) {
    std::vector<NamedType> types;
    for (std::size_t i = 0; i < state.tensors.size(); ++i) {
        if (is_in_file(state, i)) {
            types.push_back({.name = state.tensors[i].name, .type = state.tensors[i].type});
        }
    }
    return encode_safetensors_head(types);
}

std::uint64_t size_bytes_of(const ExpectedState& state) {
    std::uint64_t bytes = head_of(state).size();
    for (std::size_t i = 0; i < state.tensors.size(); ++i) {
        const canonical::TensorType& type = state.tensors[i].type;
        bytes += is_in_file(state, i) ? type.shape.element_count() * canonical::size_of(type.dtype) : 0;
    }
    return bytes;
}

Reference reference_to(const contracts::ArtifactRef& artifact) {
    return {.name = artifact.sha256, .size_bytes = artifact.size_bytes, .location = artifact.location};
}

Reference reference_to(const contracts::SealedFile& sealed, std::string location) {
    return {.name = sealed.root, .size_bytes = sealed.size, .location = std::move(location), .is_sealed = true};
}

Reference reference_to(ExpectedState state, std::string location) {
    const Hash256 name = name_of(state);
    const std::uint64_t size_bytes = size_bytes_of(state);
    return {
        .name = name,
        .size_bytes = size_bytes,
        .location = std::move(location),
        .state = std::make_shared<const ExpectedState>(std::move(state))};
}

}  // namespace assay::artifacts
