// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/group_signed.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <tools/bench/bench.hpp>
#include <tools/bench/canonical_models.hpp>
#include <tools/bench/cell_training.hpp>
#include <tools/bench/measured_models.hpp>
#include <tools/bench/scratch.hpp>
#include <tools/bench/signed_links.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/engine/cell/local_words.hpp>
#include <verifier/engine/cell/session.hpp>
#include <verifier/group/signed_collective.hpp>
#include <verifier/plan/message.hpp>
#include <verifier/plan/plan.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;

constexpr std::uint64_t kSignedSeed = 5;
constexpr double kBitsPerSecond = 1e9;
constexpr std::uint32_t kVocabulary = 128;  // of GPTs

// One model by one layout.
struct SignedCase {
    const CellTraining& training;
    const plan::Layout& layout;
    Hash256 root;  // of the first state
    const SignedOptions& options;
};

canonical::StepContext context_of(const SignedCase& c, std::uint64_t step) {
    return {.seed = kSignedSeed, .step = step, .dataset = c.training.program.dataset};
}

// What a rank has used, and for how long rank 0 saw a step.
struct RankRun {
    BySide<std::shared_ptr<Readings>> readings{std::make_shared<Readings>(), std::make_shared<Readings>()};
    BySide<std::vector<double>> wall_s{};
    BySide<std::vector<double>> cpu_s{};          // of rank 0's thread
    BySide<std::vector<double>> process_cpu_s{};  // of all threads
    std::vector<double> longer{};                 // a signed step over the plain one beside it
    bool is_one_state = false;
};

std::string root_of(engine::CellSession& session, std::size_t tensors) {
    std::vector<canonical::Tensor> state;
    for (std::size_t i = 0; i < tensors; ++i) {
        state.push_back(session.tensor(i));
    }
    return to_hex(artifacts::state_root_of(state).view());
}

void lead_sides(const SignedCase& c, BySide<std::unique_ptr<engine::Collective>> links, RankRun& out) {
    BySide<std::unique_ptr<engine::CellSession>> sessions;
    for (const Side side : {kPlain, kSigned}) {
        sessions[side] =
            engine::open_session(c.training.program, c.training.rows, c.layout, std::move(links[side]), {});
        sessions[side]->begin_segment(c.root, 0);
        for (std::size_t i = 0; i < c.training.initial.size(); ++i) {
            sessions[side]->set_tensor(i, c.training.initial[i]);
        }
    }
    // One more, whose beginning ends what the others have used.
    const std::uint64_t last = c.options.warm_up + c.options.steps;
    for (std::uint64_t step = 0; step <= last; ++step) {
        BySide<double> wall{};
        for (const std::uint64_t turn : {step, step + 1}) {
            const auto side = static_cast<Side>(turn % kSides);
            const double cpu = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
            const double process = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
            const Stopwatch watch;
            if (!sessions[side]->run_step(context_of(c, step))) {
                throw std::runtime_error("the model diverges");
            }
            wall[side] = watch.seconds();
            if (step >= c.options.warm_up && step < last) {
                out.wall_s[side].push_back(wall[side]);
                out.cpu_s[side].push_back(cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu);
                out.process_cpu_s[side].push_back(cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - process);
            }
        }
        if (step >= c.options.warm_up && step < last) {
            out.longer.push_back(wall[kSigned] / wall[kPlain]);
        }
    }
    const std::size_t tensors = c.training.initial.size();
    out.is_one_state = root_of(*sessions[kPlain], tensors) == root_of(*sessions[kSigned], tensors);
}

// Members have terms only where they answer for what they send.
void serve_side(const SignedOptions& options, std::unique_ptr<engine::Collective> links) {
    std::optional<engine::Terms> terms;
    if (links->is_stated()) {
        terms.emplace();
        terms->program = [](const program::Program&, const plan::Layout&) { return true; };
        terms->seed = kSignedSeed;
        terms->steps = options.warm_up + options.steps + 1;
    }
    static_cast<void>(engine::serve_cell(std::move(links), {}, terms));
}

RankRun run_rank(
    const SignedCase& c, std::uint32_t rank, const std::string& address, BySide<engine::SharedWords*> words
) {
    const Scratch scratch;
    RankRun out;
    BySide<std::unique_ptr<engine::Collective>> links;
    for (const Side side : {kPlain, kSigned}) {
        links[side] = connect_side(
            side, *words[side],
            {.rank = rank, .ranks = c.layout.ranks(), .address = address, .root = c.root, .ledger = scratch.path()},
            out.readings[side]
        );
    }
    if (rank == 0) {
        lead_sides(c, std::move(links), out);
        return out;
    }
    BySide<std::exception_ptr> failures;
    const auto serve = [&](Side side) {
        try {
            serve_side(c.options, std::move(links[side]));
        } catch (const std::exception& error) {
            failures[side] = std::current_exception();
            std::cerr << "rank " << rank << ": " << error.what() << std::endl;  // rank 0 waits for this one
        }
    };
    {
        const std::jthread other([&] { serve(kSigned); });
        serve(kPlain);
    }
    for (const std::exception_ptr& failure : failures) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
    return out;
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

// The CPU time of a rank's thread in a step: rank 0's has both kinds of steps, the others one thread for each.
double rank_cpu_s(const RankRun& run, std::uint32_t rank, Side side, const SignedOptions& options) {
    if (rank == 0) {
        return median(run.cpu_s[side]);
    }
    std::vector<double> out;
    for (std::uint64_t step = options.warm_up; step < options.warm_up + options.steps; ++step) {
        out.push_back(run.readings[side]->at(step + 1).cpu_s - run.readings[side]->at(step).cpu_s);
    }
    return median(out);
}

// What a rank has used in all timed steps together, over their number.
Reading used(const RankRun& run, Side side, const SignedOptions& options) {
    const Reading& from = run.readings[side]->at(options.warm_up);
    const Reading& to = run.readings[side]->at(options.warm_up + options.steps);
    Reading out;
    out.messages = (to.messages - from.messages) / options.steps;
    out.value_bytes = (to.value_bytes - from.value_bytes) / options.steps;
    out.cost.messages = (to.cost.messages - from.cost.messages) / options.steps;
    out.cost.pieces = (to.cost.pieces - from.cost.pieces) / options.steps;
    out.cost.signature_bytes = (to.cost.signature_bytes - from.cost.signature_bytes) / options.steps;
    out.cost.time = (to.cost.time - from.cost.time) / static_cast<std::int64_t>(options.steps);
    return out;
}

json times_of(const RankRun& lead) {
    return {
        {"plain", spread(lead.wall_s[kPlain])},
        {"signed", spread(lead.wall_s[kSigned])},
        {"signed_over_plain", spread(lead.longer)}};
}

json entry_of(const std::vector<RankRun>& runs, const SignedOptions& options) {
    constexpr double kHeaderBytes = 12;  // of each message between ranks
    Reading plain_sum;
    Reading signed_sum;
    BySide<double> cpu_most{};
    double signing_most = 0.0;
    double statements_most = 0.0;
    std::uint64_t sent_most = 0;
    for (std::uint32_t rank = 0; rank < runs.size(); ++rank) {
        const Reading plain = used(runs[rank], kPlain, options);
        const Reading with = used(runs[rank], kSigned, options);
        const double plain_cpu = rank_cpu_s(runs[rank], rank, kPlain, options);
        const double signed_cpu = rank_cpu_s(runs[rank], rank, kSigned, options);
        plain_sum.messages += plain.messages;
        plain_sum.value_bytes += plain.value_bytes;
        signed_sum.value_bytes += with.value_bytes;
        signed_sum.messages += with.messages;
        signed_sum.cost.messages += with.cost.messages;
        signed_sum.cost.pieces += with.cost.pieces;
        signed_sum.cost.signature_bytes += with.cost.signature_bytes;
        cpu_most[kPlain] = std::max(cpu_most[kPlain], plain_cpu);
        cpu_most[kSigned] = std::max(cpu_most[kSigned], signed_cpu);
        signing_most = std::max(signing_most, signed_cpu - plain_cpu);
        statements_most = std::max(statements_most, std::chrono::duration<double>(with.cost.time).count());
        sent_most = std::max(sent_most, plain.value_bytes);
    }
    const auto over_values = [&](double bytes) { return bytes / static_cast<double>(signed_sum.value_bytes); };
    const double signatures = static_cast<double>(signed_sum.cost.signature_bytes);
    const double headers = kHeaderBytes * static_cast<double>(signed_sum.messages);
    const double transfer_s = 8.0 * static_cast<double>(sent_most) / kBitsPerSecond;
    return {
        {"is_one_state", runs[0].is_one_state},
        {"bytes",
         {{"values", signed_sum.value_bytes},
          {"values_unsigned_layout", plain_sum.value_bytes},
          {"messages", signed_sum.messages},
          {"signed_messages", signed_sum.cost.messages},
          {"pieces", signed_sum.cost.pieces},
          {"signatures", signed_sum.cost.signature_bytes},
          {"signatures_over_values", over_values(signatures)},
          {"signatures_and_headers_over_values", over_values(signatures + headers)}}},
        {"cpu_s",
         {{"rank_plain", cpu_most[kPlain]},
          {"rank_signed", cpu_most[kSigned]},
          {"rank_more", signing_most},
          {"all_plain", median(runs[0].process_cpu_s[kPlain])},
          {"all_signed", median(runs[0].process_cpu_s[kSigned])}}},
        {"statements_s", statements_most},
        {"loopback_s", times_of(runs[0])},
        {"at_1_gbit",
         {{"compute_s", cpu_most[kPlain]},
          {"transfer_s", transfer_s},
          {"signing_s", signing_most},
          {"share_if_all_waited_for", signing_most / (cpu_most[kPlain] + transfer_s)}}}};
}

// The models of canonical_models.hpp, GPTs with rotary positions: the gradient of learned ones is a sum over samples,
// 32 of which each rank would need. They have 128 symbols, so that ranks can divide them.
CellTraining training_of(const std::string& model, const program::Profile& profile) {
    const Model measured = model_named(model);
    if (model != "gpt" && model != "gpt10m") {
        return generated_training(measured.canonical(profile), measured.limit);
    }
    const NativeGptConfig size = model == "gpt" ? NativeGptConfig{} : gpt10m_size();
    program::GptConfig config;
    config.vocabulary = kVocabulary;
    config.context = static_cast<std::uint32_t>(size.context);
    config.layers = static_cast<std::uint32_t>(size.layers);
    config.heads = static_cast<std::uint32_t>(size.heads);
    config.width = static_cast<std::uint32_t>(size.width);
    config.rotary = true;
    config.tied_head = false;
    config.batch_size = static_cast<std::uint32_t>(size.batch);
    config.dataset_rows = kDatasetRows;
    config.profile = profile;
    return generated_training(program::build_gpt(config, adamw()), measured.limit);
}

Hash256 first_root(const CellTraining& training) { return artifacts::state_root_of(training.initial); }

// Why ranks that answer for what they send cannot divide the program so; empty if they can.
std::string refusal(const CellTraining& training, const plan::Layout& layout) {
    const plan::Plan plan = plan::make_plan(training.program, layout);
    const auto node = plan::unstatable_node(plan, training.program.step);
    return node ? "the part of node " + std::to_string(*node) + " (" +
                      canonical::to_string(training.program.step[*node].op) +
                      ") of some rank is no whole tiles of 32 positions"
                : std::string();
}

json run_case(const SignedCase& c) {
    BySide<engine::LocalWords> words;
    std::vector<RankRun> runs(c.layout.ranks());
    std::vector<std::exception_ptr> failures(c.layout.ranks());
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < c.layout.ranks(); ++rank) {
        threads.emplace_back([&, rank] {
            try {
                runs[rank] = run_rank(c, rank, "127.0.0.1", {&words[kPlain], &words[kSigned]});
            } catch (const std::exception&) {
                failures[rank] = std::current_exception();
            }
        });
    }
    threads.clear();
    for (const std::exception_ptr& failure : failures) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
    return entry_of(runs, c.options);
}

}  // namespace

json run_signed_bench(const SignedOptions& options) {
    json out = json::array();
    for (const std::string& model : options.models) {
        const CellTraining training = training_of(model, profile_named(options.profile));
        for (const std::string& text : options.layouts) {
            const NamedLayout named = layout_named(text);
            json entry{
                {"model", model},
                {"parameters", parameters_of(training.program)},
                {"plan", named.name},
                {"ranks", named.ranks}};
            const std::string refused = refusal(training, named.layout);
            if (!refused.empty()) {
                entry["refused"] = refused;
            } else {
                entry.update(run_case({training, named.layout, first_root(training), options}));
            }
            out.push_back(std::move(entry));
        }
    }
    return {
        {"bench", "group-signed"},
        {"profile", options.profile},
        {"steps", options.steps},
        {"instructions", used_instructions()},
        {"cases", std::move(out)}};
}

json run_signed_rank(const SignedRankOptions& options) {
    const NamedLayout named = layout_named(options.what.layouts.at(0));
    const CellTraining training = training_of(options.what.models.at(0), profile_named(options.what.profile));
    const std::string refused = refusal(training, named.layout);
    if (!refused.empty()) {
        throw std::runtime_error(named.name + ": " + refused);
    }
    const std::filesystem::path words(options.words);
    const auto plain = make_file_words(words / "plain");
    const auto with = make_file_words(words / "signed");
    const RankRun run = run_rank(
        {training, named.layout, first_root(training), options.what}, options.rank, options.address,
        {plain.get(), with.get()}
    );
    json out{{"rank", options.rank}, {"cpu_s", json::object()}};
    for (const Side side : {kPlain, kSigned}) {
        out["cpu_s"][side == kPlain ? "plain" : "signed"] = rank_cpu_s(run, options.rank, side, options.what);
    }
    out["statements_s"] = std::chrono::duration<double>(used(run, kSigned, options.what).cost.time).count();
    out["sent_bytes"] = used(run, kPlain, options.what).value_bytes;
    if (options.rank == 0) {
        out["is_one_state"] = run.is_one_state;
        out["steps_s"] = times_of(run);
        out["steps_s"]["signed_over_plain_each"] = run.longer;
    }
    return out;
}

}  // namespace assay::bench
