// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/offers.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <contracts/params/gas.hpp>
#include <contracts/state/task.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/roles/solver.hpp>
#include <core/dispute/work.hpp>
#include <core/system/memory.hpp>
#include <verifier/engine/backend/step_machine.hpp>
#include <verifier/engine/fused/planning.hpp>
#include <verifier/worker/profiler.hpp>
#include <verifier/worker/runner.hpp>

namespace assay::worker {
namespace {

using Clock = std::chrono::steady_clock;

/// A first step allocates and warms up; with steps that are quick some more are tried.
constexpr int kStepsMax = 4;
constexpr std::uint64_t kTrialUs = 500'000;
/// So long a trial has the machine for itself; one that takes longer goes on beside other work.
constexpr std::chrono::seconds kTrialAlone{2};
/// Blocks over which the time between blocks is taken.
constexpr std::uint64_t kBlocksTimed = 50;
/// Of a transaction that says little: envelope, signature, and an artifact's place.
constexpr std::uint64_t kTxGas = 500;

std::uint64_t since(Clock::time_point start) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count()
    );
}

/// What the engine takes for a step within its limit, or the least it can do with.
std::uint64_t step_bytes(const program::Program& program, const engine::EngineOptions& options, bool is_observed) {
    const std::vector<canonical::TensorType> types = types_of(program.state);
    const std::vector<std::uint32_t> kept{program.loss_node};
    const engine::fused::PlanInput input{
        .graph = program.step,
        .state = types,
        .kept = kept,
        .threads = options.threads,
        .is_observed = is_observed,
    };
    const auto plan = options.device == "cpu" ? engine::fused::make_plan(input, options.memory_bytes) : std::nullopt;
    // A graph without a plan is executed node by node.
    return plan ? plan->memory_bytes() : kMemoryFactor * dispute::memory_of(program.step);
}

/// What a party to a dispute has in memory beside the step: the output in question and what its node reads, and the
/// hashes of the tiles of the state and of an output.
std::uint64_t opened_bytes(const program::Program& program) {
    std::uint64_t tiles = 0;
    for (const auto& tensor : program.state) {
        tiles += canonical::tile_count(tensor.type.shape);
    }
    std::uint64_t most_tiles = 0;
    const auto bytes_of = [](canonical::DType dtype, canonical::Shape shape) {
        return shape.element_count() * canonical::size_of(dtype);
    };
    std::uint64_t most = 0;
    for (const canonical::Node& node : program.step) {
        if (node.op == canonical::Op::kCommit) {
            continue;
        }
        std::uint64_t bytes = bytes_of(node.dtype, node.shape);
        for (const canonical::Input& input : node.inputs) {
            bytes += bytes_of(input.dtype, input.shape);
        }
        most = std::max(most, bytes);
        most_tiles = std::max(most_tiles, canonical::tile_count(node.shape));
    }
    return most + (tiles + most_tiles) * 2 * sizeof(Hash256);
}

/// WRK-1: of the whole training.
std::uint64_t work_of(const contracts::TaskSpec& spec) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    return checked_mul(spec.program.step_work, spec.steps).value_or(kMost);
}

/// What is tried of an offer before it is accepted.
Trial try_offer(
    const std::shared_ptr<const TaskArtifacts>& artifacts, std::vector<canonical::Tensor> state,
    const std::optional<contracts::Tolerance>& profiled, const engine::EngineOptions& options
) {
    Trial out = try_step(artifacts, std::move(state), options);
    try {
        out.is_misprofiled = profiled && !out.has_diverged && is_misprofiled(artifacts, *profiled, options);
    } catch (const Diverged&) {
        out.has_diverged = true;
    }
    return out;
}

std::uint64_t block_us(Chain& chain) {
    const std::uint64_t last = chain.height();
    const std::uint64_t first = last > kBlocksTimed ? last - kBlocksTimed : 1;
    if (last <= first) {
        return 0;
    }
    const std::uint64_t began = chain.block_time(Height{first});
    return (std::max(began, chain.block_time(Height{last})) - began) * 1'000 / (last - first);
}

}  // namespace

std::uint64_t clock_block_us(Chain& chain) {
    const std::uint64_t assumed = chain.params().block_ms * std::uint64_t{1'000};
    const std::uint64_t recent = block_us(chain);
    return recent == 0 ? assumed : std::min(recent, assumed);
}

std::uint64_t memory_of(const TaskArtifacts& artifacts, const engine::EngineOptions& options) {
    const program::Program& program = artifacts.program;
    const std::uint64_t state = size_bytes(program.state);
    const std::uint64_t training =
        std::max(step_bytes(program, options, false), kMemoryFactor * dispute::memory_of(program.init));
    const std::uint64_t dispute = step_bytes(program, options, true) + opened_bytes(program);
    const std::uint64_t leaves = canonical::chunk_count(artifacts.dataset->shape()) * sizeof(Hash256);
    return 2 * leaves + state + std::max(training, dispute);
}

std::uint64_t memory_max(const WorkerOptions& options) {
    const std::uint64_t here = options.memory_bytes != 0
                                   ? options.memory_bytes
                                   : system::available_memory().value_or(std::numeric_limits<std::uint64_t>::max());
    // A cell's machines are taken to be alike.
    const std::uint32_t machines = options.engine.cell ? options.engine.cell->count() : 1;
    return checked_mul(here, std::uint64_t{machines}).value_or(std::numeric_limits<std::uint64_t>::max());
}

Trial try_step(
    const std::shared_ptr<const TaskArtifacts>& artifacts, std::vector<canonical::Tensor> state,
    const engine::EngineOptions& options
) {
    Trial out;
    try {
        const auto started = Clock::now();
        if (state.empty()) {
            Runner init(artifacts, true, options);
            init.run(0);
            state = init.state();
        }
        static_cast<void>(artifacts::state_root_of(state));  // as every checkpoint takes
        out.start_us = since(started);
        Runner step(artifacts, false, options);
        for (int i = 0; i < kStepsMax && (i == 0 || since(started) < out.start_us + kTrialUs); ++i) {
            step.set_state(state);
            const auto begun = Clock::now();
            step.run(0);
            const float loss = step.loss();  // waits for the device
            const std::uint64_t spent = std::max<std::uint64_t>(1, since(begun));
            out.step_us = i == 0 ? spent : std::min(out.step_us, spent);
            out.has_diverged = out.has_diverged || !std::isfinite(loss);
        }
    } catch (const Diverged&) {
        out.has_diverged = true;
    }
    return out;
}

bool is_misprofiled(
    const std::shared_ptr<const TaskArtifacts>& artifacts, const contracts::Tolerance& tolerance,
    const engine::EngineOptions& options
) {
    const auto start = run_segment(artifacts, 0, {}, options, nullptr);
    const dispute::Measurement measured = measure_reference(artifacts, tolerance, start->state, options).measurement;
    const contracts::Distances& found = tolerance.reference.value();
    return found.parameters < dispute::relative_drift(measured.parameters) ||
           found.other < dispute::relative_drift(measured.other);
}

roles::OfferView OfferDesk::view_of(const contracts::Task& task, const TaskArtifacts& artifacts) {
    const contracts::Params& params = context_.chain.params();
    const std::uint64_t tax = checked_mul_div(task.spec.reward.grains, params.tax_bps, 10'000).value();
    const WorkerOptions& options = context_.options;
    return {
        .reward = Amount{task.spec.reward.grains - std::min(tax, task.spec.reward.grains)},
        // FEE-1: of one transaction that bids half more than the least, should something have to be sent outside the
        // lane of duties. A task that brings less is not worth a bond.
        .fees = Amount{contracts::fee_of(kTxGas, params.gas_price_min).grains * 3 / 2},
        .steps = task.spec.steps,
        .queued_us = queued_us(),
        .block_us = block_us(context_.chain),
        .training_blocks = task.spec.training_blocks,
        .memory_bytes = memory_of(artifacts, options.engine),
        .memory_bytes_max = memory_max(options),
        .cost_per_hour = Amount{options.cost_per_hour_grains},
        .least_profit_percent = options.least_profit_percent,
        .work = work_of(task.spec),
        .least_price = context_.intake != nullptr ? context_.intake->least_price() : 0};
}

/// Of the tasks in training, by the checkpoints that they still lack.
std::uint64_t OfferDesk::queued_us() const {
    std::uint64_t out = 0;
    for (const auto& [id, task] : context_.chain.tasks()) {
        const auto taken = estimates_.find(id);
        if (taken == estimates_.end() || task.state != contracts::TaskState::kTraining) {
            continue;
        }
        const std::uint64_t all = contracts::segment_count(task.spec) + 1ULL;
        const std::uint64_t left = all - std::min<std::uint64_t>(all, task.checkpoints);
        out += taken->second.duration_us / all * left;
    }
    return out;
}

bool OfferDesk::decline(const contracts::Task& task, roles::Offer why, const roles::OfferView& view) {
    declined_[task.id] = why;
    context_.reporter.event(
        {{"event", "declined"},
         {"task", to_hex(task.id.view())},
         {"reason", roles::to_string(why)},
         {"reward", std::to_string(view.reward.grains)},
         {"fees", std::to_string(view.fees.grains)},
         {"seconds", static_cast<double>(roles::estimated_us(view)) / 1e6},
         {"seconds_queued", static_cast<double>(view.queued_us) / 1e6},
         {"seconds_until_deadline", static_cast<double>(view.block_us) / 1e6 * view.training_blocks},
         {"memory_bytes", view.memory_bytes}}
    );
    return false;
}

std::optional<Trial> OfferDesk::trial_of(
    const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts,
    const std::vector<canonical::Tensor>& state
) {
    const auto is_over = [this](std::chrono::milliseconds patience) {
        return trying_->trial.wait_for(patience) == std::future_status::ready;
    };
    if (trying_ && trying_->task != task.id && is_over(std::chrono::milliseconds(0))) {
        trying_.reset();  // of a task that nobody asks about any more
    }
    if (!trying_) {
        // Of a public task everybody may dispute the reports, and has.
        const auto profiled = task.spec.privacy ? task.tolerance : std::nullopt;
        trying_ = Trying{
            .task = task.id,
            .trial = std::async(std::launch::async, try_offer, artifacts, state, profiled, context_.options.engine),
        };
        const auto alone_until = Clock::now() + kTrialAlone;
        while (!is_over(std::chrono::milliseconds(50)) && Clock::now() < alone_until && context_.interlude()) {
        }
    }
    if (trying_->task != task.id || !is_over(std::chrono::milliseconds(0))) {
        return std::nullopt;
    }
    std::future<Trial> done = std::move(trying_->trial);
    trying_.reset();
    return done.get();
}

bool OfferDesk::takes(
    const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts,
    const std::vector<canonical::Tensor>& state
) {
    if (estimates_.contains(task.id)) {
        return true;  // and the chain did not take the acceptance
    }
    roles::OfferView view = view_of(task, *artifacts);
    if (const roles::Offer offer = roles::decide_offer(view); offer != roles::Offer::kTake) {
        return decline(task, offer, view);  // no step of it is run
    }
    try {
        const auto trial = trial_of(task, artifacts, state);
        if (!trial) {
            return false;
        }
        view.start_us = trial->start_us;
        view.step_us = trial->step_us;
        view.has_diverged = trial->has_diverged;
        view.is_misprofiled = trial->is_misprofiled;
    } catch (const JournalError&) {
        throw;
    } catch (const std::exception& error) {
        context_.reporter.trouble("task " + to_hex(task.id.view()) + ": its first step cannot be run: " + error.what());
        declined_[task.id] = std::nullopt;
        return false;
    }
    if (const roles::Offer offer = roles::decide_offer(view); offer != roles::Offer::kTake) {
        return decline(task, offer, view);
    }
    estimates_[task.id] = {
        .duration_us = roles::estimated_us(view), .trial = {.start_us = view.start_us, .step_us = view.step_us}};
    return true;
}

bool OfferDesk::list_again() {
    const Chain::Listing listing = context_.chain.listing(contracts::Role::kSolver);
    contracts::Terms terms = listing.terms;
    terms.offers = contracts::fingerprints(context_.options.environment);
    const roles::ListingView view{
        .is_unlisted = listing.is_unlisted,
        .is_breaker_open = context_.journal.breaker().has_value(),
        .accepted_tasks = context_.journal.accepted_tasks(),
        .tasks_max = context_.options.tasks_max,
        .offers_another = terms.offers != listing.terms.offers && listing.free.grains != 0};
    if (!roles::registers_again(view) ||
        !context_.chain.send(contracts::RegisterTerms{
            .role = contracts::Role::kSolver, .terms = terms, .score = listing.score})) {
        return false;
    }
    context_.reporter.event({{"event", "listed"}, {"hardware_class", listing.terms.hardware_class}});
    return true;
}

roles::Measured OfferDesk::measured(const contracts::Task& task) const {
    const auto found = estimates_.find(task.id);
    if (found == estimates_.end()) {
        return {};
    }
    const Trial& trial = found->second.trial;
    const std::uint64_t steps = std::min<std::uint64_t>(task.spec.steps, task.spec.checkpoint_interval);
    return {.segment_us = checked_mul(trial.step_us, steps).value_or(kMaxU64), .start_us = trial.start_us};
}

void OfferDesk::forget(const contracts::TaskId& task) {
    declined_.erase(task);
    estimates_.erase(task);
}

}  // namespace assay::worker
