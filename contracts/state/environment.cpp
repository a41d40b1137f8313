// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/environment.hpp>

#include <algorithm>

#include <core/base/bytes.hpp>
#include <core/crypto/hash.hpp>

namespace assay::contracts {
namespace {

/// ENV-1: printable ASCII without spaces, with a key before the first "=".
bool is_label(const std::string& label) {
    const std::size_t equals = label.find('=');
    return label.size() <= kMaxLabelBytes && equals != std::string::npos && equals != 0 &&
           std::all_of(label.begin(), label.end(), [](char c) { return c > ' ' && c <= '~'; });
}

std::uint64_t fingerprint(const std::string& text) {
    static const crypto::TaggedHash kTag("assay/environment");  // ENV-3
    const Hash256 hash = kTag(as_bytes(text));
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        out |= std::uint64_t{hash.data[i]} << (8 * i);
    }
    return out;
}

}  // namespace

bool is_sound(const Environment& environment) noexcept {
    const std::vector<std::string>& labels = environment.labels;
    if (labels.size() > kMaxLabels || (labels.empty() && !environment.image)) {
        return false;
    }
    std::size_t total = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (!is_label(labels[i]) || (i != 0 && labels[i] <= labels[i - 1])) {
            return false;
        }
        total += labels[i].size();
    }
    return total <= kMaxLabelsBytes;
}

bool satisfies(const Environment& stated, const Environment& asked) noexcept {
    return (!asked.image || stated.image == asked.image) &&
           std::includes(stated.labels.begin(), stated.labels.end(), asked.labels.begin(), asked.labels.end());
}

bool satisfies(const std::optional<Environment>& stated, const std::optional<Environment>& asked) noexcept {
    return !asked || (stated && satisfies(*stated, *asked));
}

std::vector<std::uint64_t> fingerprints(const std::optional<Environment>& environment) noexcept {
    std::vector<std::uint64_t> out;
    if (!environment) {
        return out;
    }
    if (environment->image) {
        out.push_back(fingerprint("image=sha256:" + to_hex(environment->image->view())));
    }
    for (const std::string& label : environment->labels) {
        out.push_back(fingerprint("label=" + label));
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

bool has_offers(const std::vector<std::uint64_t>& offers, const std::vector<std::uint64_t>& wanted) noexcept {
    return std::includes(offers.begin(), offers.end(), wanted.begin(), wanted.end());
}

}  // namespace assay::contracts
