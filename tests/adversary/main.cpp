// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

#include <tests/adversary/adversary.hpp>
#include <verifier/worker/command.hpp>

namespace {

using assay::adversary::Adversary;
using assay::adversary::AdversaryOptions;
using assay::adversary::decode_misstatement;
using assay::adversary::Dishonesty;
using assay::worker::Mode;

constexpr const char* kGroup = "Dishonesty";

void add_options(CLI::App& subcommand, Mode mode, AdversaryOptions& options, std::string& dishonest) {
    auto* cheat = subcommand.add_option("--dishonest", dishonest, "How to cheat; costs the bond")
                      ->check(CLI::IsMember(assay::adversary::dishonesties_of(mode)))
                      ->group(kGroup);
    subcommand.add_option("--dishonest-step", options.step, "At this step")->group(kGroup);
    subcommand.add_option("--dishonest-node", options.node, "In this node's output")->group(kGroup);
    subcommand.add_flag("--late-moves", options.late_moves, "Move in disputes only when the clock has nearly run out")
        ->group(kGroup);
    if (mode == Mode::kSolve) {
        subcommand
            .add_option_function<std::string>(
                "--misstates", [&options](const std::string& kind) { options.misstates = decode_misstatement(kind); },
                "How to lie to the other members of a group that computes each step together: shard, zeros, stale, "
                "reduce, stage, equivocate or withhold, from --dishonest-step to the end of its segment"
            )
            ->check([](const std::string& kind) {
                return decode_misstatement(kind) ? std::string() : "\"" + kind + "\" is no way to lie";
            })
            ->excludes(cheat)
            ->group(kGroup);
    }
    if (mode == Mode::kSolve) {
        subcommand
            .add_option(
                "--slowed", options.slowed,
                "Do not cheat, but compute so many times slower in a group that computes each step together"
            )
            ->check(CLI::Range(1, 64))
            ->group(kGroup);
    }
    if (mode == Mode::kWhistleblow) {
        subcommand.add_option("--insider-of", options.insider_of, "Home of the verifier that an insider is told by")
            ->group(kGroup);
    }
}

std::unique_ptr<assay::worker::Behaviour> make_behaviour(
    const assay::worker::WorkerOptions& worker, AdversaryOptions options, const std::string& dishonest
) {
    options.kind = assay::adversary::decode_dishonesty(dishonest).value_or(Dishonesty::kNone);
    if ((options.kind == Dishonesty::kInsider) == options.insider_of.empty()) {
        throw std::runtime_error("--dishonest insider and --insider-of need each other");
    }
    if (options.misstates && !options.step) {
        throw std::runtime_error("--misstates needs --dishonest-step");
    }
    const bool hunts = options.kind == Dishonesty::kInsider || options.kind == Dishonesty::kFreeRider;
    if (hunts && worker.join_grains != 0) {
        throw std::runtime_error("--join is for whistleblowers that replay, and " + dishonest + " does not");
    }
    return std::make_unique<Adversary>(std::move(options));
}

}  // namespace

int main(int argc, char** argv) {
    AdversaryOptions options;
    std::string dishonest = "none";
    assay::worker::Flavour flavour;
    flavour.description = "assay-adversary is an assay-worker that cheats as it is told, for demonstrations and tests";
    flavour.add_options = [&](CLI::App& subcommand, Mode mode) { add_options(subcommand, mode, options, dishonest); };
    flavour.behaviour = [&](const assay::worker::WorkerOptions& worker) {
        return make_behaviour(worker, options, dishonest);
    };
    return assay::worker::run_command(argc, argv, flavour);
}
