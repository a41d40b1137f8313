// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <contracts/params/spec.hpp>
#include <contracts/state/slots.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/contracts/toy.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

using Change = std::function<void(TaskSpec&)>;

/// A task whose initialisation graph reads tensors that it is given.
TaskSpec make_given_spec() {
    TaskSpec spec = make_spec();
    spec.program.initial_tensors = canonical::kMaxStateTensors;
    spec.program.initial_root = hash_of("initial");
    spec.initial_artifact = ArtifactRef{hash_of("artifact"), 1'000, "http://127.0.0.1:4000"};
    return spec;
}

/// Each change alone makes a sound specification one that is refused, before and in a block.
void check_refused(const TaskSpec& sound, const std::vector<Change>& faults) {
    Chain chain;
    CHECK(check_spec(sound).has_value());
    for (const Change& fault : faults) {
        TaskSpec spec = sound;
        fault(spec);
        CHECK(check_spec(spec).error() == TxError::kSpecInvalid);
        CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kSpecInvalid);
    }
}

void check_sound(const std::vector<Change>& changes) {
    for (const Change& change : changes) {
        TaskSpec spec = make_spec();
        change(spec);
        CHECK(check_spec(spec).has_value());
    }
}

}  // namespace

TEST_CASE("TASK-2.1: title and locations are printable ASCII within their limits") {
    check_refused(
        make_spec(), {[](TaskSpec& s) { s.title = std::string(65, 'a'); }, [](TaskSpec& s) { s.title = "tab\there"; },
                      [](TaskSpec& s) { s.program_artifact.location = std::string(257, 'a'); },
                      [](TaskSpec& s) { s.dataset_artifact.location = std::string(1, '\x7f'); }}
    );
    check_refused(make_given_spec(), {[](TaskSpec& s) { s.initial_artifact->location = "tab\there"; }});
    check_sound(
        {[](TaskSpec& s) { s.title = std::string(64, '~'); }, [](TaskSpec& s) { s.title = " "; },
         [](TaskSpec& s) { s.program_artifact.location = std::string(256, 'a'); }}
    );
}

TEST_CASE("TASK-2.2: a task has steps, an interval, and at most 1024 segments") {
    check_refused(
        make_spec(), {[](TaskSpec& s) { s.steps = 0; }, [](TaskSpec& s) { s.checkpoint_interval = 0; },
                      [](TaskSpec& s) {
                          s.checkpoint_interval = 4;
                          s.steps = std::uint64_t{4} * kMaxSegments + 1;
                      }}
    );
    check_sound({[](TaskSpec& s) {
        s.checkpoint_interval = 4;
        s.steps = std::uint64_t{4} * kMaxSegments;
    }});
}

TEST_CASE("TASK-2.3: a program has state, graphs and a batch within their limits") {
    check_refused(
        make_spec(), {[](TaskSpec& s) { s.program.state_tensors = 0; },
                      [](TaskSpec& s) { s.program.state_tensors = canonical::kMaxStateTensors + 1; },
                      [](TaskSpec& s) { s.program.init_nodes = 0; },
                      [](TaskSpec& s) { s.program.init_nodes = canonical::kMaxNodes + 1; },
                      [](TaskSpec& s) { s.program.step_nodes = 1; },
                      [](TaskSpec& s) { s.program.step_nodes = canonical::kMaxNodes + 1; },
                      [](TaskSpec& s) { s.program.batch_size = 0; },
                      [](TaskSpec& s) { s.program.batch_size = canonical::kMaxDimension + 1; }}
    );
    check_sound(
        {[](TaskSpec& s) { s.program.state_tensors = canonical::kMaxStateTensors; },
         [](TaskSpec& s) { s.program.init_nodes = canonical::kMaxNodes; },
         [](TaskSpec& s) { s.program.step_nodes = 2; },
         [](TaskSpec& s) { s.program.batch_size = canonical::kMaxDimension; }}
    );
}

TEST_CASE(
    "TASK-2.4: a dataset has at least one row, of 1 to 2^24 values that do not all overlap, and at most 2^48 bytes"
) {
    check_refused(
        make_spec(), {[](TaskSpec& s) { s.program.dataset.rows = 0; }, [](TaskSpec& s) { s.program.dataset.width = 0; },
                      [](TaskSpec& s) { s.program.dataset.width = canonical::kMaxDimension + 1; },
                      [](TaskSpec& s) { s.program.dataset.overlap = s.program.dataset.width; },
                      [](TaskSpec& s) { s.program.dataset = {.rows = (std::uint64_t{1} << 46U) + 1, .width = 1}; }}
    );
    check_sound(
        {[](TaskSpec& s) { s.program.dataset.width = canonical::kMaxDimension; },
         [](TaskSpec& s) { s.program.dataset.overlap = s.program.dataset.width - 1; },
         [](TaskSpec& s) { s.program.dataset = {.rows = std::uint64_t{1} << 46U, .width = 1}; }}
    );
}

TEST_CASE("TASK-2.5: a specification says where initial tensors are exactly when the program has any") {
    check_refused(
        make_spec(), {[](TaskSpec& s) { s.program.initial_tensors = 1; },
                      [](TaskSpec& s) { s.program.initial_root = hash_of("initial"); },
                      [](TaskSpec& s) { s.initial_artifact.emplace(); }}
    );
    check_refused(
        make_given_spec(),
        {[](TaskSpec& s) { s.initial_artifact.reset(); }, [](TaskSpec& s) { s.program.initial_root = {}; },
         [](TaskSpec& s) { s.program.initial_tensors = canonical::kMaxStateTensors + 1; }}
    );
}

TEST_CASE("TASK-2.9: a dispute of the largest segment fits 8 rounds") {
    TaskSpec large = make_spec();
    large.steps = 10'000;
    large.checkpoint_interval = 1'000;
    large.program.step_nodes = 10'000;
    CHECK(dispute_rounds_max(large) == dispute::kMaxRounds);
    // Steps and nodes each take one round more for every factor of 256.
    check_refused(large, {[](TaskSpec& s) {
                      s.steps = std::uint64_t{1} << 17U;
                      s.checkpoint_interval = (1U << 16U) + 1;
                  }});
    check_refused(make_spec(), {[](TaskSpec& s) {
                      s.steps = std::uint64_t{1} << 25U;
                      s.checkpoint_interval = 1U << 25U;
                      s.program.step_nodes = 1'000;
                  }});
}

TEST_CASE("TASK-20: a specification may name a tokenizer by any hash, and its task keeps it") {
    Chain chain;
    for (const std::optional<Hash256>& tokenizer :
         {std::optional<Hash256>{}, std::optional{Hash256{}}, std::optional{hash_of("tokenizer.json")}}) {
        TaskSpec spec = make_spec();
        spec.tokenizer = tokenizer;
        CHECK(check_spec(spec).has_value());
        const Bytes bytes = codec::encode(spec);
        TaskSpec without = spec;
        without.tokenizer.reset();
        CHECK(bytes.size() == codec::encode(without).size() + (tokenizer ? 32 : 0));
        const auto back = codec::decode<TaskSpec>(bytes);
        REQUIRE(back.has_value());
        CHECK(*back == spec);
        const std::uint64_t nonce = get_account(chain.view, chain.submitter.id).nonce;
        REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
        CHECK(chain.task(task_id(chain.submitter.id, nonce)).spec == spec);
    }
}
