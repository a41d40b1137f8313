// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

#include <client/http/http.hpp>
#include <core/dispute/work.hpp>
#include <core/system/process.hpp>
#include <tests/unit/engine/small_models.hpp>
#include <tests/unit/folders.hpp>
#include <verifier/cell/lead.hpp>
#include <verifier/engine/cell/recomputing.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/plan/layout.hpp>
#include <verifier/plan/plan.hpp>

using namespace assay;
using namespace assay::test;
using canonical::Tensor;

namespace {

// A lead in this process and members in others.
class Machines {
  public:
    Machines(
        const std::string& layout, std::uint32_t members, engine::EngineOptions engine = {},
        std::chrono::milliseconds first_wait = std::chrono::seconds(8), const std::string& links = "tls"
    )
        : home_(std::filesystem::temp_directory_path() / ("cell-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(home_);
        const auto nothing = [](const http::HttpRequest&) { return http::HttpResponse{}; };
        const std::uint16_t port = http::HttpServer({}, http::HttpServer::Handler(nothing)).port();
        std::ofstream file(home_ / "hosts.toml");
        file << "lead = \"127.0.0.1:" << port << "\"\nsecret = \"sixteen letters!\"\nlinks = \"" << links << "\"\n";
        for (std::uint32_t i = 0; i < members; ++i) {
            file << "[[members]]\nname = \"m" << i << "\"\naddress = \"127.0.0.1\"\n";
        }
        file.close();
        options_.hosts = cell::read_hosts(home_ / "hosts.toml");
        options_.layout = layout;
        options_.engine = std::move(engine);
        options_.directory = home_;
        options_.wait = std::chrono::milliseconds(4'000);
        options_.first_wait = first_wait;
        options_.keep_steps = 3;
        lead_ = cell::make_lead(options_);
    }
    ~Machines() {
        members_.clear();
        std::filesystem::remove_all(home_);
    }
    Machines(const Machines&) = delete;
    Machines& operator=(const Machines&) = delete;

    void start(const std::string& name) {
        members_[name] = std::make_unique<system::Process>(
            name,
            std::vector<std::string>{
                folders::build() + "/bin/assay-worker", "member", "--cell", (home_ / "hosts.toml").string(), "--name",
                name},
            home_ / (name + ".log"), [](const std::string&) {}
        );
    }
    void kill(const std::string& name) {
        members_.at(name)->kill();
        members_.erase(name);
    }
    // Of the last session that the member has logged, which has unequal parts; looks for it for a while.
    std::optional<plan::Layout> shared_layout(const std::string& name) const {
        for (int attempt = 0; attempt < 100; ++attempt) {
            const auto layout = last_layout(name);
            if (layout && layout->has_shares()) {
                return layout;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        return std::nullopt;
    }
    std::optional<plan::Layout> last_layout(const std::string& name) const {
        const auto text = last_of(name, "layout");
        return text ? plan::decode_layout(*text, 2) : std::nullopt;
    }
    // Whether it has logged a session of so many ranks.
    bool has_begun(const std::string& name, std::uint32_t ranks) const {
        std::ifstream log(home_ / (name + ".log"));
        for (std::string line; std::getline(log, line);) {
            if (line.find("a session begins") != std::string::npos &&
                line.ends_with("ranks=" + std::to_string(ranks))) {
                return true;
            }
        }
        return false;
    }
    // What it has logged under this key of its last session.
    std::optional<std::string> last_of(const std::string& name, const std::string& key) const {
        std::ifstream log(home_ / (name + ".log"));
        std::optional<std::string> out;
        for (std::string line; std::getline(log, line);) {
            const std::size_t at = line.find(" " + key + "=");
            if (line.find("the session is over") != std::string::npos && at != std::string::npos) {
                const std::string text = line.substr(at + key.size() + 2);
                out = text.substr(0, text.find(' '));
            }
        }
        return out;
    }
    std::unique_ptr<engine::StepMachine> begin(const SmallModel& model) {
        return lead_->begin(model.program, model.rows);
    }

  private:
    std::filesystem::path home_;
    cell::LeadOptions options_;
    std::shared_ptr<engine::StepMachines> lead_;
    std::map<std::string, std::unique_ptr<system::Process>> members_;
};

// A machine that is some times slower than it could be.
class Slow final : public engine::Pace {
  public:
    void begin() override {}
    void computed(const canonical::Node&, double part) override {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(0.5 * part));
    }
    void end() override {}
};

// A machine of so few multiply-adds in a second, of which it counts those that it computes.
class Counting final : public engine::Pace {
  public:
    void begin() override {}
    void computed(const canonical::Node& node, double part) override {
        const double computed = part * static_cast<double>(dispute::work_of(node));
        multiply_adds_ += computed;
        std::this_thread::sleep_for(std::chrono::duration<double>(computed / kPerSecond));
    }
    void end() override {}
    double take() { return std::exchange(multiply_adds_, 0.0); }

  private:
    static constexpr double kPerSecond = 2e6;
    double multiply_adds_ = 0.0;
};

// For a member that has to be there when the first step begins.
constexpr std::chrono::milliseconds kPatience{120'000};

std::vector<Tensor> state_of(engine::StepMachine& machine, const SmallModel& model) {
    std::vector<Tensor> out;
    for (std::size_t i = 0; i < model.program.state.size(); ++i) {
        out.push_back(machine.tensor(i));
    }
    return out;
}

// The same steps on the machine and on one engine, from the initial state on.
void check_steps(engine::StepMachine& machine, const SmallModel& model, std::uint64_t steps) {
    engine::Engine alone(model.program.step, model.rows, {});
    alone.keep(model.program.loss_node);
    const std::vector<Tensor> initial = model.initial();
    alone.set_state(initial);
    machine.set_state([&](std::size_t i) { return initial[i]; });
    for (std::uint64_t step = 0; step < steps; ++step) {
        REQUIRE(alone.run_step(model.context(step)));
        REQUIRE(machine.run_step(model.context(step)));
        CHECK(machine.loss() == alone.scalar(model.program.loss_node));
    }
    CHECK(state_of(machine, model) == alone.state());
}

// A rank dies before a step, another in the middle of one or soon after, and later one joins.
void check_losses(const SmallModel& model) {
    engine::Engine alone(model.program.step, model.rows, {});
    alone.keep(model.program.loss_node);
    const std::vector<Tensor> initial = model.initial();
    alone.set_state(initial);

    Machines machines("zero2", 3, {}, std::chrono::seconds(120));  // all of them come
    for (const char* name : {"m0", "m1", "m2"}) {
        machines.start(name);
    }
    const auto machine = machines.begin(model);
    REQUIRE(machine != nullptr);
    CHECK(machines.begin(model) == nullptr);  // one at a time
    machine->set_state([&](std::size_t i) { return initial[i]; });
    for (std::uint64_t step = 0; step < 14; ++step) {
        CAPTURE(step);
        std::jthread killer;
        if (step == 2) {
            machines.kill("m1");
        }
        if (step == 5) {
            killer = std::jthread([&] { machines.kill("m2"); });
        }
        if (step == 7) {
            machines.start("m1");
            std::this_thread::sleep_for(std::chrono::seconds(3));  // until it waits
        }
        REQUIRE(alone.run_step(model.context(step)));
        REQUIRE(machine->run_step(model.context(step)));
        CHECK(machine->loss() == alone.scalar(model.program.loss_node));
        CHECK(state_of(*machine, model) == alone.state());
    }
    CHECK(machines.has_begun("m0", 4));
}

}  // namespace

// The test command has it for the Llama; the long tier for each model.
TEST_CASE("NUM-1: a cell that loses ranks, and is joined by others, has one machine's state after every step") {
    std::vector<SmallModel> models = clipped_models();
    if (std::getenv("ASSAY_ALL_MODELS") == nullptr) {
        models.erase(models.begin(), models.end() - 1);
    }
    for (const SmallModel& model : models) {
        CAPTURE(model.name);
        check_losses(model);
    }
}

TEST_CASE("NUM-1: a cell that divides its batches by measured speed has one machine's state, and gives a slow one less"
) {
    const SmallModel model = small_char_model(program::OptimizerKind::kAdamW);
    engine::EngineOptions slow;
    slow.pace = std::make_shared<Slow>();
    Machines machines("dp:auto", 1, slow, kPatience);
    machines.start("m0");
    auto machine = machines.begin(model);
    REQUIRE(machine != nullptr);
    check_steps(*machine, model, 8);
    machine.reset();
    const auto layout = machines.shared_layout("m0");
    REQUIRE(layout.has_value());
    CHECK(layout->shares[0] < layout->shares[1]);  // the lead is the slow one
}

TEST_CASE(
    "NUM-1: a cell that divides stages and columns by measured speed has one machine's state, and a slow one less work"
) {
    const std::vector<SmallModel> models = small_models(program::kXg21);
    const auto model =
        std::find_if(models.begin(), models.end(), [](const SmallModel& each) { return each.name == "mlp"; });
    REQUIRE(model != models.end());
    for (const std::string name : {"pp+1f1b3", "tp"}) {
        CAPTURE(name);
        const auto counting = std::make_shared<Counting>();
        engine::EngineOptions slow;
        slow.pace = counting;
        Machines machines(name + ":auto", 1, slow, kPatience);
        machines.start("m0");
        auto machine = machines.begin(*model);
        REQUIRE(machine != nullptr);
        const std::vector<Tensor> initial = model->initial();
        engine::Engine alone(model->program.step, model->rows, {});
        alone.set_state(initial);
        machine->set_state([&](std::size_t i) { return initial[i]; });
        std::vector<double> counted;
        for (std::uint64_t step = 0; step < 5; ++step) {
            counting->take();
            REQUIRE(alone.run_step(model->context(step)));
            REQUIRE(machine->run_step(model->context(step)));
            counted.push_back(counting->take());
        }
        CHECK(state_of(*machine, *model) == alone.state());
        machine.reset();
        const auto layout = machines.shared_layout("m0");
        REQUIRE(layout.has_value());
        const std::vector<std::uint32_t>& shares = name == "tp" ? layout->tensor_shares : layout->stage_shares;
        REQUIRE(shares.size() == 2);
        CHECK(shares[0] < shares[1]);  // the lead is the slow one
        CHECK(counted.back() < 0.8 * counted.front());
        const plan::Plan plan = plan::make_plan(model->program, *layout);
        CHECK(
            counted.back() ==
            doctest::Approx(static_cast<double>(plan::work_of(plan, model->program.step, 0))).epsilon(0.02)
        );
    }
}

TEST_CASE("NUM-1: a cell with a limit of memory computes outputs a second time, and has one machine's state") {
    const std::vector<SmallModel> models = small_models(program::kXg21);
    // Ranks without stages may put off more than all values of so small a model.
    const plan::Layout layout = *plan::decode_layout("pp", 2);
    const auto model = std::find_if(models.begin(), models.end(), [&](const SmallModel& each) {
        return engine::recomputing(each.program, layout, 1).step.size() != each.program.step.size();
    });
    REQUIRE(model != models.end());
    std::vector<std::string> nodes;
    for (const std::uint64_t memory : {0U, 1U}) {
        engine::EngineOptions options;
        options.memory_bytes = memory;
        Machines machines("pp", 1, options);
        machines.start("m0");
        auto machine = machines.begin(*model);
        REQUIRE(machine != nullptr);
        check_steps(*machine, *model, 2);
        machine.reset();
        std::this_thread::sleep_for(std::chrono::seconds(1));  // until the member has logged it
        nodes.push_back(machines.last_of("m0", "nodes").value_or("none"));
    }
    CHECK(nodes[0] == std::to_string(model->program.step.size()));
    CHECK(nodes[1] != nodes[0]);
}

TEST_CASE("NUM-1: a cell with plain links has one machine's state") {
    const SmallModel model = small_char_model(program::OptimizerKind::kAdamW);
    Machines machines("zero1", 2, {}, kPatience, "plain");
    machines.start("m0");
    machines.start("m1");
    const auto machine = machines.begin(model);
    REQUIRE(machine != nullptr);
    check_steps(*machine, model, 2);
    CHECK(machines.has_begun("m0", 3));
}

TEST_CASE("a lead whose members never come works alone") {
    const SmallModel model = small_char_model(program::OptimizerKind::kAdamW);
    Machines machines("dp", 1);
    const auto machine = machines.begin(model);
    REQUIRE(machine != nullptr);
    check_steps(*machine, model, 1);
}

TEST_CASE("a layout that is none is refused when the lead is made") {
    CHECK_THROWS_WITH(Machines("dp3", 1), doctest::Contains("cannot be made for 2 machines"));
}
