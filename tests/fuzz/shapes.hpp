// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/merkle/jmt.hpp>
#include <core/canonical/partial.hpp>

/// Inputs of targets that take more than one value, as one Borsh struct each; make_corpus writes them too.
namespace assay::fuzz {

struct JmtClaim {
    Hash256 root;
    Bytes key;
    std::optional<Bytes> value;
    merkle::JmtProof proof;
    static constexpr auto fields() {
        return Fields<&JmtClaim::root, &JmtClaim::key, &JmtClaim::value, &JmtClaim::proof>{};
    }
};

/// A node and what a hostile prover hands to the one-step verifier with it. With `pattern`, also tiles of the right
/// number and size that repeat these bytes.
struct PartialCase {
    canonical::Node node;
    std::uint64_t tile = 0;
    std::uint32_t partial = 0;
    std::uint64_t seed = 0;
    std::uint64_t step = 0;
    canonical::DatasetShape dataset;
    std::optional<canonical::Accumulator> before;
    std::vector<canonical::Tile> tiles;
    std::optional<Bytes> row;
    Bytes pattern;
    static constexpr auto fields() {
        return Fields<
            &PartialCase::node, &PartialCase::tile, &PartialCase::partial, &PartialCase::seed, &PartialCase::step,
            &PartialCase::dataset, &PartialCase::before, &PartialCase::tiles, &PartialCase::row,
            &PartialCase::pattern>{};
    }
};

struct KeystoreCase {
    AccountId account;
    std::uint64_t n = 0;
    std::uint32_t r = 0;
    std::uint32_t p = 0;
    std::array<std::uint8_t, 16> salt{};
    std::array<std::uint8_t, 12> nonce{};
    Bytes ciphertext;
    std::string password;
    static constexpr auto fields() {
        return Fields<
            &KeystoreCase::account, &KeystoreCase::n, &KeystoreCase::r, &KeystoreCase::p, &KeystoreCase::salt,
            &KeystoreCase::nonce, &KeystoreCase::ciphertext, &KeystoreCase::password>{};
    }
};

}  // namespace assay::fuzz
