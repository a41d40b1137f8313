// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/task_file.hpp>

#include <array>
#include <fstream>
#include <iterator>
#include <limits>

#include <core/system/file.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/tasks/tasks.hpp>
#include <verifier/taskdir/task_models.hpp>
#include <verifier/taskdir/task_replicas.hpp>
#include <verifier/taskdir/toml_section.hpp>

namespace assay::taskdir {
namespace {

constexpr std::uint64_t kMaxInteger = std::numeric_limits<std::int64_t>::max();  // TOML's
constexpr std::uint32_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();

/// RET-1; what the chain's parameters admit is checked at submission.
std::optional<contracts::Retention> read_retention(const TomlSection& root) {
    if (root.has("retention_blocks") != root.has("retention_fee")) {
        root.fail(
            root.has("retention_fee") ? "retention_blocks" : "retention_fee",
            "is needed too: a result is kept for a number of blocks and a fee"
        );
        return std::nullopt;
    }
    if (!root.has("retention_blocks")) {
        return std::nullopt;
    }
    return contracts::Retention{
        .blocks = root.number<std::uint32_t>("retention_blocks", 1, kMaxU32), .fee = root.amount("retention_fee")};
}

contracts::TaskSpec read_root(const TomlSection& root) {
    root.allow(
        {"title",
         "mode",
         "steps",
         "checkpoint_interval",
         "seed",
         "reward",
         "verification_fee",
         "training_blocks",
         "members",
         "parent",
         "private",
         "hardware_class",
         "retention_blocks",
         "retention_fee",
         "model",
         "optimizer",
         "schedule",
         "replicas",
         "numerics",
         "data",
         "evaluation",
         "environment",
         "checks"}
    );
    contracts::TaskSpec spec;
    spec.title = root.text("title");
    const std::string mode = root.choice_or("mode", {"exact", "tolerance"}, "exact");
    spec.mode = mode == "exact" ? contracts::Mode::kExact : contracts::Mode::kTolerance;
    spec.steps = root.number<std::uint64_t>("steps", 1, kMaxInteger);
    spec.checkpoint_interval = root.number<std::uint32_t>("checkpoint_interval", 1, kMaxU32);
    spec.seed = 1;
    root.read<std::uint64_t>("seed", 0, kMaxInteger, spec.seed);
    spec.reward = root.amount("reward");
    spec.verification_fee = root.amount("verification_fee");
    spec.training_blocks = root.number<std::uint32_t>("training_blocks", 1, kMaxU32);
    root.read<std::uint32_t>("hardware_class", 0, contracts::kMaxHardwareClasses, spec.hardware_class);
    root.read<std::uint8_t>("members", 1, contracts::kMaxSeats, spec.members);
    if (spec.members > 1 && spec.mode != contracts::Mode::kExact) {
        root.fail("members", "must be 1 in tolerance mode: a group's checkpoints are judged by equality");
    }
    spec.retention = read_retention(root);
    if (spec.retention && spec.members > 1) {
        root.fail("retention_blocks", "is for tasks with one solver: a group's result is kept by none of its members");
    }
    if (root.has("parent")) {
        spec.parent = fixed_from_hex<contracts::TaskId>(root.text("parent"));
        if (!spec.parent) {
            root.fail("parent", "must be the id of a task: 64 hex digits");
        }
    }
    if (spec.steps / spec.checkpoint_interval > contracts::kMaxSegments ||
        div_ceil<std::uint64_t>(spec.steps, spec.checkpoint_interval) > contracts::kMaxSegments) {
        root.fail("checkpoint_interval", "makes more than " + std::to_string(contracts::kMaxSegments) + " segments");
    }
    return spec;
}

program::OptimizerConfig read_optimizer(const TomlSection& section) {
    program::OptimizerConfig config;
    const std::string kind = section.choice("kind", {"adam", "adamw", "sgd", "rmsprop"});
    constexpr TomlSection::Range kShare{.min = 0.0, .max = 1.0, .below = true};
    if (kind == "sgd") {
        section.allow(
            {"kind", "learning_rate", "momentum", "nesterov", "weight_decay", "clip_norm", "accumulation", "moments"}
        );
        section.read("momentum", kShare, config.momentum);
        using enum program::OptimizerKind;
        const bool is_nesterov = section.flag("nesterov", false);
        config.kind = config.momentum == 0.0F ? kSgd : is_nesterov ? kNesterov : kSgdMomentum;
        if (is_nesterov && config.kind == kSgd) {
            section.fail("nesterov", "needs a momentum above 0");
        }
    } else if (kind == "rmsprop") {
        section.allow(
            {"kind", "learning_rate", "alpha", "epsilon", "momentum", "weight_decay", "clip_norm", "accumulation",
             "moments"}
        );
        config.kind = program::OptimizerKind::kRmsprop;
        config.momentum = 0.0F;
        section.read("momentum", kShare, config.momentum);
        section.read("alpha", kShare, config.alpha);
        section.read("epsilon", {.min = 0.0, .max = 1.0, .above = true, .below = true}, config.epsilon);
    } else {
        section.allow(
            {"kind", "learning_rate", "beta1", "beta2", "epsilon", "weight_decay", "clip_norm", "accumulation",
             "moments"}
        );
        section.read("beta1", kShare, config.beta1);
        section.read("beta2", kShare, config.beta2);
        section.read("epsilon", {.min = 0.0, .max = 1.0, .above = true, .below = true}, config.epsilon);
        config.kind = kind == "adamw" ? program::OptimizerKind::kAdamW : program::OptimizerKind::kAdam;
    }
    section.read("learning_rate", {.min = 0.0, .max = 1'000.0, .above = true, .below = true}, config.learning_rate);
    section.read("weight_decay", {.min = 0.0, .max = 1'000.0, .below = true}, config.weight_decay);
    section.read("clip_norm", {.min = 0.0, .above = true}, config.clip_norm);
    section.read("accumulation", 1U, 1U << 20U, config.accumulation);
    const std::string moments = section.choice_or("moments", {"f32", "bf16", "int8"}, "f32");
    using enum program::Moments;
    config.moments = moments == "f32" ? kF32 : moments == "bf16" ? kBf16 : kInt8;
    if (config.moments != kF32 && config.kind == program::OptimizerKind::kSgd) {
        section.fail("moments", "is for an optimizer that keeps some: sgd without a momentum keeps none");
    }
    return config;
}

program::Schedule read_points(const TomlSection& section) {
    section.allow({"kind", "updates", "factors", "curved"});
    program::Schedule schedule;
    schedule.kind = program::ScheduleKind::kPoints;
    schedule.is_curved = section.flag("curved", false);
    constexpr std::size_t kMost = program::kMaxSchedulePoints;
    const std::vector<float> updates = section.reals("updates", {.min = 0.0, .max = 1e9}, kMost);
    const std::vector<float> factors = section.reals("factors", {.min = 0.0, .max = 1e6}, kMost);
    if (updates.empty() || updates.size() != factors.size()) {
        section.fail("factors", "must have as many numbers as updates has, and at least one");
        return {};
    }
    for (std::size_t i = 0; i < updates.size(); ++i) {
        if (i > 0 && updates[i] <= updates[i - 1]) {
            section.fail("updates", "must grow from point to point");
            return {};
        }
        schedule.points.push_back({updates[i], factors[i]});
    }
    return schedule;
}

/// `updates` is how many the whole task makes.
program::Schedule read_schedule(const TomlSection& section, std::uint64_t updates) {
    program::Schedule schedule;
    const std::string kind = section.choice_or("kind", {"constant", "cosine", "linear", "step", "points"}, "constant");
    if (kind == "points") {
        return read_points(section);
    }
    section.read("warmup_updates", 0U, kMaxU32, schedule.warmup_updates);
    schedule.warms_from_zero = section.flag("warmup_from_zero", false);
    if (kind == "constant") {
        section.allow({"kind", "warmup_updates", "warmup_from_zero"});
        return schedule;
    }
    if (kind == "step") {
        section.allow({"kind", "warmup_updates", "warmup_from_zero", "period", "gamma"});
        schedule.kind = program::ScheduleKind::kStep;
        if (!section.has("period")) {
            section.fail("period", "is needed: the updates after which the rate is multiplied by gamma");
        }
        schedule.period = 1;
        section.read("period", 1U, kMaxU32, schedule.period);
        section.read("gamma", {.min = 0.0, .max = 1.0, .above = true}, schedule.gamma);
        return schedule;
    }
    section.allow({"kind", "warmup_updates", "warmup_from_zero", "total_updates", "final_fraction"});
    schedule.kind = kind == "cosine" ? program::ScheduleKind::kCosine : program::ScheduleKind::kLinear;
    schedule.total_updates = static_cast<std::uint32_t>(std::min<std::uint64_t>(updates, kMaxU32));
    section.read("total_updates", 1U, kMaxU32, schedule.total_updates);
    section.read("final_fraction", {.min = 0.0, .max = 1.0}, schedule.final_fraction);
    if (schedule.total_updates <= schedule.warmup_updates) {
        section.fail(
            section.has("total_updates") ? "total_updates" : "warmup_updates",
            "leaves no updates after the warm-up: " + std::to_string(schedule.warmup_updates) + " of " +
                std::to_string(schedule.total_updates)
        );
    }
    return schedule;
}

program::Profile read_profile(const TomlSection& section) {
    section.allow({"profile"});
    std::vector<std::string> names;
    names.reserve(program::kProfiles.size());
    for (const program::NamedProfile& known : program::kProfiles) {
        names.emplace_back(known.name);
    }
    return program::profile_named(section.choice_or("profile", names, "XG-21")).value_or(program::kXg21);
}

DataFiles read_files(const TomlSection& section, DataFiles data) {
    if (section.has("text") == section.has("rows")) {
        section.fail("text", "either this is needed, a text file, or rows, a safetensors file, and not both");
        return data;
    }
    if (section.has("text")) {
        data.text = section.text("text");
    } else {
        data.rows = section.text("rows");
    }
    if (section.has("columns")) {
        data.columns = section.texts("columns");
        if (data.text) {
            section.fail("columns", "is for rows, not for text: leave it out");
        } else if (data.columns.empty()) {
            section.fail("columns", "must name at least one tensor");
        }
    }
    return data;
}

DataFiles read_data(const TomlSection& section) {
    section.allow({"text", "tokenizer", "rows", "columns"});
    DataFiles data = read_files(section, {});
    if (section.has("tokenizer")) {
        data.tokenizer = section.text("tokenizer");
        if (!data.text) {
            section.fail("tokenizer", "is for text: rows have tokens already");
        }
    }
    return data;
}

/// Its tokenizer is the data's, and so are its columns unless it names its own.
Holdout read_evaluation(const TomlSection& section, const DataFiles& data) {
    section.allow({"text", "rows", "columns", "batches"});
    Holdout holdout;
    holdout.files =
        read_files(section, {.section = "evaluation", .tokenizer = data.tokenizer, .columns = data.columns});
    if (section.has("batches")) {
        holdout.batches = section.number<std::uint32_t>("batches", 1, canonical::kMaxNodes);
    }
    if (holdout.files.text && !data.text) {
        section.fail("text", "is for tasks whose data are a text; give rows, a safetensors file");
    }
    return holdout;
}

toml::table decode_toml(const std::string& source, const std::string& file) {
    try {
        return toml::parse(source, file);
    } catch (const toml::parse_error& error) {
        throw TaskDirectoryError(
            file + ":" + std::to_string(error.source().begin.line) + ": " + std::string(error.description())
        );
    }
}

}  // namespace

std::string read_file(const std::filesystem::path& file) {
    auto text = system::read_file(file);
    if (!text) {
        throw TaskDirectoryError("cannot read " + file.string());
    }
    return *std::move(text);
}

std::string task_file_name(const std::filesystem::path& directory) { return (directory / "task.toml").string(); }

TaskFile read_task_file(const std::filesystem::path& directory, Findings& findings) {
    const toml::table table = decode_toml(read_file(findings.file()), findings.file());
    const TomlSection root(findings, "", table);
    TaskFile task;
    task.directory = directory;
    task.spec = read_root(root);
    task.model = read_model(root.section("model"));
    task.optimizer = read_optimizer(root.section("optimizer"));
    if (root.has("replicas")) {
        const TomlSection section = root.section("replicas");
        const Exchange exchange = read_exchange(section);
        if (is_local(exchange)) {
            if (task.optimizer.moments != program::Moments::kF32) {
                section.fail("exchange", "is for moments of type f32: leave [optimizer] moments out");
            }
            task.local = read_local_replicas(section, exchange, task.spec);
        } else {
            task.optimizer.replicas = read_replicas(section, exchange, task.model, task.optimizer);
        }
    }
    const std::uint64_t own_steps = task.spec.steps / (task.local ? task.local->count : 1);
    const std::uint64_t updates = std::max<std::uint64_t>(1, own_steps / task.optimizer.accumulation);
    task.optimizer.schedule = read_schedule(root.section("schedule"), updates);
    task.profile = read_profile(root.section("numerics"));
    task.data = read_data(root.section("data"));
    if (root.has("evaluation")) {
        task.holdout = read_evaluation(root.section("evaluation"), task.data);
    }
    if (root.has("environment")) {
        task.spec.environment = read_environment(root.section("environment"));
    }
    task.checks = read_checks(root.section("checks"));
    task.is_private = root.flag("private", false);
    const contracts::TaskSpec& spec = task.spec;
    if (task.is_private && (spec.members > 1 || spec.parent)) {
        root.fail("private", "is for tasks that one solver trains from the beginning: PRV-1");
    }
    set_profile(task.model, task.profile);
    return task;
}

std::string profile_name(const program::Profile& profile) {
    for (const program::NamedProfile& known : program::kProfiles) {
        if (known.profile == profile) {
            return std::string(known.name);
        }
    }
    return "p=" + std::to_string(profile.precision) + ", chunk " + std::to_string(profile.chunk);
}

}  // namespace assay::taskdir
