// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <core/crypto/hash.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <tests/fuzz/group_shapes.hpp>
#include <tests/fuzz/stated_messages.hpp>
#include <verifier/group/signed_collective.hpp>

/// Messages with values as another member sends them: what it has signed is taken, and nothing else.
namespace assay::fuzz {
namespace {

const Hash256 kTask{{7}};
const Hash256 kBefore{{8}};
constexpr std::uint64_t kFirstStep = 3;

/// Rank 1 of two, whose messages are the input's. Rank 0's are forgotten.
class Member final : public engine::Collective {
  public:
    explicit Member(const StatedCase& input) : input_(input) {}

    std::uint32_t rank() const override { return 0; }
    std::uint32_t size() const override { return 2; }
    void settle() override {}
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t)
        override {
        if (!has_session_) {
            // The numbers of which the session's is made; this member's are zeros.
            Bytes numbers = to[1];
            numbers.resize(2 * Hash256::kSizeBytes);
            session_ = crypto::sha256(numbers);
            has_session_ = true;
            return {{}, Bytes(expected[1])};
        }
        return {{}, answer(expected[1])};
    }
    bool is_honest() const { return is_honest_; }

  private:
    // As long as a link makes sure that it is.
    Bytes answer(std::uint64_t bytes) {
        if (input_.kind % StatedCase::kKinds == StatedCase::kAnyBytes) {
            Bytes out = input_.values;
            out.resize(bytes);
            return out;
        }
        const auto& message = stated_messages()[input_.message % stated_messages().size()];
        Bytes out(message->bytes);
        for (std::size_t i = 0; i < out.size() && !input_.values.empty(); ++i) {
            out[i] = input_.values[i % input_.values.size()];
        }
        const dispute::Statement occasion{
            .task = kTask, .before = kBefore, .session = session_, .step = kFirstStep, .pieces = 0, .root = {}};
        append(out, told_of(1, occasion, message, out).signature.view());
        is_honest_ = input_.kind % StatedCase::kKinds == StatedCase::kHonest;
        if (!is_honest_) {
            out[input_.place % out.size()] ^= std::max<std::uint8_t>(input_.change, 1);
        }
        ASSERT(out.size() == bytes);
        return out;
    }

    const StatedCase& input_;
    Hash256 session_;
    bool has_session_ = false;
    bool is_honest_ = false;
};

/// A ledger in a directory that is removed at the end.
struct Kept {
    std::filesystem::path directory =
        std::filesystem::temp_directory_path() / ("assay-fuzz-statement-" + std::to_string(::getpid()));
    std::shared_ptr<group::Ledger> ledger = std::make_shared<group::Ledger>(directory, std::uint64_t{1} << 30U);
    ~Kept() { std::filesystem::remove_all(directory); }
};

}  // namespace

void run(ByteView input) {
    const auto stated = round_trip<StatedCase>(input);
    if (!stated) {
        return;
    }
    const Kept kept;
    const auto& message = stated_messages()[stated->message % stated_messages().size()];
    auto links = std::make_unique<Member>(*stated);
    const Member& member = *links;
    group::SignedCollective collective(
        std::move(links),
        {.chain_id = kGroupChain, .task = kTask, .accounts = {member_key(0).account(), member_key(1).account()}},
        member_key(0), kept.ledger, [](const Hash256&, std::uint64_t) { return true; }
    );
    collective.begin_segment(kBefore, kFirstStep);
    bool is_taken = false;
    try {
        const auto out = collective.exchange_stated(
            {{}, {}}, {0, message->bytes}, 1, {.to = {nullptr, nullptr}, .from = {nullptr, message}}
        );
        ASSERT(out[1].size() == message->bytes);
        is_taken = true;
    } catch (const engine::RankError& error) {
        ASSERT(error.rank() == 1 && error.fault() == engine::RankFault::kNotSigned);
    }
    ASSERT(is_taken == member.is_honest());
    ASSERT(kept.ledger->told(kFirstStep).size() == (is_taken ? 1U : 0U));
}

}  // namespace assay::fuzz
