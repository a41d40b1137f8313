// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// `assay demo`: a real assayd and real workers as separate processes on loopback, honest and dishonest, from
/// submission to settlement.
namespace assay::demo {

/// What goes wrong in a demo. The names are those of the command line and of assay-worker's --dishonest.
enum class Fraud : std::uint8_t {
    kNone = 0,
    kTile = 1,          ///< one tile of one tensor altered in mid-step
    kSkip = 2,          ///< a segment not trained
    kData = 3,          ///< a wrong batch
    kInit = 4,          ///< a wrong initial state
    kOptimizer = 5,     ///< a wrong learning rate
    kWithhold = 6,      ///< a checkpoint's artifact never served
    kFalseAccuser = 7,  ///< an honest solver accused
    kLazy = 8,          ///< a verifier that does not replay
    kCopycat = 9,       ///< a verifier that publishes what another one found
    kForced = 10,       ///< nothing is wrong but the verdicts that are forced to be
    kReject = 11,       ///< verifiers that reject what is right
    kCollusion = 12,    ///< a dishonest solver, and verifiers that accept whatever they are shown
    kFlood = 13,        ///< several whistleblowers at once that accuse an honest solver
    kLate = 14,         ///< a dishonest solver that moves when its clock has nearly run out
    kPush = 15,         ///< in tolerance mode: a solver that adds a little to each segment
    kInflate = 16,      ///< in tolerance mode: a verifier that overstates distances
    kMisprofile = 17,   ///< in tolerance mode: a profiler that overstates them
    kScore = 18,        ///< a solver that claims a lower loss on the hold-out set
    kFreeRider = 19,    ///< a watcher that copies another's challenges of forced errors
    kInsider = 20,      ///< watchers that are told by their owner's verifier which of its verdicts are forced
    kSpam = 21,         ///< a dishonest solver, and somebody who fills the blocks in which it is judged
    kSquat = 22,        ///< a dishonest solver, and somebody who wants all places of validators without stake
    kBait = 23,         ///< nothing but tasks that nobody can do in time
    kWaiting = 24,      ///< nothing but hundreds of tasks that nobody wants
    kDraft = 25,        ///< in tolerance mode: nothing but tasks whose program no profiler can fetch
    kStarve = 26,       ///< a dishonest solver, and somebody who has its verifiers' stakes locked by such tasks
    kDivergence = 27,   ///< in tolerance mode: a verifier that says that its replay diverged
    kIdleSockets = 28,  ///< a dishonest solver, and somebody who holds thousands of idle connections while it is judged
    kTarpit = 29,       ///< nothing but tasks at addresses where connections are taken and nothing is ever said
    kWithholdAll = 30,  ///< a solver that serves nothing to anybody
    kLyingNode = 31,    ///< a dishonest solver, and somebody who lies to honest users in the place of their node
    kDoubleProposal = 32,  ///< nothing but a validator whose proposals hold a transaction twice
    kFarm = 33,         ///< a coalition whose tasks have programs that nobody else can have, for their jackpots
    kSnipe = 34,        ///< a dishonest solver, and its accomplice that disputes the fraud before honest accusers do
};
std::string to_string(Fraud fraud);
std::optional<Fraud> decode_fraud(std::string_view name);
/// All names, for help and errors.
const std::vector<std::string>& fraud_names();

struct DemoOptions {
    bool tolerance = false;  ///< the task in tolerance mode; some frauds need no asking
    std::optional<Fraud> fraud;  ///< nullopt: one honest task and one tile fraud side by side
    std::optional<std::filesystem::path> report;
    std::uint64_t seed = 1;
    std::uint32_t validators = 0;  ///< 0: one node with the embedded engine; else so many under CometBFT
    std::optional<std::uint32_t> watchers;  ///< drawn for each verdict; nullopt: as many as by default
    bool keep_running = false;
    bool json = false;  ///< print the report on stdout instead of the narration
    std::filesystem::path text = "/usr/share/common-licenses/GPL-3";
    std::uint64_t steps = 200;
    std::optional<std::filesystem::path> home;  ///< default: a temporary directory, removed afterwards
};

/// What a double proposal needs: the fewest validators that outvote a dishonest one, which is the last of them.
inline constexpr std::uint32_t kDoubledValidators = 4;

/// 0 when everything ended as it should; 1 when something did not (the last lines say what).
int run_demo(const DemoOptions& options);

}  // namespace assay::demo
