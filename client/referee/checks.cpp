// SPDX-License-Identifier: Apache-2.0
#include <client/referee/checks.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <client/referee/answers.hpp>
#include <client/referee/json.hpp>
#include <consensus/light/verify.hpp>
#include <consensus/solo/block.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/task.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>

namespace assay::referee {
namespace {

/// Writes "verified" and "problem", which is nullptr if nothing is wrong.
void write_verified(JsonWriter& out, const char* problem) {
    out.boolean("verified", problem == nullptr);
    problem != nullptr ? out.text("problem", problem) : out.null("problem");
}

const char* text_of(merkle::ProofError error) {
    switch (error) {
        case merkle::ProofError::kTooDeep:
            return "the proof has more siblings than a path can have";
        case merkle::ProofError::kWrongLeaf:
            return "the proof's leaf does not show this value of this key";
        case merkle::ProofError::kWrongRoot:
            return "the proof does not lead to the app hash";
    }
    return "unknown";
}

/// How a contracts::HistoryRecord begins. Its event counts by its hash alone, since bytes that hash to the
/// chain's root are the chain's, and decoders of all events would be a large part of the module.
struct RecordStart {
    static constexpr std::size_t kBytes = 32 + 4 + 8 + 32 + 32;
    contracts::TaskId task;
    std::uint32_t index = 0;
    Height height;
    Hash256 tx;
    AccountId actor;
    static constexpr auto fields() {
        return Fields<
            &RecordStart::task, &RecordStart::index, &RecordStart::height, &RecordStart::tx, &RecordStart::actor>{};
    }
};

/// The history as the records make it, link by link from nothing.
struct History {
    Hash256 root;
    std::uint32_t count = 0;
    Height last;
    const char* problem = nullptr;
};

/// Adds a record; fails at the first that is not the next of this task.
void extend(History& history, const contracts::TaskId& task, const Bytes& bytes) {
    if (bytes.size() <= RecordStart::kBytes) {
        history.problem = "a record is too short";
        return;
    }
    const auto record = codec::decode<RecordStart>(ByteView(bytes).first(RecordStart::kBytes));
    if (!record) {
        history.problem = "a record does not decode";
    } else if (record->task != task) {
        history.problem = "a record is of another task";
    } else if (record->index != history.count) {
        history.problem = "a record is missing, or not in its place";
    } else if (record->height < history.last) {
        history.problem = "a record is of an earlier block than the one before it";
    } else {
        history.root = contracts::extend_history(history.root, ByteView(bytes));
        history.last = record->height;
        ++history.count;
    }
}

const char* fault_of(const solo::Block& block, const BlockArguments& given) {
    const solo::BlockHeader& header = block.header;
    if (!solo::is_authentic(block)) {
        return header.txs_root == solo::txs_root(block.txs) ? "the signature is not that of the proposer that it names"
                                                            : "the transactions are not those of the header";
    }
    if (given.chain_id && header.chain_id != *given.chain_id) {
        return "the block is of another chain";
    }
    if (given.height && header.height.value != *given.height) {
        return "the block is of another height";
    }
    if (given.proposer && header.proposer != *given.proposer) {
        return "the block is signed by another account than the given proposer";
    }
    if (given.app_hash && header.app_hash != *given.app_hash) {
        return "the block carries another app hash";
    }
    return nullptr;
}

std::int64_t to_signed(std::uint64_t seconds) {
    // A quarter of the range, so that sums of two do not overflow.
    return static_cast<std::int64_t>(std::min<std::uint64_t>(seconds, std::numeric_limits<std::int64_t>::max() / 4));
}

Result<void, light::LightError> verify_light(
    const light::LightBlock& block, const std::optional<light::LightBlock>& trusted,
    const LightBlockArguments& arguments
) {
    if (!trusted) {
        return light::check_block(block, arguments.chain_id);
    }
    light::Policy policy{.chain_id = arguments.chain_id, .now_seconds = to_signed(arguments.now_s)};
    if (arguments.trusting_s) {
        policy.trusting_seconds = to_signed(*arguments.trusting_s);
    }
    return light::verify_next(light::Trusted{*trusted}, block, policy);
}

}  // namespace

std::string make_error(std::string_view problem) {
    return JsonWriter().boolean("ok", false).text("error", problem).finish();
}

std::string check_state_proof(const StateProofArguments& arguments) {
    const auto proof = codec::decode<merkle::JmtProof>(arguments.proof);
    if (!proof) {
        return make_error("the proof does not decode");
    }
    const auto verified = merkle::verify_proof(arguments.app_hash, arguments.key, arguments.value, *proof);
    JsonWriter out;
    out.boolean("ok", true).boolean("present", arguments.value.has_value());
    write_verified(out, verified ? nullptr : text_of(verified.error()));
    return out.finish();
}

std::string state_key(const StateKeyArguments& arguments) {
    Bytes key;
    switch (arguments.kind) {
        case KeyOf::kTask:
            key = contracts::keys::task({arguments.id.data});
            break;
        case KeyOf::kDispute:
            key = contracts::keys::dispute({arguments.id.data});
            break;
        case KeyOf::kAccount:
            key = contracts::keys::account({arguments.id.data});
            break;
        case KeyOf::kCheckpoint:
            key = contracts::keys::checkpoint({arguments.id.data}, arguments.index);
            break;
    }
    return JsonWriter().boolean("ok", true).hex("key", key).finish();
}

std::string check_history(const HistoryArguments& arguments) {
    Extent expected = arguments.extent.value_or(Extent{});
    if (arguments.task) {
        const auto task = codec::decode<contracts::Task>(*arguments.task);
        if (!task) {
            return make_error("the task's record does not decode");
        }
        expected = {.task = task->id, .count = task->history_count, .root = task->history_root};
    }
    History history;
    for (const Bytes& record : arguments.records) {
        if (history.problem == nullptr) {
            extend(history, expected.task, record);
        }
    }
    if (history.problem == nullptr && history.count != expected.count) {
        history.problem = "the chain counts another number of records";
    }
    if (history.problem == nullptr && history.root != expected.root) {
        history.problem = "the records do not hash to the chain's history root";
    }
    JsonWriter out;
    out.boolean("ok", true).hex("task", expected.task).number("count", history.count).hex("root", history.root);
    out.number("expectedCount", expected.count).hex("expectedRoot", expected.root);
    write_verified(out, history.problem);
    return out.finish();
}

std::string check_block(const BlockArguments& arguments) {
    const auto block = codec::decode<solo::Block>(arguments.block);
    if (!block) {
        return make_error("the block does not decode");
    }
    const solo::BlockHeader& header = block->header;
    JsonWriter out;
    out.boolean("ok", true).number("height", header.height.value).hex("hash", solo::block_hash(header));
    out.hex("appHash", header.app_hash).number("timeMs", header.time_ms).hex("proposer", header.proposer);
    out.text("chainId", header.chain_id).hex("parent", header.parent).number("txs", block->txs.size());
    write_verified(out, fault_of(*block, arguments));
    return out.finish();
}

std::string check_light_block(const LightBlockArguments& arguments) {
    const auto block = codec::decode<light::LightBlock>(arguments.block);
    if (!block) {
        return make_error("the light block does not decode");
    }
    std::optional<light::LightBlock> trusted;
    if (arguments.trusted) {
        auto decoded = codec::decode<light::LightBlock>(*arguments.trusted);
        if (!decoded) {
            return make_error("the trusted light block does not decode");
        }
        trusted = *std::move(decoded);
    }
    const auto verified = verify_light(*block, trusted, arguments);
    JsonWriter out;
    out.boolean("ok", true).number("height", block->header.height).hex("hash", light::header_hash(block->header));
    out.hex("appHash", block->header.app_hash).number("validators", block->validators.size());
    out.boolean("isTrusted", trusted.has_value());
    write_verified(out, verified ? nullptr : light::to_string(verified.error()));
    return out.finish();
}

std::string account_of(const std::string& address) {
    const auto account = crypto::decode_address(address);
    if (!account) {
        return make_error("this is not an address of an account");
    }
    return JsonWriter().boolean("ok", true).hex("account", *account).finish();
}

}  // namespace assay::referee
