// SPDX-License-Identifier: Apache-2.0
#include <client/http/curl_call.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

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

/// OpenSSL's place for whoever decides about the other side's certificate alone.
int verify_by_tunnel(X509_STORE_CTX* chain, void* tunnel) noexcept {
    unsigned char* der = nullptr;
    try {
        const int size = i2d_X509(X509_STORE_CTX_get0_cert(chain), &der);
        const Bytes certificate(der, der + std::max(size, 0));
        OPENSSL_free(der);
        const bool is_admitted = static_cast<const HttpTunnel*>(tunnel)->admits(certificate);
        X509_STORE_CTX_set_error(chain, is_admitted ? X509_V_OK : X509_V_ERR_CERT_UNTRUSTED);
        return is_admitted ? 1 : 0;
    } catch (const std::exception&) {
        X509_STORE_CTX_set_error(chain, X509_V_ERR_OUT_OF_MEM);
        return 0;
    }
}

CURLcode on_tls_context(CURL*, void* context, void* tunnel) {
    SSL_CTX_set_cert_verify_callback(static_cast<SSL_CTX*>(context), &verify_by_tunnel, tunnel);
    return CURLE_OK;
}

}  // namespace

void configure_tunnel(CURL* easy, const HttpTunnel& tunnel) {
    set(easy, CURLOPT_PROXY, ("http://" + tunnel.relay).c_str());
    set(easy, CURLOPT_NOPROXY, "");
    set(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_3));
    // The tunnel's rule takes the place of authorities and of the comparison of names.
    set(easy, CURLOPT_CAINFO, nullptr);
    set(easy, CURLOPT_CAPATH, nullptr);
    set(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    set(easy, CURLOPT_SSL_CTX_FUNCTION, &on_tls_context);
    set(easy, CURLOPT_SSL_CTX_DATA, const_cast<HttpTunnel*>(&tunnel));
}

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
