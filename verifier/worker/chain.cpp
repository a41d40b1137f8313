// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/chain.hpp>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include <client/rpc_codes.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/chain/duty.hpp>
#include <core/dispute/evaluation.hpp>
#include <contracts/transaction/transaction.hpp>

namespace assay::worker {
namespace {

constexpr std::chrono::seconds kSendTimeout{15};
constexpr std::uint32_t kFailuresBeforePause = 3;
constexpr std::uint64_t kPauseBlocks = 25;
constexpr std::uint64_t kParamsBlocks = 20;  ///< a vote may have changed the parameters since (GOV-7)

client::RpcError bad_answer(const std::string& method) {
    return client::RpcError(
        client::kInternalError, "bad_answer", "the node's answer to " + method + " cannot be understood", {}
    );
}

std::uint64_t grains_of(const nlohmann::json& value) {
    std::uint64_t grains = 0;
    const std::string text = value.get<std::string>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), grains);
    if (error != std::errc{} || end != text.data() + text.size()) {
        throw bad_answer("stake_get");
    }
    return grains;
}

/// The newest state, on the node's word. That suffices to find out when a duty is due: an answer that names another
/// height answers nothing, and costs nothing.
class NodesView final : public contracts::StateView {
  public:
    explicit NodesView(client::RpcClient& rpc) : rpc_(rpc) {}
    std::optional<Bytes> get(const Bytes& key) const override { return rpc_.slot(key); }

  private:
    client::RpcClient& rpc_;
};

/// DTY-1. What is larger has a fee, and so has an acceptance for a group (GRP-2).
bool is_free(const contracts::Action& action) {
    constexpr std::size_t kEnvelope = 256;
    const auto* accepted = std::get_if<contracts::AcceptTask>(&action);
    const bool is_for_group = accepted != nullptr && !accepted->seats.empty();
    return !is_for_group && codec::encode(action).size() + kEnvelope <= contracts::answer_of(action).bytes_max;
}

}  // namespace

Chain::Chain(
    const client::NodeAddress& node, const std::filesystem::path& home, const Pins& pins, const crypto::SecretKey& key,
    const std::optional<AccountId>& owner, Reporter& reporter
)
    : rpc_(node),
      anchor_file_(client::anchor_file(home)),
      pins_(pins),
      key_(key),
      signer_(key_.account()),
      owner_(owner),
      reporter_(reporter) {}

template <class Read>
auto Chain::proven(Read read) {
    try {
        if (!proven_) {
            client::Expected expected{.chain_id = {}, .genesis = {}};
            if (!pins_.chain_id.empty()) {
                expected.chain_id = pins_.chain_id;
            }
            if (!pins_.genesis_hash.empty()) {
                expected.genesis = fixed_from_hex<Hash256>(pins_.genesis_hash).value();  // its shape was checked
            }
            proven_.emplace(rpc_, anchor_file_, std::move(expected));
        } else {
            proven_->refresh();
        }
        return read(*proven_);
    } catch (const client::Mismatch& error) {  // a node that lies, or is behind: another may answer there later
        throw client::RpcError(client::kInternalError, "mismatch", error.what(), {});
    } catch (const client::AnchorError& error) {
        throw client::RpcError(client::kInternalError, "chain_file", error.what(), {});
    }
}

const contracts::Params& Chain::params() {
    if (!params_ || height_ >= params_at_ + kParamsBlocks) {
        params_at_ = height_;
        params_ = proven([](client::ProvenChain& chain) { return chain.params(); });
    }
    return *params_;
}

contracts::Beacon Chain::beacon() {
    return proven([](client::ProvenChain& chain) { return chain.beacon(); });
}

std::optional<contracts::Task> Chain::proven_task(const contracts::TaskId& task) {
    const auto value = proven([&](client::ProvenChain& chain) { return chain.slot(contracts::keys::task(task)); });
    if (!value) {
        return std::nullopt;
    }
    auto record = codec::decode<contracts::Task>(*value);
    if (!record) {
        throw bad_answer("chain_proof");
    }
    return *std::move(record);
}

std::optional<contracts::Checkpoint> Chain::proven_checkpoint(const contracts::TaskId& task, std::uint32_t index) {
    const auto value =
        proven([&](client::ProvenChain& chain) { return chain.slot(contracts::keys::checkpoint(task, index)); });
    if (!value) {
        return std::nullopt;
    }
    auto record = codec::decode<contracts::Checkpoint>(*value);
    if (!record) {
        throw bad_answer("chain_proof");
    }
    return *std::move(record);
}

const std::string& Chain::chain_id() {
    if (!proven_) {
        static_cast<void>(params());
    }
    return proven_->chain_id();
}

void Chain::refresh() {
    height_ = rpc_.height().value;
    for (const contracts::TaskId& id : rpc_.tasks()) {
        const bool was_kept = kept_.contains(id);
        if (over_.contains(id) && !was_kept) {
            continue;
        }
        auto task = rpc_.task(id);
        if (!task) {
            continue;
        }
        if (task->state == contracts::TaskState::kKept && task->solver == self()) {
            kept_.insert_or_assign(id, *task);
        } else if (was_kept) {
            kept_.erase(id);
            were_open_.insert(id);
        }
        if (contracts::is_concluded(task->state)) {
            if (!over_.insert(id).second && kept_.contains(id)) {
                continue;
            }
            if (tasks_.erase(id) != 0) {
                were_open_.insert(id);
            }
            ended_.push_back(*std::move(task));
        } else {
            // What was published before a cut asks for nothing any more (GRP-7).
            std::erase_if(task->assignments, [](const contracts::Assignment& assignment) {
                return assignment.status == contracts::VerdictStatus::kDropped;
            });
            tasks_.insert_or_assign(id, *std::move(task));
        }
    }
}

void Chain::drop_ended(const contracts::TaskId& task) {
    std::erase_if(ended_, [&](const contracts::Task& each) { return each.id == task; });
    std::erase_if(checkpoints_, [&](const auto& item) { return item.first.first == task; });
    were_open_.erase(task);
}

bool Chain::has_open_descendants(const contracts::TaskId& task) {
    try {
        const auto lineage = rpc_.call("task_lineage", {{"task", to_hex(task.view())}});
        const auto& descendants = lineage.at("descendants");
        const auto is_open = [](const nlohmann::json& relative) {
            using contracts::TaskState;
            const auto state = relative.at("state").get<std::string>();
            const auto ends = {TaskState::kSettled, TaskState::kConvicted, TaskState::kCancelled,
                               TaskState::kExpired, TaskState::kRefused,   TaskState::kKept};
            return std::none_of(ends.begin(), ends.end(), [&](TaskState end) {
                return state == contracts::to_string(end);
            });
        };
        return !lineage.at("complete").get<bool>() || std::any_of(descendants.begin(), descendants.end(), is_open);
    } catch (const nlohmann::json::exception&) {
        throw bad_answer("task_lineage");
    }
}

Chain::Look Chain::look() {
    try {
        const auto status = rpc_.call("node_status");
        return {
            .height = status.at("height").get<std::uint64_t>(),
            .time_ms = status.at("time_ms").get<std::uint64_t>(),
            .block_interval_ms = status.at("block_interval_ms").get<std::uint64_t>()};
    } catch (const nlohmann::json::exception&) {
        throw bad_answer("node_status");
    }
}

bool Chain::may_act() {
    if (!owner_) {
        return true;
    }
    try {
        const auto named = rpc_.call("account_get", {{"account", to_hex(owner_->view())}}).at("operator");
        return named == crypto::to_address(signer_);
    } catch (const nlohmann::json::exception&) {
        throw bad_answer("account_get");
    }
}

Amount Chain::free_stake(contracts::Role role) {
    try {
        const auto answer = rpc_.call("stake_get", {{"account", to_hex(self().view())}});
        return Amount{grains_of(answer.at("roles").at(contracts::to_string(role)).at("free"))};
    } catch (const nlohmann::json::exception&) {
        throw bad_answer("stake_get");
    }
}

Chain::Listing Chain::listing(contracts::Role role) {
    try {
        const auto answer = rpc_.call("stake_get", {{"account", to_hex(self().view())}});
        const auto& stake = answer.at("roles").at(contracts::to_string(role));
        const auto& terms = stake.at("terms");
        std::vector<std::uint64_t> offers;
        for (const auto& offer : terms.at("offers")) {
            offers.push_back(grains_of(offer));
        }
        return {
            .terms =
                {.hardware_class = terms.at("hardware_class").get<std::uint32_t>(),
                 .price = terms.at("price").get<std::uint64_t>(),
                 .memory = terms.at("memory").get<std::uint64_t>(),
                 .replay_blocks = terms.at("replay_blocks").get<std::uint32_t>(),
                 .offers = std::move(offers)},
            .score = stake.at("score").get<std::uint64_t>(),
            .is_unlisted = stake.at("is_unlisted").get<bool>(),
            .free = Amount{grains_of(stake.at("free"))},
            .declined_until =
                stake.at("declined_until").is_null() ? 0 : stake.at("declined_until").get<std::uint64_t>()};
    } catch (const nlohmann::json::exception&) {
        throw bad_answer("stake_get");
    }
}

std::uint64_t Chain::block_time(Height height) {
    try {
        return rpc_.call("chain_block", {{"height", height.value}}).at("time_ms").get<std::uint64_t>();
    } catch (const nlohmann::json::exception&) {
        throw bad_answer("chain_block");
    }
}

std::vector<AccountId> Chain::stakers(contracts::Role role) {
    const auto value = rpc_.slot(contracts::keys::stakers(role));
    auto stakers = codec::decode<std::vector<AccountId>>(value.value_or(codec::encode(std::vector<AccountId>{})));
    if (!stakers) {
        throw bad_answer("chain_proof");
    }
    return *std::move(stakers);
}

std::uint64_t Chain::total_stake() {
    try {
        const auto answer = rpc_.call("stake_get", {{"account", to_hex(self().view())}});
        std::uint64_t total = 0;
        for (const auto& stake : answer.at("roles")) {
            total += grains_of(stake.at("free")) + grains_of(stake.at("locked"));
            for (const auto& unbonding : stake.at("unbonding")) {
                total += grains_of(unbonding.at("amount"));
            }
        }
        return total;
    } catch (const nlohmann::json::exception&) {
        throw bad_answer("stake_get");
    }
}

const contracts::Checkpoint& Chain::checkpoint(const contracts::TaskId& task, std::uint32_t index) {
    const auto place = std::pair(task, index);
    if (const auto found = checkpoints_.find(place); found != checkpoints_.end()) {
        return found->second;
    }
    auto checkpoint = rpc_.checkpoint(task, index);
    if (!checkpoint) {
        throw bad_answer("checkpoint_get");
    }
    return checkpoints_.emplace(place, *std::move(checkpoint)).first->second;
}

Hash256 Chain::claimed_root(const contracts::Task& task, std::uint32_t segment) {
    return segment == contracts::evaluation_segment(task) ? dispute::score_root(task.evaluation.value().score)
                                                          : checkpoint(task.id, segment).state_root;
}

std::vector<contracts::HistoryRecord> Chain::history(const contracts::TaskId& task) {
    std::vector<contracts::HistoryRecord> out;
    nlohmann::json params = {{"task", to_hex(task.view())}, {"limit", 100}};
    try {
        for (;;) {
            const auto page = rpc_.call("task_history", params);
            for (const auto& item : page.at("records")) {
                const auto raw = from_hex(item.at("raw").get<std::string>());
                auto record = codec::decode<contracts::HistoryRecord>(raw.value_or(Bytes{}));
                if (!record) {
                    throw bad_answer("task_history");
                }
                out.push_back(*std::move(record));
            }
            if (page.at("next_cursor").is_null()) {
                return out;
            }
            params["cursor"] = page.at("next_cursor");
        }
    } catch (const nlohmann::json::exception&) {
        throw bad_answer("task_history");
    }
}

bool Chain::note_failure(Failures& failures, const contracts::Action& action, const std::string& why) {
    ++failures.count;
    if (failures.count >= kFailuresBeforePause) {
        failures.retry_at = height_ + kPauseBlocks;
    }
    reporter_.event(
        {{"event", "refused"}, {"action", contracts::action_name(action)}, {"reason", why}, {"times", failures.count}}
    );
    return false;
}

client::TxResult Chain::submit(const contracts::Action& action) {
    const NodesView view(rpc_);
    if (const auto duty = contracts::find_duty(view, params(), self(), action); duty && is_free(action)) {
        return rpc_.answer(key_, action, chain_id(), duty->due, kSendTimeout, owner_);
    }
    auto base = proven([this](client::ProvenChain& chain) { return chain.base(signer_); });
    base.owner = owner_;
    return rpc_.send(key_, action, base, Amount{pins_.fee_max_grains}, kSendTimeout);
}

bool Chain::send(const contracts::Action& action) {
    const Hash256 name = crypto::sha256(codec::encode(action));
    Failures& failures = failures_[name];
    if (failures.retry_at > height_) {
        return false;
    }
    try {
        const client::TxResult result = submit(action);
        if (result.code != 0) {
            return note_failure(failures, action, result.error);
        }
    } catch (const client::FeeTooHigh& error) {
        return note_failure(failures, action, error.what());
    } catch (const client::RpcError& error) {
        if (error.name != "tx_rejected") {
            throw;
        }
        const auto reason = error.data.is_object() ? error.data.value("reason", nlohmann::json()) : nlohmann::json();
        return note_failure(failures, action, reason.is_string() ? reason.get<std::string>() : error.what());
    }
    failures_.erase(name);
    return true;
}

}  // namespace assay::worker
