// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include <verifier/stores/s3_answers.hpp>

namespace assay::stores {
namespace {

TEST_CASE("lists of S3 services are read, and what is none is refused") {
    const auto listing = decode_s3_listing(
        "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        "<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b=</NextContinuationToken>"
        "<Contents><Key>p/1</Key><LastModified>1970-01-02T00:00:01.000Z</LastModified><Size>7</Size></Contents>"
        "</ListBucketResult>"
    );
    REQUIRE(listing);
    CHECK(listing->next == "a&b=");
    CHECK(listing->objects.at(0).key == "p/1");
    CHECK(listing->objects.at(0).size_bytes == 7);
    CHECK(listing->objects.at(0).written_s == 86'401);
    CHECK(!decode_s3_listing("<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>"));
    CHECK(!decode_s3_listing("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"));
    CHECK(!decode_s3_listing("<Error/>"));
    CHECK(!decode_s3_listing("<ListBucketResult>"));
    CHECK(!decode_s3_listing(""));
}

TEST_CASE("answers that are nested deeper than any service's are refused before they are read") {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) {
        deep += "<a>";
    }
    CHECK(!decode_s3_listing(deep));
    CHECK(!decode_s3_error(deep));
}

TEST_CASE("open uploads and their parts are read, and what is none is refused") {
    const auto uploads = decode_s3_uploads(
        "<ListMultipartUploadsResult><Upload><Key>k</Key><UploadId>i</UploadId><Initiated>1970-01-01T00:01:00.000Z"
        "</Initiated></Upload><Upload><Key>l</Key></Upload></ListMultipartUploadsResult>"
    );
    REQUIRE(uploads);
    REQUIRE(uploads->size() == 2);
    CHECK(uploads->front().key == "k");
    CHECK(uploads->front().id == "i");
    CHECK(uploads->front().begun_s == 60);
    CHECK(uploads->back().begun_s == 0);
    CHECK(!decode_s3_uploads("<ListBucketResult/>"));
    const auto parts = decode_s3_parts(
        "<ListPartsResult><Part><PartNumber>3</PartNumber><ETag>&quot;t&quot;</ETag><Size>9</Size></Part>"
        "<IsTruncated>true</IsTruncated><NextPartNumberMarker>3</NextPartNumberMarker></ListPartsResult>"
    );
    REQUIRE(parts);
    CHECK(parts->parts.at(0).number == 3);
    CHECK(parts->parts.at(0).size_bytes == 9);
    CHECK(parts->parts.at(0).tag == "\"t\"");
    CHECK(parts->next == 3);
    CHECK(!decode_s3_parts("<ListPartsResult><Part><PartNumber>x</PartNumber><Size>1</Size></Part></ListPartsResult>"));
    CHECK(!decode_s3_parts("<ListPartsResult><IsTruncated>true</IsTruncated></ListPartsResult>"));
}

TEST_CASE("uploads, errors and times of S3 services are read") {
    CHECK(
        decode_s3_upload_id("<InitiateMultipartUploadResult><UploadId>x y</UploadId></InitiateMultipartUploadResult>"
        ) == "x y"
    );
    CHECK(!decode_s3_upload_id("<InitiateMultipartUploadResult/>"));
    CHECK(decode_s3_error("<Error><Code>NoSuchBucket</Code><Message>none</Message></Error>") == "NoSuchBucket: none");
    CHECK(!decode_s3_error("<Other/>"));
    CHECK(decode_s3_time("2026-02-29T00:00:00Z") == std::nullopt);
    CHECK(decode_s3_time("soon") == std::nullopt);
}

}  // namespace
}  // namespace assay::stores
