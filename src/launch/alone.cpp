#include "launch/bootstrap.h"

namespace edgewire::launch {

Bootstrap::Bootstrap(Member self) : self_(std::move(self)), health_(std::make_unique<transport::Health>()) {}

Bootstrap::~Bootstrap() = default;

namespace {

Member only_member() {
  Member self;
  self.secret.assign(32, '\0');  // no other process shares it
  return self;
}

class Alone final : public Bootstrap {
 public:
  Alone() : Bootstrap(only_member()) {}
  std::vector<std::string> allgather(const std::string& mine) override { return {mine}; }
  std::vector<std::string> alltoall(std::span<const std::string> to) override {
    return {to.begin(), to.end()};
  }
  std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
  void abort(const std::string& message) noexcept override { health_->fail(-1, message); }
  void finish() override {}
};

}  // namespace

std::unique_ptr<Bootstrap> alone() { return std::make_unique<Alone>(); }

}  // namespace edgewire::launch
