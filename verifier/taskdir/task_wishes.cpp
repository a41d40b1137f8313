// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/task_wishes.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <variant>

#include <core/base/bytes.hpp>
#include <core/base/nearest.hpp>
#include <verifier/taskdir/toml_section.hpp>

namespace assay::taskdir {
namespace {

using contracts::ResultCheck;
namespace check = contracts::check;

constexpr const char* kAll = "*";

/// "f32 16x32", or nullopt.
std::optional<check::Declared> decode_shape(const std::string& text) {
    const std::size_t space = text.find(' ');
    const std::size_t times = text.find('x', space == std::string::npos ? 0 : space);
    if (space == std::string::npos || times == std::string::npos) {
        return std::nullopt;
    }
    check::Declared out;
    const std::string type = text.substr(0, space);
    bool is_known = false;
    for (std::uint8_t i = 1; canonical::is_valid(static_cast<canonical::DType>(i)); ++i) {
        if (type == contracts::type_name(static_cast<canonical::DType>(i))) {
            out.dtype = static_cast<canonical::DType>(i);
            is_known = true;
        }
    }
    const auto number = [&](std::size_t from, std::size_t to, std::uint32_t& value) {
        const char* const end = text.data() + to;
        const auto read = std::from_chars(text.data() + from, end, value);
        return read.ec == std::errc() && read.ptr == end && value >= 1 && value <= canonical::kMaxDimension;
    };
    const bool is_good =
        is_known && number(space + 1, times, out.shape.rows) && number(times + 1, text.size(), out.shape.cols);
    return is_good ? std::optional(out) : std::nullopt;
}

std::string shape_text(canonical::DType dtype, const canonical::Shape& shape) {
    return std::string(contracts::type_name(dtype)) + " " + std::to_string(shape.rows) + "x" +
           std::to_string(shape.cols);
}

void add_shapes(const TomlSection& section, std::vector<NamedCheck>& out) {
    for (const std::string& name : section.keys()) {
        const auto declared = decode_shape(section.text(name));
        if (!declared) {
            section.fail(name, "must be a type and a shape, such as \"f32 16x32\"; types: f32, i32, i64, bf16, i8");
            continue;
        }
        out.push_back({.tensor = name, .check = *declared, .key = section.name() + name});
    }
}

void add_ranges(const TomlSection& section, std::vector<NamedCheck>& out) {
    constexpr TomlSection::Range kAny{
        .min = std::numeric_limits<float>::lowest(), .max = std::numeric_limits<float>::max()};
    for (const std::string& name : section.keys()) {
        const std::vector<float> bounds = section.reals(name, kAny, 2);
        if (bounds.size() != 2 || bounds[0] > bounds[1]) {
            section.fail(name, "must be the least and the greatest value, such as [-1.0, 1.0]");
            continue;
        }
        const check::Range range{
            .least = std::bit_cast<std::uint32_t>(bounds[0]), .most = std::bit_cast<std::uint32_t>(bounds[1])};
        out.push_back({.tensor = name, .check = range, .key = section.name() + name});
    }
}

void add_labels(const TomlSection& section, std::vector<NamedCheck>& out) {
    for (const std::string& name : section.keys()) {
        const auto classes = section.number<std::uint32_t>(name, 1, contracts::kMaxClasses);
        out.push_back({.tensor = name, .check = check::Labels{.classes = classes}, .key = section.name() + name});
    }
}

ResultCheck with_tensor(ResultCheck check, std::uint32_t number) {
    std::visit([&](auto& each) { each.tensor = number; }, check);
    return check;
}

}  // namespace

contracts::Environment read_environment(const TomlSection& section) {
    section.allow({"image", "labels"});
    contracts::Environment out;
    if (section.has("image")) {
        const std::string text = section.text("image");
        constexpr std::string_view kPrefix = "sha256:";
        out.image = text.rfind(kPrefix, 0) == 0 ? fixed_from_hex<Hash256>(text.substr(kPrefix.size())) : std::nullopt;
        if (!out.image) {
            section.fail("image", "must be the digest of an OCI image: sha256: and 64 hex digits");
            return out;
        }
    }
    out.labels = section.texts("labels");
    std::sort(out.labels.begin(), out.labels.end());
    if (!contracts::is_sound(out)) {
        section.fail(
            section.has("labels") ? "labels" : "image",
            "must be there: an environment names an image, or at most " + std::to_string(contracts::kMaxLabels) +
                " different labels \"key=value\" of printable characters without spaces, " +
                std::to_string(contracts::kMaxLabelBytes) + " each and " + std::to_string(contracts::kMaxLabelsBytes) +
                " together"
        );
    }
    return out;
}

std::vector<NamedCheck> read_checks(const TomlSection& section) {
    section.allow({"finite", "shape", "range", "labels"});
    std::vector<NamedCheck> out;
    for (const std::string& name : section.texts("finite")) {
        out.push_back({.tensor = name == kAll ? "" : name, .check = check::Finite{}, .key = section.name() + "finite"});
    }
    add_shapes(section.section("shape"), out);
    add_ranges(section.section("range"), out);
    add_labels(section.section("labels"), out);
    if (out.size() > contracts::kMaxResultChecks) {
        section.fail(
            "finite", "and the other checks are " + std::to_string(out.size()) + "; a task has at most " +
                          std::to_string(contracts::kMaxResultChecks)
        );
    }
    return out;
}

std::vector<ResultCheck> number_checks(
    const std::vector<NamedCheck>& checks, const program::Program& program, Findings& findings
) {
    std::vector<ResultCheck> out;
    for (const NamedCheck& each : checks) {
        if (each.tensor.empty()) {
            out.push_back(each.check);
            continue;
        }
        const auto found = std::find_if(program.state.begin(), program.state.end(), [&](const auto& tensor) {
            return tensor.name == each.tensor;
        });
        if (found == program.state.end()) {
            std::vector<std::string> names;
            for (const program::StateTensor& tensor : program.state) {
                names.push_back(tensor.name);
            }
            findings.error(
                each.key,
                "the state has no tensor \"" + each.tensor + "\"; nearest: \"" + nearest(each.tensor, names) + "\""
            );
            continue;
        }
        const auto* const declared = std::get_if<check::Declared>(&each.check);
        if (declared != nullptr && (declared->dtype != found->type.dtype || declared->shape != found->type.shape)) {
            findings.error(
                each.key, "this model's tensor is " + shape_text(found->type.dtype, found->type.shape) + ", not " +
                              shape_text(declared->dtype, declared->shape)
            );
        }
        out.push_back(with_tensor(each.check, static_cast<std::uint32_t>(found - program.state.begin())));
    }
    return out;
}

}  // namespace assay::taskdir
