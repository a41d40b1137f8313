// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/runner.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/worker/output_observers.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::worker {

Diverged::Diverged(std::uint64_t step)
    : std::runtime_error("the state is not finite after step " + std::to_string(step)), step_(step) {}

Runner::Runner(
    std::shared_ptr<const TaskArtifacts> artifacts, bool initialisation, const engine::EngineOptions& options,
    std::shared_ptr<const Alteration> alteration
)
    : artifacts_(std::move(artifacts)),
      initialisation_(initialisation),
      options_(options),
      alteration_(std::move(alteration)) {
    if (options_.cell && !initialisation_ && !alteration_) {
        cell_ = options_.cell->begin(artifacts_->program, artifacts_->dataset);
    }
    if (!cell_) {
        use_engine();
    }
}

// With the state that the cell has, if it was the cell's until now.
void Runner::use_engine() {
    engine_.emplace(graph(), artifacts_->dataset, options_);
    if (!initialisation_) {
        engine_->keep(artifacts_->program.loss_node);
    } else if (!artifacts_->initial.empty()) {
        engine_->set_state(artifacts_->initial);
    }
    if (cell_) {
        engine_->set_state(state_size(), [&](std::size_t i) { return cell_->tensor(i); });
        cell_.reset();
    }
}

void Runner::set_state(std::span<const canonical::Tensor> state) {
    set_state(state.size(), [&](std::size_t i) { return state[i]; });
}

void Runner::set_state(std::size_t count, const std::function<canonical::Tensor(std::size_t)>& tensor) {
    if (cell_) {
        cell_->set_state(tensor);
    } else {
        engine_->set_state(count, tensor);
    }
}

std::size_t Runner::state_size() const { return cell_ ? artifacts_->program.state.size() : engine_->state_size(); }

canonical::Tensor Runner::tensor(std::size_t index) const {
    return cell_ ? cell_->tensor(index) : engine_->tensor(index);
}

std::vector<canonical::Tensor> Runner::state() const {
    if (!cell_) {
        return engine_->state();
    }
    std::vector<canonical::Tensor> out;
    for (std::size_t i = 0; i < state_size(); ++i) {
        out.push_back(cell_->tensor(i));
    }
    return out;
}

std::vector<canonical::Tensor> Runner::take_state() { return cell_ ? state() : engine_->take_state(); }

const canonical::Graph& Runner::graph() const {
    return initialisation_ ? artifacts_->program.init : artifacts_->program.step;
}

void Runner::run(std::uint64_t step, engine::OutputObserver* observer) {
    engine::Tamper tamper;
    if (alteration_ && alteration_->touches(initialisation_, step)) {
        tamper = alteration_->tamper(initialisation_, step, state_before());
    }
    const canonical::StepContext context{
        .seed = artifacts_->spec.seed, .step = step, .dataset = artifacts_->program.dataset};
    if (cell_ && observer != nullptr) {
        use_engine();
    }
    const bool is_next =
        cell_ ? cell_->run_step(context).has_value() : engine_->run_step(context, tamper, observer).has_value();
    if (!is_next) {
        throw Diverged(step);
    }
}

std::vector<canonical::Tensor> Runner::state_before() const { return initialisation_ ? artifacts_->initial : state(); }

std::vector<canonical::Tensor> Runner::state_after_divergence(std::uint64_t step) {
    const std::vector<canonical::Input>& next = graph().back().inputs;
    std::set<std::uint32_t> wanted;
    for (const canonical::Input& input : next) {
        if (input.source == canonical::Source::kNode) {
            wanted.insert(input.index);
        }
    }
    CollectedOutputs collected(graph(), wanted);
    run(step, &collected);
    if (!collected.is_done()) {
        throw std::runtime_error("the engine did not compute all of the state after step " + std::to_string(step));
    }
    std::vector<canonical::Tensor> after;
    for (const canonical::Input& input : next) {
        const bool is_old = input.source == canonical::Source::kState;
        after.push_back(is_old ? tensor(input.index) : collected.outputs().at(input.index));
    }
    return after;
}

Hash256 Runner::state_root() const {
    return artifacts::state_root_of(state_size(), [&](std::size_t i) { return tensor(i); });
}

float Runner::loss() const { return cell_ ? cell_->loss() : engine_->scalar(artifacts_->program.loss_node); }

Hash256 SegmentEnd::root(std::optional<std::uint64_t> claimed) const {
    const Hash256 state_root = artifacts::state_root_of(state);
    return diverged_at && diverged_at != claimed ? dispute::diverged_root(*diverged_at, state_root) : state_root;
}

std::optional<SegmentEnd> run_segment(
    const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t segment, std::vector<canonical::Tensor> before,
    const engine::EngineOptions& options, const std::shared_ptr<const Alteration>& alteration, const Progress& progress,
    std::optional<std::uint64_t> last_step, std::span<const std::uint32_t> probes
) {
    Runner runner(artifacts, segment == 0, options, alteration);
    const std::uint64_t first = segment == 0 ? 0 : artifacts->first_step(segment);
    const std::uint64_t whole = segment == 0 ? 1 : artifacts->step_count(segment);
    const std::uint64_t steps = last_step ? std::min(whole, *last_step - first + 1) : whole;
    if (segment != 0) {
        runner.set_state(before);
    }
    before = {};
    SegmentEnd end;
    for (std::uint64_t i = 0; i < steps; ++i) {
        try {
            runner.run(first + i);
        } catch (const Diverged&) {
            end.state = runner.state_after_divergence(first + i);
            end.diverged_at = first + i;
            return end;
        }
        if (std::find(probes.begin(), probes.end(), i + 1) != probes.end()) {
            end.probe_roots[static_cast<std::uint32_t>(i + 1)] = runner.state_root();
        }
        if (progress && !progress(i + 1, steps)) {
            return std::nullopt;
        }
    }
    end.state = runner.take_state();
    return end;
}

}  // namespace assay::worker
