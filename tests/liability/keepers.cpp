// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include <contracts/lifecycle/keys.hpp>
#include <contracts/state/slots.hpp>
#include <core/crypto/hash.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/files/open.hpp>
#include <core/sealed/files/seal.hpp>
#include <tests/liability/plan.hpp>
#include <tests/unit/contracts/fixture.hpp>

/// Plans about the keys and files of private tasks (PRV rules).
namespace assay::liability {
namespace {

using contracts::Role;
using contracts::Task;
using contracts::TaskState;
using contracts::test::kCoin;
using model::Way;
using simulation::Kind;

constexpr const char* kChainId = "arena-1";

sealed::TaskSecret secret_named(const char* name) {
    Hash256 bytes = crypto::sha256(as_bytes(name));
    bytes.data[0] = 0;
    return sealed::TaskSecret::from_bytes(bytes.view()).value();
}

/// Shares that everybody can find, as on a real chain.
contracts::KeyShare publish_shares(
    const Stage& stage, const Task& task, const contracts::Reader& reader, const sealed::TaskSecret& of_task,
    const std::optional<sealed::TaskSecret>& of_checkpoints
) {
    const auto make = [&](const sealed::TaskSecret& secret, bool is_of_checkpoints) {
        const sealed::ShareName name{kChainId, Hash256{task.id.data}, reader.account, is_of_checkpoints};
        crypto::EciesEntropy entropy;
        entropy.ephemeral = model::mix(Hash256{secret.key().data}, reader.account, is_of_checkpoints ? 5 : 6).data;
        entropy.ephemeral[0] = 0;
        const Bytes share = sealed::make_share(secret, reader.key, name, entropy).value();
        stage.bulletin.shares[crypto::sha256(share)] = share;
        return share;
    };
    return {reader.account, make(of_task, false), of_checkpoints ? make(*of_checkpoints, true) : Bytes{}};
}

const contracts::SharedKeys* find_shared(const Task& task, const AccountId& account) {
    const auto& shared = task.secrecy->shared;
    const auto found = std::find_if(shared.begin(), shared.end(), [&](const contracts::SharedKeys& each) {
        return each.reader.account == account;
    });
    return found == shared.end() ? nullptr : &*found;
}

/// The secrets that `reader` was given for `account`, if they are right.
std::optional<std::pair<sealed::TaskSecret, sealed::TaskSecret>> secrets_of(
    const Stage& stage, const Task& task, const AccountId& account, const Member& reader
) {
    const contracts::SharedKeys* const mine = find_shared(task, account);
    if (mine == nullptr || !task.secrecy->key) {
        return std::nullopt;
    }
    const auto first = reader.open_share(task.spec.privacy->key, stage.bulletin.shares[mine->of_task]);
    const auto second = reader.open_share(*task.secrecy->key, stage.bulletin.shares[mine->of_checkpoints]);
    return first && second ? std::optional(std::pair{*first, *second}) : std::nullopt;
}

void order_privately(simulation::Order& order) {
    order.is_stacked = false;
    order.members = 1;
    order.is_private = true;
}

class Keeper final : public Plan {
  public:
    using Plan::Plan;

    void set_scene(contracts::Params& /*params*/, std::vector<Kind>& kinds) override { without_accomplices(kinds); }
    void set_order(simulation::Order& order) override {
        order_privately(order);
        order.in_tolerance = false;
    }

    void act(const Stage& stage) override {
        member(0).bond(stage, Role::kSolver, 700 * kCoin);
        const auto state = stage.node.state();
        for (const contracts::TaskId& id : stage.bulletin.tasks) {
            const auto task = contracts::find_task(*state, id);
            if (task && task->secrecy && task->solver == member(0).id()) {
                solve(stage, *task);
            }
        }
    }

  private:
    enum class Trick : std::uint8_t { kKeepsFromOne, kKeepsFromAll, kOtherTaskKey, kOtherKey, kDamages, kSealsByOther };

    void solve(const Stage& stage, const Task& task) {
        if (!tricks_.contains(task.id)) {
            tricks_[task.id] = static_cast<Trick>(below(6));
        }
        const auto secrets = secrets_of(stage, task, member(0).id(), member(0));
        const std::uint32_t wanted = contracts::segment_count(task.spec) + 1;
        if (!secrets) {
            return;
        }
        if (task.state == TaskState::kDrawn) {
            member(0).send_once(stage, contracts::AcceptTask{task.id});
        } else if (task.state == TaskState::kTraining && task.checkpoints < wanted) {
            post(stage, task, secrets->second);
        } else if (task.state == TaskState::kTraining) {
            const Hash256 last = root_of(stage, task, wanted - 1);
            member(0).send_once(
                stage,
                contracts::CompleteTask{
                    task.id, task.spec.evaluation ? std::optional(stage.shop.evaluation(last)) : std::nullopt}
            );
        } else if (task.state == TaskState::kVerifying) {
            share(stage, task, secrets->first, secrets->second);
        }
    }

    static Hash256 root_of(const Stage& stage, const Task& task, std::uint32_t index) {
        Hash256 root = stage.shop.start(Way::kTruth);
        for (std::uint32_t segment = 1; segment <= index; ++segment) {
            root = stage.shop.after(
                Way::kTruth, root, contracts::first_step(task.spec, segment), contracts::step_count(task.spec, segment)
            );
        }
        return root;
    }

    void post(const Stage& stage, const Task& task, const sealed::TaskSecret& secret) {
        const Hash256 root = root_of(stage, task, task.checkpoints);
        const Trick trick = tricks_.at(task.id);
        sealed::SealedFile file =
            sealed::seal_state(
                stage.shop.state(root), trick == Trick::kSealsByOther ? secret_named("other") : secret,
                {Hash256{task.id.data}, root}
            )
                .value();
        if (trick == Trick::kDamages && task.checkpoints == 1) {
            file.bytes.back() ^= 1U;
            file.root = sealed::check_sealed(file.bytes).value();
        }
        contracts::PostCheckpoint action{task.id, task.checkpoints, root, {}};
        action.sealed = contracts::SealedFile{file.root, file.bytes.size()};
        stage.bulletin.sealed_files[file.root] = std::move(file.bytes);
        stage.bulletin.artifacts.try_emplace({task.id, task.checkpoints}, 0);
        member(0).send_once(stage, action);
    }

    void share(
        const Stage& stage, const Task& task, const sealed::TaskSecret& of_task,
        const sealed::TaskSecret& of_checkpoints
    ) {
        const Trick trick = tricks_.at(task.id);
        contracts::ShareKeys action{task.id, std::nullopt, {}};
        const sealed::TaskSecret other = secret_named("other");
        for (const contracts::Reader& reader : task.secrecy->awaited) {
            const bool is_first = reader == task.secrecy->awaited.front();
            if (trick == Trick::kKeepsFromAll || (trick == Trick::kKeepsFromOne && is_first)) {
                continue;
            }
            action.shares.push_back(publish_shares(
                stage, task, reader, trick == Trick::kOtherTaskKey ? other : of_task,
                trick == Trick::kOtherKey ? other : of_checkpoints
            ));
        }
        if (!action.shares.empty()) {
            member(0).send_once(stage, action);
        }
    }

    std::map<contracts::TaskId, Trick> tricks_;
};

class Teaser final : public Plan {
  public:
    using Plan::Plan;

    void set_scene(contracts::Params& /*params*/, std::vector<Kind>& kinds) override { without_accomplices(kinds); }

    void act(const Stage& stage) override {
        if (number_ < kTasks && stage.node.height() >= 8 + 20 * number_) {
            submit(stage);
        }
        const auto state = stage.node.state();
        for (const contracts::TaskId& id : stage.bulletin.tasks) {
            const auto task = contracts::find_task(*state, id);
            const bool is_ours = task && task->submitter == member(0).id() && contracts::owes_keys(*task);
            if (is_ours && task->state == TaskState::kDrawn && id.data[0] % 2 == 0) {
                share_others(stage, *task);
            }
            if (is_ours && task->state == TaskState::kProfiling) {
                share_with_profilers(stage, *task);
            }
        }
    }

  private:
    static constexpr std::uint64_t kTasks = 5;

    void submit(const Stage& stage) {
        contracts::TaskSpec spec = stage.shop.spec(false);
        spec.title = "teaser " + std::to_string(++number_);
        spec.steps = 10;
        spec.checkpoint_interval = static_cast<std::uint32_t>(2 + below(4));
        spec.reward = {20 * kCoin};
        spec.verification_fee = {5 * kCoin};
        spec.training_blocks = 200;
        if (number_ % 2 == 0) {
            spec.mode = contracts::Mode::kTolerance;
            spec.distance = stage.shop.distance();
        }
        const contracts::SealedFile file{crypto::sha256(as_bytes("nothing")), 1};
        spec.privacy = contracts::Privacy{
            .key = secret_named("task").key(), .program = file, .dataset = file, .initial = {}, .holdout = {}};
        member(0).send(stage, contracts::SubmitTask{spec});
    }

    void share_others(const Stage& stage, const Task& task) {
        const contracts::Reader& reader = task.secrecy->awaited.front();
        const bool is_first_right = task.id.data[1] % 2 == 0;
        contracts::ShareKeys action{task.id, secret_named("checkpoints").key(), {}};
        action.shares.push_back(publish_shares(
            stage, task, reader, secret_named(is_first_right ? "task" : "other"),
            secret_named(is_first_right ? "other" : "checkpoints")
        ));
        member(0).send_once(stage, action);
    }

    /// The right key, for some or all; nothing for anybody; another key for one.
    void share_with_profilers(const Stage& stage, const Task& task) {
        const std::uint32_t trick = task.id.data[2] % 4;
        const bool has_begun = !task.secrecy->shared.empty();
        if (trick == 0 || has_begun) {
            return;
        }
        contracts::ShareKeys action{task.id, std::nullopt, {}};
        for (const contracts::Reader& reader : task.secrecy->awaited) {
            const bool is_first = reader == task.secrecy->awaited.front();
            if (trick == 1 && is_first) {
                continue;
            }
            const bool is_wrong = trick == 2 && is_first;
            action.shares.push_back(
                publish_shares(stage, task, reader, secret_named(is_wrong ? "other" : "task"), std::nullopt)
            );
        }
        member(0).send_once(stage, action);
    }

    std::uint64_t number_ = 0;
};

class Reader final : public Plan {
  public:
    using Plan::Plan;

    void set_scene(contracts::Params& /*params*/, std::vector<Kind>& kinds) override { without_accomplices(kinds); }
    void set_order(simulation::Order& order) override {
        order_privately(order);
        order.in_tolerance = chance(50);
    }

    void act(const Stage& stage) override {
        // Four others have half of 200 in the beacon, and at times most of the rest in verdicts. With more than is left
        // of that it would have most seats of committees, which would convict honest solvers (AVL-5).
        member(0).bond(stage, Role::kVerifier, 60 * kCoin);
        if (chance(10)) {
            // Back and forth, and at times somebody whose key is no point.
            const AccountId nobody{crypto::sha256(as_bytes("no point")).data};
            member(0).send(stage, contracts::NameOperator{chance(20) ? nobody : member(1 + below(2)).id()});
        }
        const auto state = stage.node.state();
        for (const contracts::TaskId& id : stage.bulletin.tasks) {
            const auto task = contracts::find_task(*state, id);
            if (task && task->secrecy && !contracts::is_terminal(task->state) && task->solver != member(0).id()) {
                slander(stage, *state, *task);
            }
        }
    }

  private:
    void slander(const Stage& stage, const contracts::StateView& state, const Task& task) {
        commit_unread(stage, task);
        const contracts::SharedKeys* const mine = find_shared(task, member(0).id());
        if (mine == nullptr) {
            return;
        }
        for (std::size_t place = 0; place < members().size(); ++place) {
            const Bytes& of_task = stage.bulletin.shares[mine->of_task];
            if (const auto evidence = member(place).report_share(of_task)) {
                member(0).send_once(stage, contracts::ReportWrongKeys{task.id, false, of_task, *evidence});
            }
            if (const auto secrets = secrets_of(stage, task, member(0).id(), member(place))) {
                report_chunks(stage, state, task, secrets->second);
            }
        }
    }

    /// Before it has keys, so that others have as little time as possible.
    void commit_unread(const Stage& stage, const Task& task) {
        const auto& awaited = task.secrecy->awaited;
        const bool waits = std::any_of(awaited.begin(), awaited.end(), [&](const contracts::Reader& reader) {
            return reader.account == member(0).id();
        });
        const bool is_profiler = waits && task.state == TaskState::kProfiling;
        if (is_profiler && chance(30)) {
            const Hash256 anything = model::mix(Hash256{task.id.data}, member(0).id(), 7);
            member(0).send_once(stage, contracts::CommitProfile{task.id, anything});
        }
        for (const contracts::Assignment& duty : task.assignments) {
            if (waits && duty.verifier == member(0).id() && duty.status == contracts::VerdictStatus::kDue) {
                const Hash256 anything = model::mix(Hash256{task.id.data}, duty.verifier, duty.segment);
                member(0).send_once(stage, contracts::CommitVerdict{task.id, duty.segment, anything});
                return;
            }
        }
    }

    /// A chunk as it is, and one that is not of the file.
    void report_chunks(
        const Stage& stage, const contracts::StateView& state, const Task& task, const sealed::TaskSecret& secret
    ) {
        for (std::uint32_t index = 0; index < task.checkpoints; ++index) {
            const auto checkpoint = contracts::find_checkpoint(state, task.id, index).value();
            const auto file = stage.bulletin.sealed_files.find(checkpoint.sealed.value().root);
            if (file == stage.bulletin.sealed_files.end()) {
                continue;
            }
            const sealed::MemorySource source(file->second);
            const sealed::ChunkName name{Hash256{task.id.data}, checkpoint.state_root, 0, 0};
            contracts::ReportWrongChunk action{task.id, index, {}};
            action.evidence.opening = sealed::open_sealed(source, sealed::check_file(source).value(), 0, 0);
            action.evidence.point = sealed::chunk_point(secret, name);
            action.evidence.proof = sealed::prove_chunk_point(secret, name, member(0).id(), {});
            member(0).send_once(stage, action);
            action.evidence.opening.bytes.back() ^= 1U;
            member(0).send_once(stage, action);
        }
    }
};

}  // namespace

std::unique_ptr<Plan> make_reader_or_keeper(PlanKind kind, std::uint64_t seed, std::vector<Member> members) {
    switch (kind) {
        case PlanKind::kKeeper:
            return std::make_unique<Keeper>(seed, std::move(members));
        case PlanKind::kTeaser:
            return std::make_unique<Teaser>(seed, std::move(members));
        default:
            return std::make_unique<Reader>(seed, std::move(members));
    }
}

}  // namespace assay::liability
