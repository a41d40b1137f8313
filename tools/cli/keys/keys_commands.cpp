// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/common/commands.hpp>

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include <core/crypto/address.hpp>
#include <core/crypto/random.hpp>
#include <tools/cli/common/add_command.hpp>
#include <tools/cli/common/arguments.hpp>
#include <core/keys/key_directory.hpp>
#include <core/keys/mnemonic.hpp>
#include <core/keys/password.hpp>
#include <tools/cli/common/table.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct KeysArguments {
    std::string name;
    std::string file;
    std::string password_file;
    std::string new_password_file;
    std::string phrase_file;
    std::string passphrase_file;
    bool phrase = false;
    bool secret = false;
    bool yes = false;
};

crypto::SecretText new_password(const std::string& file, const char* variable, const std::string& name) {
    crypto::SecretText password =
        crypto::read_password({.file = file, .variable = variable, .prompt = "New password for " + name, .twice = true}
        );
    if (password.empty()) {
        throw usage("an empty password would leave the key open to everybody who can read its file");
    }
    return password;
}

json describe(const std::string& name, const AccountId& account) {
    return {{"name", name}, {"account", crypto::to_address(account)}, {"hex", to_hex(account.view())}};
}

int print_key(const Session& session, const std::string& name, const AccountId& account) {
    const json key = describe(name, account);
    Facts facts;
    facts.add("name", name);
    facts.add("account", to_text(key.at("account")));
    facts.add("hex", to_text(key.at("hex")));
    session.print(key, facts.text());
    return kExitOk;
}

void refuse_taken(const crypto::KeyDirectory& keys, const std::string& name) {
    if (keys.has(name)) {
        throw usage("there is a key named \"" + name + "\" already");
    }
}

/// The secret text of a file, or of the terminal without echo; empty if there is no file and it is not asked for.
crypto::SecretText secret_text(const std::string& file, const char* prompt, bool is_asked) {
    if (file.empty() && !is_asked) {
        return {};
    }
    // No environment: a phrase would stand in it for good.
    return crypto::read_password({.file = file, .variable = "", .prompt = prompt, .twice = false});
}

/// Makes a key from a new phrase, which is printed once. On a terminal it is asked back before the key is kept.
int run_new_phrase(const Session& session, const KeysArguments& a) {
    const crypto::KeyDirectory keys(session.home);
    const crypto::SecretText phrase = crypto::new_phrase();
    const crypto::SecretText passphrase = secret_text(a.passphrase_file, "Passphrase", false);
    const auto key = crypto::key_of_phrase(phrase.view(), passphrase.view());
    if (!key) {
        throw usage(crypto::describe(key.error()));
    }
    const bool is_asked_back = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
    if (is_asked_back) {
        std::cout << "Write these words down; they are shown this once:\n\n" << phrase.view() << "\n" << std::endl;
        const auto typed = crypto::normal_phrase(secret_text({}, "The words again", true).view());
        if (!typed || typed->view() != phrase.view()) {
            throw usage("these are other words, and no key was made: give the command again for a new phrase");
        }
    }
    keys.add(a.name, crypto::seal_key(*key, new_password(a.password_file, "ASSAY_PASSWORD", a.name).view()));
    if (is_asked_back) {
        return print_key(session, a.name, key->account());
    }
    json answer = describe(a.name, key->account());
    answer["phrase"] = phrase.view();
    answer["path"] = crypto::kPhrasePath;
    Facts facts;
    for (const char* name : {"name", "account", "hex", "phrase", "path"}) {
        facts.add(name, to_text(answer.at(name)));
    }
    session.print(answer, facts.text());
    return kExitOk;
}

int run_restore(const Session& session, const KeysArguments& a) {
    const crypto::KeyDirectory keys(session.home);
    refuse_taken(keys, a.name);
    const crypto::SecretText phrase = secret_text(a.phrase_file, "Backup phrase", true);
    const crypto::SecretText passphrase = secret_text(a.passphrase_file, "Passphrase", false);
    const auto key = crypto::key_of_phrase(phrase.view(), passphrase.view());
    if (!key) {
        throw usage(crypto::describe(key.error()));
    }
    keys.add(a.name, crypto::seal_key(*key, new_password(a.password_file, "ASSAY_PASSWORD", a.name).view()));
    return print_key(session, a.name, key->account());
}

int run_new(const Session& session, const KeysArguments& a) {
    const crypto::KeyDirectory keys(session.home);
    refuse_taken(keys, a.name);
    if (a.phrase) {
        return run_new_phrase(session, a);
    }
    const crypto::SecretKey key = crypto::SecretKey::generate();
    keys.add(a.name, crypto::seal_key(key, new_password(a.password_file, "ASSAY_PASSWORD", a.name).view()));
    return print_key(session, a.name, key.account());
}

int run_list(const Session& session) {
    json all = json::array();
    Table table({"NAME", "ACCOUNT"});
    const crypto::KeyDirectory keys(session.home);
    for (const std::string& name : keys.list()) {
        const json key = describe(name, keys.read(name).account);
        table.add({name, to_text(key.at("account"))});
        all.push_back(key);
    }
    session.print({{"keys", all}}, table.empty() ? "no keys in " + (session.home / "keys").string() : table.text());
    return kExitOk;
}

int run_export(const Session& session, const KeysArguments& a) {
    const crypto::SealedKey sealed = crypto::KeyDirectory(session.home).read(a.name);
    std::string text = crypto::to_key_json(sealed);
    json answer = json::parse(text);
    if (a.secret) {
        text = to_hex(unlock(session, {.from = a.name, .password_file = a.password_file}).bytes()) + "\n";
        answer = describe(a.name, sealed.account);
        answer["secret"] = text.substr(0, text.size() - 1);
    }
    if (!a.file.empty()) {
        crypto::write_private_file(a.file, text);
        answer = describe(a.name, sealed.account);
        answer["file"] = a.file;
        text = a.name + " is written to " + a.file;
    }
    session.print(answer, text);
    return kExitOk;
}

crypto::SecretText import_text(const std::string& file) {
    if (file == "-") {
        crypto::SecretText out;
        for (char c = 0; std::cin.get(c);) {
            out.push_back(c);
        }
        return out;
    }
    return crypto::read_secret(file);
}

/// A key file, or 64 hex digits of a secret. Neither is taken from a file that others can read.
int run_import(const Session& session, const KeysArguments& a) {
    const crypto::KeyDirectory keys(session.home);
    refuse_taken(keys, a.name);
    const crypto::SecretText text = import_text(a.file);
    if (text.view().find('{') != std::string_view::npos) {
        const crypto::SealedKey sealed = crypto::decode_key_json(text.view(), a.file);
        keys.add(a.name, sealed);
        return print_key(session, a.name, sealed.account);
    }
    const crypto::SecretKey key = crypto::decode_hex_key(text.view(), a.file);
    keys.add(a.name, crypto::seal_key(key, new_password(a.password_file, "ASSAY_PASSWORD", a.name).view()));
    return print_key(session, a.name, key.account());
}

int run_passwd(const Session& session, const KeysArguments& a) {
    const crypto::SecretKey key = unlock(session, {.from = a.name, .password_file = a.password_file});
    const crypto::SecretText password = new_password(a.new_password_file, "ASSAY_NEW_PASSWORD", a.name);
    crypto::KeyDirectory(session.home).replace(a.name, crypto::seal_key(key, password.view()));
    return print_key(session, a.name, key.account());
}

int run_delete(const Session& session, const KeysArguments& a) {
    const crypto::KeyDirectory keys(session.home);
    const AccountId account = keys.read(a.name).account;
    if (!a.yes) {
        throw usage(
            "deleting " + a.name + " gives up whatever " + crypto::to_address(account) + " owns", "say --yes to do it"
        );
    }
    keys.remove(a.name);
    session.print(describe(a.name, account), a.name + " is deleted");
    return kExitOk;
}

CLI::App* add_named(
    CLI::App& group, Session& session, const char* name, const char* help, const std::shared_ptr<KeysArguments>& a,
    int (*run)(const Session&, const KeysArguments&)
) {
    CLI::App* const command = add_command(group, session, name, help, a, run);
    command->add_option("name", a->name, "Name of the key")->required();
    return command;
}

void add_password_option(CLI::App& command, KeysArguments& a) {
    command.add_option(
        "--password-file", a.password_file,
        "File whose first line is the key's password; default: $ASSAY_PASSWORD, or asked for"
    );
}

void add_phrase_options(CLI::App& command, KeysArguments& a) {
    add_password_option(command, a);
    command.add_option(
        "--passphrase-file", a.passphrase_file,
        "File whose first line is a passphrase, in ASCII, that goes with the phrase; default: none"
    );
}

}  // namespace

void add_keys_commands(CLI::App& app, Session& session) {
    CLI::App& group =
        *app.add_subcommand("keys", "Keys, sealed under passwords, in <home>/keys")->require_subcommand(1);
    auto a = std::make_shared<KeysArguments>();
    CLI::App* fresh = add_named(group, session, "new", "Make a key", a, run_new);
    fresh->add_flag("--phrase", a->phrase, "From a backup phrase of 24 words, which is shown once");
    add_phrase_options(*fresh, *a);
    CLI::App* restore = add_named(group, session, "restore", "Make the key of a backup phrase again", a, run_restore);
    restore->add_option("--phrase-file", a->phrase_file, "File whose first line is the phrase; default: asked for");
    add_phrase_options(*restore, *a);
    CLI::App* list = group.add_subcommand("list", "List names and accounts; needs no password");
    list->callback([&session] { session.command = [&session] { return run_list(session); }; });
    add_named(
        group, session, "show", "Show a key's account; needs no password", a,
        [](const Session& s, const KeysArguments& b) {
            return print_key(s, b.name, crypto::KeyDirectory(s.home).read(b.name).account);
        }
    );
    CLI::App* to_file =
        add_named(group, session, "export", "The sealed key, or with --secret the secret itself", a, run_export);
    to_file->add_flag("--secret", a->secret, "The secret as hex, for whoever must sign without a password");
    to_file->add_option("--out", a->file, "Write a new file, mode 0600, instead of stdout");
    add_password_option(*to_file, *a);
    CLI::App* from_file = add_named(group, session, "import", "Take in a key file, or a secret as hex", a, run_import);
    from_file->add_option("file", a->file, "The key file, or a file with the secret in hex; - is stdin")->required();
    add_password_option(*from_file, *a);
    CLI::App* passwd = add_named(group, session, "passwd", "Change a key's password", a, run_passwd);
    add_password_option(*passwd, *a);
    passwd->add_option("--new-password-file", a->new_password_file, "Default: $ASSAY_NEW_PASSWORD, or asked for");
    CLI::App* erase = add_named(group, session, "delete", "Delete a key for good", a, run_delete);
    erase->add_flag("--yes", a->yes, "No way back");
}

}  // namespace assay::cli
