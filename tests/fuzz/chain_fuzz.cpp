// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <variant>

#include <tests/fuzz/chain_shapes.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <core/dispute/player.hpp>
#include <tests/unit/contracts/fixture.hpp>

/// Signed transactions of any content in any order. The fixture looks at the whole state after every block.
namespace assay::fuzz {
namespace {

using namespace contracts;

constexpr std::size_t kStepsMax = 24;

/// The fixture checks with doctest's macros; outside of a test case a failed one aborts.
void prepare_doctest() {
    static doctest::Context context;
    static const bool kDone = [] {
        context.setAsDefaultForAssertsOutOfTestCases();
        return true;
    }();
    static_cast<void>(kDone);
}

class Player {
  public:
    explicit Player(std::uint8_t stage) {
        switch (stage % 6) {
            case 1:
                chain_.bond_all();
                break;
            case 2:
                chain_.bond_all();
                chain_.start_task(test::make_spec());
                break;
            case 3:
                chain_.bond_all();
                chain_.complete_task();
                break;
            case 4:
                chain_.bond_all();
                chain_.verifying_task();
                break;
            case 5:
                chain_.bond_all();
                chain_.challenge_task();
                break;
            default:
                break;
        }
        remember(chain_.history);
    }

    void take(ChainStep step) {
        chain_.skip(step.blocks % 40);
        std::visit([&](auto& action) { aim(action, step.which); }, step.action);
        if (step.which % 4 != 3) {
            make_lawful(step.action);
        }
        const auto actors = chain_.actors();
        const test::Actor& actor = *actors[step.who % actors.size()];
        const Bytes tx = chain_.make_tx(actor, step.action);
        remember(chain_.run_block({tx}).history);
    }

  private:
    template <class Id>
    static void choose(Id& id, const std::vector<Id>& known, std::uint8_t which) {
        if (!known.empty() && which % 8 != 7) {
            id = known[which % known.size()];
        }
    }
    void aim(SubmitTask& action, std::uint8_t which) {
        if (action.spec.parent) {
            choose(*action.spec.parent, tasks_, which);
        }
    }
    template <class T>
    void aim(T& action, std::uint8_t which) {
        if constexpr (requires { action.task; }) {
            choose(action.task, tasks_, which);
        } else if constexpr (requires { action.dispute; }) {
            choose(action.dispute, disputes_, which);
        }
    }
    /// A move that the dispute's position accepts, as far as that takes no program.
    void make_lawful(Action& action) const {
        auto* const move = std::get_if<RevealMove>(&action);
        auto* const choice = std::get_if<SelectMove>(&action);
        const DisputeId id = move != nullptr ? move->dispute : choice != nullptr ? choice->dispute : DisputeId{};
        const auto dispute = find_dispute(chain_.view, id);
        if (!dispute || dispute->position.is_at_proof()) {
            return;
        }
        const dispute::Position& position = dispute->position;
        if (move != nullptr) {
            move->round = position.rounds;
            move->children.resize(dispute::split(dispute->claim, position).count);
            const auto last = dispute::claimed_last_child(dispute->claim, position);
            move->children.back() = last.value_or(move->children.back());
        } else if (!position.pending().empty()) {
            choice->round = position.rounds;
            choice->selection.child %= static_cast<std::uint32_t>(position.pending().size());
        }
    }
    void remember(const std::vector<HistoryRecord>& records) {
        for (const HistoryRecord& entry : records) {
            if (std::holds_alternative<history::Submitted>(entry.event)) {
                tasks_.push_back(entry.task);
            } else if (const auto* opened = std::get_if<history::DisputeOpened>(&entry.event)) {
                disputes_.push_back(opened->dispute);
            }
        }
    }

    test::Chain chain_;
    std::vector<TaskId> tasks_;
    std::vector<DisputeId> disputes_;
};

}  // namespace

void run(ByteView input) {
    prepare_doctest();
    const auto script = round_trip<ChainScript>(input);
    if (!script || script->steps.size() > kStepsMax) {
        return;
    }
    Player player(script->stage);
    for (const ChainStep& step : script->steps) {
        player.take(step);
    }
}

}  // namespace assay::fuzz
