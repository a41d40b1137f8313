// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/session.hpp>

#include <cstdlib>
#include <iostream>

#include <unistd.h>

#include <client/http/listen_error.hpp>
#include <client/rpc_codes.hpp>
#include <client/anchor.hpp>
#include <core/keys/key_file.hpp>
#include <core/keys/password.hpp>
#include <tools/cli/common/proof.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

/// docs/rpc.md

int exit_code_of(const client::RpcError& error) {
    switch (error.code) {
        case client::kNotFound:
            return kExitNotFound;
        case client::kTxRejected:
        case client::kLimitExceeded:
        case client::kRateLimited:
            return kExitRejected;
        case client::kUnauthorized:
            return kExitConfig;
        case client::kInvalidParams:
            return kExitUsage;
        default:
            return kExitFailure;
    }
}

}  // namespace

void Session::print(const nlohmann::json& result, const std::string& text) const {
    if (json()) {
        std::cout << result.dump(2) << std::endl;
    } else {
        std::cout << text << (text.empty() || text.ends_with('\n') ? "" : "\n") << std::flush;
    }
}

void Session::progress(const std::string& text) const {
    if (log::is_started()) {
        log::info(text);
    } else if (::isatty(STDERR_FILENO) == 1) {
        std::cerr << text << "\n";
    }
}

std::filesystem::path default_home() {
    if (const char* const home = std::getenv("ASSAY_HOME"); home != nullptr && *home != '\0') {
        return home;
    }
    const char* const user = std::getenv("HOME");
    return std::filesystem::path(user != nullptr && *user != '\0' ? user : ".") / ".assay";
}

namespace {

Failure from_password(const crypto::PasswordError& error) {
    switch (error.reason) {
        case crypto::PasswordError::Reason::kFile:
            return {kExitConfig, "no_password", error.what()};
        case crypto::PasswordError::Reason::kTerminal:
            return {kExitFailure, "no_password", error.what()};
        case crypto::PasswordError::Reason::kInterrupted:
            return {kExitFailure, "interrupted", error.what()};
        case crypto::PasswordError::Reason::kNoTerminal:
        case crypto::PasswordError::Reason::kDifferent:
            break;
    }
    return {kExitUsage, "no_password", error.what()};
}

}  // namespace

Failure to_failure(const std::exception& error) {
    if (const auto* failure = dynamic_cast<const Failure*>(&error)) {
        return *failure;
    }
    if (const auto* rpc = dynamic_cast<const client::RpcError*>(&error)) {
        json data{{"rpc_code", rpc->code}};
        if (rpc->data.is_object()) {
            data.update(rpc->data);
        }
        return {exit_code_of(*rpc), rpc->name, rpc->what(), data};
    }
    if (dynamic_cast<const client::TxUncertain*>(&error) != nullptr) {
        return {kExitTimeout, "tx_uncertain", error.what()};
    }
    if (dynamic_cast<const http::NetTimeout*>(&error) != nullptr) {
        return {kExitTimeout, "timeout", error.what()};
    }
    if (dynamic_cast<const http::ListenError*>(&error) != nullptr) {
        return {
            kExitFailure, "cannot_listen", error.what(),
            json{{"hint", "stop what listens there, or give another address or port with --listen"}}};
    }
    if (dynamic_cast<const http::NetError*>(&error) != nullptr) {
        return {
            kExitUnreachable, "unreachable", error.what(),
            json{{"hint", "is assayd running? --node or ASSAY_NODE says where"}}};
    }
    if (dynamic_cast<const Mismatch*>(&error) != nullptr) {
        return {
            kExitMismatch, "mismatch", error.what(),
            json{{"hint", "ask another node with --node: this one lies, is behind, or is of another chain"}}};
    }
    if (dynamic_cast<const client::FeeTooHigh*>(&error) != nullptr) {
        return {kExitRejected, "fee_too_high", error.what(), json{{"hint", "--fee-max AMOUNT allows more"}}};
    }
    if (dynamic_cast<const client::AnchorError*>(&error) != nullptr) {
        return {kExitConfig, "chain_file", error.what()};
    }
    if (dynamic_cast<const taskdir::TaskDirectoryError*>(&error) != nullptr) {
        return {kExitConfig, "task_directory", error.what()};
    }
    if (dynamic_cast<const crypto::KeyFileError*>(&error) != nullptr) {
        return {kExitConfig, "key_file", error.what()};
    }
    if (const auto* password = dynamic_cast<const crypto::PasswordError*>(&error)) {
        return from_password(*password);
    }
    if (dynamic_cast<const json::exception*>(&error) != nullptr) {
        return {kExitFailure, "bad_answer", std::string("the node's answer is malformed: ") + error.what()};
    }
    if (dynamic_cast<const artifacts::StoreError*>(&error) != nullptr) {
        return {kExitFailure, "store", error.what()};
    }
    return {kExitFailure, "failure", error.what()};
}

int report(const Failure& failure, bool as_json) {
    if (log::is_started()) {
        log::error(failure.what(), {{"name", failure.name}, {"exit_code", std::int64_t{failure.exit_code}}});
    }
    if (as_json) {
        const json error{
            {"code", failure.exit_code}, {"name", failure.name}, {"message", failure.what()}, {"data", failure.data}};
        std::cout << json{{"error", error}}.dump(2) << "\n";
    } else {
        std::cerr << "assay: " << failure.what() << "\n";
        const bool is_nodes = failure.data.contains("rpc_code");  // its hints are about the JSON
        if (!is_nodes && failure.data.contains("hint") && failure.data.at("hint").is_string()) {
            std::cerr << "  " << failure.data.at("hint").get<std::string>() << "\n";
        }
    }
    return failure.exit_code;
}

}  // namespace assay::cli
