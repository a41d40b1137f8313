// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include <unistd.h>

#include <core/crypto/address.hpp>
#include <tools/cli/commands.hpp>
#include <tools/cli/key_files.hpp>
#include <tools/cli/table.hpp>

namespace assay::cli {
namespace {

struct Options {
    std::string name;
    std::string file = "-";
    PasswordSource password;
    std::string new_password_file;
    bool secret = false;
    bool yes = false;
};

void print_key(const Context& context, const NamedKey& key, const std::string& what) {
    const std::string address = crypto::to_address(key.key.account);
    context.print({{"name", key.name}, {"account", address}, {"public_key", to_hex(key.key.account.view())}}, [&] {
        std::cout << what << " " << key.name << "\n  account " << address << "\n";
    });
}

void seal_and_save(const Context& context, const Options& options, const crypto::SecretKey& secret, const char* what) {
    const KeyDirectory keys(context.keys());
    if (keys.has(options.name)) {
        throw CliError(Exit::kUsage, "key_exists", "there is a key \"" + options.name + "\" already");
    }
    const auto sealed = crypto::seal_key(secret, options.password.read_new("password for " + options.name));
    keys.save(options.name, sealed);
    print_key(context, {options.name, sealed}, what);
}

void list(const Context& context) {
    Json out = Json::array();
    Table table({"NAME", "ACCOUNT"});
    for (const auto& key : KeyDirectory(context.keys()).list()) {
        out.push_back({{"name", key.name}, {"account", crypto::to_address(key.key.account)}});
        table.add({key.name, crypto::to_address(key.key.account)});
    }
    context.print({{"keys", out}}, [&] {
        std::cout << (out.empty() ? "no keys in " + context.keys().string() + "\n" : table.text());
    });
}

void export_key(const Context& context, const Options& options) {
    const crypto::SealedKey sealed = KeyDirectory(context.keys()).load(options.name);
    if (!options.secret) {
        const Json json = to_json(sealed);
        context.print(json, [&] { std::cout << json.dump(2) << "\n"; });
        return;
    }
    const crypto::SecretKey secret = Signer{options.name, options.password}.open(context);
    const std::string hex = to_hex(secret.bytes());
    context.print({{"account", crypto::to_address(secret.account())}, {"secret", hex}}, [&] { std::cout << hex << "\n"; });
}

std::string read_input(const std::string& file) {
    if (file == "-") {
        return {std::istreambuf_iterator<char>(std::cin), {}};
    }
    std::ifstream in(file, std::ios::binary);
    if (!in.is_open()) {
        throw CliError(Exit::kNotFound, "file_not_found", "cannot read " + file);
    }
    return {std::istreambuf_iterator<char>(in), {}};
}

void import_key(const Context& context, const Options& options) {
    std::string text = read_input(options.file);
    if (auto sealed = decode_sealed_key(Json::parse(text, nullptr, false))) {
        KeyDirectory(context.keys()).save(options.name, *sealed);
        print_key(context, {options.name, *sealed}, "imported");
        return;
    }
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
        text.pop_back();
    }
    const auto bytes = from_hex(text);
    const auto secret = crypto::SecretKey::from_bytes(bytes && bytes->size() == 32 ? ByteView(*bytes) : ByteView());
    if (!bytes || bytes->size() != 32 || !secret) {
        throw CliError(Exit::kInvalidArtifact, "key_malformed",
                       "neither a key file nor a secret key of 64 hex digits: " + options.file);
    }
    seal_and_save(context, options, *secret, "imported");
}

void change_password(const Context& context, const Options& options) {
    const crypto::SecretKey secret = Signer{options.name, options.password}.open(context);
    std::string password;
    if (!options.new_password_file.empty()) {
        password = PasswordSource{options.new_password_file}.read("");
    } else if (const char* value = std::getenv("ASSAY_NEW_PASSWORD")) {
        password = value;
    } else if (::isatty(STDIN_FILENO) == 0) {
        throw CliError(Exit::kUsage, "no_password", "no new password: give --new-password-file or set ASSAY_NEW_PASSWORD");
    } else {
        password = PasswordSource{}.read_new("new password for " + options.name);
    }
    const auto sealed = crypto::seal_key(secret, password);
    KeyDirectory(context.keys()).save(options.name, sealed, true);
    print_key(context, {options.name, sealed}, "changed the password of");
}

void delete_key(const Context& context, const Options& options) {
    const KeyDirectory keys(context.keys());
    const crypto::SealedKey sealed = keys.load(options.name);
    if (!options.yes) {
        if (::isatty(STDIN_FILENO) == 0) {
            throw CliError(Exit::kUsage, "usage", "deleting a key needs --yes");
        }
        std::cerr << "Nobody can restore " << options.name << " without a copy. Type its name to delete it: ";
        std::string line;
        std::getline(std::cin, line);
        if (line != options.name) {
            throw CliError(Exit::kGeneric, "cancelled", "nothing deleted");
        }
    }
    keys.remove(options.name);
    print_key(context, {options.name, sealed}, "deleted");
}

}  // namespace

void add_keys_command(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    auto* keys = app.add_subcommand("keys", "Your keys, encrypted under HOME/keys")->require_subcommand(1);
    const auto add = [&, options](const char* name, const char* help, auto action) {
        auto* command = keys->add_subcommand(name, help);
        command->callback([&context, options, action] { context.run = [&context, options, action] { action(context, *options); }; });
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
    with_password(named(add("new", "Make a key", [](const Context& c, const Options& o) {
        seal_and_save(c, o, crypto::SecretKey::generate(), "made");
    })));
    add("list", "All keys", [](const Context& c, const Options&) { list(c); });
    named(add("show", "One key's account", [](const Context& c, const Options& o) {
        print_key(c, {o.name, KeyDirectory(c.keys()).load(o.name)}, "key");
    }));
    auto* exporting = with_password(named(add("export", "Print the key file, or the bare secret", export_key)));
    exporting->add_flag("--secret", options->secret, "Print the secret key itself, in hex");
    auto* importing = with_password(named(add("import", "Take in a key file or a secret in hex", import_key)));
    importing->add_option("file", options->file, "Where it is; - is standard input");
    auto* passwd = with_password(named(add("passwd", "Change the password", change_password)));
    passwd->add_option("--new-password-file", options->new_password_file, "File whose first line is the new password");
    named(add("delete", "Delete a key", delete_key))->add_flag("--yes", options->yes, "Do not ask");
}

}  // namespace assay::cli
