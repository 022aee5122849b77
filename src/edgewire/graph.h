// Files of graphs: open them, read their rows, convert other formats, write, generate.
#pragma once

#include "graph/convert.h"
#include "graph/direction.h"
#include "graph/generator.h"
#include "graph/graph_file.h"
#include "graph/row.h"
