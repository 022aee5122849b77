#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/seconds.h"
#include "transport/handshake.h"

namespace edgewire::transport {

/// Makes many authenticated connections at the same time, both outgoing and incoming. So no slow or foreign
/// peer delays the others. Used at the start of a job (launch) and between its processes (tcp).
class Connector {
 public:
  struct Connection {
    Introduction introduction;
    FileDescriptor socket;
  };

  /// Makes a connector. `listener` outlives the connector. `welcome` says whether an authenticated caller is
  /// accepted; null: all are.
  Connector(const FileDescriptor& listener, const std::string& secret, Purpose purpose, int rank);

  std::function<bool(const Introduction&)> welcome;
  /// Called for each connection that was refused, with its address and the reason.
  std::function<void(const std::string& from, const std::string& reason)> on_refused;

  /// Calls the address again and again until the other side answers.
  void call(const std::string& address, int port, const Introduction& introduction);
  /// Waits up to `timeout` for an event and returns the connections that were made. Throws Error when a
  /// process that was called has another secret or refuses this one, or is of another version.
  std::vector<Connection> step(std::chrono::milliseconds timeout);
  /// Returns why the call to `rank` has not succeeded, with what the system said, the address and the way.
  std::string trouble(int rank) const;
  /// Returns for how many seconds something at the address of `rank` has taken our connections and said
  /// nothing, as a process that is stopped does. Returns 0 when it has spoken, or no connection was taken.
  double silence_s(int rank) const;

 private:
  struct Caller {
    Handshake handshake;
    std::string from;
    Clock::time_point deadline;
  };
  struct Call {
    std::string address;
    int port = 0;
    Introduction introduction;
    std::vector<Handshake> attempt;  ///< handshake under way, if there is one
    Clock::time_point next;          ///< deadline of the attempt, or time of the next one
    Clock::time_point begun{};       ///< time of the first of the attempts that nobody has answered; 0: none
    Clock::time_point taken{};       ///< time since when connections are taken and nothing is said; 0: not so
    std::string way;                 ///< way of the packets, see Outgoing
    std::string trouble;             ///< trouble of the last attempt that was answered, or failed at once
    bool done = false;
  };

  void accept_callers(Clock::time_point now);
  const Call* open_call(int rank) const;
  void start(Call& call, Clock::time_point now);
  bool drive(Caller& caller, Clock::time_point now, std::vector<Connection>& made);
  void drive(Call& call, Clock::time_point now, std::vector<Connection>& made);

  const FileDescriptor& listener_;
  std::string secret_;
  Purpose purpose_;
  int rank_;
  std::vector<Caller> callers_;
  std::vector<Call> calls_;
};

}  // namespace edgewire::transport
