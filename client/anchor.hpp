// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <client/proof.hpp>

/// What a home knows of its chain. It is pinned when the home first meets the chain, and no node can change it.
namespace assay::client {

/// What a node that follows CometBFT names its engine.
inline constexpr const char* kCometBft = "cometbft";

/// The file cannot be read or written.
class AnchorError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct Anchor {
    std::string chain_id;
    Hash256 genesis;       ///< the app hash of the state before block 1, which block 1 carries
    std::string engine;    ///< "solo" or "cometbft"
    AccountId proposer;    ///< solo: whose signature of a block counts
    Trust::Block block{};  ///< cometbft: a block that was verified; later ones are verified from it
    std::int64_t trusting_s = 0;  ///< cometbft: the chain's trusting_period_ms in seconds, proven; 0: not known yet
    Height height;         ///< of the newest block that was verified; a node that ends before it is refused
    bool operator==(const Anchor&) const = default;
};

/// What the user says about the chain before the home has met it, or against what it has pinned.
struct Expected {
    std::optional<std::string> chain_id;
    std::optional<Hash256> genesis;
    Trust trust{};  ///< `proposer` or `block` replace what the home has
};

/// <home>/chain.json
std::filesystem::path anchor_file(const std::filesystem::path& home);
/// nullopt when there is none. Throws AnchorError.
std::optional<Anchor> read_anchor(const std::filesystem::path& file);
/// In one step: a crash leaves the old file or the new one. Throws AnchorError.
void write_anchor(const std::filesystem::path& file, const Anchor& anchor);
/// Whose signatures count by what is pinned; what `said` has of its own goes before.
Trust trust_by(const std::optional<Anchor>& anchor, Trust said);

}  // namespace assay::client
