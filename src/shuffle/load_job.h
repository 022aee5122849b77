#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file_calls.h"
#include "base/output_file.h"
#include "base/output_folder.h"
#include "base/parallel.h"
#include "graph/file/weights.h"
#include "graph/read/edge_sink.h"
#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "shuffle/blocked_time.h"
#include "shuffle/id_bits.h"
#include "shuffle/shuffle.h"
#include "transport/health.h"

namespace edgewire::shuffle {

struct LoadOptions {
  process::ProcessOptions process{};
  std::string output;  ///< path of the .ew file, or folder of parts; empty: a file that goes with the job
  bool parts = false;  ///< whether to write a part for each process, in the folder that its host sees
  std::string temp;    ///< folder of sorted runs
  std::uint64_t memory_bytes = 0;  ///< bytes of memory that this process may take in all
  /// Called when edges can come, by the thread that runs the job. The call is collective.
  std::function<void()> started{};
  StepDone step_done{};
};

/// The record of an edge: see edge_record.h.
RecordShape edge_record(bool weighted);
/// Returns the needs of a process that loads such records. `renumbers`: whether it keeps a bit for each id.
MemoryNeeds load_needs(const RecordShape& record, int workers, int processes, std::uint64_t memory_bytes,
                       bool renumbers);

/// A graph file under way, as one process sees it.
struct GraphSections {
  int descriptor = -1;
  std::string path;
  graph::Header header{};
  const transport::Health* health = nullptr;
  std::vector<std::uint64_t> checksums;  ///< checksums of the blocks that one writer wrote whole
  std::vector<std::uint8_t> known;       ///< whether a block is one of those, by block
};

/// Makes a graph file of edges that need not fit memory: the same bytes as graph::Builder. Edges are records
/// (source, target, weight), big endian, that go to the owner of their source's range and are merged into the
/// rows of the file. Beside them a process keeps a bit for each id that may occur. Either all processes are
/// on one host and write one file, or each writes a part. All is collective but add() and add_vertices().
class LoadJob final : public graph::EdgeSink {
 public:
  /// Makes the job. `bootstrap` outlives it.
  LoadJob(launch::Bootstrap& bootstrap, const LoadOptions& options);

  int rank() const noexcept override { return bootstrap_.rank(); }
  int size() const noexcept override { return bootstrap_.size(); }
  bool wants_sample() const noexcept override { return true; }
  void start(const graph::GraphShape& shape, std::span<const std::uint64_t> sources) override;
  void add(int worker, std::span<const std::uint64_t> ids, graph::Weights weights) override;
  void add_vertices(int worker, std::span<const std::uint64_t> ids) override;
  std::uint64_t sum(std::uint64_t mine) override;
  std::uint64_t least(std::uint64_t mine) override;
  /// Writes the file, or all parts, which have no names yet. Returns the summary of all in all processes.
  graph::BuildSummary write(std::uint32_t flags, const Progress& progress) override;

  /// Gives the output its name, after write(). Collective: all that can fail comes before it.
  void commit();
  /// Returns the output of a file that gets no name; it is called after write(), once.
  std::unique_ptr<OutputFile> take_output() noexcept { return std::move(output_); }

  process::LocalProcess& process() noexcept { return process_; }
  const process::LocalProcess& process() const noexcept { return process_; }
  std::uint64_t bytes_spilled() const { return shuffle_->bytes_spilled(); }
  std::uint64_t runs() const noexcept { return shuffle_->runs(); }
  /// Returns the bytes of edges that other processes own.
  std::uint64_t bytes_sent() const noexcept { return bytes_sent_; }
  std::uint64_t edges_read() const noexcept;
  /// Returns the number of edges of its partitions, after write().
  std::uint64_t edges_written() const noexcept;

 private:
  struct alignas(128) Worker {
    std::uint64_t read = 0;    ///< number of edges read
    std::uint64_t added = 0;   ///< number of edges added, both ways where they are stored so
    std::uint64_t end_id = 0;  ///< end of ids: all are less
    graph::WeightFacts weights;
    std::optional<BlockedTime> parsing;  ///< time of the reader between two calls of add()
  };

  /// Returns whether ids are numbered anew if they turn out to be sparse.
  bool may_compact() const noexcept {
    return shape_.numbering == graph::GraphShape::Numbering::given && !shape_.options.keep_ids;
  }
  void check_bits(std::uint64_t largest) const;
  void take_ids(Worker& worker, std::span<const std::uint64_t> ids);
  void put(int worker, std::uint64_t source, std::uint64_t target, graph::WeightCode weight);
  void end_reading();
  void end_step(const char* step) const {
    if (options_.step_done) options_.step_done(step);
  }
  void exchange_ids();
  void find_ids(const Progress& progress);
  void number_vertices(const Progress& progress);
  void count_edges(const Progress& progress);
  void open_output(std::uint32_t flags);
  void open_file(std::uint32_t flags);
  void open_part(std::uint32_t flags);
  void lay_out(const graph::Header& header);
  bool is_first_in_folder();
  void write_partition(int lane, std::uint32_t partition);
  template <class Number>
  void write_rows(int lane, std::uint32_t partition);
  void write_ids(std::uint32_t partition);
  void write_checksums();
  graph::BuildSummary finish();
  void finish_file();
  void finish_part();
  template <class Take>
  void each_edge(int lane, std::uint32_t partition, const Take& take);
  void each_partition(const char* step, const Progress& progress,
                      const std::function<void(int lane, std::uint32_t partition)>& work);
  std::uint64_t first_source(std::uint32_t partition) const;
  std::uint64_t vertex_of(std::uint64_t id) const noexcept { return renumbered_ ? ids_->rank(id) : id; }
  std::uint64_t first_vertex(std::uint32_t partition) const;

  launch::Bootstrap& bootstrap_;
  LoadOptions options_;
  process::LocalProcess process_;
  graph::GraphShape shape_;
  std::uint32_t partitions_ = 1;
  std::optional<IdBits> ids_;  ///< ids that occur, where numbering is dense or ids are sparse
  std::optional<Shuffle> shuffle_;
  std::vector<Worker> workers_;
  std::optional<ReadyWorkers> readers_;  ///< workers of the readers, while edges come
  bool reading_ = true;
  graph::WeightFacts weights_;  ///< facts of all processes
  std::uint64_t end_id_ = 0, added_ = 0, vertices_ = 0, bytes_sent_ = 0, file_bytes_ = 0;
  bool compacted_ = false;                  ///< whether ids are sparse: see BuildSummary
  bool renumbered_ = false;                 ///< whether ids of the input are not vertices
  std::vector<std::uint64_t> edge_begins_;  ///< begins of all partitions, and the end
  std::unique_ptr<OutputFolder> folder_;    ///< folder of the parts
  std::unique_ptr<OutputFile> output_;      ///< output file, at rank 0 and for a part
  OpenFile shared_;                         ///< file of rank 0, elsewhere
  GraphSections sections_;
};

}  // namespace edgewire::shuffle
