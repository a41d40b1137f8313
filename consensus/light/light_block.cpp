// SPDX-License-Identifier: Apache-2.0
#include <consensus/light/light_block.hpp>

#include <bit>

#include <core/crypto/hash.hpp>

namespace assay::light {
namespace {

constexpr std::uint64_t kPrecommit = 2;
constexpr std::size_t kAddressBytes = 20;

/// The protobuf encoding, as far as these messages need it: fields in order, defaults left out.
class Message {
  public:
    Message& number(unsigned field, std::uint64_t value) {
        if (value != 0) {
            tag(field, 0);
            varint(value);
        }
        return *this;
    }
    Message& fixed64(unsigned field, std::uint64_t value) {
        if (value != 0) {
            tag(field, 1);
            for (unsigned shift = 0; shift < 64; shift += 8) {
                bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
            }
        }
        return *this;
    }
    Message& bytes(unsigned field, ByteView value) { return value.empty() ? *this : always(field, value); }
    /// Written even when it is empty.
    Message& always(unsigned field, ByteView value) {
        tag(field, 2);
        varint(value.size());
        append(bytes_, value);
        return *this;
    }
    const Bytes& encoded() const { return bytes_; }
    /// The encoding with its length before it.
    Bytes delimited() const {
        Message out;
        out.varint(bytes_.size());
        append(out.bytes_, bytes_);
        return out.bytes_;
    }

  private:
    void tag(unsigned field, unsigned type) { varint(field << 3U | type); }
    void varint(std::uint64_t value) {
        while (value >= 0x80U) {
            bytes_.push_back(static_cast<std::uint8_t>(value | 0x80U));
            value >>= 7U;
        }
        bytes_.push_back(static_cast<std::uint8_t>(value));
    }
    Bytes bytes_;
};

ByteView view_of(const std::string& text) {
    return {static_cast<const std::uint8_t*>(static_cast<const void*>(text.data())), text.size()};
}

Bytes encode(const Timestamp& time) {
    return Message()
        .number(1, static_cast<std::uint64_t>(time.seconds))
        .number(2, static_cast<std::uint64_t>(static_cast<std::int64_t>(time.nanos)))
        .encoded();
}

Bytes encode(const BlockId& id) {
    const Message parts = Message().number(1, id.parts).bytes(2, id.parts_hash);
    return Message().bytes(1, id.hash).always(2, parts.encoded()).encoded();
}

/// A scalar as a leaf: wrapped in a message of its own, empty when it is the default.
Bytes wrap(ByteView value) { return Message().bytes(1, value).encoded(); }

Hash256 hash_leaf(ByteView leaf) {
    constexpr std::array<std::uint8_t, 1> kLeaf{0};
    return crypto::Sha256().update(kLeaf).update(leaf).finish();
}

Hash256 hash_pair(const Hash256& left, const Hash256& right) {
    constexpr std::array<std::uint8_t, 1> kPair{1};
    return crypto::Sha256().update(kPair).update(left.view()).update(right.view()).finish();
}

}  // namespace

Hash256 rfc6962_root(const std::vector<Bytes>& leaves) {
    if (leaves.empty()) {
        return crypto::sha256({});
    }
    // Complete subtrees from the left, each with its height; the tree is their fold from the right.
    struct Subtree {
        Hash256 root;
        unsigned height = 0;
    };
    std::vector<Subtree> subtrees;
    for (const Bytes& leaf : leaves) {
        Subtree next{hash_leaf(leaf), 0};
        while (!subtrees.empty() && subtrees.back().height == next.height) {
            next = {hash_pair(subtrees.back().root, next.root), next.height + 1};
            subtrees.pop_back();
        }
        subtrees.push_back(next);
    }
    Hash256 root = subtrees.back().root;
    for (std::size_t i = subtrees.size() - 1; i-- > 0;) {
        root = hash_pair(subtrees[i].root, root);
    }
    return root;
}

Hash256 header_hash(const Header& h) {
    return rfc6962_root(
        {Message().number(1, h.block_version).number(2, h.app_version).encoded(), wrap(view_of(h.chain_id)),
         Message().number(1, h.height).encoded(), encode(h.time), encode(h.last_block_id), wrap(h.last_commit_hash),
         wrap(h.data_hash), wrap(h.validators_hash), wrap(h.next_validators_hash), wrap(h.consensus_hash),
         wrap(h.app_hash), wrap(h.last_results_hash), wrap(h.evidence_hash), wrap(h.proposer_address)}
    );
}

Hash256 validators_hash(const std::vector<Validator>& validators) {
    std::vector<Bytes> leaves;
    leaves.reserve(validators.size());
    for (const Validator& validator : validators) {
        const Message key = Message().bytes(1, validator.public_key);
        leaves.push_back(Message().always(1, key.encoded()).number(2, validator.power).encoded());
    }
    return rfc6962_root(leaves);
}

Bytes address_of(const Validator& validator) {
    const Hash256 hash = crypto::sha256(validator.public_key);
    return {hash.data.begin(), hash.data.begin() + kAddressBytes};
}

Bytes vote_sign_bytes(const Commit& commit, const std::string& chain_id, std::size_t index) {
    return Message()
        .number(1, kPrecommit)
        .fixed64(2, commit.height)
        .fixed64(3, commit.round)
        .always(4, encode(commit.block_id))
        .always(5, encode(commit.signatures.at(index).time))
        .bytes(6, view_of(chain_id))
        .delimited();
}

}  // namespace assay::light
