// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/cast.hpp>

#include <algorithm>
#include <array>

#include <core/base/assert.hpp>
#include <contracts/params/gas.hpp>

namespace assay::demo {
namespace {

constexpr std::uint32_t kFloodSize = 4;
constexpr std::uint32_t kSybils = 3;

/// So that the dishonest verifier has a segment: all of them where there are two verifiers.
bool wants_two_verdicts(Fraud fraud) {
    return fraud == Fraud::kLazy || fraud == Fraud::kCopycat || fraud == Fraud::kReject || fraud == Fraud::kInflate;
}

std::uint32_t whistleblower_count(Fraud fraud) {
    switch (fraud) {
        case Fraud::kFlood:
            return kFloodSize;
        case Fraud::kFreeRider:
            return 2;
        case Fraud::kInsider:
            return 1 + kSybils;
        case Fraud::kStarve:
            return 0;  // a verifier's verdict has to convict
        default:
            return 1;
    }
}

/// Of a solver that is convicted of what it does in exact mode, and whose worker calls it what the demo does.
constexpr Cast convicted_alone(Fraud fraud, const char* name) {
    return {.fraud = fraud, .name = name, .solver = name, .convicts = true, .needs_exact = true};
}

}  // namespace

const std::vector<Cast>& casts() {
    static const std::vector<Cast> kCasts{
        {.fraud = Fraud::kNone, .name = "none", .has_evaluation = true},
        {.fraud = Fraud::kTile, .name = "tile", .solver = "tile", .convicts = true, .needs_exact = true},
        {.fraud = Fraud::kSkip, .name = "skip", .solver = "skip", .convicts = true},
        {.fraud = Fraud::kData, .name = "data", .solver = "data", .convicts = true},
        {.fraud = Fraud::kInit, .name = "init", .solver = "init", .convicts = true},
        {.fraud = Fraud::kOptimizer, .name = "optimizer", .solver = "optimizer", .convicts = true},
        {.fraud = Fraud::kWithhold, .name = "withhold", .solver = "withhold", .convicts = true},
        {.fraud = Fraud::kFalseAccuser, .name = "false-accuser", .whistleblower = "false-accuser", .needs_exact = true},
        {.fraud = Fraud::kLazy, .name = "lazy", .verifier = "lazy"},
        {.fraud = Fraud::kCopycat, .name = "copycat", .verifier = "copycat", .needs_exact = true},
        {.fraud = Fraud::kForced, .name = "forced", .needs_exact = true},
        {.fraud = Fraud::kReject, .name = "reject", .verifier = "reject", .needs_exact = true},
        {.fraud = Fraud::kCollusion,
         .name = "collusion",
         .solver = "tile",
         .verifier = "lazy",
         .convicts = true,
         .needs_exact = true},
        {.fraud = Fraud::kFlood, .name = "flood", .whistleblower = "false-accuser", .needs_exact = true},
        {.fraud = Fraud::kLate, .name = "late", .solver = "tile", .convicts = true, .needs_exact = true},
        {.fraud = Fraud::kPush, .name = "push", .solver = "push", .convicts = true, .needs_tolerance = true},
        {.fraud = Fraud::kInflate, .name = "inflate", .verifier = "inflate", .needs_tolerance = true},
        {.fraud = Fraud::kMisprofile, .name = "misprofile", .verifier = "misprofile", .needs_tolerance = true},
        {.fraud = Fraud::kScore, .name = "score", .solver = "score", .convicts = true, .has_evaluation = true},
        {.fraud = Fraud::kFreeRider,
         .name = "free-rider",
         .whistleblower = "free-rider",
         .needs_exact = true,
         .hunts_jackpots = true},
        {.fraud = Fraud::kInsider,
         .name = "insider",
         .whistleblower = "insider",
         .needs_exact = true,
         .hunts_jackpots = true},
        {.fraud = Fraud::kSpam, .name = "spam", .solver = "tile", .convicts = true, .needs_exact = true},
        {.fraud = Fraud::kSquat, .name = "squat", .solver = "tile", .convicts = true, .needs_exact = true},
        {.fraud = Fraud::kBait, .name = "bait", .needs_exact = true},
        {.fraud = Fraud::kWaiting, .name = "waiting", .needs_exact = true},
        {.fraud = Fraud::kDraft, .name = "draft", .needs_tolerance = true},
        {.fraud = Fraud::kStarve, .name = "starve", .solver = "tile", .convicts = true, .needs_exact = true},
        {.fraud = Fraud::kDivergence, .name = "divergence", .verifier = "divergence", .needs_tolerance = true},
        {.fraud = Fraud::kIdleSockets, .name = "idle-sockets", .solver = "tile", .convicts = true, .needs_exact = true},
        {.fraud = Fraud::kTarpit, .name = "tarpit", .needs_exact = true},
        {.fraud = Fraud::kWithholdAll,
         .name = "withhold-all",
         .solver = "withhold-all",
         .convicts = true,
         .needs_exact = true},
        {.fraud = Fraud::kLyingNode, .name = "lying-node", .solver = "tile", .convicts = true, .needs_exact = true},
        {.fraud = Fraud::kDoubleProposal, .name = "double-proposal", .needs_exact = true},
        {.fraud = Fraud::kFarm, .name = "farm", .needs_exact = true},
        {.fraud = Fraud::kSnipe, .name = "snipe", .solver = "tile", .convicts = true, .needs_exact = true},
        convicted_alone(Fraud::kWrongKeys, "wrong-keys"),
        convicted_alone(Fraud::kKeysWithheld, "keys-withheld"),
        convicted_alone(Fraud::kWrongChunk, "wrong-chunk"),
        {.fraud = Fraud::kWrongShares, .name = "wrong-shares", .needs_exact = true},
    };
    return kCasts;
}

const Cast& cast_of(Fraud fraud) {
    const Cast& cast = casts().at(static_cast<std::size_t>(fraud));
    ASSERT(cast.fraud == fraud);
    return cast;
}

contracts::Params demo_params(Fraud fraud, bool tolerance) {
    contracts::Params params;
    params.solver_bond = Amount{50 * kGrainsPerAsy};
    params.verifier_bond = Amount{5 * kGrainsPerAsy};
    params.challenger_bond = Amount{5 * kGrainsPerAsy};
    params.contributor_bond = Amount{5 * kGrainsPerAsy};
    params.contribute_blocks = 100;
    params.unbonding_blocks = 100;
    params.segments_checked = 3;
    params.accept_blocks = 150;
    params.commit_blocks = 300;
    params.publish_blocks = 100;
    params.challenge_blocks = 60;
    params.dispute_clock_blocks = 200;
    params.dispute_extension_blocks = 50;
    params.attest_blocks = 100;
    params.committee_seats = 9;
    params.disclose_blocks = 60;
    params.forced_error_bps = 0;  // a forced error in a demo of something else would only confuse
    if (fraud == Fraud::kForced) {
        params.forced_error_bps = 10'000;
        params.gas_price_min =
            Amount{3'000};  // so that there is a treasury to win, and a challenge costs less than --fee-max
    } else if (cast_of(fraud).hunts_jackpots) {
        params.forced_error_bps = 7'500;                       // not all, so that it is worth something to know which
        params.gas_price_min = Amount{3'000};                  // likewise, out of the fees of some thousand transfers
        params.contributor_bond = Amount{40 * kGrainsPerAsy};  // the least that bounds no jackpot
        params.segments_checked = 16;
        params.segments_checked_max = 16;
    } else if (fraud == Fraud::kSpam) {
        params.block_gas_max = static_cast<std::uint32_t>(2 * contracts::gas_max(params));  // so that one spammer can
        params.duty_gas_max = params.block_gas_max / 2;
        params.duty_wait_blocks = 1'000;  // so that there is room for the duties of a task nevertheless
    } else if (fraud == Fraud::kStarve) {
        params.segments_checked = 16;  // all, so that a verifier sees the fraud
        params.segments_checked_max = 16;
    } else if (fraud == Fraud::kWithholdAll || fraud == Fraud::kWithhold) {
        params.commit_blocks = 150;    // somebody cannot commit, so it takes all of it
        params.segments_checked = 16;  // all, so that somebody is drawn for what is withheld
        params.segments_checked_max = 16;
    } else if (fraud == Fraud::kFarm) {
        params.forced_error_bps = 10'000;                  // so that ten tasks have as many jackpots as a hundred would
        params.gas_price_min = Amount{3'000};              // what some thousand transfers pay is a treasury to win
        params.solver_bond = Amount{25 * kGrainsPerAsy};   // of the demo's own task
        params.verifier_bond = Amount{1 * kGrainsPerAsy};  // this and the next as on a chain that has the defaults
        params.challenger_bond = Amount{1 * kGrainsPerAsy};
        params.contributor_bond = Amount{40 * kGrainsPerAsy};  // the least that bounds no jackpot
        params.commit_blocks = 150;  // who cannot fetch a program makes everybody wait for all of it
        params.draw_blocks = 1'000;
    } else if (fraud == Fraud::kSnipe) {
        params.dispute_clock_blocks = 400;  // an honest accuser replays meanwhile
    } else if (fraud == Fraud::kLate) {
        params.dispute_clock_blocks = 40;
        params.dispute_extension_blocks = 20;
    } else if (wants_two_verdicts(fraud)) {
        params.verifiers_per_segment = 2;
        params.verifiers_per_segment_max = 2;
    }
    if (tolerance) {
        // Beyond the threshold convicts by a verdict, so the segment has to be drawn: all are.
        params.segments_checked = 16;
        params.segments_checked_max = 16;
        params.challenge_blocks = 150;  // profiles are checked in one of these
        if (fraud == Fraud::kNone) {
            params.commit_blocks = 2'000;  // nobody waits for it, and on a busy machine profilers take their time
        }
    }
    return params;
}

std::vector<Player> judges_of(Fraud fraud, bool tolerance) {
    const Cast& cast = cast_of(fraud);
    const std::uint32_t verifiers = tolerance || fraud == Fraud::kStarve ? 4 : 2;  // a task is profiled by four
    const std::uint32_t watchers = whistleblower_count(fraud);
    std::vector<Player> out;
    for (std::uint32_t i = 1; i <= verifiers; ++i) {
        Player player{"verifier-" + std::to_string(i), contracts::Role::kVerifier, {"verify"}};
        player.is_dishonest = cast.verifier != nullptr && (i == 1 || fraud == Fraud::kCollusion);
        if (player.is_dishonest) {
            player.arguments.insert(player.arguments.end(), {"--dishonest", cast.verifier});
        }
        if (wants_two_verdicts(fraud) && tolerance) {
            player.stake = Amount{150 * kGrainsPerAsy};  // all segments, each by two who could answer both (VER-1)
        }
        if (fraud == Fraud::kDraft || fraud == Fraud::kWithhold || fraud == Fraud::kWithholdAll) {
            player.stake = Amount{
                150 * kGrainsPerAsy};  // for the task's own duties beside those of the drafts, or for all segments
        }
        if (fraud == Fraud::kDivergence) {
            // The liar is drawn nearly always, and the others have stake for what it leaves undone.
            player.stake = Amount{(player.is_dishonest ? 190 : 90) * kGrainsPerAsy};
        }
        if (fraud == Fraud::kFarm) {
            player.stake = Amount{190 * kGrainsPerAsy};  // contributor's bond included
        }
        if (cast.hunts_jackpots) {
            // Contributor's bond included; who has most of the verdicts has most to betray.
            player.stake = Amount{(fraud == Fraud::kInsider && i == 1 ? 190 : 90) * kGrainsPerAsy};
        }
        out.push_back(std::move(player));
    }
    for (std::uint32_t i = 1; i <= watchers; ++i) {
        const std::string name = i == 1 ? "whistleblower" : "whistleblower-" + std::to_string(i);
        Player player{name, contracts::Role::kWhistleblower, {"whistleblow"}};
        player.is_dishonest = cast.whistleblower != nullptr && !(cast.hunts_jackpots && i == 1);
        if (fraud == Fraud::kFarm) {
            player.stake = Amount{150 * kGrainsPerAsy};
        }
        if (player.is_dishonest) {
            player.arguments.insert(player.arguments.end(), {"--dishonest", cast.whistleblower});
            player.informant = fraud == Fraud::kInsider ? "verifier-1" : "";
        }
        out.push_back(std::move(player));
    }
    return out;
}

std::string to_string(Fraud fraud) { return cast_of(fraud).name; }

std::optional<Fraud> decode_fraud(std::string_view name) {
    const auto found =
        std::find_if(casts().begin(), casts().end(), [name](const Cast& cast) { return name == cast.name; });
    return found == casts().end() ? std::nullopt : std::optional(found->fraud);
}

const std::vector<std::string>& fraud_names() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        for (const Cast& cast : casts()) {
            names.emplace_back(cast.name);
        }
        return names;
    }();
    return kNames;
}

}  // namespace assay::demo
