// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/commands.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <core/crypto/address.hpp>
#include <tools/cli/key_files.hpp>
#include <tools/cli/signer.hpp>
#include <tools/cli/table.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct Options {
    std::string name;
    std::string file = "-";
    PasswordSource password;
    std::string new_password_file;
    bool secret = false;
    bool yes = false;
};

KeyDirectory keys_of(const Session& session) { return KeyDirectory(session.home / "keys"); }

void print_key(const Session& session, const NamedKey& key, const std::string& what) {
    const std::string address = crypto::to_address(key.key.account);
    session.print({{"name", key.name}, {"account", address}, {"public_key", to_hex(key.key.account.view())}},
                  what + " " + key.name + "\n  account " + address + "\n");
}

void seal_and_save(const Session& session, const Options& options, const crypto::SecretKey& secret, const char* what) {
    const KeyDirectory keys = keys_of(session);
    if (keys.has(options.name)) {
        throw Failure(kExitUsage, "key_exists", "there is a key \"" + options.name + "\" already");
    }
    const auto sealed = crypto::seal_key(secret, options.password.read_new("password for " + options.name));
    keys.save(options.name, sealed);
    print_key(session, {options.name, sealed}, what);
}

void make_key(const Session& session, const Options& options) {
    seal_and_save(session, options, crypto::SecretKey::generate(), "made");
}

void list_keys(const Session& session, const Options&) {
    json out = json::array();
    Table table({"NAME", "ACCOUNT"});
    for (const auto& key : keys_of(session).list()) {
        out.push_back({{"name", key.name}, {"account", crypto::to_address(key.key.account)}});
        table.add({key.name, crypto::to_address(key.key.account)});
    }
    session.print({{"keys", out}}, out.empty() ? "no keys in " + (session.home / "keys").string() : table.text());
}

void show_key(const Session& session, const Options& options) {
    print_key(session, {options.name, keys_of(session).load(options.name)}, "key");
}

void export_key(const Session& session, const Options& options) {
    const crypto::SealedKey sealed = keys_of(session).load(options.name);
    if (!options.secret) {
        const json file = to_json(sealed);
        session.print(file, file.dump(2));
        return;
    }
    const crypto::SecretKey secret = Signer{options.name, options.password}.open(session);
    const std::string hex = to_hex(secret.bytes());
    session.print({{"account", crypto::to_address(secret.account())}, {"secret", hex}}, hex);
}

std::string read_input(const std::string& file) {
    if (file == "-") {
        return {std::istreambuf_iterator<char>(std::cin), {}};
    }
    std::ifstream in(file, std::ios::binary);
    if (!in.is_open()) {
        throw Failure(kExitNotFound, "file_not_found", "cannot read " + file);
    }
    return {std::istreambuf_iterator<char>(in), {}};
}

void import_key(const Session& session, const Options& options) {
    std::string text = read_input(options.file);
    if (const auto sealed = decode_sealed_key(json::parse(text, nullptr, false))) {
        keys_of(session).save(options.name, *sealed);
        print_key(session, {options.name, *sealed}, "imported");
        return;
    }
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
        text.pop_back();
    }
    const auto bytes = from_hex(text);
    if (bytes && bytes->size() == 32) {
        if (const auto secret = crypto::SecretKey::from_bytes(*bytes)) {
            seal_and_save(session, options, *secret, "imported");
            return;
        }
    }
    throw Failure(kExitInvalidArtifact, "key_malformed",
                  "neither a key file nor a secret key of 64 hex digits: " + options.file);
}

std::string read_new_password(const Options& options) {
    if (!options.new_password_file.empty()) {
        return PasswordSource{options.new_password_file}.read("");
    }
    if (const char* value = std::getenv("ASSAY_NEW_PASSWORD")) {
        return value;
    }
    // ASSAY_PASSWORD is the old one: the new one is asked for, or given on purpose.
    if (std::getenv("ASSAY_PASSWORD") != nullptr || ::isatty(STDIN_FILENO) == 0) {
        throw Failure(kExitUsage, "no_password", "no new password: give --new-password-file or set ASSAY_NEW_PASSWORD");
    }
    return PasswordSource{}.read_new("new password for " + options.name);
}

void change_password(const Session& session, const Options& options) {
    const crypto::SecretKey secret = Signer{options.name, options.password}.open(session);
    const auto sealed = crypto::seal_key(secret, read_new_password(options));
    keys_of(session).save(options.name, sealed, true);
    print_key(session, {options.name, sealed}, "changed the password of");
}

void delete_key(const Session& session, const Options& options) {
    const KeyDirectory keys = keys_of(session);
    const crypto::SealedKey sealed = keys.load(options.name);
    if (!options.yes) {
        if (::isatty(STDIN_FILENO) == 0) {
            throw Failure(kExitUsage, "usage", "deleting a key needs --yes");
        }
        std::cerr << "Nobody can restore " << options.name << " without a copy. Type its name to delete it: ";
        std::string line;
        std::getline(std::cin, line);
        if (line != options.name) {
            throw Failure(kExitFailure, "cancelled", "nothing deleted");
        }
    }
    keys.remove(options.name);
    print_key(session, {options.name, sealed}, "deleted");
}

}  // namespace

void add_keys_command(CLI::App& app, Session& session) {
    auto options = std::make_shared<Options>();
    auto* keys = app.add_subcommand("keys", "Your keys, encrypted under HOME/keys")->require_subcommand(1);
    const auto add = [&](const char* name, const char* help, void (*action)(const Session&, const Options&)) {
        auto* command = keys->add_subcommand(name, help);
        command->callback([&session, options, action] {
            session.command = [&session, options, action] {
                action(session, *options);
                return kExitOk;
            };
        });
        return command;
    };
    const auto named = [options](CLI::App* command) {
        command->add_option("name", options->name, "The key's name")->required();
        return command;
    };
    const auto with_password = [options](CLI::App* command) {
        command->add_option("--password-file", options->password.file, "File whose first line is the password");
        return command;
    };
    with_password(named(add("new", "Make a key", make_key)));
    add("list", "All keys", list_keys);
    named(add("show", "One key's account", show_key));
    with_password(named(add("export", "Print the key file, or the bare secret", export_key)))
        ->add_flag("--secret", options->secret, "Print the secret key itself, in hex");
    with_password(named(add("import", "Take in a key file, or a secret in hex", import_key)))
        ->add_option("file", options->file, "Where it is; - is standard input");
    with_password(named(add("passwd", "Change the password", change_password)))
        ->add_option("--new-password-file", options->new_password_file, "File whose first line is the new password");
    named(add("delete", "Delete a key", delete_key))->add_flag("--yes", options->yes, "Do not ask");
}

}  // namespace assay::cli
