// SPDX-License-Identifier: Apache-2.0
#include <tests/model/crowd.hpp>

#include <algorithm>
#include <bit>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/tasks/seats.hpp>
#include <contracts/verification/lottery.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/evaluation.hpp>

namespace assay::model {

using contracts::ProfileStatus;
using contracts::ProfilingPhase;
using contracts::TaskState;
using contracts::VerdictStatus;
using contracts::test::measurement_of;

namespace {

/// What a strategy decides, so that two decisions of one actor are independent.
enum Purpose : std::uint32_t {
    kSolves,
    kAccepts,
    kDropsOut,
    kGarbage,
    kDeclares,
    kVerdict,
    kLie,
    kCommits,
    kPublishes,
    kDiscloses,
    kReport,
    kServes,
    kFetches,
    kAttests,
    kShows,
    kReports,
    kLieOfReport,
    kDrift,
    kScores,
    kIdles,
};

Hash256 invented(const std::string& what, const AccountId& who) {
    return crypto::sha256(as_bytes(what + to_hex(who.view())));
}

Hash256 duty_name(const TaskId& task, std::uint32_t segment) { return mix(Hash256{task.data}, {}, segment); }

/// The first step of the segment after which the state is not finite.
std::optional<std::uint64_t> find_divergence(
    Workshop& shop, Way way, Hash256 root, std::uint64_t first, std::uint64_t steps
) {
    for (std::uint64_t step = first; is_diverging(way) && step < first + steps; ++step) {
        root = shop.next(way, root, step);
        if (shop.knows(root) && dispute::open_divergence(shop.state(root))) {
            return step;
        }
    }
    return std::nullopt;
}

}  // namespace

// --- solvers -------------------------------------------------------------------------------------------------

Way Crowd::way_of(const AccountId& solver, const TaskId& id, const Task& task) const {
    const Hash256 name{id.data};
    const auto actor = std::find_if(actors_.begin(), actors_.end(), [&](const Actor& a) { return a.id == solver; });
    const bool honest = is_honest(*actor, name, kSolves);
    if (is_of_diverging(task, shop_)) {
        return honest || fixed(name, solver, kLie, 2) == 0 ? Way::kDiverges : Way::kDivergesLie;
    }
    if (!honest) {
        return static_cast<Way>(1 + fixed(name, solver, kLie, 4));
    }
    return task.profiling ? Way::kNative : Way::kTruth;
}

std::optional<contracts::Action> Crowd::next_checkpoint(
    const Actor& actor, const TaskId& id, const Task& task, const World& world
) {
    const Hash256 name{id.data};
    const Way way = way_of(actor.id, id, task);
    const bool honest = is_honest(actor, name, kSolves);
    const auto index = static_cast<std::uint32_t>(task.checkpoints.size());
    if (index == 0) {
        const auto& parent = task.spec.parent;
        const Hash256 root = parent ? world.tasks.at(*parent).checkpoints.back() : shop_.start(way);
        return contracts::PostCheckpoint{id, 0, root, {}, {}, seal(actor, id, task, 0, root)};
    }
    const Hash256 before = task.checkpoints.back();
    const std::uint64_t first = steps_before(task.spec, index);
    const std::uint32_t steps = steps_in(task, index);
    if (const auto step = find_divergence(shop_, way, before, first, steps); step && honest) {
        const Hash256 root = shop_.after(way, before, first, *step - first + 1);
        return contracts::DeclareDivergence{id,
                                            *step,
                                            root,
                                            {},
                                            dispute::open_divergence(shop_.state(root)).value(),
                                            seal(actor, id, task, index, root)};
    }
    if (!honest && shop_.knows(before) && fixed(name, actor.id, kDeclares, 12) == 0) {
        const Hash256 root = spoiled(before);  // a divergence that never happened
        return contracts::DeclareDivergence{id,
                                            first,
                                            root,
                                            {},
                                            dispute::open_divergence(shop_.state(root)).value(),
                                            seal(actor, id, task, index, root)};
    }
    Hash256 root = shop_.after(way, before, first, steps);
    if (root.is_zero() || (!honest && fixed(name, actor.id, kGarbage, 12) == index)) {
        root = invented("garbage " + std::to_string(index), actor.id);
    }
    return contracts::PostCheckpoint{id, index, root, {}, task.spec.environment, seal(actor, id, task, index, root)};
}

/// A known state with an infinity in the place of a number.
Hash256 Crowd::spoiled(const Hash256& root) {
    State state = shop_.state(root);
    state[0].data[2] = 0x80;
    state[0].data[3] = 0x7f;
    return shop_.keep(state);
}

/// EVL-4: honest, or a lower loss; where the state is unknown, something that the chain refuses.
std::optional<contracts::Evaluation> Crowd::final_score(const Actor& actor, const TaskId& id, const Task& task) {
    const Hash256 name{id.data};
    if (!task.spec.evaluation) {
        return std::nullopt;
    }
    if (!shop_.knows(task.checkpoints.back())) {
        return contracts::Evaluation{};
    }
    const contracts::Evaluation score = shop_.evaluation(task.checkpoints.back());
    const bool flatters = !is_honest(actor, name, kSolves) && fixed(name, actor.id, kScores, 2) == 0;
    return flatters ? contracts::test::flattered(score) : score;
}

contracts::AcceptTask Crowd::make_acceptance(
    const Actor& actor, const TaskId& id, const Task& task, const World& world
) {
    contracts::AcceptTask out{.task = id, .seats = {}, .signatures = {}};
    out.environment = chance(90) ? task.spec.environment : chance(50) ? std::optional(environment()) : std::nullopt;
    std::vector<const Actor*> able;
    for (const Actor& other : actors_) {
        const auto stake = world.stakes.find({Role::kSolver, other.id});
        const std::uint64_t bond = contracts::solver_bond(params_, contracts::task_value(task.spec)).grains;
        const bool is_rich = stake != world.stakes.end() && stake->second.free >= bond;
        if (other.id != actor.id && (is_rich || chance(2))) {
            able.push_back(&other);
        }
    }
    if (task.spec.members < 2 || able.empty() || chance(15)) {
        out.is_together = chance(2);
        return out;
    }
    out.seats.push_back(actor.id);
    const std::size_t count = 1 + below(task.spec.members) + (chance(4) ? 1U : 0U);
    while (out.seats.size() <= count) {
        out.seats.push_back(chance(20) ? actor.id : able[below(able.size())]->id);
    }
    out.is_together = chance(talks_ ? 95 : 50);
    const Hash256 claim =
        contracts::seats_claim(kChainId, {.task = id, .seats = out.seats, .is_together = out.is_together != chance(3)});
    for (const AccountId& partner : contracts::partners_of(out.seats)) {
        const auto signer =
            std::find_if(actors_.begin(), actors_.end(), [&](const Actor& each) { return each.id == partner; });
        out.signatures.push_back(signer->key.sign(claim.view()));
    }
    if (chance(3) && !out.signatures.empty()) {
        out.signatures.pop_back();
    } else if (chance(2)) {
        out.seats.erase(out.seats.begin());
    }
    return out;
}

void Crowd::add_solving(const Actor& actor, const TaskId& id, const Task& task, const World& world, Actions& out) {
    const Hash256 name{id.data};
    if (!is_in_team(task, actor.id)) {
        return;
    }
    if (task.state == TaskState::kDrawn && owes_keys(task) && !chance(5)) {
        return;
    }
    if (task.state == TaskState::kDrawn && fixed(name, actor.id, kAccepts, 100) >= 15) {
        out.push_back(make_acceptance(actor, id, task, world));
    } else if (task.state == TaskState::kDrawn && chance(5)) {
        out.push_back(contracts::DeclineTask{id});
    }
    if (task.state != TaskState::kTraining || fixed(name, actor.id, kDropsOut, 60) == task.checkpoints.size()) {
        return;
    }
    const bool is_idle = task.team && fixed(name, actor.id, kIdles, 5) == 0;
    const bool is_its_turn = whose_turn(task) == actor.id;
    const bool is_slow = task.team && task.team->together && chance(60);  // there is time to quarrel
    if (is_idle || is_slow || (!is_its_turn && !chance(15))) {
        return;  // who has not the turn tries now and then, and one day may
    }
    if (task.checkpoints.size() == last_of(task) + 1U) {
        out.push_back(contracts::CompleteTask{id, final_score(actor, id, task)});
    } else if (const auto next = next_checkpoint(actor, id, task, world)) {
        out.push_back(*next);
    }
}

// --- verifiers -----------------------------------------------------------------------------------------------

/// The root after so many true steps of a segment, from the solver's checkpoint before it; zero when that is unknown.
Hash256 Crowd::true_end(const Task& task, std::uint32_t segment, std::uint64_t steps) {
    if (is_evaluation(task, segment)) {
        const Hash256 state = task.checkpoints.back();
        return shop_.knows(state) ? dispute::score_root(shop_.evaluation(state).score) : Hash256{};
    }
    const Way way = is_of_diverging(task, shop_) ? Way::kDiverges : Way::kTruth;
    return segment == 0 ? shop_.start(way)
                        : shop_.after(way, task.checkpoints.at(segment - 1), steps_before(task.spec, segment), steps);
}

contracts::VerdictOpening Crowd::opening(const Actor& actor, const TaskId& id, const Task& task, const Duty& duty) {
    const auto key = std::tuple{id, duty.segment, actor.id};
    if (const auto found = openings_.find(key); found != openings_.end()) {
        return found->second;
    }
    const Hash256 name = duty_name(id, duty.segment);
    contracts::VerdictOpening opening;
    opening.decoy_root = invented("decoy", actor.id);
    opening.salt = mix(name, actor.id, 0);
    contracts::Verdict& verdict = opening.verdict;
    const Hash256 claimed = claimed_after(task, duty.segment);
    const bool exact = is_exact(task, duty.segment);
    const std::uint32_t steps = steps_in(task, duty.segment);
    const Hash256 end = true_end(task, duty.segment, steps);
    const bool honest = is_honest(actor, name, kVerdict) && !end.is_zero();
    const std::uint64_t lie = fixed(name, actor.id, kLie, 4);
    verdict.end_root = end.is_zero() ? claimed : end;
    const Way way = is_of_diverging(task, shop_) ? Way::kDiverges : Way::kTruth;
    const bool declared = task.diverged_at && duty.segment == last_of(task);
    if (honest && exact && !declared && duty.segment != 0 && !is_evaluation(task, duty.segment) &&
        find_divergence(shop_, way, task.checkpoints[duty.segment - 1], steps_before(task.spec, duty.segment), steps)) {
        verdict.end_root = invented("diverged", actor.id);  // VER-8
    }
    if (!honest && lie != 2) {
        verdict.end_root = lie == 0 ? invented("rejected", actor.id) : claimed;
    }
    const auto marks = marks_in(task, duty);
    if (!marks.empty() && (!exact || verdict.end_root == claimed)) {
        for (const std::uint32_t mark : marks) {
            const Hash256 root = true_end(task, duty.segment, mark);
            opening.marks.push_back(root.is_zero() || (!honest && lie == 1) ? invented("mark", actor.id) : root);
        }
        if (!honest && lie == 2) {
            opening.decoy_root = opening.marks.front();  // VER-14
        }
    }
    if (!exact) {
        const bool known = !end.is_zero() && shop_.knows(claimed);
        verdict.measurement = measurement_of(honest || lie != 2 ? 1e-5F : 5.0F);
        if (known && (honest || lie == 3)) {
            verdict.end_root = end;
            verdict.measurement =
                shop_.measure(task.checkpoints[duty.segment - 1], end, claimed, task.profiling->sketch_seed);
        }
        if (params_.growth_max_thousandths < 1'000 && fixed(Hash256{id.data}, {}, kDrift, 2) == 0) {
            verdict.measurement = measurement_of(1e-5F);
            verdict.measurement->parameters.sketch.fill(std::bit_cast<std::uint32_t>(1e-5F));
        }
        if (!honest && fixed(name, actor.id, kDrift, 5) == 0) {
            verdict.measurement.reset();
            opening.marks.clear();
            verdict.diverged_after = static_cast<std::uint32_t>(1 + fixed(name, actor.id, kReport, steps));
            if (known && fixed(name, actor.id, kDeclares, 2) == 0) {
                verdict.end_root = spoiled(claimed);  // as if it had diverged
            }
        }
    }
    if (!task.spec.checks.empty() || fixed(name, actor.id, kReport, 50) == 0) {
        verdict.failed_checks = static_cast<std::uint32_t>(fixed(name, actor.id, kReport, 3));  // CHK-3
    }
    return openings_[key] = opening;
}

void Crowd::add_verdicts(const Actor& actor, const TaskId& id, const Task& task, Actions& out) {
    const bool commits = std::any_of(task.duties.begin(), task.duties.end(), [](const Duty& duty) {
        return duty.status == VerdictStatus::kDue;
    });
    for (const Duty& duty : task.duties) {
        if (duty.verifier != actor.id) {
            continue;
        }
        const Hash256 name = duty_name(id, duty.segment);
        const auto keeps_silent = [&](Purpose purpose) { return fixed(name, actor.id, purpose, 100) < 6; };
        const bool lacks = (is_withheld(id, task) && fixed(name, actor.id, kFetches, 100) < 70) ||
                           (!can_read(task, actor.id) && !chance(2));
        if (duty.status == VerdictStatus::kDue && !keeps_silent(kCommits) && !lacks) {
            const Hash256 commitment =
                contracts::verdict_commitment(id, duty.segment, actor.id, opening(actor, id, task, duty));
            out.push_back(contracts::CommitVerdict{id, duty.segment, commitment});
        } else if (duty.status == VerdictStatus::kCommitted && !commits && (!task.lottery.is_zero() || chance(2)) && !keeps_silent(kPublishes)) {
            const auto mine = opening(actor, id, task, duty);
            contracts::Task drawn;
            drawn.id = id;
            drawn.lottery = task.lottery;
            contracts::Assignment ticket;
            ticket.segment = duty.segment;
            ticket.verifier = actor.id;
            const bool forced = contracts::is_forced(drawn, ticket, mine, params_.forced_error_bps);
            contracts::Verdict verdict = published_of(task, duty, mine, forced);
            if (verdict.probe_root && fixed(name, actor.id, kPublishes, 100) > 95) {
                verdict.probe_root = invented("otherwise", actor.id);
            }
            // VER-17: a lie about a state that is finite, or that nobody knows, cannot show it.
            const bool shows = verdict.diverged_after && shop_.knows(verdict.end_root);
            out.push_back(contracts::PublishVerdict{
                id, duty.segment, verdict,
                shows ? dispute::open_divergence(shop_.state(verdict.end_root)) : std::nullopt});
        } else if (is_published(duty) && !duty.forced && !keeps_silent(kDiscloses)) {
            const bool challenged = !task.disputes.empty();
            if (task.state == TaskState::kDisclosure || (challenged && chance(25))) {
                auto mine = opening(actor, id, task, duty);
                if (fixed(name, actor.id, kDiscloses, 100) > 96) {
                    mine.salt = invented("salt", actor.id);
                }
                out.push_back(contracts::DiscloseVerdict{id, duty.segment, mine});
            }
        }
    }
}

// --- committees ----------------------------------------------------------------------------------------------

/// Whether most of those who ask the solver get nothing.
bool Crowd::is_withheld(const TaskId& id, const Task& task) const {
    return fixed(Hash256{id.data}, task.solver.value(), kServes, 100) < 20;
}

void Crowd::add_attestations(const Actor& actor, const TaskId& id, const Task& task, Actions& out) {
    if (task.state != TaskState::kCompleted || !task.committee) {
        return;
    }
    const Committee& committee = *task.committee;
    std::size_t place = 0;
    while (place < committee.members.size() && committee.members[place].account != actor.id) {
        ++place;
    }
    const bool is_member = place < committee.members.size();
    const bool is_asked = is_sitting(task) && is_member && !committee.members[place].has_attested;
    const Hash256 name = mix(Hash256{id.data}, {}, contracts::to_seed(committee.seed));
    const std::uint64_t silent = is_withheld(id, task) ? 70 : 10;
    // Others attest as well now and then: strangers, members again, and before a draw or after the end.
    if (is_asked ? fixed(name, actor.id, kAttests, 100) < silent : !chance(2)) {
        return;
    }
    const Asked asked = asked_of(id, task, is_member ? place : 0);
    auto opening = show(task, asked);
    if (!opening) {
        return;
    }
    if (auto* piece = std::get_if<sealed::PieceOpening>(&*opening); piece != nullptr && chance(20)) {
        (chance(50) ? piece->bytes[0] : piece->group_path[0].data[0]) ^= 1U;
    } else if (auto* tile = std::get_if<dispute::StateOpening>(&*opening); tile != nullptr && chance(15)) {
        (chance(66) ? tile->opening.tile.data[0] : tile->opening.tile.data[1]) ^= 1U;
    } else if (chance(10)) {
        // A tile of a checkpoint, but hardly ever the one that was drawn.
        const Hash256 root = task.checkpoints[below(task.checkpoints.size())];
        opening = shop_.opening(shop_.knows(root) ? root : shop_.start(Way::kTruth), asked.tensor % 2, random_());
    }
    out.push_back(contracts::AttestAvailability{id, *opening});
}

/// RET-5: some solvers have lost the result, and others show something else.
void Crowd::add_shows(const Actor& actor, const TaskId& id, const Task& task, Actions& out) {
    if (task.state != TaskState::kKept || !shop_.knows(task.checkpoints.back())) {
        return;
    }
    const bool is_due = task.kept->seed && task.solver == actor.id;
    const Hash256 name = mix(Hash256{id.data}, {}, task.kept->shown);
    if (is_due ? fixed(name, actor.id, kShows, 100) < 10 : !chance(2)) {
        return;
    }
    Asked asked;
    asked.number = random_();
    asked.checkpoint = static_cast<std::uint32_t>(task.checkpoints.size() - 1);
    if (task.kept->seed) {
        asked = shown_of(id, task);
    }
    if (chance(5)) {
        out.push_back(contracts::ShowResult{id, shop_.opening(shop_.start(Way::kTruth), asked.tensor % 2, asked.number)}
        );
    } else if (const auto opening = show(task, asked)) {
        out.push_back(contracts::ShowResult{id, *opening});
    }
}

// --- profilers -----------------------------------------------------------------------------------------------

/// LIN-6
Hash256 Crowd::true_start(const Task& task, const World& world) {
    return task.spec.parent ? world.tasks.at(*task.spec.parent).checkpoints.back() : shop_.start(Way::kTruth);
}

contracts::ProfileReport Crowd::report(const Actor& actor, const TaskId& id, const Task& task, const World& world) {
    const auto key = std::pair{id, actor.id};
    if (const auto found = reports_.find(key); found != reports_.end()) {
        return found->second;
    }
    const Hash256 name{id.data};
    const bool honest = is_honest(actor, name, kReport);
    const std::uint64_t lie = honest ? 99 : fixed(name, actor.id, kLieOfReport, 6);
    const float drift = lie == 2 ? 0.5F : fixed(name, actor.id, kDrift, 4) == 0 ? 1e-3F : 1e-4F;
    contracts::ProfileReport report;
    report.start_root = lie == 0 ? shop_.start(Way::kLieInInit) : true_start(task, world);
    const bool measures = fixed(name, actor.id, kReports, 10) < 3 && shop_.knows(report.start_root);
    Hash256 native = report.start_root;
    for (std::uint32_t segment = 1; segment <= params_.profile_segments; ++segment) {
        const std::uint64_t first = steps_before(task.spec, segment);
        const std::uint32_t steps = steps_in(task, segment);
        contracts::ProfileSegment next;
        next.native_root = shop_.after(Way::kNative, native, first, steps);
        next.replayed_root = shop_.after(lie == 1 ? Way::kLieInCommit : Way::kTruth, native, first, steps);
        next.measurement = measurement_of(drift);
        if (measures) {
            next.measurement =
                shop_.measure(native, next.replayed_root, next.native_root, task.profiling->profile_seed);
        }
        native = next.native_root;
        report.segments.push_back(next);
    }
    report.reference_root = lie == 3 ? invented("reference", actor.id) : report.segments[0].replayed_root;
    report.reference = measurement_of(lie == 4 ? 1e-3F : 1.0F);
    if (lie == 5) {
        report.segments.pop_back();
    }
    return reports_[key] = report;
}

void Crowd::add_profiling(const Actor& actor, const TaskId& id, const Task& task, const World& world, Actions& out) {
    if (task.state != TaskState::kProfiling) {
        return;
    }
    const Hash256 name{id.data};
    const Hash256 salt = invented("salt of report", actor.id);
    for (const Profiler& profiler : task.profiling->profilers) {
        if (profiler.account != actor.id || (!can_read(task, actor.id) && !chance(15))) {
            continue;
        }
        if (profiler.status == ProfileStatus::kDue && fixed(name, actor.id, kCommits, 100) >= 6) {
            const auto mine = report(actor, id, task, world);
            out.push_back(contracts::CommitProfile{id, contracts::profile_commitment(id, actor.id, mine, salt)});
        } else if (profiler.status == ProfileStatus::kCommitted && fixed(name, actor.id, kPublishes, 100) >= 5) {
            const bool alters = fixed(name, actor.id, kPublishes, 100) > 95;
            out.push_back(contracts::PublishProfile{id, report(actor, id, task, world), alters ? Hash256{} : salt});
        }
    }
    if (task.profiling->phase == ProfilingPhase::kChallenge && chance(8)) {
        add_profile_accusations(actor, id, task, world, out);
    }
}

std::optional<contracts::MeasuredRoots> Crowd::roots_of(const std::array<Hash256, 3>& states) const {
    for (const Hash256& root : states) {
        if (!shop_.knows(root)) {
            return std::nullopt;
        }
    }
    return contracts::test::roots_of(shop_.state(states[0]), shop_.state(states[1]), shop_.state(states[2]));
}

}  // namespace assay::model
