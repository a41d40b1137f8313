// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <crypto++/osrng.h>
#include <crypto++/xed25519.h>

#include <consensus/light/light_block.hpp>

/// Chains of light blocks that tests sign themselves.
namespace assay::light::test {

/// A validator that can sign.
struct Signer {
    explicit Signer(std::uint8_t number) : key(Bytes(32, number)) {
        CryptoPP::ed25519Signer signer(key.data());
        const auto& secret = static_cast<const CryptoPP::ed25519PrivateKey&>(signer.GetPrivateKey());
        validator.public_key.assign(secret.GetPublicKeyBytePtr(), secret.GetPublicKeyBytePtr() + 32);
        validator.power = 10;
    }
    Bytes sign(const Bytes& message) const {
        const CryptoPP::ed25519Signer signer(key.data());
        Bytes out(64);
        CryptoPP::AutoSeededRandomPool random;
        signer.SignMessage(random, message.data(), message.size(), out.data());
        return out;
    }
    Bytes key;
    Validator validator;
};

inline Bytes bytes_of(const Hash256& hash) { return {hash.data.begin(), hash.data.end()}; }

/// A chain whose validators change as a test says: at height h those of numbers set(h).
class Chain {
  public:
    using Numbers = std::vector<std::uint8_t>;
    explicit Chain(std::function<Numbers(std::uint64_t)> set) : set_(std::move(set)) {}

    LightBlock block(std::uint64_t height) const {
        const std::vector<Signer> signers = signers_at(height);
        LightBlock out;
        out.validators = validators_of(signers);
        out.header.chain_id = "made";
        out.header.height = height;
        out.header.time = {.seconds = static_cast<std::int64_t>(1'000'000 + height), .nanos = 0};
        out.header.validators_hash = bytes_of(validators_hash(out.validators));
        out.header.next_validators_hash = bytes_of(validators_hash(validators_of(signers_at(height + 1))));
        out.header.app_hash = Bytes(32, static_cast<std::uint8_t>(height));
        sign(out, signers);
        return out;
    }
    static void sign(LightBlock& block, const std::vector<Signer>& signers) {
        block.commit.height = block.header.height;
        block.commit.block_id.hash = bytes_of(header_hash(block.header));
        block.commit.signatures.assign(signers.size(), {});
        for (std::size_t i = 0; i < signers.size(); ++i) {
            block.commit.signatures[i] = {VoteFlag::kCommit, address_of(signers[i].validator), block.header.time, {}};
            block.commit.signatures[i].signature =
                signers[i].sign(vote_sign_bytes(block.commit, block.header.chain_id, i));
        }
    }
    std::vector<Signer> signers_at(std::uint64_t height) const {
        std::vector<Signer> out;
        for (const std::uint8_t number : set_(height)) {
            out.emplace_back(number);
        }
        return out;
    }

  private:
    static std::vector<Validator> validators_of(const std::vector<Signer>& signers) {
        std::vector<Validator> out;
        for (const Signer& signer : signers) {
            out.push_back(signer.validator);
        }
        return out;
    }
    std::function<Numbers(std::uint64_t)> set_;
};

}  // namespace assay::light::test
