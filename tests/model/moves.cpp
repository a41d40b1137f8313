// SPDX-License-Identifier: Apache-2.0
#include <tests/model/crowd.hpp>

#include <algorithm>

#include <core/crypto/hash.hpp>

namespace assay::model {

using contracts::DisputeState;
using contracts::VerdictPart;

namespace {

constexpr std::uint32_t kMoves = 100;  // Purposes of their own
constexpr std::uint32_t kAnswers = 101;

bool is_of_measurement(const Dispute& dispute) {
    return (dispute.verdict && dispute.verdict->part == VerdictPart::kMeasurement) ||
           (dispute.profile && contracts::is_measured(dispute.profile->part));
}

/// The states before, replayed and claimed that the disputed measurement is of.
std::array<Hash256, 3> measured_states(const Dispute& dispute, const Task& task) {
    if (dispute.verdict) {
        for (const Duty& duty : task.duties) {
            if (duty.verifier == dispute.responder && duty.segment == dispute.segment) {
                return {task.checkpoints[duty.segment - 1], duty.verdict.end_root, task.checkpoints[duty.segment]};
            }
        }
    }
    for (const Profiler& profiler : task.profiling->profilers) {
        if (profiler.account != dispute.responder) {
            continue;
        }
        const contracts::ProfileReport& report = *profiler.report;
        if (dispute.profile->part == contracts::ProfilePart::kReferenceMeasurement) {
            return {report.start_root, report.segments[0].replayed_root, report.reference_root};
        }
        const auto& segment = report.segments[dispute.segment - 1];
        const Hash256 before =
            dispute.segment == 1 ? report.start_root : report.segments[dispute.segment - 2].native_root;
        return {before, segment.replayed_root, segment.native_root};
    }
    return {};
}

}  // namespace

void Crowd::remember_reveals(const Mirror& chain) {
    for (const auto& [id, task] : chain.world.tasks) {
        for (const DisputeId& dispute : task.disputes) {
            const Game& game = chain.games.at(dispute);
            const dispute::Position& position = game.position;
            std::uint32_t& remembered = remembered_[dispute];
            const auto first_node = dispute::first_node_of(position);
            const auto pending = position.pending();
            if (first_node && !pending.empty() && remembered <= position.rounds) {
                remembered = position.rounds + 1;
                reveals_[dispute].push_back(
                    {*first_node, dispute::split(game.claim, position).child_height, {pending.begin(), pending.end()}}
                );
            }
        }
    }
    std::erase_if(players_, [&](const auto& entry) {
        const auto found = chain.world.disputes.find(entry.first.first);
        return found == chain.world.disputes.end() || !contracts::is_open(found->second.state);
    });
}

Player Crowd::make_player(const Actor& actor, const DisputeId& id, const Mirror& chain, bool responds) {
    const Dispute& dispute = chain.world.disputes.at(id);
    const Task& task = chain.world.tasks.at(dispute.task);
    const dispute::Claim& claim = chain.games.at(id).claim;
    if (dispute.blame) {
        return make_accusing_player(id, dispute, claim, responds);
    }
    if (is_of_measurement(dispute)) {
        const auto [start, replayed, claimed] = measured_states(dispute, task);
        Player player = play_measurement(shop_, start, replayed, claimed, claim.seed, false);
        const bool denies_truth = !responds && player.replay && player.replay->state_root_after(0) == claim.after;
        return denies_truth ? play_measurement(shop_, start, replayed, claimed, claim.seed, true) : std::move(player);
    }
    if (is_evaluation(task, dispute.segment) && !dispute.verdict) {
        const Hash256 state = task.checkpoints.back();
        Player honest = play_evaluation(shop_, state, claim.seed, false);
        const bool is_true = honest.replay && honest.replay->state_root_after(0) == claim.after;
        // The solver defends what it claimed, and its accuser says otherwise.
        return is_true == responds ? std::move(honest) : play_evaluation(shop_, state, claim.seed, true);
    }
    const bool diverging = task.spec.program.step_root == shop_.spec(true).program.step_root;
    const Way truth = diverging ? Way::kDiverges : Way::kTruth;
    if (responds) {
        const bool of_solver = !dispute.verdict && !dispute.profile;
        return play_segment(shop_, claim, of_solver ? way_of(actor.id, dispute.task, task) : truth);
    }
    const Hash256 end = claim.initialisation ? shop_.start(truth)
                                             : shop_.after(truth, claim.before, claim.first_step, claim.step_count);
    if (end != claim.after || diverging) {
        return play_segment(shop_, claim, truth);
    }
    for (int way = 1; way < 5; ++way) {
        const Way lie = static_cast<Way>(way);
        const Hash256 other = claim.initialisation ? shop_.start(lie)
                                                   : shop_.after(lie, claim.before, claim.first_step, claim.step_count);
        if (other != claim.after) {
            return play_segment(shop_, claim, lie);
        }
    }
    return play_segment(shop_, claim, truth);
}

/// The accuser has the execution that it claims. Who is accused denies that, with the truth if it can.
Player Crowd::make_accusing_player(
    const DisputeId& id, const Dispute& /*dispute*/, const dispute::Claim& claim, bool responds
) {
    const auto claimed = accused_by_.find(id);
    if (responds) {
        return play_segment(shop_, claim, claimed == accused_by_.end() ? Way::kTruth : claimed->second);
    }
    const auto differs = [&](const Player& player) {
        const std::uint64_t last = claim.first_step + claim.step_count - 1;
        return player.replay &&
               (player.replay->state_root_after(last) != claim.after ||
                (claim.trace && merkle::Tree(dispute::step_entries(*player.replay, last)).root() != claim.trace->root));
    };
    for (const Way way : {Way::kTruth, Way::kLieInStep, Way::kLieInCommit, Way::kLieLate}) {
        Player player = play_segment(shop_, claim, way);
        if (differs(player)) {
            return player;
        }
    }
    return {};  // it cannot even deny it
}

std::optional<contracts::Action> Crowd::make_move(
    Player& player, const DisputeId& id, const Mirror& chain, const Actor& actor
) {
    const Game& game = chain.games.at(id);
    const dispute::Position& position = game.position;
    const bool challenges = actor.id == chain.world.disputes.at(id).challenger;
    if (!player.replay) {
        if (challenges || position.is_at_proof() || !position.pending().empty()) {
            return std::nullopt;
        }
        std::vector<Hash256> children(dispute::split(game.claim, position).count, crypto::sha256(as_bytes("child")));
        children.back() = dispute::claimed_last_child(game.claim, position).value_or(children.back());
        return contracts::RevealMove{id, position.rounds, children};
    }
    if (challenges) {
        if (auto proof = dispute::make_divergence_proof(game.claim, position, *player.replay)) {
            return contracts::ProveMove{id, *proof};
        }
    }
    if (position.is_at_proof()) {
        return contracts::ProveMove{id, dispute::make_proof(game.claim, position, *player.replay, reveals_[id])};
    }
    if (position.pending().empty() && !challenges) {
        auto children = dispute::make_reveal(game.claim, position, *player.replay);
        if (chance(3)) {
            children[below(children.size())].data[0] ^= 1U;
        }
        return contracts::RevealMove{id, position.rounds, children};
    }
    if (!position.pending().empty() && challenges) {
        return contracts::SelectMove{
            id, position.rounds, dispute::make_selection(game.claim, position, *player.replay)};
    }
    return std::nullopt;
}

void Crowd::add_moves(const Actor& actor, const Mirror& chain, Actions& out) {
    for (const auto& [task_id, task] : chain.world.tasks) {
        for (const DisputeId& id : task.disputes) {
            const Dispute& dispute = chain.world.disputes.at(id);
            const bool responds = dispute.responder == actor.id;
            if ((!responds && dispute.challenger != actor.id) || dispute.state != DisputeState::kActive) {
                continue;
            }
            if (fixed(Hash256{id.data}, actor.id, kMoves, 100) < 12) {
                continue;  // keeps silent, and loses by the clock
            }
            const bool is_mine = dispute.responders_turn != dispute.blame.has_value();
            if (is_over_claim(dispute) ? responds && is_mine : dispute.blame && !responds && is_mine) {
                const auto answer = fixed(Hash256{id.data}, actor.id, kAnswers, 100) < 50 && dispute.segment != 0
                                        ? make_accusation(actor, task_id, task, dispute.segment, id)
                                        : std::nullopt;
                if (answer) {
                    out.push_back(*answer);
                    continue;
                }
            }
            const auto key = std::pair{id, actor.id};
            if (!players_.contains(key)) {
                players_[key] = make_player(actor, id, chain, responds);
                const dispute::Claim& claim = chain.games.at(id).claim;
                const auto& replay = players_[key].replay;
                const std::uint32_t nodes = claim.initialisation ? claim.program.init_nodes : claim.program.step_nodes;
                if (replay && replay->graph().size() != nodes) {
                    players_[key] = {};  // nobody has the graph of a spoiled specification
                }
            }
            if (const auto move = make_move(players_[key], id, chain, actor)) {
                out.push_back(*move);
            }
        }
    }
}

/// A specification that is wrong in one way, or nearly.
contracts::TaskSpec Crowd::spoil(contracts::TaskSpec spec, const TaskId& parent) {
    switch (below(15)) {
        case 13:
            spec.members = 2;
            spec.privacy = make_privacy(spec);
            break;
        case 14:
            spec.privacy = make_privacy(spec);
            spec.privacy->holdout = spec.evaluation ? std::nullopt : std::optional(spec.privacy->dataset);
            break;
        case 10:
            spec.members = static_cast<std::uint8_t>(chance(50) ? 65 + below(190) : below(2));
            break;
        case 9:
            (chance(70) ? spec.program.step_work : spec.program.outputs) =
                chance(50) ? below(1'000'000'000) : ~std::uint64_t{0} >> below(30);
            break;
        case 8:
            spec.evaluation = shop_.scoring();
            (chance(50) ? spec.evaluation->nodes : spec.program.state_tensors) = 20'000;
            break;
        case 0:
            spec.reward = {~std::uint64_t{0}};
            break;
        case 1:
            spec.steps = 0;
            break;
        case 2:
            spec.checkpoint_interval = 0;
            break;
        case 3:
            spec.hardware_class = 3;
            break;
        case 4:
            spec.parent = parent;
            break;
        case 5:
            spec.program.state_tensors = 3;
            break;
        case 6:
            spec.title.push_back(0x0a);
            break;
        case 11:
            spec.environment = contracts::Environment{.image = {}, .labels = {"label"}};
            break;
        case 12:
            spec.checks = {contracts::check::Labels{.tensor = spec.program.state_tensors, .classes = 1}};
            break;
        default:
            spec.mode = contracts::Mode::kTolerance;
            break;
    }
    return spec;
}

contracts::Action Crowd::nonsense(const Actor& actor, const Mirror& chain) {
    const World& world = chain.world;
    const auto any = [&](const auto& map) {
        using Id = std::decay_t<decltype(map.begin()->first)>;
        if (map.empty() || chance(3)) {
            return Id{};
        }
        return std::next(map.begin(), static_cast<std::ptrdiff_t>(below(map.size())))->first;
    };
    const TaskId id = any(world.tasks);
    const Task task = world.tasks.contains(id) ? world.tasks.at(id) : Task{};
    const auto segment = static_cast<std::uint32_t>(chance(4) ? 2'000 : below(6));
    const Hash256 root = task.checkpoints.empty() ? Hash256{} : task.checkpoints[below(task.checkpoints.size())];
    const AccountId other = actors_[below(actors_.size())].id;
    const Role role = static_cast<Role>(1 + below(4));
    const Amount amount{chance(10) ? 0 : chance(20) ? random_() : below(1'000)};
    const DisputeId dispute = any(world.disputes);
    const std::uint32_t round =
        world.disputes.contains(dispute) ? world.disputes.at(dispute).rounds : static_cast<std::uint32_t>(below(3));
    contracts::Verdict verdict{root, std::nullopt};
    if (chance(30)) {
        verdict.probe_root = Hash256{};
    }
    if (chance(30)) {
        verdict.measurement = contracts::test::measurement_of(1.0F);
    }
    if (chance(20)) {
        verdict.failed_checks = static_cast<std::uint32_t>(below(4));
    }
    if (chance(10)) {
        verdict.diverged_after = static_cast<std::uint32_t>(below(4));
    }
    contracts::ProfileReport report = contracts::test::report_of(1e-4F);
    report.segments.resize(below(4));
    const auto part = static_cast<contracts::ProfilePart>(1 + below(5));
    const auto of_verdict = static_cast<VerdictPart>(1 + below(3));
    std::optional<contracts::MeasuredRoots> roots;
    if (chance(40)) {
        roots = contracts::MeasuredRoots{};
    }
    dispute::StateOpening shown =
        shop_.opening(shop_.start(Way::kTruth), static_cast<std::uint32_t>(below(2)), random_());
    const contracts::TaskSpec spec = spoil(make_spec(world), id);

    switch (below(36)) {
        case 0:
            return contracts::Transfer{other, amount};
        case 1:
            return contracts::Bond{role, amount};
        case 2:
            return contracts::Unbond{role, amount};
        case 3:
            return contracts::SubmitTask{spec};
        case 4:
            return contracts::AcceptTask{id};
        case 5:
            return contracts::PostCheckpoint{id, segment, root, {}, contracts::Environment{}};
        case 6:
            return contracts::CompleteTask{
                id, chance(30) ? std::optional(contracts::Evaluation{root, static_cast<std::uint32_t>(random_())})
                               : std::nullopt};
        case 7:
            return contracts::CancelTask{id};
        case 8:
            return contracts::CommitVerdict{id, segment, root};
        case 9:
            return contracts::PublishVerdict{id, segment, verdict};
        case 10:
            return contracts::OpenDispute{id, segment, role};
        case 11:
            return contracts::RevealMove{dispute, round, std::vector<Hash256>(below(4), root)};
        case 12:
            return contracts::SelectMove{dispute, round, {static_cast<std::uint32_t>(below(3)), {}}};
        case 13:
            return contracts::ProveMove{dispute, {}};
        case 14:
            return contracts::AttestAvailability{id, shown};
        case 15:
            (chance(50) ? shown.opening.source_path : shown.opening.tile_path).resize(chance(50) ? 65 : 64);
            shown.type.shape.rows *= chance(50) ? 0U : 1U;
            return contracts::AttestAvailability{id, shown};
        case 16:
            return contracts::DeclareDivergence{id, below(10), root, {}, {}};
        case 17:
            return contracts::DiscloseVerdict{id, segment, {verdict, {root}, root, root}};
        case 18:
            return contracts::ChallengeVerdict{id, segment, other, role, of_verdict, roots, root};
        case 19:
            return registration(chance(50) ? actor.id : other);
        case 20:
            return contracts::Unjail{};
        case 21:
            return contracts::RegisterTerms{
                role,
                {static_cast<std::uint32_t>(below(4)), below(3), below(2), static_cast<std::uint32_t>(below(2)),
                 std::vector<std::uint64_t>(below(3), below(9))},
                below(200)};
        case 22:
            return contracts::CommitProfile{id, root};
        case 23:
            return contracts::PublishProfile{id, report, root};
        case 24:
            return contracts::DeclineTask{id};
        case 26:
            return contracts::Accuse{id, other, {}, {}, chance(50) ? std::optional(dispute) : std::nullopt};
        case 27:
            return contracts::ReportEquivocation{id, other, {}, {}, {}, {}};
        case 28:
            return contracts::Reseat{id, segment, {actor.id}, {}};
        case 29:
            return contracts::Demand{id, other};
        case 30:
            return random_motion();
        case 32:
            return contracts::ShowResult{id, shown};
        case 33:
            return contracts::ShareKeys{
                id,
                chance(50) ? std::optional(secrets_[1].key()) : std::nullopt,
                {{other, make_share(secrets_[0], other, {Crowd::kChainId, Hash256{id.data}, other, false}),
                  chance(20)
                      ? Bytes{}
                      : make_share(secrets_[1], other, {Crowd::kChainId, Hash256{id.data}, other, chance(50)})}}};
        case 34:
            return contracts::ReportWrongKeys{id, chance(50), make_share(secrets_[0], other, {}), {}};
        case 35:
            return contracts::ReportWrongChunk{id, segment, {}};
        case 31:
            return contracts::Vote{contracts::proposal_id(other, below(4)), chance(50)};
        default:
            return contracts::ChallengeProfile{id,   chance(30) ? actor.id : other,        role,
                                               part, static_cast<std::uint32_t>(below(4)), roots};
    }
}

}  // namespace assay::model
