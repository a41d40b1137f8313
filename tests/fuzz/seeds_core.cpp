// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <core/crypto/hash.hpp>
#include <core/keys/keystore.hpp>
#include <core/merkle/jmt.hpp>
#include <core/merkle/range.hpp>
#include <tests/fuzz/seeds.hpp>
#include <tests/fuzz/shapes.hpp>
#include <tests/fuzz/snapshot_shapes.hpp>

namespace assay::fuzz {
namespace {

class Nodes final : public merkle::NodeReader {
  public:
    std::optional<Bytes> read_node(const merkle::NodeKey& key) const override {
        const auto found = nodes_.find(key);
        return found == nodes_.end() ? std::nullopt : std::optional(found->second);
    }
    void add(const merkle::TreeUpdate& update) { nodes_.insert(update.nodes.begin(), update.nodes.end()); }

  private:
    std::map<merkle::NodeKey, Bytes> nodes_;
};

void write_jmt(const CorpusWriter& out) {
    Nodes nodes;
    std::map<Bytes, std::optional<Bytes>> changes;
    for (std::uint8_t i = 0; i < 40; ++i) {
        changes[Bytes{i}] = Bytes(i, i);
    }
    const merkle::TreeUpdate update = merkle::update_tree(nodes, std::nullopt, 1, changes);
    nodes.add(update);
    for (const std::uint8_t key : Bytes{0, 7, 39, 40, 41, 200}) {
        JmtClaim claim{.root = update.root, .key = {key}, .value = {}, .proof = merkle::prove(nodes, 1, Bytes{key})};
        if (key < 40) {
            claim.value = Bytes(key, key);
        }
        out.write("jmt", "claim_" + std::to_string(key), codec::encode(claim));
        claim.root = Hash256{};
        out.write("jmt", "refuted_" + std::to_string(key), codec::encode(claim));
        out.write("jmt", "proof_" + std::to_string(key), codec::encode(claim.proof));
    }
}

void write_snapshot(const CorpusWriter& out) {
    Nodes nodes;
    std::map<Bytes, std::optional<Bytes>> changes;
    std::vector<snapshot::Slot> slots;
    for (std::uint8_t i = 0; i < 40; ++i) {
        changes[Bytes{i}] = Bytes(i, i);
        slots.push_back({Bytes{i}, Bytes(i, i)});
    }
    const auto hash_of = [](const snapshot::Slot& slot) { return crypto::sha256(slot.key); };
    std::sort(slots.begin(), slots.end(), [&](const auto& a, const auto& b) { return hash_of(a) < hash_of(b); });
    const merkle::TreeUpdate update = merkle::update_tree(nodes, std::nullopt, 1, changes);
    nodes.add(update);
    snapshot::Metadata metadata{.height = Height{1}, .chunks = {}};
    std::optional<merkle::LeafHashes> after;
    for (std::size_t begin = 0; begin < slots.size(); begin += 16) {
        const std::size_t end = std::min(begin + 16, slots.size());
        const auto range = merkle::prove_range(nodes, 1, after ? std::optional(after->key_hash) : std::nullopt, 16);
        const auto from = slots.begin() + static_cast<std::ptrdiff_t>(begin);
        ChunkClaim claim{
            .root = update.root, .after = after, .chunk = {.slots = {}, .left = range.left, .right = range.right}};
        claim.chunk.slots.assign(from, from + static_cast<std::ptrdiff_t>(end - begin));
        after = range.leaves.back();
        metadata.chunks.push_back(crypto::sha256(codec::encode(claim.chunk)));
        out.write("snapshot", "chunk_" + std::to_string(begin), codec::encode(claim.chunk));
        out.write("snapshot", "claim_" + std::to_string(begin), codec::encode(claim));
        claim.root = Hash256{};
        out.write("snapshot", "refuted_" + std::to_string(begin), codec::encode(claim));
    }
    ChunkClaim whole{.root = update.root, .after = {}, .chunk = {.slots = slots, .left = {}, .right = {}}};
    out.write("snapshot", "whole", codec::encode(whole));
    out.write("snapshot", "metadata", codec::encode(metadata));
}

void write_keystore(const CorpusWriter& out) {
    // The secret key 3 sealed under "password" (tests/vectors has how).
    KeystoreCase sealed{.account = {}, .n = 4, .r = 1, .p = 1, .ciphertext = Bytes(48), .password = "password"};
    out.write("keystore", "wrong_password", codec::encode(sealed));
    sealed.n = 3;
    out.write("keystore", "bad_cost", codec::encode(sealed));
    sealed.n = std::uint64_t{1} << 62U;
    out.write("keystore", "huge_cost", codec::encode(sealed));
    sealed.n = 2;
    sealed.ciphertext.pop_back();
    out.write("keystore", "short", codec::encode(sealed));
}

}  // namespace

void write_core_seeds(const CorpusWriter& out) {
    out.write("hex", "lower", "00ff10ab");
    out.write("hex", "mixed", "00fF10aB");
    out.write("hex", "odd", "123");
    out.write("hex", "hash", to_hex(crypto::sha256({}).view()));
    AccountId account;
    account.data.fill(0x5a);
    const std::string address = crypto::to_address(account);
    out.write("address", "assay", address);
    out.write("address", "wrong_checksum", address.substr(0, address.size() - 1) + (address.back() == 'q' ? 'p' : 'q'));
    out.write("address", "bip350_empty", "a1lqfn3a");
    out.write("address", "bip350_upper", "A1LQFN3A");
    out.write("address", "bip350_data", "abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx");
    out.write("address", "bech32_not_m", "a12uel5l");
    write_jmt(out);
    write_snapshot(out);
    write_keystore(out);
}

}  // namespace assay::fuzz
