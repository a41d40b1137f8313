// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <tools/cli/common/table.hpp>

namespace assay::cli {
namespace {

TEST_CASE("tables align their columns") {
    Table table({"NAME", "N>"});
    CHECK(table.empty());
    table.add({"a", "10"});
    table.add({"long", "7"});
    CHECK(table.text() == "NAME   N\na     10\nlong   7\n");
}

TEST_CASE("the node's grains are shown in ASY") {
    CHECK(amount_text("1500000000") == "1.5 ASY");
    CHECK(amount_text(nullptr) == "-");
    CHECK(amount_text("rubbish") == "rubbish");
}

}  // namespace
}  // namespace assay::cli
