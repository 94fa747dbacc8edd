/*
 * Samples of a program, walked by the tables of its files and by analysis of its code alone: the
 * files are given once as they are and once without call frame information, with the symbol tables
 * that they have, or, with -s, with the symbols that a linker would have left.
 *
 * Usage: untabled [-s] [-v] [-d DELAY_MS] [-c PERCENT] SAMPLES PROGRAM [ARGUMENT...]
 * -c: so many of the stacks that are complete by tables must be the same, byte for byte (default
 * 97). Fails on any frame that the tables do not have. -v shows where walks end, and where they
 * differ.
 */
#include "containers/array.h"
#include "tests/unwind/recording.h"
#include "unwind/cfi/row.h"
#include "unwind/module/module.h"
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
	uint8_t *bytes; /* owned */
	size_t size, capacity;
};

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static bool read_file(const char *path, struct image *image)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool done =
		fd >= 0 && fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(Elf64_Ehdr);

	if (done) {
		image->size = image->capacity = (size_t)status.st_size;
		image->bytes = must(malloc(image->size));
		done = pread(fd, image->bytes, image->size, 0) == (ssize_t)image->size &&
		       image->bytes[EI_CLASS] == ELFCLASS64;
	}
	if (fd >= 0)
		close(fd);
	return done;
}

/* Adds bytes at the end; returns their offset. */
static size_t append(struct image *image, const void *bytes, size_t size)
{
	size_t offset = (image->size + 7) & ~(size_t)7;

	if (!array_reserve(&image->bytes, &image->capacity, offset + size, 1))
		abort();
	memset(image->bytes + image->size, 0, offset - image->size);
	memcpy(image->bytes + offset, bytes, size);
	image->size = offset + size;
	return offset;
}

/* The symbols of all FDEs; cold parts, which do not begin as functions do, have a name that says
 * so. */
static void add_symbols(struct image *image, Elf64_Shdr *table, Elf64_Shdr *names)
{
	static const char strings[] = "\0function\0function.cold";
	struct uw_module *module;
	Elf64_Sym *symbols;
	size_t count = 0;

	if (uw_module_from_memory(image->bytes, image->size, &module) != 0)
		abort();
	uw_module_load(module);
	symbols = must(calloc(uw_cfi_count(&module->cfi) + 1, sizeof(*symbols)));
	for (size_t i = 0; i < uw_cfi_count(&module->cfi); i++) {
		uint64_t start = uw_cfi_entry_start(&module->cfi, i);
		struct uw_cfi_gap gap;
		struct uw_fde fde;
		struct uw_row row;

		if (uw_cfi_find(&module->cfi, start, &fde, &gap) != UW_CFI_OK ||
		    uw_cfi_row(&fde, fde.start, &row, &(uint32_t){0}) != UW_CFI_OK)
			continue;
		bool is_entry = row.cfa.kind == UW_RULE_REGISTER && row.cfa.reg == 7 &&
				row.cfa.offset == 8 && !fde.signal;
		symbols[++count] = (Elf64_Sym){.st_name = is_entry ? 1 : 10,
					       .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
					       .st_shndx = 1,
					       .st_value = fde.start,
					       .st_size = fde.end - fde.start};
	}
	uw_module_unref(module);
	*table = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
			      .sh_size = (count + 1) * sizeof(*symbols),
			      .sh_entsize = sizeof(*symbols)};
	table->sh_offset = append(image, symbols, table->sh_size);
	*names = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_size = sizeof(strings)};
	names->sh_offset = append(image, strings, sizeof(strings));
	free(symbols);
}

/* Takes the call frame information out of a file's bytes. */
static void remove_tables(struct image *image, bool adds)
{
	Elf64_Ehdr ehdr;
	Elf64_Shdr added[2] = {{0}}, *sections;

	memcpy(&ehdr, image->bytes, sizeof(ehdr));
	if (ehdr.e_shoff + ehdr.e_shnum * sizeof(*sections) > image->size || ehdr.e_shnum == 0)
		abort();
	if (adds)
		add_symbols(image, &added[0], &added[1]);
	sections = must(calloc(ehdr.e_shnum + 2U, sizeof(*sections)));
	memcpy(sections, image->bytes + ehdr.e_shoff, ehdr.e_shnum * sizeof(*sections));
	for (unsigned i = 0; i < ehdr.e_shnum; i++) {
		const char *name = (const char *)image->bytes +
				   sections[ehdr.e_shstrndx].sh_offset + sections[i].sh_name;
		if (strcmp(name, ".eh_frame") == 0 || strcmp(name, ".debug_frame") == 0)
			sections[i].sh_size = 0;
	}
	if (adds) {
		added[0].sh_link = ehdr.e_shnum + 1U;
		memcpy(sections + ehdr.e_shnum, added, sizeof(added));
		ehdr.e_shnum += 2;
	}
	ehdr.e_shoff = append(image, sections, ehdr.e_shnum * sizeof(*sections));
	for (unsigned i = 0; i < ehdr.e_phnum; i++) {
		Elf64_Phdr phdr;
		uint8_t *at = image->bytes + ehdr.e_phoff + i * sizeof(phdr);
		memcpy(&phdr, at, sizeof(phdr));
		if (phdr.p_type == PT_GNU_EH_FRAME)
			phdr.p_type = PT_NULL;
		memcpy(at, &phdr, sizeof(phdr));
	}
	memcpy(image->bytes, &ehdr, sizeof(ehdr));
	free(sections);
}

/* The address space of the recording, with files that have no call frame information. */
static struct uw_space *bare_space(const struct recording *recording, bool adds)
{
	struct uw_space *space = must(uw_space_create(recording->arch));

	for (size_t i = 0; i < recording->mapping_count; i++) {
		const struct recording_mapping *mapping = &recording->mappings[i];
		struct uw_module *module = NULL;
		struct image image = {0};

		if (!mapping->executable)
			continue;
		if (read_file(mapping->path, &image)) {
			remove_tables(&image, adds);
			if (uw_module_from_memory(image.bytes, image.size, &module) != 0)
				abort();
		}
		free(image.bytes);
		if (uw_space_map(space, mapping->start, mapping->end, mapping->offset, module,
				 (uint32_t)i) < 0)
			abort();
		uw_module_unref(module);
	}
	return space;
}

struct comparison {
	const struct recording *recording;
	struct uw_space *tables, *bare;
	struct uw_history *history;
	size_t complete; /* stacks, by tables */
	size_t same;     /* of these, by analysis too */
	size_t wrong;    /* with a frame that the tables do not have */
	size_t shorter;
	size_t frames, stops[UW_STOP_COUNT];
	size_t reuse_differences;
	bool verbose;
};

static void show(const struct comparison *comparison, const char *what, uint64_t ip)
{
	const struct recording_mapping *mapping = recording_find(comparison->recording, ip);
	const char *name = mapping ? strrchr(mapping->path, '/') : NULL;

	fprintf(stderr, " %s %s+%#lx", what, name ? name + 1 : "?",
		mapping ? ip - mapping->start + mapping->offset : ip);
}

static void compare(struct comparison *comparison, const struct recording_sample *sample)
{
	static struct uw_frame theirs[UW_DEPTH_MAX], ours[UW_DEPTH_MAX], again[UW_DEPTH_MAX];
	enum uw_stop their_stop, stop, again_stop;
	size_t reused, i = 0;
	size_t count = uw_walk(comparison->tables, &sample->regs, &sample->stack, theirs,
			       UW_DEPTH_MAX, &their_stop);
	size_t our_count =
		uw_walk(comparison->bare, &sample->regs, &sample->stack, ours, UW_DEPTH_MAX, &stop);
	size_t again_count =
		uw_walk_reuse(comparison->bare, comparison->history, &sample->regs, &sample->stack,
			      again, UW_DEPTH_MAX, &again_stop, &reused);

	if (their_stop != UW_STOP_ROOT)
		return;
	comparison->complete++;
	comparison->frames += our_count;
	comparison->stops[stop]++;
	while (i < count && i < our_count && ours[i].ip == theirs[i].ip &&
	       ours[i].sp == theirs[i].sp)
		i++;
	comparison->same += i == count && i == our_count && stop == UW_STOP_ROOT;
	comparison->shorter += i < count && i == our_count && stop != UW_STOP_ROOT;
	bool is_wrong = i < our_count || (i < count && stop == UW_STOP_ROOT);
	comparison->wrong += is_wrong;
	if (stop == UW_STOP_ROOT) {
		comparison->reuse_differences += again_stop != stop || again_count != our_count;
		for (size_t j = 0; j < our_count && j < again_count; j++)
			comparison->reuse_differences += again[j].ip != ours[j].ip;
	}
	if (is_wrong || (comparison->verbose && i < count)) {
		fprintf(stderr, "%s, frame %zu of %zu:", is_wrong ? "WRONG" : uw_stop_name(stop), i,
			count);
		show(comparison, "after", ours[i > 0 ? i - 1 : 0].ip);
		show(comparison, "tables", i < count ? theirs[i].ip : 0);
		show(comparison, "ours", i < our_count ? ours[i].ip : 0);
		fputc('\n', stderr);
	}
}

static double percent(size_t count, size_t all)
{
	return all > 0 ? 100.0 * (double)count / (double)all : 0;
}

static bool run(struct comparison *comparison, double least)
{
	struct uw_counts counts;

	for (size_t i = 0; i < comparison->recording->count; i++)
		compare(comparison, &comparison->recording->samples[i]);
	uw_space_counts(comparison->bare, &counts);
	printf("%zu samples, %zu complete by tables; by analysis %.1f %% the same, %zu shorter, "
	       "%zu WRONG; "
	       "%lu frames by analysis, %lu by convention;",
	       comparison->recording->count, comparison->complete,
	       percent(comparison->same, comparison->complete), comparison->shorter,
	       comparison->wrong, counts.frames_by_source[UW_SOURCE_ANALYSIS],
	       counts.frames_by_source[UW_SOURCE_FRAME_POINTER]);
	for (int stop = 0; stop < UW_STOP_COUNT; stop++)
		if (comparison->stops[stop])
			printf(" %s %zu", uw_stop_name((enum uw_stop)stop),
			       comparison->stops[stop]);
	printf("\n");
	if (comparison->reuse_differences)
		fprintf(stderr, "%zu differences with history\n", comparison->reuse_differences);
	return comparison->complete > 0 && comparison->wrong == 0 &&
	       comparison->reuse_differences == 0 &&
	       percent(comparison->same, comparison->complete) >= least;
}

int main(int argc, char **argv)
{
	struct comparison comparison = {0};
	unsigned delay_ms = 200;
	double least = 97;
	bool adds = false;

	for (int option; (option = getopt(argc, argv, "+svd:c:")) != -1;) {
		if (option == 's')
			adds = true;
		else if (option == 'v')
			comparison.verbose = true;
		else if (option == 'd')
			delay_ms = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'c')
			least = strtod(optarg, NULL);
		else
			return 2;
	}
	if (argc - optind < 2)
		return 2;
	struct recording *recording =
		recording_create(argv + optind + 1, strtoul(argv[optind], NULL, 10), delay_ms);
	if (!recording)
		return 77;
	comparison.recording = recording;
	comparison.tables = recording_space(recording);
	comparison.bare = bare_space(recording, adds);
	comparison.history = must(uw_history_create());
	bool done = recording->count > 0 && run(&comparison, least);
	uw_history_destroy(comparison.history);
	uw_space_destroy(comparison.tables);
	uw_space_destroy(comparison.bare);
	recording_destroy(recording);
	return !done;
}
