// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/task_text.hpp>

#include <node/rpc/render.hpp>
#include <core/base/amount.hpp>
#include <tools/cli/common/table.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kShortHex = 12;

std::string shortened(const json& id) {
    const std::string text = to_text(id);
    return text.size() > kShortHex ? text.substr(0, kShortHex) : text;
}

bool is_amount(const std::string& name) {
    return name == "amount" || name == "burned" || name == "escrow" || name == "room" || name == "bond";
}

/// The fields of an event beyond those that every record has.
std::string event_fields(const json& record) {
    std::string out;
    for (const auto& [name, value] : record.items()) {
        if (name == "index" || name == "height" || name == "tx" || name == "actor" || name == "event" ||
            name == "raw") {
            continue;
        }
        const bool is_hash = name == "state_root" || name == "end_root" || name == "probe_root" || name == "lottery" ||
                             name == "dispute" || name == "ancestor" || name == "seed";
        const bool is_long = name == "seats";
        out += (out.empty() ? "" : ", ") + name + " " +
               (is_amount(name) ? amount_text(value)
                : is_hash       ? shortened(value)
                : is_long       ? std::to_string(value.size())
                                : to_text(value));
    }
    return out;
}

/// Of the parameters and of the other tensors, in billionths.
std::string distance_text(const json& distances) {
    return to_text(distances.at("parameters")) + " / " + to_text(distances.at("other"));
}

std::string checkpoints_text(const json& checkpoints) {
    Table table({"CHECKPOINT>", "HEIGHT>", "STATE ROOT", "LOCATION"});
    for (const json& item : checkpoints) {
        table.add(
            {to_text(item.at("index")), to_text(item.at("height")), to_text(item.at("state_root")),
             to_text(item.at("location"))}
        );
    }
    return table.empty() ? "" : "\n" + table.text();
}

/// The numbers of the checks that failed; "none" if all hold, "" if there is no report.
std::string failed_text(const json& failed) {
    std::string out;
    for (const json& number : failed.is_null() ? json::array() : failed) {
        out += (out.empty() ? "" : ", ") + to_text(number);
    }
    return out.empty() && !failed.is_null() ? "none" : out;
}

/// What the task asks for, or a worker states (ENV-1).
std::string environment_text(const json& environment) {
    std::string out = environment.at("image").is_null() ? "any image" : to_text(environment.at("image"));
    for (const json& label : environment.at("labels")) {
        out += ", " + to_text(label);
    }
    return out;
}

void add_checks(Facts& facts, const json& checks) {
    for (std::size_t i = 0; i < checks.size(); ++i) {
        const json& check = checks[i];
        const std::string tensor =
            check.at("tensor").is_null() ? "each tensor" : "tensor " + to_text(check.at("tensor"));
        const std::string kind = check.at("kind").get<std::string>();
        std::string what = tensor + " ";
        what += kind == "finite"  ? "is finite"
                : kind == "shape" ? "is " + to_text(check.at("dtype")) + " " + to_text(check.at("rows")) + "x" +
                                        to_text(check.at("cols"))
                : kind == "range" ? "is from " + to_text(check.at("least")) + " to " + to_text(check.at("most"))
                                  : "has labels of " + to_text(check.at("classes")) + " classes";
        facts.add("check " + std::to_string(i), what);
    }
}

std::string assignments_text(const json& assignments) {
    Table table({"SEGMENT>", "VERIFIER", "STATUS", "PROBE>", "FORCED", "PROBE ROOT", "DRIFT", "FAILED CHECKS"});
    for (const json& item : assignments) {
        const json& measurement = item.at("measurement");
        table.add(
            {to_text(item.at("segment")), to_text(item.at("verifier")), to_text(item.at("status")),
             to_text(item.at("probe")), to_text(item.at("forced")), to_text(item.at("probe_root")),
             measurement.is_null() ? "" : distance_text(measurement), failed_text(item.at("failed_checks"))}
        );
    }
    return table.empty() ? "" : "\n" + table.text();
}

std::string profiles_text(const json& profiles) {
    Table table({"PROFILER", "STATUS"});
    for (const json& item : profiles) {
        table.add({to_text(item.at("profiler")), to_text(item.at("status"))});
    }
    return table.empty() ? "" : "\n" + table.text();
}

void add_tolerance(Facts& facts, const json& tolerance) {
    facts.add("profiling", to_text(tolerance.at("phase")));
    if (!tolerance.at("threshold").is_null()) {
        facts.add("threshold", distance_text(tolerance.at("threshold")) + " billionths of a segment's update");
        facts.add("another seed", distance_text(tolerance.at("reference")));
    }
}

/// A score is the solver's claim until the task is settled.
std::string score_standing(const json& task) {
    const json& state = task.at("state");
    return state == "settled" || state == "kept" ? ""
           : state == "convicted"                ? "; the solver was convicted"
                                                 : "; claimed, not settled yet";
}

/// RET-1, RET-4: what its submitter pays for, and how far it has come.
std::string retention_text(const json& retention) {
    std::string text =
        to_text(retention.at("blocks")) + " blocks after settlement, for " + amount_text(retention.at("fee"));
    const json& keeping = retention.at("keeping");
    if (!keeping.is_null()) {
        text += "; since block " + to_text(keeping.at("begun_at")) + ": " + to_text(keeping.at("shows")) + " of " +
                to_text(keeping.at("shows_due")) + " tiles shown";
        text += keeping.at("is_asked").get<bool>() ? ", another one is due" : "";
    }
    return text;
}

/// AVL-2: what a committee was drawn for, and what it has found.
std::string committee_text(const json& committee) {
    std::uint64_t seats = 0;
    std::uint64_t attested = 0;
    for (const json& member : committee.at("members")) {
        const auto its = member.at("seats").get<std::uint64_t>();
        seats += its;
        attested += member.at("has_attested").get<bool>() ? its : 0;
    }
    std::string segments;
    for (const json& segment : committee.at("segments")) {
        segments += (segments.empty() ? "" : ", ") + to_text(segment);
    }
    const json& state = committee.at("state");
    const std::string found = state == "sitting"     ? "it fetches what a replay needs"
                              : state == "available" ? "it could fetch what a replay needs"
                                                     : "it could not fetch what a replay needs";
    return "the " +
           std::string(
               committee.at("sitting") == 1   ? "first"
               : committee.at("sitting") == 2 ? "second"
                                              : "third"
           ) +
           " of at most three, for segments " + segments + " without an accepting verdict: " + found + "; " +
           std::to_string(attested) + " of " + std::to_string(seats) + " seats say that they have it";
}

/// GRP-14: a seat may be nobody's.
std::string seats_text(const json& seats) {
    std::string text;
    for (const json& seat : seats) {
        text += (text.empty() ? "" : ", ") + (seat.is_null() ? "nobody" : to_text(seat));
    }
    return text;
}

/// GRP-2: who trains the task together, and what of it counts.
std::string group_text(const json& group) {
    std::string text = to_text(group.at("seats").size()) + " seats: " + seats_text(group.at("seats"));
    for (const json& seating : group.at("earlier")) {
        text += "; before segment " + to_text(seating.at("until")) + ": " + seats_text(seating.at("seats"));
    }
    for (const json& member : group.at("demanded")) {
        text += "; it was demanded of " + to_text(member);
    }
    for (const json& partner : group.at("partners")) {
        text += "; bond of " + to_text(partner.at("account")) + " " + amount_text(partner.at("bond"));
    }
    for (const json& member : group.at("convicted")) {
        text += "; " + to_text(member) + " was convicted";
    }
    if (!group.at("counted").is_null()) {
        text += "; segments up to " + to_text(group.at("counted")) + " count";
    }
    return text;
}

}  // namespace

std::string task_text(const json& task) {
    Facts facts;
    facts.add("id", to_text(task.at("id")));
    facts.add("title", to_text(task.at("title")));
    facts.add("state", to_text(task.at("state")));
    facts.add("submitter", to_text(task.at("submitter")));
    facts.add("solver", to_text(task.at("solver")));
    facts.add("reward", amount_text(task.at("reward")));
    facts.add("verification fee", amount_text(task.at("verification_fee")));
    facts.add("in escrow", amount_text(task.at("escrow")));
    facts.add("deposit for waiting", amount_text(task.at("room")));
    facts.add("solver's bond", amount_text(task.at("solver_bond")));
    if (!task.at("group").is_null()) {
        facts.add("group", group_text(task.at("group")));
    }
    facts.add(
        "steps", to_text(task.at("steps")) + " in " + to_text(task.at("segments")) + " segments of " +
                     to_text(task.at("checkpoint_interval"))
    );
    if (!task.at("tokenizer").is_null()) {
        facts.add("tokenizer", to_text(task.at("tokenizer")) + ", the SHA-256 of its tokenizer.json");
    }
    if (!task.at("environment").is_null()) {
        facts.add("asks for", environment_text(task.at("environment")));
    }
    add_checks(facts, task.at("checks"));
    if (!task.at("retention").is_null()) {
        facts.add("result kept", retention_text(task.at("retention")));
    }
    const json& tolerance = task.at("tolerance");
    if (!tolerance.is_null()) {
        add_tolerance(facts, tolerance);
    }
    if (!task.at("score").is_null()) {
        facts.add("score", to_text(task.at("score")) + ", the mean loss on the hold-out set" + score_standing(task));
    }
    if (!task.at("diverged_at").is_null()) {
        facts.add("diverged", "at step " + to_text(task.at("diverged_at")) + ", which ended the training");
    }
    if (!task.at("parent").is_null()) {
        facts.add("built upon", to_text(task.at("parent")));
    }
    if (!task.at("tainted_by").is_null()) {
        facts.add("tainted by", to_text(task.at("tainted_by")) + ", an ancestor that was convicted");
    }
    facts.add("submitted at", "block " + to_text(task.at("submitted_at")));
    if (task.at("deadline") != 0) {
        facts.add("deadline", "block " + to_text(task.at("deadline")));
    }
    facts.add("history", to_text(task.at("history_count")) + " records, root " + to_text(task.at("history_root")));
    for (const json& dispute : task.at("disputes")) {
        facts.add("dispute", to_text(dispute));
    }
    if (!task.at("committee").is_null()) {
        facts.add("committee", committee_text(task.at("committee")));
    }
    const std::string profiles = tolerance.is_null() ? "" : profiles_text(tolerance.at("profiles"));
    return facts.text() + profiles + checkpoints_text(task.at("checkpoints")) +
           assignments_text(task.at("assignments"));
}

std::string task_list_text(const json& tasks) {
    Table table({"ID", "STATE", "REWARD>", "CHECKPOINTS>", "SUBMITTED>", "TITLE"});
    for (const json& task : tasks) {
        const std::string of = std::to_string(task.at("segments").get<std::uint64_t>() + 1);
        table.add(
            {to_text(task.at("id")), to_text(task.at("state")), amount_text(task.at("reward")),
             to_text(task.at("checkpoints")) + "/" + of, to_text(task.at("submitted_at")), to_text(task.at("title"))}
        );
    }
    return table.empty() ? "no tasks" : table.text();
}

std::string history_text(const json& records) {
    Table table({"#>", "HEIGHT>", "EVENT", "DETAILS", "ACTOR"});
    for (const json& record : records) {
        table.add(
            {to_text(record.at("index")), to_text(record.at("height")), to_text(record.at("event")),
             event_fields(record), record.at("actor").is_null() ? "the chain" : to_text(record.at("actor"))}
        );
    }
    return table.empty() ? "no records" : table.text();
}

std::string lineage_text(const json& lineage) {
    Table table({"DEPTH>", "ID", "STATE", "BUILT UPON", "MARK", "TITLE"});
    const json& self = lineage.at("task");
    const auto add = [&](const json& task) {
        const bool marked = !task.at("tainted_by").is_null();
        const std::string own = task.at("id") == self.at("id") ? "* " : "";
        table.add(
            {to_text(task.at("depth")), own + to_text(task.at("id")), to_text(task.at("state")),
             task.at("parent").is_null() ? "-" : shortened(task.at("parent")),
             marked ? "tainted by " + shortened(task.at("tainted_by")) : "-", to_text(task.at("title"))}
        );
    };
    const json& ancestors = lineage.at("ancestors");
    for (auto it = ancestors.rbegin(); it != ancestors.rend(); ++it) {
        add(*it);
    }
    add(self);
    for (const json& task : lineage.at("descendants")) {
        add(task);
    }
    return table.text() + (lineage.at("complete") == true ? "" : "\nand more descendants");
}

json to_json(const contracts::TaskSpec& spec) { return rpc::render(spec); }

std::string spec_text(const contracts::TaskSpec& spec) {
    Facts facts;
    facts.add("title", spec.title);
    facts.add(
        "program",
        to_hex(spec.program_artifact.sha256.view()) + ", " + std::to_string(spec.program_artifact.size_bytes) + " bytes"
    );
    facts.add("program id", to_hex(dispute::program_id(spec.program).view()));
    facts.add(
        "graph", std::to_string(spec.program.step_nodes) + " nodes per step, " +
                     std::to_string(spec.program.state_tensors) + " state tensors"
    );
    facts.add(
        "work", std::to_string(spec.program.step_work) + " multiply-adds per step; " +
                    std::to_string(spec.program.memory) + " bytes of memory, " + std::to_string(spec.program.outputs) +
                    " of outputs"
    );
    facts.add(
        "dataset", to_hex(spec.dataset_artifact.sha256.view()) + ", " +
                       std::to_string(spec.dataset_artifact.size_bytes) + " bytes, " +
                       std::to_string(spec.program.dataset.rows) + " rows"
    );
    if (spec.tokenizer) {
        facts.add("tokenizer", to_hex(spec.tokenizer->view()) + ", the SHA-256 of its tokenizer.json");
    }
    if (spec.parent) {
        facts.add("starts from", "the last checkpoint of task " + to_hex(spec.parent->view()));
    }
    if (spec.initial_artifact) {
        facts.add(
            "starts from", to_hex(spec.initial_artifact->sha256.view()) + ", " +
                               std::to_string(spec.initial_artifact->size_bytes) + " bytes, " +
                               std::to_string(spec.program.initial_tensors) + " tensors"
        );
    }
    facts.add("steps", std::to_string(spec.steps) + ", a checkpoint every " + std::to_string(spec.checkpoint_interval));
    if (spec.evaluation) {
        facts.add(
            "evaluation", to_hex(spec.evaluation->data.sha256.view()) + ", " +
                              std::to_string(spec.evaluation->data.size_bytes) + " bytes, a graph of " +
                              std::to_string(spec.evaluation->nodes) + " nodes"
        );
    }
    if (spec.members > 1) {
        facts.add("trained by", "a solver, or a group of at most " + std::to_string(spec.members) + " seats");
    }
    facts.add("mode", contracts::to_string(spec.mode));
    facts.add("reward", to_text(spec.reward));
    facts.add("verification fee", to_text(spec.verification_fee));
    return facts.text();
}

}  // namespace assay::cli
