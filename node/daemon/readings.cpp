// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/node.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <contracts/state/slots.hpp>

namespace assay::node {
namespace {

/// The size of all files in a directory and below. Files that vanish meanwhile do not count.
std::uint64_t size_of(const std::filesystem::path& directory) {
    std::uint64_t out = 0;
    std::error_code error;
    std::filesystem::recursive_directory_iterator it(directory, error);
    while (!error && it != std::filesystem::recursive_directory_iterator{}) {
        std::error_code vanished;
        if (it->is_regular_file(vanished)) {
            const std::uintmax_t size = it->file_size(vanished);
            out += vanished ? 0 : size;
        }
        it.increment(error);
    }
    return out;
}

}  // namespace

std::optional<OwnValidator> Node::own_validator(const contracts::StateView& view) const {
    const auto account =
        consensus_address_ ? contracts::find_consensus_account(view, *consensus_address_) : std::nullopt;
    const auto record = account ? contracts::find_validator(view, *account) : std::nullopt;
    if (!record) {
        return std::nullopt;
    }
    return OwnValidator{
        .power = record->power,
        .missed = record->missed,
        .missed_max = contracts::get_params(view).downtime_blocks,
        .is_jailed = record->jailed_until.value != 0,
        .is_banned = record->is_banned};
}

NodeReadings Node::readings() const {
    const auto state = application_.committed();
    const contracts::Beacon beacon = contracts::get_beacon(*state);
    const consensus::Mempool::Tally tally = driver_->tally();
    NodeReadings out;
    out.base_fee = contracts::get_base_fee(*state, state->params());
    out.block_gas_max = state->params().block_gas_max;
    out.mempool_txs_max = options_.config.mempool_txs_max;
    out.mempool_bytes_max = options_.config.mempool_bytes_max;
    out.mempool_admitted = tally.admitted;
    out.mempool_refused = tally.refused;
    out.beacon_rounds = beacon.rounds;
    out.beacon_seats = beacon.seats.size();
    out.is_catching_up = driver_->is_catching_up();
    out.validator = own_validator(*state);
    std::vector<AccountId> watched{options_.key.account()};
    watched.insert(watched.end(), options_.watched.begin(), options_.watched.end());
    for (auto it = watched.begin(); it != watched.end(); ++it) {
        if (std::find(watched.begin(), it, *it) == it) {
            out.accounts.push_back({.account = *it, .balance = contracts::get_account(*state, *it).balance});
        }
    }
    out.database_bytes = size_of(options_.home.db());
    std::error_code error;
    const std::uintmax_t log = std::filesystem::file_size(options_.home.block_log(), error);
    out.block_log_bytes = error ? 0 : log;
    const auto space = std::filesystem::space(options_.home.data(), error);
    if (!error) {
        out.disk_free_bytes = space.available;
        out.disk_size_bytes = space.capacity;
    }
    return out;
}

}  // namespace assay::node
