#include "launch/bootstrap.h"

namespace edgewire::launch {
namespace {

class Alone final : public Bootstrap {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<std::string> allgather(const std::string& mine) override { return {mine}; }
  std::vector<std::string> alltoall(std::span<const std::string> to) override {
    return {to.begin(), to.end()};
  }
  std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
  void abort(const std::string& message) noexcept override { health_.fail(-1, message); }
  void finish() override {}
  transport::Health& health() override { return health_; }
  const std::string& secret() const override { return secret_; }
  int local_rank() const override { return 0; }
  int local_size() const override { return 1; }
  int local_leader() const override { return 0; }
  const std::vector<int>& nodes() const override { return nodes_; }
  const std::string& address() const override { return address_; }
  const std::vector<Interface>& wanted_interfaces() const override { return interfaces_; }
  std::uint64_t messages_sent() override { return 0; }

 private:
  transport::Health health_;
  std::string secret_ = std::string(32, '\0');  ///< nobody to share it with
  std::string address_ = "127.0.0.1";
  std::vector<int> nodes_;
  std::vector<Interface> interfaces_;
};

}  // namespace

std::unique_ptr<Bootstrap> alone() { return std::make_unique<Alone>(); }

}  // namespace edgewire::launch
