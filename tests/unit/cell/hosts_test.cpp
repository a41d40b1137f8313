// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <doctest/doctest.h>

#include <client/http/http.hpp>
#include <verifier/cell/hosts.hpp>
#include <verifier/cell/lead.hpp>
#include <verifier/cell/meeting.hpp>
#include <verifier/cell/member.hpp>
#include <verifier/engine/cell/nccl_collective.hpp>

using namespace assay::cell;

namespace {

Hosts read(const std::string& text) {
    const auto path = std::filesystem::temp_directory_path() / ("hosts-" + std::to_string(::getpid()) + ".toml");
    std::ofstream(path) << text;
    try {
        Hosts out = read_hosts(path);
        std::filesystem::remove(path);
        return out;
    } catch (...) {
        std::filesystem::remove(path);
        throw;
    }
}

const std::string kHead = "lead = \"127.0.0.1:4100\"\nsecret = \"sixteen letters!\"\n";

}  // namespace

TEST_CASE("the file of a cell's machines is read") {
    const Hosts hosts = read(kHead + "[[members]]\nname = \"left\"\naddress = \"10.0.0.2\"\n");
    CHECK(hosts.lead_url() == "http://127.0.0.1:4100");
    REQUIRE(hosts.find("left") != nullptr);
    CHECK(hosts.find("left")->address == "10.0.0.2");
    CHECK(hosts.find("right") == nullptr);
    CHECK(hosts.links == Links::kTls);
    const std::string member = "[[members]]\nname = \"left\"\naddress = \"10.0.0.2\"\n";
    CHECK(read(kHead + "links = \"plain\"\n" + member).links == Links::kPlain);
    CHECK(read(kHead + "links = \"nccl\"\n" + member).links == Links::kNccl);
}

TEST_CASE("a file of machines that is wrong is refused with the key that is") {
    const std::string member = "[[members]]\nname = \"left\"\naddress = \"10.0.0.2\"\n";
    CHECK_THROWS_WITH(read(member), doctest::Contains("\"lead\" is missing"));
    CHECK_THROWS_WITH(read("lead = \"127.0.0.1\"\n" + member), doctest::Contains("is no ADDRESS:PORT"));
    CHECK_THROWS_WITH(
        read("lead = \"127.0.0.1:4100\"\nsecret = \"short\"\n" + member), doctest::Contains("at least 16 characters")
    );
    CHECK_THROWS_WITH(read(kHead), doctest::Contains("no [[members]] table"));
    CHECK_THROWS_WITH(read(kHead + member + member), doctest::Contains("names differ"));
    CHECK_THROWS_WITH(read(kHead + "[[members]]\nname = \"left\"\n"), doctest::Contains("\"address\" is missing"));
    CHECK_THROWS_WITH(
        read(kHead + "links = \"none\"\n" + member), doctest::Contains("none of \"tls\", \"plain\" and \"nccl\"")
    );
    CHECK_THROWS_WITH(read("lead = "), doctest::Contains("hosts-"));
}

TEST_CASE("each machine of a cell has a GPU of its own") {
    Hosts hosts = read(
        kHead +
        "[[members]]\nname = \"a\"\naddress = \"127.0.0.1\"\n[[members]]\nname = \"b\"\naddress = \"10.0.0.2\"\n"
        "[[members]]\nname = \"c\"\naddress = \"127.0.0.1\"\n[[members]]\nname = \"d\"\naddress = \"10.0.0.2\"\n"
    );
    CHECK(gpu_of(hosts, "", "cpu") == 0);
    CHECK(gpu_of(hosts, "a", "cuda") == 1);  // the lead has the same address
    CHECK(gpu_of(hosts, "b", "cpu") == 0);
    CHECK(gpu_of(hosts, "c", "cpu") == 2);
    CHECK(gpu_of(hosts, "d", "cpu") == 1);
    CHECK(gpu_of(hosts, "", "cuda:3") == 3);
    CHECK(gpu_of(hosts, "d", "cuda:0") == 0);
    for (const char* device : {"cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cuda:99999999999"}) {
        CHECK_THROWS_WITH(gpu_of(hosts, "a", device), doctest::Contains("cuda:0 is the first one"));
    }
    CHECK_THROWS_WITH(gpu_of(hosts, "e", "cpu"), doctest::Contains("no member \"e\""));
}

TEST_CASE("a machine that cannot exchange by NCCL says so before it meets others") {
    if (assay::engine::nccl_support().gpus > 0) {
        MESSAGE("left out: this machine has a GPU");
        return;
    }
    const Hosts hosts = read(
        "lead = \"127.0.0.1:0\"\nsecret = \"sixteen letters!\"\nlinks = \"nccl\"\n"
        "[[members]]\nname = \"left\"\naddress = \"127.0.0.1\"\n"
    );
    const std::string why =
        "links = \"nccl\": " + assay::engine::nccl_refusal(assay::engine::nccl_support(), 0).value();
    LeadOptions options;
    options.hosts = hosts;
    CHECK_THROWS_WITH(make_lead(options), doctest::Contains(why.c_str()));
    const std::atomic<bool> stop{true};
    CHECK_THROWS_WITH(run_member({.hosts = hosts, .name = "left", .engine = {}}, stop), doctest::Contains(why.c_str()));
}

TEST_CASE("a lead lets in its members alone, and only with the secret") {
    Hosts hosts = read(
        "lead = \"127.0.0.1:0\"\nsecret = \"sixteen letters!\"\n[[members]]\nname = \"left\"\naddress = \"127.0.0.1\"\n"
    );
    Meeting meeting({"left"}, by_secret(hosts.secret).second);
    const assay::http::HttpServer server({}, [&](const assay::http::HttpRequest& request) {
        return meeting.answer(request.target, request);
    });
    hosts.lead_port = server.port();
    const MeetingPlace place = place_of(hosts);
    CHECK(ask_for_seat(place, "left", 0).session == 0);
    CHECK(meeting.waiting() == std::vector<std::string>{"left"});
    CHECK_THROWS_WITH(ask_for_seat(place, "right", 0), doctest::Contains("is no member of this cell"));
    Hosts stranger = hosts;
    stranger.secret = "another secret!!";
    CHECK_THROWS_WITH(ask_for_seat(place_of(stranger), "left", 0), doctest::Contains("the secret is another"));
    CHECK_THROWS(words_of(place_of(stranger), 1, std::chrono::milliseconds(100))->set("key", {}));

    const std::uint64_t session = meeting.open({"left"}, std::chrono::milliseconds(1'000));
    CHECK(ask_for_seat(place, "left", 0).session == session);
    CHECK(ask_for_seat(place, "left", 0).rank == 1);
    CHECK(ask_for_seat(place, "left", session).session == 0);  // it has been there
    const auto words = words_of(place, session, std::chrono::milliseconds(1'000));
    words->set("a", assay::Bytes{1, 2});
    CHECK(meeting.words(std::chrono::milliseconds(1'000))->get("a") == assay::Bytes{1, 2});
    CHECK_THROWS(words_of(place, session + 1, std::chrono::milliseconds(100))->set("a", {}));
}
