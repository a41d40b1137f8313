// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <verifier/launcher/image.hpp>
#include <verifier/launcher/statement.hpp>

namespace assay::launcher {
namespace {

const std::string kId(64, '1');
const std::string kOne = "sha256:" + std::string(64, 'a');
const std::string kOther = "sha256:" + std::string(64, 'b');

std::string inspection(const std::string& labels) {
    return R"([{"Id":")" + kId + R"(","Digest":")" + kOne + R"(","RepoDigests":["localhost/x@)" + kOther +
           R"(","none"],"Labels":)" + labels + "}]";
}

}  // namespace

TEST_CASE("an image has the digests and labels that podman says it has") {
    const Image image = decode_inspection(inspection(R"({"cuda":"12.4","empty":""})"));
    CHECK(image.id == kId);
    CHECK(image.digests.size() == 2);
    CHECK(image.digests.contains(decode_digest(kOne)));
    CHECK(image.digests.contains(decode_digest(kOther)));
    CHECK(image.labels == std::map<std::string, std::string>{{"cuda", "12.4"}, {"empty", ""}});
    CHECK(decode_inspection(inspection("null")).labels.empty());
    CHECK(decode_list("[]").empty());
    CHECK(decode_list(inspection("{}")).size() == 1);
}

TEST_CASE("an answer of podman that describes no image is an error") {
    for (const std::string& wrong :
         {std::string(), std::string("{}"), std::string("[]"), std::string("[1]"), std::string("[{}]"),
          std::string(R"([{"Id":"12"}])"), std::string(R"([{"Id":12}])"),
          "[" + inspection("{}").substr(1, inspection("{}").size() - 2) + "," + inspection("{}").substr(1)}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(decode_inspection(wrong), ImageError);
    }
}

TEST_CASE("ENV-4: an image without the digest, or with another label, is not what was asked for") {
    const Image image = decode_inspection(inspection(R"({"cuda":"12.4","note":"a=b"})"));
    const auto asked = [](const std::string& digest, std::vector<std::string> labels) {
        return make_environment(decode_digest(digest), std::move(labels));
    };
    CHECK_NOTHROW(check_image(image, asked(kOne, {})));
    CHECK_NOTHROW(check_image(image, asked(kOther, {"cuda=12.4", "note=a=b"})));
    const std::string absent = "sha256:" + std::string(64, 'c');
    CHECK_THROWS_WITH_AS(check_image(image, asked(absent, {})), doctest::Contains(absent.c_str()), ImageError);
    CHECK_THROWS_WITH_AS(check_image(image, asked(kOne, {"cuda=12.5"})), doctest::Contains("cuda=12.4"), ImageError);
    CHECK_THROWS_WITH_AS(check_image(image, asked(kOne, {"rocm=6"})), doctest::Contains("no label rocm"), ImageError);
}

}  // namespace assay::launcher
