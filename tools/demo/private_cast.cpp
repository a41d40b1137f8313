// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/private_cast.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include <contracts/privacy/actions/privacy_actions.hpp>
#include <core/keys/key_directory.hpp>
#include <core/keys/keystore.hpp>
#include <core/sealed/task_key.hpp>
#include <tools/demo/cast.hpp>
#include <tools/demo/own_command.hpp>
#include <verifier/artifacts/task_secrets.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr const char* kOwner = "submitter";
constexpr std::chrono::minutes kPrivatePatience{5};
constexpr std::chrono::seconds kSharingPatience{60};
/// A key file of the demo's need not resist anybody: its password is known.
constexpr crypto::KeystoreCost kDemoCost{.n = 1U << 10U, .r = 8, .p = 1};

}  // namespace

PrivateCast::PrivateCast(
    const DemoOptions& options, const std::filesystem::path& home, Network& network, Narrator& narrator
)
    : fraud_(options.fraud.value_or(Fraud::kNone)),
      in_tolerance_(options.tolerance),
      home_(home),
      network_(network),
      narrator_(narrator) {
    if (fraud_ == Fraud::kNone) {
        plain_.emplace(options, home / "plain");
    }
    std::filesystem::create_directories(home / kOwner);
    crypto::KeyDirectory(home / kOwner).add(kOwner, crypto::seal_key(network.key(kOwner), kDemoPassword, kDemoCost));
}

void PrivateCast::adjust(contracts::Params& params) const {
    // A busy machine takes its time to prove the chain, and who shares nothing makes everybody wait for all of it.
    params.share_blocks = fraud_ == Fraud::kKeysWithheld ? 150 : 600;
    // Likewise to open what it fetches. What ends as soon as everybody has answered may be long.
    params.accept_blocks = 600;
    params.commit_blocks = 1'500;
    params.publish_blocks = 500;
    params.disclose_blocks = 300;
    // All segments, so that somebody is drawn for what is sealed wrongly; two verifiers can answer for all of them.
    params.segments_checked = 16;
    params.segments_checked_max = 16;
    params.verifier_bond = Amount{2 * kGrainsPerAsy};
}

void PrivateCast::submitted(const contracts::TaskId& task) {
    if (fraud_ == Fraud::kWrongShares) {
        hire_another();
    } else {
        share(task);
    }
}

/// A solver that can be drawn after the first one.
void PrivateCast::hire_another() {
    constexpr const char* kAnother = "solver-2";
    const Amount stake{demo_params(fraud_, false).solver_bond.grains + kGrainsPerAsy};
    const auto result =
        network_.rpc().send(network_.key(kAnother), contracts::Bond{.role = contracts::Role::kSolver, .amount = stake});
    if (result.code != 0) {
        throw std::runtime_error(std::string(kAnother) + " could not bond: " + result.error);
    }
    network_.start_worker(kAnother, {"solve", "--threads", "1"});
    narrator_.plain(std::string("  ") + kAnother + " bonds " + format_amount(stake) + ", and can be drawn as well");
}

/// Keys of nothing, for the solver that was drawn.
void PrivateCast::share_others(const contracts::TaskId& id) {
    const auto task = network_.rpc().task(id);
    const bool is_time = task && task->state == contracts::TaskState::kDrawn && !task->secrecy->awaited.empty();
    const crypto::SecretKey key = network_.key(kOwner);
    client::RpcClient& rpc = network_.rpc();
    auto secrets = is_time ? artifacts::secrets_of(key, rpc.chain_id(), *task) : std::nullopt;
    if (!secrets) {
        return;
    }
    secrets->of_task = sealed::TaskSecret(network_.key("nobody"));
    const client::SigningBase base{
        .chain_id = rpc.chain_id(), .params = rpc.params(), .base_fee = rpc.base_fee(), .nonce = 0};
    const auto result = rpc.send(
        key,
        contracts::ShareKeys{
            .task = id,
            .key = secrets->of_checkpoints.value().key(),
            .shares = artifacts::make_shares(*secrets, rpc.chain_id(), id, task->secrecy->awaited)},
        base, Amount{kGrainsPerAsy}
    );
    if (result.code != 0) {
        throw std::runtime_error("the wrong keys were refused: " + result.error);
    }
    has_deceived_ = true;
    narrator_.plain("  the submitter shares keys that are not the task's with " + network_.name_of(*task->solver));
}

void PrivateCast::share(const contracts::TaskId& task) {
    const auto home = home_ / kOwner;
    sharing_ = std::make_unique<system::Process>(
        "share-keys",
        std::vector<std::string>{
            "/usr/bin/env", std::string("ASSAY_PASSWORD=") + kDemoPassword, own_executable().string(), "--home",
            home.string(), "--node", network_.rpc_url(), "-o", "json", "task", "share-keys", to_hex(task.view()),
            "--from", kOwner},
        home / "share-keys.log", [this](const std::string& line) { shared_ += line + "\n"; }
    );
    narrator_.plain("  the submitter waits to share the task's keys with the solver that is drawn");
}

void PrivateCast::hear(const WorkerEvent& heard) {
    const std::string kind = heard.event.value("event", "");
    if (kind == "sealed") {
        sealed_s_ += heard.event.value("seconds", 0.0);
        sealed_bytes_ += heard.event.value("size_bytes", std::uint64_t{0});
        ++checkpoints_;
    } else if (kind == "train") {
        steps_per_s_ = heard.event.value("steps_per_s", 0.0);
        steps_ = heard.event.value("steps", std::uint64_t{0});
    } else if (kind == "keys_shared") {
        narrator_.plain(
            "  " + heard.worker + " shares the task's keys with " +
            std::to_string(heard.event.value("readers", std::uint64_t{0})) + " who were drawn to judge its work"
        );
    } else if (kind == "unreadable" && fraud_ == Fraud::kWrongShares && !has_deceived_) {
        share_others(fixed_from_hex<contracts::TaskId>(heard.event.value("task", "")).value());
    } else if (kind == "wrong_keys" || kind == "wrong_chunk") {
        narrator_.plain(
            "  " + heard.worker +
            (kind == "wrong_keys" ? " shows that the keys that it was given are not the task's"
                                  : " shows that a chunk of a sealed checkpoint is not what its root commits to")
        );
        if (fraud_ == Fraud::kWrongShares && !sharing_) {
            share(fixed_from_hex<contracts::TaskId>(heard.event.value("task", "")).value());
        }
    }
}

void PrivateCast::act(const contracts::Task& task) {
    constexpr std::uint32_t kSomeCheckpoints = 2;
    if (was_killed_ || fraud_ != Fraud::kNone || task.checkpoints < kSomeCheckpoints) {
        return;
    }
    was_killed_ = true;
    network_.kill_worker("solver-1");
    network_.restart_worker("solver-1");
    narrator_.plain("  solver-1 is killed, and starts again: it has its keys from the chain");
}

json PrivateCast::end_sharing() {
    if (!sharing_) {
        return {{"status", nullptr}, {"answer", json::object()}};
    }
    const auto give_up_at = std::chrono::steady_clock::now() + kSharingPatience;
    while (!sharing_->exit_status() && std::chrono::steady_clock::now() < give_up_at) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const auto status = sharing_->exit_status();
    sharing_.reset();  // and with it the thread that writes what was printed
    const auto answer = json::parse(shared_, nullptr, false);
    return {
        {"status", status ? json(*status) : json(nullptr)}, {"answer", answer.is_object() ? answer : json::object()}};
}

/// The submitter opens the result, and checks it against the chain.
json PrivateCast::fetch_result(const contracts::TaskId& task) const {
    const auto out = home_ / "result.safetensors";
    const CommandResult result = run_own(
        home_ / kOwner, network_.rpc_url(),
        {"task", "fetch", to_hex(task.view()), "--out", out.string(), "--from", kOwner}
    );
    return {
        {"status", result.status},
        {"answer", result.answer},
        {"bytes", std::filesystem::exists(out) ? std::filesystem::file_size(out) : 0}};
}

std::vector<std::string> PrivateCast::served_in_plain(const contracts::TaskSpec& spec) const {
    std::vector<Hash256> names{spec.program_artifact.sha256, spec.dataset_artifact.sha256};
    if (spec.initial_artifact) {
        names.push_back(spec.initial_artifact->sha256);
    }
    if (spec.evaluation) {
        names.push_back(spec.evaluation->data.sha256);
    }
    std::vector<std::filesystem::path> served{home_ / kOwner / "store"};
    for (const auto& [name, balance] : network_.actors()) {
        served.push_back(network_.worker_home(name) / "store");
        served.push_back(network_.worker_home(name) / "fetched");
    }
    std::vector<std::string> out;
    for (const auto& directory : served) {
        for (const Hash256& name : names) {
            const auto file = directory / to_hex(name.view());
            if (std::filesystem::exists(file)) {
                out.push_back(file.string());
            }
        }
    }
    return out;
}

void PrivateCast::complete(json& report, const Act& act) {
    const contracts::TaskId task = act.story->task();
    const auto record = network_.rpc().task(task);
    const double trained_s = steps_per_s_ > 0 ? static_cast<double>(steps_) / steps_per_s_ : 0;
    report["private"] = {
        {"sharing", end_sharing()},
        {"readers", record->secrecy ? record->secrecy->shared.size() : 0},
        {"served_in_plain", served_in_plain(record->spec)},
        {"solver_killed", was_killed_},
        {"sealed_checkpoints", checkpoints_},
        {"sealed_bytes", sealed_bytes_},
        {"sealed_s", sealed_s_},
        {"trained_s", trained_s},
        {"sealed_share", trained_s > 0 ? json(sealed_s_ / trained_s) : json(nullptr)}};
    report["honest_lost"] = losses_of(act);
    if (plain_) {
        report["private"]["fetched"] = fetch_result(task);
        narrator_.plain("  waiting for the plain demo of the same seed");
        report["plain_root"] = plain_->root(kPrivatePatience);
    }
}

std::vector<std::string> PrivateCast::judge(const json& report) const {
    std::vector<std::string> out;
    const auto expect = [&out](bool holds, const std::string& complaint) {
        if (!holds) {
            out.push_back(complaint);
        }
    };
    const json& found = report.at("private");
    const json& sharing = found.at("sharing");
    expect(sharing.at("status") == 0, "`assay task share-keys` did not end in order");
    const json shared = sharing.at("answer").value("shared", json::array());
    const auto with_solver =
        std::count_if(shared.begin(), shared.end(), [](const json& each) { return !each.at("solver").is_null(); });
    expect(with_solver == 1, "the submitter did not share the keys once with the only solver");
    expect(
        (shared.size() > 1) == in_tolerance_, in_tolerance_
                                                  ? "the submitter did not share the task's key with the profilers"
                                                  : "the submitter shared the keys with somebody else"
    );
    expect(found.at("served_in_plain").empty(), "a store that is served has an artifact in plain");
    expect(found.at("sealed_checkpoints") >= 1, "no checkpoint was sealed");
    if (fraud_ == Fraud::kWrongShares) {
        expect(report.at("honest_lost") == 0, "somebody honest lost a stake");
    }
    if (fraud_ != Fraud::kNone) {
        return out;
    }
    expect(found.at("solver_killed") == true, "the solver was not killed");
    expect(found.at("readers") >= 2, "the keys were shared with nobody but the solver");
    expect(report.at("root") == report.at("plain_root"), "the root is not that of the plain demo of the same seed");
    expect(report.at("honest_lost") == 0, "somebody lost a stake, although nobody cheats");
    expect(found.at("fetched").at("status") == 0, "the submitter could not open the result");
    expect(
        found.at("fetched").at("answer").value("state_root", "") == report.at("root"),
        "what the submitter opened has another root"
    );
    return out;
}

}  // namespace assay::demo
