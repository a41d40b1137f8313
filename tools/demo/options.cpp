// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/options.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <consensus/cometbft/supervisor.hpp>
#include <contracts/state/group.hpp>
#include <tools/demo/cast.hpp>
#include <tools/demo/chaos.hpp>
#include <tools/demo/surroundings.hpp>
#include <tools/demo/workload.hpp>
#include <verifier/plan/layout.hpp>
#include <verifier/taskdir/findings.hpp>
#include <verifier/taskdir/task_file.hpp>

namespace assay::demo {
namespace {

/// Whether the parts of a sum are several members'. Replicas of DGC send values, and stages whole outputs.
bool exchanges_sums(const DemoOptions& options) {
    const auto layout = plan::decode_layout(layout_of(options.parallel), options.workers);
    return options.parallel != kReplicasByDgc && layout && layout->data * layout->tensor > 1;
}

std::string listed(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) {
        out += (out.empty() ? "" : ", ") + name;
    }
    return out;
}

/// What was given of that which takes several accounts, and --accounts follows from.
std::string needs_accounts(const DemoOptions& options) {
    if (options.culprit) {
        return "--fraud KIND@RANK is what one account of a group does";
    }
    if (options.joining || options.leaving) {
        return "--join and --leave are of accounts that train as a group";
    }
    return options.slow ? "--slow is of accounts that train as a group" : "--accounts has several accounts train";
}

bool takes_turns(const DemoOptions& options) {
    const auto layout = plan::decode_layout(layout_of(options.parallel), 2);
    return layout && layout->turns > 1;
}

/// The exchange of the local replicas that a task directory has, by its name in task.toml.
std::optional<std::string> exchange_of(const std::filesystem::path& task) {
    taskdir::Findings findings(taskdir::task_file_name(task));
    const auto local = taskdir::read_task_file(task, findings).local;
    if (!local) {
        return std::nullopt;
    }
    if (local->fragments > 1) {
        return std::string(kStreaming);
    }
    return std::string(local->sent == program::SentForm::kSparse ? kSparseLoco : kDiloco);
}

/// How machines train is the task's to say where they take turns.
DemoOptions with_exchange(DemoOptions options) {
    if (options.task && takes_turns(options)) {
        options.parallel = exchange_of(*options.task).value_or(options.parallel);
    }
    return options;
}

void check_turns(const DemoOptions& options) {
    if (!takes_turns(options)) {
        return;
    }
    if (!options.task && !trains_replicas(options.parallel)) {
        throw std::runtime_error(
            "--parallel " + options.parallel +
            " is for a task with local replicas, which the demo's own task has not: give --parallel diloco, "
            "sparseloco or streaming, with which it has, or --task DIR"
        );
    }
    if (options.task && !exchange_of(*options.task)) {
        throw std::runtime_error(
            "--parallel " + options.parallel + " trains local replicas, and " + taskdir::task_file_name(*options.task) +
            " has none: give --parallel dp, zero1, zero2, zero3, tp or pp, or a task whose [replicas] have the "
            "exchange diloco, sparseloco or streaming"
        );
    }
}

/// That the report cannot be written is said before anything is played.
void check_report(const std::filesystem::path& report) {
    const std::filesystem::path folder = report.has_parent_path() ? report.parent_path() : ".";
    const std::string what = "--report " + report.string() + " cannot be written: ";
    if (!std::filesystem::is_directory(folder)) {
        throw std::runtime_error(what + "there is no folder " + folder.string() + "; make it, or give another file");
    }
    if (std::filesystem::is_directory(report)) {
        throw std::runtime_error(what + "it is a folder; give a file in it");
    }
    const std::filesystem::path& written = std::filesystem::exists(report) ? report : folder;
    if (::access(written.c_str(), W_OK) != 0) {
        throw std::runtime_error(what + std::strerror(errno) + "; give another file");
    }
}

void check_group(const DemoOptions& options) {
    if (options.accounts && options.workers < 2) {
        throw std::runtime_error(needs_accounts(options) + ": give --workers 2 or more");
    }
    if (is_together(options) && options.workers > contracts::kMaxMembersTogether) {
        throw std::runtime_error(
            "at most " + std::to_string(contracts::kMaxMembersTogether) + " accounts compute each step together"
        );
    }
    if (options.culprit && options.accounts &&
        !(is_together(options) ? is_of_together(options.culprit_kind) : is_of_turns(options.culprit_kind))) {
        throw std::runtime_error(
            is_together(options)
                ? "who computes each step together cheats by shard, zeros, stale, reduce, stage, "
                  "equivocate, withhold or collude; lane, outer and fold are of diloco, sparseloco and streaming"
                : "who trains replicas in turn cheats by lane, zeros, stale, withhold, outer, fold or collude; "
                  "shard, reduce and stage are of dp, zero1, tp and the like"
        );
    }
    // Of replicas each conviction cuts the task, which is cut at most redraws_max times (GRP-7).
    const std::uint32_t colluders_max =
        is_together(options) ? contracts::kMaxMembersTogether : contracts::Params{}.redraws_max;
    if (options.culprit && options.culprit_kind == GroupFraud::kCollude &&
        (options.workers < 3 || options.workers - 1 > colluders_max)) {
        throw std::runtime_error(
            "--fraud collude@RANK has all accounts but that one collude: give --workers 3 to " +
            std::to_string(is_together(options) ? contracts::kMaxMembersTogether : colluders_max + 1)
        );
    }
    if (options.culprit && options.culprit_kind == GroupFraud::kReduce && !exchanges_sums(options)) {
        throw std::runtime_error(
            "no member adds to a sum of another one with " + options.parallel + ": give --fraud shard@RANK"
        );
    }
    if (options.culprit && (!options.accounts || *options.culprit >= options.workers)) {
        throw std::runtime_error(
            "--fraud KIND@RANK is for a group: give --workers 2 or more, and a rank from 0 to --workers less 1"
        );
    }
    if (options.culprit && is_of_outer_step(options.culprit_kind) && *options.culprit + 1 != options.workers) {
        throw std::runtime_error(
            "the outer step of a round is made at the end of the last member's turn: give --fraud outer@" +
            std::to_string(options.workers - 1) + " or fold@" + std::to_string(options.workers - 1)
        );
    }
    if (options.audit_every != 0 && !is_together(options)) {
        throw std::runtime_error("--audit-every is for accounts that compute each step together: give --accounts");
    }
    if (options.slow && (!is_together(options) || *options.slow >= options.workers || options.culprit)) {
        throw std::runtime_error(
            "--slow RANK is for accounts that compute each step together and do not cheat: give --workers 2 or more, "
            "and a rank from 0 to --workers less 1"
        );
    }
    for (const auto& mover : {options.joining, options.leaving}) {
        const bool can_move = mover && is_together(options) && options.workers > 2 && *mover > 0 &&
                              *mover < options.workers && options.joining != options.leaving && !options.culprit;
        if (mover && !can_move) {
            throw std::runtime_error(
                "--join RANK and --leave RANK are for 3 workers or more that compute each step together and do not "
                "cheat: give two different ranks from 1, since rank 0 leads"
            );
        }
    }
}

void check_store(const DemoOptions& options) {
    const bool is_plain = options.workers == 1 && !options.accounts && !options.tolerance && !options.task &&
                          options.fraud.value_or(Fraud::kNone) == Fraud::kNone;
    if ((options.store || options.chaos || options.nat) && !is_plain) {
        throw std::runtime_error(
            "--store, --chaos and --nat are for an honest task in exact mode that one machine trains: leave out "
            "--fraud, --workers, --mode and --task"
        );
    }
    if (options.nat && (options.store || options.chaos || options.validators != 0 || options.keep_running)) {
        throw std::runtime_error(
            "--nat has a network of its own, with one node: leave out --store, --chaos, --validators and "
            "--keep-running"
        );
    }
}

void check_private(const DemoOptions& options) {
    const Fraud fraud = options.fraud.value_or(Fraud::kNone);
    if (is_of_private(fraud) && !options.is_private) {
        throw std::runtime_error("the fraud " + to_string(fraud) + " is of private tasks: give --private");
    }
    const bool is_plain =
        options.workers == 1 && !options.accounts && !options.task && !options.store && !options.chaos && !options.nat;
    if (options.is_private && (!is_plain || (fraud != Fraud::kNone && !is_of_private(fraud)))) {
        throw std::runtime_error(
            "--private is for one task that one machine trains: leave out --workers, --task, --store, --chaos and "
            "--nat, and give no fraud but wrong-keys, keys-withheld, wrong-chunk or wrong-shares"
        );
    }
}

/// The number of validators for a double proposal. Throws std::runtime_error if the options ask for another one, or
/// CometBFT is not there.
std::uint32_t validators_of_double_proposal(const DemoOptions& options) {
    const std::string needs =
        "the fraud double-proposal needs " + std::to_string(kDoubledValidators) + " validators under CometBFT";
    if (options.validators != 0 && options.validators != kDoubledValidators) {
        throw std::runtime_error(needs + ", not " + std::to_string(options.validators));
    }
    try {
        static_cast<void>(cometbft::find_engine(""));
    } catch (const cometbft::EngineError& error) {
        throw std::runtime_error(needs + ": " + error.what());
    }
    return kDoubledValidators;
}

void check_inputs(const DemoOptions& options) {
    if (options.report) {
        check_report(*options.report);
    }
    if (workload_of(options).needs_tokenizer && !options.tokenizer) {
        throw std::runtime_error(
            "the model " + options.model + " reads tokens: give --text FILE and --tokenizer tokenizer.json, or run " +
            "tools/quickstart.sh demo --model " + options.model + ", which makes both"
        );
    }
    if (options.task && !std::filesystem::exists(*options.task / "task.toml")) {
        throw std::runtime_error(
            options.task->string() + " has no task.toml; `assay task init` makes a task directory"
        );
    }
    if (!std::filesystem::exists(options.text)) {
        throw std::runtime_error(
            "the text to train on, " + options.text.string() + ", does not exist; give --text FILE"
        );
    }
}

}  // namespace

std::string complaint_about_fraud(const std::string& text) {
    if (decode_group_fraud(text) || decode_fraud(text)) {
        return "";
    }
    const std::size_t at = text.find('@');
    const std::string kind = text.substr(0, at);
    const std::vector<std::string>& of_groups = group_fraud_names();
    if (std::find(of_groups.begin(), of_groups.end(), kind) != of_groups.end()) {
        return "\"" + text + "\" does not say which account of a group does it: give " + kind + "@RANK, as in " + kind +
               "@1, with --workers 2 or more";
    }
    const std::string kinds_of_groups = listed(of_groups) + ", each with @RANK and --workers 2 or more";
    if (at != std::string::npos && decode_fraud(kind)) {
        return "\"" + kind + "\" is of no group, so it has no rank: give " + kind + " alone, or of a group one of " +
               kinds_of_groups;
    }
    if (at != std::string::npos) {
        return "\"" + text + "\" is no fraud of a group; those are " + kinds_of_groups;
    }
    return "\"" + text + "\" is no fraud; give one of " + listed(fraud_names()) + "; or of a group " + kinds_of_groups;
}

void check_options(const DemoOptions& given) {
    check_store(given);
    check_private(given);
    check_inputs(given);
    check_turns(given);
    const DemoOptions options = with_exchange(given);
    if (options.workers > 1 && (options.tolerance || options.fraud.value_or(Fraud::kNone) != Fraud::kNone)) {
        throw std::runtime_error(
            "--workers is for an honest task in exact mode: a cell is one solver, whatever its machines"
        );
    }
    check_group(options);
    if (options.workers > 1 && !plan::decode_layout(layout_of(options.parallel), options.workers)) {
        throw std::runtime_error(
            "--parallel " + options.parallel + " cannot be made for " + std::to_string(options.workers) +
            " workers; dp, zero1, zero2, zero3, tp and pp can, and combinations such as dp2tp2 if the product is their "
            "number; pp+1f1b4 has stages with micro-batches; dgc, diloco, sparseloco and streaming train replicas"
        );
    }
    if (options.workers == 1 && trains_replicas(options.parallel)) {
        throw std::runtime_error(
            "--parallel " + options.parallel + " trains a replica on each machine: give --workers 2 or more"
        );
    }
    if (options.tolerance && options.fraud && cast_of(*options.fraud).needs_exact) {
        throw std::runtime_error("the fraud " + to_string(*options.fraud) + " is of exact mode only");
    }
}

DemoOptions as_played(const DemoOptions& options) {
    DemoOptions out = with_exchange(options);
    if (options.workers > 1 || has_surroundings(options)) {
        out.fraud = options.is_private ? options.fraud.value_or(Fraud::kNone) : Fraud::kNone;
    }
    if (options.chaos) {
        out.steps = options.steps.value_or(Chaos::kSteps);
    }
    if (options.fraud == Fraud::kDoubleProposal) {
        out.validators = validators_of_double_proposal(options);
    }
    out.open = options.open && !options.nat;  // whose network no browser is in
    return out;
}

}  // namespace assay::demo
