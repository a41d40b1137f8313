// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <client/node_address.hpp>
#include <contracts/transaction/transaction.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/worker/pins.hpp>

namespace assay::worker {

enum class Mode : std::uint8_t { kSolve = 1, kVerify = 2, kWhistleblow = 3, kServe = 4 };
const char* to_string(Mode mode) noexcept;
/// The role whose stake backs the mode; kSolver for kServe, which has none.
contracts::Role role_of(Mode mode) noexcept;

/// How long the files that a worker made stay after their task has ended.
struct KeepOptions {
    std::uint64_t checkpoints_s = 86'400;  ///< of checkpoints, in seconds: a day
    std::uint64_t results_s = 2'592'000;   ///< of the last checkpoint of a settled task: 30 days
    bool all = false;                      ///< nothing is deleted
};

struct WorkerOptions {
    Mode mode = Mode::kServe;
    client::NodeAddress node{};
    std::filesystem::path home;
    Pins pins;
    std::optional<AccountId> owner{};  ///< OPR-2: the account that the key acts for; absent: the key's own
    std::string listen_address = "127.0.0.1";
    std::uint16_t listen_port = 0;                          ///< 0: the port of the last run, or any free one
    std::uint64_t memory_bytes = 0;                         ///< limit for one task; 0: what the machine has available
    std::uint64_t cost_per_hour_grains = 0;                 ///< cost of an hour on this machine
    std::uint32_t least_profit_percent = 10;                ///< minimum profit in percent of a task's cost
    bool allow_private_addresses = false;                   ///< also fetch from private network addresses
    std::vector<std::string> artifact_sources{};            ///< locations that may have any artifact (ART-14)
    std::vector<std::string> relays{};                      ///< HOST:PORT of relays to be reached through (ART-23)
    std::vector<std::string> publish{};                     ///< locations that checkpoints are written to (ART-20)
    std::optional<std::uint32_t> publish_copies{};          ///< of them have to have one; nullopt: two, if there are
    std::uint64_t cache_bytes = std::uint64_t{64} << 30U;   ///< quota for fetched artifacts
    std::uint64_t reserve_bytes = std::uint64_t{1} << 30U;  ///< disk space kept free for disputes
    engine::EngineOptions engine;
    std::uint64_t seed = 0;           ///< seed of a whistleblower's checking order
    std::uint32_t tasks_max = 0;      ///< 0: no limit
    std::uint32_t tasks_at_once = 0;  ///< that a solver answers for; 0: as many as its machine can defend
    bool contributes = true;          ///< whether a verifier with enough stake takes a seat in the beacon
    std::uint64_t join_grains = 0;    ///< bond that a whistleblower joins with and withdraws by itself; 0: neither
    std::uint32_t others_max = 4;     ///< it joins while at most this many others watch
    std::uint64_t payout_checks = 0;  ///< it leaves after this many checks; 0: the expected number per forced error
    /// GRP-2: accounts with which a solver trains as the lead of a group, one for each seat after its own first one.
    std::vector<AccountId> partners{};
    std::vector<std::string> lead_urls{};  ///< URLs of the artifact servers of leads whose seats a solver signs
    /// GRP-11: the layout in which a lead and its partners compute each step together; empty: their segments take
    /// turns.
    std::string together{};
    bool demands = false;  ///< GRP-14: whether such a lead demands of a member that was lost; it costs both the same
    /// GRP-13: whether a member of such a group signs lists in which its share of the seats, and so of the pay, is less
    /// than before, because others join.
    bool admits = false;
    /// GRP-13: whether a lead gives the seats anew by how fast the members are.
    bool balances = false;
    /// The least share of the seats, in hundredths of an equal one, that a member of such a group signs for: it may be
    /// less than before where nobody joins.
    std::uint32_t share_min = 100;
    /// A member of such a group replays alone one of so many segments, at random, and accuses who misled it (STM-8); 0:
    /// none.
    std::uint32_t audit_every = 64;
    std::optional<contracts::Environment> environment{};  ///< ENV-4: in which this worker runs, as its launcher says
    std::string link_address{};  ///< where the other members of such a group reach this machine; empty: in none
    KeepOptions keep{};
    std::string metrics_address{};   ///< empty: no metrics
    std::uint16_t metrics_port = 0;  ///< 0: any free one
    bool json_progress = false;
    bool reset_breaker = false;
};

}  // namespace assay::worker
