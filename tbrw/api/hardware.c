/* The hardware section: the tree of nodes, CPUs, architectures and CPUID leaves (FORMAT.md 3.1). */
#include "tbrw/api/section.h"
#include "tbrw/file/record.h"
#include <stdlib.h>
#include <string.h>

/* ---- Writing ---- */

static TBRW_U32 write_arch(struct tb5_file *file, struct tb5_seq *seq, const TBRW_CPU_ARCH *arch)
{
	bool ia64 = arch->arch_type == TBRW_GST_ITANIUM;
	size_t leaf = ia64 ? sizeof(TBRW_CPUID_IA64) : sizeof(TBRW_CPUID_IA32);
	TBRW_CPU_ARCH record = *arch;
	uint64_t count = arch->cpuid_ia32_array ? arch->arch_num_cpuid : 0;

	if (arch->arch_size != sizeof(record))
		return VT_UNSUPPORTED_DATA_SIZE;
	memcpy(&record.cpuid_ia32_array, &count, sizeof(count));
	TBRW_U32 code = tb5_file_append(file, seq, &record, sizeof(record));
	if (code != VT_SUCCESS || !count)
		return code;
	return tb5_file_append(file, seq, arch->cpuid_ia32_array, (size_t)count * leaf);
}

static TBRW_U32 write_cpu(struct tb5_file *file, struct tb5_seq *seq, const TBRW_CPU *cpu)
{
	uint64_t count = cpu->cpu_arch_array ? cpu->num_cpu_arch_array : 0;
	TBRW_CPU record;

	if (cpu->cpu_size != sizeof(record))
		return VT_UNSUPPORTED_DATA_SIZE;
	memset(&record, 0, sizeof(record));
	memcpy(&record, cpu, offsetof(TBRW_CPU, num_cpu_arch_array));
	record.num_cpu_arch_array = cpu->num_cpu_arch_array;
	memcpy(&record.cpu_arch_array, &count, sizeof(count));
	TBRW_U32 code = tb5_file_append(file, seq, &record, sizeof(record));
	for (uint64_t i = 0; code == VT_SUCCESS && i < count; i++)
		code = write_arch(file, seq, &cpu->cpu_arch_array[i]);
	return code;
}

static TBRW_U32 write_node(struct tb5_file *file, struct tb5_seq *seq, const TBRW_NODE *node)
{
	uint64_t count = node->cpu_array ? node->node_num_available : 0;
	TBRW_NODE record;

	if (node->node_size != sizeof(record))
		return VT_UNSUPPORTED_DATA_SIZE;
	memset(&record, 0, sizeof(record));
	record.node_size = node->node_size;
	record.node_type_from_shell = node->node_type_from_shell;
	record.node_id = node->node_id;
	record.node_num_available = node->node_num_available;
	record.node_num_used = node->node_num_used;
	record.node_physical_memory = node->node_physical_memory;
	memcpy(&record.cpu_array, &count, sizeof(count));
	TBRW_U32 code = tb5_file_append(file, seq, &record, sizeof(record));
	for (uint64_t i = 0; code == VT_SUCCESS && i < count; i++)
		code = write_cpu(file, seq, &node->cpu_array[i]);
	return code;
}

/* The sizes of all records are right, so that a tree is written whole or not at all. */
static bool tree_is_valid(const TBRW_SYSTEM *system)
{
	for (TBRW_U32 n = 0; system->node_array && n < system->system_num_nodes; n++) {
		const TBRW_NODE *node = &system->node_array[n];

		if (node->node_size != sizeof(*node))
			return false;
		for (TBRW_U32 c = 0; node->cpu_array && c < node->node_num_available; c++) {
			const TBRW_CPU *cpu = &node->cpu_array[c];

			if (cpu->cpu_size != sizeof(*cpu))
				return false;
			for (TBRW_U32 a = 0; cpu->cpu_arch_array && a < cpu->num_cpu_arch_array;
			     a++)
				if (cpu->cpu_arch_array[a].arch_size != sizeof(TBRW_CPU_ARCH))
					return false;
		}
	}
	return system->system_size == sizeof(*system);
}

TBRW_U32 TBRW_set_system(TBRW_PTR ptr, TBRW_SYSTEM *system)
{
	struct tb5_file *file;
	TBRW_U32 code = tb5_global_begin_write(ptr, TBRW_HARDWARE_SECTION, &file);

	if (code != VT_SUCCESS)
		return code;
	if (!system)
		return VT_UNEXPECTED_NULL_PTR;
	if (!tree_is_valid(system))
		return VT_UNSUPPORTED_DATA_SIZE;
	TBRW_SYSTEM record = *system;
	uint64_t count = system->node_array ? system->system_num_nodes : 0;
	memcpy(&record.node_array, &count, sizeof(count));
	code = tb5_record_set(file, tb5_file_seq(file, TB5_HARDWARE), &record, sizeof(record));
	for (uint64_t i = 0; code == VT_SUCCESS && i < count; i++)
		code = write_node(file, tb5_file_seq(file, TB5_HARDWARE), &system->node_array[i]);
	return code;
}

/* ---- Reading ---- */

/* The tree's records in the order they are stored; each array is laid out as one run in the
 * caller's buffer. */
struct tree_reader {
	struct tb5_file *file;
	struct tb5_seq *seq;
	uint64_t at;
};

static TBRW_U32 tree_next(struct tree_reader *r, void *record, size_t size, size_t pointer_at,
			  uint64_t *count)
{
	TBRW_U32 own_size;
	TBRW_U32 code = tb5_seq_read(r->seq, &r->file->cache, r->at, record, size);

	if (code != VT_SUCCESS)
		return code;
	memcpy(&own_size, record, sizeof(own_size));
	memcpy(count, (char *)record + pointer_at, sizeof(*count));
	r->at += size;
	return own_size == size ? VT_SUCCESS : VT_INVALID_SAMPLE_FILE;
}

/* What the tree needs: numbers of records of each kind. */
struct tree_sizes {
	uint64_t nodes;
	uint64_t cpus;
	uint64_t archs;
	uint64_t leaf_bytes;
};

static uint64_t arch_leaf_bytes(const TBRW_CPU_ARCH *arch, uint64_t count)
{
	return count * (arch->arch_type == TBRW_GST_ITANIUM ? sizeof(TBRW_CPUID_IA64)
							    : sizeof(TBRW_CPUID_IA32));
}

/* Where the reader puts what it reads; all NULL: it only counts. */
struct tree_output {
	TBRW_NODE *nodes;
	TBRW_CPU *cpus;
	TBRW_CPU_ARCH *archs;
	unsigned char *leaves;
};

static TBRW_U32 read_arch(struct tree_reader *r, struct tree_sizes *sizes, struct tree_output *out)
{
	TBRW_CPU_ARCH arch;
	uint64_t count;
	TBRW_U32 code = tree_next(r, &arch, sizeof(arch), offsetof(TBRW_CPU_ARCH, cpuid_ia32_array),
				  &count);

	if (code != VT_SUCCESS)
		return code;
	if (count && count != arch.arch_num_cpuid)
		return VT_UNEXPECTED_NUM_CPUIDS;
	uint64_t bytes = arch_leaf_bytes(&arch, count);
	if (bytes > tb5_seq_size(r->seq) - r->at)
		return VT_INVALID_SAMPLE_FILE;
	if (out->archs) {
		unsigned char *leaves = count ? out->leaves + sizes->leaf_bytes : NULL;

		arch.cpuid_ia32_array = (TBRW_CPUID_IA32 *)(void *)leaves;
		if (count)
			code = tb5_seq_read(r->seq, &r->file->cache, r->at, leaves, (size_t)bytes);
		out->archs[sizes->archs] = arch;
	}
	sizes->archs++;
	sizes->leaf_bytes += bytes;
	r->at += bytes;
	return code;
}

static TBRW_U32 read_cpu(struct tree_reader *r, struct tree_sizes *sizes, struct tree_output *out)
{
	TBRW_CPU cpu;
	uint64_t count;
	TBRW_U32 code = tree_next(r, &cpu, sizeof(cpu), offsetof(TBRW_CPU, cpu_arch_array), &count);

	if (code != VT_SUCCESS)
		return code;
	if (count && count != cpu.num_cpu_arch_array)
		return VT_INVALID_SAMPLE_FILE;
	if (out->cpus) {
		cpu.cpu_arch_array = count ? out->archs + sizes->archs : NULL;
		out->cpus[sizes->cpus] = cpu;
	}
	sizes->cpus++;
	for (uint64_t i = 0; code == VT_SUCCESS && i < count; i++)
		code = read_arch(r, sizes, out);
	return code;
}

static TBRW_U32 read_node(struct tree_reader *r, struct tree_sizes *sizes, struct tree_output *out)
{
	TBRW_NODE node;
	uint64_t count;
	TBRW_U32 code = tree_next(r, &node, sizeof(node), offsetof(TBRW_NODE, cpu_array), &count);

	if (code != VT_SUCCESS)
		return code;
	if (count && count != node.node_num_available)
		return VT_INVALID_SAMPLE_FILE;
	if (out->nodes) {
		node.cpu_array = count ? out->cpus + sizes->cpus : NULL;
		out->nodes[sizes->nodes] = node;
	}
	sizes->nodes++;
	for (uint64_t i = 0; code == VT_SUCCESS && i < count; i++)
		code = read_cpu(r, sizes, out);
	return code;
}

static TBRW_U32 read_tree(struct tb5_file *file, TBRW_SYSTEM *system, struct tree_sizes *sizes,
			  struct tree_output *out)
{
	struct tree_reader r = {.file = file, .seq = tb5_file_seq(file, TB5_HARDWARE)};
	uint64_t count;
	TBRW_U32 code =
		tree_next(&r, system, sizeof(*system), offsetof(TBRW_SYSTEM, node_array), &count);

	*sizes = (struct tree_sizes){0};
	if (code == VT_SUCCESS && count && count != system->system_num_nodes)
		code = VT_INVALID_SAMPLE_FILE;
	if (code != VT_SUCCESS)
		return code;
	system->node_array = count ? out->nodes : NULL;
	for (uint64_t i = 0; code == VT_SUCCESS && i < count; i++)
		code = read_node(&r, sizes, out);
	return code;
}

TBRW_U32 TBRW_get_system(TBRW_PTR ptr, TBRW_U32 size_of_buffer, TBRW_SYSTEM *buf_ptr,
			 TBRW_U32 *size_buffer_used)
{
	struct tree_output out = {NULL, NULL, NULL, NULL};
	struct tree_sizes sizes;
	struct tb5_file *file;
	TBRW_SYSTEM system;
	TBRW_U32 code = tb5_global_begin_read(ptr, TBRW_HARDWARE_SECTION, &file);

	if (code == VT_SUCCESS && !tb5_seq_size(tb5_file_seq(file, TB5_HARDWARE)))
		code = VT_ENTRY_NOT_FOUND;
	if (code == VT_SUCCESS)
		code = read_tree(file, &system, &sizes, &out);
	if (code != VT_SUCCESS)
		return code;
	uint64_t needed = sizeof(system) + sizes.nodes * sizeof(TBRW_NODE) +
			  sizes.cpus * sizeof(TBRW_CPU) + sizes.archs * sizeof(TBRW_CPU_ARCH) +
			  sizes.leaf_bytes;
	code = tb5_buffer_check(needed, size_of_buffer, buf_ptr, size_buffer_used);
	if (code != VT_SUCCESS)
		return code;
	out.nodes = (TBRW_NODE *)(buf_ptr + 1);
	out.cpus = (TBRW_CPU *)(out.nodes + sizes.nodes);
	out.archs = (TBRW_CPU_ARCH *)(out.cpus + sizes.cpus);
	out.leaves = (unsigned char *)(out.archs + sizes.archs);
	return read_tree(file, buf_ptr, &sizes, &out);
}
