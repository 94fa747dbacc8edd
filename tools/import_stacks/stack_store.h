/*
 * What a stack_result keeps in memory. For the room only.
 */
#ifndef TOOLS_IMPORT_STACKS_STACK_STORE_H
#define TOOLS_IMPORT_STACKS_STACK_STORE_H

#include "tools/import_stacks/stack_result.h"
#include "tools/memory/index_map.h"

/* Names are indices of texts. */
struct stack_owner_record {
	uint32_t pid;
	uint32_t tid;
	uint32_t process;
	uint32_t thread;
	uint64_t kernel_ns; /* besides that of the weights */
	uint64_t rest_ns;
};

struct stack_symbol_record {
	struct profile_symbol symbol;
	uint32_t name; /* likewise */
	uint32_t full;
	uint32_t file;
};

struct stack_result {
	struct index_texts texts;       /* text 0 is "" */
	struct profile_image *images;   /* image 0 is there, as in the file; likewise node 0 */
	struct stack_mapping *mappings; /* of the images */
	uint32_t *image_paths;
	uint32_t image_count;
	size_t image_capacity;
	size_t mapping_capacity;
	size_t path_capacity;
	struct profile_frame *frames;
	uint32_t frame_count;
	size_t frame_capacity;
	struct stack_symbol_record *symbols;
	size_t symbol_count;
	size_t symbol_capacity;
	struct profile_node *nodes;
	struct index_map node_map;
	uint32_t node_count;
	struct stack_owner_record *owners;
	struct index_map owner_map;
	struct stack_weight *weights;
	size_t weight_count;
	size_t weight_capacity;
	char **warnings;
	size_t warning_count;
	size_t warning_capacity;
	uint64_t samples;
	uint64_t cpu_ns; /* of all weights and owners */
	uint64_t unattributed_ns;
};

uint32_t stack_store_owner_count(const struct stack_result *result);

#endif
