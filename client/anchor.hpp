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

/// The trust anchor of a home: what it knows about its chain. It is pinned when the home first connects to the chain,
/// and no node can change it.
namespace assay::client {

/// The engine name that nodes with CometBFT report.
inline constexpr const char* kCometBft = "cometbft";

/// The anchor file cannot be read or written.
class AnchorError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct Anchor {
    std::string chain_id;
    Hash256 genesis;              ///< the app hash of the state before block 1; block 1 carries it
    std::string engine;           ///< "solo" or "cometbft"
    AccountId proposer;           ///< solo: the account that signs the blocks
    Trust::Block block{};         ///< cometbft: a verified block; later ones are verified from it
    std::int64_t trusting_s = 0;  ///< cometbft: the chain's trusting_period_ms in seconds, proven; 0: not known yet
    Height height;                ///< of the newest verified block; a node that is behind it is refused
    bool operator==(const Anchor&) const = default;
};

/// What the user says about the chain, before anything is pinned or to be checked against what is pinned.
struct Expected {
    std::optional<std::string> chain_id;
    std::optional<Hash256> genesis;
    Trust trust{};  ///< `proposer` or `block` override the pinned ones
};

/// Returns <home>/chain.json.
std::filesystem::path anchor_file(const std::filesystem::path& home);
/// Reads the anchor; nullopt if there is no file. Throws AnchorError.
std::optional<Anchor> read_anchor(const std::filesystem::path& file);
/// Writes the anchor atomically: a crash leaves the old file or the new one. Throws AnchorError.
void write_anchor(const std::filesystem::path& file, const Anchor& anchor);
/// Returns whose signatures to trust according to `anchor`; what `said` contains takes precedence.
Trust trust_by(const std::optional<Anchor>& anchor, Trust said);

}  // namespace assay::client
