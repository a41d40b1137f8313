// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/backend/product_choice.hpp>

#include <algorithm>
#include <iterator>

#include <core/base/assert.hpp>
#include <verifier/engine/backend/backend.hpp>
#include <verifier/engine/backend/product_bits.hpp>

namespace assay::engine {

using canonical::Node;

namespace {

constexpr std::uint32_t kMaxFloatPrecision = 8;

}  // namespace

std::vector<ProductKind> exact_products(const Node& contract, bool is_bounded) {
    if (!is_bounded) {
        return {ProductKind::kWords};
    }
    const std::uint32_t precision = contract.attributes[0];
    std::vector<ProductKind> out;
    if (precision <= kMaxFloatPrecision) {
        out.push_back(ProductKind::kFloats);
    }
    if (fits_double(contract, precision)) {
        out.push_back(ProductKind::kDoubles);
    } else if (fits_double(contract, kHalfBits)) {
        out.push_back(ProductKind::kTwoDoubles);
    } else if (out.empty()) {
        out.push_back(ProductKind::kWords);
    }
    out.push_back(ProductKind::kResidues);
    return out;
}

std::vector<ProductKind> candidates(const Node& contract, bool is_bounded, ProductChoice choice, bool is_accelerator) {
    std::vector<ProductKind> exact = exact_products(contract, is_bounded);
    if (choice == ProductChoice::kMeasured || (choice == ProductChoice::kAutomatic && is_accelerator)) {
        return exact;
    }
    const auto is_wanted = [choice](ProductKind kind) {
        switch (choice) {
            case ProductChoice::kDoubles:
                return kind == ProductKind::kDoubles || kind == ProductKind::kTwoDoubles;
            case ProductChoice::kResidues:
                return kind == ProductKind::kResidues;
            default:
                return true;
        }
    };
    const auto found = std::find_if(exact.begin(), exact.end(), is_wanted);
    return {found == exact.end() ? exact.front() : *found};
}

ProductKind ProductChooser::choose(
    const Node& contract, const std::vector<ProductKind>& kinds, const Measure& measure
) {
    ASSERT(!kinds.empty());
    if (kinds.size() == 1) {
        return kinds.front();
    }
    const Key key{
        .rows = contract.shape.rows,
        .cols = contract.shape.cols,
        .depth = contract.inputs[0].shape.cols,
        .groups = canonical::group_count(contract),
        .precision = contract.attributes[0],
        .chunk = contract.attributes[1]};
    if (const auto found = chosen_.find(key); found != chosen_.end()) {
        return found->second;
    }
    std::vector<double> seconds;
    std::transform(kinds.begin(), kinds.end(), std::back_inserter(seconds), measure);
    const auto best = std::min_element(seconds.begin(), seconds.end()) - seconds.begin();
    return chosen_.emplace(key, kinds[static_cast<std::size_t>(best)]).first->second;
}

}  // namespace assay::engine
