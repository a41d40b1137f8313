// SPDX-License-Identifier: Apache-2.0
#include <node/state/fault_file_system.hpp>

#include <mutex>
#include <string>
#include <utility>

#include <rocksdb/file_system.h>

namespace assay::storage {
namespace {

class Device {
  public:
    explicit Device(std::function<Fault(std::uint64_t)> fault) : fault_(std::move(fault)) {}

    Fault next() {
        const std::lock_guard lock(mutex_);
        if (dead_) {
            return Fault::kFail;
        }
        const Fault fault = fault_(count_++);
        dead_ = fault != Fault::kNone;
        return fault;
    }

  private:
    std::mutex mutex_;
    std::function<Fault(std::uint64_t)> fault_;
    std::uint64_t count_ = 0;
    bool dead_ = false;
};

rocksdb::IOStatus device_gone() { return rocksdb::IOStatus::IOError("injected fault"); }

class FaultFile final : public rocksdb::FSWritableFileOwnerWrapper {
  public:
    FaultFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<Device> device)
        : FSWritableFileOwnerWrapper(std::move(file)), device_(std::move(device)) {}

    rocksdb::IOStatus Append(
        const rocksdb::Slice& data, const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug
    ) override {
        const Fault fault = device_->next();
        if (fault == Fault::kTear) {
            static_cast<void>(
                FSWritableFileOwnerWrapper::Append(rocksdb::Slice(data.data(), data.size() / 2), options, debug)
            );
        }
        return fault == Fault::kNone ? FSWritableFileOwnerWrapper::Append(data, options, debug) : device_gone();
    }
    rocksdb::IOStatus Append(
        const rocksdb::Slice& data, const rocksdb::IOOptions& options, const rocksdb::DataVerificationInfo&,
        rocksdb::IODebugContext* debug
    ) override {
        return Append(data, options, debug);
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
        return device_->next() == Fault::kNone ? FSWritableFileOwnerWrapper::Sync(options, debug) : device_gone();
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
        return device_->next() == Fault::kNone ? FSWritableFileOwnerWrapper::Fsync(options, debug) : device_gone();
    }

  private:
    std::shared_ptr<Device> device_;
};

class FaultFileSystem final : public rocksdb::FileSystemWrapper {
  public:
    explicit FaultFileSystem(std::function<Fault(std::uint64_t)> fault)
        : FileSystemWrapper(rocksdb::FileSystem::Default()), device_(std::make_shared<Device>(std::move(fault))) {}

    const char* Name() const override { return "assay-fault"; }

    rocksdb::IOStatus NewWritableFile(
        const std::string& name, const rocksdb::FileOptions& options, std::unique_ptr<rocksdb::FSWritableFile>* out,
        rocksdb::IODebugContext* debug
    ) override {
        std::unique_ptr<rocksdb::FSWritableFile> file;
        auto status = FileSystemWrapper::NewWritableFile(name, options, &file, debug);
        if (status.ok()) {
            *out = std::make_unique<FaultFile>(std::move(file), device_);
        }
        return status;
    }

  private:
    std::shared_ptr<Device> device_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> make_fault_env(std::function<Fault(std::uint64_t)> fault) {
    return rocksdb::NewCompositeEnv(std::make_shared<FaultFileSystem>(std::move(fault)));
}

}  // namespace assay::storage
