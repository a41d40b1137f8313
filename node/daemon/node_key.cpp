// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/node_key.hpp>

#include <string>

#include <core/keys/key_file.hpp>
#include <core/keys/password.hpp>
#include <core/system/file.hpp>

namespace assay::node {
namespace {

constexpr const char* kCredential = "node_password";

/// Runs `what` and turns what is wrong with a key file into a HomeError.
template <class What>
auto in_home(What what) {
    try {
        return what();
    } catch (const crypto::KeyFileError& error) {
        throw HomeError(error.what());
    }
}

void replace(const std::filesystem::path& file, std::string_view text) {
    const auto temporary = std::filesystem::path(file.string() + ".new");
    std::error_code none;
    std::filesystem::remove(temporary, none);
    in_home([&] { crypto::write_private_file(temporary, text); });
    std::filesystem::rename(temporary, file);
}

}  // namespace

bool is_sealed_node_key(const std::filesystem::path& file) {
    return in_home([&] {
        const crypto::SecretText text = crypto::read_secret(file);
        return text.view().find_first_not_of(" \t\r\n") != std::string_view::npos &&
               text.view()[text.view().find_first_not_of(" \t\r\n")] == '{';
    });
}

crypto::SecretText node_password(const Environment& environment, const std::filesystem::path& file, bool is_new) {
    const auto named = environment("ASSAY_NODE_PASSWORD_FILE");
    const auto credentials = environment("CREDENTIALS_DIRECTORY");
    if (file.empty() && !named && credentials) {
        // systemd gives it to this service alone; with an access list, which the mode shows as readable by the group.
        if (auto text = system::read_file(std::filesystem::path(*credentials) / kCredential)) {
            crypto::SecretText out(*text);
            out.keep_first_line();
            return out;
        }
    }
    try {
        return crypto::read_password(
            {.file = file.empty() ? named.value_or("") : file.string(),
             .variable = "ASSAY_NODE_PASSWORD",
             .prompt = is_new ? "New password for the node key" : "Password for the node key",
             .twice = is_new}
        );
    } catch (const crypto::PasswordError& error) {
        if (error.reason != crypto::PasswordError::Reason::kNoTerminal) {
            throw;
        }
        throw crypto::PasswordError(
            error.reason,
            "the node key is sealed, and there is no terminal to ask for its password: set ASSAY_NODE_PASSWORD_FILE to "
            "a "
            "file of mode 0600, or give the service the systemd credential node_password"
        );
    }
}

crypto::SecretKey open_node_key(
    const Home& home, const Environment& environment, const std::filesystem::path& password_file
) {
    const auto file = home.node_key();
    if (!is_sealed_node_key(file)) {
        return read_node_key(file);
    }
    const crypto::SecretText password = node_password(environment, password_file);
    return in_home([&] { return crypto::read_sealed_key(file, password.view()); });
}

void seal_node_key(const std::filesystem::path& file, std::string_view password, crypto::KeystoreCost cost) {
    if (is_sealed_node_key(file)) {
        throw HomeError(file.string() + " is sealed already: unseal it first to give it another password");
    }
    if (password.empty()) {
        throw HomeError("an empty password seals nothing: give one");
    }
    replace(file, crypto::to_key_json(crypto::seal_key(read_node_key(file), password, cost)));
}

void unseal_node_key(const std::filesystem::path& file, std::string_view password) {
    if (!is_sealed_node_key(file)) {
        throw HomeError(file.string() + " is not sealed");
    }
    const crypto::SecretKey key = in_home([&] { return crypto::read_sealed_key(file, password); });
    replace(file, to_hex(key.bytes()) + "\n");
}

}  // namespace assay::node
