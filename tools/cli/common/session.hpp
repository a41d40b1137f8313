// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include <client/rpc_client.hpp>

/// What every command of `assay` shares: where the node and the keys are, how to answer, how to fail.
namespace assay::cli {

enum ExitCode : int {
    kExitOk = 0,
    kExitFailure = 1,
    kExitUsage = 2,
    kExitConfig = 3,           ///< a file of the user's is wrong: task.toml, a key file
    kExitUnreachable = 4,      ///< nobody answers at the node's URL
    kExitRejected = 5,         ///< the chain refused a transaction
    kExitNotFound = 6,
    kExitTimeout = 7,
    kExitRefuted = 9,          ///< a segment's replay does not give what its solver claimed
    kExitMismatch = 10,        ///< what the node said does not verify
    kExitInvalidArtifact = 12, ///< an artifact that is not what the chain says it is
};

/// A command's failure: what the process ends with and what it prints. `name` is a stable slug.
class Failure : public std::runtime_error {
  public:
    Failure(
        int exit, std::string slug, const std::string& message, nlohmann::json details = nlohmann::json::object()
    )
        : std::runtime_error(message), exit_code(exit), name(std::move(slug)), data(std::move(details)) {}
    int exit_code;
    std::string name;
    nlohmann::json data;
};

struct Session {
    std::string node = "http://127.0.0.1:26600";
    std::filesystem::path home;
    std::string output = "text";
    std::string chain_id;      ///< what the user says the chain is; empty: what the home has pinned
    std::string genesis_hash;
    std::function<int()> command;  ///< the one that the arguments chose

    bool json() const { return output == "json"; }
    client::RpcClient rpc() const { return client::RpcClient(node); }
    /// The answer on stdout: `result` with -o json, else `text`.
    void print(const nlohmann::json& result, const std::string& text) const;
    /// A line on stderr for who watches a terminal; nothing otherwise.
    void progress(const std::string& text) const;
};

/// $ASSAY_HOME, or .assay in the user's home.
std::filesystem::path default_home();

/// What any exception is as a failure of a command: RpcError, NetError, Mismatch, ... each with its exit code.
Failure to_failure(const std::exception& error);

/// Prints on stdout with -o json, else on stderr. Returns the exit code.
int report(const Failure& failure, bool json);

}  // namespace assay::cli
