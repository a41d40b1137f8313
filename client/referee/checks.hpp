// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <contracts/state/ids.hpp>
#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/merkle/jmt.hpp>

/// What else the referee for browsers checks of what a node says. As with judge(), nobody has checked the bytes, and
/// every function returns a JSON object for referee.js.
namespace assay::referee {

/// What `chain_proof` answers.
struct StateProofArguments {
    Hash256 app_hash;
    Bytes key;
    std::optional<Bytes> value;  ///< nullopt: the proof is that the key does not exist
    Bytes proof;                 ///< Borsh of JmtProof
    static constexpr auto fields() {
        return Fields<
            &StateProofArguments::app_hash, &StateProofArguments::key, &StateProofArguments::value,
            &StateProofArguments::proof>{};
    }
};
/// JMT-5: whether the key has the value under the app hash.
std::string check_state_proof(const StateProofArguments& arguments);

enum class KeyOf : std::uint8_t { kTask = 1, kDispute = 2, kAccount = 3, kCheckpoint = 4 };
constexpr bool is_valid(KeyOf k) { return k >= KeyOf::kTask && k <= KeyOf::kCheckpoint; }
struct StateKeyArguments {
    KeyOf kind = KeyOf::kTask;
    Hash256 id;
    std::uint32_t index = 0;  ///< of a checkpoint
    static constexpr auto fields() {
        return Fields<&StateKeyArguments::kind, &StateKeyArguments::id, &StateKeyArguments::index>{};
    }
};
/// STA-2: the key of a record in the state.
std::string state_key(const StateKeyArguments& arguments);

/// How far a history goes and to which root.
struct Extent {
    contracts::TaskId task;
    std::uint32_t count = 0;
    Hash256 root;
    static constexpr auto fields() { return Fields<&Extent::task, &Extent::count, &Extent::root>{}; }
};
struct HistoryArguments {
    std::optional<Bytes> task;     ///< the task's record; or else:
    std::optional<Extent> extent;  ///< what its members say
    std::vector<Bytes> records;    ///< Borsh of HistoryRecord, from the first on
    static constexpr auto fields() {
        return Fields<&HistoryArguments::task, &HistoryArguments::extent, &HistoryArguments::records>{};
    }
};
/// HIS-2: whether the records are all of the task's history.
std::string check_history(const HistoryArguments& arguments);

struct BlockArguments {
    Bytes block;
    std::optional<std::string> chain_id;
    std::optional<AccountId> proposer;
    std::optional<std::uint64_t> height;
    std::optional<Hash256> app_hash;
    static constexpr auto fields() {
        return Fields<
            &BlockArguments::block, &BlockArguments::chain_id, &BlockArguments::proposer, &BlockArguments::height,
            &BlockArguments::app_hash>{};
    }
};
/// BLK-12: whether the embedded engine's block is signed and is the one that the given members describe.
std::string check_block(const BlockArguments& arguments);

struct LightBlockArguments {
    Bytes block;
    std::string chain_id;
    std::optional<Bytes> trusted;  ///< a light block that is known to be the chain's
    std::uint64_t now_s = 0;       ///< Unix time; read only with `trusted`, as the next one
    std::optional<std::uint64_t> trusting_s;
    static constexpr auto fields() {
        return Fields<
            &LightBlockArguments::block, &LightBlockArguments::chain_id, &LightBlockArguments::trusted,
            &LightBlockArguments::now_s, &LightBlockArguments::trusting_s>{};
    }
};
/// LGT-1 to LGT-5: whether validators signed the block. In the build for browsers the signatures are still to be
/// checked (wasm/signatures.hpp).
std::string check_light_block(const LightBlockArguments& arguments);

/// ENC-3: the account of an address.
std::string account_of(const std::string& address);

}  // namespace assay::referee
