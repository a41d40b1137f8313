// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <set>

#include <core/crypto/hash.hpp>
#include <tests/model/crowd.hpp>
#include <tests/model/model.hpp>

/// Environments and checks of results, as their rules say it (ENV and CHK rules).
namespace assay::model {
namespace {

float number(std::uint32_t bits) { return std::bit_cast<float>(bits); }

bool is_size(std::uint32_t value) { return value >= 1 && value <= 1U << 24U; }

}  // namespace

bool is_environment(const contracts::Environment& environment) {
    // ENV-1
    const std::set<std::string> each(environment.labels.begin(), environment.labels.end());
    bool fine = !environment.labels.empty() || environment.image.has_value();
    fine = fine && environment.labels.size() <= 8 && each.size() == environment.labels.size() &&
           std::vector<std::string>(each.begin(), each.end()) == environment.labels;
    std::size_t bytes = 0;
    for (const std::string& label : environment.labels) {
        bytes += label.size();
        fine = fine && label.size() <= 64 && label.find('=') != std::string::npos && label.front() != '=';
        for (const char c : label) {
            fine = fine && c > 32 && c < 127;
        }
    }
    return fine && bytes <= 256;
}

bool is_in(const std::optional<contracts::Environment>& stated, const std::optional<contracts::Environment>& asked) {
    // ENV-2
    if (!asked) {
        return true;
    }
    if (!stated || (asked->image && asked->image != stated->image)) {
        return false;
    }
    const std::set<std::string> has(stated->labels.begin(), stated->labels.end());
    for (const std::string& label : asked->labels) {
        if (!has.contains(label)) {
            return false;
        }
    }
    return true;
}

bool offers(const std::vector<std::uint64_t>& offered, const std::optional<contracts::Environment>& asked) {
    // ENV-3
    const std::set<std::uint64_t> has(offered.begin(), offered.end());
    const auto lacks = [&](const std::string& text) {
        const Hash256 hash = crypto::TaggedHash("assay/environment")(as_bytes(text));
        std::uint64_t value = 0;
        for (int i = 7; i >= 0; --i) {
            value = value * 256 + hash.data[static_cast<std::size_t>(i)];
        }
        return !has.contains(value);
    };
    if (!asked) {
        return true;
    }
    if (asked->image && lacks("image=sha256:" + to_hex(asked->image->view()))) {
        return false;
    }
    for (const std::string& label : asked->labels) {
        if (lacks("label=" + label)) {
            return false;
        }
    }
    return true;
}

bool are_checks(const std::vector<contracts::ResultCheck>& checks, std::uint32_t tensors) {
    // CHK-1
    for (const contracts::ResultCheck& item : checks) {
        bool fine = true;
        if (const auto* finite = std::get_if<contracts::check::Finite>(&item)) {
            fine = finite->tensor.value_or(0) < tensors;
        } else if (const auto* declared = std::get_if<contracts::check::Declared>(&item)) {
            fine = declared->tensor < tensors && is_size(declared->shape.rows) && is_size(declared->shape.cols);
        } else if (const auto* range = std::get_if<contracts::check::Range>(&item)) {
            const float least = number(range->least);
            const float most = number(range->most);
            fine = range->tensor < tensors && std::isfinite(least) && std::isfinite(most) && least <= most;
        } else if (const auto* labels = std::get_if<contracts::check::Labels>(&item)) {
            fine = labels->tensor < tensors && is_size(labels->classes);
        }
        if (!fine) {
            return false;
        }
    }
    return checks.size() <= 16;
}

contracts::Environment Crowd::environment() {
    return {.image = chance(50) ? std::optional(Hash256{{1}}) : std::nullopt, .labels = {chance(75) ? "m=1" : "m=2"}};
}

void Crowd::add_wishes(contracts::TaskSpec& spec) {
    if (chance(10)) {
        spec.environment = contracts::Environment{.image = {}, .labels = {"m=1"}};  // ENV-2
    }
    if (chance(25)) {
        spec.checks = {contracts::check::Finite{}, contracts::check::Finite{0}};  // CHK-1
    }
}

}  // namespace assay::model
