// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/together.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <variant>

#include <tools/demo/crew.hpp>
#include <tools/demo/group.hpp>
#include <tools/demo/workload.hpp>

namespace assay::demo {

using nlohmann::json;

namespace {

/// Whether the last list of seats has this rank.
bool is_seated_last(const json& report, std::uint32_t rank) {
    const json& seats = report.at("reseats").back().at("seats");
    return std::find(seats.begin(), seats.end(), rank) != seats.end();
}

/// Whether a list of seats has this rank, and each other one more often.
bool has_least(const json& report, std::uint32_t rank) {
    const json& lists = report.at("reseats");
    return std::any_of(lists.begin(), lists.end(), [&](const json& list) {
        std::map<std::uint32_t, std::size_t> counts;
        for (const json& seat : list.at("seats")) {
            ++counts[seat.get<std::uint32_t>()];
        }
        return std::all_of(counts.begin(), counts.end(), [&](const auto& of) {
            return of.first == rank || of.second > counts[rank];
        });
    });
}

}  // namespace

TogetherCast::TogetherCast(const DemoOptions& options)
    : members_(options.workers),
      segments_(workload_of(options).segments),
      parallel_(options.parallel),
      interval_(interval_of(workload_of(options), options)),
      joining_(options.joining),
      leaving_(options.leaving),
      slow_(options.slow),
      audit_every_(options.audit_every),
      equivocates_(options.culprit && options.culprit_kind == GroupFraud::kEquivocate),
      changes_seats_(
          joining_ || leaving_ || slow_ ||
          (options.culprit.value_or(0) > 0 && (equivocates_ || options.culprit_kind == GroupFraud::kWithhold))
      ),
      is_disturbed_(
          joining_ || leaving_ || slow_ ||
          (options.culprit &&
           (options.culprit_kind == GroupFraud::kWithhold || options.culprit_kind == GroupFraud::kEquivocate))
      ) {}

std::optional<std::uint32_t> TogetherCast::take_comer() {
    const bool comes = joining_ && !has_come_ && step_ > interval_ / 2;
    has_come_ = has_come_ || comes;
    return comes ? joining_ : std::nullopt;
}

std::optional<std::uint32_t> TogetherCast::take_goer() {
    // In the middle of a segment, so that it begins again without it.
    const std::uint64_t middle = segments_ / 2 * interval_ + interval_ / 2;
    const bool goes = leaving_ && !has_gone_ && step_ >= middle;
    has_gone_ = has_gone_ || goes;
    return goes ? leaving_ : std::nullopt;
}

std::vector<std::string> TogetherCast::arguments_of(std::uint32_t rank) const {
    std::vector<std::string> out{"--link-address", "127.0.0.1", "--audit-every", std::to_string(audit_every_)};
    if (joining_) {
        out.emplace_back("--admit");
    }
    if (rank == 0) {
        out.insert(out.end(), {"--together", layout_of(parallel_), "--demand"});
    }
    if (slow_) {
        out.insert(out.end(), {"--share-min", "1"});
        if (rank == 0) {
            out.emplace_back("--balance");
        }
        if (rank == slow_) {
            out.insert(out.end(), {"--slowed", "10"});
        }
    }
    return out;
}

void TogetherCast::hear(const WorkerEvent& heard) {
    const std::string kind = heard.event.value("event", "");
    if (kind == "accuse" && heard.event.contains("member")) {
        accused_.push_back({heard.worker, heard.event});
        return;
    }
    if (kind == "report_equivocation") {
        equivocations_.push_back({heard.worker, heard.event});
        return;
    }
    if (kind == "audited") {
        audits_.push_back({heard.worker, heard.event});
        return;
    }
    if (kind == "together" && heard.event.contains("layout")) {
        sessions_.push_back({.layout = heard.event.at("layout").get<std::string>()});
        return;
    }
    if (kind == "measured" && !sessions_.empty()) {
        sessions_.back().busy_s = heard.event.at("busy_s").get<std::vector<double>>();
        return;
    }
    if (kind == "train") {
        hear_steps(heard.event);
        return;
    }
    Served& served = served_[heard.worker];
    const auto number = [&](const char* name) { return heard.event.value(name, std::uint64_t{0}); };
    if (kind == "together_over" && number("steps") > served.steps) {
        served = {number("steps"), number("sent_bytes"), number("signature_bytes"), number("state_bytes")};
    }
}

void TogetherCast::hear_steps(const json& event) {
    const auto step = event.value("step", std::uint64_t{0});
    const double rate = event.value("steps_per_s", 0.0);
    // Steps that are repeated, since a segment began again, are not counted twice.
    if (!sessions_.empty() && step > step_ && rate > 0.0) {
        sessions_.back().steps += step - step_;
        sessions_.back().seconds += static_cast<double>(step - step_) / rate;
    }
    step_ = std::max(step_, step);
}

std::uint32_t TogetherCast::rank_of(const Network& network, const AccountId& account) const {
    std::uint32_t rank = 0;
    while (rank < members_ && network.key(GroupCast::name_of(rank)).account() != account) {
        ++rank;
    }
    return rank;
}

void TogetherCast::add_found(const Network& network, json& out) const {
    const auto rank_named = [&](const json& account) -> json {
        const auto id = fixed_from_hex<AccountId>(account.get<std::string>());
        return id ? json(rank_of(network, *id)) : json();
    };
    const auto rank_of_worker = [&](const Accused& each) {
        return rank_of(network, network.key(each.accuser).account());
    };
    out["accusations"] = json::array();
    for (const Accused& each : accused_) {
        json entry{{"accuser", rank_of_worker(each)}, {"accused", rank_named(each.event.at("member"))}};
        for (const char* name : {"segment", "step", "source", "index", "part", "row", "col"}) {
            entry[name] = each.event.at(name);
        }
        out["accusations"].push_back(std::move(entry));
    }
    out["equivocations"] = json::array();
    for (const Accused& each : equivocations_) {
        out["equivocations"].push_back(
            {{"member", rank_named(each.event.at("member"))}, {"step", each.event.at("step")}}
        );
    }
    out["audits"] = json::array();
    for (const Accused& each : audits_) {
        out["audits"].push_back(
            {{"auditor", rank_of_worker(each)},
             {"segment", each.event.at("segment")},
             {"accused", rank_named(each.event.at("wrong"))}}
        );
    }
}

json TogetherCast::report(const Network& network, const program::Program& program, const Story& story) const {
    std::uint64_t sent = 0;
    std::uint64_t signatures = 0;
    std::uint64_t state = 0;
    std::uint64_t steps = 0;
    std::uint64_t told = 0;  // members of whose session something was heard
    for (const auto& [name, served] : served_) {
        if (served.steps == 0) {
            continue;
        }
        ++told;
        sent += served.sent_bytes / served.steps;
        signatures += served.signature_bytes / served.steps;
        state = std::max(state, served.state_bytes);
        steps = std::max(steps, served.steps);
    }
    told = std::max(told, std::uint64_t{1});
    const PlanFormulas formulas = formulas_of(program, parallel_, members_, true);
    json out;
    out["steps_together"] = steps;
    out["bytes"] = {{"sent", sent / told}, {"formula", formulas.bytes}, {"signatures", signatures / told}};
    out["memory"] = {{"worker", state}, {"formula", formulas.state}};
    add_found(network, out);
    out["sessions"] = json::array();
    for (const Session& session : sessions_) {
        if (session.steps > 0) {
            out["sessions"].push_back(
                {{"layout", session.layout},
                 {"steps", session.steps},
                 {"step_s", session.seconds / static_cast<double>(session.steps)},
                 {"busy_s", session.busy_s}}
            );
        }
    }
    const auto rank_of = [&](const AccountId& account) { return this->rank_of(network, account); };
    std::set<AccountId> seated;
    out["reseats"] = json::array();
    out["demands"] = json::array();
    for (const contracts::HistoryRecord& record : story.records()) {
        if (const auto* accepted = std::get_if<contracts::history::Accepted>(&record.event)) {
            seated.insert(accepted->seats.begin(), accepted->seats.end());
        } else if (const auto* reseated = std::get_if<contracts::history::Reseated>(&record.event)) {
            seated.insert(reseated->seats.begin(), reseated->seats.end());
            json seats = json::array();
            for (const AccountId& seat : reseated->seats) {
                seats.push_back(rank_of(seat));
            }
            out["reseats"].push_back({{"from", reseated->from}, {"seats", std::move(seats)}});
        } else if (const auto* demanded = std::get_if<contracts::history::Demanded>(&record.event)) {
            out["demands"].push_back(
                {{"accuser", rank_of(demanded->accuser)},
                 {"member", rank_of(demanded->member)},
                 {"is_out", demanded->is_out}}
            );
        }
    }
    out["seated"] = seated.size();
    return out;
}

std::vector<std::string> TogetherCast::judge(const json& report, bool is_wrong) const {
    std::vector<std::string> out;
    const auto expect = [&](bool holds, const std::string& complaint) {
        if (!holds) {
            out.push_back(complaint);
        }
    };
    expect(report.at("steps_together") > 0, "the members did not compute together");
    expect(
        report.at("seated") == members_,
        "only " + std::to_string(report.at("seated").get<std::size_t>()) + " of " + std::to_string(members_) +
            " accounts had seats: the others came too late, or the steps of this model cannot be divided by " +
            parallel_ + " among more so that each can answer for its part"
    );
    const bool is_anybody_accused = !report.at("accusations").empty();
    expect(is_anybody_accused || !is_wrong, "a member lied, and nobody accused it");
    expect(
        report.at("equivocations").empty() == !equivocates_, "not who told two members different things was reported"
    );
    expect(!is_anybody_accused || is_wrong, "a member was accused, and nobody had lied");
    // Who is convicted while the others train has no seat any more, if that is before the last segment.
    const bool may_change_seats = is_wrong && audit_every_ != 0;
    expect(
        may_change_seats || report.at("reseats").empty() == !changes_seats_,
        "the seats were not given anew exactly where members came or went"
    );
    const json& audits = report.at("audits");
    const bool is_found =
        std::any_of(audits.begin(), audits.end(), [](const json& each) { return !each.at("accused").is_null(); });
    expect(audit_every_ == 0 || !audits.empty(), "nobody audited a segment");
    expect(audit_every_ != 1 || !is_wrong || is_found, "a member lied, and no audit found it");
    expect(is_wrong || !is_found, "an audit found something wrong, and nobody had lied");
    const bool is_reseated = !report.at("reseats").empty();
    expect(!slow_ || (is_reseated && has_least(report, *slow_)), "who is slow has not fewer seats than the others");
    expect(!joining_ || (is_reseated && is_seated_last(report, *joining_)), "who came late has no seat");
    expect(!leaving_ || (is_reseated && !is_seated_last(report, *leaving_)), "who left has a seat still");
    // With other members each one holds and sends something else.
    const bool is_disturbed = is_disturbed_ || (may_change_seats && is_reseated);
    const auto& memory = report.at("memory");
    expect(
        is_disturbed || memory.at("worker").get<double>() <= 1.05 * memory.at("formula").get<double>(),
        "a member held more of the state than the formula says"
    );
    const auto& bytes = report.at("bytes");
    const auto sent = bytes.at("sent").get<double>();
    const auto formula = bytes.at("formula").get<double>();
    constexpr double kVotes = 256;  // bytes a step by which the ranks tell each other that all is finite
    const double most = 1.01 * formula + bytes.at("signatures").get<double>() + kVotes;
    expect(is_disturbed || (sent >= formula && sent <= most), "the members sent other amounts than the plan says");
    return out;
}

std::string describe_together(const json& report) {
    std::string out;
    for (const json& each : report.at("accusations")) {
        const auto number = [&](const char* name) { return std::to_string(each.at(name).get<std::uint64_t>()); };
        const std::string what = each.at("source") == "node" ? "node " : "tensor ";
        out += "\n  rank " + number("accuser") + " showed that rank " + number("accused") + " told it a wrong " +
               (each.at("part").get<bool>() ? "part of a sum of " : "value of ") + what + number("index") + " at row " +
               number("row") + ", column " + number("col") + ", in step " + number("step");
    }
    for (const json& each : report.at("audits")) {
        if (!each.at("accused").is_null()) {
            out += "\n  rank " + std::to_string(each.at("auditor").get<std::uint32_t>()) + " replayed segment " +
                   std::to_string(each.at("segment").get<std::uint32_t>()) +
                   " alone, while the others trained, and found rank " +
                   std::to_string(each.at("accused").get<std::uint32_t>()) + " wrong";
        }
    }
    for (const json& each : report.at("equivocations")) {
        out += "\n  rank " + std::to_string(each.at("member").get<std::uint32_t>()) +
               " told two others different things in step " + std::to_string(each.at("step").get<std::uint64_t>()) +
               ", and both have its signature";
    }
    for (const json& each : report.at("demands")) {
        const auto rank = [&](const char* name) { return std::to_string(each.at(name).get<std::uint32_t>()); };
        out += "\n  rank " + rank("accuser") + " demanded of rank " + rank("member") + ": both paid" +
               (each.at("is_out").get<bool>() ? ", and it has no seat any more" : "");
    }
    for (const json& each : report.at("reseats")) {
        out +=
            "\n  from segment " + std::to_string(each.at("from").get<std::uint32_t>()) + " on the seats are of ranks";
        for (const json& seat : each.at("seats")) {
            out += " " + std::to_string(seat.get<std::uint32_t>());
        }
    }
    if (!report.at("reseats").empty()) {
        for (const json& session : report.at("sessions")) {
            out += "\n  " + std::to_string(session.at("steps").get<std::uint64_t>()) + " steps by " +
                   session.at("layout").get<std::string>() + ", " +
                   std::to_string(std::llround(1e6 * session.at("step_s").get<double>())) + " us each";
        }
    }
    const auto number = [&](const char* what, const char* name) {
        return std::to_string(report.at(what).at(name).get<std::uint64_t>());
    };
    return out + "\n  each sent " + number("bytes", "sent") + " bytes a step (the plan says " +
           number("bytes", "formula") + " without signatures), and held at most " + number("memory", "worker") +
           " bytes of the state (the formula says " + number("memory", "formula") + ")";
}

}  // namespace assay::demo
