// SPDX-License-Identifier: Apache-2.0
// assay-identity: state roots of small trainings by one process and by cells, as JSON. It links little of Assay, so
// that identity.py can build it with several compilers, libtorches and machines.
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <torch/version.h>

#include <tools/bench/cell_training.hpp>
#include <tools/bench/identity_models.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;

struct IdentityOptions {
    std::vector<std::string> models{"mlp", "cnn", "gpt", "llama"};
    // Layouts, each with its number of ranks.
    std::vector<std::string> layouts{"dp/2",          "dp/8",        "dp:5,3/2",       "zero1/4",
                                     "zero1:2,1,4/3", "zero2/5",     "zero3/2",        "zero3/4",
                                     "tp/2",          "tp/4",        "tp:5,3/2",       "pp/2",
                                     "pp/4",          "dp2tp2/4",    "dp2pp2/4",       "zero3+dp2tp2pp2/8",
                                     "pp+1f1b4/2",    "pp+gpipe8/4", "pp:5,3+1f1b4/2", "zero1+dp2pp2+gpipe4:5,3/4"};
    std::uint64_t steps = 3;
    bool only_build = false;
};

std::string compiler() {
#ifdef __clang__
    return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
    return "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
}

std::string processor() {
    utsname name{};
    return uname(&name) == 0 ? name.machine : "unknown";
}

const IdentityModel& model_named(const std::vector<IdentityModel>& models, const std::string& name) {
    for (const IdentityModel& model : models) {
        if (model.name == name) {
            return model;
        }
    }
    throw std::runtime_error("no model is called " + name + "; there are mlp, cnn, gpt and llama");
}

json runs_of(const IdentityModel& model, const IdentityOptions& options) {
    const CellTraining training = generated_training(model.program, model.limit);
    const auto run = [&](const std::string& plan, std::uint32_t ranks, const std::string& root) {
        return json{
            {"model", model.name}, {"plan", plan}, {"ranks", ranks}, {"steps", options.steps}, {"sha256", root}};
    };
    json out = json::array();
    out.push_back(run("one process", 1, root_of_one_process(training, options.steps)));
    for (const std::string& text : options.layouts) {
        const NamedLayout named = layout_named(text);
        const plan::Plan plan = plan::make_plan(training.program, named.layout);
        out.push_back(run(named.name, named.ranks, run_cell(training, plan, options.steps).root));
    }
    return out;
}

json run_identity(const IdentityOptions& options) {
    json out{
        {"compiler", compiler()},
        {"libtorch", TORCH_VERSION},
        {"processor", processor()},
        {"instructions", used_instructions()}};
    if (options.only_build) {
        return out;
    }
    out["runs"] = json::array();
    const std::vector<IdentityModel> models = identity_models();
    for (const std::string& name : options.models) {
        for (json& run : runs_of(model_named(models, name), options)) {
            out["runs"].push_back(std::move(run));
        }
    }
    return out;
}

int run(int argc, char** argv) {
    CLI::App app("Prints state roots of small trainings by one process and by cells of threads.", "assay-identity");
    IdentityOptions options;
    app.add_option("--models", options.models, "Which of mlp, cnn, gpt, llama")->capture_default_str();
    app.add_option("--layouts", options.layouts, "Layouts with their numbers of ranks, as in zero1/4 dp2tp2/4");
    app.add_option("--steps", options.steps)->check(CLI::PositiveNumber)->capture_default_str();
    app.add_flag("--only-build", options.only_build, "Print what this build is and uses here, and train nothing");
    CLI11_PARSE(app, argc, argv);
    try {
        std::cout << run_identity(options).dump(1) << "\n";
        return 0;
    } catch (const std::exception& failure) {
        std::cerr << "assay-identity: " << failure.what() << "\n";
        return 1;
    }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) { return assay::bench::run(argc, argv); }
