// The launch folder starts the processes of a job and lets them find each other: by local forks, host lists,
// or launchers that speak PMIx. The result is a Bootstrap, which is the control plane among all processes.
#pragma once

#include <memory>
#include <vector>

#include "edgewire/launch.h"
#include "transport/file_descriptor.h"
#include "transport/health.h"

namespace edgewire::launch {

/// Returns the bootstrap over connected stream sockets. Rank 0 has one to each other rank (`streams[p]`, [0]
/// is unused) and passes on all messages; all others have only `streams[0]`. A thread watches the peers.
std::unique_ptr<Bootstrap> connect_bootstrap(Member member, std::vector<transport::FileDescriptor> streams);

}  // namespace edgewire::launch
