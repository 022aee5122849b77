// Jobs of a host list; their processes are threads here.
#include "launch/hosts.h"
#include "launch/start.h"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "growing_timeout.h"
#include "own_address.h"
#include "stderr_capture.h"
#include "transport/sockets.h"

namespace edgewire::launch {
namespace {

/// A fresh directory with the files of a job.
class Files {
 public:
  Files() {
    char name[] = "/tmp/edgewire-hosts-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~Files() { std::filesystem::remove_all(directory_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    std::string path = directory_ + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

 private:
  std::string directory_;
};

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// The options of each rank of a job of `size` processes on this host.
std::vector<StartOptions> ranks(const Files& files, int size) {
  std::string lines;
  for (int p = 0; p < size; ++p) lines += fmt::format("{}:{}\n", own_address(), own_port());
  StartOptions options;
  options.hosts_file = files.write("hosts", lines);
  options.secret_file = files.write("secret", "a secret of enough bytes\n");
  options.start_timeout_s = options.peer_timeout_s = 60;
  std::vector<StartOptions> all(static_cast<std::size_t>(size), options);
  for (int p = 0; p < size; ++p) all[static_cast<std::size_t>(p)].rank = p;
  return all;
}

TEST_CASE("a hosts file gives address and port of each rank") {
  const Files files;
  const auto hosts = read_hosts(files.write("hosts",
                                            "# the lab\n\n node0  # first\nnode1:9000\r\nnode0\n10.0.0.3\n"
                                            "[fe80::1]:8000\nfe80::2\n[fe80::3]"),
                                7471);
  const std::vector<std::pair<std::string, int>> expected{
      {"node0", 7471},   {"node1", 9000},   {"node0", 7472},  {"10.0.0.3", 7471},
      {"fe80::1", 8000}, {"fe80::2", 7471}, {"fe80::3", 7471}};
  REQUIRE(hosts.size() == expected.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    CHECK(hosts[i].address == expected[i].first);
    CHECK(hosts[i].port == expected[i].second);
  }
}

TEST_CASE("a bad hosts file is refused with its line") {
  const Files files;
  const auto refusal = [&](const std::string& text) {
    const std::string path = files.write("hosts", text);
    const std::string message = message_of([&] { read_hosts(path, 7471); });
    return message.substr(std::min(message.size(), path.size()));
  };
  CHECK(refusal("") == ": it lists no hosts");
  CHECK(refusal("a\nb:0\n") == ": line 2: not a port: '0'");
  CHECK(refusal("b:70000\n") == ": line 1: not a port: '70000'");
  CHECK(refusal("b:x\n") == ": line 1: not a port: 'x'");
  CHECK(refusal(":80\n") == ": line 1: no address in ':80'");
  CHECK(refusal("[::1\n") == ": line 1: no closing bracket");
  CHECK(refusal("a slots=4\n") == ": line 1: 'slots=4' after the address");
  CHECK(refusal("a:1\na:1\n") == ": line 2: a port 1 is listed twice");
  CHECK(message_of([&] { read_hosts(files.path("none"), 1); }) ==
        files.path("none") + ": No such file or directory");
  CHECK(message_of([&] { read_hosts("/tmp", 1); }) == "/tmp: is a directory");
  CHECK(message_of([&] { read_hosts("/dev/zero", 1); }) == "/dev/zero: is not a regular file");
  const std::string fifo = files.path("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(message_of([&] { read_hosts(fifo, 1); }) == fifo + ": is not a regular file");
  const std::string large = files.write("large", "");
  std::filesystem::resize_file(large, std::uint64_t{1} << 40);
  CHECK(message_of([&] { read_hosts(large, 1); }) ==
        large + ": has 1099511627776 bytes; a list or secret has at most 1048576");
}

TEST_CASE("secrets come from a file that others cannot read or from the environment") {
  const Files files;
  const std::string good = load_secret(files.write("a", "a secret of enough bytes"));
  CHECK(good.size() == 32);
  CHECK(good == load_secret(files.write("b", "a secret of enough bytes\n")));
  CHECK(good != load_secret(files.write("c", "a secret of enough bytez")));
  CHECK(message_of([&] { load_secret(files.write("d", "a secret of enough bytes", 0644)); }) ==
        fmt::format("{0}: others can read or write this secret (chmod 600 {0} helps)", files.path("d")));
  for (const mode_t mode : {0640, 0620, 0602})
    CHECK(message_of([&] {
            load_secret(files.write("d", "a secret of enough bytes", mode));
          }).ends_with("helps)"));
  const std::string theirs = files.write("theirs", "a secret of enough bytes");
  if (chown(theirs.c_str(), 65534, 65534) == 0) {  // not all may give files away
    CHECK(message_of([&] { load_secret(theirs); }) ==
          theirs + ": this secret belongs to another user (use a copy of your own)");
  }
  CHECK(message_of([&] { load_secret(files.write("e", "short")); }) ==
        files.path("e") + ": a secret has at least 16 bytes");
  unsetenv("EDGEWIRE_SECRET");
  CHECK_THROWS_AS(load_secret(""), UsageError);
  setenv("EDGEWIRE_SECRET", std::string(64, 'a').c_str(), 1);
  CHECK(load_secret("") == std::string(32, '\xaa'));
  setenv("EDGEWIRE_SECRET", std::string(63, 'a').c_str(), 1);
  CHECK_THROWS_AS(load_secret(""), UsageError);
  unsetenv("EDGEWIRE_SECRET");
}

/// Takes these many calls at once and closes them all without a word.
void turn_away(std::size_t callers, const std::string& address, int port) {
  const auto listener = transport::listen_on(address, port);
  std::vector<transport::FileDescriptor> called;
  while (called.size() < callers) {
    pollfd event{listener.get(), POLLIN, 0};
    REQUIRE(poll(&event, 1, 60'000) == 1);
    std::string from;
    if (auto socket = transport::accept_from(listener, from)) called.push_back(std::move(socket));
  }
}

TEST_CASE("the processes of a host list find each other, also when the others call before rank 0 listens") {
  const Files files;
  const auto options = ranks(files, 4);
  std::vector<int> statuses(options.size(), -1);
  const auto join = [&](std::size_t p) {
    statuses[p] = start(options[p], [&](Bootstrap& bootstrap) {
      const auto all = bootstrap.allgather(
          fmt::format("{} of {} at {}", bootstrap.local_rank(), bootstrap.local_size(), bootstrap.address()));
      for (int q = 0; q < 4; ++q)
        if (all.at(static_cast<std::size_t>(q)) != fmt::format("{} of 4 at {}", q, own_address()))
          throw Error("wrong");
    });
  };
  std::vector<std::jthread> others;
  for (std::size_t p = 1; p < options.size(); ++p) others.emplace_back(join, p);
  turn_away(others.size(), own_address(), read_hosts(options[0].hosts_file, 1)[0].port);
  join(0);
  others.clear();
  for (const int status : statuses) CHECK(status == 0);
}

const std::string kWrongProof = "wrong secret, or the handshake was changed on its way";

TEST_CASE("a wrong secret is told on both sides and the job goes on") {
  const Files files;
  const auto options = ranks(files, 2);
  StartOptions stranger = options[1];
  stranger.secret_file = files.write("other", "another secret of enough bytes");
  StartOptions other_list = options[1];
  other_list.hosts_file = files.write(
      "three", fmt::format("{}127.0.0.9\n", own_address() + ":" +
                                                std::to_string(read_hosts(options[0].hosts_file, 1)[0].port) +
                                                "\n127.0.0.8\n"));
  StderrCapture capture;
  int status = -1;
  std::thread hub([&] { status = start(options[0], [](Bootstrap& bootstrap) { bootstrap.allgather(""); }); });
  const std::string message = message_of([&] { start(stranger, [](Bootstrap&) {}); });
  CHECK(message.starts_with("rank 0 at " + own_address() + " port"));
  CHECK(message.ends_with(": " + kWrongProof));
  CHECK(message_of([&] { start(other_list, [](Bootstrap&) {}); }).ends_with(": refused by the other side"));
  CHECK(start(options[1], [](Bootstrap& bootstrap) { bootstrap.allgather(""); }) == 0);
  hub.join();
  CHECK(status == 0);
  const std::string text = capture.text();
  CAPTURE(text);
  CHECK(text.find("edgewire: rank 0: refused 127.0.0.1 port") != text.npos);
  CHECK(text.find(": " + kWrongProof + "\n") != text.npos);
}

TEST_CASE("a process that does not come is named") {
  const Files files;
  auto options = ranks(files, 2);
  options[0].start_timeout_s = 0.3;
  CHECK(message_of([&] { start(options[0], [](Bootstrap&) {}); }) ==
        fmt::format("rank 1 ({}) has not connected within 0.3 s", own_address()));
  std::string message;
  REQUIRE(with_growing_timeout(0.3, [&](double timeout_s) {
    options[1].start_timeout_s = timeout_s;
    message = message_of([&] { start(options[1], [](Bootstrap&) {}); });
    return message.find("Connection refused") != message.npos;  // it has had the time to call
  }));
  CHECK(message.starts_with(fmt::format("rank 0 ({} port ", own_address())));
  CHECK(message.ends_with(
      fmt::format(") cannot be reached within {} s: Connection refused (from 127.0.0.1 on lo)",
                  options[1].start_timeout_s)));
}

TEST_CASE("a port in use and options that contradict the list are told") {
  const Files files;
  const auto options = ranks(files, 2);
  const int port = read_hosts(options[0].hosts_file, 1)[0].port;
  const auto taken = transport::listen_on(own_address(), port);
  CHECK(message_of([&] { start(options[0], [](Bootstrap&) {}); }) ==
        fmt::format("cannot listen on {} port {}: Address already in use", own_address(), port));
  StartOptions wrong = options[0];
  wrong.rank = 2;
  CHECK_THROWS_AS(start(wrong, [](Bootstrap&) {}), UsageError);
  wrong.rank = -1;
  CHECK_THROWS_AS(start(wrong, [](Bootstrap&) {}), UsageError);
  wrong.rank = 0;
  wrong.processes = 3;
  CHECK_THROWS_AS(start(wrong, [](Bootstrap&) {}), UsageError);
}

TEST_CASE("an address that other hosts cannot reach is told") {
  const Files files;
  StartOptions options = ranks(files, 2)[0];
  options.hosts_file = files.write("mixed", "localhost\n192.0.2.7\n");
  CHECK(message_of([&] { start(options, [](Bootstrap&) {}); }) ==
        options.hosts_file + ": localhost is a loopback address on its own host, so others cannot reach it");
}

TEST_CASE("options come from the environment where they are not given") {
  const Files files;
  const auto options = ranks(files, 1);
  setenv("EDGEWIRE_HOSTS", options[0].hosts_file.c_str(), 1);
  setenv("EDGEWIRE_SECRET_FILE", options[0].secret_file.c_str(), 1);
  setenv("EDGEWIRE_RANK", "0", 1);
  bool ran = false;
  CHECK(start({}, [&](Bootstrap& bootstrap) {
          ran = bootstrap.size() == 1 && bootstrap.allgather("x").size() == 1;
        }) == 0);
  CHECK(ran);
  setenv("EDGEWIRE_RANK", "zero", 1);
  CHECK(message_of([&] { start({}, [](Bootstrap&) {}); }) == "EDGEWIRE_RANK: not a number: 'zero'");
  for (const char* name : {"EDGEWIRE_HOSTS", "EDGEWIRE_SECRET_FILE", "EDGEWIRE_RANK"}) unsetenv(name);
}

}  // namespace
}  // namespace edgewire::launch
