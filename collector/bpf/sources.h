/* The sources of BPF's records: what other rooms see of this one, beside the records' layouts in
 * stack_chunk.h. */
#ifndef COLLECTOR_BPF_SOURCES_H
#define COLLECTOR_BPF_SOURCES_H

#include "collector/bpf/stack_source.h"
#include "collector/bpf/switches_source.h"
#include "collector/bpf/waits_source.h"

#endif
