// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/store_cast.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <verifier/stores/location.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr const char* kStoreSolver = "solver-1";
constexpr std::chrono::minutes kPlainPatience{5};

/// What the checkpoints of a task name besides the solver's server.
json locations_of(Network& network, const contracts::TaskId& task, std::uint32_t checkpoints) {
    json out = json::array();
    for (std::uint32_t i = 0; i < checkpoints; ++i) {
        const auto checkpoint = network.rpc().checkpoint(task, i);
        auto names = checkpoint ? stores::split_locations(checkpoint->location) : std::vector<std::string>{};
        names.erase(names.begin(), names.begin() + std::min<std::ptrdiff_t>(1, std::ssize(names)));
        out.push_back(names);
    }
    return out;
}

}  // namespace

StoreCast::StoreCast(
    const DemoOptions& options, const std::filesystem::path& bin, const std::filesystem::path& home, Network& network,
    Narrator& narrator
)
    : kind_(options.store.value_or(StoreKind::kDirectory)),
      network_(network),
      narrator_(narrator),
      server_(make_store_server(kind_, bin, home / "stores")),
      plain_(options, home / "plain") {
    if (options.chaos) {
        if (!server_->can_go()) {
            throw std::runtime_error(
                "--chaos switches the store off and on, and the node of ASSAY_IPFS_GATEWAY is not the demo's: unset "
                "ASSAY_IPFS_GATEWAY and ASSAY_IPFS_API, so that it starts one of its own, or give another --store"
            );
        }
        chaos_.emplace(network, narrator, *server_);
    }
}

void StoreCast::adjust(contracts::Params& params) const {
    if (chaos_) {
        Chaos::lengthen(params);
    }
}

contracts::TaskSpec StoreCast::relocate(contracts::TaskSpec spec, const artifacts::ContentStore& packed) const {
    const std::string location = server_->put_all(packed);
    narrator_.plain("  the task's artifacts are in " + location);
    spec.program_artifact.location = location;
    spec.dataset_artifact.location = location;
    if (spec.initial_artifact) {
        spec.initial_artifact->location = location;
    }
    if (spec.evaluation) {
        spec.evaluation->data.location = location;
    }
    spec.training_blocks *= chaos_ ? Chaos::kLonger : 1;
    return spec;
}

std::vector<std::string> StoreCast::arguments_of(const std::string& worker) {
    if (worker != kStoreSolver) {
        return {};
    }
    network_.set_environment(kStoreSolver, server_->environment());
    std::vector<std::string> out;
    for (const std::string& location : server_->locations()) {
        out.insert(out.end(), {"--publish", location});
    }
    return out;
}

void StoreCast::hear(const WorkerEvent& heard) {
    if (chaos_) {
        chaos_->hear(heard);
    } else if (heard.worker == kStoreSolver && heard.event.value("event", "") == "complete" && !solver_left_at_) {
        network_.kill_worker(kStoreSolver);  // at once: verifiers are about to be drawn
        solver_left_at_ = network_.rpc().height().value;
        narrator_.plain("  " + std::string(kStoreSolver) + " is switched off: what it made can be had from the store");
    }
}

void StoreCast::act(const contracts::Task& task) {
    if (chaos_) {
        chaos_->act(task);
    }
}

void StoreCast::complete(json& report, const Act& act) {
    const auto checkpoints = static_cast<std::uint32_t>(report.at("tasks").front().at("checkpoints").size());
    report["store"] = {
        {"kind", to_string(kind_)},
        {"wanted", server_->locations().size()},
        {"locations", locations_of(network_, act.story->task(), checkpoints)},
        {"solver_left_at", solver_left_at_ ? json(*solver_left_at_) : json()}};
    report["honest_lost"] = losses_of(act);
    if (chaos_) {
        report["chaos"] = chaos_->report();
    }
    narrator_.plain("  waiting for the plain demo of the same seed");
    report["plain_root"] = plain_.root(kPlainPatience);
    narrator_.plain(
        "  root " + report.at("root").get<std::string>().substr(0, 16) + "..., the plain demo's " +
        report.at("plain_root").get<std::string>().substr(0, 16) + "..."
    );
}

std::vector<std::string> StoreCast::judge(const json& report) const {
    std::vector<std::string> out;
    const auto expect = [&out](bool holds, const std::string& complaint) {
        if (!holds) {
            out.push_back(complaint);
        }
    };
    const json& store = report.at("store");
    expect(report.at("root") == report.at("plain_root"), "the root is not that of the plain demo of the same seed");
    expect(report.at("honest_lost") == 0, "somebody lost a stake, although nobody cheats");
    for (const json& names : store.at("locations")) {
        expect(names.size() == store.at("wanted"), "a checkpoint was posted that does not lie in every store");
    }
    if (report.contains("chaos")) {
        const auto of_chaos = Chaos::judge(report.at("chaos"));
        out.insert(out.end(), of_chaos.begin(), of_chaos.end());
    } else {
        expect(store.at("solver_left_at").is_number(), "the solver was there to the end");
    }
    return out;
}

}  // namespace assay::demo
