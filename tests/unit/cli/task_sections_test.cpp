// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <tests/unit/cli/task_families.hpp>

namespace assay::cli {
namespace {

using namespace cli_test;
using namespace taskdir;

TEST_CASE("a section of replicas makes a program of them, and says what does not go together") {
    const auto with = [](const std::string& replicas, const std::string& optimizer) {
        return Directory(replaced(kMlp, "kind = \"sgd\"\n", optimizer + "[replicas]\n" + replicas), small_rows());
    };
    const std::string sgd = "kind = \"sgd\"\n";
    const BuiltTask dgc = with("count = 2\nexchange = \"dgc\"\nblock = 16\ndense_below = 8\n", sgd).build();
    const program::Replicas& replicas = dgc.file.optimizer.replicas;
    CHECK(replicas.count == 2);
    CHECK(replicas.exchange == program::ExchangeKind::kDgc);
    CHECK(replicas.block == 16);
    CHECK(replicas.dense_below == 8);
    CHECK(std::any_of(dgc.program.state.begin(), dgc.program.state.end(), [](const program::StateTensor& tensor) {
        return tensor.name == "accumulated.replica.1.hidden1.weight";
    }));
    CHECK(with("count = 2\n", "kind = \"adamw\"\n").build().file.optimizer.replicas.count == 2);
    const std::string by_dgc = "count = 2\nexchange = \"dgc\"\n";
    with("count = 3\n", sgd).check_refused("[replicas] count: must divide [model] batch_size, which is 2");
    with("exchange = \"dgc\"\n", sgd).check_refused("[replicas] count: is missing");
    with("count = 2\nexchange = \"sparse\"\n", sgd).check_refused("known: \"dense\", \"dgc\", \"diloco\"");
    with("count = 2\nblock = 16\n", sgd).check_refused("[replicas] block: is for the exchange dgc");
    with(by_dgc, "kind = \"adamw\"\n").check_refused("[replicas] exchange: dgc is for the optimizer sgd");
    with(by_dgc, sgd + "nesterov = true\n").check_refused("[replicas] exchange: dgc is for the optimizer sgd");
    with(by_dgc, sgd + "accumulation = 2\n").check_refused("leave [optimizer] accumulation out");
}

TEST_CASE("a boundary numbers the rows") {
    const auto with = [](const std::string& boundary) {
        return Directory(replaced(kMlp, "hidden = [8]\n", "hidden = [32, 5]\n" + boundary), small_rows());
    };
    const BuiltTask task = with("boundary = 1\nboundary_bits = 3\n").build();
    CHECK(words_of(task, 0) == std::vector<std::uint32_t>{1, 2, 0, 0});
    CHECK(words_of(task, 3) == std::vector<std::uint32_t>{7, 8, 0, 3});
    const auto& model = std::get<program::MlpConfig>(task.file.model);
    CHECK(model.boundary == program::Boundary{.after = 1, .bits = 3, .gradient_bits = 8});
    CHECK(task.program.state[2].name == "accumulated.activation.hidden1");
    with("boundary = 3\n").check_refused("[model] boundary");
    with("boundary = 2\n").check_refused("multiple of 32 outputs");
    with("boundary = 1\nboundary_bits = 1\n").check_refused("[model] boundary_bits");
    with("gradient_bits = 4\n").check_refused("is for a model with a boundary");
}

TEST_CASE("a section of local replicas makes a program of them, for models of any kind") {
    const auto with = [](const std::string& replicas) {
        return Directory(replaced(kMlp, "kind = \"sgd\"\n", "kind = \"adamw\"\n[replicas]\n" + replicas), small_rows());
    };
    const BuiltTask diloco =
        with("count = 3\nexchange = \"diloco\"\nouter_rate = 0.5\nouter_momentum = 0.25\n").build();
    const program::LocalReplicas expected{
        .count = 3,
        .turn_steps = diloco.spec.checkpoint_interval,
        .outer_rate = 0.5F,
        .outer_momentum = 0.25F,
        .sent = program::SentForm::kIntegers};
    CHECK(diloco.file.local == expected);
    CHECK(diloco.file.optimizer.replicas.count == 1);
    CHECK(std::any_of(diloco.program.state.begin(), diloco.program.state.end(), [](const program::StateTensor& tensor) {
        return tensor.name == "adam.replica.2.first.hidden1.weight";
    }));
    CHECK(
        with("count = 2\nexchange = \"diloco\"\nsent = \"f32\"\n").build().file.local->sent == program::SentForm::kWhole
    );
    const BuiltTask sparse =
        with("count = 2\nexchange = \"sparseloco\"\nturn_steps = 7\nblock = 32\nkept_share = 0.5\n").build();
    CHECK(sparse.file.local->sent == program::SentForm::kSparse);
    CHECK(sparse.file.local->turn_steps == 7);
    CHECK(sparse.file.local->block == 32);
    CHECK(sparse.file.local->kept_share == 0.5F);
    CHECK(sparse.file.local->outer_momentum == 0.0F);
    const BuiltTask streaming =
        with("count = 2\nexchange = \"streaming\"\nfragments = 3\nmixing = 0.25\nsent = \"f32\"\n").build();
    CHECK((streaming.file.local->fragments == 3 && streaming.file.local->mixing == 0.25F));
    CHECK(streaming.file.local->sent == program::SentForm::kWhole);
    CHECK(streaming.file.local->outer_momentum == 0.9F);
    const BuiltTask coarse = with("count = 2\nexchange = \"diloco\"\nsent = \"int4\"\n").build();
    CHECK((coarse.file.local->sent == program::SentForm::kIntegers && coarse.file.local->bits == 4));
    with("count = 2\nexchange = \"diloco\"\nfragments = 2\n").check_refused("fragments: is for the exchange streaming");
    with("count = 2\nexchange = \"streaming\"\nfragments = 1\n").check_refused("[replicas] fragments");
    with("count = 2\nexchange = \"streaming\"\nfragments = 40\n")
        .check_refused("fewer trained parameters than fragments");
    with("count = 1\nexchange = \"diloco\"\n").check_refused("[replicas] count");
    with("count = 2\nexchange = \"diloco\"\nblock = 8\n").check_refused("block: is for the exchange sparseloco");
    with("count = 2\nexchange = \"sparseloco\"\nsent = \"int8\"\n")
        .check_refused("sent: is for the exchanges diloco and streaming");
    with("count = 2\nexchange = \"diloco\"\nouter_momentum = 1.0\n").check_refused("outer_momentum");
    with("count = 2\nexchange = \"diloco\"\nturn_steps = 9000000\n").check_refused("more than 2^24 steps");
}

TEST_CASE("moments of type bf16 and int8 make a smaller state, and say what does not go together") {
    const std::string wide = replaced(kGpt, "width = 32", "width = 64");
    const auto with = [&](const std::string& moments) {
        return replaced(wide, "accumulation = 2", "accumulation = 2\nmoments = \"" + moments + "\"");
    };
    const BuiltTask of_f32 = Directory(with("f32"), {}).build();
    const BuiltTask plain = Directory(wide, {}).build();
    CHECK(of_f32.program_artifact == plain.program_artifact);
    const std::uint64_t whole = size_bytes(of_f32.program.state);
    const BuiltTask half = Directory(with("bf16"), {}).build();
    const BuiltTask byte = Directory(with("int8"), {}).build();
    // Parameters and sums of gradients stay f32, so a half is a quarter less.
    CHECK(size_bytes(half.program.state) == doctest::Approx(0.75 * static_cast<double>(whole)).epsilon(0.01));
    CHECK(size_bytes(byte.program.state) == doctest::Approx(0.66 * static_cast<double>(whole)).epsilon(0.01));
    Directory(replaced(kMlp, "kind = \"sgd\"", "kind = \"sgd\"\nmomentum = 0.0\nmoments = \"bf16\""), small_rows())
        .check_refused("sgd without a momentum keeps none");
    Directory(replaced(kMlp, "kind = \"sgd\"", "kind = \"sgd\"\nmoments = \"int8\""), small_rows())
        .check_refused("fewer than 4,096 elements");
    Directory(with("int4"), {}).check_refused("moments");
    Directory(with("int8") + "[replicas]\ncount = 2\nexchange = \"diloco\"\n", {}).check_refused("moments of type f32");
    const std::string tolerant = "mode = \"tolerance\"\n";
    Directory(tolerant + with("int8"), {}).check_refused("8-bit");
    CHECK(Directory(tolerant + with("bf16"), {}).build().spec.distance.has_value());
}

}  // namespace
}  // namespace assay::cli
