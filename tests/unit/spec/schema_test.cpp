// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <functional>
#include <iterator>
#include <set>

#include <contracts/state/slots.hpp>
#include <contracts/transaction/actions.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/core/vectors.hpp>
#include <tests/unit/folders.hpp>
#include <tools/spec/files.hpp>
#include <tools/spec/random_value.hpp>

using namespace assay;
using namespace assay::contracts;

namespace {

struct EmptyState final : StateView {
    std::optional<Bytes> get(const Bytes&) const override { return std::nullopt; }
};

std::size_t key_size(const spec::Schema& schema, const spec::Slot& slot) {
    std::size_t size = 1;
    for (const spec::Field& part : slot.rest) {
        if (part.type[0] == 'u') {
            size += static_cast<std::size_t>(std::stoi(part.type.substr(1))) / 8;
        } else {
            const auto array = schema.byte_arrays.find(part.type);
            size += array == schema.byte_arrays.end() ? 1 : array->second;
        }
    }
    return size;
}

const spec::Slot* slot_of(const spec::Schema& schema, const Bytes& key) {
    for (const spec::Slot& slot : schema.slots) {
        if (slot.prefix == key[0] && key_size(schema, slot) == key.size()) {
            return &slot;
        }
    }
    return nullptr;
}

/// Writes something to every kind of slot.
void write_every_slot(Overlay& state, spec::Words& words) {
    const auto make = [&words]<class T>(const T&) { return spec::make_value<T>(words); };
    const auto account = make(AccountId{});
    const auto id = make(TaskId{});
    Task task = make(Task{});
    Stake stake = make(Stake{});
    stake.free = Amount{1};
    RegisteredTerms terms = make(RegisteredTerms{});
    terms.terms.price = 1;
    const Params params;
    set_params(state, params);
    set_supply(state, make(Supply{}));
    set_base_fee(state, params, Amount{params.gas_price_min.grains + 1});
    set_account(state, account, make(Account{}));
    set_stake(state, Role::kVerifier, account, stake);
    set_task(state, task);
    set_checkpoint(state, id, 2, make(Checkpoint{}));
    set_dispute(state, make(Dispute{}));
    set_profile(state, id, 3, make(ProfileReport{}));
    set_stakers(state, Role::kVerifier, {account});
    set_validator(state, account, make(Validator{}));
    register_validator(state, make(AccountId{}), make(ConsensusKey{}));
    ban_validator(state, make(AccountId{}));
    set_bookkeeping(state, id, make(TaskBookkeeping{}));
    set_terms(state, Role::kVerifier, account, terms);
    set_lineage(state, id, Lineage{id, id});
    set_taints(state, {Taint{id, id}});
    set_beacon(state, make(Beacon{}));
    set_drawing(state, make(Drawing{}));
    set_lane(state, Lane{1, 2});
    set_proposal(state, make(ProposalId{}), make(Proposal{}));
    set_plans(state, {make(Plan{})});
    set_operator(state, make(AccountId{}), make(AccountId{}));
    push_waiting(state, Queue::kSolver, Waiting{id, Height{4}});
    for (int i = 0; i < 2; ++i) {
        enter_agenda(state, make(Due{}), Height{5});
    }
    // The place of the next entry is kept once one is taken.
    REQUIRE(pop_agenda(state, Height{5}).has_value());
}

}  // namespace

TEST_CASE("STA-2: every slot that can be written has its row in the schema, with a key of that size and that value") {
    const spec::Schema schema = spec::make_schema();
    const EmptyState empty;
    std::set<const spec::Slot*> met;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        Overlay state = Overlay::over(empty);
        spec::Words words(seed);
        write_every_slot(state, words);
        for (const auto& [changed, value] : state.changes()) {
            if (!value) {
                continue;
            }
            const Bytes& key = changed;  // clang 14 captures no structured binding
            CAPTURE(to_hex(key));
            const spec::Slot* slot = slot_of(schema, key);
            REQUIRE(slot != nullptr);
            if (schema.cases.count(slot->value) == 1) {
                CHECK(schema.cases.at(slot->value)()->is_encoding(*value));
            }
            met.insert(slot);
        }
    }
    for (const spec::Slot& slot : schema.slots) {
        CAPTURE(slot.name);
        CHECK(met.count(&slot) == 1);
    }
}

TEST_CASE("STA-2: every number of a slot is in the schema") {
    const spec::Schema schema = spec::make_schema();
    std::set<std::uint8_t> prefixes;
    for (const spec::Slot& slot : schema.slots) {
        prefixes.insert(slot.prefix);
    }
    CHECK(prefixes.size() == schema.enumerations.at("SlotKind").size());
}

TEST_CASE("spec: the published schema and its tables are those of the code") {
    const spec::Schema schema = spec::make_schema();
    const auto published = [](const std::string& path) {
        std::ifstream file(folders::source() + "/" + path);
        REQUIRE(file.good());
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    CHECK(published("docs/protocol/schema.json") == spec::schema_json(schema).dump(1) + "\n");
    CHECK(published("docs/protocol/schema.md") == spec::schema_tables(schema));
    CHECK(schema.variants.at("Action").size() == std::variant_size_v<Action>);
    CHECK(schema.variants.at("HistoryEvent").size() == std::variant_size_v<HistoryEvent>);
    CHECK(schema.records.at("TaskSpec").fields.size() == TaskSpec::fields().kCount);
}
