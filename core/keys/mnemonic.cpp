// SPDX-License-Identifier: Apache-2.0
#include <core/keys/mnemonic.hpp>

#include <algorithm>
#include <optional>
#include <vector>

#include <cryptopp/hmac.h>
#include <cryptopp/pwdbased.h>
#include <cryptopp/sha.h>

#include <core/base/assert.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/key_tree.hpp>
#include <core/crypto/random.hpp>
#include <core/keys/mnemonic_words.hpp>

namespace assay::crypto {
namespace {

constexpr std::size_t kWords = 2'048;
constexpr unsigned kBitsPerWord = 11;
constexpr unsigned kRounds = 2'048;
constexpr std::size_t kWordLengthMax = 8;

const std::vector<std::string_view>& word_list() {
    static const std::vector<std::string_view> kList = [] {
        std::vector<std::string_view> out;
        std::string_view rest = mnemonic_words();
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find(' '), rest.size());
            out.push_back(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        ASSERT(out.size() == kWords);
        return out;
    }();
    return kList;
}

std::optional<std::size_t> number_of(std::string_view word) {
    const auto& list = word_list();  // sorted by bytes
    const auto found = std::lower_bound(list.begin(), list.end(), word);
    return found != list.end() && *found == word ? std::optional(static_cast<std::size_t>(found - list.begin()))
                                                 : std::nullopt;
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

void append_word(SecretText& to, std::string_view word) {
    if (!to.empty()) {
        to.push_back(' ');
    }
    for (const char c : word) {
        to.push_back(c);
    }
}

/// Bits of the entropy and its checksum, the most significant first; overwritten when they are released.
struct Bits {
    std::vector<std::uint8_t> bytes;
    explicit Bits(std::size_t count) : bytes(count) {}
    ~Bits() { wipe(bytes); }
    Bits(const Bits&) = delete;
    Bits& operator=(const Bits&) = delete;
    bool get(std::size_t at) const { return ((unsigned{bytes[at / 8]} >> (7 - at % 8)) & 1U) != 0; }
    void set(std::size_t at) { bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] | (0x80U >> (at % 8))); }
};

/// The numbers of a phrase's words, overwritten likewise.
struct Numbers {
    std::vector<std::size_t> list;
    ~Numbers() { std::fill(list.begin(), list.end(), 0); }
};

Result<void, PhraseProblem> read_numbers(std::string_view phrase, Numbers& out) {
    std::size_t count = 0;
    std::optional<std::size_t> unknown;
    for (std::size_t at = 0; at < phrase.size();) {
        if (is_space(phrase[at])) {
            ++at;
            continue;
        }
        SecretText word;
        while (at < phrase.size() && !is_space(phrase[at])) {
            if (word.view().size() <= kWordLengthMax) {
                word.push_back(to_lower(phrase[at]));
            }
            ++at;
        }
        ++count;
        const auto number = number_of(word.view());
        unknown = !unknown && !number ? std::optional(count) : unknown;
        out.list.push_back(number.value_or(0));
    }
    if (count < 12 || count > 24 || count % 3 != 0) {
        return Unexpected{PhraseProblem{PhraseError::kWordCount, count}};
    }
    if (unknown) {
        return Unexpected{PhraseProblem{PhraseError::kUnknownWord, *unknown}};
    }
    return {};
}

/// Whether the last bits are the first of the entropy's SHA-256.
bool has_checksum(const Numbers& numbers) {
    const std::size_t all = numbers.list.size() * kBitsPerWord;
    const std::size_t entropy_bits = all / 33 * 32;
    Bits bits(all / 8 + 1);
    for (std::size_t i = 0; i < all; ++i) {
        if (((numbers.list[i / kBitsPerWord] >> (kBitsPerWord - 1 - i % kBitsPerWord)) & 1U) != 0) {
            bits.set(i);
        }
    }
    const Hash256 hash = sha256(ByteView(bits.bytes).first(entropy_bits / 8));
    for (std::size_t i = 0; i < all - entropy_bits; ++i) {
        if (bits.get(entropy_bits + i) != (((unsigned{hash.data[0]} >> (7 - i)) & 1U) != 0)) {
            return false;
        }
    }
    return true;
}

struct Halves {
    std::array<std::uint8_t, 64> bytes{};
    ~Halves() { wipe(bytes); }
    ByteView left() const { return ByteView(bytes).first(32); }
    void right(std::array<std::uint8_t, 32>& out) const { std::copy(bytes.begin() + 32, bytes.end(), out.begin()); }
};

void hmac_sha512(ByteView key, ByteView message, Halves& out) {
    CryptoPP::HMAC<CryptoPP::SHA512> hmac(key.data(), key.size());
    hmac.CalculateDigest(out.bytes.data(), message.data(), message.size());
}

}  // namespace

std::string describe(const PhraseProblem& problem) {
    switch (problem.error) {
        case PhraseError::kWordCount:
            return "a backup phrase has 12, 15, 18, 21 or 24 words, and this one has " + std::to_string(problem.place);
        case PhraseError::kUnknownWord:
            return "word " + std::to_string(problem.place) +
                   " is in no backup phrase: compare its spelling with what was written down";
        case PhraseError::kChecksum:
            return "the words do not belong together: one of them is another one, or their order is";
        case PhraseError::kNotAscii:
            return "a passphrase may have letters, digits, spaces and signs of ASCII only";
    }
    return "this is no backup phrase";
}

SecretText to_phrase(ByteView entropy) {
    ASSERT(entropy.size() >= 16 && entropy.size() <= 32 && entropy.size() % 4 == 0);
    Bits bits(entropy.size() + 1);
    std::copy(entropy.begin(), entropy.end(), bits.bytes.begin());
    bits.bytes.back() = sha256(entropy).data[0];
    const std::size_t words = entropy.size() * 8 / 32 * 3;
    SecretText out;
    for (std::size_t word = 0; word < words; ++word) {
        std::size_t number = 0;
        for (unsigned bit = 0; bit < kBitsPerWord; ++bit) {
            number = number * 2 + (bits.get(word * kBitsPerWord + bit) ? 1U : 0U);
        }
        append_word(out, word_list()[number]);
    }
    return out;
}

SecretText new_phrase() {
    std::array<std::uint8_t, 32> entropy{};
    fill_random(entropy);
    SecretText out = to_phrase(entropy);
    wipe(entropy);
    return out;
}

Result<SecretText, PhraseProblem> normal_phrase(std::string_view phrase) {
    Numbers numbers;
    if (auto read = read_numbers(phrase, numbers); !read) {
        return Unexpected{read.error()};
    }
    if (!has_checksum(numbers)) {
        return Unexpected{PhraseProblem{PhraseError::kChecksum}};
    }
    SecretText out;
    for (const std::size_t number : numbers.list) {
        append_word(out, word_list()[number]);
    }
    return out;
}

Seed::~Seed() { wipe(bytes); }

Result<Seed, PhraseProblem> seed_of_phrase(std::string_view phrase, std::string_view passphrase) {
    const auto normal = normal_phrase(phrase);
    if (!normal) {
        return Unexpected{normal.error()};
    }
    if (std::any_of(passphrase.begin(), passphrase.end(), [](char c) { return c < ' ' || c > '~'; })) {
        return Unexpected{PhraseProblem{PhraseError::kNotAscii}};
    }
    SecretText salt;
    for (const char c : std::string_view("mnemonic")) {
        salt.push_back(c);
    }
    for (const char c : passphrase) {
        salt.push_back(c);
    }
    const ByteView words = as_bytes(normal->view());
    const ByteView salted = as_bytes(salt.view());
    Seed out;
    CryptoPP::PKCS5_PBKDF2_HMAC<CryptoPP::SHA512>().DeriveKey(
        out.bytes.data(), out.bytes.size(), 0, words.data(), words.size(), salted.data(), salted.size(), kRounds
    );
    return out;
}

Result<ExtendedKey, KeyError> master_key(ByteView seed) {
    ASSERT(seed.size() >= 16 && seed.size() <= 64);
    Halves halves;
    hmac_sha512(as_bytes(std::string_view("Bitcoin seed")), seed, halves);
    auto key = SecretKey::from_bytes(halves.left());
    if (!key) {
        return Unexpected{key.error()};
    }
    ExtendedKey out{.key = *key};
    halves.right(out.chain_code);
    return out;
}

Result<ExtendedKey, KeyError> child_key(const ExtendedKey& parent, std::uint32_t index) {
    std::array<std::uint8_t, 37> message{};
    if ((index & kHardened) != 0) {
        std::copy(parent.key.bytes().begin(), parent.key.bytes().end(), message.begin() + 1);
    } else {
        const auto point = compressed_public_key(parent.key);
        std::copy(point.begin(), point.end(), message.begin());
    }
    for (unsigned i = 0; i < 4; ++i) {
        message[33 + i] = static_cast<std::uint8_t>(index >> (24 - 8 * i));
    }
    Halves halves;
    hmac_sha512(parent.chain_code, message, halves);
    wipe(message);
    auto key = sum_of(parent.key, halves.left());
    if (!key) {
        return Unexpected{key.error()};
    }
    ExtendedKey out{.key = *key};
    halves.right(out.chain_code);
    return out;
}

Result<SecretKey, PhraseProblem> key_of_phrase(std::string_view phrase, std::string_view passphrase) {
    const auto seed = seed_of_phrase(phrase, passphrase);
    if (!seed) {
        return Unexpected{seed.error()};
    }
    auto node = master_key(seed->bytes);
    for (const std::uint32_t index : {44U, kCoinType, 0U}) {
        // A node without a key has never been seen: 2^-127 for each.
        ASSERT(node.has_value());
        node = child_key(*node, index | kHardened);
    }
    ASSERT(node.has_value());
    return node->key;
}

}  // namespace assay::crypto
