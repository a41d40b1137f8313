// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <core/crypto/keys.hpp>
#include <net/rpc_client.hpp>

/// What the commands of `assay` share: options, output, errors and exit codes (docs/operations/cli.md).
namespace assay::cli {

using Json = nlohmann::json;

/// Numbers are stable: scripts branch on them.
enum class Exit : int {
    kOk = 0,
    kGeneric = 1,
    kUsage = 2,
    kConfig = 3,
    kConnect = 4,
    kRejected = 5,
    kNotFound = 6,
    kTimeout = 7,
    kMismatch = 10,
    kInvalidArtifact = 12,
};

/// Ends a command. `name` is a stable slug.
class CliError : public std::runtime_error {
  public:
    CliError(Exit exit_code, std::string error_name, const std::string& message, Json error_data = Json::object())
        : std::runtime_error(message), exit(exit_code), name(std::move(error_name)), data(std::move(error_data)) {}
    Exit exit;
    std::string name;
    Json data;
};

struct Context {
    std::string node = "http://127.0.0.1:26680";
    std::filesystem::path home;
    bool json = false;
    std::uint32_t timeout_s = 60;  ///< for commands that wait for the chain
    std::function<void()> run;     ///< set by the command that was chosen

    net::RpcClient rpc() const { return net::RpcClient(node); }
    std::chrono::milliseconds timeout() const { return std::chrono::seconds(timeout_s); }
    std::filesystem::path keys() const { return home / "keys"; }
    /// The result: `value` as one line of JSON, or what `text` prints.
    void print(const Json& value, const std::function<void()>& text) const;
    /// A line about what is going on, on stderr, when a person is watching.
    void note(const std::string& line) const;
};

/// Reports `error` as the output mode wants it, and its exit code.
int report(const Context& context, const CliError& error);
/// The same for anything that a command may throw.
int report_current_exception(const Context& context);

/// Where the password of a key comes from: --password-file, else ASSAY_PASSWORD, else a prompt on the terminal.
struct PasswordSource {
    std::string file;
    std::string read(const std::string& prompt) const;
    /// Asked for twice on a terminal.
    std::string read_new(const std::string& prompt) const;
};

/// Options of commands that sign.
struct Signer {
    std::string key;  ///< name in home/keys; empty: the only one there is
    PasswordSource password;
    crypto::SecretKey open(const Context& context) const;
};

/// Signs, submits, waits. Throws CliError when the transaction fails in its block.
net::TxResult send(const Context& context, const Signer& signer, const contracts::Action& action);
Json to_json(const net::TxResult& result);
void print_sent(const Context& context, const net::TxResult& result, const std::string& text);

// Arguments as people give them; what is wrong is a usage error naming `what`.
AccountId parse_account(const Context& context, const std::string& text);  ///< an address, hex, or a key's name
Amount parse_amount(const std::string& text);
template <class Id>
Id parse_id(const std::string& text, const std::string& what) {
    if (const auto id = fixed_from_hex<Id>(text)) {
        return *id;
    }
    throw CliError(Exit::kUsage, "usage", what + " must be " + std::to_string(2 * Id::kSizeBytes) + " hex digits");
}

}  // namespace assay::cli
