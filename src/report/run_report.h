// The report folder has reports on runs for people and programs: progress on the terminal, reports as JSON
// and as lines, and pages with tables and charts. This file has the report of a kernel run: the figures of
// all processes, as JSON for programs and as lines for people.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "report/answer.h"
#include "report/job_report.h"

namespace edgewire::report {

struct RunReport : JobReport {
  struct Iteration {
    double seconds = 0;                    ///< time of the slowest process
    std::uint64_t payload_bytes_sent = 0;  ///< bytes of payload sent, summed over processes
    std::uint64_t wire_bytes_sent = 0;
  };
  /// The work of a superstep, or of all supersteps of a run. All but the time is summed over processes.
  struct Work {
    std::uint64_t frontier = 0;      ///< number of vertices whose edges were followed
    std::uint64_t edges = 0;         ///< number of edges of these vertices
    std::uint64_t record_bytes = 0;  ///< bytes of the kernel's records, without anything around them
    std::uint64_t payload_bytes_sent = 0;
    double seconds = 0;  ///< time of the slowest process
    /// The bytes of records that had to be sent, where they were counted for it.
    std::optional<std::uint64_t> least_record_bytes{};

    /// Adds the work of a superstep, but not its time.
    void add(const Work& superstep);
  };
  /// A superstep of a kernel that follows only the edges of vertices that have changed.
  struct Superstep : Work {
    std::string phase;  ///< words that say which vertices and which edges
    std::uint64_t wire_bytes_sent = 0;
  };
  /// One of several runs, each from another source.
  struct Run : Work {
    std::string source;  ///< name of the source
    std::size_t supersteps = 0;
    Answer answer;
  };
  /// The least that all runs of a kernel had to send with this ownership, counted in sequence by other code.
  struct Least {
    std::uint64_t record_bytes = 0;
    std::string count;  ///< "exact", "at least" or "about"; empty: such a run is not counted
  };
  /// The least that this plan sends in each iteration.
  struct Bound {
    std::uint64_t values = 0;  ///< number of values, summed over processes
    /// Number of edges with no common end that were found between processes (strategy cover). No plan with
    /// this ownership sends fewer values. Else 0.
    std::uint64_t matching = 0;
    std::uint64_t payload_bytes = 0;  ///< bytes of payload, summed over processes
    std::uint64_t wire_bytes = 0;     ///< bytes with the link's headers; in shared memory the same as payload
    /// {line rate, seconds}: the time of the most loaded process at each line rate, sending and receiving at
    /// once, as TCP over Ethernet (MTU 1500).
    std::vector<std::pair<std::string, double>> seconds_at;
  };
  /// The figures of reads from disks, where edges are there.
  struct Disk {
    bool direct = false;  ///< whether reads passed by the page cache
    /// Bytes read from each folder, summed over processes.
    std::vector<std::uint64_t> bytes_read_of_devices;
    std::uint64_t stored_bytes = 0;   ///< bytes of all edges, summed over processes
    std::uint64_t bytes_read = 0;     ///< bytes read, summed over processes
    std::uint64_t bytes_written = 0;  ///< bytes written before the run, summed; 0: earlier runs wrote them
    double seconds = 0;               ///< time of all iterations or runs, of the slowest process
    double seconds_busy = 0;  ///< time in which the busiest device was busy; 0: the system does not tell
    double limit_bytes_per_second =
        0;  ///< rate of all processes when they only read, measured after the run; 0: unknown
    std::uint64_t block_bytes = 0;  ///< size of the reads that measured it
    std::uint64_t depth = 0;        ///< number of reads that each process had under way then
    double seconds_cores = 0;       ///< time in which the busiest process's cores computed
    double seconds_wire = 0;        ///< time that what a process sent, or received, takes at the line rate
    /// The use of disks, wire and cores over time: profile::Balance.
    std::shared_ptr<const Section> balance{};

    /// Returns the bytes read in a second, as a part of the limit.
    double share_of_limit() const;
    /// Returns the limit of the iterations, in a word. It is the disk if the disk had requests all the time
    /// and the cores were idle for a part of it, or if the run read nearly as fast as it can. It is "unknown"
    /// when the limit is, or when others disturbed its measurement: the run read faster.
    const char* limited_by() const;
  };
  /// The nodes of the pages of the processes' memory, summed over processes.
  struct Memory {
    std::string name;  ///< name of its content
    std::uint64_t bytes = 0;
    std::map<int, std::uint64_t> pages;  ///< pages by NUMA node of each host; empty: the system does not tell
    std::uint64_t elsewhere = 0;         ///< number of pages on other nodes than the workers that use them

    double elsewhere_share() const;
  };
  struct Verification {
    double max_relative_error = 0;  ///< largest error of any vertex whose value is a normal number
    double sum_error = 0;           ///< sum of all differences / sum of all values
    double limit = 0;               ///< limit of sum_error: what the limits of all vertices add up to
    double vertex_limit = 0;        ///< largest limit of any vertex, as max_relative_error
    double limit_share = 0;         ///< largest difference / limit of any vertex; passed: it is at most 1
    std::string vertex{};           ///< name of the vertex with the largest limit_share
    std::string rules{};            ///< rules that the limits follow from
    bool passed = false;
    std::string fault{};          ///< fault, for messages; empty: it has passed
    bool conclusive = true;       ///< whether the limit is below 1; else nothing passes
    std::uint64_t unchecked = 0;  ///< number of vertices with a normal value whose own limit is not below it
  };

  /// The way in which the result of a kernel has settled.
  struct Convergence {
    double change = 0;       ///< change of all values in the last iteration, in sum
    bool converged = false;  ///< whether values change by less than the tolerance that was asked for
    std::string text{};      ///< the same for people: a line
    std::string outlook{};   ///< effect of more iterations: a line, or empty
    std::string unmet{};     ///< the line that says why the tolerance was not reached; empty: it was
  };
  using Option = std::variant<bool, std::int64_t, double, std::string>;

  std::string graph;                                    ///< path of the graph
  std::vector<std::pair<std::string, Option>> options;  ///< options of the kernel, as they were given
  std::vector<Convergence> convergence;                 ///< one result or none
  std::string kernel, strategy, strategy_reason, wire, ownership, layout, layout_reason, order, order_reason;
  std::string plan_cache = "none";  ///< "written", "used" or "none"
  std::string plan_cache_note;      ///< reason why it was not used or not written, or empty
  std::string ownership_table;      ///< reasons of the choice of ownership: lines, or empty
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::vector<Iteration> iterations;
  bool has_supersteps = false;        ///< whether it has supersteps instead of iterations
  std::vector<Superstep> supersteps;  ///< supersteps of all runs
  std::vector<Run> runs;              ///< runs, where there are several
  double seconds_kernel = 0;  ///< time from the graph in memory to the result in memory, over all runs
  /// The time that the launching process took to convert its input from another format, before all others.
  std::optional<double> seconds_convert;
  std::uint64_t tile_bytes = 0;  ///< bytes read in one sweep, and written into bins, summed over processes
  /// Messages sent before the first iteration by the process with most of them.
  std::uint64_t setup_messages = 0;
  std::optional<Disk> disk;
  std::vector<Memory> memory;    ///< memory of kernels with iterations, by its content
  std::uint64_t page_bytes = 0;  ///< size of a page there
  bool several_nodes = false;    ///< whether there is a host with several NUMA nodes
  std::string policy_refusal;    ///< reason why a system refused memory policy, or empty
  Bound bound;
  std::optional<Least> least;              ///< least that had to be sent, where it was counted
  Answer answer;                           ///< answer of the only run, or of all runs together
  std::optional<std::uint64_t> triangles;  ///< triangles in the graph without directions, where counted
  std::uint64_t resumed_from = 0;  ///< number of iterations that a checkpoint held; 0: the run began anew
  std::string resumed_unit = "iterations";  ///< unit of resumed_from
  /// The most that rounding of messages, and of values in 16 bits, can change the result, as sum_error. The
  /// rounding of sums of doubles adds to it.
  double rounding_bound = 0;
  /// The same bound as rounding_bound where values travelled in 16 bits, else 0.
  double wire_error_bound = 0;
  std::vector<Verification> verification;  ///< one result or none
  std::vector<std::string> checks;         ///< rules that the result was found to keep

  /// Returns whether no verification has failed.
  bool is_right() const;
  /// Returns the mean of the last ten iterations; 0 when there are none.
  double seconds_per_iteration() const;
  double edges_per_second() const;
  /// Returns the fields of the design's section 8, and ownership, layout, tile_bytes, verify.
  std::string to_json() const;
  /// Returns lines for stdout. They begin with the answer, the time and the bytes, which fit a screen.
  /// `verbose`: whether all other figures follow.
  std::string to_text(bool verbose = true) const;

 private:
  nlohmann::ordered_json memory_json() const;
  /// Returns the sum of all supersteps.
  Work work() const;
  /// Returns the ratio of the records, and of the payload, to the least that had to be sent.
  double record_ratio() const;
  double payload_ratio() const;
  std::string describe_answer(bool verbose) const;
  std::string describe_runs(bool verbose) const;
  std::string describe_time() const;
  std::string describe_sent() const;
  std::string describe_least() const;
  std::string describe_disk() const;
  std::string describe_checks() const;
  std::string describe_places() const;
  std::string describe_supersteps() const;
  std::string describe_choices() const;
  std::string describe_memory() const;
  std::string describe_disk_reads() const;
  std::string describe_limits() const;
};

}  // namespace edgewire::report
