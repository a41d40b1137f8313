// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/task.hpp>

/// The file of `assay audit export`: what a state says of a task, of an account or of all tasks, with the proofs, the
/// records and the signed blocks that show it. Whoever has the file needs no node (docs/operations/audit.md).
namespace assay::client {

struct AuditSubject {
    enum class Kind : std::uint8_t { kTask, kAccount, kChain };
    Kind kind = Kind::kChain;
    contracts::TaskId task;  ///< with kTask
    AccountId account;       ///< with kAccount
};
const char* to_string(AuditSubject::Kind kind) noexcept;

/// The members of the file. Nothing here is verified; check_audit_file() does that.
struct AuditFile {
    AuditSubject subject;
    std::string chain_id;
    std::string engine;  ///< "solo" or "cometbft"
    Height height;       ///< of the state
    Hash256 app_hash;
    struct Slot {
        Bytes key;
        std::optional<Bytes> value;  ///< nullopt: proven to be empty
        Bytes proof;                 ///< Borsh(JmtProof)
    };
    std::vector<Slot> slots;
    struct History {
        contracts::TaskId task;
        std::vector<Bytes> records;  ///< Borsh(HistoryRecord) each
    };
    std::vector<History> histories;
    struct Block {
        Height height;
        Bytes raw;  ///< Borsh(solo::Block), with CometBFT Borsh(light::LightBlock)
        /// The block's transactions, in a chain's file of CometBFT for every block but the last, which signs the state.
        /// nullopt: `raw` has them, or the file does not.
        std::optional<std::vector<Bytes>> txs{};
    };
    std::vector<Block> blocks;
};

nlohmann::json to_json(const AuditFile& file);
/// Throws Mismatch, naming the member, if `json` is not such a file, has a member that does not belong there, or is of
/// another version of the format or of the protocol.
AuditFile decode_audit_file(const nlohmann::json& json);

/// Returns the keys of the slots that a file has for a task with so many checkpoints, the task's first.
std::vector<Bytes> task_slots(const contracts::TaskId& task, std::uint32_t checkpoints);
/// Returns the keys of the slots that come before those of tasks.
std::vector<Bytes> subject_slots(const AuditSubject& subject);

}  // namespace assay::client
