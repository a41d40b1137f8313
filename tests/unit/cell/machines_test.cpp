// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

#include <client/http/http.hpp>
#include <core/system/process.hpp>
#include <tests/unit/engine/small_models.hpp>
#include <verifier/cell/lead.hpp>
#include <verifier/engine/engine.hpp>

using namespace assay;
using namespace assay::test;
using canonical::Tensor;

namespace {

// A lead in this process and members in others.
class Machines {
  public:
    Machines(const std::string& layout, std::uint32_t members)
        : home_(std::filesystem::temp_directory_path() / ("cell-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(home_);
        const auto nothing = [](const http::HttpRequest&) { return http::HttpResponse{}; };
        const std::uint16_t port = http::HttpServer({}, http::HttpServer::Handler(nothing)).port();
        std::ofstream file(home_ / "hosts.toml");
        file << "lead = \"127.0.0.1:" << port << "\"\nsecret = \"sixteen letters!\"\n";
        for (std::uint32_t i = 0; i < members; ++i) {
            file << "[[members]]\nname = \"m" << i << "\"\naddress = \"127.0.0.1\"\n";
        }
        file.close();
        options_.hosts = cell::read_hosts(home_ / "hosts.toml");
        options_.layout = layout;
        options_.directory = home_;
        options_.wait = std::chrono::milliseconds(4'000);
        options_.first_wait = std::chrono::milliseconds(8'000);
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
                std::string(ASSAY_BIN) + "/assay-worker", "member", "--cell", (home_ / "hosts.toml").string(), "--name",
                name},
            home_ / (name + ".log"), [](const std::string&) {}
        );
    }
    void kill(const std::string& name) {
        members_.at(name)->kill();
        members_.erase(name);
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

std::vector<Tensor> state_of(engine::StepMachine& machine, const SmallModel& model) {
    std::vector<Tensor> out;
    for (std::size_t i = 0; i < model.program.state.size(); ++i) {
        out.push_back(machine.tensor(i));
    }
    return out;
}

}  // namespace

TEST_CASE("NUM-1: a cell that loses ranks, and is joined by others, has one machine's state after every step") {
    const SmallModel model = small_char_model(program::OptimizerKind::kAdamW);
    engine::Engine alone(model.program.step, model.rows, {});
    alone.keep(model.program.loss_node);
    const std::vector<Tensor> initial = model.initial();
    alone.set_state(initial);

    Machines machines("zero2", 3);
    for (const char* name : {"m0", "m1", "m2"}) {
        machines.start(name);
    }
    const auto machine = machines.begin(model);
    REQUIRE(machine != nullptr);
    CHECK(machines.begin(model) == nullptr);  // one at a time
    machine->set_state([&](std::size_t i) { return initial[i]; });
    for (std::uint64_t step = 0; step < 14; ++step) {
        CAPTURE(step);
        if (step == 2 || step == 5) {
            machines.kill(step == 2 ? "m1" : "m2");
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
}

TEST_CASE("a lead whose members never come works alone") {
    const SmallModel model = small_char_model(program::OptimizerKind::kAdamW);
    engine::Engine alone(model.program.step, model.rows, {});
    const std::vector<Tensor> initial = model.initial();
    alone.set_state(initial);
    Machines machines("dp", 1);
    const auto machine = machines.begin(model);
    REQUIRE(machine != nullptr);
    machine->set_state([&](std::size_t i) { return initial[i]; });
    REQUIRE(alone.run_step(model.context(0)));
    REQUIRE(machine->run_step(model.context(0)));
    CHECK(state_of(*machine, model) == alone.state());
}

TEST_CASE("a layout that is none is refused when the lead is made") {
    CHECK_THROWS_WITH(Machines("dp3", 1), doctest::Contains("cannot be made for 2 machines"));
}
