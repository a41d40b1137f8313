// SPDX-License-Identifier: Apache-2.0
// Seals and opens by ECIES, one line each, for check_ecies.py:
//     seal ACCOUNT PLAINTEXT EPHEMERAL NONCE
//     open SECRET SEALED
// Everything is hexadecimal, "-" is empty; prints the result, or "none".
#include <algorithm>
#include <iostream>
#include <optional>
#include <string>

#include <core/crypto/ecies.hpp>

namespace assay {
namespace {

Bytes word_of(std::istream& in) {
    std::string word;
    in >> word;
    return word == "-" ? Bytes{} : from_hex(word).value();
}

std::optional<Bytes> answer(const std::string& order, std::istream& in) {
    if (order == "open") {
        const auto secret = crypto::SecretKey::from_bytes(word_of(in));
        const Bytes sealed = word_of(in);
        return secret ? crypto::open_with_key(*secret, sealed) : std::nullopt;
    }
    AccountId reader;
    const Bytes account = word_of(in);
    const Bytes plaintext = word_of(in);
    const Bytes ephemeral = word_of(in);
    const Bytes nonce = word_of(in);
    crypto::EciesEntropy entropy;
    if (account.size() != 32 || ephemeral.size() != 32 || nonce.size() != 16) {
        return std::nullopt;
    }
    std::copy(account.begin(), account.end(), reader.data.begin());
    std::copy(ephemeral.begin(), ephemeral.end(), entropy.ephemeral.begin());
    std::copy(nonce.begin(), nonce.end(), entropy.nonce.begin());
    return crypto::seal_to(reader, plaintext, entropy);
}

int run() {
    std::string order;
    while (std::cin >> order) {
        const auto result = answer(order, std::cin);
        std::cout << (result ? "=" + to_hex(*result) : "none") << std::endl;
    }
    return 0;
}

}  // namespace
}  // namespace assay

int main() { return assay::run(); }
