// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>

#include <contracts/privacy/actions/privacy_actions.hpp>
#include <contracts/state/slots.hpp>
#include <core/crypto/address.hpp>
#include <tools/cli/common/add_command.hpp>
#include <tools/cli/common/arguments.hpp>
#include <verifier/artifacts/task_secrets.hpp>

/// `assay task share-keys`.
namespace assay::cli {
namespace {

using contracts::TaskState;
using nlohmann::json;

struct ShareKeysArguments {
    std::string task;
    bool is_once = false;
    std::shared_ptr<Signing> signing;
};

/// Shares the keys of a private task with its profilers, and with each solver that is drawn for it, until one has
/// accepted.
class Sharing {
  public:
    Sharing(const Session& session, const ShareKeysArguments& arguments)
        : session_(session),
          arguments_(arguments),
          id_(decode_id<contracts::TaskId>(arguments.task, "task")),
          key_(unlock(session, *arguments.signing)),
          rpc_(session.rpc()),
          chain_(proven_chain(session, *arguments.signing, rpc_)) {}

    int run() {
        await_task();
        look();
        while (!arguments_.is_once && waits_for_solver()) {
            try {
                rpc_.wait_for_block(rpc_.height(), std::chrono::seconds(2));
                chain_.refresh();
                look();
            } catch (const http::NetError& error) {
                tell(std::string("the node cannot be reached, trying again: ") + error.what());
                std::this_thread::sleep_for(std::chrono::seconds(1));
            }
        }
        const std::string state = contracts::to_string(state_);
        const std::string solver = solver_.empty() ? "" : ", solver " + solver_;
        session_.print(
            {{"task", arguments_.task},
             {"state", state},
             {"solver", solver_.empty() ? json(nullptr) : json(solver_)},
             {"shared", shared_}},
            "task " + arguments_.task + " is " + state + solver + "; its keys were shared " +
                std::to_string(shared_.size()) + (shared_.size() == 1 ? " time" : " times")
        );
        return kExitOk;
    }

  private:
    bool waits_for_solver() const {
        return state_ == TaskState::kProfiling || state_ == TaskState::kOpen || state_ == TaskState::kDrawn;
    }

    /// What is proven is a block behind the newest, so a task that was submitted just now is not there yet.
    void await_task() {
        constexpr int kBlocks = 5;
        for (int i = 0; i < kBlocks && !chain_.slot(contracts::keys::task(id_)); ++i) {
            rpc_.wait_for_block(rpc_.height(), std::chrono::seconds(2));
            chain_.refresh();
        }
    }

    /// What the chain proves of the task. A node that lied about who was drawn would be told the keys.
    contracts::Task task() {
        const auto slot = chain_.slot(contracts::keys::task(id_));
        if (!slot) {
            throw Failure(kExitNotFound, "not_found", "the chain has no task " + arguments_.task);
        }
        auto task = codec::decode<contracts::Task>(*slot);
        if (!task) {
            throw Mismatch("the proven record of task " + arguments_.task + " does not decode");
        }
        return *std::move(task);
    }

    void look() {
        const contracts::Task task = this->task();
        if (!task.secrecy) {
            throw usage("task " + arguments_.task + " is not private: there are no keys to share");
        }
        if (task.submitter != actor_of(session_, *arguments_.signing, key_)) {
            throw usage(
                "task " + arguments_.task + " is another account's",
                "--from takes the key that submitted it: " + crypto::to_address(task.submitter)
            );
        }
        state_ = task.state;
        solver_ = task.solver ? crypto::to_address(*task.solver) : "";
        if (waits_for_solver() && !task.secrecy->awaited.empty()) {
            share_unless_outrun(task);
        } else if (!has_told_ && waits_for_solver()) {
            tell(
                std::string("waiting until ") + (task.tolerance ? "profilers have measured it, and " : "") +
                "a solver is drawn and accepts; this command has to run until then"
            );
            has_told_ = true;
        }
    }

    /// What is proven is a block behind: a solver that has declined since is not waited for any more.
    void share_unless_outrun(const contracts::Task& task) {
        constexpr int kTimes = 20;  // more than draws are paid for by default (TASK-17)
        try {
            share(task);
        } catch (const client::RpcError& error) {
            const json reason = error.data.is_object() ? error.data.value("reason", json()) : json();
            const bool is_outrun = error.name == "tx_rejected" && (reason == "task_state" || reason == "share_invalid");
            if (!is_outrun || ++outrun_ > kTimes) {
                throw;
            }
            tell("the task has gone on since the block that is proven; waiting for the next draw");
        }
    }

    void share(const contracts::Task& task) {
        const auto secrets = artifacts::secrets_of(key_, chain_.chain_id(), task);
        if (!secrets) {
            throw usage(
                "this key did not seal task " + arguments_.task,
                "its keys follow from the key of the account that submitted it, which --from has to name"
            );
        }
        const client::TxResult result = send(
            session_, *arguments_.signing, key_,
            contracts::ShareKeys{
                .task = id_,
                .key = secrets->of_checkpoints ? std::optional(secrets->of_checkpoints->key()) : std::nullopt,
                .shares = artifacts::make_shares(*secrets, chain_.chain_id(), task.id, task.secrecy->awaited)}
        );
        const std::size_t readers = task.secrecy->awaited.size();
        shared_.push_back(
            {{"solver", solver_.empty() ? json(nullptr) : json(solver_)},
             {"readers", readers},
             {"height", result.height.value}}
        );
        const std::string whom = solver_.empty() ? std::to_string(readers) + " profilers" : solver_;
        tell("shared the keys with " + whom + " in block " + std::to_string(result.height.value));
    }

    void tell(const std::string& text) const { session_.progress(text); }

    const Session& session_;
    const ShareKeysArguments& arguments_;
    contracts::TaskId id_;
    crypto::SecretKey key_;
    client::RpcClient rpc_;
    client::ProvenChain chain_;
    TaskState state_ = TaskState::kOpen;
    std::string solver_;  ///< its address; empty before one is drawn
    json shared_ = json::array();
    bool has_told_ = false;
    int outrun_ = 0;  ///< how often the chain did not wait for what was sent
};

int run_share_keys(const Session& session, const ShareKeysArguments& a) { return Sharing(session, a).run(); }

}  // namespace

void add_task_keys_command(CLI::App& group, Session& session) {
    auto a = std::make_shared<ShareKeysArguments>();
    CLI::App& command = *add_command(
        group, session, "share-keys",
        "Share a private task's keys with the profilers and the solver that are drawn, until one has accepted; nobody "
        "else can",
        a, run_share_keys
    );
    command.add_option("task", a->task, "The task's id")->required();
    command.add_flag("--once", a->is_once, "Share what is due now, and do not wait");
    a->signing = add_signing_options(command);
}

}  // namespace assay::cli
