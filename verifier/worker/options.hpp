// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <contracts/state/transaction.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/worker/pins.hpp>

namespace assay::worker {

/// What a worker does wrong on purpose, for demonstrations and tests of the disputes that must end it.
enum class Dishonesty : std::uint8_t {
    kNone = 0,
    kTile = 1,          ///< one element of one tile of one node's output altered at one step
    kSkip = 2,          ///< one segment not trained: the state is handed on unchanged
    kData = 3,          ///< one step trained on another step's batch
    kInit = 4,          ///< initialised from another seed
    kOptimizer = 5,     ///< the first parameter's update doubled from a step on
    kWithhold = 6,      ///< one checkpoint's artifact never served
    kFalseAccuser = 7,  ///< a whistleblower that disputes an honest segment
    kLazy = 8,          ///< a verifier that accepts without a replay, and invents what it found at the probe
    kCopycat = 9,       ///< one that publishes what another verifier of the segment did
    kReject = 10,       ///< one that replays wrongly, a tile in each segment, and so rejects what is right
    kPush = 11,         ///< a solver in tolerance mode that lengthens each segment's update of one tensor
    kInflate = 12,      ///< a verifier in tolerance mode that overstates the distances it measures
    kMisprofile = 13,   ///< a profiler that overstates them
    kScore = 14,        ///< a solver that halves the loss that it claims on the hold-out set
    kFreeRider = 15,    ///< a whistleblower that replays nothing, and challenges what somebody else has challenged
    kInsider = 16,      ///< one that is told by a verifier, its owner's, which of its verdicts are forced
    kDivergence = 17,   ///< a verifier in tolerance mode that says of each segment that its replay diverged
    kWithholdAll = 18,  ///< a solver that serves no artifact to anybody
    kPrivate = 19,      ///< a solver that serves its checkpoints alone, not the program and the data (AVL-9)
};
const char* to_string(Dishonesty kind) noexcept;
/// By the name that --dishonest takes.
std::optional<Dishonesty> decode_dishonesty(const std::string& name);

enum class Mode : std::uint8_t { kSolve = 1, kVerify = 2, kWhistleblow = 3, kServe = 4 };
const char* to_string(Mode mode) noexcept;
/// The role whose stake backs the mode; kServe has none and gives kSolver.
contracts::Role role_of(Mode mode) noexcept;

struct WorkerOptions {
    Mode mode = Mode::kServe;
    std::string node_url = "http://127.0.0.1:26600";
    std::filesystem::path home;
    Pins pins;
    std::string listen_address = "127.0.0.1";
    std::uint16_t listen_port = 0;  ///< 0: the port of the last run, else any free one
    std::uint64_t memory_bytes = 0;           ///< for one task; 0: what the machine has available
    std::uint64_t cost_per_hour_grains = 0;   ///< what an hour of the machine costs
    std::uint32_t least_profit_percent = 10;  ///< of a task's cost
    bool allow_private_addresses = false;  ///< fetches from addresses of private networks too
    std::uint64_t cache_bytes = std::uint64_t{64} << 30U;    ///< for what is fetched
    std::uint64_t reserve_bytes = std::uint64_t{1} << 30U;   ///< of the disk, kept free for disputes
    engine::EngineOptions engine;
    std::uint64_t seed = 0;       ///< of a whistleblower's checking order
    std::uint32_t tasks_max = 0;  ///< 0: no limit
    bool contributes = true;          ///< a verifier takes a seat of the beacon when it has the stake
    std::uint64_t join_grains = 0;    ///< a whistleblower's own bond, put up and withdrawn as it sees fit; 0: neither
    std::uint32_t others_max = 4;     ///< it joins while at most so many others watch
    std::uint64_t payout_checks = 0;  ///< it leaves after so many checks; 0: what one forced error takes on average
    bool json_progress = false;
    bool reset_breaker = false;
    Dishonesty dishonesty = Dishonesty::kNone;
    std::optional<std::uint64_t> dishonest_step;
    std::optional<std::uint32_t> dishonest_node;
    std::filesystem::path insider_of;  ///< of kInsider: the home of its owner's verifier
    bool late_moves = false;  ///< moves in disputes only when its clock has nearly run out
};

}  // namespace assay::worker
