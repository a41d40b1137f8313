// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/group.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include <contracts/state/history.hpp>
#include <core/crypto/address.hpp>
#include <tools/demo/workload.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/partial_file.hpp>
#include <verifier/plan/turns.hpp>

namespace assay::demo {

using nlohmann::json;

namespace {

constexpr std::uint32_t kAcceptFactor = 8;
constexpr std::uint32_t kMostSegments = 16;  // as many as a demo's task has, and more
constexpr Amount kStakeForAllSegments{150 * kGrainsPerAsy};

/// A member's part in what the task's history says of money.
struct Part {
    std::uint64_t rewarded = 0;
    std::uint64_t slashed = 0;
    std::uint64_t demanded = 0;  ///< by demands, its own or of it (GRP-14)
};

constexpr std::array kKinds{
    std::pair<std::string_view, GroupFraud>{"lane", GroupFraud::kLane},
    std::pair<std::string_view, GroupFraud>{"zeros", GroupFraud::kZeros},
    std::pair<std::string_view, GroupFraud>{"withhold", GroupFraud::kWithhold},
    std::pair<std::string_view, GroupFraud>{"stale", GroupFraud::kStale},
    std::pair<std::string_view, GroupFraud>{"outer", GroupFraud::kOuter},
    std::pair<std::string_view, GroupFraud>{"fold", GroupFraud::kFold},
    std::pair<std::string_view, GroupFraud>{"shard", GroupFraud::kShard},
    std::pair<std::string_view, GroupFraud>{"reduce", GroupFraud::kReduce},
    std::pair<std::string_view, GroupFraud>{"stage", GroupFraud::kStage},
    std::pair<std::string_view, GroupFraud>{"equivocate", GroupFraud::kEquivocate},
    std::pair<std::string_view, GroupFraud>{"collude", GroupFraud::kCollude}};

/// The option of assay-adversary for who computes with the others. Of a coalition the first one tells a wrong
/// activation, which between stages the honest member alone is told, and the others whatever else.
std::string misstatement_of(GroupFraud kind, bool is_first) {
    const GroupFraud colluding = is_first ? GroupFraud::kStage : GroupFraud::kShard;
    const GroupFraud own = kind == GroupFraud::kCollude ? colluding : kind;
    const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& each) { return each.second == own; });
    return std::string(found->first);
}

/// The option of assay-adversary for who trains in turn.
const char* dishonesty_of(GroupFraud kind) {
    switch (kind) {
        case GroupFraud::kLane:
        case GroupFraud::kCollude:
            return "tile";
        case GroupFraud::kZeros:
            return "skip";
        case GroupFraud::kWithhold:
            return "withhold";
        case GroupFraud::kStale:
            return "stale";
        case GroupFraud::kOuter:
            return "outer";
        case GroupFraud::kFold:
            return "fold";
        default:
            break;  // of members that compute together
    }
    return "";
}

/// The parts of a checkpoint's file that have something of these tensors (ART-16).
std::uint64_t bytes_of_parts(const program::Program& program, const std::set<std::uint32_t>& tensors) {
    std::uint64_t out = 0;
    std::uint64_t part = 0;
    bool is_needed = false;
    const auto end_part = [&] {
        out += is_needed ? part : 0;
        part = 0;
        is_needed = false;
    };
    for (std::uint32_t tensor = 0; tensor < program.state.size(); ++tensor) {
        const auto [dtype, shape] = program.state[tensor].type;
        for (std::uint32_t row = 0; row < shape.rows; row += canonical::kTileDim) {
            const std::uint64_t height = std::min(canonical::kTileDim, shape.rows - row);
            part += height * shape.cols * canonical::size_of(dtype);
            is_needed = is_needed || tensors.contains(tensor);
            if (part >= artifacts::UncheckedParts::kPartBytes) {
                end_part();
            }
        }
    }
    end_part();
    return out;
}

/// What a member fetches of each checkpoint that another one posted: the hashes of all tiles, and the parts with
/// tensors that differ from the checkpoint before, which it has. Of the first it has nothing.
std::vector<std::uint64_t> fetched_bytes(const program::Program& program, std::uint32_t segments) {
    const plan::Turns turns = plan::find_turns(program).value();
    const std::uint64_t hashes = artifacts::leaves_bytes(program::types_of(program.state));
    std::vector<std::uint64_t> out{hashes + program::size_bytes(program.state)};
    for (std::uint32_t segment = 1; segment <= segments; ++segment) {
        const std::uint32_t replica = (segment - 1) % turns.replicas;
        const std::uint32_t next = segment % turns.replicas;
        const std::uint32_t place = (segment - 1) / turns.replicas % turns.cycle;
        std::set<std::uint32_t> changed(turns.own[replica].begin(), turns.own[replica].end());
        for (std::uint32_t other = 0; other < turns.cycle; ++other) {
            for (const std::uint32_t tensor : turns.sent[other][replica]) {
                if (other != place) {
                    changed.erase(tensor);
                }
            }
        }
        const bool ends_round = next == 0;
        if (ends_round) {
            const plan::PartialGraph end = plan::end_graph(program, turns, place);
            for (std::uint32_t i = 0; i < end.tensors.size(); ++i) {
                const canonical::Input& after = end.graph.back().inputs[i];
                if (after.source != canonical::Source::kState || after.index != i) {
                    changed.insert(end.tensors[i]);
                }
            }
        }
        for (std::size_t i = 0; i < turns.worked[next].size(); ++i) {
            const auto& [tensor, source] = turns.worked[next][i];
            // Replicas that begin with the same value leave it as it is.
            if (ends_round || source != turns.worked[replica][i].second) {
                changed.insert(tensor);
            }
        }
        out.push_back(hashes + bytes_of_parts(program, changed));
    }
    return out;
}

Part part_of(const AccountId& account, const std::vector<contracts::HistoryRecord>& records) {
    Part out;
    for (const contracts::HistoryRecord& record : records) {
        if (const auto* paid = std::get_if<contracts::history::Paid>(&record.event)) {
            const bool is_reward = paid->to == account && paid->reason == contracts::Reason::kReward;
            out.rewarded += is_reward ? paid->amount.grains : 0;
        } else if (const auto* slashed = std::get_if<contracts::history::Slashed>(&record.event)) {
            const bool is_demand = slashed->reason == contracts::Reason::kDemand;
            const std::uint64_t lost = slashed->from == account ? slashed->amount.grains : 0;
            (is_demand ? out.demanded : out.slashed) += lost;
        }
    }
    return out;
}

}  // namespace

std::optional<std::pair<GroupFraud, std::uint32_t>> decode_group_fraud(std::string_view text) {
    const std::size_t at = text.find('@');
    const std::string_view rank = at == std::string_view::npos ? "" : text.substr(at + 1);
    const bool is_number =
        !rank.empty() && rank.size() <= 2 && rank.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_number) {
        return std::nullopt;
    }
    const auto number = static_cast<std::uint32_t>(std::stoul(std::string(rank)));
    for (const auto& [name, kind] : kKinds) {
        if (text.substr(0, at) == name) {
            return std::pair(kind, number);
        }
    }
    return std::nullopt;
}

const std::vector<std::string>& group_fraud_names() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        for (const auto& kind : kKinds) {
            names.emplace_back(kind.first);
        }
        return names;
    }();
    return kNames;
}

GroupCast::GroupCast(const DemoOptions& options)
    : members_(options.workers),
      culprit_(options.culprit),
      kind_(options.culprit_kind),
      together_(is_together(options) ? std::optional<TogetherCast>(options) : std::nullopt) {}

void GroupCast::adjust(contracts::Params& params) const {
    params.accept_blocks *= kAcceptFactor;
    if (culprit_) {
        params.segments_checked = kMostSegments;
        params.segments_checked_max = kMostSegments;
    }
}

Amount GroupCast::stake_of(const Player& judge) const {
    return culprit_ ? std::max(judge.stake, kStakeForAllSegments) : judge.stake;
}

std::set<std::string> GroupCast::culprits() const {
    std::set<std::string> out;
    for (std::uint32_t rank = 0; rank < members_; ++rank) {
        if (cheats(rank)) {
            out.insert(name_of(rank));
        }
    }
    return out;
}

std::uint32_t GroupCast::first_culprit() const {
    const std::uint32_t honest = culprit_.value_or(0);
    if (!colludes()) {
        return honest;
    }
    // Of those that compute together the one before the honest one, whom it misleads before all others between stages;
    // of those that train in turn whoever has the first turn.
    return together_ ? (honest + members_ - 1) % members_ : (honest == 0 ? 1 : 0);
}

std::vector<std::string> GroupCast::arguments_of(const Network& network, std::uint32_t rank, std::uint64_t interval) {
    std::vector<std::string> out{"solve"};
    if (together_) {
        const auto more = together_->arguments_of(rank);
        out.insert(out.end(), more.begin(), more.end());
    }
    if (cheats(rank) && together_) {
        // The rest of a coalition follows a step later, so that it is known who was the first.
        const bool is_first = rank == first_culprit();
        const std::uint64_t within = std::min(interval / 2 + (is_first ? 0 : 1), interval - 1);
        const std::string step = std::to_string(together_->lying_segment() * interval + within);
        out.insert(out.end(), {"--misstates", misstatement_of(kind_, is_first), "--dishonest-step", step});
    } else if (cheats(rank)) {
        // In the middle of its turn of the second round, so that something is left of the task.
        const std::uint64_t step = (members_ + rank) * interval + interval / 2;
        out.insert(out.end(), {"--dishonest", dishonesty_of(kind_), "--dishonest-step", std::to_string(step)});
    }
    if (rank == 0) {
        const std::string place = "127.0.0.1:" + std::to_string(free_port());
        lead_url_ = "http://" + place;
        out.insert(out.end(), {"--listen", place});
        for (std::uint32_t partner = 1; partner < members_; ++partner) {
            out.insert(out.end(), {"--partner", crypto::to_address(network.key(name_of(partner)).account())});
        }
    } else {
        out.insert(out.end(), {"--lead", lead_url_});
    }
    return out;
}

void GroupCast::hear(const WorkerEvent& heard) {
    const std::string kind = heard.event.value("event", "");
    if (together_) {
        together_->hear(heard);
        return;
    }
    Traffic& traffic = traffic_[heard.worker];
    if (kind == "fetched") {
        traffic.fetched.insert(heard.event.value("index", 0U));
        traffic.bytes = std::max(traffic.bytes, heard.event.value("bytes", std::uint64_t{0}));
    } else if (kind == "ahead") {
        traffic.state_bytes = std::max(traffic.state_bytes, heard.event.value("state_bytes", std::uint64_t{0}));
    }
}

json GroupCast::report(Network& network, const Story& story, const Crew::Roots& roots, const program::Program& program)
    const {
    const auto task = network.rpc().task(story.task());
    json out{{"root", roots.last}, {"one_process_root", roots.one_process}, {"workers", members_}};
    out["state"] = contracts::to_string(task->state);
    out["segments"] = contracts::segment_count(*task);
    out["of_segments"] = contracts::segment_count(task->spec);
    out["convicted"] = json::array();
    out["cheats"] = json::array();
    out["members"] = json::array();
    std::uint64_t honest_lost = 0;
    std::uint64_t honest_demanded = 0;
    for (std::uint32_t rank = 0; rank < members_; ++rank) {
        const Part part = part_of(network.key(name_of(rank)).account(), story.records());
        if (cheats(rank)) {
            out["cheats"].push_back(rank);
        }
        if (part.slashed > 0) {
            out["convicted"].push_back(rank);
            honest_lost += cheats(rank) ? 0 : part.slashed;
        }
        honest_demanded += cheats(rank) ? 0 : part.demanded;
        out["members"].push_back({{"rewarded", part.rewarded}, {"slashed", part.slashed}, {"demanded", part.demanded}});
    }
    out["honest_lost"] = honest_lost + honest_demanded;
    out["honest_demanded"] = honest_demanded;
    if (together_) {
        out.update(together_->report(network, program, story));
        return out;
    }
    std::uint64_t bytes = 0;
    std::uint64_t formula = 0;
    std::uint64_t state = 0;
    const std::vector<std::uint64_t> sizes = fetched_bytes(program, contracts::segment_count(task->spec));
    for (const auto& [name, traffic] : traffic_) {
        bytes += traffic.bytes;
        state = std::max(state, traffic.state_bytes);
        for (const std::uint32_t index : traffic.fetched) {
            formula += sizes.at(index);
        }
    }
    // A member's own steps are its turns.
    const std::uint64_t steps = task->spec.steps;
    out["bytes"] = {{"sent", bytes / steps}, {"formula", formula / steps}};
    out["memory"] = {{"worker", state}, {"formula", program::size_bytes(program.state)}};
    return out;
}

std::vector<std::string> GroupCast::judge(const json& report) const {
    std::vector<std::string> out;
    const auto expect = [&](bool holds, const std::string& complaint) {
        if (!holds) {
            out.push_back(complaint);
        }
    };
    expect(
        report.at("root") == report.at("one_process_root") && report.at("root") != "",
        "the group's root is not one process's"
    );
    // The lead pays for its own demands, as much as who is out for them.
    const bool withholds = culprit_ && kind_ == GroupFraud::kWithhold && together_ && *culprit_ != 0;
    const auto& culprits_part = report.at("members").at(culprit_.value_or(0));
    const json demanded = withholds ? culprits_part.at("demanded") : json(0);
    expect(report.at("honest_lost") == demanded, "an honest member lost stake");
    expect(!withholds || demanded > 0, "who withheld paid nothing");
    expect(report.at("state") == "settled", "the task was not settled for what is right of it");
    // What is withheld the others compute themselves, and serve.
    // Who tells two members different things is convicted by its signatures, and nothing is wrong with the segment,
    // which begins again.
    const bool is_wrong = culprit_ && kind_ != GroupFraud::kWithhold && kind_ != GroupFraud::kEquivocate;
    judge_convicted(report, is_wrong || (culprit_ && kind_ == GroupFraud::kEquivocate), out);
    expect(
        (report.at("segments") < report.at("of_segments")) == is_wrong,
        "the task was not cut exactly where somebody cheated"
    );
    if (together_) {
        const auto more = together_->judge(report, is_wrong);
        out.insert(out.end(), more.begin(), more.end());
    } else {
        judge_traffic(report, out);
    }
    judge_pay(report, out);
    return out;
}

/// Of a coalition whoever was the first, and nobody else but its other members, which may be found before it is.
void GroupCast::judge_convicted(const json& report, bool is_convicted, std::vector<std::string>& out) const {
    const json& convicted = report.at("convicted");
    const std::uint32_t first = first_culprit();
    const bool is_first_convicted = std::find(convicted.begin(), convicted.end(), first) != convicted.end();
    const bool is_only_cheats = std::all_of(convicted.begin(), convicted.end(), [&](const json& rank) {
        return cheats(rank.get<std::uint32_t>());
    });
    if (!is_only_cheats || is_first_convicted != is_convicted || (!is_convicted && !convicted.empty())) {
        out.emplace_back(
            colludes() ? "not the member that was the first to cheat, or somebody honest, was convicted"
                       : "not the member that cheated, and nobody else, was convicted"
        );
    }
}

/// GRP-8, GRP-12: who was convicted earns nothing, and everybody else something for what counts.
void GroupCast::judge_pay(const json& report, std::vector<std::string>& out) const {
    const json& convicted = report.at("convicted");
    std::uint32_t rank = 0;
    for (const json& member : report.at("members")) {
        const bool is_convicted = std::find(convicted.begin(), convicted.end(), rank) != convicted.end();
        const bool was_paid = member.at("rewarded") > 0;
        // A member whose first segment lies behind the cut has earned nothing.
        const bool must_be_paid = !is_convicted && (together_ || rank < report.at("segments"));
        if (is_convicted && was_paid) {
            out.emplace_back("who cheated was paid");
        } else if (must_be_paid && !was_paid) {
            out.push_back(name_of(rank) + " was not paid for what it trained");
        }
        ++rank;
    }
}

void GroupCast::judge_traffic(const json& report, std::vector<std::string>& out) {
    const auto expect = [&](bool holds, const std::string& complaint) {
        if (!holds) {
            out.push_back(complaint);
        }
    };
    const auto is_within = [&](const char* what, const char* measured) {
        const auto value = report.at(what).at(measured).get<double>();
        return value > 0.0 && value <= 1.05 * report.at(what).at("formula").get<double>();
    };
    expect(is_within("bytes", "sent"), "members fetched more of each other than differs, or nothing");
    expect(is_within("memory", "worker"), "a member held more than one state, or none");
}

std::string describe_group(const json& report) {
    const auto roots = [&](const char* name) { return report.at(name).get<std::string>().substr(0, 16); };
    std::string out = "  " + std::to_string(report.at("workers").get<std::uint32_t>()) + " accounts, " +
                      std::to_string(report.at("segments").get<std::uint32_t>()) + " of " +
                      std::to_string(report.at("of_segments").get<std::uint32_t>()) + " segments count: root " +
                      roots("root") + "..., one process's " + roots("one_process_root") + "...\n  convicted:";
    for (const json& rank : report.at("convicted")) {
        out += " rank " + std::to_string(rank.get<std::uint32_t>());
    }
    const auto number = [&](const char* what, const char* name) {
        return std::to_string(report.at(what).at(name).get<std::uint64_t>());
    };
    out += report.at("convicted").empty() ? " nobody" : "";
    if (report.at("cheats").size() > 1) {
        out += "; the coalition was of ranks";
        for (const json& rank : report.at("cheats")) {
            out += " " + std::to_string(rank.get<std::uint32_t>());
        }
        out += ", and the honest member lost " + std::to_string(report.at("honest_lost").get<std::uint64_t>()) +
               " grains of its stake";
    }
    if (report.contains("accusations")) {
        return out + describe_together(report);
    }
    return out + "\n  each fetched " + number("bytes", "sent") + " bytes for each of its steps (the formula says " +
           number("bytes", "formula") + "), and held at most " + number("memory", "worker") + " bytes of states (" +
           number("memory", "formula") + ")";
}

}  // namespace assay::demo
