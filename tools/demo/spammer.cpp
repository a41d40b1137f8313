// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/spammer.hpp>

#include <algorithm>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr const char* kFiller = "spammer";
constexpr const char* kBeggar = "spammer-of-one-fee";
constexpr Amount kSpammerFunds{60'000'000'000};
// One fee, at any price that the first blocks have, and not two.
constexpr Amount kFundsOfOneFee{1'000'000};
constexpr Amount kOneFee{600'000};
constexpr std::uint64_t kFollowers = 200;
constexpr std::uint64_t kLeastFullBlocks = 6;

std::uint64_t gas_of_block(Network& network, std::uint64_t height) {
    return network.rpc().call("chain_block", {{"height", height}}).at("gas").get<std::uint64_t>();
}

}  // namespace

Spammer::Spammer(Network& network) : Outsider(network, {{kFiller, kSpammerFunds}, {kBeggar, kFundsOfOneFee}}) {}

contracts::Action Spammer::filler(const std::string& name) const {
    return contracts::Transfer{.to = network_.key(name).account(), .amount = Amount{1}};
}

void Spammer::queue_behind_one_fee() {
    for (std::uint64_t nonce = 0; nonce < kFollowers; ++nonce) {
        refused_ += submit(kBeggar, nonce, kOneFee, filler(kBeggar)).tx ? 0U : 1U;
    }
}

void Spammer::act(const contracts::Task& own) {
    if (!has_begun_ && !is_judged(own)) {
        return;
    }
    if (!has_begun_) {
        has_begun_ = true;
        first_block_ = network_.rpc().height().value;
        queue_behind_one_fee();
    }
    if (is_broke_) {
        return;
    }
    const contracts::Action transfer = filler(kFiller);
    base_fee_max_ = std::max(base_fee_max_, network_.rpc().base_fee().grains);
    const Amount fee = fee_of(transfer, 200);
    const json account = this->account(kFiller);
    const auto executed = account.at("nonce").get<std::uint64_t>();
    auto next = account.at("next_nonce").get<std::uint64_t>();
    const std::uint64_t wanted = std::uint64_t{2} * network_.rpc().params().block_gas_max / gas_of(transfer);
    while (next < executed + wanted) {
        if (!submit(kFiller, next, fee, transfer).tx) {
            is_broke_ = next == executed;  // nothing waits any more, and one more cannot be paid
            return;
        }
        ++next;
        ++sent_;
    }
}

json Spammer::report() {
    std::uint64_t full = 0;
    const std::uint64_t most = network_.rpc().params().block_gas_max;
    for (std::uint64_t height = first_block_ + 1; height <= network_.rpc().height().value; ++height) {
        full += gas_of_block(network_, height) >= most / 10 * 9 ? 1U : 0U;
    }
    return {{"refused", refused_}, {"sent", sent_}, {"full_blocks", full}, {"base_fee_max", base_fee_max_}};
}

std::vector<std::string> Spammer::judge(const json& report) const {
    std::vector<std::string> complaints;
    if (report.at("refused") < kFollowers - 1) {
        complaints.emplace_back("the mempool took transactions behind a fee that was spent already");
    }
    if (report.at("full_blocks") < kLeastFullBlocks) {
        complaints.emplace_back("the spammer filled hardly any block, so nothing was tried");
    }
    return complaints;
}

}  // namespace assay::demo
