// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/describe/types.hpp>

#include <contracts/state/history.hpp>
#include <contracts/state/profile.hpp>
#include <contracts/state/spec.hpp>
#include <contracts/state/task.hpp>

namespace assay::rpc::describe {

namespace {

Schema artifact() {
    return object({{"sha256", hash()}, {"size_bytes", integer()}, {"location", text(), "of the server that has it"}});
}

Schema evaluation() {
    return object({
        {"graph_root", hash()},
        {"nodes", integer()},
        {"holdout", hash(), "commitment to the hold-out set"},
        {"data", ref("Artifact")},
        {"work", integer(), "multiply-adds"},
        {"outputs", integer()},
    });
}

Schema environment() {
    return object({
        {"image", nullable(text()), "digest of the OCI image: sha256: and 64 hex digits"},
        {"labels", array(text()), "as key=value"},
    });
}

Schema check() {
    const Schema tensor = integer();
    return any_of(
        {object({{"kind", constant("finite")}, {"tensor", nullable(integer()), "null: all of the state"}}),
         object(
             {{"kind", constant("shape")},
              {"tensor", tensor},
              {"dtype", text()},
              {"rows", integer()},
              {"cols", integer()}}
         ),
         object({{"kind", constant("range")}, {"tensor", tensor}, {"least", number()}, {"most", number()}}),
         object({{"kind", constant("labels")}, {"tensor", tensor}, {"classes", integer()}})}
    );
}

Schema assignment() {
    using contracts::VerdictStatus;
    return object({
        {"segment", integer()},
        {"verifier", account()},
        {"status", words(VerdictStatus::kDropped, &contracts::to_string)},
        {"end_root", nullable(hash()), "the state that its replay ended in"},
        {"offset", integer(), "from the segment's first step to the probe"},
        {"probe", integer(), "the step whose state the verdict also names"},
        {"probe_root", nullable(hash())},
        {"forced", nullable(flag()), "whether the verdict was a forced error; null until it is disclosed"},
        {"measurement", nullable(ref("Distances"))},
        {"diverged_after", nullable(integer()), "the step after which its replay was not finite"},
        {"failed_checks", failed_checks()},
        {"watchers", array(account())},
    });
}

Schema committee() {
    return object({
        {"segments", array(integer())},
        {"members", array(object({{"account", account()}, {"seats", integer()}, {"has_attested", flag()}}))},
        {"state", words(contracts::CommitteeState::kWithheld, &contracts::to_string)},
        {"sitting", integer()},
        {"seed", hash()},
    });
}

Schema tolerance() {
    return object({
        {"phase", words(contracts::ProfilingPhase::kOver, &contracts::to_string)},
        {"profiles", array(object(
                         {{"profiler", account()},
                          {"status", words(contracts::ProfileStatus::kRefuted, &contracts::to_string)},
                          {"bond", amount()}}
                     ))},
        {"reference_seed", integer()},
        {"profile_seed", integer()},
        {"sketch_seed", integer()},
        {"threshold", nullable(ref("Distances"))},
        {"reference", nullable(ref("Distances"))},
    });
}

Schema retention() {
    return object({
        {"blocks", integer(), "for how long after settlement"},
        {"fee", amount()},
        {"keeping",
         nullable(object({
             {"begun_at", height()},
             {"shows", integer(), "tiles shown so far"},
             {"shows_due", integer(), "tiles to show in all"},
             {"is_waiting", flag(), "the next tile is drawn by the next round of the beacon"},
             {"is_asked", flag(), "a tile is drawn, and to be shown before the task's deadline"},
         })),
         "null before the task is kept"},
    });
}

Schema sealed_file() { return object({{"root", hash()}, {"size", integer(), "bytes"}}); }

Members privacy() {
    return {
        {"key", hash(), "of what the submitter provides"},
        {"program", ref("SealedFile")},
        {"dataset", ref("SealedFile")},
        {"initial", nullable(ref("SealedFile"))},
        {"holdout", nullable(ref("SealedFile"))},
    };
}

Schema reader() {
    return object({{"account", account()}, {"key", account(), "its operator, or itself: whose key opens the share"}});
}

Members keys() {
    return {
        {"checkpoint_key", nullable(hash()), "null until the submitter has shared the keys with the drawn solver"},
        {"shared", array(reader())},
        {"awaited", array(reader()), "with whom submitter or solver have to share the keys"},
    };
}

Members task_rest() {
    return {
        {"verification_fee", amount()},
        {"escrow", amount(), "what is left of it"},
        {"room", amount(), "what is left of the deposit for waiting (TASK-17)"},
        {"solver_bond", amount()},
        {"steps", integer()},
        {"checkpoint_interval", integer(), "steps of a segment"},
        {"checkpoints", array(object(
                            {{"index", integer()},
                             {"state_root", hash()},
                             {"location", text()},
                             {"height", height()},
                             {"sealed", nullable(ref("SealedFile")), "null unless the task is private"}}
                        ))},
        {"diverged_at", nullable(integer()), "the step after which the state was not finite"},
        {"assignments", array(ref("Assignment"))},
        {"members", integer(), "how many seats the task admits"},
        {"group", nullable(ref("Group")), "null unless several accounts train it"},
        {"retention", nullable(ref("Retention")), "null unless its submitter pays for its result to be kept (RET-1)"},
        {"privacy", nullable(ref("TaskPrivacy")), "null unless only who is drawn can read it (PRV-1)"},
        {"committee", nullable(ref("Committee")),
         "the last one that was drawn for segments without an accepting verdict"},
        {"deadline", height(), "of the present state; 0: none"},
        {"hardware_class", integer(), "0: any machine"},
        {"parent", nullable(hash()), "the task whose result it starts from"},
        {"depth", integer(), "how many ancestors it has"},
        {"tainted_by", nullable(hash()), "the convicted ancestor"},
        {"open_disputes", integer()},
        {"history_count", integer()},
        {"history_root", hash()},
        {"lottery", nullable(hash()), "the seed of the beacon that drew its segments"},
        {"second_window", flag()},
        {"mode", words(contracts::Mode::kTolerance, &contracts::to_string)},
        {"tolerance", nullable(ref("Tolerance"))},
        {"evaluation", nullable(ref("Evaluation")), "null unless the task is scored"},
        {"score", nullable(number()),
         "null until its solver has completed it, and the solver's claim until the task is settled"},
        {"disputes", array(hash())},
        {"program_id", hash()},
        {"tokenizer", nullable(hash()), "SHA-256 of the tokenizer.json that made the data set (TASK-20)"},
        {"environment", nullable(ref("Environment")), "what the task asks for (ENV-2)"},
        {"checks", array(ref("ResultCheck")), "on which verdicts report (CHK-1)"},
        {"raw", hex()},
        {"first_height", height(), "from where on disputes are listed"},
    };
}

Schema profile() {
    return object({
        {"start_root", hash()},
        {"segments", array(object(
                         {{"native_root", hash()},
                          {"location", text()},
                          {"replayed_root", hash()},
                          {"measurement", nullable(ref("Distances"))}}
                     ))},
        {"reference_root", hash()},
        {"reference", nullable(ref("Distances"))},
        {"raw", hex()},
    });
}

}  // namespace

Schema failed_checks() {
    Schema out = nullable(array(integer()));
    out["description"] = "The numbers, from 0, of the task's checks that failed; null if it has none (CHK-3).";
    return out;
}

Members task_head() {
    return {
        {"id", hash()},
        {"title", text(), "as its submitter wrote it"},
        {"state", ref("TaskState")},
        {"submitter", account()},
        {"solver", nullable(account())},
        {"reward", amount()},
        {"segments", integer()},
        {"submitted_at", height()},
    };
}

void add_task_types(Schema& components) {
    components["TaskState"] = words(contracts::TaskState::kKept, &contracts::to_string);
    components["Reason"] = words(contracts::Reason::kWrongChunk, &contracts::to_string);
    components["Reason"]["description"] = "Why money was paid or slashed (SET rules).";
    components["Distances"] = object({{"parameters", integer()}, {"other", integer()}});
    components["Distances"]["description"] = "Distances in billionths of the length of the segment's update.";
    components["Artifact"] = artifact();
    components["Environment"] = environment();
    components["ResultCheck"] = check();
    components["Evaluation"] = evaluation();
    components["Assignment"] = assignment();
    components["Committee"] = committee();
    components["Tolerance"] = tolerance();
    components["Retention"] = retention();
    components["SealedFile"] = sealed_file();
    components["Privacy"] = object(privacy());
    components["TaskPrivacy"] = object(join(privacy(), keys()));
    components["TaskSummary"] = object(join(task_head(), {{"checkpoints", integer(), "how many are posted"}}));
    components["Task"] = object(join(task_head(), task_rest()));
    components["Relative"] = object({
        {"id", hash()},
        {"title", text()},
        {"state", ref("TaskState")},
        {"parent", nullable(hash())},
        {"depth", integer()},
        {"tainted_by", nullable(hash())},
    });
    components["Checkpoint"] = object({
        {"task", hash()},
        {"index", integer()},
        {"state_root", hash()},
        {"location", text(), "of the server that has the state's file"},
        {"height", height()},
        {"sealed", nullable(ref("SealedFile")), "null unless the task is private"},
        {"raw", hex()},
    });
    components["Profile"] = profile();
}

void add_group_types(Schema& components) {
    const Schema seats = array(nullable(account()));
    components["Group"] = object({
        {"partners", array(object({{"account", account()}, {"bond", amount()}}))},
        {"is_together", flag(), "its members compute each step together (GRP-11)"},
        {"seats", seats, "the account of each seat; null: nobody's (GRP-14)"},
        {"earlier", array(object({{"until", integer()}, {"seats", seats}})),
         "who had the seats for the segments before `until`"},
        {"posters", seats, "who posted each checkpoint"},
        {"convicted", seats},
        {"culprits", seats},
        {"demanded", seats, "of whom something was demanded"},
        {"counted", nullable(integer()), "the last segment that counts, where not all do"},
    });
}

}  // namespace assay::rpc::describe
