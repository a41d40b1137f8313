// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/spec.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::artifacts {

/// ART-10: the tensors of a state that are frozen. A file that lacks them is read with them.
struct Frozen {
    /// For each tensor of the state its place among the others, if it is frozen; empty: none is.
    std::vector<std::optional<std::uint32_t>> places{};
    std::span<const canonical::Tensor> tensors{};
    std::span<const Hash256> commitments{};  ///< of `tensors` (TRC-2)

    bool is_any() const;
    bool has(std::size_t tensor) const { return !places.empty() && places[tensor]; }
    /// The frozen tensors' numbers in the state.
    std::vector<std::uint32_t> numbers() const;
};

/// Returns the places of what the file of a task's checkpoint lacks: among the initial tensors, or in the state of the
/// first checkpoint if the task has a parent.
std::vector<std::optional<std::uint32_t>> frozen_places(
    const contracts::TaskSpec& spec, const program::Program& program, std::uint32_t checkpoint
);

/// What is known of a checkpoint's file before it is there: every byte follows from the program and the state.
struct ExpectedState {
    std::vector<program::StateTensor> tensors;
    Hash256 root;
    /// For each tensor that the file lacks its commitment; empty: it has all.
    std::vector<std::optional<Hash256>> lacking{};
};
ExpectedState expected_state(const program::Program& program, const Hash256& root, const Frozen& frozen = {});

/// ART-10: the name under which a checkpoint's file is served and stored that lacks the tensors of these numbers.
Hash256 checkpoint_name(const Hash256& root, const std::vector<std::uint32_t>& lacking);
Hash256 name_of(const ExpectedState& state);
/// The bytes of the file before the tensors' data (ART-5).
Bytes head_of(const ExpectedState& state);
std::uint64_t size_bytes_of(const ExpectedState& state);

/// An artifact and one place where it can be had (ART-6).
struct Reference {
    Hash256 name;  ///< a checkpoint's (ART-10), a sealed file's root (ART-24), or the SHA-256 of the bytes
    std::uint64_t size_bytes = 0;
    std::string location;
    std::shared_ptr<const ExpectedState> state{};  ///< of a checkpoint; null for other artifacts
    bool is_sealed = false;                        ///< ART-24: the name is the root of a sealed file
};
Reference reference_to(const contracts::ArtifactRef& artifact);
/// ART-24: what a private task has in stores.
Reference reference_to(const contracts::SealedFile& sealed, std::string location);
Reference reference_to(ExpectedState state, std::string location);

}  // namespace assay::artifacts
