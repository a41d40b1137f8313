// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/ledger.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/random.hpp>
#include <core/merkle/tree.hpp>

namespace assay::group {
namespace {

constexpr const char* kExtension = ".told";

/// One message in a file, after its length as a u32. Its kind is the number of the first message of that kind, which
/// has the pieces.
struct LedgerLine {
    std::uint32_t kind = 0;
    std::vector<plan::MessagePiece> pieces;
    std::uint32_t author = 0;
    dispute::Statement statement;
    Signature signature;
    std::vector<Hash256> values;
    static constexpr auto fields() {
        return Fields<
            &LedgerLine::kind, &LedgerLine::pieces, &LedgerLine::author, &LedgerLine::statement, &LedgerLine::signature,
            &LedgerLine::values>{};
    }
};

std::string stem_of(std::uint64_t first_step) { return std::to_string(first_step) + "-"; }

/// A segment's files, the oldest first.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& directory, std::uint64_t first_step) {
    std::vector<std::filesystem::path> out;
    for (const auto& file : std::filesystem::directory_iterator(directory)) {
        const bool is_of_segment = file.path().filename().string().starts_with(stem_of(first_step));
        if (is_of_segment && file.path().extension() == kExtension) {
            out.push_back(file.path());
        }
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
        return std::pair(std::filesystem::last_write_time(a), a) < std::pair(std::filesystem::last_write_time(b), b);
    });
    return out;
}

std::vector<Hash256> leaves_of(const Told& told) {
    std::vector<Hash256> out;
    out.reserve(told.values.size());
    for (std::size_t i = 0; i < told.values.size(); ++i) {
        out.push_back(dispute::piece_leaf(told.piece(i)));
    }
    return out;
}

}  // namespace

dispute::Piece piece_of(const plan::MessagePiece& place, const Hash256& values) {
    return {
        .source = place.source,
        .index = place.index,
        .part = place.part,
        .hop = place.hop,
        .row = place.row,
        .col = place.col,
        .rows = place.rows,
        .cols = place.cols,
        .width = place.width,
        .values = values};
}

dispute::Piece Told::piece(std::size_t index) const { return piece_of(message->pieces[index], values[index]); }

dispute::StatedPiece Told::stated(std::size_t index) const {
    return {
        .statement = statement,
        .piece = piece(index),
        .index = static_cast<std::uint32_t>(index),
        .path = merkle::Tree(leaves_of(*this)).path(index)};
}

std::vector<std::shared_ptr<const Told>> read_told(std::istream& file, std::uint64_t bytes) {
    std::vector<std::shared_ptr<const Told>> out;
    std::vector<std::shared_ptr<const plan::MessagePieces>> kinds;
    for (Bytes head(sizeof(std::uint32_t)); file.read(reinterpret_cast<char*>(head.data()), sizeof(std::uint32_t));) {
        bytes -= std::min<std::uint64_t>(bytes, head.size());
        const auto size = codec::decode<std::uint32_t>(head).value();
        if (size > bytes) {
            break;
        }
        bytes -= size;
        Bytes line(size);
        if (!file.read(reinterpret_cast<char*>(line.data()), static_cast<std::streamsize>(line.size()))) {
            break;
        }
        auto entry = codec::decode<LedgerLine>(line);
        const bool is_first = entry && entry->kind == kinds.size();
        if (is_first) {
            kinds.push_back(std::make_shared<const plan::MessagePieces>(plan::MessagePieces{
                .pieces = std::move(entry->pieces), .zeros = {}, .bytes = 0}));
        }
        const bool is_whole = entry && entry->kind < kinds.size() && !entry->values.empty() &&
                              entry->values.size() == kinds[entry->kind]->pieces.size();
        if (!is_whole) {
            break;
        }
        auto told = std::make_shared<const Told>(Told{
            .author = entry->author,
            .statement = entry->statement,
            .signature = entry->signature,
            .message = kinds[entry->kind],
            .values = std::move(entry->values)});
        if (told->statement.pieces == told->values.size() &&
            merkle::root_of(leaves_of(*told)) == told->statement.root) {
            out.push_back(std::move(told));
        }
    }
    return out;
}

Ledger::Ledger(std::filesystem::path directory, std::uint64_t bytes_max)
    : directory_(std::move(directory)), bytes_max_(bytes_max) {
    std::array<std::uint8_t, 8> number{};
    crypto::fill_random(number);
    process_ = to_hex(number);
    std::filesystem::create_directories(directory_);
    for (const auto& file : std::filesystem::directory_iterator(directory_)) {
        bytes_ += file.path().extension() == kExtension ? file.file_size() : 0;
    }
}

// One file at a time: segments follow each other, and a task has many. A segment that begins again has another file,
// in which its messages are described anew.
Ledger::Writing& Ledger::writing(std::uint64_t first_step) {
    if (!writing_ || writing_->first_step != first_step) {
        std::string number = std::to_string(++files_);
        number.insert(0, 10 - number.size(), '0');  // so that names are in the order of the files
        Writing& out = writing_.emplace();
        out.first_step = first_step;
        out.path = directory_ / (stem_of(first_step) + process_ + "-" + number + kExtension);
        out.file.open(out.path, std::ios::binary);
    }
    return *writing_;
}

// Who reads a file stops at an entry that was written in part, so what comes next is for another file.
void Ledger::give_up() {
    writing_->file.close();
    std::error_code ignored;  // what stays takes room, and harms nobody
    if (writing_->bytes == 0) {
        std::filesystem::remove(writing_->path, ignored);
    } else {
        std::filesystem::resize_file(writing_->path, writing_->bytes, ignored);
    }
    writing_.reset();
}

void Ledger::add(std::uint64_t first_step, const Told& told) {
    const std::scoped_lock lock(mutex_);
    Writing& out = writing(first_step);
    const auto known = out.kinds.find(told.message);
    const bool is_new = known == out.kinds.end();
    const std::uint32_t kind = is_new ? static_cast<std::uint32_t>(out.kinds.size()) : known->second;
    LedgerLine entry{
        .kind = kind,
        .pieces = is_new ? told.message->pieces : std::vector<plan::MessagePiece>(),
        .author = told.author,
        .statement = told.statement,
        .signature = told.signature,
        .values = told.values};
    const Bytes line = codec::encode(entry);
    Bytes bytes = codec::encode(static_cast<std::uint32_t>(line.size()));
    append(bytes, line);
    if (bytes_ + bytes.size() > bytes_max_) {
        throw std::runtime_error(
            "the ledger of what other members stated is full: " + std::to_string(bytes_max_) +
            " bytes of one task; whoever can keep no more evidence takes part in no more steps of it"
        );
    }
    // A kind has a number once its first entry is written, since who reads the file counts those.
    out.kinds.emplace(told.message, kind);
    out.file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out.file.flush()) {
        give_up();
        throw std::runtime_error("the ledger of what other members stated cannot be written: " + directory_.string());
    }
    out.bytes += bytes.size();
    bytes_ += bytes.size();
}

std::vector<std::shared_ptr<const Told>> Ledger::told(std::uint64_t first_step) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::shared_ptr<const Told>> out;
    for (const std::filesystem::path& path : files_of(directory_, first_step)) {
        std::ifstream file(path, std::ios::binary);
        auto told = read_told(file, std::filesystem::file_size(path));
        out.insert(out.end(), std::make_move_iterator(told.begin()), std::make_move_iterator(told.end()));
    }
    return out;
}

std::uint64_t Ledger::bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
}

}  // namespace assay::group
