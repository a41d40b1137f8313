// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/consensus/ics23_check.hpp>

#include <algorithm>
#include <span>
#include <vector>

#include <core/crypto/hash.hpp>

#include <consensus/cometbft/proofs.pb.h>

namespace assay::cometbft::test {
namespace {

using ics23::ExistenceProof;
using ics23::InnerOp;
using Steps = std::vector<InnerOp>;

const std::string kEmpty = "SPARSE_MERKLE_PLACEHOLDER_HASH__";
constexpr std::size_t kPrefixBytes = 16;
constexpr std::size_t kHashBytes = 32;
constexpr int kMaxDepth = 256;

std::string sha256(const std::string& text) {
    const Hash256 hash = crypto::sha256(as_bytes(text));
    return {hash.data.begin(), hash.data.end()};
}

bool is_left(const InnerOp& step) { return step.prefix().size() == kPrefixBytes; }

bool is_legal(const InnerOp& step) {
    const bool sizes = is_left(step) ? step.suffix().size() == kHashBytes
                                     : step.prefix().size() == kPrefixBytes + kHashBytes && step.suffix().empty();
    return step.hash() == ics23::SHA256 && sizes && step.prefix().rfind("JMT::LeafNode", 0) != 0;
}

bool leads_to(const std::string& root, const ExistenceProof& proof) {
    const ics23::LeafOp& leaf = proof.leaf();
    if (leaf.hash() != ics23::SHA256 || leaf.prehash_key() != ics23::SHA256 || leaf.prehash_value() != ics23::SHA256 ||
        leaf.length() != ics23::NO_PREFIX || leaf.prefix() != "JMT::LeafNode" || proof.key().empty() ||
        proof.value().empty() || proof.path_size() > kMaxDepth ||
        !std::all_of(proof.path().begin(), proof.path().end(), is_legal)) {
        return false;
    }
    std::string hash = sha256(leaf.prefix() + sha256(proof.key()) + sha256(proof.value()));
    for (const InnerOp& step : proof.path()) {
        hash = sha256(step.prefix() + hash + step.suffix());
    }
    return hash == root;
}

/// Nothing stands to the left (right) of the path's leaf below its first step from the root.
bool is_leftmost(std::span<const InnerOp> path) {
    return std::all_of(path.begin(), path.end(), [](const InnerOp& step) {
        return is_left(step) || step.prefix().substr(kPrefixBytes) == kEmpty;
    });
}
bool is_rightmost(std::span<const InnerOp> path) {
    return std::all_of(path.begin(), path.end(), [](const InnerOp& step) {
        return !is_left(step) || step.suffix() == kEmpty;
    });
}

bool are_neighbours(const Steps& left, const Steps& right) {
    std::size_t shared = 0;
    const auto at = [&](const Steps& path) -> const InnerOp& { return path[path.size() - 1 - shared]; };
    while (shared < std::min(left.size(), right.size()) && at(left).prefix() == at(right).prefix() &&
           at(left).suffix() == at(right).suffix()) {
        ++shared;
    }
    if (shared >= std::min(left.size(), right.size()) || !is_left(at(left)) || is_left(at(right))) {
        return false;
    }
    return is_rightmost(std::span(left).first(left.size() - 1 - shared)) &&
           is_leftmost(std::span(right).first(right.size() - 1 - shared));
}

Steps steps_of(const ExistenceProof& proof) { return {proof.path().begin(), proof.path().end()}; }

bool shows_absence(const std::string& root, const std::string& key, const ics23::NonExistenceProof& proof) {
    const bool has_left = proof.has_left();
    const bool has_right = proof.has_right();
    if ((has_left && (!leads_to(root, proof.left()) || sha256(proof.left().key()) >= sha256(key))) ||
        (has_right && (!leads_to(root, proof.right()) || sha256(proof.right().key()) <= sha256(key)))) {
        return false;
    }
    if (has_left && has_right) {
        return are_neighbours(steps_of(proof.left()), steps_of(proof.right()));
    }
    return has_left ? is_rightmost(steps_of(proof.left())) : has_right && is_leftmost(steps_of(proof.right()));
}

}  // namespace

bool ics23_accepts(
    const std::string& root, const std::string& key, const std::optional<std::string>& value, const std::string& proof
) {
    ics23::CommitmentProof message;
    if (!message.ParseFromString(proof)) {
        return false;
    }
    if (!value) {
        return message.has_nonexist() && message.nonexist().key() == key &&
               shows_absence(root, key, message.nonexist());
    }
    return message.has_exist() && message.exist().key() == key && message.exist().value() == *value &&
           leads_to(root, message.exist());
}

}  // namespace assay::cometbft::test
