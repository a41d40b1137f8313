// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <contracts/tasks/tasks.hpp>
#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/cli/tiny_task.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <tools/cli/task/task_estimate.hpp>
#include <tools/cli/task/task_lint.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <core/dispute/commitment.hpp>
#include <contracts/params/spec.hpp>

namespace assay::cli {
namespace {

using namespace taskdir;

using canonical::DType;
using canonical::Tensor;
using cli_test::replaced;
using cli_test::TemporaryDirectory;
using cli_test::write_text;

const std::string kText = cli_test::kTinyTask + "[evaluation]\ntext = \"holdout.txt\"\n";

struct Directory {
    TemporaryDirectory at;
    explicit Directory(const std::string& toml, const std::string& holdout = "brown quick") {
        write_text(at.path() / "task.toml", toml);
        write_text(at.path() / "text.txt", "the quick brown fox");
        write_text(at.path() / "holdout.txt", holdout);
    }
    bool finds(Severity severity, const std::string& key, const std::string& part) const {
        const Findings findings = lint_task(at.path());
        CAPTURE(findings_text(findings));
        return std::any_of(findings.all().begin(), findings.all().end(), [&](const Finding& f) {
            return f.severity == severity && f.key == key && f.message.find(part) != std::string::npos;
        });
    }
    BuiltTask build() const {
        Findings findings(task_file_name(at.path()));
        auto task = build_task(at.path(), findings);
        findings.throw_if_wrong();
        REQUIRE(task.has_value());
        return *std::move(task);
    }
};

std::uint32_t word(const Tensor& tensor, std::size_t i) { return tensor.data[4 * i]; }

}  // namespace

TEST_CASE("EVL-8: a hold-out text becomes whole batches of rows with the data's characters") {
    // "brown quick" has 7 rows of 5 characters: three batches of 2, spread over the text.
    const Directory directory(kText);
    const BuiltTask task = directory.build();
    REQUIRE(task.evaluation.has_value());
    const Tensor& rows = task.evaluation->holdout;
    CHECK(rows.shape == canonical::Shape{6, 5});
    const std::string vocabulary = task.data.characters;
    const auto character = [&](std::size_t i) { return vocabulary.at(word(rows, i)); };
    CHECK(character(0) == 'b');
    CHECK(character(4) == 'n');
    CHECK(character(5) == 'r');
    CHECK(directory.finds(Severity::kNote, "evaluation", "takes 6 of the 7 rows"));
    CHECK(task.spec.evaluation->holdout == dispute::commit_tensor(rows));
    CHECK(task.spec.evaluation->nodes == task.evaluation->program.init.size());
    CHECK(contracts::check_spec(task.spec).has_value());
}

TEST_CASE("a packed hold-out set is in the store, and the spec says where") {
    const Directory directory(kText);
    artifacts::ContentStore store(directory.at.path() / "store");
    const contracts::TaskSpec spec = pack_task(directory.at.path(), store, "http://127.0.0.1:4000");
    CHECK(spec.evaluation->data.location == "http://127.0.0.1:4000");
    const auto bytes = store.get(spec.evaluation->data.sha256);
    REQUIRE(bytes.has_value());
    const auto holdout = artifacts::decode_holdout(spec.program.dataset.width, bytes->view());
    REQUIRE(holdout.has_value());
    CHECK(dispute::commit_tensor(*holdout) == spec.evaluation->holdout);
}

TEST_CASE("EVL-8: batches that are not there, or that the graph does not hold, are refused with how many are") {
    CHECK(Directory(kText + "batches = 3\n").build().evaluation->holdout.shape.rows == 6);
    CHECK(Directory(kText + "batches = 1\n").build().evaluation->holdout.shape.rows == 2);
    CHECK(Directory(kText + "batches = 4\n").finds(Severity::kError, "[evaluation] batches", "there are 7 rows"));
    CHECK(Directory(kText, "brown").finds(Severity::kError, "evaluation", "there are 1 rows"));
    std::string long_text;
    while (long_text.size() < 20'000) {
        long_text += "the quick brown fox";
    }
    const Directory too_many(kText + "batches = 9000\n", long_text);
    CHECK(too_many.finds(Severity::kError, "[evaluation] batches", "batches fit"));
    const BuiltTask most = Directory(kText, long_text).build();
    CHECK(most.evaluation->program.init.size() <= canonical::kMaxNodes);
    CHECK(most.evaluation->program.init.size() > canonical::kMaxNodes - 500);
}

TEST_CASE("a hold-out text with a character that the data do not have is refused") {
    CHECK(Directory(kText, "brown zebra").finds(Severity::kError, "[evaluation] text", "\"a\""));
    CHECK(Directory(replaced(kText, "holdout.txt", "none.txt")).finds(Severity::kError, "", "cannot read"));
}

TEST_CASE("hold-out rows have the widths, kinds and ranges of the data's") {
    const std::string toml = replaced(
        replaced(
            replaced(
                kText, "kind = \"char\"\ncontext = 4\nembedding = 32\nhidden = 8\n", "kind = \"mlp\"\nclasses = 3\n"
            ),
            "text = \"text.txt\"", "rows = \"data.safetensors\""
        ),
        "text = \"holdout.txt\"", "rows = \"holdout.safetensors\""
    );
    const auto fill = [&](const Directory& directory, std::uint32_t features, std::uint8_t label) {
        const auto write = [&](const char* name, std::uint32_t width, std::uint8_t last) {
            Tensor rows = canonical::make_tensor(DType::kI32, {4, width});
            rows.data[4 * (width - 1)] = last;
            const Bytes file =
                artifacts::encode_safetensors({.tensors = {{.name = "rows", .tensor = rows}}, .metadata = {}});
            write_text(directory.at.path() / name, std::string(file.begin(), file.end()));
        };
        write("data.safetensors", 3, 1);
        write("holdout.safetensors", features + 1, label);
    };
    const Directory directory(toml);
    fill(directory, 2, 2);
    CHECK(directory.build().evaluation->holdout.shape == canonical::Shape{4, 3});
    fill(directory, 3, 0);
    CHECK(directory.finds(Severity::kError, "evaluation", "other values than the data"));
    fill(directory, 2, 3);
    CHECK(directory.finds(Severity::kError, "evaluation", "classes are 0 to 2"));
}

TEST_CASE("an estimate tells rows, batches and nodes of the evaluation") {
    const BuiltTask task = Directory(kText).build();
    const nlohmann::json told = to_json(estimate_task(task), task);
    CHECK(told.at("evaluation").at("rows") == 6);
    CHECK(told.at("evaluation").at("batches") == 3);
    CHECK(told.at("evaluation").at("nodes") == task.evaluation->program.init.size());
    CHECK(estimate_text(estimate_task(task), task).find("6 rows in 3 batches") != std::string::npos);
}

}  // namespace assay::cli
