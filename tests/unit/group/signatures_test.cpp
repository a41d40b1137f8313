// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <random>

#include <doctest/doctest.h>
#include <tests/unit/group/group_runs.hpp>
#include <verifier/group/equivocation.hpp>

using namespace assay;
using namespace assay::group::testing;
using engine::Collective;
using engine::RankFault;

namespace {

// Alters what rank 1 hands to its links.
class Altered : public Collective {
  public:
    using Alter = std::function<void(Bytes&, std::uint32_t to, std::uint32_t tag)>;
    Altered(std::unique_ptr<Collective> inner, Alter alter) : inner_(std::move(inner)), alter_(std::move(alter)) {}
    std::uint32_t rank() const override { return inner_->rank(); }
    std::uint32_t size() const override { return inner_->size(); }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        for (std::uint32_t other = 0; other < size(); ++other) {
            if (to[other].size() > Signature::kSizeBytes) {  // orders and flags are shorter
                alter_(to[other], other, tag);
            }
        }
        return inner_->exchange(std::move(to), expected, tag);
    }
    void settle() override { inner_->settle(); }

  private:
    std::unique_ptr<Collective> inner_;
    Alter alter_;
};

// Shows what comes in small parts, as links between machines do, and the last byte of each message as late as it can.
class Trickling final : public Altered {
  public:
    Trickling(std::unique_ptr<Collective> inner, Alter alter, std::size_t part)
        : Altered(std::move(inner), std::move(alter)), part_(part) {}
    std::vector<Bytes> exchange_while(
        std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag, engine::Crossing& crossing
    ) override {
        for (std::uint32_t other = 0; other < size(); ++other) {
            if (!to[other].empty() && crossing.ending_bytes(other) != 0) {
                to[other].reserve(to[other].size() + crossing.ending_bytes(other));  // what is ended stays where it is
                append(to[other], crossing.ending(other, to[other]));
            }
        }
        std::vector<Bytes> out = exchange(std::move(to), expected, tag);
        for (std::size_t shown = part_; shown < largest(out) + part_; shown += part_) {
            for (std::uint32_t other = 0; other < size(); ++other) {
                if (!out[other].empty()) {
                    crossing.arrived(other, ByteView(out[other]).first(std::min(shown, out[other].size())));
                }
            }
        }
        return out;
    }

  private:
    static std::size_t largest(const std::vector<Bytes>& messages) {
        std::size_t out = 0;
        for (const Bytes& message : messages) {
            out = std::max(out, message.size());
        }
        return out;
    }
    std::size_t part_;
};

GroupRun run_altered(const Altered::Alter& alter, const plan::Layout& layout) {
    Doubles doubles;
    doubles.under = [&](std::unique_ptr<Collective> links) -> std::unique_ptr<Collective> {
        return links->rank() == 1 ? std::make_unique<Altered>(std::move(links), alter) : std::move(links);
    };
    return run_group(small_mlp(), layout, 2, doubles);
}

void check_caught(const GroupRun& run, RankFault fault) {
    REQUIRE(run.rank_errors[0].has_value());
    CHECK(run.rank_errors[0]->rank() == 1);
    CHECK(run.rank_errors[0]->fault() == fault);
    CHECK_FALSE(run.root.has_value());
}

}  // namespace

TEST_CASE("STM-2: a signature by another account is refused, and names the rank") {
    Doubles doubles;
    doubles.key = [](std::uint32_t rank) { return key_of(rank == 1 ? 9 : rank); };
    check_caught(run_group(small_mlp(), *plan::decode_layout("dp", 2), 2, doubles), RankFault::kNotSigned);
}

TEST_CASE("STM-2: a message without its signature is refused") {
    const auto cut = [](Bytes& bytes, std::uint32_t, std::uint32_t) { bytes.resize(bytes.size() - 64); };
    check_caught(run_altered(cut, *plan::decode_layout("dp", 2)), RankFault::kOtherLength);
    const auto blank = [](Bytes& bytes, std::uint32_t, std::uint32_t) { std::fill(bytes.end() - 64, bytes.end(), 0); };
    check_caught(run_altered(blank, *plan::decode_layout("dp", 2)), RankFault::kNotSigned);
}

TEST_CASE("STM-2: an altered byte under an honest signature is refused") {
    const auto flip = [](Bytes& bytes, std::uint32_t, std::uint32_t) { bytes[bytes.size() / 3] ^= 4U; };
    for (const char* const name : {"dp", "tp", "pp", "zero3"}) {
        CAPTURE(std::string(name));
        check_caught(run_altered(flip, *plan::decode_layout(name, 2)), RankFault::kNotSigned);
    }
}

TEST_CASE("STM-2: what comes in parts is checked as what comes whole") {
    const plan::Layout layout = *plan::decode_layout("zero1", 2);
    const GroupRun whole = run_group(small_mlp(), layout, 2);
    REQUIRE(whole.root.has_value());
    for (const std::size_t part : {64U, 5'000U}) {
        for (const bool is_altered : {false, true}) {
            Doubles doubles;
            doubles.under = [&](std::unique_ptr<Collective> links) -> std::unique_ptr<Collective> {
                const bool lies = is_altered && links->rank() == 1;
                const auto alter = [lies](Bytes& bytes, std::uint32_t, std::uint32_t) {
                    bytes[bytes.size() / 3] ^= lies ? 4U : 0U;
                };
                return std::make_unique<Trickling>(std::move(links), alter, part);
            };
            const GroupRun run = run_group(small_mlp(), layout, 2, doubles);
            if (is_altered) {
                check_caught(run, RankFault::kNotSigned);
                continue;
            }
            CHECK(run.root == whole.root);
            for (std::uint32_t rank = 0; rank < 2; ++rank) {
                const auto told = run.ledgers[rank]->told(0);
                const auto expected = whole.ledgers[rank]->told(0);
                REQUIRE(told.size() == expected.size());
                for (std::size_t i = 0; i < told.size(); ++i) {
                    CHECK(told[i]->values == expected[i]->values);
                    CHECK(told[i]->statement.root == expected[i]->statement.root);
                }
            }
        }
    }
}

TEST_CASE("STM-2: what was signed of one step is not taken for another") {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Bytes> first;  // by rank and tag
    const auto repeat = [&](Bytes& bytes, std::uint32_t to, std::uint32_t tag) {
        bytes = first.emplace(std::pair(to, tag), bytes).first->second;
    };
    const GroupRun run = run_altered(repeat, *plan::decode_layout("dp", 2));
    check_caught(run, RankFault::kNotSigned);
    CHECK(run.failures[0] == "rank 1 did not sign what it sends of step 1 of the task");
}

TEST_CASE("a segment that is not the task's is refused") {
    Doubles doubles;
    doubles.check = [](const Hash256&, std::uint64_t first_step) { return first_step == 1; };
    const GroupRun run = run_group(small_mlp(), *plan::decode_layout("dp", 2), 2, doubles);
    CHECK(run.failures[0] == "rank 0 begins a segment with step 0 and a state that are not the task's");
    CHECK(run.failures[1] != std::string());
}

TEST_CASE("a member refuses orders by which it would sign wrong values") {
    const auto failure_of = [](auto alter) {
        Doubles doubles;
        alter(doubles);
        return run_group(small_mlp(), *plan::decode_layout("dp", 2), 1, doubles).failures[1];
    };
    const std::string step = "rank 0 of the cell orders step ";
    const std::string rest = ", which is not the task's next one";
    CHECK(failure_of([](Doubles&) {}) == std::string());
    CHECK(failure_of([](Doubles& d) { d.seed += 1; }) == step + "0" + rest);
    CHECK(failure_of([](Doubles& d) { d.first_run = 1; }) == step + "1" + rest);
    CHECK(failure_of([](Doubles& d) { d.begins_twice = true; }) == step + "0" + rest);
    CHECK(failure_of([](Doubles& d) {
              d.more_steps = 1;
              d.keeps_state = true;
          }) == step + "1" + rest);
    CHECK(
        failure_of([](Doubles& d) { d.is_other_program = true; }) ==
        "rank 0 of the cell sent a program that is not the task's, or a layout in which this rank could not answer "
        "for its part"
    );
}

TEST_CASE("STM-3: nobody can make a member state two values of one thing, whatever rank 0 orders") {
    const Model model = small_mlp();
    struct Trap {
        const char* layout;
        Doubles::More more;
        bool denies_steps;
        std::string failure;  // of rank 1
    };
    const std::string given = "rank 0 of the cell gives tensor ";
    for (const Trap& trap : std::vector<Trap>{
             {"tp", Doubles::More::kNothing, false, ""},
             {"tp", Doubles::More::kSecondStates, false, given},
             {"zero1", Doubles::More::kSecondStates, false, given},
             {"zero3", Doubles::More::kSecondStates, false, given},
             {"dp", Doubles::More::kLastStep, false, "rank 0 of the cell orders step 0, which is not the task's next"},
             // Rank 0 has gone on, and has another state when it orders the step again.
             {"dp", Doubles::More::kLastStep, true, "rank 0 of the cell orders step 0, which is not the task's next"},
             {"dp", Doubles::More::kSecondStates, true, given}}) {
        CAPTURE(std::string(trap.layout));
        CAPTURE(static_cast<int>(trap.more));
        CAPTURE(trap.denies_steps);
        Doubles doubles;
        doubles.more = trap.more;
        doubles.denies_steps = trap.denies_steps;
        const GroupRun run = run_group(model, *plan::decode_layout(trap.layout, 2), 1, doubles);
        CHECK(run.failures[1].find(trap.failure) == 0);
        CHECK(run.failures[1].empty() == trap.failure.empty());
        const auto told = run.ledgers[0]->told(0);
        REQUIRE_FALSE(told.empty());
        CHECK_FALSE(group::find_equivocation(told).has_value());
    }
}

TEST_CASE("STM-3: a member executes no step behind the end of its segment, which may begin with another state") {
    const auto failure_of = [](std::uint64_t segment_steps) {
        Doubles doubles;
        doubles.more = Doubles::More::kNextStep;
        doubles.segment_steps = segment_steps;
        return run_group(small_mlp(), *plan::decode_layout("dp", 2), 2, doubles).failures[1];
    };
    CHECK(failure_of(3).empty());
    CHECK(failure_of(2) == "rank 0 of the cell orders step 2, which is not the task's next one");
}

TEST_CASE("STM-3: who hands on the state with which a segment begins has compared it with the checkpoint") {
    const auto handed_on = [](const GroupRun& run) {
        std::size_t out = 0;
        for (const auto& ledger : run.ledgers) {
            for (const auto& told : ledger->told(0)) {
                const auto& pieces = told->message->pieces;
                out += static_cast<std::size_t>(std::count_if(pieces.begin(), pieces.end(), [&](const auto& piece) {
                    return told->statement.step == 0 && piece.source == canonical::Source::kState && piece.hop > 0;
                }));
            }
        }
        return out;
    };
    const Model model = small_mlp();
    const GroupRun zero1 = run_group(model, *plan::decode_layout("zero1", 2), 2);
    const GroupRun zero3 = run_group(model, *plan::decode_layout("zero3", 2), 2);
    CHECK(zero1.root.has_value());
    CHECK(zero3.root == zero1.root);
    CHECK(handed_on(zero1) == 0);
    CHECK(handed_on(zero3) > 0);  // each has a part of the parameters, of which all need all
    // Rank 0 gives rank 1 something else of some tensor, and signs that.
    for (const std::uint32_t skipped : {0U, 2U}) {
        Doubles doubles;
        doubles.lie = Lie{.rank = 0, .step = 0, .kind = Lie::Kind::kState, .skipped = skipped};
        const GroupRun misled = run_group(model, *plan::decode_layout("zero3", 2), 2, doubles);
        CHECK(misled.lies == 1);
        CHECK_FALSE(misled.root.has_value());
        REQUIRE(misled.rank_errors[1].has_value());
        CHECK(misled.rank_errors[1]->rank() == 0);
        CHECK(misled.rank_errors[1]->fault() == RankFault::kOtherState);
        CHECK(handed_on(misled) == 0);
    }
}

TEST_CASE("a layout whose parts are no whole partials is refused before anything is computed") {
    const GroupRun run = run_group(small_mlp(), *plan::decode_layout("dp:1,2", 2), 2);
    for (const std::string& failure : run.failures) {
        CAPTURE(failure);
        CHECK(failure.find("ranks that answer for what they send cannot divide node ") == 0);
        CHECK(
            failure.find("by the layout dp2:1,2: each rank has to reduce whole tiles of 32 positions") !=
            std::string::npos
        );
    }
    CHECK(run.ledgers[0]->bytes() == 0);
}

TEST_CASE("ranks that take turns are refused where they would have to answer for what they send") {
    plan::Layout layout;
    layout.turns = 2;
    const GroupRun run = run_group(small_mlp(), layout, 1);
    for (const std::string& failure : run.failures) {
        CHECK(failure == "ranks that answer for what they send cannot take turns");
    }
}

TEST_CASE("a ledger keeps segments apart, and says when it is full") {
    const GroupRun run = run_group(small_mlp(), *plan::decode_layout("dp", 2), 1);
    group::Ledger& ledger = *run.ledgers[0];
    const auto told = ledger.told(0);
    REQUIRE(told.size() > 2);
    CHECK(ledger.told(1).empty());
    const std::uint64_t before = ledger.bytes();
    ledger.add(1, *told[0]);
    const std::uint64_t added = ledger.bytes() - before;
    CHECK(added > told[0]->values.size() * Hash256::kSizeBytes);
    CHECK(ledger.told(0).size() == told.size());
    CHECK(ledger.told(1).size() == 1);
    group::Ledger small(run.directory->path() / "small", added);
    small.add(0, *told[0]);
    CHECK_THROWS_WITH_AS(
        small.add(0, *told[1]), doctest::Contains("the ledger of what other members stated is full"), std::runtime_error
    );
}

TEST_CASE("a ledger survives its process, and what was being written then is not part of it") {
    const GroupRun run = run_group(small_mlp(), *plan::decode_layout("dp2tp2", 4), 2);
    const auto told = run.ledgers[1]->told(0);
    REQUIRE(told.size() > 2);
    const std::filesystem::path directory = run.directory->path() / "1";
    const auto is_same = [&](const std::vector<std::shared_ptr<const group::Told>>& other) {
        return std::equal(told.begin(), told.end(), other.begin(), other.end(), [](const auto& a, const auto& b) {
            return a->author == b->author && a->statement == b->statement && a->signature == b->signature &&
                   a->values == b->values && codec::encode(a->stated(0)) == codec::encode(b->stated(0));
        });
    };
    const std::filesystem::path file = std::filesystem::directory_iterator(directory)->path();
    const auto size = std::filesystem::file_size(file);
    {
        group::Ledger again(directory, 1U << 30U);
        CHECK(is_same(again.told(0)));
        CHECK(again.bytes() == size);
        again.add(0, *told[0]);  // in a file of its own, with the message's pieces once more
        CHECK(again.told(0).size() == told.size() + 1);
    }
    for (const std::uint64_t cut : {1U, 3U, 40U}) {
        std::filesystem::resize_file(file, size - cut);
        CHECK(group::Ledger(directory, 1U << 30U).told(0).size() == told.size());
        std::filesystem::resize_file(file, size);
        // What was cut is zeros now, of which the statement says nothing.
        CHECK(group::Ledger(directory, 1U << 30U).told(0).size() == told.size());
    }
}

TEST_CASE("STM-7: who shows garbage at the end of a segment convicts nobody, and hides nobody else's lie") {
    constexpr std::uint32_t kCompared = 0x7ffffffe;
    const plan::Layout layout = *plan::decode_layout("dp2tp2", 4);
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        std::mt19937_64 random(seed);
        Doubles doubles;
        doubles.ends = true;
        doubles.misstated[2] = {.kind = adversary::Misstatement::kEquivocate, .first_step = 1, .last_step = 1};
        doubles.under = [&](std::unique_ptr<Collective> links) -> std::unique_ptr<Collective> {
            if (links->rank() != 3) {
                return links;
            }
            return std::make_unique<Altered>(std::move(links), [&](Bytes& message, std::uint32_t, std::uint32_t tag) {
                for (std::size_t i = tag == kCompared ? 0 : message.size(); i < message.size();
                     i += 1 + random() % 64) {
                    message[i] = static_cast<std::uint8_t>(random());
                }
            });
        };
        const GroupRun run = run_group(small_mlp(), layout, 2, doubles);
        const group::Signers signers = signers_of(4);
        CHECK(run.findings[0].size() + run.findings[1].size() > 0);
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            CHECK(run.failures[rank].empty());
            for (const group::Finding& finding : run.findings[rank]) {
                CHECK(finding.member == signers.accounts[2]);
                CHECK(dispute::check_equivocation(finding.evidence.one, finding.evidence.other).has_value());
            }
        }
    }
}

TEST_CASE("STM-7: a rank that shows more than it can have been told ends the session") {
    constexpr std::uint32_t kCompared = 0x7ffffffe;
    class Boasting final : public Collective {
      public:
        explicit Boasting(std::unique_ptr<Collective> inner) : inner_(std::move(inner)) {}
        std::uint32_t rank() const override { return inner_->rank(); }
        std::uint32_t size() const override { return inner_->size(); }
        std::vector<Bytes> exchange(
            std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag
        ) override {
            for (Bytes& message : to) {
                if (tag == kCompared && message.size() == sizeof(std::uint64_t)) {
                    message.assign(sizeof(std::uint64_t), 0xff);
                }
            }
            return inner_->exchange(std::move(to), expected, tag);
        }
        void settle() override { inner_->settle(); }

      private:
        std::unique_ptr<Collective> inner_;
    };
    Doubles doubles;
    doubles.ends = true;
    doubles.under = [](std::unique_ptr<Collective> links) -> std::unique_ptr<Collective> {
        return links->rank() == 1 ? std::make_unique<Boasting>(std::move(links)) : std::move(links);
    };
    const GroupRun run = run_group(small_mlp(), *plan::decode_layout("dp2", 2), 1, doubles);
    REQUIRE(run.rank_errors[0].has_value());
    CHECK(run.rank_errors[0]->rank() == 1);
    CHECK(run.rank_errors[0]->fault() == engine::RankFault::kOtherLength);
}
