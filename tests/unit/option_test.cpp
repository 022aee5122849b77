#include "options/files.h"
#include "options/jobs.h"
#include "options/kernels.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "spoken.h"

namespace edgewire::options {

TEST_CASE("an option is named in the words of each face") {
  const auto said = [] {
    return std::vector<std::string>{opt::wire.said(),
                                    opt::wire("bf16"),
                                    opt::workers(3),
                                    opt::peer_timeout(0.5),
                                    opt::labels.said(),
                                    opt::precision("f64"),
                                    opt::columns.said(),
                                    opt::columns("a,2,w"),
                                    opt::columns("'\"a,b\"','\"c d\"'"),
                                    opt::launcher("none"),
                                    fmt::format("{} and {}", opt::strategy, opt::dpdk_udp)};
  };
  const std::vector<std::string> command_line{"--wire",
                                              "--wire bf16",
                                              "--workers 3",
                                              "--peer-timeout 0.5",
                                              "--labels",
                                              "--precision f64",
                                              "--columns",
                                              "--columns a,2,w",
                                              "--columns '\"a,b\"','\"c d\"'",
                                              "--launcher none",
                                              "--strategy and --dpdk-udp"};
  const std::vector<std::string> cpp{"JobOptions::wire",
                                     "JobOptions::wire = bf16",
                                     "JobOptions::workers = 3",
                                     "LaunchOptions::peer_timeout_s = 0.5",
                                     "ConvertOptions::labels",
                                     "JobOptions::wire = f64",
                                     "ConvertOptions::columns",
                                     "ConvertOptions::columns = a,2,w",
                                     "ConvertOptions::columns = '\"a,b\"','\"c d\"'",
                                     "LaunchOptions::join_launcher = none",
                                     "JobOptions::strategy and --dpdk-udp"};
  const std::vector<std::string> python{"wire=",
                                        "wire='bf16'",
                                        "workers=3",
                                        "peer_timeout=0.5",
                                        "labels=True",
                                        "wire='f64'",
                                        "src= and dst=",
                                        "src='a', dst=2, weight='w'",
                                        "src='a,b', dst='c d'",
                                        "--launcher none",
                                        "strategy= and --dpdk-udp"};
  CHECK(said() == command_line);
  {
    const Spoken face(Face::cpp);
    CHECK(said() == cpp);
  }
  const Spoken face(Face::python);
  CHECK(said() == python);
}

TEST_CASE("a hint is said where the face has the option") {
  const auto hints = [] {
    return opt::allow_empty.hint("; {} makes a graph") + opt::launcher.hint(", or {}", "none") +
           conversion_with(opt::undirected.said());
  };
  CHECK(hints() == "; --allow-empty makes a graph, or --launcher none`edgewire convert --undirected`");
  {
    const Spoken face(Face::cpp);
    CHECK(hints() ==
          "; ConvertOptions::allow_empty makes a graph, or LaunchOptions::join_launcher = noneconvert() with "
          "ConvertOptions::undirected");
  }
  const Spoken face(Face::python);
  CHECK(hints() == "read() with undirected=True");
}

TEST_CASE("a wrong value is named with its option, and the remedy behind it") {
  CHECK(std::string(wrong(opt::wire("xyz"), "it is none of f32, f64", "say f32").what()) ==
        "--wire xyz: it is none of f32, f64; say f32");
  CHECK(std::string(wrong(opt::temp, "no such folder").what()) == "--temp: no such folder");
  CHECK_THROWS_WITH_AS(check_range(opt::workers, 0), "--workers 0 is outside the range 1 to 1024",
                       UsageError);
  CHECK_NOTHROW(check_range(opt::workers, 1));
}

}  // namespace edgewire::options
