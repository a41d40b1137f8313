// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/signer.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <core/crypto/address.hpp>
#include <core/crypto/keystore.hpp>
#include <tools/cli/amount.hpp>
#include <tools/cli/key_files.hpp>

namespace assay::cli {
namespace {

/// A line from the terminal without showing it.
std::string prompt_secret(const std::string& prompt) {
    std::cerr << prompt << std::flush;
    termios before{};
    ::tcgetattr(STDIN_FILENO, &before);
    termios silent = before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    std::string line;
    std::getline(std::cin, line);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    std::cerr << std::endl;
    return line;
}

std::string read_password_file(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::string line;
    if (!std::getline(in, line)) {
        throw Failure(kExitConfig, "password_file", "cannot read a password from " + file);
    }
    if (line.ends_with('\r')) {
        line.pop_back();
    }
    return line;
}

void require_terminal() {
    if (::isatty(STDIN_FILENO) == 0) {
        throw Failure(kExitUsage, "no_password",
                      "no password: give --password-file or set ASSAY_PASSWORD, there is no terminal to ask on");
    }
}

}  // namespace

std::string PasswordSource::read(const std::string& prompt) const {
    if (!file.empty()) {
        return read_password_file(file);
    }
    if (const char* value = std::getenv("ASSAY_PASSWORD")) {
        return value;
    }
    require_terminal();
    return prompt_secret(prompt + ": ");
}

std::string PasswordSource::read_new(const std::string& prompt) const {
    if (!file.empty() || std::getenv("ASSAY_PASSWORD") != nullptr) {
        return read(prompt);
    }
    require_terminal();
    std::string password = prompt_secret(prompt + ": ");
    if (password != prompt_secret("again: ")) {
        throw Failure(kExitUsage, "usage", "the two passwords differ");
    }
    return password;
}

void Signer::add_options(CLI::App& command) {
    command.add_option("--key", key, "The key that signs; default: the only one there is");
    command.add_option("--password-file", password.file, "File whose first line is the key's password");
    command.add_option("--timeout", timeout_s, "Seconds to wait for the transaction's block")
        ->check(CLI::Range(1U, 86'400U))
        ->capture_default_str();
}

crypto::SecretKey Signer::open(const Session& session) const {
    const KeyDirectory keys(session.home / "keys");
    std::string name = key;
    if (name.empty()) {
        const auto all = keys.list();
        if (all.empty()) {
            throw Failure(kExitNotFound, "key_not_found", "there is no key in " + (session.home / "keys").string(),
                          {{"hint", "assay keys new NAME makes one"}});
        }
        if (all.size() > 1) {
            throw Failure(kExitUsage, "usage", "there are several keys: say which with --key NAME");
        }
        name = all.front().name;
    }
    const crypto::SealedKey sealed = keys.load(name);
    const auto secret = crypto::open_key(sealed, password.read("password of " + name));
    if (!secret) {
        const bool is_wrong = secret.error() == crypto::KeystoreError::kWrongPassword;
        throw Failure(kExitConfig, is_wrong ? "wrong_password" : "key_malformed",
                      is_wrong ? "wrong password for key " + name : "the key file of " + name + " is not usable");
    }
    return *secret;
}

net::TxResult Signer::send(const Session& session, const contracts::Action& action) const {
    const crypto::SecretKey secret = open(session);
    session.progress(std::string("submitting ") + contracts::action_name(action) + ", waiting for a block ...");
    const net::TxResult result = session.rpc().send(secret, action, std::chrono::seconds(timeout_s));
    if (result.code != 0) {
        throw Failure(kExitRejected, "tx_failed",
                      "the transaction failed in block " + std::to_string(result.height.value) + ": " + result.error,
                      to_json(result));
    }
    return result;
}

nlohmann::json to_json(const net::TxResult& result) {
    return {{"hash", to_hex(result.hash.view())},
            {"height", result.height.value},
            {"code", result.code},
            {"error", result.code == 0 ? nlohmann::json() : nlohmann::json(result.error)}};
}

void print_sent(const Session& session, const net::TxResult& result, const std::string& text) {
    session.print(to_json(result), text + "\n  transaction " + to_hex(result.hash.view()) + " in block " +
                                       std::to_string(result.height.value) + "\n");
}

AccountId parse_account(const Session& session, const std::string& text) {
    if (const auto id = crypto::decode_address(text)) {
        return *id;
    }
    if (const auto id = fixed_from_hex<AccountId>(text)) {
        return *id;
    }
    const KeyDirectory keys(session.home / "keys");
    if (is_key_name(text) && keys.has(text)) {
        return keys.load(text).account;
    }
    throw Failure(kExitUsage, "usage", "\"" + text + "\" is no address, no account in hex, and no key of yours");
}

Amount parse_amount(const std::string& text) {
    const auto amount = decode_amount(text);
    if (!amount) {
        throw Failure(kExitUsage, "usage", "amount \"" + text + "\": " + to_string(amount.error()));
    }
    return *amount;
}

contracts::Role parse_role(const std::string& text) {
    for (const auto role : {contracts::Role::kSolver, contracts::Role::kVerifier, contracts::Role::kWhistleblower}) {
        if (text == contracts::to_string(role)) {
            return role;
        }
    }
    throw Failure(kExitUsage, "usage", "a role is solver, verifier or whistleblower, not \"" + text + "\"");
}

}  // namespace assay::cli
