// SPDX-License-Identifier: Apache-2.0
#include <tests/model/crowd.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <contracts/params/gas.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/validators/validators.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/ed25519.hpp>
#include <core/crypto/hash.hpp>

namespace assay::model {

using contracts::Action;
using contracts::TaskState;
using contracts::TxError;
using contracts::test::kCoin;

namespace {

constexpr std::uint64_t kRich = 4'000 * kCoin;
constexpr int kActors = 14;
constexpr std::uint32_t kContributes = 200;  // a purpose of its own

/// PAR-12: so that either half of the lane is so many hundredths of the least that is allowed.
void set_lane(contracts::Params& params, std::uint64_t hundredths, std::uint32_t blocks) {
    const std::uint64_t least = std::max(weight_of_dispute(params), weight_at_most(params));
    const std::uint64_t whole = 2 * least * hundredths / 100 + weight_of_contributions(params);
    const auto in_blocks = [&](std::uint64_t gas) { return (whole + gas - 1) / gas; };
    const std::uint64_t unfilled = weight_of_dispute(params);
    const std::uint64_t wait = std::max<std::uint64_t>(blocks, in_blocks(params.block_gas_max - unfilled));
    params.duty_wait_blocks = static_cast<std::uint32_t>(wait);
    params.duty_gas_max = static_cast<std::uint32_t>(in_blocks(wait) + unfilled);
}

}  // namespace

contracts::Params make_params(std::uint64_t seed) {
    std::mt19937_64 random(seed * 7'919 + 1);
    const auto in = [&](std::uint32_t least, std::uint32_t most) {
        return least + static_cast<std::uint32_t>(random() % (most - least + 1));
    };
    contracts::Params params;
    params.gas_price_min = {in(1, 20)};
    // On some chains a solver's bond does not even pay a committee.
    const bool is_bond_small = random() % 5 == 0;
    params.solver_bond = {is_bond_small ? in(1, 30) * kCoin / 100 : in(1, 8) * kCoin};
    params.verifier_bond = {in(1, 3) * kCoin / 2 + in(0, 99)};
    params.challenger_bond = {in(1, 3) * kCoin / 2 + in(0, 99)};
    params.solver_bond_bps = is_bond_small ? 0 : in(0, 15'000);
    params.verifier_bond_bps = in(0, 1'000);
    params.challenger_bond_bps = in(0, 1'000);
    params.unbonding_blocks = in(2, 40);
    params.accept_blocks = in(3, 8);
    params.commit_blocks = in(4, 10);
    params.publish_blocks = in(4, 10);
    params.challenge_blocks = in(4, 12);
    params.disclose_blocks = in(4, 10);
    params.dispute_clock_blocks = in(8, 30);
    params.dispute_extension_blocks = in(1, 5);
    params.attest_blocks = in(4, 10);
    params.segments_checked = in(1, 3);
    params.segments_checked_max = in(3, 12);
    params.verifiers_per_segment = in(1, 2);
    params.verifiers_per_segment_max = in(2, 4);
    params.value_per_check = {in(0, 30) * kCoin};
    params.value_per_verifier = {in(0, 60) * kCoin};
    params.slash_to_winner_bps = in(0, 10'000);
    params.forced_error_bps = random() % 4 == 0 ? 0 : in(1'000, 10'000);
    params.watchers_per_verdict = in(0, 3);
    params.tax_bps = random() % 4 == 0 ? 0 : in(1, 2'000);
    params.validator_stake_min = {in(2, 20) * kCoin};
    params.validators_max = in(2, 4);
    params.double_sign_slash_bps = in(0, 10'000);
    params.downtime_blocks = in(3, 6);
    params.jail_blocks = in(4, 20);
    params.validator_unbonding_ms = in(1, 90) * 1'000;
    params.trusting_period_ms = 1;
    params.deadline_slash_bps = in(0, 10'000);
    params.decline_blocks = in(2, 20);
    params.hardware_classes = {{"cpu", 1}, {"gpu", 100}};
    params.profilers = in(3, 5);
    params.profile_segments = in(1, 3);
    params.profiling_fee_bps = in(0, 6'000);
    params.threshold_quantile_ppm = 500'000;
    params.threshold_confidence_ppm = 700'000;
    params.growth_max_thousandths = random() % 3 == 0 ? 500 : 6'000;
    params.contributor_bond = {in(1, 20) * kCoin + in(0, 99)};
    params.contributors_max = random() % 4 == 0 ? 0 : in(1, 5);  // some chains have no contributors
    params.contribute_blocks = in(1, 6);
    // TASK-17, TASK-18; on some chains hardly any deadline fits into the end of a block.
    params.draw_blocks = std::max(in(10, 60), 2 * params.contribute_blocks + 2);  // PAR-5
    params.draws_max = in(2, 8);
    params.draw_price = {in(0, 1'000'000)};
    params.room_price = {in(0, 100)};
    params.redraw_blocks = in(1, 4);
    params.redraws_max = in(0, 3);
    // PAR-10
    params.committee_seats = in(2, 7);
    params.attest_fee = {random() % (params.verifier_bond.grains / 10 / params.committee_seats + 1)};
    // WRK rules: on some chains a replay takes blocks, and costs something; on some nobody has memory for granted.
    params.block_ms = in(20, 400);
    params.replay_blocks_max = random() % 4 == 0 ? in(1, 4) : 1'000;
    params.work_price = random() % 3 == 0 ? 0 : std::uint64_t{in(1, 300)} * 1'000'000;
    params.memory_default = random() % 8 == 0 ? in(1'000, 8'000) : 1ULL << 30U;
    params.vote_blocks = in(2, 30);
    params.retention_blocks_max = in(20, 60);
    params.retention_shows = in(1, 4);
    params.retention_show_blocks = in(2, 6);
    params.share_blocks = in(2, 8);
    params.vote_delay_blocks = in(1, 12);
    // DTY-5: on some chains the lane of duties has room for hardly more than a task and a few disputes.
    const bool is_narrow = random() % 3 == 0;
    if (is_narrow) {
        params.segments_checked = 1;
        params.segments_checked_max = in(1, 2);
        params.verifiers_per_segment = 1;
        params.verifiers_per_segment_max = in(1, 2);
    }
    params.standstill_blocks = random() % 4 == 0 ? 0 : in(1, 30);
    const auto least = static_cast<std::uint32_t>(contracts::kGasPerEntry + contracts::deadline_gas(params));
    params.end_block_gas_max = random() % 3 == 0 ? 2 * least * in(1, 3) : 1'000'000;
    params.task_value_max = {in(12, 40) * kCoin};
    // On some chains a few transactions fill a block, so that the base fee moves.
    params.block_gas_max =
        static_cast<std::uint32_t>(random() % 2 == 0 ? contracts::gas_max(params) * in(1, 3) : 1'000'000);
    set_lane(params, is_narrow ? in(100, 170) : in(100, 400), in(1, 20));
    return params;
}

Crowd::Crowd(Workshop& shop, std::uint64_t seed)
    : shop_(shop),
      seed_(seed),
      random_(seed),
      params_(make_params(seed)),
      gas_price_(params_.gas_price_min.grains),
      quarrels_(half_of_lane(params_) < 12 * weight_of_dispute(params_)),
      talks_(seed % 3 == 0) {
    for (int i = 0; i < kActors; ++i) {
        std::array<std::uint8_t, 32> secret{};
        secret[31] = static_cast<std::uint8_t>(i + 1);
        const auto key = crypto::SecretKey::from_bytes(secret).value();
        const Role role = i < 4    ? Role::kSolver
                          : i < 9  ? Role::kVerifier
                          : i < 12 ? Role::kWhistleblower
                                   : Role::kValidator;
        actors_.push_back({key, key.account(), 60 + static_cast<int>(below(41)), 50 + static_cast<int>(below(51)), role}
        );
        if (i < 4) {
            secret[0] = 1;
            secrets_.push_back(sealed::TaskSecret::from_bytes(secret).value());
        }
    }
}

contracts::Genesis Crowd::genesis() const {
    contracts::Genesis genesis;
    genesis.chain_id = kChainId;
    genesis.params = params_;
    for (const Actor& actor : actors_) {
        genesis.balances[actor.id] = Amount{kRich};
    }
    genesis.balances[actors_[3].id] = Amount{30 * kCoin};  // who runs out of money
    contracts::ConsensusKey key;
    key.data.fill(9);
    genesis.validators.push_back({actors_[12].id, key, Amount{50 * kCoin}});
    return genesis;
}

std::uint64_t Crowd::fixed(const Hash256& name, const AccountId& actor, std::uint32_t purpose, std::uint64_t bound)
    const {
    return contracts::to_seed(mix(name, actor, seed_ * 1'000 + purpose)) % bound;
}

bool Crowd::is_honest(const Actor& actor, const Hash256& duty, std::uint32_t purpose) const {
    return fixed(duty, actor.id, purpose, 100) < static_cast<std::uint64_t>(actor.honesty);
}

Sent Crowd::send(
    const AccountId& sender, const Action& action, std::uint64_t nonce, const std::optional<AccountId>& owner
) const {
    const auto actor = std::find_if(actors_.begin(), actors_.end(), [&](const Actor& a) { return a.id == sender; });
    Sent sent;
    sent.body = {kChainId, sender, nonce, {}, action, owner};
    const contracts::Tx unsigned_tx{sent.body, {}};
    sent.body.fee.grains = contracts::gas_of(unsigned_tx, codec::encode(unsigned_tx).size(), params_) * gas_price_ +
                           imposed_by(action, params_) * params_.gas_price_min.grains;
    sent.bytes = codec::encode(contracts::sign_tx(sent.body, actor->key));
    return sent;
}

Sent Crowd::send_nothing(const Sent& instead_of) const {
    const contracts::TxBody& body = instead_of.body;
    const contracts::Transfer nothing{body.sender, {}};
    return is_answer(instead_of) ? answer(body.sender, nothing, body.nonce) : send(body.sender, nothing, body.nonce);
}

/// Makes a transaction that is to be refused before it costs anything.
Sent Crowd::damage(Sent sent) {
    const auto actor =
        std::find_if(actors_.begin(), actors_.end(), [&](const Actor& a) { return a.id == sent.body.sender; });
    const auto resign = [&] { sent.bytes = codec::encode(contracts::sign_tx(sent.body, actor->key)); };
    switch (below(8)) {
        case 0:
            sent.bytes[below(sent.bytes.size())] ^= static_cast<std::uint8_t>(1U << below(8));
            sent.broken = {TxError::kUndecodable, TxError::kWrongChain, TxError::kBadSignature};
            break;
        case 1:
            sent.bytes.resize(below(sent.bytes.size()));
            sent.broken = {TxError::kUndecodable};
            break;
        case 2:
            sent.body.chain_id = "model-2";
            resign();
            sent.broken = {TxError::kWrongChain};
            break;
        case 3:
            sent.bytes.resize(params_.tx_size_max + 1);
            sent.broken = {TxError::kTooLarge};
            break;
        case 4:
            sent.body.nonce += 1 + below(3);
            resign();
            break;
        case 5:
            sent.body.nonce -= std::min<std::uint64_t>(sent.body.nonce, 1);
            resign();
            break;
        case 6:
            sent.body.fee.grains -= std::min<std::uint64_t>(sent.body.fee.grains, 1);
            resign();
            break;
        default:
            sent.body.fee.grains = random_();
            resign();
            break;
    }
    return sent;
}

void Crowd::see_price(const World& world) { gas_price_ = world.base_fee.value_or(params_.gas_price_min.grains); }

std::vector<Sent> Crowd::next_block(const Mirror& chain, std::uint64_t /*height*/) {
    remember_reveals(chain);
    Sents out;
    Sents late;
    std::map<AccountId, std::uint64_t> used;
    std::vector<std::size_t> order(actors_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::size_t i : order) {
        const Actor& actor = actors_[i];
        Actions work;
        if (chance(actor.diligence)) {
            look_for_work(actor, chain, work);
        }
        std::shuffle(work.begin(), work.end(), random_);
        work.resize(std::min<std::size_t>(work.size(), 2));
        if (chance(6)) {
            work.push_back(nonsense(actor, chain));
        }
        for (const Action& action : work) {
            const Signer signer = signer_of(actor, chain.world);
            if (answer_duty(actor, signer, action, chain.world, out, late)) {
                continue;
            }
            const auto person = chain.world.people.find(signer.id);
            const std::uint64_t nonce =
                (person == chain.world.people.end() ? 0 : person->second.nonce) + used[signer.id];
            Sent sent = send(signer.id, action, nonce, signer.owner);
            if (chance(2)) {
                out.push_back(damage(std::move(sent)));
            } else {
                out.push_back(std::move(sent));
                ++used[signer.id];
            }
        }
    }
    send_again(late);
    std::move(late.begin(), late.end(), std::back_inserter(out));
    return out;
}

void Crowd::add_engine(contracts::BlockContext& block, const Mirror& chain) {
    for (const auto& [account, validator] : chain.world.validators) {
        const auto address = contracts::address_of(validator.key);
        // An outage lasts: who was absent mostly stays so.
        if (chance(validator.missed != 0 ? 75 : 4)) {
            block.absent.push_back(address);
        }
        if (below(600) == 0) {
            block.misbehaviour.push_back({address, block.height});
        }
    }
    if (below(300) == 0) {
        block.misbehaviour.push_back({});
    }
}

void Crowd::look_for_work(const Actor& actor, const Mirror& chain, Actions& out) {
    const World& world = chain.world;
    add_money(actor, world, out);
    add_contributions(actor, world, out);
    add_submission(actor, world, out);
    for (const auto& [id, task] : world.tasks) {
        if (is_over(task.state)) {
            continue;
        }
        add_solving(actor, id, task, world, out);
        add_verdicts(actor, id, task, out);
        add_profiling(actor, id, task, world, out);
        add_accusations(actor, id, task, out);
        add_tellings(actor, id, task, out);
        add_reseats(actor, id, task, world, out);
        add_attestations(actor, id, task, out);
        add_shows(actor, id, task, out);
        add_sharing(actor, id, task, out);
        add_key_reports(actor, id, task, out);
        add_chunk_reports(actor, id, task, out);
    }
    add_moves(actor, chain, out);
}

void Crowd::add_money(const Actor& actor, const World& world, Actions& out) {
    const auto balance = world.people.at(actor.id).balance;
    const auto free_of = [&](Role role) {
        const auto found = world.stakes.find({role, actor.id});
        return found == world.stakes.end() ? 0 : found->second.free;
    };
    // A validator's and everybody's second role, so that draws have a choice.
    for (const Role role : {actor.role, actor.role == Role::kValidator ? Role::kVerifier : Role::kWhistleblower}) {
        if (free_of(role) < 60 * kCoin && balance > 100 * kCoin && chance(30)) {
            out.push_back(contracts::Bond{role, {20 * kCoin + below(40 * kCoin)}});
        }
    }
    if (chance(3)) {
        const std::uint64_t free = free_of(actor.role);
        out.push_back(contracts::Unbond{actor.role, {free < 2 ? 1 : 1 + below(free / (1 + below(10)) + 1)}});
    }
    if (chance(2)) {
        const AccountId other = actors_[below(actors_.size())].id;  // seldom itself, which is refused
        out.push_back(contracts::NameOperator{chance(80) ? std::optional(other) : std::nullopt});
    }
    if (chance(2)) {
        out.push_back(contracts::Transfer{actors_[below(actors_.size())].id, {1 + below(3 * kCoin)}});
    }
    if (chance(2) && actor.role != Role::kWhistleblower) {
        const auto number = static_cast<std::uint32_t>(below(3));
        const Role role = actor.role == Role::kValidator ? Role::kVerifier : actor.role;
        contracts::Terms terms{.hardware_class = number};
        if (role == Role::kVerifier) {
            terms.price = chance(12) ? below(4 * params_.work_price + 1) : 0;
            terms.memory = chance(10) ? 1 + below(20'000) : 0;
            terms.replay_blocks = chance(12) ? static_cast<std::uint32_t>(1 + below(6)) : 0;
        } else if (chance(60)) {
            terms.offers = contracts::fingerprints(environment());  // ENV-3
        }
        out.push_back(contracts::RegisterTerms{role, terms, number == 2 ? 100 + below(9) : 1 + below(90)});
    }
    if (actor.role != Role::kValidator) {
        return;
    }
    const auto record = world.validators.find(actor.id);
    if (record == world.validators.end()) {
        out.push_back(registration(chance(90) ? actor.id : actors_[0].id));
    } else if (record->second.jailed_until != 0 && chance(20)) {
        out.push_back(contracts::Unjail{});
    }
    add_motions(actor, world, out);
}

contracts::RegisterValidator Crowd::registration(const AccountId& account) {
    crypto::Ed25519Key::Seed secret{};
    secret.fill(static_cast<std::uint8_t>(below(250)));
    const crypto::Ed25519Key key(secret);
    const Hash256 claim = contracts::consensus_key_claim(kChainId, account);
    return {contracts::ConsensusKey{key.public_key()}, contracts::ConsensusSignature{key.sign(claim.view())}};
}

void Crowd::add_contributions(const Actor& actor, const World& world, Actions& out) {
    // Who lies sends another's secret, or a wrong one; who keeps silent withholds.
    const auto secret = [&](std::uint64_t number) { return mix({}, actor.id, seed_ * 1'000'000 + number); };
    const auto commit = [&](std::uint64_t number) { return contracts::beacon_commitment(actor.id, secret(number)); };
    const Beacon& beacon = world.beacon;
    const std::uint64_t next = beacon.rounds + (beacon.round ? 1 : 0);
    const auto seat = beacon.seats.find(actor.id);
    if (seat == beacon.seats.end()) {
        if (chance(actor.role == Role::kVerifier ? 20 : 1)) {
            out.push_back(contracts::JoinBeacon{commit(next)});
        }
        return;
    }
    if (chance(2)) {
        out.push_back(contracts::LeaveBeacon{});
    }
    if (!beacon.round || seat->second.since >= beacon.round->opened_at) {
        return;
    }
    for (std::uint64_t back = 0; back <= std::min<std::uint64_t>(next, 8); ++back) {
        if (commit(next - back) == seat->second.commitment && is_honest(actor, mix({}, {}, next), kContributes)) {
            out.push_back(contracts::Contribute{secret(next - back), commit(next)});
        }
    }
    if (chance(3)) {
        const Hash256 copied = beacon.round->secrets.empty() ? secret(0) : beacon.round->secrets.begin()->second;
        out.push_back(contracts::Contribute{copied, commit(next)});
    }
}

contracts::TaskSpec Crowd::make_spec(const World& world) {
    const bool diverges = chance(talks_ ? 3 : 15);
    contracts::TaskSpec spec = shop_.spec(diverges);
    spec.title = "task";
    spec.steps = 3 + below(8);
    if (spec.steps % 2 == 0) {
        spec.tokenizer = Hash256{{static_cast<std::uint8_t>(spec.steps)}};  // TASK-20: any will do
    }
    spec.checkpoint_interval = static_cast<std::uint32_t>(1 + below(5));
    spec.reward = {below(8) == 0 ? 0 : below(30 * kCoin)};
    spec.verification_fee = {below(8) == 0 ? 0 : below(6 * kCoin)};
    if (contracts::task_value(spec) > params_.task_value_max && chance(80)) {
        spec.reward = {params_.task_value_max.grains - spec.verification_fee.grains};
    }
    spec.training_blocks = static_cast<std::uint32_t>(12 + below(30));  // TASK-16: at least 12 for 10 segments
    if (chance(90)) {
        spec.training_blocks +=
            static_cast<std::uint32_t>(2 * spec.steps * spec.program.step_work / (1'000 * params_.block_ms));
    }
    spec.hardware_class = chance(85) ? 0 : static_cast<std::uint32_t>(1 + below(2));
    add_wishes(spec);
    if (!diverges && chance(talks_ ? 5 : 30)) {
        spec.mode = contracts::Mode::kTolerance;
        spec.distance = shop_.distance();
        spec.steps = 8 + below(3);
    } else if (chance(talks_ ? 95 : 60)) {
        spec.members = static_cast<std::uint8_t>(2 + below(3));
    }
    spec.retention = make_retention(spec);
    if (!world.tasks.empty() && chance(45)) {
        // The youngest are the likeliest to fit.
        std::vector<TaskId> fit;
        for (const auto& [id, task] : world.tasks) {
            if (has_run(task.state) && (chance(10) || (!task.diverged_at && !task.tainted_by))) {
                fit.push_back(id);
            }
        }
        if (!fit.empty()) {
            spec.parent = fit[below(fit.size())];
        }
    }
    if (chance(40)) {
        spec.evaluation = shop_.scoring();
    }
    const bool in_tolerance = spec.mode == contracts::Mode::kTolerance;
    if (chance(talks_ ? 3 : in_tolerance ? 45 : 25)) {
        if (chance(25)) {
            spec.mode = contracts::Mode::kExact;
            spec.distance.reset();
        }
        spec.members = 1;
        if (!chance(4)) {
            spec.parent.reset();
        }
        spec.privacy = make_privacy(spec);
    }
    return spec;
}

void Crowd::add_submission(const Actor& actor, const World& world, Actions& out) {
    const auto open = std::count_if(world.tasks.begin(), world.tasks.end(), [](const auto& entry) {
        return !is_over(entry.second.state);
    });
    if (open < 7 && chance(6)) {
        out.push_back(contracts::SubmitTask{make_spec(world)});
    }
    for (const auto& [id, task] : world.tasks) {
        const bool early = task.state == TaskState::kOpen || task.state == TaskState::kDrawn;
        if (early && task.submitter == actor.id && chance(1)) {
            out.push_back(contracts::CancelTask{id});
        }
    }
}

}  // namespace assay::model
