// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <verifier/stores/cid.hpp>
#include <verifier/stores/location.hpp>

namespace assay::stores {
namespace {

constexpr const char* kAddress = "assay1qvqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq6lwak4";
constexpr const char* kCid = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e";

TEST_CASE("ART-20: locations of every kind are decoded") {
    CHECK(*decode_location("http://h:4000/") == Location(ServerLocation{"http://h:4000"}));
    CHECK(*decode_location("dir:/data/store/") == Location(DirectoryLocation{"/data/store"}));
    CHECK(*decode_location("file:///data") == Location(DirectoryLocation{"/data"}));
    CHECK(*decode_location("s3://bucket") == Location(S3Location{.bucket = "bucket"}));
    const Location all = S3Location{
        .bucket = "my-bucket",
        .prefix = "tasks/1",
        .endpoint = "http://127.0.0.1:7070",
        .region = "eu-central-1",
        .style = S3Location::Style::kVirtual};
    CHECK(
        *decode_location("s3://my-bucket/tasks/1?endpoint=http://127.0.0.1:7070/&region=eu-central-1&style=virtual") ==
        all
    );
    const Location behind =
        RelayLocation{.relay = "relay.example.org:4010", .service = {.name = "solve", .account = AccountId{{3}}}};
    CHECK(*decode_location(std::string("relay://relay.example.org:4010/") + kAddress + "/solve") == behind);
    CHECK(*decode_location(encode_location(behind)) == behind);
    CHECK(*decode_location("ipfs://") == Location(IpfsLocation{}));
    const Location ipfs = IpfsLocation{.index = crypto::sha256(as_bytes("hello world")), .gateway = "https://g"};
    CHECK(*decode_location(std::string("ipfs://") + kCid + "?gateway=https://g") == ipfs);
    for (const Location& location : {all, ipfs, Location(IpfsLocation{.api = "http://a:5001"})}) {
        CHECK(*decode_location(encode_location(location)) == location);
    }
}

TEST_CASE("ART-20: what is no location is refused with the reason") {
    const auto why = [](const std::string& text) { return decode_location(text).error(); };
    CHECK(why("") == LocationError::kScheme);
    CHECK(why("ftp://h") == LocationError::kScheme);
    CHECK(why("s3://bucket http://h") == LocationError::kCharacters);
    CHECK(why("http://") == LocationError::kUrl);
    CHECK(why("http://key:secret@h") == LocationError::kUserName);
    CHECK(why("s3://key:secret@bucket") == LocationError::kUserName);
    CHECK(why("s3://bucket?endpoint=http://key:secret@h") == LocationError::kUserName);
    CHECK(why("dir:relative") == LocationError::kPath);
    CHECK(why("s3://no") == LocationError::kBucket);
    CHECK(why("s3://Bucket") == LocationError::kBucket);
    CHECK(why("s3://bucket/a//b") == LocationError::kPrefix);
    CHECK(why("s3://bucket/../b") == LocationError::kPrefix);
    CHECK(why("s3://bucket/a%2Fb") == LocationError::kPrefix);
    CHECK(why("s3://bucket?") == LocationError::kParameter);
    CHECK(why("s3://bucket?secret=x") == LocationError::kParameter);
    CHECK(why("s3://bucket?style=path&style=path") == LocationError::kParameter);
    CHECK(why("s3://bucket?style=path&") == LocationError::kParameter);
    CHECK(why("s3://bucket?region=US") == LocationError::kRegion);
    CHECK(why("s3://bucket?style=x") == LocationError::kStyle);
    CHECK(why("s3://bucket?endpoint=h") == LocationError::kUrl);
    CHECK(why("ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG") == LocationError::kCid);
    CHECK(why(std::string("ipfs://") + kCid + "/a") == LocationError::kCid);
    const std::string address = kAddress;
    CHECK(why("relay://h:1") == LocationError::kRelay);
    CHECK(why("relay://h:1/" + address) == LocationError::kRelay);
    CHECK(why("relay://h/" + address + "/solve") == LocationError::kRelay);
    CHECK(why("relay://u@h:1/" + address + "/solve") == LocationError::kRelay);
    CHECK(why("relay://h:1/" + address + "/a/b") == LocationError::kRelay);
    CHECK(why("relay://h:1/" + address.substr(1) + "/solve") == LocationError::kRelay);
}

TEST_CASE("ART-20: a record names several locations, which spaces separate") {
    CHECK(split_locations("").empty());
    CHECK(split_locations("a  b ") == std::vector<std::string>{"a", "b"});
    CHECK(split_locations("1 2 3 4 5 6 7 8 9").size() == kLocationsMax);
    CHECK(server_among("s3://bucket http://h:1 http://h:2") == "http://h:1");
    CHECK(server_among("s3://bucket").empty());
    CHECK(server_among("dir:/x relay://h:1/a/b") == "relay://h:1/a/b");
}

TEST_CASE("ART-22: a CID is that of a raw block's SHA-256") {
    const Hash256 hash = crypto::sha256(as_bytes("hello world"));
    CHECK(encode_cid(hash) == kCid);  // as other implementations of CIDs have it
    CHECK(decode_cid(kCid) == hash);
    std::string other = kCid;
    other.back() = 'f';  // bits that no byte has
    CHECK(!decode_cid(other));
    other = kCid;
    other[1] = 'b';  // another codec
    CHECK(!decode_cid(other));
    CHECK(!decode_cid(std::string(kCid) + "a"));
    CHECK(!decode_cid(""));
}

}  // namespace
}  // namespace assay::stores
