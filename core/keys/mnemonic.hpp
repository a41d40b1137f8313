// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/crypto/keys.hpp>
#include <core/keys/private_file.hpp>

/// Backup phrases (BIP-39, English words) and the keys that follow from them (BIP-32).
namespace assay::crypto {

enum class [[nodiscard]] PhraseError : std::uint8_t{
    kWordCount = 1,    ///< not 12, 15, 18, 21 or 24 words
    kUnknownWord = 2,  ///< a word is not in the list
    kChecksum = 3,     ///< every word is in the list, but the phrase's checksum is wrong
    kNotAscii = 4,  ///< the passphrase has other characters than printable ASCII, whose NFKD form is not computed here
};

/// What is wrong with a phrase. It never contains a word.
struct PhraseProblem {
    PhraseError error;
    std::size_t place = 0;  ///< kUnknownWord: the word's number, from 1; kWordCount: how many there are
};
/// Returns a sentence that says what to do.
std::string describe(const PhraseProblem& problem);

/// Returns the phrase of 16, 20, 24, 28 or 32 bytes of entropy.
SecretText to_phrase(ByteView entropy);
/// Returns a phrase of 24 words from the operating system's random source.
SecretText new_phrase();
/// Returns the phrase in lower case with single spaces, if its words and its checksum are right.
Result<SecretText, PhraseProblem> normal_phrase(std::string_view phrase);

/// 64 bytes that are overwritten when they are released.
struct Seed {
    Seed() = default;
    Seed(const Seed&) = default;
    Seed& operator=(const Seed&) = default;
    ~Seed();
    std::array<std::uint8_t, 64> bytes{};
};
/// BIP-39: PBKDF2-HMAC-SHA512 of the phrase, 2,048 rounds. A passphrase gives other keys for the same phrase. It may
/// have printable ASCII characters alone (kNotAscii), which are their own NFKD form, as the English words are.
Result<Seed, PhraseProblem> seed_of_phrase(std::string_view phrase, std::string_view passphrase = {});

/// A node of the tree of private keys of BIP-32.
struct ExtendedKey {
    SecretKey key;
    std::array<std::uint8_t, 32> chain_code{};
};
/// BIP-32's bit of an index for children that follow from the private key alone.
inline constexpr std::uint32_t kHardened = 0x80000000U;
/// Returns BIP-32's master node of 16 to 64 bytes. Fails for a seed that gives no valid key, with a probability of
/// 2^-127.
Result<ExtendedKey, KeyError> master_key(ByteView seed);
/// Returns BIP-32's child of a private node (CKDpriv). Fails as rarely as master_key().
Result<ExtendedKey, KeyError> child_key(const ExtendedKey& parent, std::uint32_t index);

/// The type of coin in the path of our keys: "ASY" in ASCII. SLIP-44 has not registered it.
inline constexpr std::uint32_t kCoinType = 0x41'53'59;
/// The path of the key that a phrase restores, as BIP-32 writes it.
inline constexpr const char* kPhrasePath = "m/44'/4281177'/0'";
/// Returns the signing key at kPhrasePath of the phrase's tree: the same for the same phrase and passphrase.
Result<SecretKey, PhraseProblem> key_of_phrase(std::string_view phrase, std::string_view passphrase = {});

}  // namespace assay::crypto
