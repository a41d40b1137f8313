// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/clerk.hpp>

#include <array>
#include <utility>

#include <client/proof.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/state/slots.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <core/keys/key_file.hpp>
#include <verifier/ui/settings.hpp>

namespace assay::ui {
namespace {

using Json = nlohmann::ordered_json;
using contracts::Role;

constexpr std::array<Role, 3> kRoles{Role::kSolver, Role::kVerifier, Role::kWhistleblower};
constexpr std::size_t kPagesAtOnce = 5;
constexpr int kEventsListed = 100;
constexpr std::size_t kPaymentsListed = 50;
constexpr std::size_t kEventsBytesMax = 256U << 10U;

std::string grains(Amount amount) { return std::to_string(amount.grains); }

Json by_reason(const std::map<std::string, Amount>& amounts) {
    Json out = Json::object();
    for (const auto& [reason, amount] : amounts) {
        out[reason] = grains(amount);
    }
    return out;
}

Json to_json(const contracts::Stake& stake) {
    Json unbonding = Json::array();
    for (const contracts::Unbonding& each : stake.unbonding) {
        unbonding.push_back({{"amount", grains(each.amount)}, {"release_at", each.release_at.value}});
    }
    return {
        {"free", grains(stake.free)},
        {"locked", grains(stake.locked)},
        {"unbonding", std::move(unbonding)},
        {"is_unlisted", stake.is_unlisted},
        {"declined_until", stake.declined_until.value}};
}

Json to_json(const contracts::Params& params) {
    Json classes = Json::array();
    for (const auto& each : params.hardware_classes) {
        classes.push_back({{"name", each.name}, {"least_score", each.least_score}});
    }
    return {
        {"least_bond",
         {{"solver", grains(contracts::solver_bond(params, Amount{}))},
          {"verifier", grains(contracts::verifier_needs(params, Amount{}))},
          {"whistleblower", grains(contracts::challenger_bond(params, Amount{}))}}},
        {"unbonding_blocks", params.unbonding_blocks},
        {"block_ms", params.block_ms},
        {"decline_costs", std::to_string(params.draw_price.grains / 2)},
        {"decline_blocks", params.decline_blocks},
        {"work_price", std::to_string(params.work_price)},
        {"classes", std::move(classes)}};
}

/// Proven slots in the place of a state.
class ProvenView final : public contracts::StateView {
  public:
    explicit ProvenView(client::ProvenChain& chain) : chain_(chain) {}
    std::optional<Bytes> get(const Bytes& key) const override { return chain_.slot(key); }

  private:
    client::ProvenChain& chain_;
};

}  // namespace

/// A node and the proven chain that is read from it.
struct Clerk::Link {
    client::RpcClient rpc;
    client::ProvenChain chain;
    Link(const Place& place, const std::filesystem::path& home)
        : rpc(place.node), chain(rpc, client::anchor_file(home), expected(place)) {}

    static client::Expected expected(const Place& place) {
        client::Expected out{.chain_id = {}, .genesis = {}};
        if (!place.chain_id.empty()) {
            out.chain_id = place.chain_id;
        }
        out.genesis = fixed_from_hex<Hash256>(place.genesis_hash);
        return out;
    }
};

Clerk::Clerk(const std::filesystem::path& home, Place place, std::function<void()> on_news)
    : home_(home), on_news_(std::move(on_news)), teller_(home), place_(std::move(place)) {
    node_ = {{"url", place_.node.url}, {"error", "it has not been asked yet"}};
    thread_ = std::thread([this] { run(); });
}

Clerk::~Clerk() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void Clerk::use_node(const std::string& url) {
    {
        const std::lock_guard chain(chain_);
        place_.node.url = url;
        link_.reset();
    }
    const std::lock_guard lock(mutex_);
    node_ = {{"url", url}, {"error", "it has not been asked yet"}};
    is_asked_ = true;
    wake_.notify_all();
}

void Clerk::use_account(const AccountId& account, const AccountId& actor) {
    const std::lock_guard lock(mutex_);
    account_ = account;
    if (actor_ != actor) {
        actor_ = actor;
        proven_ = nullptr;
        said_ = nullptr;
    }
    is_asked_ = true;
    wake_.notify_all();
}

Clerk::Link& Clerk::link() {
    if (!link_) {
        link_ = std::make_unique<Link>(place_, home_);
    } else {
        link_->chain.refresh();
    }
    return *link_;
}

void Clerk::send(const Order& order, const crypto::SecretKey& key) {
    {
        const std::lock_guard chain(chain_);
        try {
            Link& now = link();
            teller_.send(order, key, now.rpc, now.chain);
        } catch (const client::TxUncertain&) {
            // It is kept, and followed.
        } catch (const http::NetError& error) {
            throw InputError(std::string("the node cannot be reached, and nothing was sent: ") + error.what());
        } catch (const client::RpcError& error) {
            throw InputError(std::string("the node refused, and nothing was sent: ") + error.what());
        } catch (const client::Mismatch& error) {
            throw InputError(
                std::string("the node is not of this home's chain, and nothing was sent: ") + error.what()
            );
        } catch (const client::FeeTooHigh& error) {
            throw InputError(error.what());
        }
    }
    const std::lock_guard lock(mutex_);
    is_asked_ = true;
    wake_.notify_all();
}

Json Clerk::read_proven(Link& link) const {
    Json out = {{"height", link.chain.height().value}, {"params", to_json(link.chain.params())}};
    std::optional<AccountId> account;
    AccountId actor;
    {
        const std::lock_guard lock(mutex_);
        account = account_;
        actor = actor_;
    }
    if (!account) {
        return out;
    }
    const ProvenView view(link.chain);
    out["balance"] = grains(link.chain.account(*account).balance);
    for (const Role role : kRoles) {
        out["stakes"][contracts::to_string(role)] = to_json(contracts::get_stake(view, role, actor));
    }
    if (actor != *account) {
        out["is_operator"] = view.get(contracts::keys::operator_of(actor)) == codec::encode(*account);  // OPR-1
    }
    return out;
}

Json Clerk::read_said(Link& link) {
    AccountId actor;
    Json payments = Json::array();
    {
        const std::lock_guard lock(mutex_);
        if (!account_) {
            return nullptr;
        }
        actor = actor_;
        payments = said_.is_object() ? said_.value("payments", payments) : payments;
    }
    if (!earnings_ || earnings_of_ != actor) {
        earnings_.emplace(actor, Height{});
        earnings_of_ = actor;
        payments = Json::array();
    }
    const auto call = [&link](const std::string& method, const nlohmann::json& params) {
        return link.rpc.call(method, params);
    };
    const bool is_whole = earnings_->read(call, kPagesAtOnce);
    const client::Earnings& sum = earnings_->earnings();
    for (const client::TaskPayment& each : earnings_->take_payments()) {
        payments.insert(
            payments.begin(),
            Json{{"task", each.task}, {"reason", each.reason}, {"amount", grains(each.amount)}, {"height", each.height}}
        );
    }
    while (payments.size() > kPaymentsListed) {
        payments.erase(payments.size() - 1);
    }
    nlohmann::json events =
        link.rpc
            .call("event_list", {{"account", crypto::to_address(actor)}, {"order", "newest"}, {"limit", kEventsListed}})
            .value("events", nlohmann::json::array());
    if (!events.is_array() ||
        events.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).size() > kEventsBytesMax) {
        events = nlohmann::json::array();  // an honest node's are a tenth of it
    }
    return {
        {"earnings",
         {{"paid", by_reason(sum.paid)},
          {"slashed", by_reason(sum.slashed)},
          {"fees", grains(sum.fees)},
          {"total_paid", grains(sum.total_paid())},
          {"total_slashed", grains(sum.total_slashed())},
          {"is_whole", is_whole}}},
        {"payments", std::move(payments)},
        {"events", std::move(events)}};
}

void Clerk::look() {
    const std::lock_guard chain(chain_);
    const std::string url = place_.node.url;
    std::string error;
    Json proven;
    Json said;
    std::optional<client::Anchor> anchor;
    try {
        Link& now = link();
        anchor = now.chain.anchor();
        teller_.follow(now.rpc, now.chain);
        proven = read_proven(now);
        said = read_said(now);
    } catch (const client::Mismatch& mismatch) {
        error = std::string("it is of another chain than this home, or lies: ") + mismatch.what();
        link_.reset();
    } catch (const std::exception& failure) {  // sockets, files, answers that are none
        error = failure.what();
    }
    const std::lock_guard lock(mutex_);
    node_ = {{"url", url}, {"error", error.empty() ? Json() : Json(error)}};
    if (anchor) {
        anchor_ = anchor;
    }
    if (!proven.is_null()) {
        proven_ = std::move(proven);
    }
    if (!said.is_null()) {
        said_ = std::move(said);
    }
}

void Clerk::run() {
    for (;;) {
        look();
        on_news_();
        std::unique_lock lock(mutex_);
        wake_.wait_for(lock, kEvery, [this] { return is_over_ || is_asked_; });
        is_asked_ = false;
        if (is_over_) {
            return;
        }
    }
}

Json Clerk::snapshot() const {
    const std::lock_guard lock(mutex_);
    Json node = node_;
    if (anchor_) {
        node["chain_id"] = anchor_->chain_id;
        node["genesis_hash"] = to_hex(anchor_->genesis.view());
    }
    return {{"node", std::move(node)}, {"proven", proven_}, {"said", said_}, {"orders", teller_.snapshot()}};
}

std::optional<client::Anchor> Clerk::anchor() const {
    const std::lock_guard lock(mutex_);
    return anchor_;
}

}  // namespace assay::ui
