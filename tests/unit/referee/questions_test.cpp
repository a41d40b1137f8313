// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <client/referee/call.hpp>
#include <client/referee/checks.hpp>
#include <contracts/state/history.hpp>
#include <core/codec/borsh.hpp>

using namespace assay;
using nlohmann::json;

TEST_CASE("the referee answers any bytes to any question with an object, and never aborts") {
    std::mt19937 random(12);
    for (std::uint32_t question = 0; question < 10; ++question) {
        for (std::size_t size = 0; size < 300; ++size) {
            Bytes bytes(size);
            for (std::uint8_t& byte : bytes) {
                byte = static_cast<std::uint8_t>(random() % 4 == 0 ? random() : 0);
            }
            const json answer = json::parse(referee::call(question, bytes));
            CHECK((answer.at("ok").get<bool>() || !answer.at("error").get<std::string>().empty()));
        }
    }
}

TEST_CASE("HIS-2: the referee takes a history for whole only if no record is missing, altered or out of its place") {
    referee::Extent extent;
    referee::HistoryArguments whole;
    for (std::uint32_t i = 0; i < 5; ++i) {
        contracts::HistoryRecord record;
        record.index = i;
        record.height = Height{7};
        record.event = contracts::history::Completed{};
        whole.records.push_back(codec::encode(record));
        extent.root = contracts::extend_history(extent.root, record);
    }
    extent.count = 5;
    whole.extent = extent;
    const auto verified = [](const referee::HistoryArguments& arguments) {
        return json::parse(referee::check_history(arguments)).at("verified").get<bool>();
    };
    CHECK(verified(whole));
    referee::HistoryArguments other = whole;
    other.records.pop_back();
    CHECK_FALSE(verified(other));
    other = whole;
    std::swap(other.records[1], other.records[2]);
    CHECK_FALSE(verified(other));
    other = whole;
    other.records[3].back() ^= 1U;
    CHECK_FALSE(verified(other));
    other = whole;
    other.records[4].clear();
    CHECK_FALSE(verified(other));
    other = whole;
    other.records.push_back(whole.records.back());
    CHECK_FALSE(verified(other));
    other = whole;
    other.extent->task.data[0] = 1;
    CHECK_FALSE(verified(other));
}
