// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <core/dispute/work.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/links.hpp>
#include <tools/bench/measure.hpp>
#include <verifier/cell/lead.hpp>
#include <verifier/cell/member.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/taskdir/task_build.hpp>
#include <verifier/taskdir/task_file.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;
using PaceClock = std::chrono::steady_clock;
using PaceSeconds = std::chrono::duration<double>;

std::atomic<bool> is_rank_stopped{false};
void stop_rank(int /*signal*/) { is_rank_stopped = true; }

// Sleeps so that all that has been computed has taken as long as on a machine of the given speed. What took longer, in
// the computing itself or because a sleep did, is made up for by later sleeps, up to a limit. Sums of others that a
// rank adds up between two exchanges are no part of its work, and take their time.
class HeldSpeed final : public engine::Pace {
  public:
    explicit HeldSpeed(double multiply_adds_per_s) : speed_(multiply_adds_per_s) {}
    void begin() override {
        begin_ = PaceClock::now();
        has_computed_ = false;
    }
    void computed(const canonical::Node& node, double part) override {
        has_computed_ = true;
        owed_s_ += part * static_cast<double>(dispute::work_of(node)) / speed_;
        held_s_ += part * static_cast<double>(dispute::work_of(node)) / speed_;
    }
    void end() override {
        if (!has_computed_) {
            return;
        }
        const auto now = PaceClock::now();
        real_s_ += PaceSeconds(now - begin_).count();
        owed_s_ -= PaceSeconds(now - begin_).count();
        if (owed_s_ > kLeastSleep) {
            std::this_thread::sleep_for(PaceSeconds(owed_s_));
            owed_s_ -= PaceSeconds(PaceClock::now() - now).count();
        }
        if (owed_s_ < -kMadeUpFor) {
            late_s_ += -kMadeUpFor - owed_s_;
            owed_s_ = -kMadeUpFor;
        }
    }
    json to_json() const { return {{"held_s", held_s_}, {"real_s", real_s_}, {"late_s", late_s_}}; }

  private:
    static constexpr double kLeastSleep = 50e-6;
    static constexpr double kMadeUpFor = 0.02;

    double speed_;
    PaceClock::time_point begin_;
    bool has_computed_ = false;  // since then
    double owed_s_ = 0.0;
    double held_s_ = 0.0;  // what the machine of that speed would have computed for
    double real_s_ = 0.0;  // what this one did
    double late_s_ = 0.0;  // by which it was slower than the other, and that no sleep made up for
};

std::vector<canonical::Tensor> initial_state(const taskdir::BuiltTask& task, const engine::EngineOptions& options) {
    engine::Engine init(task.program.init, task.data.dataset, options);
    init.set_state(task.initial);
    if (!init.run_step({.seed = task.spec.seed, .step = 0, .dataset = task.program.dataset})) {
        throw std::runtime_error("the initialisation diverges");
    }
    return init.take_state();
}

json lead_cell(const CellRankOptions& options, const std::shared_ptr<HeldSpeed>& pace) {
    taskdir::Findings findings(taskdir::task_file_name(options.task));
    const auto task = taskdir::build_task(options.task, findings);
    findings.throw_if_wrong();
    const std::vector<canonical::Tensor> initial = initial_state(*task, {});
    cell::LeadOptions lead;
    lead.hosts = cell::read_hosts(options.hosts);
    lead.layout = options.plan;
    lead.engine.pace = pace;
    lead.directory = options.directory;
    lead.keep_steps = 1'000'000;  // a worker keeps its state from time to time, which would be timed too
    const auto machines = cell::make_lead(lead);
    const auto machine = machines->begin(task->program, task->data.dataset);
    if (machine == nullptr) {
        throw std::runtime_error("the cell cannot divide this program by the plan \"" + options.plan + "\"");
    }
    machine->set_state([&](std::size_t i) { return initial[i]; });
    json steps = json::array();
    float loss = 0.0F;
    double cpu_before_s = 0.0;
    for (std::uint64_t step = 0; step < options.warm_up + options.steps; ++step) {
        cpu_before_s = step == options.warm_up ? own_cpu_seconds() : cpu_before_s;
        const Stopwatch watch;
        if (!machine->run_step({.seed = task->spec.seed, .step = step, .dataset = task->program.dataset})) {
            throw std::runtime_error("the model diverges");
        }
        loss = machine->loss();
        if (step >= options.warm_up) {
            steps.push_back(watch.seconds());
        }
    }
    return {
        {"steps_s", std::move(steps)},
        {"loss", loss},
        {"computing", pace->to_json()},
        {"cpu_s", own_cpu_seconds() - cpu_before_s}};
}

}  // namespace

json run_cell_rank(const CellRankOptions& options) {
    const auto pace = std::make_shared<HeldSpeed>(options.multiply_adds_per_s);
    if (options.name.empty()) {
        return lead_cell(options, pace);
    }
    std::signal(SIGTERM, stop_rank);
    cell::MemberOptions member{.hosts = cell::read_hosts(options.hosts), .name = options.name, .engine = {}};
    member.engine.pace = pace;
    cell::run_member(member, is_rank_stopped);
    return {{"computing", pace->to_json()}};
}

}  // namespace assay::bench
