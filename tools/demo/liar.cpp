// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/liar.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <variant>

#include <client/rpc_codes.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/account.hpp>
#include <core/codec/borsh.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr const char* kLiarCustomer = "customer";
constexpr const char* kLiarPayee = "payee";
constexpr const char* kContributor = "verifier-2";
constexpr std::chrono::minutes kLiarPatience{1};
constexpr Amount kLiarFunds{1'000'000'000'000};
constexpr std::uint64_t kFeeMax = 100'000'000;  // --fee-max, unless somebody says otherwise
constexpr const char* kDearFee = "999000000000";
constexpr std::uint64_t kDenials = 8;
constexpr std::uint64_t kFarAhead = 1'000;

// Exit codes of the command line (docs/operations/cli.md).
constexpr int kExitUncertain = 7;
constexpr int kExitMismatch = 10;

/// Changes one member of the results of one method.
template <class Change>
LyingNode::Lie altered(const char* asked, const char* member, Change change) {
    return [=](const std::string& method, const json& /*params*/, json& answer) {
        if (method == asked && answer.contains("result") && answer.at("result").contains(member)) {
            answer["result"][member] = change(answer.at("result").at(member));
        }
    };
}

/// Says of the slot of `key` that it holds a record of the liar's own, made of the one that is there.
template <class T, class Invent>
LyingNode::Lie invented(const Bytes& key, Invent invent) {
    return [key = to_hex(key), invent](const std::string& method, const json& params, json& answer) {
        if (method != "chain_proof" || params.value("key", "") != key || !answer.contains("result")) {
            return;
        }
        const json& value = answer.at("result").at("value");
        const auto bytes = from_hex(value.is_string() ? value.get<std::string>() : "");
        const auto truth = codec::decode<T>(bytes.value_or(Bytes{}));
        T record = truth ? *truth : T{};
        invent(record);
        answer["result"]["value"] = to_hex(codec::encode(record));
    };
}

std::string flipped(const json& hex) {
    std::string text = hex.get<std::string>();
    text.front() = text.front() == '1' ? '2' : '1';
    return text;
}

json next(const json& number) { return number.get<std::uint64_t>() + 1; }

bool has_seat(const contracts::Beacon& beacon, const AccountId& account) {
    return std::any_of(beacon.seats.begin(), beacon.seats.end(), [&](const contracts::Seat& seat) {
        return seat.account == account;
    });
}

/// With a seat for `account`, which owes the secret of a round that nobody has opened.
void open_a_round(contracts::Beacon& beacon, const AccountId& account) {
    if (!has_seat(beacon, account)) {
        beacon.seats.push_back({.account = account, .commitment = {}, .committed_at = {}, .bond = {}});
    }
    std::uint64_t opened_at = 0;
    for (const contracts::Seat& seat : beacon.seats) {
        opened_at = std::max(opened_at, seat.committed_at.value + 1);
    }
    beacon.round = contracts::Round{.opened_at = Height{opened_at}, .block_hash = {}, .contributions = {}};
}

/// How often the worker whose log this is has said that what its node told it does not verify.
std::uint64_t count_mismatches(const std::filesystem::path& log) {
    std::ifstream in(log);
    std::uint64_t count = 0;
    for (std::string line; std::getline(in, line);) {
        count += line.find("the node answered mismatch") != std::string::npos ? 1U : 0U;
    }
    return count;
}

json rpc_error(int code, const char* message, json data) {
    return {
        {"jsonrpc", "2.0"}, {"id", 1}, {"error", {{"code", code}, {"message", message}, {"data", std::move(data)}}}};
}

}  // namespace

Liar::Liar(Network& network, Narrator& narrator)
    : Outsider(network, {}),
      narrator_(narrator),
      customers_node_([&network] { return network.rpc_url(); }),
      workers_node_([&network] { return network.rpc_url(); }) {
    network_.add_actor(kLiarCustomer, kLiarFunds);
    network_.add_actor(kLiarPayee, Amount{kGrainsPerAsy});
    for (const char* worker : {"whistleblower", kContributor}) {
        network_.use_node(worker, workers_node_.url());
    }
}

std::vector<std::string> Liar::payment(const char* amount) const {
    return {"account", "send", to_hex(network_.key(kLiarPayee).account().view()), amount};
}

std::vector<Liar::Lie> Liar::lies() const {
    namespace keys = contracts::keys;
    const AccountId customer = network_.key(kLiarCustomer).account();
    const Hash256 nothing;
    const std::vector<std::string> pay = payment("1 ASY");
    const auto refused = [&](const char* name, std::string told, LyingNode::Lie lie, std::vector<std::string> command) {
        return Lie{name, std::move(told), std::move(lie), std::move(command), kExitMismatch, "mismatch"};
    };
    std::vector<Lie> out{
        refused("protocol", "that it speaks another protocol", altered("node_status", "protocol_version", next), pay),
        refused(
            "chain-id", "that its chain is another one, by its id",
            altered("node_status", "chain_id", [](const json&) { return json("assay-other"); }), pay
        ),
        refused(
            "genesis-hash", "that its chain began with another state", altered("node_status", "genesis_hash", flipped),
            pay
        ),
        refused(
            "hidden-blocks", "that its chain has one block",
            altered("node_status", "height", [](const json&) { return json(1); }), pay
        ),
        refused(
            "parameters", "that a unit of gas costs at least 998,999 ASY",
            invented<contracts::Params>(
                keys::params(),
                [](contracts::Params& params) { params.gas_price_min = Amount{998'999 * kGrainsPerAsy}; }
            ),
            pay
        ),
        refused(
            "base-fee", "that a unit of gas costs an ASY in the next block",
            invented<Amount>(keys::base_fee(), [](Amount& fee) { fee = Amount{kGrainsPerAsy}; }), pay
        ),
        refused(
            "account", "that the customer has sent 1,000 transactions more, and owns a thousand times as much",
            invented<contracts::Account>(
                keys::account(customer),
                [](contracts::Account& account) {
                    account.nonce += kFarAhead;
                    account.balance = Amount{account.balance.grains * 1'000};
                }
            ),
            pay
        ),
        refused(
            "beacon", "that the customer has a seat in the beacon, and that a round waits for its secret",
            invented<contracts::Beacon>(
                keys::beacon(), [customer](contracts::Beacon& beacon) { open_a_round(beacon, customer); }
            ),
            {"beacon", "contribute"}
        ),
        refused(
            "task", "that there is a task that nobody has submitted",
            invented<contracts::Account>(keys::task({nothing.data}), [](contracts::Account& other) { ++other.nonce; }),
            {"query", "proof", "--task", to_hex(nothing.view())}
        ),
    };
    // Signed as asked for, and of no use to the liar: no block takes it before a thousand others.
    out.push_back(
        {"next-nonce", "that a thousand transactions of the customer wait for a block",
         altered("account_get", "next_nonce", [](const json& n) { return json(n.get<std::uint64_t>() + kFarAhead); }),
         payment("2 ASY"), kExitUncertain, "tx_uncertain"}
    );
    return out;
}

std::uint64_t Liar::balance(const std::string& name) {
    return std::stoull(account(name).at("balance").get<std::string>());
}

CommandResult Liar::run(const std::vector<std::string>& command, const std::string& url) {
    return run_own(network_.worker_home(kLiarCustomer), url, command);
}

std::uint64_t Liar::count_signed() {
    std::uint64_t count = 0;
    for (const contracts::Tx& tx : customers_node_.take_signed()) {
        if (!signed_.insert(codec::encode(tx)).second) {
            continue;
        }
        ++count;
        const auto* transfer = std::get_if<contracts::Transfer>(&tx.body.action);
        const bool is_asked_for = transfer != nullptr && transfer->to == network_.key(kLiarPayee).account() &&
                                  tx.body.chain_id == network_.rpc().chain_id() && tx.body.fee.grains <= kFeeMax;
        signed_wrong_ += is_asked_for ? 0U : 1U;
        fees_ += tx.body.fee.grains;
    }
    return count;
}

void Liar::meet_the_chain() {
    const auto home = network_.worker_home(kLiarCustomer);
    std::filesystem::create_directories(home);
    const auto file = home / "secret.hex";
    {
        std::ofstream out(file);
        std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        out << to_hex(network_.key(kLiarCustomer).bytes()) << "\n";
    }
    const CommandResult imported = run({"keys", "import", kLiarCustomer, file.string()}, customers_node_.url());
    const CommandResult paid = run(payment("1 ASY"), customers_node_.url());
    if (imported.status != 0 || paid.status != 0) {
        throw std::runtime_error(
            "the customer could not pay by way of a node that tells the truth: " + paid.error_message()
        );
    }
    asked_ += kGrainsPerAsy;
    ++asked_times_;
    count_signed();
    narrator_.plain("  the customer pays 1 ASY through its node, which tells the truth so far; its home pins the chain"
    );
}

void Liar::tell(const Lie& lie) {
    customers_node_.tell(lie.alter);
    const CommandResult result = run(lie.command, customers_node_.url());
    customers_node_.tell({});
    const std::uint64_t count = count_signed();
    const bool is_refused = result.status == kExitMismatch && count == 0;
    refused_ += is_refused ? 1U : 0U;
    lies_.push_back(
        {{"name", lie.name},
         {"status", result.status},
         {"error", result.error_name()},
         {"message", result.error_message()},
         {"signed", count},
         {"as_meant", result.status == lie.status && result.error_name() == lie.error &&
                          count == (lie.status == kExitMismatch ? 0U : 1U)}}
    );
    narrator_.plain("  the node says " + lie.told);
    narrator_.plain(
        "    \"assay " + lie.command.at(0) + " " + lie.command.at(1) + "\" ends with " + std::to_string(result.status) +
        " (" + result.error_name() + "); " +
        (count == 0 ? "nothing is signed" : std::to_string(count) + " transaction is signed, as asked for")
    );
}

/// The node executes one payment, and says eight times that it did not and that the next nonce is another one.
void Liar::deny_a_payment() {
    std::uint64_t uncertain = 0;
    const auto before = balance(kLiarPayee);
    std::string message;
    std::string name;
    for (std::uint64_t i = 0; i < kDenials; ++i) {
        customers_node_.tell([i](const std::string& method, const json& /*params*/, json& answer) {
            if (method == "account_get" && answer.contains("result")) {
                answer["result"]["next_nonce"] = answer.at("result").at("next_nonce").get<std::uint64_t>() + i;
            } else if (method == "tx_get") {
                answer = rpc_error(client::kNotFound, "no such transaction", {{"name", "not_found"}});
            } else if (method == "tx_submit") {
                answer = rpc_error(
                    client::kTxRejected, "refused",
                    {{"name", "tx_rejected"}, {"tx_error", 5}, {"reason", "nonce_too_low"}}
                );
            }
        });
        const CommandResult result = run(payment("100 ASY"), customers_node_.url());
        uncertain += result.status == kExitUncertain ? 1U : 0U;
        name = result.error_name();
        message = result.error_message();
    }
    customers_node_.tell({});
    const std::uint64_t count = count_signed();
    const CommandResult honest = run(payment("100 ASY"), network_.rpc_url());
    asked_ += 100 * kGrainsPerAsy;
    ++asked_times_;
    const bool is_as_meant = uncertain == kDenials && count == 1 && honest.status == 0 &&
                             balance(kLiarPayee) - before == 100 * kGrainsPerAsy;
    lies_.push_back(
        {{"name", "denial"},
         {"status", kExitUncertain},
         {"error", name},
         {"message", message},
         {"signed", count},
         {"as_meant", is_as_meant}}
    );
    narrator_.plain("  the node executes a payment of 100 ASY, and denies it " + std::to_string(kDenials) + " times");
    narrator_.plain(
        "    the customer's eight tries sign " + std::to_string(count) +
        " transaction; an honest node then shows its end"
    );
}

std::filesystem::path Liar::log_of(const std::string& worker) const {
    return network_.worker_home(worker).parent_path() / "logs" / (worker + ".log");
}

/// Tells a contributor to the beacon for a while, by the slot of the state itself, that a round waits for its secret.
void Liar::invent_a_round() {
    const AccountId verifier = network_.key(kContributor).account();
    const auto give_up_at = std::chrono::steady_clock::now() + kLiarPatience;
    while (!has_seat(network_.rpc().beacon(), verifier) && std::chrono::steady_clock::now() < give_up_at) {
        network_.rpc().wait_for_block(network_.rpc().height(), std::chrono::seconds(2));
    }
    workers_node_.tell(invented<contracts::Beacon>(contracts::keys::beacon(), [verifier](contracts::Beacon& beacon) {
        open_a_round(beacon, verifier);
    }));
    while (count_mismatches(log_of(kContributor)) == 0 && std::chrono::steady_clock::now() < give_up_at) {
        network_.rpc().wait_for_block(network_.rpc().height(), std::chrono::seconds(2));
    }
    workers_node_.tell({});
    narrator_.plain(
        std::string("  the node of ") + kContributor + " says that a round of the beacon waits for its secret"
    );
    narrator_.plain(
        std::string("    ") + kContributor +
        (count_mismatches(log_of(kContributor)) == 0
             ? " has said nothing of it"
             : " finds that this does not verify, keeps its secret, and says so in its log")
    );
}

void Liar::lie_to_workers() {
    const AccountId verifier = network_.key(kContributor).account();
    workers_node_.tell([verifier](const std::string& method, const json& /*params*/, json& answer) {
        if (!answer.contains("result")) {
            return;
        }
        json& result = answer["result"];
        if (method == "node_status") {
            result["base_fee"] = kDearFee;
        } else if (method == "chain_params") {
            if (auto params = codec::decode<contracts::Params>(from_hex(result.value("raw", "")).value_or(Bytes{}))) {
                params->gas_price_min = Amount{kGrainsPerAsy};
                result["raw"] = to_hex(codec::encode(*params));
            }
        } else if (method == "beacon_get") {
            if (auto beacon = codec::decode<contracts::Beacon>(from_hex(result.value("raw", "")).value_or(Bytes{}))) {
                open_a_round(*beacon, verifier);
                result["raw"] = to_hex(codec::encode(*beacon));
            }
        } else if (method == "account_get") {
            result["balance"] = kDearFee;
        }
    });
    narrator_.plain(
        "  the whistleblower and verifier-2 have such a node too: from now on it lies to them about fees, parameters, "
        "balances and the beacon"
    );
}

void Liar::prepare(const Packer& /*pack*/) {
    narrator_.heading("a node that lies, between honest users and the chain");
    meet_the_chain();
    for (const Lie& lie : lies()) {
        tell(lie);
    }
    deny_a_payment();
    invent_a_round();
    lie_to_workers();
}

void Liar::act(const contracts::Task& /*own*/) {}

std::uint64_t Liar::harm() {
    const std::uint64_t spent = kLiarFunds.grains - balance(kLiarCustomer);
    return spent - std::min(spent, asked_ + fees_);
}

bool Liar::is_executed(const contracts::Tx& tx) {
    try {
        const std::string hash = to_hex(contracts::tx_hash(codec::encode(tx)).view());
        return network_.rpc().call("tx_get", {{"hash", hash}}).at("status") == "executed";
    } catch (const client::RpcError&) {
        return false;
    }
}

/// A transaction that cannot have been meant: for another chain, at an absurd fee, or a secret that no round had asked
/// for.
bool Liar::is_wrong(const contracts::Tx& tx) {
    const auto* shown = std::get_if<contracts::Contribute>(&tx.body.action);
    // A higher bid under the same nonce shows the same secret.
    const bool is_due =
        shown == nullptr || std::any_of(of_workers_.begin(), of_workers_.end(), [&](const contracts::Tx& bid) {
            const auto* other = std::get_if<contracts::Contribute>(&bid.body.action);
            return other != nullptr && other->secret == shown->secret && is_executed(bid);
        });
    return !is_due || tx.body.chain_id != network_.rpc().chain_id() || tx.body.fee.grains > kFeeMax;
}

json Liar::describe_workers() {
    for (contracts::Tx& tx : workers_node_.take_signed()) {
        of_workers_.push_back(std::move(tx));
    }
    const auto is_secret = [](const contracts::Tx& tx) {
        return std::holds_alternative<contracts::Contribute>(tx.body.action);
    };
    return {
        {"altered", workers_node_.altered()},
        {"refused", count_mismatches(log_of(kContributor))},
        {"signed", of_workers_.size()},
        {"secrets", std::count_if(of_workers_.begin(), of_workers_.end(), is_secret)},
        {"wrong", std::count_if(of_workers_.begin(), of_workers_.end(), [this](const contracts::Tx& tx) {
             return is_wrong(tx);
         })}};
}

json Liar::report() {
    return {
        {"told", lies_.size()},
        {"refused", refused_},
        {"lies", lies_},
        {"payments",
         {{"asked", asked_times_},
          {"asked_grains", asked_},
          {"moved_grains", balance(kLiarPayee) - kGrainsPerAsy},
          {"signed", signed_.size()},
          {"wrong", signed_wrong_}}},
        {"workers", describe_workers()}};
}

std::vector<std::string> Liar::judge(const json& report) const {
    std::vector<std::string> complaints;
    for (const json& lie : report.at("lies")) {
        if (lie.at("as_meant") != true) {
            complaints.push_back("the customer believed a lie, or did not say why it stopped: " + lie.dump());
        }
    }
    const json& payments = report.at("payments");
    if (payments.at("wrong") != 0 || payments.at("moved_grains") != payments.at("asked_grains")) {
        complaints.push_back("the customer signed or paid what it was not asked to: " + payments.dump());
    }
    const json& workers = report.at("workers");
    if (workers.at("wrong") != 0) {
        complaints.push_back("a worker signed what a lie made it believe: " + workers.dump());
    }
    if (workers.at("signed") == 0 || workers.at("altered") == 0 || workers.at("refused") == 0) {
        complaints.emplace_back("no worker was lied to, so nothing was tried");
    }
    return complaints;
}

}  // namespace assay::demo
