// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/context.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include <termios.h>
#include <unistd.h>

#include <core/crypto/address.hpp>
#include <tools/cli/amount.hpp>
#include <tools/cli/key_files.hpp>
#include <tools/cli/proof.hpp>
#include <tools/cli/task_directory.hpp>

namespace assay::cli {
namespace {

constexpr int kRpcNotFound = -32001;

int report_error(const Context& context, Exit exit, int code, const std::string& name, const std::string& message, const Json& data) {
    if (context.json) {
        const Json error{{"error", {{"code", code}, {"name", name}, {"message", message}, {"data", data}}}};
        std::cout << error.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    } else {
        std::cerr << "assay: " << message << std::endl;
        if (data.is_object() && data.contains("hint") && data.at("hint").is_string()) {
            std::cerr << "  " << data.at("hint").get<std::string>() << std::endl;
        }
    }
    return static_cast<int>(exit);
}

int report_rpc(const Context& context, const net::RpcError& error) {
    Exit exit = Exit::kRejected;
    if (error.code == kRpcNotFound) {
        exit = Exit::kNotFound;
    } else if (error.name == "bad_answer") {
        exit = Exit::kGeneric;
    }
    return report_error(context, exit, error.code, error.name, error.what(), error.data);
}

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
        throw CliError(Exit::kConfig, "password_file", "cannot read a password from " + file);
    }
    if (line.ends_with('\r')) {
        line.pop_back();
    }
    return line;
}

void require_terminal() {
    if (::isatty(STDIN_FILENO) == 0) {
        throw CliError(Exit::kUsage, "no_password",
                       "no password: give --password-file or set ASSAY_PASSWORD, there is no terminal to ask on");
    }
}

}  // namespace

void Context::print(const Json& value, const std::function<void()>& text) const {
    if (json) {
        std::cout << value.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    } else {
        text();
        std::cout << std::flush;
    }
}

void Context::note(const std::string& line) const {
    if (::isatty(STDERR_FILENO) != 0) {
        std::cerr << line << std::endl;
    }
}

int report(const Context& context, const CliError& error) {
    return report_error(context, error.exit, static_cast<int>(error.exit), error.name, error.what(), error.data);
}

int report_current_exception(const Context& context) {
    const auto simple = [&](Exit exit, const char* name, const std::exception& error) {
        return report(context, CliError(exit, name, error.what()));
    };
    try {
        throw;
    } catch (const CliError& error) {
        return report(context, error);
    } catch (const net::RpcError& error) {
        return report_rpc(context, error);
    } catch (const net::NetTimeout& error) {
        return simple(Exit::kTimeout, "timeout", error);
    } catch (const net::NetError& error) {
        return simple(Exit::kConnect, "cannot_connect", error);
    } catch (const Mismatch& error) {
        return simple(Exit::kMismatch, "mismatch", error);
    } catch (const TaskDirectoryError& error) {
        return simple(Exit::kConfig, "task_directory", error);
    } catch (const Json::exception& error) {
        return report(context, CliError(Exit::kGeneric, "bad_answer",
                                        std::string("the node's answer is malformed: ") + error.what()));
    } catch (const std::exception& error) {
        return simple(Exit::kGeneric, "failed", error);
    }
}

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
        throw CliError(Exit::kUsage, "usage", "the two passwords differ");
    }
    return password;
}

crypto::SecretKey Signer::open(const Context& context) const {
    const KeyDirectory keys(context.keys());
    std::string name = key;
    if (name.empty()) {
        const auto all = keys.list();
        if (all.size() != 1) {
            throw CliError(all.empty() ? Exit::kNotFound : Exit::kUsage, all.empty() ? "key_not_found" : "usage",
                           all.empty() ? "there is no key in " + context.keys().string() + ": assay keys new NAME"
                                       : "there are several keys: say which with --key NAME");
        }
        name = all.front().name;
    }
    const crypto::SealedKey sealed = keys.load(name);
    const auto secret = crypto::open_key(sealed, password.read("password of " + name));
    if (!secret) {
        const bool is_wrong = secret.error() == crypto::KeystoreError::kWrongPassword;
        throw CliError(Exit::kConfig, is_wrong ? "wrong_password" : "key_malformed",
                       is_wrong ? "wrong password for key " + name : "key file of " + name + " is not usable");
    }
    return *secret;
}

net::TxResult send(const Context& context, const Signer& signer, const contracts::Action& action) {
    const crypto::SecretKey key = signer.open(context);
    net::RpcClient rpc = context.rpc();
    context.note(std::string("submitting ") + contracts::action_name(action) + ", waiting for a block ...");
    const net::TxResult result = rpc.send(key, action, context.timeout());
    if (result.code != 0) {
        throw CliError(Exit::kRejected, "tx_failed", "the transaction failed in block " +
                       std::to_string(result.height.value) + ": " + result.error, to_json(result));
    }
    return result;
}

Json to_json(const net::TxResult& result) {
    return {{"hash", to_hex(result.hash.view())},
            {"height", result.height.value},
            {"code", result.code},
            {"error", result.code == 0 ? Json() : Json(result.error)}};
}

void print_sent(const Context& context, const net::TxResult& result, const std::string& text) {
    context.print(to_json(result), [&] {
        std::cout << text << "\n  transaction " << to_hex(result.hash.view()) << " in block " << result.height.value << "\n";
    });
}

AccountId parse_account(const Context& context, const std::string& text) {
    if (const auto id = crypto::decode_address(text)) {
        return *id;
    }
    if (const auto id = fixed_from_hex<AccountId>(text)) {
        return *id;
    }
    const KeyDirectory keys(context.keys());
    if (is_key_name(text) && keys.has(text)) {
        return keys.load(text).account;
    }
    throw CliError(Exit::kUsage, "usage", "\"" + text + "\" is no address, no account in hex, and no key of yours");
}

Amount parse_amount(const std::string& text) {
    const auto amount = decode_amount(text);
    if (!amount) {
        throw CliError(Exit::kUsage, "usage", "amount \"" + text + "\": " + to_string(amount.error()));
    }
    return *amount;
}

}  // namespace assay::cli
