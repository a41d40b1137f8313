// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/demo.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <thread>

#include <core/system/file.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <tools/demo/baiter.hpp>
#include <tools/demo/cast.hpp>
#include <tools/demo/closing.hpp>
#include <tools/demo/crew.hpp>
#include <tools/demo/explorer_page.hpp>
#include <tools/demo/group.hpp>
#include <tools/demo/home_routers.hpp>
#include <tools/demo/hearing.hpp>
#include <tools/demo/hunt.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/outsider.hpp>
#include <tools/demo/options.hpp>
#include <tools/demo/own_command.hpp>
#include <tools/demo/patience.hpp>
#include <tools/demo/report.hpp>
#include <tools/demo/story.hpp>
#include <tools/demo/surroundings.hpp>
#include <tools/demo/temporary_home.hpp>
#include <tools/demo/workload.hpp>
#include <verifier/artifacts/server.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::demo {
namespace {

using contracts::Role;
using contracts::TaskState;
using nlohmann::json;

constexpr std::chrono::seconds kDemoStartPatience{60};
constexpr Amount kTreasury{5 * kGrainsPerAsy};  // so much that it bounds no jackpot

std::atomic<bool> interrupted{false};
void on_interrupt(int) { interrupted = true; }

/// The directory of executables that this one runs from.
std::filesystem::path own_directory() { return own_executable().parent_path(); }

class Demo {
  public:
    Demo(const DemoOptions& options, const std::filesystem::path& home)
        : options_(options),
          // One tile is not far enough from the replay to be told from drift.
          fraud_(options.fraud.value_or(options.tolerance ? Fraud::kSkip : Fraud::kTile)),
          tolerance_(options.tolerance || cast_of(fraud_).needs_tolerance),
          workload_(workload_of(options)),
          home_(home),
          narrator_(options.json),
          store_(home / "submitter" / "store"),
          network_(own_directory(), home / "network", options.seed),
          patience_(options, workload_, network_, narrator_),
          group_(options.accounts ? std::optional<GroupCast>(options) : std::nullopt),
          outsider_(make_outsider(fraud_, network_, narrator_)) {}
    ~Demo() { network_.stop(); }  // before what its processes talk to
    Demo(const Demo&) = delete;
    Demo& operator=(const Demo&) = delete;

    int run();

  private:
    contracts::Params params() const;
    void start();
    void hire(const std::string& name, Role role, Amount stake, const std::vector<std::string>& arguments);
    std::vector<std::string> with_options(std::vector<std::string> arguments) const;
    void hire_all();
    void hire_group();
    void hire_member(std::uint32_t rank);
    contracts::TaskSpec pack(Fraud fraud, contracts::Mode mode);
    void submit(Fraud fraud, const std::string& solver);
    void await_state(Act& act, TaskState wanted);
    void retire(const std::string& solver, Amount stake);
    bool follow_all();
    void hear_workers();
    void attack();
    bool is_over();
    Crew::Roots replay_all();
    program::Program first_program();
    json last_root();
    json finish();

    const DemoOptions& options_;
    const Fraud fraud_;  ///< of the only task, or of the one beside an honest one
    const bool tolerance_;
    const Workload& workload_;
    std::filesystem::path home_;
    Narrator narrator_;
    artifacts::ContentStore store_;
    std::unique_ptr<artifacts::ArtifactServer> artifact_server_;
    Network network_;
    Patience patience_;
    std::vector<Act> acts_;
    Supply before_;
    std::unique_ptr<Crew> crew_;            ///< nullptr where the solver is one machine
    std::optional<ReplayCells> replayers_;  ///< of the verifiers, where the solver is a cell that divides each step
    std::optional<GroupCast> group_;        ///< where several accounts train
    std::unique_ptr<Outsider> outsider_;    ///< nullptr where nobody attacks but parties to the task
    std::unique_ptr<Surroundings> surroundings_;  ///< nullptr where there is nothing but the actors
};

contracts::Params Demo::params() const {
    contracts::Params params = demo_params(fraud_, tolerance_);
    params.watchers_per_verdict = options_.watchers.value_or(params.watchers_per_verdict);
    for (std::uint32_t* span : {&params.commit_blocks, &params.attest_blocks, &params.dispute_clock_blocks}) {
        *span *= workload_.span_factor;
    }
    if (group_) {
        group_->adjust(params);
    }
    if (surroundings_) {
        surroundings_->adjust(params);
    }
    params.block_ms = block_interval_ms(fraud_) * (fraud_ == Fraud::kBait ? kBaitsHaste : 1);
    return params;
}

void Demo::start() {
    narrator_.heading("Assay demo: a chain, its solvers, verifiers and a whistleblower, on this machine");
    surroundings_ = make_surroundings(options_, own_directory(), home_, network_, narrator_);
    network_.add_actor("submitter", Amount{1'000 * kGrainsPerAsy});
    for (std::uint32_t rank = 0; rank < std::max(2U, group_ ? group_->members() : 0); ++rank) {
        network_.add_actor(GroupCast::name_of(rank), Amount{200 * kGrainsPerAsy});
    }
    for (const Player& player : judges_of(fraud_, tolerance_)) {
        network_.add_actor(player.name, Amount{200 * kGrainsPerAsy});
    }
    if (outsider_) {
        outsider_->add_actors();
    }
    network_.start_nodes(params(), block_interval_ms(fraud_), options_.validators);
    for (std::size_t i = 0; i < network_.node_count(); ++i) {
        narrator_.plain("  assayd runs at " + network_.node_url(i) + (options_.validators == 0 ? "" : ", a validator"));
    }
    narrator_.plain(announce_explorer(options_, network_.node_url(0)));
    narrator_.plain("  homes and logs are in " + home_.string());
    http::HttpServerOptions serving;
    serving.address = surroundings_ ? surroundings_->submitter_address() : serving.address;
    artifact_server_ = std::make_unique<artifacts::ArtifactServer>(serving, store_);
    before_ = count_supply(network_, acts_, outsider_.get());
    if (cast_of(fraud_).hunts_jackpots) {
        network_.pay_fees("submitter", kTreasury);
    } else if (fraud_ == Fraud::kFarm) {
        network_.pay_fees("submitter", Amount{2 * kTreasury.grains});  // some of it is won in the demo's own task
    }
}

void Demo::hire(const std::string& name, Role role, Amount stake, const std::vector<std::string>& arguments) {
    const auto result = network_.rpc().send(network_.key(name), contracts::Bond{.role = role, .amount = stake});
    if (result.code != 0) {
        throw std::runtime_error(name + " could not bond: " + result.error);
    }
    std::vector<std::string> all = arguments;
    const auto more = surroundings_ ? surroundings_->arguments_of(name) : std::vector<std::string>{};
    all.insert(all.end(), more.begin(), more.end());
    network_.start_worker(name, all);
    narrator_.plain("  " + name + " bonds " + format_amount(stake) + " as " + to_string(role));
}

contracts::TaskSpec Demo::pack(Fraud fraud, contracts::Mode mode) {
    if (options_.task) {
        contracts::TaskSpec spec = taskdir::pack_task(*options_.task, store_, artifact_server_->url());
        check_own_task(spec, mode);
        return spec;
    }
    const auto directory = home_ / "submitter" / ("task-" + to_string(fraud));
    std::filesystem::create_directories(directory);
    write_task(directory, workload_, options_, fraud, mode == contracts::Mode::kTolerance);
    const crypto::SecretKey key = network_.key("submitter");
    const taskdir::Sealing sealing{.key = key, .chain_id = network_.rpc().chain_id()};
    contracts::TaskSpec spec = taskdir::pack_task(directory, store_, artifact_server_->url(), sealing);
    return surroundings_ ? surroundings_->relocate(std::move(spec), store_) : spec;
}

void Demo::submit(Fraud fraud, const std::string& solver) {
    const std::string label = fraud == Fraud::kNone ? "honest task" : to_string(fraud) + " task";
    if (outsider_) {
        network_.await_workers(kDemoStartPatience);
        outsider_->prepare([&](contracts::Mode mode) { return pack(fraud, mode); });
    }
    const auto spec = pack(fraud, tolerance_ ? contracts::Mode::kTolerance : contracts::Mode::kExact);
    const crypto::SecretKey key = network_.key("submitter");
    const std::uint64_t nonce = network_.rpc()
                                    .call("account_get", {{"account", to_hex(key.account().view())}})
                                    .at("next_nonce")
                                    .get<std::uint64_t>();
    // Where gas is dear (cast.cpp), what the task imposes on others is too (DTY-3).
    constexpr Amount kMost{10 * kGrainsPerAsy};
    client::RpcClient& rpc = network_.rpc();
    const client::SigningBase base{
        .chain_id = rpc.chain_id(), .params = rpc.params(), .base_fee = rpc.base_fee(), .nonce = 0};
    const auto result = rpc.send(key, contracts::SubmitTask{.spec = spec}, base, kMost);
    if (result.code != 0) {
        throw std::runtime_error("the task was refused: " + result.error);
    }
    Act act;
    act.is_scored = spec.evaluation.has_value();
    act.fraud = fraud;
    act.solver = solver;
    act.tolerance = tolerance_;
    act.story = std::make_unique<Story>(label, contracts::task_id(key.account(), nonce), network_, narrator_);
    acts_.push_back(std::move(act));
    if (surroundings_) {
        surroundings_->submitted(acts_.back().story->task());
    }
}

/// Waits until the task has come to a state, or further.
void Demo::await_state(Act& act, TaskState wanted) {
    const auto is_awaited = [wanted](TaskState state) { return state < wanted || state == TaskState::kProfiling; };
    while (is_awaited(act.state = act.story->follow()) && !interrupted) {
        patience_.check(acts_);
        hear_workers();
        network_.check_alive();
        network_.rpc().wait_for_block(network_.rpc().height(), std::chrono::seconds(2));
    }
}

/// After its task, a solver would be drawn for the next one, which is the other solver's.
void Demo::retire(const std::string& solver, Amount stake) {
    const auto result =
        network_.rpc().send(network_.key(solver), contracts::Unbond{.role = Role::kSolver, .amount = stake});
    if (result.code != 0) {
        throw std::runtime_error(solver + " could not unbond: " + result.error);
    }
    narrator_.plain("  " + solver + " unbonds, so that another solver is drawn for the second task");
}

void Demo::hear_workers() {
    for (const WorkerEvent& heard : network_.take_events()) {
        hear(heard, acts_, narrator_);
        patience_.hear(heard, acts_);
        if (surroundings_) {
            surroundings_->hear(heard);
        }
        if (group_) {
            group_->hear(heard);
        }
    }
    if (const auto comer = group_ ? group_->take_comer() : std::nullopt) {
        hire_member(*comer);
    }
    if (const auto goer = group_ ? group_->take_goer() : std::nullopt) {
        network_.stop_worker(GroupCast::name_of(*goer));
        narrator_.plain("  " + GroupCast::name_of(*goer) + " stops");
    }
}

/// What outsiders do, and what happens to the demo's own workers.
void Demo::attack() {
    if (const auto task = surroundings_ ? network_.rpc().task(acts_.front().story->task()) : std::nullopt) {
        surroundings_->act(*task);
    }
    if (!outsider_ || is_terminal(acts_.back().state)) {
        return;
    }
    if (const auto task = network_.rpc().task(acts_.back().story->task())) {
        outsider_->act(*task);
    }
}

bool Demo::is_over() { return follow_all() && (!outsider_ || outsider_->is_over()); }

/// Follows every task; true when all have ended.
bool Demo::follow_all() {
    bool all_over = true;
    for (Act& act : acts_) {
        if (!is_terminal(act.state)) {
            act.state = act.story->follow();
        }
        all_over = all_over && is_terminal(act.state);
    }
    return all_over;
}

/// The segments of the first task that count, executed again.
Crew::Roots Demo::replay_all() {
    narrator_.heading("one process replays every segment");
    const contracts::TaskId id = acts_.front().story->task();
    const auto task = network_.rpc().task(id);
    return replay_alone(network_.worker_home("submitter"), network_.rpc_url(), id, contracts::segment_count(*task));
}

/// The program of the first task.
program::Program Demo::first_program() {
    const auto task = network_.rpc().task(acts_.front().story->task());
    const auto bytes = system::read_file(store_.path(task->spec.program_artifact.sha256));
    return program::decode_program(as_bytes(*bytes)).value();
}

/// The state root of the first task's last checkpoint; null if it has none.
json Demo::last_root() {
    const auto task = network_.rpc().task(acts_.front().story->task());
    const auto last =
        task->checkpoints == 0 ? std::nullopt : network_.rpc().checkpoint(task->id, task->checkpoints - 1);
    return last ? json(to_hex(last->state_root.view())) : json();
}

json Demo::finish() {
    // Disputes that were running when another one convicted the task end with it; nothing is left to wait for.
    hear_workers();
    json report = make_report(network_, acts_, outsider_.get(), before_);
    report["root"] = last_root();
    if (outsider_) {
        report[to_string(fraud_)] = outsider_->report();
    }
    if (crew_) {
        // The sessions of the solver's machines are over when the solver is, but it serves artifacts until then.
        const Crew::Roots roots = replay_all();
        network_.stop_worker(acts_.front().solver);
        crew_->stop();
        report.update(crew_->report(network_.worker_log(acts_.front().solver), first_program(), roots));
        if (replayers_) {
            report["verifier_cells"] = replayers_->report();
        }
    } else if (group_) {
        report.update(group_->report(network_, *acts_.front().story, replay_all(), first_program()));
        report["parallel"] = options_.parallel;
    }
    if (surroundings_) {
        surroundings_->complete(report, acts_.front());
    }
    report["wall_s"] = patience_.elapsed_s();
    hand_out(report, options_);
    return report;
}

std::vector<std::string> Demo::with_options(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--threads", "1", "--seed", std::to_string(options_.seed)});
    if (!workload_.memory.empty()) {
        arguments.insert(arguments.end(), {"--memory", workload_.memory});
    }
    return arguments;
}

/// Everybody, and the tasks: an honest one, a cheated one, or one beside the other.
void Demo::hire_all() {
    if (options_.workers > 1 && !group_ && !trains_replicas(options_.parallel)) {
        replayers_.emplace(own_directory(), home_, options_.seed);
    }
    for (const Player& player : judges_of(fraud_, tolerance_)) {
        std::vector<std::string> arguments = with_options(player.arguments);
        if (!player.informant.empty()) {
            arguments.insert(arguments.end(), {"--insider-of", network_.worker_home(player.informant).string()});
        }
        if (replayers_ && player.role == Role::kVerifier) {
            const auto more = replayers_->add(player.name);
            arguments.insert(arguments.end(), more.begin(), more.end());
        }
        hire(player.name, player.role, group_ ? group_->stake_of(player) : player.stake, arguments);
    }
    const char* cheat = cast_of(fraud_).solver;
    // Enough for one task at a time, so who is drawn is known, and for the draws that it declines (TASK-15).
    const Amount stake{demo_params(fraud_, tolerance_).solver_bond.grains + kGrainsPerAsy};
    if (group_) {
        hire_group();
    } else if (!options_.fraud || cheat == nullptr) {
        std::vector<std::string> solve{"solve"};
        if (options_.workers > 1) {
            crew_ = std::make_unique<Crew>(
                own_directory(), home_ / "cell", options_.workers, options_.parallel, options_.seed
            );
            const auto more = crew_->solver_arguments();
            solve.insert(solve.end(), more.begin(), more.end());
        }
        hire("solver-1", Role::kSolver, stake, with_options(solve));
        submit(cheat == nullptr ? fraud_ : Fraud::kNone, "solver-1");
        // So that the second task's solver cannot be drawn for it, and none is where one task at a time is trained.
        await_state(acts_.back(), workload_.is_alone ? TaskState::kSettled : TaskState::kTraining);
        if (workload_.is_alone && cheat != nullptr) {
            retire("solver-1", stake);
        }
    }
    if (cheat != nullptr) {
        std::vector<std::string> solve{"solve", "--dishonest", cheat};
        if (fraud_ == Fraud::kLate) {
            solve.emplace_back("--late-moves");
        }
        hire("solver-2", Role::kSolver, stake, with_options(solve));
        submit(fraud_, "solver-2");
    }
}

/// The lead is alone among the stakers when it is drawn; then its partners come, and sign.
void Demo::hire_group() {
    for (std::uint32_t rank = 0; rank < group_->members(); ++rank) {
        if (!group_->comes_late(rank)) {
            hire_member(rank);
        }
        if (rank == 0) {
            submit(Fraud::kNone, GroupCast::name_of(0));
            acts_.back().culprits = group_->culprits();
            await_state(acts_.back(), TaskState::kDrawn);
        }
    }
}

void Demo::hire_member(std::uint32_t rank) {
    const Amount stake{demo_params(fraud_, tolerance_).solver_bond.grains / 4 * 5 + kGrainsPerAsy};  // GRP-5
    const std::vector<std::string> arguments = group_->arguments_of(network_, rank, interval_of(workload_, options_));
    hire(GroupCast::name_of(rank), Role::kSolver, stake, with_options(arguments));
}

int Demo::run() {
    start();
    hire_all();
    while (!is_over() && !interrupted) {
        network_.check_alive();
        hear_workers();
        attack();
        network_.rpc().wait_for_block(network_.rpc().height(), std::chrono::seconds(2));
        patience_.check(acts_);
    }
    if (interrupted) {
        narrator_.plain("interrupted");
        return 130;
    }
    const json report = finish();
    print_table(network_, narrator_, acts_);
    if (report.contains("hunt")) {
        narrator_.plain("  " + describe_hunt(report.at("hunt")));
    }
    auto complaints = judge_report(report, acts_);
    if (outsider_) {
        const auto of_outsider = outsider_->judge(report.at(to_string(fraud_)));
        complaints.insert(complaints.end(), of_outsider.begin(), of_outsider.end());
    }
    if (crew_) {
        const auto of_crew = judge_crew(report);
        complaints.insert(complaints.end(), of_crew.begin(), of_crew.end());
        narrator_.plain(describe_crew(report));
    }
    if (surroundings_) {
        const auto of_surroundings = surroundings_->judge(report);
        complaints.insert(complaints.end(), of_surroundings.begin(), of_surroundings.end());
    }
    if (group_) {
        const auto of_group = group_->judge(report);
        complaints.insert(complaints.end(), of_group.begin(), of_group.end());
        narrator_.plain(describe_group(report));
    }
    const int status = close_story(report, complaints, acts_.front().refusals, options_, home_, narrator_);
    if (options_.keep_running) {
        run_on(network_, acts_, interrupted, narrator_);
    }
    return status;
}

}  // namespace

int run_demo(const DemoOptions& options) {
    interrupted = false;
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
    std::signal(SIGPIPE, SIG_IGN);
    check_options(options);
    if (options.nat) {
        HomeRouters::enter();
    }
    const DemoOptions chosen = as_played(options);
    TemporaryHome home(options.home);
    try {
        const int status = Demo(chosen, home.path()).run();
        if (status == 1) {
            home.keep();
            std::cerr << "demo: homes and logs are kept in " << home.path().string() << "\n";
        }
        return status;
    } catch (const NotHere&) {
        throw;
    } catch (...) {
        home.keep();
        std::cerr << "demo: homes and logs are kept in " << home.path().string() << "\n";
        throw;
    }
}

}  // namespace assay::demo
