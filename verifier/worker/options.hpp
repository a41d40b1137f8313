// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <contracts/transaction/transaction.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/worker/pins.hpp>

namespace assay::worker {

/// Deliberate misbehaviour, for demonstrations and tests of the disputes that must stop it.
enum class Dishonesty : std::uint8_t {
    kNone = 0,
    kTile = 1,          ///< alters one element of a tile of a node's output at one step
    kSkip = 2,          ///< does not train one segment: passes the state on unchanged
    kData = 3,          ///< trains one step on another step's batch
    kInit = 4,          ///< initialises from another seed
    kOptimizer = 5,     ///< doubles the first parameter's update from some step on
    kWithhold = 6,      ///< never serves one checkpoint's artifact
    kFalseAccuser = 7,  ///< a whistleblower that disputes an honest segment
    kLazy = 8,          ///< a verifier that accepts without a replay, with invented probe roots
    kCopycat = 9,       ///< a verifier that copies another verifier's verdict on the segment
    kReject = 10,       ///< a verifier that alters a tile in each segment's replay, and so rejects honest work
    kPush = 11,         ///< a solver in tolerance mode that enlarges each segment's update of one tensor
    kInflate = 12,      ///< a verifier in tolerance mode that overstates measured distances
    kMisprofile = 13,   ///< a profiler that overstates measured distances
    kScore = 14,        ///< a solver that halves its claimed loss on the hold-out set
    kFreeRider = 15,    ///< a whistleblower that replays nothing and copies others' challenges
    kInsider = 16,      ///< a whistleblower that its owner's verifier tells which verdicts are forced
    kDivergence = 17,   ///< a verifier in tolerance mode that claims for each segment that its replay diverged
    kWithholdAll = 18,  ///< a solver that serves no artifacts
    kPrivate = 19,      ///< a solver that serves its checkpoints only, not the program and the data (AVL-9)
};
const char* to_string(Dishonesty kind) noexcept;
/// Returns the kind with this --dishonest name; nullopt if there is none.
std::optional<Dishonesty> decode_dishonesty(const std::string& name);

enum class Mode : std::uint8_t { kSolve = 1, kVerify = 2, kWhistleblow = 3, kServe = 4 };
const char* to_string(Mode mode) noexcept;
/// The role whose stake backs the mode; kSolver for kServe, which has none.
contracts::Role role_of(Mode mode) noexcept;

struct WorkerOptions {
    Mode mode = Mode::kServe;
    std::string node_url = "http://127.0.0.1:26600";
    std::filesystem::path home;
    Pins pins;
    std::string listen_address = "127.0.0.1";
    std::uint16_t listen_port = 0;                          ///< 0: the port of the last run, or any free one
    std::uint64_t memory_bytes = 0;                         ///< limit for one task; 0: what the machine has available
    std::uint64_t cost_per_hour_grains = 0;                 ///< cost of an hour on this machine
    std::uint32_t least_profit_percent = 10;                ///< minimum profit in percent of a task's cost
    bool allow_private_addresses = false;                   ///< also fetch from private network addresses
    std::uint64_t cache_bytes = std::uint64_t{64} << 30U;   ///< quota for fetched artifacts
    std::uint64_t reserve_bytes = std::uint64_t{1} << 30U;  ///< disk space kept free for disputes
    engine::EngineOptions engine;
    std::uint64_t seed = 0;           ///< seed of a whistleblower's checking order
    std::uint32_t tasks_max = 0;      ///< 0: no limit
    bool contributes = true;          ///< whether a verifier with enough stake takes a seat in the beacon
    std::uint64_t join_grains = 0;    ///< bond that a whistleblower joins with and withdraws by itself; 0: neither
    std::uint32_t others_max = 4;     ///< it joins while at most this many others watch
    std::uint64_t payout_checks = 0;  ///< it leaves after this many checks; 0: the expected number per forced error
    bool json_progress = false;
    bool reset_breaker = false;
    Dishonesty dishonesty = Dishonesty::kNone;
    std::optional<std::uint64_t> dishonest_step;
    std::optional<std::uint32_t> dishonest_node;
    std::filesystem::path insider_of;  ///< kInsider: the home directory of its owner's verifier
    bool late_moves = false;           ///< make dispute moves only when the clock has nearly run out
};

}  // namespace assay::worker
