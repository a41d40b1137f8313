// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <contracts/beacon/draw.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/tasks/seats.hpp>
#include <consensus/solo/block.hpp>
#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/keys.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/statement.hpp>
#include <core/merkle/tree.hpp>
#include <core/sealed/chunk_key.hpp>
#include <core/sealed/piece.hpp>
#include <core/sealed/sealed_tree.hpp>
#include <core/sealed/share.hpp>
#include <tools/spec/files.hpp>
#include <tools/spec/random_value.hpp>
#include <verifier/artifacts/reference.hpp>

namespace assay::spec {
namespace {

using namespace contracts;

/// One digest of the protocol with everything that goes into it.
class Digests {
  public:
    /// `parts` are what the tag's row in the schema lists, encoded; `digest` is what the protocol's function returned.
    void add(const std::string& name, const char* tag, const std::vector<Bytes>& parts, const Hash256& digest) {
        Bytes data;
        Json listed = Json::array();
        for (const Bytes& part : parts) {
            append(data, part);
            listed.push_back(to_hex(part));
        }
        ASSERT(crypto::TaggedHash(tag)(data) == digest);
        out.push_back({{"name", name}, {"tag", tag}, {"parts", listed}, {"digest", to_hex(digest.view())}});
    }
    template <class T>
    T make() {
        return make_value<T>(words);
    }
    Json out = Json::array();
    Words words = Words::of("encodings");
};

template <class T>
Bytes bytes_of(const T& value) {
    return codec::encode(value);
}

void add_records(Digests& d) {
    const auto sender = d.make<AccountId>();
    const auto task = task_id(sender, 7);
    d.add("task id", "assay/task", {bytes_of(sender), bytes_of(std::uint64_t{7})}, Hash256{task.data});
    d.add(
        "proposal id", "assay/proposal", {bytes_of(sender), bytes_of(std::uint64_t{7})},
        Hash256{proposal_id(sender, 7).data}
    );
    const auto opening = d.make<VerdictOpening>();
    const Bytes segment = bytes_of(std::uint32_t{3});
    d.add(
        "verdict commitment", "assay/verdict", {bytes_of(task), segment, bytes_of(sender), bytes_of(opening)},
        verdict_commitment(task, 3, sender, opening)
    );
    const auto report = d.make<ProfileReport>();
    const auto salt = d.make<Hash256>();
    d.add(
        "profile commitment", "assay/profile", {bytes_of(task), bytes_of(sender), bytes_of(report), bytes_of(salt)},
        profile_commitment(task, sender, report, salt)
    );
    d.add(
        "contributor's commitment", "assay/secret", {bytes_of(sender), bytes_of(salt)}, beacon_commitment(sender, salt)
    );
    d.add(
        "consensus key's claim", "assay/validator", {bytes_of(std::string("assay-1")), bytes_of(sender)},
        consensus_key_claim("assay-1", sender)
    );
    const std::vector<AccountId> seats{sender, d.make<AccountId>(), sender};
    d.add(
        "seats of a group", "assay/seats",
        {bytes_of(std::string("assay-1")), bytes_of(task), bytes_of(sender), bytes_of(seats), bytes_of(true),
         bytes_of(std::uint32_t{7})},
        seats_claim("assay-1", {.task = task, .seats = seats, .is_together = true, .from = 7})
    );
    const std::string label = "label=cuda=12.4";
    const Bytes text(label.begin(), label.end());
    const Hash256 whole = crypto::TaggedHash("assay/environment")(text);
    std::uint64_t fingerprint = 0;
    for (std::size_t i = 8; i > 0; --i) {
        fingerprint = fingerprint << 8U | whole.data[i - 1];
    }
    ASSERT(fingerprints(Environment{.image = {}, .labels = {"cuda=12.4"}}) == std::vector{fingerprint});
    d.add("fingerprint of a label", "assay/environment", {text}, whole);
    const std::vector<std::uint32_t> lacking{0, 3};
    d.add(
        "name of a file without frozen tensors", "assay/trained", {bytes_of(salt), bytes_of(lacking)},
        artifacts::checkpoint_name(salt, lacking)
    );
    const auto record = d.make<HistoryRecord>();
    d.add("history root", "assay/history", {bytes_of(salt), bytes_of(record)}, extend_history(salt, record));
    const std::vector<Contribution> contributions{{sender, salt}, {d.make<AccountId>(), d.make<Hash256>()}};
    d.add(
        "seed of a round", "assay/round",
        {bytes_of(salt), bytes_of(std::uint64_t{5}), bytes_of(task), bytes_of(contributions)},
        round_seed(salt, 5, Hash256{task.data}, contributions)
    );
    const auto header = d.make<solo::BlockHeader>();
    d.add("block hash", "assay/block", {bytes_of(header)}, solo::block_hash(header));
    const auto hashes = std::vector<Hash256>{salt, d.make<Hash256>()};
    d.add("transactions of a block", "assay/txs", {bytes_of(hashes)}, solo::txs_root(hashes));
}

void add_disputes(Digests& d) {
    const auto task = d.make<TaskId>();
    const auto challenger = d.make<AccountId>();
    const auto verifier = d.make<AccountId>();
    const Bytes segment = bytes_of(std::uint32_t{2});
    const auto plain = dispute_id(task, 2, challenger);
    d.add(
        "dispute of a segment", "assay/dispute",
        {bytes_of(task), segment, bytes_of(challenger), bytes_of(std::optional<DisputedVerdict>{})}, Hash256{plain.data}
    );
    const std::optional<DisputedVerdict> verdict = DisputedVerdict{verifier, true, VerdictPart::kEnd};
    d.add(
        "dispute of a verdict", "assay/dispute", {bytes_of(task), segment, bytes_of(challenger), bytes_of(verdict)},
        Hash256{dispute_id(task, 2, challenger, verdict).data}
    );
    const DisputedProfile profile{verifier, ProfilePart::kReplayed};
    d.add(
        "dispute of a profile", "assay/dispute",
        {bytes_of(task), segment, bytes_of(challenger), Bytes{0}, bytes_of(profile)},
        Hash256{dispute_id(task, 2, challenger, profile).data}
    );
    const auto accuser = d.make<AccountId>();
    d.add(
        "dispute of a statement", "assay/dispute",
        {bytes_of(task), segment, bytes_of(challenger), Bytes{2}, bytes_of(accuser), Bytes{0}},
        Hash256{accusation_id(task, 2, challenger, accuser).data}
    );
    d.add(
        "dispute of a statement, which answers one", "assay/dispute",
        {bytes_of(task), segment, bytes_of(challenger), Bytes{2}, bytes_of(accuser), Bytes{1}, bytes_of(plain)},
        Hash256{accusation_id(task, 2, challenger, accuser, plain).data}
    );
    const auto claim = d.make<dispute::Claim>();
    d.add("disputed claim", "assay/claim", {bytes_of(claim)}, claim_hash(claim));
    const auto found = d.make<Hash256>();
    d.add("seal of a challenge", "assay/seal", {bytes_of(plain), bytes_of(found)}, challenge_seal(plain, found));
}

void add_sealed(Digests& d) {
    const sealed::ChunkName name{.task = d.make<Hash256>(), .artifact = d.make<Hash256>(), .group = 3, .chunk = 5};
    const crypto::CurvePoint point = sealed::hash_to_curve(name);
    Hash256 x;
    std::copy_n(point.data.begin() + 1, x.data.size(), x.data.begin());
    std::uint32_t counter = 0;  // the first that gives a point
    const crypto::TaggedHash hash("assay/chunk-point");
    while (hash(codec::encode(name), bytes_of(counter)) != x) {
        ++counter;
    }
    d.add(
        "point of a sealed chunk", "assay/chunk-point",
        {bytes_of(name.task), bytes_of(name.artifact), bytes_of(name.group), bytes_of(name.chunk), bytes_of(counter)}, x
    );
    d.add("key of a sealed chunk", "assay/chunk-key", {bytes_of(point)}, Hash256{sealed::chunk_key(point).data});
    const Bytes chunk{1, 2, 3};
    const Hash256 piece = sealed::piece_leaf(chunk);  // its only one
    d.add("leaf of a piece of a sealed chunk", "assay/sealed-piece", {chunk}, piece);
    d.add(
        "leaf of a sealed chunk", "assay/sealed-chunk",
        {bytes_of(static_cast<std::uint32_t>(chunk.size())), bytes_of(piece)}, sealed::sealed_leaf(chunk)
    );
    const sealed::ShareName share{
        .chain_id = "assay-local", .task = name.task, .to = d.make<AccountId>(), .is_of_checkpoints = true};
    d.add(
        "what the ephemeral key of a share signs", "assay/share",
        {bytes_of(share.chain_id), bytes_of(share.task), bytes_of(share.to), bytes_of(share.is_of_checkpoints), chunk},
        sealed::share_digest(share, chunk)
    );
    d.add(
        "group of a sealed file", "assay/sealed-group", {bytes_of(std::uint32_t{4}), bytes_of(name.task)},
        sealed::group_commitment(4, name.task)
    );
    d.add(
        "sealed root", "assay/sealed", {bytes_of(std::uint32_t{4}), bytes_of(name.task)},
        sealed::sealed_root(4, name.task)
    );
}

void add_statements(Digests& d) {
    const Bytes values{0, 0, 128, 63, 255, 255, 255, 127};
    d.add("values of a piece", "assay/values", {values}, dispute::values_hash(values));
    const auto piece = d.make<dispute::Piece>();
    d.add("leaf of a piece", "assay/piece", {bytes_of(piece)}, dispute::piece_leaf(piece));
    const auto statement = d.make<dispute::Statement>();
    d.add(
        "statement of a member", "assay/statement", {bytes_of(std::string("assay-1")), bytes_of(statement)},
        dispute::statement_digest("assay-1", statement)
    );
}

void add_traces(Digests& d) {
    const auto root = d.make<Hash256>();
    canonical::Tile tile = canonical::make_tile(canonical::DType::kI32);
    tile.data[0] = 1;
    d.add("leaf of a tile", "assay/tile", {tile.data}, dispute::tile_leaf(tile));
    const canonical::TensorType type{canonical::DType::kI64, {3, 5}};
    d.add("tensor", "assay/tensor", {bytes_of(type), bytes_of(root)}, dispute::tensor_commitment(type, root));
    d.add("state root", "assay/state", {bytes_of(std::uint32_t{4}), bytes_of(root)}, dispute::state_root_from(4, root));
    d.add(
        "diverged root", "assay/diverged", {bytes_of(std::uint64_t{9}), bytes_of(root)}, dispute::diverged_root(9, root)
    );
    const auto accumulator = d.make<canonical::Accumulator>();
    d.add("accumulator", "assay/partial", {accumulator.data}, dispute::accumulator_hash(accumulator));
    const auto node = d.make<canonical::Node>();
    d.add("node of a program", "assay/node", {bytes_of(node)}, dispute::node_hash(node));
    const auto input = d.make<canonical::Input>();
    d.add("input of commit", "assay/input", {bytes_of(input)}, dispute::input_leaf(input));
    d.add("commit", "assay/commit", {bytes_of(std::uint32_t{4}), bytes_of(root)}, dispute::commit_hash(4, root));
    const Bytes chunk{1, 0, 0, 0, 255, 255, 255, 255};
    d.add("chunk of a dataset", "assay/chunk", {chunk}, dispute::chunk_leaf(chunk));
    const auto program = d.make<dispute::ProgramCommitment>();
    d.add("program id", "assay/program", {bytes_of(program)}, dispute::program_id(program));
    const auto other = d.make<Hash256>();
    d.add("Merkle node", "assay/merkle-node", {bytes_of(root), bytes_of(other)}, merkle::hash_children(root, other));
}

Json draws_json(Digests& d) {
    Json out = Json::array();
    for (std::uint32_t i = 0; i < 12; ++i) {
        const DrawName name{d.make<TaskId>(), d.make<DrawKind>(), d.words.next() % 2 == 0 ? 0 : i, i};
        const auto seed = d.make<Hash256>();
        const Hash256 randomness = draw_randomness(seed, name);
        d.add("draw " + std::to_string(i), "assay/draw", {bytes_of(seed), bytes_of(name)}, randomness);
        std::vector<Candidate> candidates(1 + i % 4);
        Json weights = Json::array();
        for (Candidate& c : candidates) {
            c.weight = d.words.next() % 3 == 0 ? 0 : d.words.next() >> (i % 2 == 0 ? 3 : 50);
            weights.push_back(c.weight);
        }
        const auto chosen = draw_weighted(candidates, randomness);
        out.push_back(
            {{"seed", to_hex(seed.view())},
             {"name", to_hex(bytes_of(name))},
             {"randomness", to_hex(randomness.view())},
             {"weights", weights},
             {"chosen", chosen ? Json(*chosen) : Json()},
             {"modulo_10000", reduce(randomness, 10'000)},
             {"as_seed", to_seed(randomness)}}
        );
    }
    return out;
}

/// One transaction of every action, by secret key 1, 2, ...
Json transactions_json(Digests& d) {
    Json out = Json::array();
    for (std::size_t index = 0; index < std::variant_size_v<Action>; ++index) {
        TxBody body;
        // The first random body with an action of this kind.
        do {
            body = d.make<TxBody>();
        } while (body.action.index() != index);
        body.chain_id = "assay-vectors";
        Bytes secret(32);
        secret[31] = static_cast<std::uint8_t>(index + 1);
        const auto key = crypto::SecretKey::from_bytes(secret);
        ASSERT(key.has_value());
        body.sender = key->account();
        const Tx tx = sign_tx(body, *key);
        const Bytes bytes = bytes_of(tx);
        d.add(std::string("signing ") + action_name(body.action), "assay/tx", {bytes_of(body)}, signing_hash(body));
        out.push_back(
            {{"action", action_name(body.action)},
             {"secret", to_hex(secret)},
             {"chain_id", body.chain_id},
             {"nonce", body.nonce},
             {"fee", body.fee.grains},
             {"body", to_hex(bytes_of(body))},
             {"signing_hash", to_hex(signing_hash(body).view())},
             {"signature", to_hex(tx.signature.view())},
             {"tx", to_hex(bytes)},
             {"tx_hash", to_hex(tx_hash(bytes).view())}}
        );
    }
    return out;
}

template <class T>
Json refused(const char* type, const char* why, const Bytes& bytes, codec::DecodeError error) {
    const auto decoded = codec::decode<T>(bytes);
    ASSERT(!decoded.has_value() && decoded.error() == error);
    return {{"type", type}, {"why", why}, {"bytes", to_hex(bytes)}, {"error", static_cast<unsigned>(error)}};
}

Json refusals_json() {
    using codec::DecodeError;
    const Bytes bond = bytes_of(Bond{Role::kSolver, Amount{258}});
    Bytes longer = bond;
    longer.push_back(0);
    const Bytes shorter(bond.begin(), bond.end() - 1);
    Bytes no_role = bond;
    no_role[0] = 0;
    Bytes bad_option(33);
    bad_option.back() = 2;
    Bytes bad_text{2, 0, 0, 0, 0xc0, 0x80};
    bad_text.resize(14);
    Bytes bad_bool = bytes_of(CommitteeMember{{}, 1, true});
    bad_bool.back() = 2;
    Json out = Json::array();
    out.push_back(refused<Bond>("Bond", "ends inside the amount", shorter, DecodeError::kTruncated));
    out.push_back(refused<Bond>("Bond", "one byte too many", longer, DecodeError::kTrailingBytes));
    out.push_back(refused<Bond>("Bond", "no such role", no_role, DecodeError::kBadTag));
    out.push_back(refused<CompleteTask>("CompleteTask", "an option tag of 2", bad_option, DecodeError::kBadTag));
    out.push_back(refused<Action>("Action", "an index out of range", Bytes{0xff}, DecodeError::kBadTag));
    out.push_back(refused<CommitteeMember>("CommitteeMember", "a bool of 2", bad_bool, DecodeError::kBadBool));
    out.push_back(refused<HardwareClass>("HardwareClass", "an overlong form", bad_text, DecodeError::kBadUtf8));
    out.push_back(refused<canonical::Accumulator>(
        "Accumulator", "a length beyond the input", Bytes{2, 0, 0, 0, 1}, DecodeError::kLengthTooLong
    ));
    return out;
}

}  // namespace

Json encodings_json() {
    Digests digests;
    add_records(digests);
    add_disputes(digests);
    add_traces(digests);
    add_statements(digests);
    Json out;
    out["draws"] = draws_json(digests);
    out["transactions"] = transactions_json(digests);
    out["refused"] = refusals_json();
    add_sealed(digests);
    out["digests"] = std::move(digests.out);
    return out;
}

}  // namespace assay::spec
