// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/keyring.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <core/crypto/random.hpp>
#include <core/keys/mnemonic.hpp>

namespace assay::ui {
namespace {

std::vector<std::string> words_of(std::string_view phrase) {
    std::vector<std::string> out;
    while (!phrase.empty()) {
        const std::size_t end = std::min(phrase.find(' '), phrase.size());
        out.emplace_back(phrase.substr(0, end));
        phrase.remove_prefix(std::min(end + 1, phrase.size()));
    }
    return out;
}

/// Different numbers from 1 to `count`, in order.
std::vector<std::size_t> some_of(std::size_t count, std::size_t wanted) {
    std::set<std::size_t> out;
    while (out.size() < wanted) {
        std::array<std::uint8_t, 1> byte{};
        crypto::fill_random(byte);
        out.insert(byte[0] % count + 1);
    }
    return {out.begin(), out.end()};
}

std::string lower(std::string_view word) {
    std::string out;
    for (const char c : word) {
        if (c != ' ') {
            out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
        }
    }
    return out;
}

}  // namespace

std::optional<AccountId> Keyring::account() const {
    return directory_.has(kName) ? std::optional(directory_.read(kName).account) : std::nullopt;
}

void Keyring::refuse_second() const {
    if (directory_.has(kName)) {
        throw InputError("this home has a key already; another key needs another --home");
    }
}

Keyring::NewPhrase Keyring::begin() {
    const std::lock_guard lock(mutex_);
    refuse_second();
    pending_ = crypto::new_phrase();
    NewPhrase out{.words = words_of(pending_.view()), .asked = {}};
    out.asked = some_of(out.words.size(), kAsked);
    asked_ = out.asked;
    return out;
}

AccountId Keyring::confirm(const std::map<std::size_t, std::string>& answers, std::string_view password) {
    const std::lock_guard lock(mutex_);
    if (pending_.empty()) {
        throw InputError("no phrase waits to be confirmed: begin again");
    }
    std::vector<std::string> words = words_of(pending_.view());
    for (const std::size_t number : asked_) {
        const auto answer = answers.find(number);
        if (answer == answers.end() || lower(answer->second) != words[number - 1]) {
            throw InputError("word " + std::to_string(number) + " is another one: look at what you wrote down");
        }
    }
    const AccountId account = seal(pending_.view(), {}, password);
    pending_ = {};
    asked_.clear();
    return account;
}

AccountId Keyring::restore(std::string_view phrase, std::string_view passphrase, std::string_view password) {
    const std::lock_guard lock(mutex_);
    return seal(phrase, passphrase, password);
}

AccountId Keyring::seal(std::string_view phrase, std::string_view passphrase, std::string_view password) {
    refuse_second();
    if (password.size() < kPasswordLeast) {
        throw InputError(
            "a password has " + std::to_string(kPasswordLeast) +
            " characters or more: it seals the key against others who can read this disk"
        );
    }
    const auto key = crypto::key_of_phrase(phrase, passphrase);
    if (!key) {
        throw InputError(crypto::describe(key.error()));
    }
    // Not add(): a death while it writes would leave a part of a key, which nobody could replace on the page.
    std::filesystem::create_directories(folder_);
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    directory_.replace(kName, crypto::seal_key(*key, password, cost_));
    return key->account();
}

crypto::SecretKey Keyring::open(std::string_view password) const {
    const std::lock_guard lock(mutex_);
    if (!directory_.has(kName)) {
        throw InputError("there is no key yet: make one, or restore one from its phrase");
    }
    const auto key = crypto::open_key(directory_.read(kName), password);
    if (!key) {
        throw InputError(
            key.error() == crypto::KeystoreError::kWrongPassword
                ? "the password is wrong, or the key file was altered"
                : "the key file is not one that this version can open: restore the key from its phrase in another home"
        );
    }
    return *key;
}

}  // namespace assay::ui
