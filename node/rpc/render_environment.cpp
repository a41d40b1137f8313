// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/render.hpp>

#include <bit>
#include <variant>

namespace assay::rpc {
namespace {

using namespace contracts;

Json number_of(std::uint32_t f32_bits) { return static_cast<double>(std::bit_cast<float>(f32_bits)); }

Json fields_of(const check::Finite& c) { return {{"tensor", c.tensor ? Json(*c.tensor) : Json()}}; }
Json fields_of(const check::Declared& c) {
    return {{"tensor", c.tensor}, {"dtype", type_name(c.dtype)}, {"rows", c.shape.rows}, {"cols", c.shape.cols}};
}
Json fields_of(const check::Range& c) {
    return {{"tensor", c.tensor}, {"least", number_of(c.least)}, {"most", number_of(c.most)}};
}
Json fields_of(const check::Labels& c) { return {{"tensor", c.tensor}, {"classes", c.classes}}; }

}  // namespace

Json render(const std::optional<Environment>& environment) {
    if (!environment) {
        return {};
    }
    return {
        {"image", environment->image ? Json("sha256:" + to_hex(environment->image->view())) : Json()},
        {"labels", environment->labels}};
}

Json render(const std::vector<ResultCheck>& checks) {
    Json out = Json::array();
    for (const ResultCheck& each : checks) {
        Json fields = std::visit([](const auto& check) { return fields_of(check); }, each);
        fields["kind"] = check_name(each);
        out.push_back(std::move(fields));
    }
    return out;
}

Json render_failed_checks(const std::optional<std::uint32_t>& failed) {
    if (!failed) {
        return {};
    }
    Json out = Json::array();
    for (std::uint32_t i = 0; i < kMaxResultChecks; ++i) {
        if ((*failed >> i & 1U) != 0) {
            out.push_back(i);
        }
    }
    return out;
}

}  // namespace assay::rpc
