/* TBRW_get_system lays each level of the tree out as one run behind the level above. A file that
 * claims anything else is refused, so that no array overlaps another. */
#include "tools/tb5/tbrw_writer.h"
#include <stdbool.h>
#include <string.h>

struct run {
	unsigned char *base;
	uint64_t size;
	uint64_t next; /* where the next array must begin */
};

/* Turns the offset that a pointer holds into the pointer. */
static bool take(struct run *run, void *pointer, uint64_t count, size_t entry_size)
{
	uintptr_t offset;

	memcpy(&offset, pointer, sizeof(offset));
	if (!offset)
		return true;
	if (offset != run->next || count > (run->size - run->next) / entry_size)
		return false;
	unsigned char *array = run->base + offset;
	memcpy(pointer, &array, sizeof(array));
	run->next += count * entry_size;
	return true;
}

static bool take_cpus(struct run *run, TBRW_SYSTEM *system)
{
	for (TBRW_U32 n = 0; n < system->system_num_nodes; n++) {
		TBRW_NODE *node = &system->node_array[n];

		if (!take(run, &node->cpu_array, node->node_num_available, sizeof(TBRW_CPU)))
			return false;
	}
	return true;
}

static bool take_archs(struct run *run, TBRW_SYSTEM *system)
{
	for (TBRW_U32 n = 0; n < system->system_num_nodes; n++) {
		TBRW_NODE *node = &system->node_array[n];

		for (TBRW_U32 c = 0; node->cpu_array && c < node->node_num_available; c++) {
			TBRW_CPU *cpu = &node->cpu_array[c];

			if (!take(run, &cpu->cpu_arch_array, cpu->num_cpu_arch_array,
				  sizeof(TBRW_CPU_ARCH)))
				return false;
		}
	}
	return true;
}

static bool take_leaves_of(struct run *run, TBRW_CPU *cpu)
{
	for (TBRW_U32 a = 0; cpu->cpu_arch_array && a < cpu->num_cpu_arch_array; a++) {
		TBRW_CPU_ARCH *arch = &cpu->cpu_arch_array[a];
		size_t leaf = arch->arch_type == TBRW_GST_ITANIUM ? sizeof(TBRW_CPUID_IA64)
								  : sizeof(TBRW_CPUID_IA32);

		if (!take(run, &arch->cpuid_ia32_array, arch->arch_num_cpuid, leaf))
			return false;
	}
	return true;
}

static bool take_leaves(struct run *run, TBRW_SYSTEM *system)
{
	for (TBRW_U32 n = 0; n < system->system_num_nodes; n++) {
		TBRW_NODE *node = &system->node_array[n];

		for (TBRW_U32 c = 0; node->cpu_array && c < node->node_num_available; c++)
			if (!take_leaves_of(run, &node->cpu_array[c]))
				return false;
	}
	return true;
}

TBRW_U32 writer_system_to_pointers(unsigned char *payload, uint64_t size, TBRW_SYSTEM **system)
{
	struct run run = {payload, size, sizeof(TBRW_SYSTEM)};
	TBRW_SYSTEM *s = (TBRW_SYSTEM *)(void *)payload;

	if (size < sizeof(*s) ||
	    !take(&run, &s->node_array, s->system_num_nodes, sizeof(TBRW_NODE)))
		return VT_BAD_PARAMETER;
	if (s->node_array && (!take_cpus(&run, s) || !take_archs(&run, s) || !take_leaves(&run, s)))
		return VT_BAD_PARAMETER;
	*system = s;
	return VT_SUCCESS;
}
