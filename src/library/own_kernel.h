// This file makes a kernel for those who run kernels (src/runs) of one that a caller has described.
#pragma once

#include <memory>

#include "base/rooms.h"
#include "edgewire/own_kernel.h"
#include "runs/kernel.h"

namespace edgewire {

/// Throws UsageError where what is said of a kernel makes no sense.
void check(const detail::AnyProgram& own);
template <class Value>
void check(const detail::AnySearch<Value>& own);

/// Makes a process's kernel for a run on this graph. Throws the same.
std::unique_ptr<runs::Kernel> make_kernel(const detail::AnyProgram& own, const Graph& graph);
template <class Value>
std::unique_ptr<runs::Kernel> make_kernel(const detail::AnySearch<Value>& own, const Graph& graph);

}  // namespace edgewire
