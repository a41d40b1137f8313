// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/claimed_losses.hpp>

#include <bit>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include <core/codec/borsh.hpp>
#include <core/crypto/address.hpp>
#include <core/crypto/hash.hpp>

namespace assay::artifacts {

Hash256 losses_claim(const contracts::TaskId& task, const std::vector<ClaimedLoss>& losses) {
    static const crypto::TaggedHash kTag("assay/losses");
    return kTag(task.view(), codec::encode(losses));
}

ClaimedLosses sign_losses(
    const crypto::SecretKey& key, const contracts::TaskId& task, std::vector<ClaimedLoss> losses
) {
    const Signature signature = key.sign(losses_claim(task, losses).view());
    return {.task = task, .account = key.account(), .losses = std::move(losses), .signature = signature};
}

std::string losses_target(const contracts::TaskId& task) { return "/losses/" + to_hex(task.view()); }

std::string to_json(const ClaimedLosses& losses) {
    nlohmann::ordered_json out = {
        {"task", to_hex(losses.task.view())},
        {"account", crypto::to_address(losses.account)},
        {"losses", nlohmann::ordered_json::array()},
        {"signature", to_hex(losses.signature.view())}};
    for (const ClaimedLoss& each : losses.losses) {
        const float loss = std::bit_cast<float>(each.loss);
        out["losses"].push_back(
            {{"segment", each.segment},
             {"step", each.step},
             {"loss", std::isfinite(loss) ? nlohmann::ordered_json(loss) : nlohmann::ordered_json()},
             {"bits", each.loss}}
        );
    }
    return out.dump();
}

bool is_signed(const ClaimedLosses& losses) {
    // The signature is of the bits: the readable number beside them is not read.
    return crypto::verify_signature(losses.account, losses_claim(losses.task, losses.losses).view(), losses.signature);
}

std::optional<ClaimedLosses> decode_losses(std::string_view text) {
    auto out = decode_unsigned_losses(text);
    return out && is_signed(*out) ? std::move(out) : std::nullopt;
}

std::optional<ClaimedLosses> decode_unsigned_losses(std::string_view text) {
    if (text.size() > kMaxLossesBytes) {
        return std::nullopt;
    }
    try {
        const auto json = nlohmann::json::parse(text);
        const auto task = fixed_from_hex<contracts::TaskId>(json.at("task").get<std::string>());
        const auto account = crypto::decode_address(json.at("account").get<std::string>());
        const auto signature = fixed_from_hex<Signature>(json.at("signature").get<std::string>());
        if (!task || !account || !signature) {
            return std::nullopt;
        }
        ClaimedLosses out{.task = *task, .account = *account, .losses = {}, .signature = *signature};
        for (const auto& each : json.at("losses")) {
            out.losses.push_back(
                {.segment = each.at("segment").get<std::uint32_t>(),
                 .step = each.at("step").get<std::uint64_t>(),
                 .loss = each.at("bits").get<std::uint32_t>()}
            );
        }
        return out;
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

}  // namespace assay::artifacts
