// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/canonical/node.hpp>
#include <core/canonical/tile.hpp>

/// Tiles with Merkle paths to the roots that commit to them.
namespace assay::dispute {

/// A tile, its path to the tensor's tile root, and the tensor's path to the root that commits to it: a step's trace
/// root (if the tensor is a node's output) or a state root.
struct TileOpening {
    canonical::Tile tile;
    std::vector<Hash256> tile_path;
    std::vector<Hash256> source_path;
    static constexpr auto fields() {
        return Fields<&TileOpening::tile, &TileOpening::tile_path, &TileOpening::source_path>{};
    }
};

/// Opens tile `tile` of tensor `tensor` of a state to someone who knows only the state root.
struct StateOpening {
    std::uint32_t tensor = 0;
    std::uint64_t tile = 0;
    canonical::TensorType type;
    TileOpening opening;
    static constexpr auto fields() {
        return Fields<&StateOpening::tensor, &StateOpening::tile, &StateOpening::type, &StateOpening::opening>{};
    }
};

/// Whether tile and type are valid for some tensor. The functions below require it unless they check it themselves.
bool is_well_formed(const StateOpening& opening) noexcept;
/// The state root (TRC-3) that the opening leads to, in a state of `tensors` tensors; nullopt if the tensor or tile
/// does not exist or a path has the wrong length.
std::optional<Hash256> state_root_of(const StateOpening& opening, std::uint32_t tensors) noexcept;
/// NUM-6: whether the tile contains an infinity or NaN of an f32 or bf16 inside the tensor's shape.
bool has_diverged(const StateOpening& opening) noexcept;
/// Whether the opening is well-formed, leads to the state root `root`, and shows a non-finite value.
bool shows_divergence(const StateOpening& opening, const Hash256& root, std::uint32_t tensors) noexcept;

}  // namespace assay::dispute
