// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/steps.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include <malloc.h>

#include <verifier/engine/fused/planning.hpp>

namespace assay::engine::fused {

using canonical::Graph;
using canonical::Tensor;

namespace {

constexpr std::size_t kPlansKept = 64;
constexpr std::size_t kTrimBytes = std::size_t{64} << 20U;

std::uint64_t in_mib(std::uint64_t bytes) { return (bytes + (1U << 20U) - 1) >> 20U; }

Executor::Profile sum_of(Executor::Profile profile, const Executor& executor) {
    const Executor::Profile newest = executor.profile();
    std::transform(newest.begin(), newest.end(), profile.begin(), profile.begin(), std::plus<>());
    return profile;
}

}  // namespace

void give_back_free_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

Steps::Steps(const Graph& graph, std::shared_ptr<const canonical::RowSource> rows, const EngineOptions& options)
    : graph_(graph), rows_(std::move(rows)), options_(options), kinds_(graph) {}

ThreadPool& Steps::pool() {
    if (pool_ == nullptr) {
        pool_ = std::make_unique<ThreadPool>(options_.threads);
    }
    return *pool_;
}

std::optional<Steps::Planned> Steps::plan(const program::StepKind& kind, std::size_t state_size, bool is_observed)
    const {
    const auto types = steady_state(graph_);
    if (!types || state_size > types->size()) {
        return std::nullopt;
    }
    program::Specialised steps{.graph = {}, .kept = {kept_.begin(), kept_.end()}};
    const bool is_special = !is_observed && kinds_.has_choices();
    if (is_special) {
        steps = kinds_.graph_of(graph_, kind, steps.kept);
    }
    auto plan = make_plan(
        {.graph = is_special ? steps.graph : graph_,
         .state = *types,
         .kept = steps.kept,
         .threads = options_.threads,
         .is_observed = is_observed},
        options_.memory_bytes
    );
    if (!plan) {
        return std::nullopt;
    }
    if (!is_observed && options_.memory_bytes != 0 && plan->memory_bytes() > options_.memory_bytes) {
        throw std::runtime_error(
            "engine: a step takes at least " + std::to_string(in_mib(plan->memory_bytes())) +
            " MiB, and the limit is " + std::to_string(in_mib(options_.memory_bytes)) + " MiB"
        );
    }
    return Planned{*std::move(plan), std::move(steps.kept)};
}

// One tensor after another, so that the state is not there twice.
void Steps::replace(Planned planned, std::size_t state_size) {
    auto next = std::make_unique<Executor>(std::move(planned.plan), rows_, pool());
    next->set_profiling(is_profiled_);
    if (executor_ != nullptr) {
        std::size_t moved_bytes = 0;
        for (std::size_t i = 0; i < state_size; ++i) {
            const Tensor tensor = executor_->take_state(i);
            next->set_state(i, tensor);
            moved_bytes += tensor.data.size();
            if (moved_bytes > kTrimBytes) {
                give_back_free_memory();
                moved_bytes = 0;
            }
        }
    }
    release();
    executor_ = std::move(next);
    kept_places_ = std::move(planned.kept);
}

// Planned when the first step of a kind is run: what is kept is known by then.
bool Steps::prepare(std::uint64_t step, std::size_t state_size, bool is_observed) {
    if (!is_possible_) {
        return false;
    }
    program::StepKind kind = is_observed ? program::StepKind{} : kinds_.kind_of(step);
    if (executor_ != nullptr && is_observed_ == is_observed && kind_ == kind) {
        return true;
    }
    const auto known = is_observed ? plans_.end() : plans_.find(kind);
    std::optional<Planned> planned = known != plans_.end() ? known->second : plan(kind, state_size, is_observed);
    is_possible_ = planned.has_value();
    if (is_possible_) {
        if (!is_observed && kinds_.has_choices() && plans_.size() < kPlansKept) {
            plans_.emplace(kind, *planned);
        }
        replace(*std::move(planned), state_size);
        is_observed_ = is_observed;
        kind_ = std::move(kind);
    }
    return is_possible_;
}

void Steps::release() {
    if (is_profiled_ && executor_ != nullptr) {
        profile_ = sum_of(profile_, *executor_);
    }
    executor_.reset();
}

std::map<std::uint32_t, Tensor> Steps::kept() const {
    std::map<std::uint32_t, Tensor> out;
    std::size_t place = 0;
    for (const std::uint32_t node : kept_) {
        out.emplace(node, executor_->kept(kept_places_[place++]));
    }
    return out;
}

void Steps::start_profile() {
    is_profiled_ = true;
    if (executor_ != nullptr) {
        executor_->set_profiling(true);
    }
}

Executor::Profile Steps::profile() const { return executor_ == nullptr ? profile_ : sum_of(profile_, *executor_); }

}  // namespace assay::engine::fused
