// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <core/crypto/keys.hpp>
#include <core/keys/key_directory.hpp>
#include <core/keys/private_file.hpp>
#include <verifier/ui/settings.hpp>

namespace assay::ui {

/// The one key of a home, sealed in <home>/keys/worker.json. Its backup phrase is in memory from begin() until the
/// owner has shown that it was written down, and in no file. Thread-safe; one password is tried at a time, each of
/// which takes 128 MiB for a moment.
class Keyring {
  public:
    static constexpr const char* kName = "worker";
    static constexpr std::size_t kPasswordLeast = 8;
    /// How many words of a new phrase are asked back.
    static constexpr std::size_t kAsked = 4;

    explicit Keyring(const std::filesystem::path& home, crypto::KeystoreCost cost = {})
        : folder_(home / "keys"), directory_(home), cost_(cost) {}

    /// The account of the sealed key, without its password; nullopt if there is no key. Throws crypto::KeyFileError.
    std::optional<AccountId> account() const;

    struct NewPhrase {
        std::vector<std::string> words;
        std::vector<std::size_t> asked;  ///< numbers of words, from 1, that confirm() wants
    };
    /// Makes a phrase, which replaces one that was not confirmed. Throws InputError if there is a key.
    NewPhrase begin();
    /// Seals the key of the phrase that begin() made. `answers` are the words that were asked, by number. Throws
    /// InputError if one is wrong, for a short password, and without a phrase.
    AccountId confirm(const std::map<std::size_t, std::string>& answers, std::string_view password);
    /// Seals the key of a phrase that was written down. Throws InputError.
    AccountId restore(std::string_view phrase, std::string_view passphrase, std::string_view password);
    /// Opens the key. Throws InputError for a wrong password and without a key.
    crypto::SecretKey open(std::string_view password) const;

  private:
    AccountId seal(std::string_view phrase, std::string_view passphrase, std::string_view password);
    void refuse_second() const;

    const std::filesystem::path folder_;
    const crypto::KeyDirectory directory_;
    const crypto::KeystoreCost cost_;
    mutable std::mutex mutex_;
    crypto::SecretText pending_{};
    std::vector<std::size_t> asked_{};
};

}  // namespace assay::ui
