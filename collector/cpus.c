#include "collector/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPU_NUMBER_MAX = 65535 };

static int append(struct cpus *cpus, unsigned long first, unsigned long last)
{
	uint32_t *numbers =
		realloc(cpus->numbers, (cpus->count + last - first + 1) * sizeof(*numbers));
	if (numbers == NULL)
		return -1;
	cpus->numbers = numbers;
	for (unsigned long cpu = first; cpu <= last; cpu++)
		numbers[cpus->count++] = (uint32_t)cpu;
	return 0;
}

int cpus_parse(const char *list, struct cpus *cpus)
{
	*cpus = (struct cpus){0};
	const char *p = list;
	long least = 0; /* ascending, so that a list has a bound */
	while (*p != '\0' && *p != '\n') {
		char *end;
		unsigned long first = strtoul(p, &end, 10);
		unsigned long last = first;
		if (end == p)
			break;
		if (*end == '-') {
			p = end + 1;
			last = strtoul(p, &end, 10);
			if (end == p)
				break;
		}
		if ((long)first < least || last < first || last > CPU_NUMBER_MAX)
			break;
		if (append(cpus, first, last) < 0) {
			cpus_finish(cpus);
			return -1;
		}
		least = (long)last + 1;
		p = *end == ',' ? end + 1 : end;
	}
	if ((*p == '\0' || *p == '\n') && cpus->count > 0)
		return 0;
	cpus_finish(cpus);
	errno = EINVAL;
	return -1;
}

int cpus_read(const char *path, struct cpus *cpus)
{
	char *line = NULL;
	size_t capacity = 0;
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return -1;
	int result = -1;
	if (getline(&line, &capacity, file) >= 0)
		result = cpus_parse(line, cpus);
	free(line);
	fclose(file);
	return result;
}

int cpus_online(struct cpus *cpus)
{
	return cpus_read("/sys/devices/system/cpu/online", cpus);
}

void cpus_finish(struct cpus *cpus)
{
	free(cpus->numbers);
	*cpus = (struct cpus){0};
}
