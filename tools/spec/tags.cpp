// SPDX-License-Identifier: Apache-2.0
#include <tools/spec/schema.hpp>

namespace assay::spec {

namespace {

/// Those of the first half of the alphabet.
std::vector<Tag> first_tags() {
    const Field task{"task", "TaskId"};
    const Field segment{"segment", "u32"};
    return {
        {"assay/block", {{"header", "BlockHeader"}}, "hash of a block"},
        {"assay/chunk", {{"chunk", "raw"}}, "leaf of a dataset's tree"},
        {"assay/chunk-key", {{"point", "raw"}}, "key of a sealed chunk; the point is compressed, 33 bytes"},
        {"assay/chunk-point",
         {task, {"artifact", "Hash256"}, {"group", "u32"}, {"chunk", "u32"}, {"counter", "u32"}},
         "x coordinate of the point that a sealed chunk's name is hashed to, if there is such a point"},
        {"assay/claim", {{"claim", "Claim"}}, "what two disputes of one claim have in common"},
        {"assay/commit", {{"inputs", "u32"}, {"merkle_root", "Hash256"}}, "the node commit, leaf of a program's tree"},
        {"assay/diverged", {{"step", "u64"}, {"state_root", "Hash256"}}, "end root of a replay that diverged"},
        {"assay/dispute",
         {task, segment, {"challenger", "AccountId"}, {"subject", "option<DisputedVerdict>"}},
         "id of a dispute; of a profile's part the subject is the byte 00 and then DisputedProfile, of an accusation "
         "the "
         "challenger is the accused, and the subject the byte 02 and then the accuser's AccountId"},
        {"assay/draw", {{"seed", "Hash256"}, {"name", "DrawName"}}, "randomness of a draw"},
        {"assay/environment", {{"text", "raw"}}, "fingerprint of an image or a label"},
        {"assay/forced",
         {{"lottery", "Hash256"}, {"salt", "Hash256"}, task, segment, {"verifier", "AccountId"}},
         "whether a verdict is a forced error"},
        {"assay/history", {{"previous", "Hash256"}, {"record", "HistoryRecord"}}, "history root of a task"},
        {"assay/input", {{"input", "Input"}}, "leaf of the tree of the inputs of commit"},
        {"assay/merkle-node", {{"left", "Hash256"}, {"right", "Hash256"}}, "inner node of a Merkle tree"},
        {"assay/node", {{"node", "Node"}}, "any other node, leaf of a program's tree"},
    };
}

/// Those of the second half.
std::vector<Tag> last_tags() {
    const Field task{"task", "TaskId"};
    const Field segment{"segment", "u32"};
    return {
        {"assay/partial", {{"accumulator", "raw"}}, "hash of an accumulator"},
        {"assay/piece", {{"piece", "Piece"}}, "leaf of a statement's tree"},
        {"assay/profile",
         {task, {"profiler", "AccountId"}, {"report", "ProfileReport"}, {"salt", "Hash256"}},
         "commitment to a profile"},
        {"assay/program", {{"program", "ProgramCommitment"}}, "id of a program"},
        {"assay/proposal", {{"sender", "AccountId"}, {"nonce", "u64"}}, "id of a proposal"},
        {"assay/round",
         {{"previous", "Hash256"},
          {"number", "u64"},
          {"block_hash", "Hash256"},
          {"contributions", "vec<Contribution>"}},
         "seed of a closed round"},
        {"assay/seal", {{"dispute", "DisputeId"}, {"found", "Hash256"}}, "seal of a challenge"},
        {"assay/sealed", {{"groups", "u32"}, {"merkle_root", "Hash256"}}, "sealed root, the name of a sealed file"},
        {"assay/sealed-chunk", {{"size", "u32"}, {"pieces_root", "Hash256"}}, "leaf of a group of a sealed file"},
        {"assay/sealed-group",
         {{"chunks", "u32"}, {"merkle_root", "Hash256"}},
         "commitment to a group of a sealed file"},
        {"assay/sealed-piece", {{"piece", "raw"}}, "leaf of a chunk of a sealed file"},
        {"assay/seats",
         {{"chain_id", "string"},
          {"task", "TaskId"},
          {"lead", "AccountId"},
          {"seats", "vec<AccountId>"},
          {"is_together", "bool"},
          {"from", "u32"}},
         "what the members of a group sign"},
        {"assay/secret", {{"account", "AccountId"}, {"secret", "Hash256"}}, "commitment of a contributor"},
        {"assay/share",
         {{"chain_id", "string"}, task, {"to", "AccountId"}, {"is_of_checkpoints", "bool"}, {"message", "raw"}},
         "what the ephemeral key of a share signs"},
        {"assay/state", {{"tensors", "u32"}, {"merkle_root", "Hash256"}}, "state root"},
        {"assay/statement",
         {{"chain_id", "string"}, {"statement", "Statement"}},
         "what a member of a group signs in a step"},
        {"assay/task", {{"sender", "AccountId"}, {"nonce", "u64"}}, "id of a task"},
        {"assay/tensor", {{"type", "TensorType"}, {"tile_root", "Hash256"}}, "commitment to a tensor"},
        {"assay/tile", {{"tile", "raw"}}, "leaf of a tensor's tree"},
        {"assay/trained",
         {{"state_root", "Hash256"}, {"lacking", "vec<u32>"}},
         "name of a checkpoint's file that lacks frozen tensors"},
        {"assay/tx", {{"body", "TxBody"}}, "what the sender of a transaction signs"},
        {"assay/txs", {{"tx_hashes", "vec<Hash256>"}}, "root of a block's transactions"},
        {"assay/validator", {{"chain_id", "string"}, {"account", "AccountId"}}, "what a consensus key signs"},
        {"assay/values", {{"values", "raw"}}, "values of a piece"},
        {"assay/verdict",
         {task, segment, {"verifier", "AccountId"}, {"opening", "VerdictOpening"}},
         "commitment to a verdict"},
    };
}

}  // namespace

std::vector<Tag> list_tags() {
    std::vector<Tag> tags = first_tags();
    const std::vector<Tag> rest = last_tags();
    tags.insert(tags.end(), rest.begin(), rest.end());
    return tags;
}

}  // namespace assay::spec
