// SPDX-License-Identifier: Apache-2.0
#include <tests/adversary/adversary.hpp>

#include <chrono>
#include <ctime>
#include <thread>
#include <utility>

#include <contracts/verification/verification.hpp>
#include <core/crypto/random.hpp>
#include <core/sealed/files/check.hpp>
#include <core/dispute/player.hpp>
#include <tests/adversary/jackpot_hunt.hpp>
#include <verifier/worker/checker.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::adversary {
namespace {

/// What a party that moves late leaves itself of its clock.
constexpr std::uint64_t kLateBlocks = 10;
constexpr std::uint32_t kSpoiltCheckpoint = 2;

template <class T>
nlohmann::ordered_json to_json(const std::optional<T>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// What the demo compares with where the dispute ends.
void confess(worker::Reporter& reporter, const TaskArtifacts& artifacts, const Fraud& fraud) {
    if (!fraud.has_place()) {
        reporter.event(
            {{"event", "dishonest"}, {"task", to_hex(artifacts.task.view())}, {"kind", to_string(fraud.kind())}}
        );
        return;
    }
    nlohmann::ordered_json event = {
        {"event", "dishonest"},
        {"task", to_hex(artifacts.task.view())},
        {"kind", to_string(fraud.kind())},
        {"segment", fraud.segment()}};
    if (fraud.kind() == Dishonesty::kWithhold) {
        event["checkpoint"] = fraud.segment();
    } else if (fraud.kind() == Dishonesty::kOptimizer) {
        // Wrong in every segment from here on: which of them is convicted first is not ours to say.
        event["from_step"] = fraud.first_step();
    } else if (fraud.kind() != Dishonesty::kScore) {
        event["step"] = fraud.first_step();
    }
    event["node"] = to_json(fraud.node());
    event["tile"] = to_json(fraud.tile());
    reporter.event(event);
}

/// A machine that is so many times slower: it does nothing for so long after what it has computed. Time in which others
/// have the processor is not counted, and waits are not shorter than a machine can keep.
class SlowMachine final : public engine::Pace {
  public:
    explicit SlowMachine(std::uint32_t times) : idle_(times - 1) {}
    void begin() override { began_ = computed_time(); }
    void computed(const canonical::Node& /*node*/, double /*part*/) override {}
    void end() override {
        owed_ += idle_ * (computed_time() - began_);
        if (owed_ > kLeast) {
            std::this_thread::sleep_for(std::exchange(owed_, {}));
        }
    }

  private:
    static constexpr std::chrono::nanoseconds kLeast{1'000'000};
    static std::chrono::nanoseconds computed_time() {
        timespec out{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &out);
        return std::chrono::seconds(out.tv_sec) + std::chrono::nanoseconds(out.tv_nsec);
    }

    std::uint32_t idle_;
    std::chrono::nanoseconds began_{};
    std::chrono::nanoseconds owed_{};
};

}  // namespace

std::unique_ptr<worker::Role> Adversary::role(worker::WorkerContext& context) const {
    const bool hunts = options_.kind == Dishonesty::kFreeRider || options_.kind == Dishonesty::kInsider;
    return hunts ? std::make_unique<JackpotHunter>(context, options_) : nullptr;
}

std::shared_ptr<const Fraud> Adversary::fraud(
    worker::WorkerContext& context, const std::shared_ptr<const TaskArtifacts>& artifacts
) {
    if (options_.kind == Dishonesty::kNone) {
        return nullptr;
    }
    if (const auto found = frauds_.find(artifacts->task); found != frauds_.end()) {
        return found->second;
    }
    auto made = std::make_shared<const Fraud>(options_.kind, artifacts, options_.step, options_.node);
    confess(context.reporter, *artifacts, *made);
    return frauds_.emplace(artifacts->task, std::move(made)).first->second;
}

std::shared_ptr<const worker::Alteration> Adversary::of_task(
    worker::WorkerContext& context, const std::shared_ptr<const TaskArtifacts>& artifacts
) {
    return fraud(context, artifacts);
}

std::shared_ptr<const worker::Alteration> Adversary::of_verdict(const std::shared_ptr<const TaskArtifacts>& measuring
) const {
    const bool lies = options_.kind == Dishonesty::kInflate;
    return lies ? std::make_shared<const Fraud>(Fraud::overstating(measuring)) : nullptr;
}

std::shared_ptr<const worker::Alteration> Adversary::of_profile(const std::shared_ptr<const TaskArtifacts>& measuring
) const {
    const bool lies = options_.kind == Dishonesty::kMisprofile;
    return lies ? std::make_shared<const Fraud>(Fraud::overstating(measuring)) : nullptr;
}

std::shared_ptr<const worker::Alteration> Adversary::of_score(const std::shared_ptr<const TaskArtifacts>& evaluating
) const {
    const bool lies = options_.kind == Dishonesty::kScore;
    return lies ? std::make_shared<const Fraud>(Fraud::flattering(evaluating)) : nullptr;
}

void Adversary::withhold(const Hash256& artifact) {
    const std::lock_guard lock(mutex_);
    withheld_.insert(artifact);
}

std::shared_ptr<engine::Pace> Adversary::pace() const {
    return options_.slowed > 1 ? std::make_shared<SlowMachine>(options_.slowed) : nullptr;
}

bool Adversary::serves(const Hash256& artifact) const {
    const std::lock_guard lock(mutex_);
    return options_.kind != Dishonesty::kWithholdAll && !withheld_.contains(artifact);
}

/// It lies from the step on that it was told to the end of that segment.
std::unique_ptr<engine::Collective> Adversary::links(
    worker::WorkerContext& context, const contracts::TaskId& task, std::unique_ptr<engine::Collective> collective
) {
    if (!options_.misstates) {
        return collective;
    }
    const std::lock_guard lock(mutex_);
    const std::uint64_t step = options_.step.value();
    const std::uint64_t before = step / interval_;
    const bool is_first = misstated_.insert(task).second;
    if (is_first) {
        context.reporter.event(
            {{"event", "dishonest"},
             {"task", to_hex(task.view())},
             {"kind", to_string(*options_.misstates)},
             {"segment", before + 1},
             {"step", step}}
        );
    }
    return make_misstating(
        std::move(collective), {.kind = *options_.misstates,
                                .first_step = step,
                                .last_step = (before + 1) * interval_ - 1,
                                .leaves_late = !is_first}
    );
}

void Adversary::note_loading(const contracts::TaskSpec& spec) {
    {
        const std::lock_guard lock(mutex_);
        interval_ = spec.checkpoint_interval;
    }
    if (options_.kind == Dishonesty::kPrivate) {
        for (const auto& [artifact, size_max] : worker::artifacts_of(spec)) {
            withhold(artifact.sha256);
        }
    }
}

void Adversary::note_posting(
    worker::WorkerContext& context, const contracts::Task& task, std::uint32_t index, const Hash256& artifact
) {
    const auto artifacts = options_.kind == Dishonesty::kWithhold ? context.artifacts(task) : nullptr;
    if (artifacts && fraud(context, artifacts)->segment() == index) {
        withhold(artifact);
    }
}

bool Adversary::invents_replay(
    worker::WorkerContext& context, const contracts::Task& task, std::uint32_t segment,
    const std::shared_ptr<const TaskArtifacts>& artifacts
) {
    if (options_.kind != Dishonesty::kLazy && options_.kind != Dishonesty::kCopycat) {
        return false;
    }
    fraud(context, artifacts);
    const Hash256 claimed = context.chain.claimed_root(task, segment);
    context.journal.replays({task.id, segment}).first = claimed;
    if (!contracts::is_exact(task, segment)) {
        context.judged[{task.id, segment}].verdict = {
            .end_root = claimed, .probe_root = {}, .measurement = dispute::Measurement{}};
    }
    for (const std::uint32_t mark : worker::own_marks(task, segment, context.chain.self())) {
        auto& invented = context.journal.probe_replays({task.id, segment}, mark).first;
        if (!invented) {
            crypto::fill_random(invented.emplace().data);
        }
    }
    context.journal.keep_replays();
    return true;
}

std::optional<dispute::StateOpening> Adversary::alleged_divergence(const std::vector<canonical::Tensor>& after) const {
    if (options_.kind != Dishonesty::kDivergence) {
        return std::nullopt;
    }
    return dispute::open_tile(after, 0, 0);  // which may well be finite
}

/// A copycat publishes what the first of the other verifiers of the segment did, and waits while one of them may yet.
std::optional<contracts::Verdict> Adversary::published(
    worker::WorkerContext& context, const contracts::Task& task, std::uint32_t segment, const contracts::Verdict& own
) const {
    if (options_.kind != Dishonesty::kCopycat) {
        return own;
    }
    bool may_come = false;
    for (const contracts::Assignment& other : task.assignments) {
        const bool is_other = other.segment == segment && other.verifier != context.chain.self();
        if (is_other && contracts::is_published(other)) {
            return contracts::Verdict{other.end_root, other.probe_root, other.measurement, other.diverged_after};
        }
        may_come = may_come || (is_other && other.status == contracts::VerdictStatus::kCommitted);
    }
    return may_come ? std::nullopt : std::optional(own);
}

artifacts::TaskSecrets Adversary::shared(
    worker::WorkerContext& /*context*/, const contracts::TaskId& /*task*/, const artifacts::TaskSecrets& own
) {
    if (options_.kind != Dishonesty::kWrongKeys) {
        return own;
    }
    return {.of_task = own.of_task, .of_checkpoints = assay::sealed::TaskSecret(crypto::SecretKey::generate())};
}

/// Of one checkpoint the last byte of the file is another, and so is the root that it posts.
contracts::SealedFile Adversary::sealed(
    worker::WorkerContext& context, const contracts::TaskId& /*task*/, std::uint32_t index,
    const contracts::SealedFile& own
) {
    if (options_.kind != Dishonesty::kWrongChunk || index != kSpoiltCheckpoint) {
        return own;
    }
    const auto file = context.store.open(own.root).value();
    Bytes bytes(file.view().begin(), file.view().end());
    bytes.back() ^= 1U;
    const Hash256 root = assay::sealed::check_sealed(bytes).value();
    artifacts::ContentStore::Writer writer(context.store, root);
    writer.write(bytes);
    writer.finish();
    return {.root = root, .size = own.size};
}

bool Adversary::moves_at(Height height, Height deadline) const {
    return !options_.late_moves || height.value + kLateBlocks >= deadline.value;
}

}  // namespace assay::adversary
