// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include <client/rpc_client.hpp>
#include <core/command/exit_codes.hpp>
#include <core/system/log/log.hpp>

/// What all commands of `assay` share: where the node and the keys are, how to print results, how to fail.
namespace assay::cli {

using enum command::ExitCode;

/// The failure of a command: its exit code and what is printed. `name` is a stable identifier.
class Failure : public std::runtime_error {
  public:
    Failure(int exit, std::string slug, const std::string& message, nlohmann::json details = nlohmann::json::object())
        : std::runtime_error(message), exit_code(exit), name(std::move(slug)), data(std::move(details)) {}
    int exit_code;
    std::string name;
    nlohmann::json data;
};

struct Session {
    client::NodeAddress node{};
    std::filesystem::path home;
    std::string output = "text";
    std::string chain_id;  ///< the chain id that the user expects; empty: the pinned one
    std::string genesis_hash;
    log::Options log{};
    std::function<int()> command;  ///< the selected command

    bool json() const { return output == "json"; }
    client::RpcClient rpc() const { return client::RpcClient(node); }
    /// Prints a result on stdout: `result` with -o json, else `text`.
    void print(const nlohmann::json& result, const std::string& text) const;
    /// Writes a line to the log if an option asks for one; else prints it on stderr if that is a terminal.
    void progress(const std::string& text) const;
};

/// Returns $ASSAY_HOME if it is set, else .assay in the user's home directory.
std::filesystem::path default_home();

/// Converts any exception into a command failure with its exit code: RpcError, NetError, Mismatch and so on.
Failure to_failure(const std::exception& error);

/// Prints a failure, on stdout with -o json, else on stderr. Returns the exit code.
int report(const Failure& failure, bool json);

}  // namespace assay::cli
