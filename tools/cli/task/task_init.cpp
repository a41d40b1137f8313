// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/task/task_init.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <istream>
#include <ostream>
#include <sstream>
#include <system_error>
#include <utility>

#include <toml++/toml.h>

#include <contracts/params/work.hpp>
#include <core/base/amount.hpp>
#include <core/base/integers.hpp>
#include <core/system/file.hpp>
#include <core/system/temporary_directory.hpp>
#include <tools/cli/common/session.hpp>
#include <tools/cli/task/task_estimate.hpp>
#include <tools/cli/task/task_lint.hpp>

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Failure wrong(const std::string& message) {
    return {kExitUsage, "usage", message, {{"hint", "`assay task init --help` lists the answers"}}};
}

std::string flags(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) {
        out += (out.empty() ? "--" : ", --") + name;
    }
    return out;
}

/// Asks until the answer is one. An empty line takes the default.
std::string ask(const Question& question, const std::string& otherwise, const Dialogue& dialogue) {
    while (true) {
        *dialogue.out << question.prompt;
        if (!question.choices.empty()) {
            for (std::size_t i = 0; i < question.choices.size(); ++i) {
                *dialogue.out << (i == 0 ? " (" : ", ") << question.choices[i];
            }
            *dialogue.out << ')';
        }
        *dialogue.out << (otherwise.empty() ? "" : " [" + otherwise + "]") << ": " << std::flush;
        std::string answer;
        if (!std::getline(*dialogue.in, answer)) {
            throw wrong("the answers ended before --" + question.name + "; nothing is written");
        }
        if (answer.empty()) {
            answer = otherwise;
        }
        const std::string problem = problem_of(question, answer);
        if (problem.empty()) {
            return answer;
        }
        *dialogue.out << "  " << problem << '\n';
    }
}

/// Flags for other families than the chosen one, or for rows where the data are a text.
void refuse_strays(const Answers& given, const Answers& complete) {
    std::vector<std::string> strays;
    for (const auto& [name, answer] : given) {
        if (!complete.contains(name)) {
            strays.push_back(name);
        }
    }
    if (!strays.empty()) {
        throw wrong("not for " + complete.at("model") + " models with these data: " + flags(strays));
    }
}

// --- task.toml ---

std::string quoted(const std::string& text) {
    const toml::value<std::string> value(text);
    std::ostringstream out;
    out << toml::toml_formatter(value, toml::format_flags::none);
    return out.str();
}

bool is_toml_number(const std::string& text) {
    try {
        return toml::parse("x = " + text)["x"].is_number();
    } catch (const toml::parse_error&) {
        return false;
    }
}

/// As the user typed it, unless TOML takes no such number: ".5" and "5." are for people only.
std::string real_text(const std::string& text) {
    if (is_toml_number(text)) {
        return text;
    }
    std::array<char, 32> digits{};
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), std::stod(text));
    const std::string out(digits.data(), written.ptr);
    return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

std::string toml_text(const Question& question, const std::string& answer) {
    const auto list = [&](const auto& item) {
        std::string out;
        for (const std::string& part : split_list(answer)) {
            out += (out.empty() ? "" : ", ") + item(part);
        }
        return "[" + out + "]";
    };
    switch (question.form) {
        case Form::kWhole:
            return answer;
        case Form::kWholes:
            return list([](const std::string& part) { return part; });
        case Form::kNames:
            return list(quoted);
        case Form::kReal:
            return real_text(answer);
        case Form::kText:
        case Form::kAmount:
        case Form::kChoice:
        case Form::kFile:
            break;
    }
    return quoted(answer);
}

std::string key_of(const Question& question, const Answers& answers) {
    if (question.name == "model" || question.name == "optimizer" || question.name == "schedule") {
        return "kind";
    }
    if (question.name == "onnx") {
        return "file";
    }
    if (question.name == "replicas") {
        return "count";
    }
    if (question.name == "dgc-block") {
        return "block";
    }
    if (question.name == "data" || question.name == "holdout") {
        return is_rows_file(answers.at(question.name)) ? "rows" : "text";
    }
    std::string key = question.name;
    std::replace(key.begin(), key.end(), '-', '_');
    return key;
}

/// Adam's epsilon, below which lint warns where attention is judged by tolerance.
constexpr const char* kTolerantEpsilon = "1e-6";

std::string compose(const Answers& answers) {
    constexpr std::array kSections{"", "model", "optimizer", "schedule", "replicas", "numerics", "data", "evaluation"};
    std::string all;
    for (const char* const section : kSections) {
        std::string out = section[0] == '\0' ? "title = " + quoted(answers.at("title")) + "\n" : "";
        for (const Question& question : questions()) {
            const auto answer = answers.find(question.name);
            const bool is_here = question.section == section && question.name != "title";
            if (!is_here || answer == answers.end() || !applies(question, answers)) {
                continue;
            }
            if (question.name == "segments") {
                const std::uint64_t interval =
                    div_ceil<std::uint64_t>(std::stoull(answers.at("steps")), std::stoull(answer->second));
                out += "checkpoint_interval = " + std::to_string(interval) + "\n";
                continue;
            }
            out += key_of(question, answers) + " = " + toml_text(question, answer->second) + "\n";
        }
        if (section == std::string("optimizer") && answers.at("mode") == "tolerance" &&
            answers.at("optimizer").starts_with("adam")) {
            out += std::string("epsilon = ") + kTolerantEpsilon + "\n";
        }
        const bool has_heading = section[0] != '\0' && !out.empty();
        all += has_heading ? "\n[" + std::string(section) + "]\n" + out : out;
    }
    return all;
}

// --- the directory ---

void write(const fs::path& file, const std::string& text) {
    if (!system::write_file(file, text)) {
        throw Failure(kExitFailure, "io", "cannot write " + file.string());
    }
}

/// The answers with every file named from `directory`; absolute if `directory` is empty.
Answers with_paths_from(const fs::path& directory, Answers answers) {
    for (const char* const name : {"data", "onnx", "tokenizer", "holdout"}) {
        const auto found = answers.find(name);
        if (found == answers.end()) {
            continue;
        }
        const fs::path file = fs::absolute(found->second);
        std::error_code ignored;
        const fs::path relative = directory.empty() ? fs::path() : fs::relative(file, directory, ignored);
        found->second = (relative.empty() ? file : relative).string();
    }
    return answers;
}

std::string errors_text(const std::vector<taskdir::Finding>& findings) {
    std::string out;
    for (const taskdir::Finding& finding : findings) {
        if (finding.severity == taskdir::Severity::kError) {
            out += "\n  " + (finding.key.empty() ? "" : finding.key + ": ") + finding.message;
        }
    }
    return out;
}

Failure no_task(const std::vector<taskdir::Finding>& findings) {
    return {kExitConfig, "task_has_errors", "nothing is written: these answers make no task" + errors_text(findings)};
}

// Twice what a chain with the usual parameters asks for, and no less than these.
constexpr std::uint64_t kLeastFee = kGrainsPerAsy;
constexpr std::uint64_t kLeastBlocks = 600;

/// Sets the fee and the time by the work, unless they are given.
void set_terms(const taskdir::BuiltTask& built, Answers& answers) {
    const contracts::Params params;
    if (!answers.contains("verification-fee")) {
        const std::uint64_t fee = contracts::fee_at(params, built.spec, params.work_price).grains;
        answers["verification-fee"] = to_text(Amount{std::max(kLeastFee, fee > UINT64_MAX / 2 ? fee : 2 * fee)});
    }
    if (!answers.contains("training-blocks")) {
        const std::uint64_t blocks = contracts::training_blocks_min(params, built.spec);
        answers["training-blocks"] = std::to_string(std::clamp<std::uint64_t>(2 * blocks, kLeastBlocks, UINT32_MAX));
    }
}

}  // namespace

Answers complete_answers(const Answers& given, const Dialogue& dialogue) {
    Answers out;
    std::vector<std::string> missing;
    for (const Question& question : questions()) {
        if (!applies(question, out)) {
            continue;
        }
        const std::string otherwise = default_of(question, out);
        if (const auto flag = given.find(question.name); flag != given.end()) {
            if (const std::string problem = problem_of(question, flag->second); !problem.empty()) {
                throw wrong("--" + question.name + ": " + problem);
            }
            out[question.name] = flag->second;
        } else if (!question.is_asked || (dialogue.takes_defaults && !otherwise.empty())) {
            if (!otherwise.empty()) {
                out[question.name] = otherwise;
            }
        } else if (dialogue.in != nullptr) {
            out[question.name] = ask(question, otherwise, dialogue);
        } else {
            missing.push_back(question.name);
        }
    }
    if (!missing.empty()) {
        throw wrong(
            dialogue.takes_defaults ? "these answers have no default: " + flags(missing)
                                    : "standard input is not a terminal, and these answers are missing: " +
                                          flags(missing) + "; give them, or --yes to take the defaults"
        );
    }
    refuse_strays(given, out);
    return out;
}

NewTask write_task(const fs::path& directory, const Answers& answers) {
    NewTask out{.file = taskdir::task_file_name(directory), .built = {}, .findings = {}};
    Answers complete = with_paths_from({}, answers);
    complete.try_emplace("verification-fee", "1 ASY");
    complete.try_emplace("training-blocks", "1");
    const system::TemporaryDirectory trial("assay-init");
    const fs::path file = taskdir::task_file_name(trial.path());
    write(file, compose(complete));
    taskdir::Findings findings(file.string());
    try {
        auto built = taskdir::build_task(trial.path(), findings);
        if (!built) {
            throw no_task(findings.all());
        }
        out.built = *std::move(built);
    } catch (const taskdir::TaskDirectoryError& error) {
        findings.error(error);
        throw no_task(findings.all());
    }
    Answers terms = answers;
    set_terms(out.built, terms);
    out.built.spec.verification_fee = *decode_amount(terms.at("verification-fee"));
    out.built.spec.training_blocks = static_cast<std::uint32_t>(std::stoul(terms.at("training-blocks")));
    lint_built(out.built, findings);
    if (findings.has_errors()) {
        throw no_task(findings.all());
    }
    for (taskdir::Finding finding : findings.all()) {
        finding.file = out.file.string();
        out.findings.push_back(std::move(finding));
    }
    std::error_code error;
    fs::create_directories(directory, error);
    write(out.file, compose(with_paths_from(directory, terms)));
    return out;
}

json to_json(const NewTask& task) {
    json findings = json::array();
    for (const taskdir::Finding& finding : task.findings) {
        findings.push_back(
            {{"severity", to_string(finding.severity)}, {"key", finding.key}, {"message", finding.message}}
        );
    }
    const contracts::TaskSpec& spec = task.built.spec;
    const Estimate estimate = estimate_task(task.built, {.with_memory = false});
    return {
        {"file", task.file.string()},
        {"model", taskdir::kind_of(task.built.file.model)},
        {"parameters", estimate.parameters},
        {"steps", spec.steps},
        {"checkpoint_interval", spec.checkpoint_interval},
        {"segments", estimate.segments},
        {"reward", spec.reward.grains},
        {"verification_fee", spec.verification_fee.grains},
        {"training_blocks", spec.training_blocks},
        {"findings", std::move(findings)}};
}

std::string new_task_text(const NewTask& task) {
    std::string out;
    for (const taskdir::Finding& finding : task.findings) {
        out += std::string(to_string(finding.severity)) + ": " + to_text(finding) + "\n";
    }
    const json facts = to_json(task);
    const std::string directory = task.file.parent_path().string();
    out += task.file.string() + " is written: " + facts.at("model").get<std::string>() + ", " +
           std::to_string(facts.at("parameters").get<std::uint64_t>()) + " parameters, " +
           std::to_string(task.built.spec.steps) + " steps in " +
           std::to_string(facts.at("segments").get<std::uint32_t>()) + " segments, " + to_text(task.built.spec.reward) +
           " to the solver and " + to_text(task.built.spec.verification_fee) +
           " for verification\nnext: `assay task estimate " + directory + "`, then `assay task submit " + directory +
           " --store STORE --location URL`";
    return out;
}

}  // namespace assay::cli
