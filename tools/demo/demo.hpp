// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tools/demo/store_kind.hpp>

/// `assay demo`: runs a real assayd and real workers, honest and dishonest, as separate processes on loopback, from
/// submission to settlement.
namespace assay::demo {

/// The fraud that a demo shows. The names are those of the command line and of assay-adversary's --dishonest.
enum class Fraud : std::uint8_t {
    kNone = 0,
    kTile = 1,          ///< the solver alters one tile of one tensor within a step
    kSkip = 2,          ///< the solver does not train a segment
    kData = 3,          ///< the solver uses a wrong batch
    kInit = 4,          ///< the solver uses a wrong initial state
    kOptimizer = 5,     ///< the solver uses a wrong learning rate
    kWithhold = 6,      ///< the solver never serves one checkpoint's artifact
    kFalseAccuser = 7,  ///< an honest solver is accused
    kLazy = 8,          ///< a verifier that does not replay
    kCopycat = 9,       ///< a verifier that copies another one's verdict
    kForced = 10,       ///< no fraud: only forced errors
    kReject = 11,       ///< verifiers that reject correct work
    kCollusion = 12,    ///< a dishonest solver, and verifiers that accept everything
    kFlood = 13,        ///< several whistleblowers that accuse an honest solver at the same time
    kLate = 14,         ///< a dishonest solver that makes its moves just before its clock runs out
    kPush = 15,         ///< in tolerance mode: a solver that adds a small deviation to each segment
    kInflate = 16,      ///< in tolerance mode: a verifier that overstates distances
    kMisprofile = 17,   ///< in tolerance mode: a profiler that overstates distances
    kScore = 18,        ///< a solver that claims a lower loss on the hold-out set than it has
    kFreeRider = 19,    ///< a watcher that copies another one's challenges of forced errors
    kInsider = 20,      ///< watchers whose owner's verifier tells them which of its verdicts are forced
    kSpam = 21,         ///< a dishonest solver, and an attacker that fills the blocks while the solver is judged
    kSquat = 22,        ///< a dishonest solver, and an attacker that tries to take all validator places without stake
    kBait = 23,         ///< only an attacker: tasks that nobody can complete in time
    kWaiting = 24,      ///< only an attacker: hundreds of tasks that no solver wants
    kDraft = 25,        ///< only an attacker, in tolerance mode: tasks whose program no profiler can fetch
    kStarve = 26,       ///< a dishonest solver, and an attacker that locks its verifiers' stakes with such tasks
    kDivergence = 27,   ///< in tolerance mode: a verifier that claims that its replay diverged
    kIdleSockets = 28,  ///< a dishonest solver, and an attacker that holds thousands of idle connections meanwhile
    kTarpit = 29,       ///< only an attacker: tasks at addresses that accept connections but never answer
    kWithholdAll = 30,  ///< a solver that serves no artifact to anybody
    kLyingNode = 31,    ///< a dishonest solver, and an attacker that poses as honest users' node and lies to them
    kDoubleProposal = 32,  ///< only an attacker: a validator whose proposals contain a transaction twice
    kFarm = 33,            ///< a coalition that wins jackpots with tasks whose programs nobody else can fetch
    kSnipe = 34,           ///< a dishonest solver, and its accomplice that disputes the fraud before honest accusers do
    kWrongKeys = 35,       ///< of a private task: a solver that shares wrong keys with those who are drawn to judge it
    kKeysWithheld = 36,    ///< likewise, one that shares none
    kWrongChunk = 37,      ///< likewise, one that seals a chunk of a checkpoint wrongly
    kWrongShares = 38,     ///< likewise, a submitter that shares other keys with the first solver that is drawn
};
/// Whether only a private task has it.
constexpr bool is_of_private(Fraud fraud) { return fraud >= Fraud::kWrongKeys; }
std::string to_string(Fraud fraud);
std::optional<Fraud> decode_fraud(std::string_view name);
/// Returns all names, for help and error messages.
const std::vector<std::string>& fraud_names();

/// How a member of a group cheats.
enum class GroupFraud : std::uint8_t {
    kLane = 1,      ///< one tile of its replica's turn is wrong
    kZeros = 2,     ///< it does not train
    kWithhold = 3,  ///< it serves one of its checkpoints to nobody
    kStale = 4,     ///< it begins its turn with what the first round began with
    kOuter = 5,     ///< it doubles the momentum of the outer step that its turn ends with
    kFold = 6,      ///< it leaves a member's change out of that outer step
    // Of members that compute each step together, as are zeros, stale values and withholding:
    kShard = 7,        ///< it hands over wrong values of a node or of the state
    kReduce = 8,       ///< it hands over a wrong part of a sum
    kStage = 9,        ///< it hands a wrong activation to the next stage
    kEquivocate = 10,  ///< it tells one other member something else than the others
    // Of both kinds of groups:
    kCollude = 11  ///< all others than this member are one coalition, and do what they do wrong
};
/// Whether members that compute each step together can cheat so, and those that train segments in turn.
constexpr bool is_of_together(GroupFraud kind) {
    return kind >= GroupFraud::kShard || kind == GroupFraud::kZeros || kind == GroupFraud::kStale ||
           kind == GroupFraud::kWithhold;
}
constexpr bool is_of_turns(GroupFraud kind) { return kind < GroupFraud::kShard || kind == GroupFraud::kCollude; }
/// Whether the fraud is one of the outer step, which is made at the end of the last member's turn.
constexpr bool is_of_outer_step(GroupFraud kind) { return kind == GroupFraud::kOuter || kind == GroupFraud::kFold; }
/// Reads "lane@2": how the member of that rank cheats; "collude@2": all but that one do.
std::optional<std::pair<GroupFraud, std::uint32_t>> decode_group_fraud(std::string_view text);
/// Returns their names without a rank, for help and error messages.
const std::vector<std::string>& group_fraud_names();

struct DemoOptions {
    bool tolerance = false;      ///< run the task in tolerance mode; some frauds do so anyway
    std::optional<Fraud> fraud;  ///< nullopt: an honest task and a task with a tile fraud, side by side
    std::optional<std::filesystem::path> report;
    std::uint64_t seed = 1;
    std::uint32_t validators = 0;  ///< 0: one node with the embedded engine; else the number of nodes under CometBFT
    std::optional<std::uint32_t> watchers;  ///< drawn per verdict; nullopt: the default number
    std::uint32_t workers = 1;              ///< machines of the solver; more than one are a cell
    std::string parallel = "zero1";         ///< how a cell, or a group that computes each step together, divides a step
    bool accounts = false;                  ///< each worker is an account of its own, and they train as a group
    /// Of a group: the rank of the member that cheats; of kCollude, of the only one that does not.
    std::optional<std::uint32_t> culprit;
    GroupFraud culprit_kind = GroupFraud::kLane;
    /// Of a group that computes each step together: the ranks that come once it trains, and that go before it is done.
    std::optional<std::uint32_t> joining;
    std::optional<std::uint32_t> leaving;
    std::optional<std::uint32_t> slow;  ///< of such a group: the rank whose machine is slower than the others'
    std::uint32_t audit_every = 0;      ///< such a group's members replay alone one of so many segments; 0: none
    std::optional<StoreKind> store;     ///< where the solver publishes; nullopt: nowhere, or with chaos in directories
    bool chaos = false;                 ///< workers are killed, a store goes away, disks are lost
    bool nat = false;                   ///< the solver and the verifiers are behind home routers
    bool is_private = false;            ///< only who is drawn can read the task
    bool keep_running = false;
    bool open = true;                           ///< open the explorer in a browser where there is a display
    bool json = false;                          ///< print the report on stdout instead of telling the story
    std::string model = "char";                 ///< name of the workload (workload.hpp)
    std::optional<std::filesystem::path> task;  ///< a task directory to train instead, as for `assay task submit`
    std::filesystem::path text = "/usr/share/common-licenses/GPL-3";
    std::optional<std::filesystem::path> tokenizer;  ///< tokenizer.json of the text; nullopt: its tokens are characters
    std::optional<std::uint64_t> steps;              ///< nullopt: as many as the workload has
    std::optional<std::filesystem::path> home;       ///< default: a temporary directory, removed at the end
};

/// The number of validators for a double proposal: the smallest with which the others outvote a dishonest one. The last
/// one is dishonest.
inline constexpr std::uint32_t kDoubledValidators = 4;

/// A server or a privilege that a demo needs cannot be had on this machine. The demo ends with kExitSkipped.
class NotHere : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Returns 0 if everything ended as it should, else 1; then the last lines say what went wrong. Throws NotHere if a
/// server that it needs cannot be had.
int run_demo(const DemoOptions& options);

}  // namespace assay::demo
