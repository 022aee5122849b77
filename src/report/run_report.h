// The report folder tells people how a run goes and how it went: progress on the terminal, reports as JSON
// and as lines, and pages with tables and charts. This file has what a kernel run reports: the figures of
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
    std::uint64_t payload_bytes_sent = 0;  ///< summed over processes
    std::uint64_t wire_bytes_sent = 0;
  };
  /// What a superstep did, or all supersteps of a run. All but the time is summed over processes.
  struct Work {
    std::uint64_t frontier = 0;      ///< vertices whose edges were followed
    std::uint64_t edges = 0;         ///< edges of these vertices
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
    std::string source;  ///< its name
    std::size_t supersteps = 0;
    Answer answer;
  };
  /// What all runs of a kernel had to send with this ownership, counted in sequence by other code.
  struct Least {
    std::uint64_t record_bytes = 0;
    std::string count;  ///< "exact", "at least" or "about"; empty: nobody counts such a run
  };
  /// What this plan must send in each iteration.
  struct Bound {
    std::uint64_t values = 0;  ///< summed over processes
    /// Strategy cover: edges with no common end that were found between processes. No plan with this
    /// ownership sends fewer values. Else 0.
    std::uint64_t matching = 0;
    std::uint64_t payload_bytes = 0;  ///< summed over processes
    std::uint64_t wire_bytes = 0;     ///< bytes with the link's headers; in shared memory the same as payload
    /// {line rate, seconds}: the time of the most loaded process at each line rate, sending and receiving at
    /// once, as TCP over Ethernet (MTU 1500).
    std::vector<std::pair<std::string, double>> seconds_at;
  };
  /// What iterations or supersteps read from disks, where edges are there.
  struct Disk {
    bool direct = false;  ///< reads passed by the page cache
    /// [folder of each process]: the bytes read, summed over processes.
    std::vector<std::uint64_t> bytes_read_of_devices;
    std::uint64_t stored_bytes = 0;   ///< bytes of all edges, summed over processes
    std::uint64_t bytes_read = 0;     ///< summed over processes
    std::uint64_t bytes_written = 0;  ///< bytes written before the run, summed; 0: earlier runs wrote them
    double seconds = 0;               ///< time of all iterations or runs, of the slowest process
    double seconds_busy = 0;  ///< time in which the busiest device was busy; 0: the system does not tell
    double limit_bytes_per_second =
        0;  ///< rate of all processes when they only read, measured after the run; 0: unknown
    std::uint64_t block_bytes = 0;  ///< size of the reads that measured it
    std::uint64_t depth = 0;        ///< reads that each process had under way then
    double seconds_cores = 0;       ///< time in which the busiest process's cores computed
    double seconds_wire = 0;        ///< time that what a process sent, or received, takes at the line rate
    /// How busy disks, wire and cores were, over time: profile::Balance.
    std::shared_ptr<const Section> balance{};

    /// Returns the bytes read in a second, as a part of the limit.
    double share_of_limit() const;
    /// Returns what the iterations waited for, in a word. It is the disk if the disk had requests all the
    /// time and the cores were idle for a part of it, or if the run read nearly as fast as it can. It is
    /// "unknown" when the limit is, or when others disturbed its measurement: the run read faster.
    const char* limited_by() const;
  };
  /// This says where the pages of a process's memory lie; it is summed over processes.
  struct Memory {
    std::string name;  ///< what it holds
    std::uint64_t bytes = 0;
    std::map<int, std::uint64_t> pages;  ///< pages by NUMA node of each host; empty: the system does not tell
    std::uint64_t elsewhere = 0;         ///< pages on other nodes than the workers that use them

    double elsewhere_share() const;
  };
  struct Verification {
    double max_relative_error = 0;  ///< largest error of any vertex whose value is a normal number
    double sum_error = 0;           ///< sum of all differences / sum of all values
    double limit = 0;               ///< limit of sum_error: what the limits of all vertices add up to
    double vertex_limit = 0;        ///< largest limit of any vertex, as max_relative_error
    double limit_share = 0;         ///< largest difference / limit of any vertex; passed: it is at most 1
    std::string vertex{};           ///< name of the vertex with the largest limit_share
    std::string rules{};            ///< what the limits follow from
    bool passed = false;
    std::string fault{};          ///< what is wrong, for messages; empty: it has passed
    bool conclusive = true;       ///< whether the limit is below 1; else nothing passes
    std::uint64_t unchecked = 0;  ///< vertices with a normal value whose own limit is not below it
  };

  /// What a kernel that goes on until its result settles says of how it settled.
  struct Convergence {
    double change = 0;       ///< change of all values in the last iteration, in sum
    bool converged = false;  ///< whether values change by less than the tolerance that was asked for
    std::string text{};      ///< the same for people: a line
    std::string outlook{};   ///< what more iterations would change: a line, or empty
    std::string unmet{};     ///< the line that says why the tolerance was not reached; empty: it was
  };
  using Option = std::variant<bool, std::int64_t, double, std::string>;

  std::string graph;                                    ///< path
  std::vector<std::pair<std::string, Option>> options;  ///< options of the kernel, as they were asked for
  std::vector<Convergence> convergence;                 ///< one or none
  std::string kernel, strategy, strategy_reason, wire, ownership, layout, layout_reason, order, order_reason;
  std::string plan_cache = "none";  ///< "written", "used" or "none"
  std::string plan_cache_note;      ///< why it was not used or not written, or empty
  std::string ownership_table;      ///< why the ownership was chosen: lines, or empty
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::vector<Iteration> iterations;
  bool has_supersteps = false;        ///< whether it has supersteps instead of iterations
  std::vector<Superstep> supersteps;  ///< supersteps of all runs
  std::vector<Run> runs;              ///< runs, where several were asked for
  double seconds_kernel = 0;  ///< time from the graph in memory to the result in memory, over all runs
  /// The time that the launching process took to convert its input from another format, before all others.
  std::optional<double> seconds_convert;
  std::uint64_t tile_bytes = 0;      ///< read in one sweep, and written into bins, summed over processes
  std::uint64_t setup_messages = 0;  ///< sent before the first iteration by the process with most of them
  std::optional<Disk> disk;
  std::vector<Memory> memory;    ///< memory of kernels with iterations, by what it holds
  std::uint64_t page_bytes = 0;  ///< size of a page there
  bool several_nodes = false;    ///< whether there is a host with several NUMA nodes
  std::string policy_refusal;    ///< why a system refused memory policy, or empty
  Bound bound;
  std::optional<Least> least;               ///< what had to be sent, where it was asked for
  Answer answer;                            ///< answer of the only run, or of all runs together
  std::optional<std::uint64_t> triangles;   ///< triangles in the graph without directions, where counted
  std::uint64_t resumed_from = 0;           ///< iterations that a checkpoint held; 0: the run began anew
  std::string resumed_unit = "iterations";  ///< or what else is counted there
  /// The most that rounding of messages, and of values in 16 bits, can change the result, as sum_error. What
  /// sums of doubles round comes to it.
  double rounding_bound = 0;
  /// The same bound as rounding_bound where values travelled in 16 bits, else 0.
  double wire_error_bound = 0;
  std::vector<Verification> verification;  ///< one or none
  std::vector<std::string> checks;         ///< rules that the result was found to keep

  /// Returns whether no verification has failed.
  bool is_right() const;
  /// Returns the mean of the last ten iterations; 0 when there are none.
  double seconds_per_iteration() const;
  double edges_per_second() const;
  /// Returns the fields of the design's section 8, and ownership, layout, tile_bytes, verify.
  std::string to_json() const;
  /// Returns lines for stdout. They begin with the answer, the time and the bytes, which fit a screen.
  /// `verbose`: with all that is known beside these.
  std::string to_text(bool verbose = true) const;

 private:
  nlohmann::ordered_json memory_json() const;
  /// Returns the sum of all supersteps.
  Work work() const;
  /// Return how many times what had to be sent the records are, and the payload.
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
