// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/signed_collective.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <core/base/assert.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/hash_batch.hpp>
#include <core/crypto/random.hpp>
#include <core/merkle/tree.hpp>

namespace assay::group {

using engine::Contents;
using engine::RankError;
using engine::RankFault;

namespace {

constexpr std::size_t kSignatureBytes = Signature::kSizeBytes;
constexpr std::uint32_t kSessionTag = 0x7fffffff;  // of no message of a step

bool is_signed(const Contents::Message& message) { return message != nullptr && !message->pieces.empty(); }

// Adds the time until it is destroyed.
class Stopwatch {
  public:
    explicit Stopwatch(std::chrono::nanoseconds& sum) : sum_(sum) {}
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    ~Stopwatch() { sum_ += std::chrono::steady_clock::now() - start_; }

  private:
    std::chrono::nanoseconds& sum_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

// Hashes the pieces of a message, as far as it is there: many at once, or the last ones.
class SignedCollective::Pieces {
  public:
    explicit Pieces(const plan::MessagePieces& message) : message_(message) {
        values_.reserve(message.pieces.size());
        leaves_.reserve(message.pieces.size());
    }
    void hash(ByteView so_far) {
        while (next_ < message_.pieces.size() && plan::end_of(message_.pieces[next_]) <= so_far.size()) {
            const plan::MessagePiece& piece = message_.pieces[next_];
            const std::size_t row_bytes = std::size_t{piece.cols} * piece.width;
            batch_.add_rows(so_far.subspan(piece.offset), row_bytes, piece.stride, piece.rows);
            waiting_bytes_ += piece.rows * row_bytes;
            ++next_;
        }
        if (waiting_bytes_ < kAtOnce && next_ < message_.pieces.size()) {
            return;
        }
        for (const Hash256& hash : batch_.finish()) {
            leaves_.push_back(dispute::piece_leaf(piece_of(message_.pieces[leaves_.size()], hash)));
            values_.push_back(hash);
        }
        waiting_bytes_ = 0;
    }
    const std::vector<Hash256>& leaves() const { return leaves_; }
    std::vector<Hash256> take_values() { return std::move(values_); }

  private:
    static constexpr std::size_t kAtOnce = std::size_t{64} << 10U;

    const plan::MessagePieces& message_;
    crypto::HashBatch batch_{dispute::values_tag()};
    std::size_t next_ = 0;           // of the pieces, to be hashed
    std::size_t waiting_bytes_ = 0;  // in the batch
    std::vector<Hash256> values_;
    std::vector<Hash256> leaves_;
};

// Signs the messages of one exchange and checks those of the others.
class SignedCollective::Checked final : public engine::Crossing {
  public:
    Checked(SignedCollective& owner, const Contents& contents)
        : owner_(owner), contents_(contents), arriving_(owner.size()), is_checked_(owner.size()) {
        for (std::uint32_t other = 0; other < owner.size(); ++other) {
            is_checked_[other] = contents.from[other] == nullptr;
        }
    }
    bool is_checked(std::uint32_t from) const { return is_checked_[from]; }

    std::size_t ending_bytes(std::uint32_t to) const override {
        return is_signed(contents_.to[to]) ? kSignatureBytes : 0;
    }
    Bytes ending(std::uint32_t to, ByteView sent) override {
        const Stopwatch watch(owner_.cost_->time);
        const Contents::Message& message = contents_.to[to];
        StatementCost& cost = *owner_.cost_;
        ++cost.messages;
        cost.pieces += message->pieces.size();
        cost.value_bytes += sent.size();
        cost.signature_bytes += kSignatureBytes;
        // What all are told is signed once.
        if (message != signed_ || !std::equal(sent.begin(), sent.end(), sent_.begin(), sent_.end())) {
            signature_ = owner_.sign(*message, sent);
            signed_ = message;
            sent_ = sent;
        }
        const ByteView out = signature_.view();
        return {out.begin(), out.end()};
    }
    void arrived(std::uint32_t from, ByteView so_far) override {
        const Contents::Message& message = contents_.from[from];
        if (message == nullptr || is_checked_[from]) {
            return;
        }
        const Stopwatch watch(owner_.cost_->time);
        std::optional<Pieces>& pieces = arriving_[from];
        if (!pieces) {
            pieces.emplace(*message);
        }
        const ByteView values = so_far.first(std::min<std::size_t>(so_far.size(), message->bytes));
        pieces->hash(values);
        if (so_far.size() < message->bytes + (is_signed(message) ? kSignatureBytes : 0)) {
            return;
        }
        owner_.check_zeros(from, *message, values);
        if (is_signed(message)) {
            owner_.check(from, message, *pieces, so_far.subspan(message->bytes));
        }
        is_checked_[from] = true;
    }

  private:
    SignedCollective& owner_;
    const Contents& contents_;
    std::vector<std::optional<Pieces>> arriving_;
    std::vector<bool> is_checked_;
    Contents::Message signed_{};  // what was signed last
    ByteView sent_{};
    Signature signature_{};
};

SignedCollective::SignedCollective(
    std::unique_ptr<engine::Collective> links, Signers signers, const crypto::SecretKey& key,
    std::shared_ptr<Ledger> ledger, SegmentCheck check, std::shared_ptr<Findings> findings
)
    : links_(std::move(links)),
      signers_(std::move(signers)),
      key_(key),
      ledger_(std::move(ledger)),
      check_(std::move(check)),
      findings_(std::move(findings)) {
    ASSERT(signers_.accounts.size() == links_->size());
    ASSERT(signers_.accounts[links_->rank()] == key.account());
    for (const AccountId& account : signers_.accounts) {
        keys_.push_back(crypto::PublicKey::of(account));
    }
}

void SignedCollective::begin_segment(const Hash256& before, std::uint64_t first_step) {
    if (!check_(before, first_step)) {
        throw std::runtime_error(
            "rank 0 begins a segment with step " + std::to_string(first_step) + " and a state that are not the task's"
        );
    }
    if (!is_compared_) {
        end_segment();  // whatever rank 0 says
    }
    before_ = before;
    first_state_.emplace(before);
    first_step_ = first_step;
    step_ = first_step;
    session_ = agree_on_session();
    is_compared_ = false;
}

void SignedCollective::compare_state(const engine::GivenTensor& given, const canonical::Tensor& tensor) {
    if (!first_state_) {
        throw std::runtime_error("rank 0 gives a state of no segment that has begun");
    }
    first_state_->compare(*links_, given, tensor);
}

void SignedCollective::end_segment() {
    if (!before_) {
        throw std::runtime_error("rank 0 ends a segment before one has begun");
    }
    const auto is_signed = [&](std::uint32_t author, const dispute::Statement& statement, const Signature& signature) {
        const Hash256 digest = dispute::statement_digest(signers_.chain_id, statement);
        return keys_[author] && keys_[author]->verifies(digest.view(), signature);
    };
    const Occasion occasion{.task = signers_.task, .before = *before_, .session = session_, .first_step = first_step_};
    std::vector<Finding> findings;
    for (Equivocation& found : heard_.compare(*links_, *ledger_, occasion, is_signed)) {
        const AccountId member = signers_.accounts[found.author];
        findings.push_back({.member = member, .evidence = std::move(found)});
    }
    findings_->add(std::move(findings));
    heard_.clear();
    ++cost_->compared;
    is_compared_ = true;
}

// STM-3: nobody can make a rank begin a session for a second time, in which it would have to state other values.
Hash256 SignedCollective::agree_on_session() {
    Bytes own(Hash256::kSizeBytes);
    crypto::fill_random(own);
    std::vector<Bytes> to(size(), own);
    std::vector<std::uint64_t> expected(size(), own.size());
    to[rank()].clear();
    expected[rank()] = 0;
    std::vector<Bytes> numbers = links_->exchange(std::move(to), expected, kSessionTag);
    numbers[rank()] = own;
    Bytes all;
    for (const Bytes& number : numbers) {
        append(all, number);
    }
    return crypto::sha256(all);
}

void SignedCollective::begin_step(std::uint64_t step) {
    if (!before_ || step < first_step_) {
        throw std::runtime_error("step " + std::to_string(step) + " belongs to no segment that has begun");
    }
    step_ = step;
}

void SignedCollective::expect(const std::vector<engine::Ahead>& in_step) {
    std::vector<engine::Ahead> with_signatures = in_step;
    for (engine::Ahead& ahead : with_signatures) {
        ahead.bytes += ahead.messages * kSignatureBytes;
    }
    links_->expect(with_signatures);
}

std::vector<Bytes> SignedCollective::exchange(
    std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag
) {
    count(to);
    return links_->exchange(std::move(to), expected, tag);
}

std::vector<Bytes> SignedCollective::exchange_stated(
    std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag, const Contents& contents
) {
    ASSERT(contents.to.size() == size() && contents.from.size() == size());
    if (!before_) {
        throw std::runtime_error("ranks that answer for what they send exchange values before a segment has begun");
    }
    std::vector<std::uint64_t> with_signatures = expected;
    for (std::uint32_t other = 0; other < size(); ++other) {
        ASSERT(to[other].size() == (contents.to[other] ? contents.to[other]->bytes : 0));
        ASSERT(expected[other] == (contents.from[other] ? contents.from[other]->bytes : 0));
        with_signatures[other] += is_signed(contents.from[other]) ? kSignatureBytes : 0;
        count(to[other].size() + (is_signed(contents.to[other]) ? kSignatureBytes : 0));
    }
    Checked checked(*this, contents);
    std::vector<Bytes> out = links_->exchange_while(std::move(to), with_signatures, tag, checked);
    for (std::uint32_t other = 0; other < size(); ++other) {
        ASSERT(checked.is_checked(other));
        out[other].resize(expected[other]);
    }
    return out;
}

dispute::Statement SignedCollective::statement_of(const Pieces& pieces) const {
    return {
        .task = signers_.task,
        .before = *before_,
        .session = session_,
        .step = step_,
        .pieces = static_cast<std::uint32_t>(pieces.leaves().size()),
        .root = merkle::root_of(pieces.leaves())};
}

Signature SignedCollective::sign(const plan::MessagePieces& message, ByteView bytes) {
    const bool is_handed_on =
        step_ == first_step_ &&
        std::any_of(message.pieces.begin(), message.pieces.end(), [](const plan::MessagePiece& piece) {
            return piece.source == canonical::Source::kState && piece.hop > 0;
        });
    if (is_handed_on && rank() != 0 && !first_state_->is_compared()) {
        throw std::runtime_error(
            "this rank should hand on the state with which step " + std::to_string(step_) +
            " begins, and has not compared it with the checkpoint"
        );
    }
    Pieces pieces(message);
    pieces.hash(bytes);
    return key_.sign(dispute::statement_digest(signers_.chain_id, statement_of(pieces)).view());
}

void SignedCollective::check_zeros(std::uint32_t from, const plan::MessagePieces& message, ByteView bytes) const {
    for (const plan::MessagePiece& place : message.zeros) {
        const Bytes values = plan::values_of(place, bytes);
        if (std::any_of(values.begin(), values.end(), [](std::uint8_t byte) { return byte != 0; })) {
            throw RankError(
                from, RankFault::kNotSigned,
                "rank " + std::to_string(from) + " sends a maximum of what it does not have"
            );
        }
    }
}

void SignedCollective::check(std::uint32_t from, const Contents::Message& message, Pieces& pieces, ByteView signature) {
    Told told{.author = from, .statement = statement_of(pieces), .signature = {}, .message = message, .values = {}};
    std::copy(signature.begin(), signature.end(), told.signature.data.begin());
    const Hash256 digest = dispute::statement_digest(signers_.chain_id, told.statement);
    if (!keys_[from] || !keys_[from]->verifies(digest.view(), told.signature)) {
        throw RankError(
            from, RankFault::kNotSigned,
            "rank " + std::to_string(from) + " did not sign what it sends of step " + std::to_string(step_) +
                " of the task"
        );
    }
    told.values = pieces.take_values();
    ledger_->add(first_step_, told);
    heard_.add(told);
}

}  // namespace assay::group
