// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/failure.hpp>

#include <client/anchor.hpp>
#include <client/http/listen_error.hpp>
#include <client/proof.hpp>
#include <client/rpc_client.hpp>
#include <core/keys/key_file.hpp>
#include <core/keys/password.hpp>
#include <verifier/cell/lead.hpp>
#include <verifier/launcher/image.hpp>
#include <verifier/worker/journal_file.hpp>

namespace assay::worker {
namespace {

template <class... Kinds>
bool is_one_of(const std::exception& error) {
    return ((dynamic_cast<const Kinds*>(&error) != nullptr) || ...);
}

command::ExitCode exit_code_of_password(const crypto::PasswordError& error) {
    using Reason = crypto::PasswordError::Reason;
    switch (error.reason) {
        case Reason::kFile:
            return command::kExitConfig;
        case Reason::kNoTerminal:
        case Reason::kDifferent:
            return command::kExitUsage;
        case Reason::kTerminal:
        case Reason::kInterrupted:
            break;
    }
    return command::kExitFailure;
}

}  // namespace

command::ExitCode exit_code_of(const std::exception& error) {
    if (const auto* password = dynamic_cast<const crypto::PasswordError*>(&error)) {
        return exit_code_of_password(*password);
    }
    if (const auto* rpc = dynamic_cast<const client::RpcError*>(&error)) {  // the names are Chain's
        return rpc->name == "mismatch"     ? command::kExitMismatch
               : rpc->name == "chain_file" ? command::kExitConfig
                                           : command::kExitFailure;
    }
    if (is_one_of<UsageError, cell::PlanError>(error)) {
        return command::kExitUsage;
    }
    if (is_one_of<FileError, crypto::KeyFileError, client::AnchorError, JournalError>(error)) {
        return command::kExitConfig;
    }
    if (is_one_of<client::Mismatch, launcher::ImageError>(error)) {
        return command::kExitMismatch;
    }
    if (is_one_of<http::ListenError>(error)) {  // nobody was asked anything
        return command::kExitFailure;
    }
    if (is_one_of<http::NetTimeout>(error)) {
        return command::kExitTimeout;
    }
    return is_one_of<http::NetError>(error) ? command::kExitUnreachable : command::kExitFailure;
}

}  // namespace assay::worker
