// SPDX-License-Identifier: Apache-2.0
#include <client/http/curl_call.hpp>

#include <algorithm>
#include <new>

namespace assay::http {

namespace {

const char* data_of(ByteView bytes) { return reinterpret_cast<const char*>(bytes.data()); }

void sign(CURL* easy, const HttpSigning& signing, List& headers) {
    set(easy, CURLOPT_AWS_SIGV4, ("aws:amz:" + signing.region + ":s3").c_str());
    set(easy, CURLOPT_USERNAME, signing.key_id.c_str());
    set(easy, CURLOPT_PASSWORD, signing.secret.c_str());
    if (!signing.payload_sha256.empty()) {
        append(headers, "x-amz-content-sha256: " + signing.payload_sha256);
    }
    if (!signing.session_token.empty()) {
        append(headers, "x-amz-security-token: " + signing.session_token);
    }
}

}  // namespace

void initialise_curl() {
    static const CURLcode kDone = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (kDone != CURLE_OK) {
        throw NetError(std::string("libcurl cannot be initialised: ") + curl_easy_strerror(kDone));
    }
}

void configure_call(CURL* easy, const HttpCall& call, List& headers, Form& form) {
    for (const auto& [name, value] : call.fields) {
        std::string line = name;
        line += ": ";
        line += value;
        append(headers, line);
    }
    if (call.is_form) {
        form.reset(curl_mime_init(easy));
        curl_mimepart* part = form ? curl_mime_addpart(form.get()) : nullptr;
        if (part == nullptr || curl_mime_data(part, data_of(call.body), call.body.size()) != CURLE_OK ||
            curl_mime_name(part, "data") != CURLE_OK || curl_mime_filename(part, "data") != CURLE_OK) {
            throw std::bad_alloc();
        }
        set(easy, CURLOPT_MIMEPOST, form.get());
    } else if (call.method == "POST" || call.method == "PUT") {
        set(easy, CURLOPT_POST, 1L);
        set(easy, CURLOPT_POSTFIELDS, call.body.empty() ? "" : data_of(call.body));
        set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    }
    if (call.method != "GET" && call.method != "POST") {
        set(easy, CURLOPT_CUSTOMREQUEST, call.method.c_str());
    }
    if (call.signing) {
        sign(easy, *call.signing, headers);
    }
}

std::vector<std::pair<std::string, std::string>> fields_of(CURL* easy) {
    std::vector<std::pair<std::string, std::string>> out;
    curl_header* field = nullptr;
    while ((field = curl_easy_nextheader(easy, CURLH_HEADER, -1, field)) != nullptr) {
        std::string name = field->name;
        std::transform(name.begin(), name.end(), name.begin(), [](char c) {
            return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        out.emplace_back(std::move(name), field->value);
    }
    return out;
}

}  // namespace assay::http
