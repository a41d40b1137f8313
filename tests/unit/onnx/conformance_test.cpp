// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <onnx/onnx_pb.h>
#include <tests/unit/onnx/run_model.hpp>

using namespace assay;
using namespace assay::onnx;

namespace {

namespace fs = std::filesystem;

// ONNX's own cases, as Debian's libonnx-testdata installs them.
const fs::path kData = "/usr/share/libonnx-testdata/data";

Bytes read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    REQUIRE_MESSAGE(in.good(), path.string());
    return Bytes(std::istreambuf_iterator<char>(in), {});
}

enum class Verdict { kPassed, kUnsupported, kFailed };
struct Outcome {
    Verdict verdict = Verdict::kPassed;
    std::string reason;
    std::string op;
};

::onnx::GraphProto graph_of(const Bytes& model) {
    ::onnx::ModelProto proto;
    REQUIRE(proto.ParseFromArray(model.data(), static_cast<int>(model.size())));
    return proto.graph();
}

// The case's inputs by name; those that cannot be decoded are not tensors, and the model is refused for that.
std::map<std::string, HostTensor> inputs_of(const fs::path& set, const ::onnx::GraphProto& graph) {
    std::map<std::string, HostTensor> out;
    for (int i = 0; i < graph.input_size(); ++i) {
        const fs::path file = set / ("input_" + std::to_string(i) + ".pb");
        if (!fs::exists(file)) {
            continue;
        }
        if (const auto tensor = decode_tensor(read_file(file))) {
            out[graph.input(i).name()] = *tensor;
        }
    }
    return out;
}

// Sizes for the dimensions that the model leaves open: those of the inputs.
Dimensions dimensions_of(const ::onnx::GraphProto& graph, const std::map<std::string, HostTensor>& inputs) {
    Dimensions out;
    for (const auto& input : graph.input()) {
        const auto given = inputs.find(input.name());
        const auto& dims = input.type().tensor_type().shape().dim();
        for (int i = 0; i < dims.size() && given != inputs.end(); ++i) {
            if (dims[i].has_dim_param()) {
                out[dims[i].dim_param()] = given->second.dims.at(static_cast<std::size_t>(i));
            }
        }
    }
    return out;
}

Outcome refused(const ImportError& error) {
    if (error.kind == ImportErrorKind::kTooLarge) {
        return {Verdict::kUnsupported, error.message, "(too large)"};
    }
    const bool is_unsupported = error.kind == ImportErrorKind::kUnsupported;
    return {is_unsupported ? Verdict::kUnsupported : Verdict::kFailed, error.message, error.op};
}

// Imports with the inputs that decide shapes as constants, which the importer asks for one after another.
Result<ForwardGraph, ImportError> import_case(
    const Bytes& model, const std::map<std::string, HostTensor>& inputs, const Dimensions& dimensions
) {
    ForwardConfig config;
    config.dimensions = dimensions;
    while (true) {
        auto imported = import_forward(model, config);
        if (imported || imported.error().kind != ImportErrorKind::kNeedsConstant) {
            return imported;
        }
        const std::string& name = imported.error().input;
        REQUIRE(inputs.contains(name));
        REQUIRE(config.constants.emplace(name, inputs.at(name)).second);
    }
}

Outcome run_set(const fs::path& set, const Bytes& model) {
    const ::onnx::GraphProto graph = graph_of(model);
    const std::map<std::string, HostTensor> inputs = inputs_of(set, graph);
    const auto imported = import_case(model, inputs, dimensions_of(graph, inputs));
    if (!imported) {
        return refused(imported.error());
    }
    const std::vector<canonical::Tensor> outputs = assay::onnx::test::run_forward(*imported, inputs);
    for (std::size_t i = 0; i < imported->outputs.size(); ++i) {
        const auto expected = decode_tensor(read_file(set / ("output_" + std::to_string(i) + ".pb")));
        REQUIRE(expected.has_value());
        const std::string difference = assay::onnx::test::difference(imported->outputs[i], outputs, *expected);
        if (!difference.empty()) {
            return {Verdict::kFailed, "output " + imported->outputs[i].name + ": " + difference, {}};
        }
    }
    return {};
}

Outcome run_case(const fs::path& folder) {
    const Bytes model = read_file(folder / "model.onnx");
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.is_directory()) {
            if (const Outcome outcome = run_set(entry.path(), model); outcome.verdict != Verdict::kPassed) {
                return outcome;
            }
        }
    }
    return {};
}

struct Tally {
    std::size_t passed = 0;
    std::size_t unsupported = 0;
    std::size_t failed = 0;
};

// Runs every case of a folder and prints what became of them.
Tally run_folder(const fs::path& cases) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(cases)) {
        folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    Tally tally;
    std::map<std::string, std::size_t> by_operator;
    const bool tells_all = std::getenv("ASSAY_ONNX_VERBOSE") != nullptr;
    for (const fs::path& folder : folders) {
        const Outcome outcome = run_case(folder);
        const std::string name = folder.filename().string();
        switch (outcome.verdict) {
            case Verdict::kPassed:
                ++tally.passed;
                break;
            case Verdict::kUnsupported:
                ++tally.unsupported;
                ++by_operator[outcome.op.empty() ? "(model)" : outcome.op];
                if (tells_all) {
                    MESSAGE("unsupported ", name, ": ", outcome.reason);
                }
                break;
            case Verdict::kFailed:
                ++tally.failed;
                MESSAGE("FAILED ", name, ": ", outcome.reason);
                break;
        }
    }
    std::string list;
    for (const auto& [op, count] : by_operator) {
        list += " " + op + ":" + std::to_string(count);
    }
    MESSAGE(
        cases.filename().string(), ": passed ", tally.passed, ", unsupported ", tally.unsupported, ", failed ",
        tally.failed
    );
    MESSAGE("unsupported by operator:", list);
    return tally;
}

bool is_installed() {
    if (!fs::is_directory(kData)) {
        MESSAGE("skipped: ", kData.string(), " is missing; install libonnx-testdata");
        return false;
    }
    return true;
}

}  // namespace

TEST_CASE("every ONNX operator case is computed as ONNX says or refused") {
    if (is_installed()) {
        const Tally tally = run_folder(kData / "node");
        CHECK(tally.failed == 0);
        CHECK(tally.passed >= 750);
    }
}

TEST_CASE("models that torch exported are computed as ONNX says or refused") {
    if (is_installed()) {
        for (const char* folder : {"pytorch-converted", "pytorch-operator", "simple"}) {
            const Tally tally = run_folder(kData / folder);
            CHECK(tally.failed == 0);
            CHECK(tally.passed >= 1);
        }
    }
}
