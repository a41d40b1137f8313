// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/together_session.hpp>

#include <utility>

#include <contracts/state/slots.hpp>
#include <verifier/plan/message.hpp>
#include <verifier/plan/plan.hpp>
#include <verifier/worker/told.hpp>

namespace assay::worker {

TogetherLinks connect_together(
    WorkerContext& context, engine::SharedWords& words, const TogetherRank& rank, group::SegmentCheck check,
    const std::atomic<bool>& stop, std::function<bool(std::chrono::milliseconds)> while_waiting
) {
    const crypto::SecretKey& key = context.chain.key();
    auto links = cell::connect_tls(
        words, {.rank = rank.rank,
                .size = rank.size(),
                .address = context.options.link_address,
                .key = {},
                .accounts = cell::LinkAccounts{.key = key, .accounts = rank.accounts},
                .connect = kConnectTimeout,
                .timeout = kRankTimeout,
                .stop = &stop,
                .while_waiting = std::move(while_waiting)}
    );
    group::Signers signers{.chain_id = rank.chain_id, .task = retag<Hash256>(rank.task), .accounts = rank.accounts};
    auto stated = std::make_unique<group::SignedCollective>(
        std::move(links), std::move(signers), key, context.statements->of(rank.task), std::move(check),
        context.statements->findings(rank.task)
    );
    auto cost = stated->shared_cost();
    return {.collective = context.behaviour.links(context, rank.task, std::move(stated)), .cost = std::move(cost)};
}

engine::EngineOptions engine_of(WorkerContext& context) {
    engine::EngineOptions out = context.options.engine;
    out.pace = context.behaviour.pace();
    return out;
}

bool can_state(const program::Program& program, const plan::Layout& layout) {
    if (layout.turns > 1) {
        return false;
    }
    const plan::Plan plan = plan::make_plan(program, layout);
    return !plan::unstatable_node(plan, program.step);
}

std::optional<plan::Layout> layout_together(
    const program::Program& program, const std::string& name, std::size_t machines
) {
    for (auto ranks = static_cast<std::uint32_t>(machines); ranks > 1; --ranks) {
        auto layout = plan::decode_layout(name, ranks);
        if (layout && can_state(program, *layout)) {
            return layout;
        }
    }
    return std::nullopt;
}

void report_session(WorkerContext& context, const TogetherRank& rank, const std::string& layout) {
    nlohmann::ordered_json event = {
        {"event", "together"}, {"task", to_hex(rank.task.view())}, {"rank", rank.rank}, {"ranks", rank.size()}};
    if (!layout.empty()) {
        event["layout"] = layout;
    }
    context.reporter.event(event);
}

void report_served(
    WorkerContext& context, const TogetherRank& rank, const engine::Served& served, const group::StatementCost& cost
) {
    context.reporter.event(
        {{"event", "together_over"},
         {"task", to_hex(rank.task.view())},
         {"rank", rank.rank},
         {"steps", served.steps},
         {"state_bytes", served.state_bytes},
         {"sent_bytes", served.sent_bytes},
         {"signature_bytes", cost.signature_bytes}}
    );
}

}  // namespace assay::worker
