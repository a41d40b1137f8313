// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <contracts/state/members.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/plan/plan.hpp>
#include <verifier/worker/balance.hpp>
#include <verifier/roles/seats.hpp>
#include <verifier/worker/together_seats.hpp>
#include <verifier/worker/together_session.hpp>

using namespace assay;
using worker::Balance;
using worker::balanced_seats;
using worker::MeasuredSegment;
using worker::shares_of;
using worker::with_seats;
using Counts = std::vector<std::uint32_t>;

namespace {

/// Its sums over the batch have 256 values, which are eight partials.
program::Program make_program() {
    return program::build_char_model(
        {.vocabulary = 32, .context = 4, .embedding = 32, .hidden = 32, .batch_size = 256, .dataset_rows = 1'000}, {}
    );
}

/// Its blocks can be cut into unequal stages.
program::Program make_deep_program() {
    program::GptConfig model;
    model.vocabulary = 64;
    model.context = 32;
    model.layers = 4;
    model.batch_size = 4;
    model.dataset_rows = 64;
    return program::build_gpt(model, {});
}

AccountId account(std::uint8_t number) {
    AccountId out;
    out.data[0] = number;
    return out;
}

plan::Layout layout_of(const char* name, const Counts& shares = {}) {
    plan::Layout out = plan::decode_layout(name, 4).value();
    out.shares = shares;
    return out;
}

/// What four ranks take for a step, if each row of the batch takes them so many milliseconds, and nothing is lost by
/// exchanges.
MeasuredSegment measured(const plan::Layout& layout, const std::vector<double>& row_ms) {
    MeasuredSegment out;
    out.layout = layout;
    Counts parts = layout.data_shares();
    const std::uint32_t sum = std::accumulate(parts.begin(), parts.end(), 0U);
    for (std::uint8_t rank = 0; rank < 4; ++rank) {
        out.accounts.push_back(account(rank));
        out.busy_s.push_back(256.0 * parts[rank] / sum * row_ms[rank] / 1e3);
        out.step_s = std::max(out.step_s, out.busy_s.back());
    }
    return out;
}

/// In training of its second segment of four, with seats for accounts 0, the lead, to 3.
contracts::Task make_task(std::vector<std::uint8_t> seats) {
    contracts::Task task;
    task.state = contracts::TaskState::kTraining;
    task.spec.steps = 16;
    task.spec.checkpoint_interval = 4;
    task.spec.members = 8;
    task.checkpoints = 2;
    task.solver = account(0);
    task.group.emplace();
    task.group->is_together = true;
    task.group->partners = {{account(1), {100}}, {account(2), {100}}, {account(3), {100}}};
    task.group->seats = std::move(seats);
    task.group->posters = {0, 0};
    return task;
}

}  // namespace

TEST_CASE("GRP-12: who has more of the seats computes more of each step, if it can answer for that") {
    CHECK(shares_of({2, 2, 2}).empty());
    CHECK(shares_of({4, 2, 2}) == Counts{2, 1, 1});
    CHECK(shares_of({4, 0, 2}).empty());
    const program::Program program = make_program();
    const plan::Layout alike = layout_of("zero1");
    CHECK(with_seats(program, alike, {3, 2, 2, 1}).shares == Counts{3, 2, 2, 1});
    CHECK(with_seats(program, alike, {6, 4, 4, 2}).shares == Counts{3, 2, 2, 1});
    CHECK(with_seats(program, alike, {2, 2, 2, 2}) == alike);
    // 256 values cannot be cut into sevenths that are whole partials of 32.
    CHECK(with_seats(program, alike, {2, 2, 2, 1}) == alike);
    CHECK(with_seats(program, layout_of("zero1", {3, 2, 2, 1}), {1, 1, 1, 1}) == alike);
    CHECK(with_seats(program, layout_of("tp"), {3, 2, 2, 1}) == layout_of("tp"));
    CHECK(worker::can_state(program, with_seats(program, alike, {3, 2, 2, 1})));
}

TEST_CASE("GRP-13: seats by speed leave the slowest member the shortest time") {
    const program::Program program = make_program();
    const plan::Layout alike = layout_of("zero1");
    CHECK(balanced_seats(program, measured(alike, {1, 1, 1, 1}), 64).empty());
    const Counts seats = balanced_seats(program, measured(alike, {1, 1, 1, 10}), 64);
    REQUIRE(seats.size() == 4);
    CHECK(seats[3] == 1);
    CHECK(std::accumulate(seats.begin(), seats.end(), 0U) == 8);
    CHECK(std::min({seats[0], seats[1], seats[2]}) >= 2);
    // It has no better one then.
    CHECK(balanced_seats(program, measured(layout_of("zero1", seats), {1, 1, 1, 10}), 64).empty());
    // And an equal one is better once all are as fast.
    CHECK(shares_of(balanced_seats(program, measured(layout_of("zero1", seats), {1, 1, 1, 1}), 64)).empty());
    CHECK_FALSE(balanced_seats(program, measured(layout_of("zero1", seats), {1, 1, 1, 1}), 64).empty());
    // The task has to admit the seats, and ranks have to divide the batch.
    CHECK(balanced_seats(program, measured(alike, {1, 1, 1, 10}), 7).empty());
    CHECK(balanced_seats(program, measured(layout_of("tp"), {1, 1, 1, 10}), 64).empty());
    // Nobody is so fast or so slow that it gets no seat, or a time of nothing breaks the arithmetic.
    const Counts extreme = balanced_seats(program, measured(alike, {0, 1, 1, 1e9}), 64);
    REQUIRE(extreme.size() == 4);
    CHECK(std::set<std::uint32_t>(extreme.begin(), extreme.end()).count(0) == 0);
}

TEST_CASE("GRP-12: who has more of the seats has more of the multiply-adds as a stage, where nodes can be cut so") {
    const program::Program program = make_deep_program();
    for (const char* name : {"pp", "pp+1f1b4"}) {
        const plan::Layout alike = plan::decode_layout(name, 2).value();
        const plan::Layout unequal = with_seats(program, alike, {6, 2});
        CHECK(unequal.stage_shares == Counts{3, 1});
        CHECK(unequal.without_shares() == alike);
        CHECK(worker::can_state(program, unequal));
        const std::vector<std::uint64_t> work = plan::work_of_stages(program, unequal);
        CHECK(work[0] > 2 * work[1]);
        CHECK(work[0] < 4 * work[1]);
        CHECK(with_seats(program, alike, {2, 2}) == alike);
        CHECK(with_seats(program, unequal, {1, 1}) == alike);
    }
    // Ranks that are more than stages have parts alike.
    const plan::Layout both = plan::decode_layout("dp2pp2", 4).value();
    CHECK(with_seats(program, both, {3, 1, 1, 1}) == both);
}

TEST_CASE("GRP-12: who has more of the seats has more of each layer's columns, if it can answer for that") {
    program::MlpConfig model;
    model.features = 64;
    model.hidden = {256, 256};
    model.classes = 256;
    model.batch_size = 32;
    model.dataset_rows = 64;
    const plan::Layout alike = plan::decode_layout("tp", 2).value();
    const program::Program wide = program::build_mlp(model, {});
    CHECK(with_seats(wide, alike, {3, 1}).tensor_shares == Counts{3, 1});
    CHECK(worker::follows(wide, with_seats(wide, alike, {3, 1}), {6, 2}));
    CHECK_FALSE(worker::follows(wide, alike, {3, 1}));
    model.hidden = {48, 256};  // 48 columns have one whole partial of 32
    const program::Program narrow = program::build_mlp(model, {});
    CHECK(with_seats(narrow, alike, {3, 1}) == alike);
    CHECK(worker::follows(narrow, alike, {3, 1}));
}

TEST_CASE("GRP-12: stages that the seats bring no nearer stay alike") {
    // One product has nearly all of the work: it is whole in one stage or the other.
    program::MlpConfig model;
    model.features = 32;
    model.hidden = {32, 2'048};
    model.classes = 32;
    model.batch_size = 32;
    model.dataset_rows = 64;
    const program::Program program = program::build_mlp(model, {});
    const plan::Layout alike = plan::decode_layout("pp", 2).value();
    const auto most = [&](const plan::Layout& layout, const Counts& seats) {
        const std::vector<std::uint64_t> work = plan::work_of_stages(program, layout);
        return std::max(work[0] / seats[0], work[1] / seats[1]);
    };
    for (const Counts& seats : {Counts{3, 1}, Counts{1, 3}, Counts{9, 8}, Counts{8, 9}, Counts{1, 20}}) {
        const plan::Layout found = with_seats(program, alike, seats);
        plan::Layout unequal = alike;
        unequal.stage_shares = shares_of(seats);
        CHECK(most(found, seats) == std::min(most(alike, seats), most(unequal, seats)));
    }
}

TEST_CASE("GRP-12: a member signs no layout in which it has another part than its seats say") {
    const program::Program program = make_deep_program();
    const auto layout = [](const char* name) { return plan::decode_layout(name, 2).value(); };
    CHECK(worker::follows(program, layout("pp:3,1"), {3, 1}));
    CHECK(worker::follows(program, layout("pp:3,1"), {6, 2}));
    CHECK(worker::follows(program, layout("pp"), {2, 2}));
    CHECK_FALSE(worker::follows(program, layout("pp"), {3, 1}));
    CHECK_FALSE(worker::follows(program, layout("pp:1,3"), {3, 1}));
    CHECK_FALSE(worker::follows(program, layout("pp:3,1"), {1, 1}));
    CHECK_FALSE(worker::follows(program, layout("pp:6,2"), {3, 1}));  // there is one name for each layout
    CHECK(worker::follows(program, layout("tp"), {2, 2}));
    CHECK_FALSE(worker::follows(program, layout("tp:3,1"), {1, 1}));
    CHECK(worker::follows(make_program(), layout("dp:3,1"), {3, 1}));
    CHECK_FALSE(worker::follows(make_program(), layout("dp:3,1"), {1, 1}));
    CHECK_FALSE(worker::follows(make_program(), layout("dp"), {3, 1}));
}

TEST_CASE("GRP-13: seats by speed leave the slowest stage the shortest time") {
    const program::Program program = make_deep_program();
    plan::Layout alike = plan::decode_layout("pp+1f1b4", 2).value();
    const auto seen = [&](const plan::Layout& layout, const std::vector<double>& speeds) {
        MeasuredSegment out;
        out.layout = layout;
        out.accounts = {account(0), account(1)};
        const std::vector<std::uint64_t> work = plan::work_of_stages(program, layout);
        for (std::size_t rank = 0; rank < 2; ++rank) {
            out.busy_s.push_back(static_cast<double>(work[rank]) / speeds[rank]);
            out.step_s = std::max(out.step_s, out.busy_s.back());
        }
        return out;
    };
    CHECK(balanced_seats(program, seen(alike, {1e6, 1e6}), 64).empty());
    const Counts seats = balanced_seats(program, seen(alike, {3e6, 1e6}), 8);
    REQUIRE(seats.size() == 2);
    CHECK(seats[0] >= 2 * seats[1]);
    const plan::Layout balanced = with_seats(program, alike, seats);
    CHECK(balanced.stage_shares == shares_of(seats));
    CHECK(seen(balanced, {3e6, 1e6}).step_s < 0.75 * seen(alike, {3e6, 1e6}).step_s);
    // Nothing better is left, and the decision sees that its list has taken effect.
    CHECK(balanced_seats(program, seen(balanced, {3e6, 1e6}), 8).empty());
    Balance balance;
    balance.note(program, seen(alike, {3e6, 1e6}), 8);
    REQUIRE_FALSE(balance.wanted().empty());
    balance.note(program, seen(balanced, {3e6, 1e6}), 8);
    CHECK(balance.wanted().empty());
    CHECK_FALSE(balance.takes_back());
}

TEST_CASE("GRP-13: who claims to be faster than it is has its seats taken back") {
    const program::Program program = make_program();
    Balance balance;
    const std::vector<double> truth{1, 1, 1, 1};
    MeasuredSegment said = measured(layout_of("zero1"), truth);
    balance.note(program, said, 64);
    CHECK(balance.wanted().empty());
    said.busy_s[2] /= 10;
    for (const std::size_t rank : {0U, 1U, 3U}) {
        said.busy_s[rank] *= 1.5;  // accomplices
    }
    balance.note(program, said, 64);
    REQUIRE_FALSE(balance.wanted().empty());
    CHECK_FALSE(balance.takes_back());
    Counts counts;
    for (std::uint8_t rank = 0; rank < 4; ++rank) {
        counts.push_back(
            static_cast<std::uint32_t>(std::count(balance.wanted().begin(), balance.wanted().end(), account(rank)))
        );
    }
    CHECK(counts[2] > counts[0]);
    // As long as they have not all signed nothing is known of its effect.
    balance.note(program, said, 64);
    CHECK_FALSE(balance.takes_back());
    // It computes more now, and the others wait for it, whatever it says.
    MeasuredSegment effect = measured(layout_of("zero1", shares_of(counts)), truth);
    effect.busy_s[2] /= 10;
    balance.note(program, effect, 64);
    CHECK(balance.takes_back());
    CHECK(balance.wanted() == std::vector{account(0), account(1), account(2), account(3)});
    // Once it is back nobody is asked any more.
    balance.note(program, said, 64);
    CHECK(balance.wanted().empty());
    balance.note(program, said, 64);
    CHECK(balance.wanted().empty());
}

TEST_CASE("GRP-13: a list that makes the steps faster stays") {
    const program::Program program = make_program();
    Balance balance;
    const std::vector<double> truth{1, 1, 1, 10};
    balance.note(program, measured(layout_of("zero1"), truth), 64);
    REQUIRE(balance.wanted().size() == 8);
    balance.note(program, measured(layout_of("zero1", {3, 2, 2, 1}), truth), 64);
    CHECK_FALSE(balance.takes_back());
    CHECK(balance.wanted().empty());
    // Who comes or goes makes other measurements of what was wanted.
    balance.note(program, measured(layout_of("zero1"), truth), 64);
    REQUIRE_FALSE(balance.wanted().empty());
    MeasuredSegment fewer = measured(layout_of("zero1"), {1, 1, 1, 1});
    fewer.accounts[3] = account(9);
    balance.note(program, fewer, 64);
    CHECK(balance.wanted().empty());
}

TEST_CASE("GRP-13: a balanced list has the same members, and what the task admits") {
    const contracts::Task task = make_task({0, 1, 2, 3});
    const std::vector<AccountId> alike{account(0), account(1), account(2), account(3)};
    const std::vector<AccountId> wanted{account(0), account(0), account(1), account(2), account(3)};
    CHECK(worker::balanced_list(task, {}).empty());
    CHECK(worker::balanced_list(task, alike).empty());
    CHECK(worker::balanced_list(task, wanted) == wanted);
    CHECK(worker::balanced_list(task, {account(0), account(0), account(1), account(2)}).empty());
    CHECK(worker::balanced_list(task, {account(0), account(0), account(1), account(2), account(4)}).empty());
    CHECK(worker::balanced_list(task, std::vector(9, account(0))).empty());
    CHECK(worker::balanced_list(make_task({0, 0, 1, 2, 3}), alike) == alike);
    CHECK(worker::seat_counts(make_task({0, 0, 1, 2}), 2, alike) == Counts{2, 1, 1, 0});
}

TEST_CASE("GRP-13: who keeps seats that were taken back is found, and nobody else") {
    const contracts::Task task = make_task({0, 1, 2, 2, 3});
    const std::vector<AccountId> alike{account(0), account(1), account(2), account(3)};
    CHECK(worker::who_keeps(task, alike, {}) == std::vector{account(2)});
    CHECK(worker::who_keeps(task, alike, {account(2)}).empty());
    CHECK(worker::who_keeps(make_task({0, 1, 2, 3}), alike, {}).empty());
}

TEST_CASE("GRP-13: who joins has as many seats as each other") {
    const contracts::Task task = make_task({0, 0, 0, 1, 2});
    CHECK(roles::next_seats(task, {}, {account(3)}) == std::vector{account(0), account(1), account(2), account(3)});
    CHECK(roles::next_seats(task, {}, {account(3)}, 3).empty());
    CHECK(roles::next_seats(task, {account(2)}, {}) == std::vector{account(0), account(0), account(0), account(1)});
}
