#include "collector/host/cpus.h"

#include "containers/array.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPU_NUMBER_MAX = 65535 };

static int append(struct cpus *cpus, unsigned long first, unsigned long last)
{
	if (!array_reserve(&cpus->numbers, &cpus->capacity, cpus->count + last - first + 1,
			   sizeof(*cpus->numbers)))
		return -1;
	for (unsigned long cpu = first; cpu <= last; cpu++)
		cpus->numbers[cpus->count++] = (uint32_t)cpu;
	return 0;
}

/* Takes a number; false when there is none (strtoul would also take blanks and signs). */
static bool take_number(const char **at, unsigned long *number)
{
	char *end;
	if (!isdigit((unsigned char)**at))
		return false;
	*number = strtoul(*at, &end, 10);
	*at = end;
	return *number <= CPU_NUMBER_MAX;
}

/* Takes "N" or "N-M"; ranges ascend: a list has a bound. */
static bool take_range(const char **at, unsigned long least, unsigned long *first,
		       unsigned long *last)
{
	if (!take_number(at, first) || *first < least)
		return false;
	*last = *first;
	if (**at != '-')
		return true;
	++*at;
	return take_number(at, last) && *last >= *first;
}

int cpus_parse(const char *list, struct cpus *cpus)
{
	const char *at = list;
	unsigned long first;
	unsigned long last;
	unsigned long least = 0;
	*cpus = (struct cpus){0};
	while (take_range(&at, least, &first, &last)) {
		if (append(cpus, first, last) < 0) {
			cpus_finish(cpus);
			return -1;
		}
		if (*at == '\0' || *at == '\n')
			return 0;
		if (*at++ != ',')
			break;
		least = last + 1;
	}
	cpus_finish(cpus);
	errno = EINVAL;
	return -1;
}

int cpus_read(const char *path, struct cpus *cpus)
{
	char *line = NULL;
	size_t capacity = 0;
	FILE *file = fopen(path, "re");
	if (!file)
		return -1;
	int result = -1;
	if (getline(&line, &capacity, file) >= 0)
		result = cpus_parse(line, cpus);
	free(line);
	fclose(file);
	return result;
}

/* Takes the number of a line "cpuN user nice ..."; that of all CPUs together has none. */
static bool take_stat_line(const char *line, unsigned long *number)
{
	const char *at = line + strlen("cpu");
	return take_number(&at, number) && *at == ' ';
}

int cpus_read_stat(const char *path, struct cpus *cpus)
{
	char *line = NULL;
	size_t capacity = 0;
	unsigned long number;
	int result = 0;
	FILE *file = fopen(path, "re");
	*cpus = (struct cpus){0};
	if (!file)
		return -1;
	while (result == 0 && getline(&line, &capacity, file) >= 0 && strncmp(line, "cpu", 3) == 0)
		if (take_stat_line(line, &number) &&
		    (cpus->count == 0 || number > cpus->numbers[cpus->count - 1]))
			result = append(cpus, number, number);
	free(line);
	fclose(file);
	if (result == 0 && cpus->count > 0)
		return 0;
	cpus_finish(cpus);
	errno = result < 0 ? ENOMEM : EINVAL;
	return -1;
}

int cpus_online(struct cpus *cpus)
{
	if (cpus_read("/sys/devices/system/cpu/online", cpus) == 0)
		return 0;
	return cpus_read_stat("/proc/stat", cpus);
}

void cpus_finish(struct cpus *cpus)
{
	free(cpus->numbers);
	*cpus = (struct cpus){0};
}
