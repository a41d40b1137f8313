// SPDX-License-Identifier: Apache-2.0
#include <verifier/stores/s3_answers.hpp>

#include <charconv>
#include <chrono>
#include <exception>
#include <sstream>
#include <utility>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>

namespace assay::stores {
namespace {

namespace pt = boost::property_tree;
constexpr std::size_t kAnswerMax = 8U << 20U;
/// Elements within elements that any of the answers has, with room for more: the parser calls itself for each.
constexpr std::size_t kDepthMax = 64;

bool is_shallow(const std::string& xml) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i + 1 < xml.size(); ++i) {
        if (xml[i] == '<' && xml[i + 1] == '/') {
            depth -= depth > 0 ? 1 : 0;
        } else if (xml[i] == '<' && xml[i + 1] != '?' && xml[i + 1] != '!' && ++depth > kDepthMax) {
            return false;
        } else if (xml[i] == '/' && xml[i + 1] == '>') {
            depth -= depth > 0 ? 1 : 0;
        }
    }
    return true;
}

/// The root element if it has this name.
std::optional<pt::ptree> root_of(const std::string& xml, const std::string& name) {
    if (xml.size() > kAnswerMax || !is_shallow(xml)) {
        return std::nullopt;
    }
    try {
        std::istringstream in(xml);
        pt::ptree tree;
        pt::read_xml(in, tree, pt::xml_parser::trim_whitespace);
        const auto found = tree.find(name);
        return found == tree.not_found() ? std::nullopt : std::optional(found->second);
    } catch (const pt::xml_parser_error&) {
        return std::nullopt;
    }
}

/// The number that these digits are.
std::optional<unsigned> number_at(const std::string& text, std::size_t at, std::size_t digits) {
    if (at + digits > text.size()) {
        return std::nullopt;
    }
    unsigned out = 0;
    const char* const begin = text.data() + at;
    const auto [end, error] = std::from_chars(begin, begin + digits, out);
    return error == std::errc() && end == begin + digits ? std::optional(out) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> decode_s3_time(const std::string& text) {
    // 2026-11-28T22:30:00, and what comes behind it
    const auto year = number_at(text, 0, 4);
    const auto month = number_at(text, 5, 2);
    const auto day = number_at(text, 8, 2);
    const auto hour = number_at(text, 11, 2);
    const auto minute = number_at(text, 14, 2);
    const auto second = number_at(text, 17, 2);
    if (!year || !month || !day || !hour || !minute || !second || text[4] != '-' || text[7] != '-' || text[10] != 'T' ||
        text[13] != ':' || text[16] != ':') {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{
        std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month), std::chrono::day(*day)};
    if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) {
        return std::nullopt;
    }
    const auto at = std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
                    std::chrono::seconds(*second);
    const auto count = std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
    return count < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(count));
}

std::optional<S3Listing> decode_s3_listing(const std::string& xml) {
    const auto root = root_of(xml, "ListBucketResult");
    if (!root) {
        return std::nullopt;
    }
    S3Listing out;
    for (const auto& [name, item] : *root) {
        if (name != "Contents") {
            continue;
        }
        const auto size = item.get_optional<std::uint64_t>("Size");
        if (!size) {
            return std::nullopt;
        }
        out.objects.push_back(
            {.key = item.get("Key", ""), .size_bytes = *size, .written_s = decode_s3_time(item.get("LastModified", ""))}
        );
    }
    if (root->get("IsTruncated", "false") == "true") {
        out.next = root->get("NextContinuationToken", "");
        if (out.next.empty()) {
            return std::nullopt;
        }
    }
    return out;
}

std::optional<std::string> decode_s3_upload_id(const std::string& xml) {
    const auto root = root_of(xml, "InitiateMultipartUploadResult");
    std::string id = root ? root->get("UploadId", "") : "";
    return id.empty() ? std::nullopt : std::optional(std::move(id));
}

std::optional<std::vector<S3OpenUpload>> decode_s3_uploads(const std::string& xml) {
    const auto root = root_of(xml, "ListMultipartUploadsResult");
    if (!root) {
        return std::nullopt;
    }
    std::vector<S3OpenUpload> out;
    for (const auto& [name, item] : *root) {
        if (name == "Upload") {
            out.push_back(
                {.key = item.get("Key", ""),
                 .id = item.get("UploadId", ""),
                 .begun_s = decode_s3_time(item.get("Initiated", "")).value_or(0)}
            );
        }
    }
    return out;
}

std::optional<S3Parts> decode_s3_parts(const std::string& xml) {
    const auto root = root_of(xml, "ListPartsResult");
    if (!root) {
        return std::nullopt;
    }
    S3Parts out;
    for (const auto& [name, item] : *root) {
        if (name != "Part") {
            continue;
        }
        const auto number = item.get_optional<std::uint64_t>("PartNumber");
        const auto size = item.get_optional<std::uint64_t>("Size");
        if (!number || !size) {
            return std::nullopt;
        }
        out.parts.push_back({.number = *number, .size_bytes = *size, .tag = item.get("ETag", "")});
    }
    if (root->get("IsTruncated", "false") == "true") {
        const auto next = root->get_optional<std::uint64_t>("NextPartNumberMarker");
        if (!next) {
            return std::nullopt;
        }
        out.next = *next;
    }
    return out;
}

std::optional<std::string> decode_s3_error(const std::string& xml) {
    const auto root = root_of(xml, "Error");
    if (!root) {
        return std::nullopt;
    }
    return root->get("Code", "") + ": " + root->get("Message", "");
}

}  // namespace assay::stores
