/*
 * libFuzzer entry: opens hostile unwind information and walks hostile registers and stacks over it.
 *
 * Input: a mode byte; 17 registers; the length of the stack; the stack; the rest is, by mode, a
 * whole ELF file, an .eh_frame section, one with its .eh_frame_hdr, or a table of Go's behind its
 * first 8 bytes (a byte chooses its form), for which a sound file is made around it. Bit 6 of the
 * mode: the machine is i386, not x86-64. What the walk returns must keep the promises of unwind.h.
 */
#include "tests/unwind/elf_builder.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	REGISTERS = 17,
	MODE_I386 = 0x40,
	STACK_MAX = 4096,
	CODE_SIZE = 4096,
	CHANGED_MAX = 256, /* bytes of the stack of which each word is changed */
	MODE_HDR = 2,
	MODE_GO = 3,
	MODES = 4
};

/* The machine of an input, and its registers that have a role. */
struct machine {
	enum uw_arch arch;
	uint8_t sp, fp, ip;
};

static const struct machine x86_64 = {UW_ARCH_X86_64, 7, 6, 16};
static const struct machine i386 = {UW_ARCH_I386, 4, 5, 8};

/* Where the file's code is mapped; a second mapping has none. */
static const uint64_t code_start = 0x400000, jit_start = 0x500000;

struct input {
	const uint8_t *at;
	size_t left;
};

static void take(struct input *input, void *bytes, size_t size)
{
	size_t have = size < input->left ? size : input->left;

	memset(bytes, 0, size);
	memcpy(bytes, input->at, have);
	input->at += have;
	input->left -= have;
}

/* Puts what all tables of Go's start with in one of the forms. */
static void put_go_head(struct elf_builder *builder, struct input *input)
{
	static const uint8_t forms[] = {0xfb, 0xfa, 0xf0, 0xf1};
	uint8_t form, word = builder->arch == UW_ARCH_I386 ? 4 : 8;

	take(input, &form, sizeof(form));
	const uint8_t head[8] = {forms[form % sizeof(forms)], 0xff, 0xff, 0xff, 0, 0, 1, word};
	elf_builder_put(builder, head, sizeof(head));
}

/* An ELF file whose only unwind information is the input; its addresses are its file offsets. */
static struct uw_module *wrap(struct input input, const struct machine *machine, unsigned mode)
{
	struct uw_module *module = NULL;
	struct elf_builder builder;

	elf_builder_init(&builder, machine->arch, CODE_SIZE, input.left + 8);
	elf_builder_set_entry(&builder, 100);
	if (mode == MODE_GO)
		put_go_head(&builder, &input);
	if (mode == MODE_HDR)
		take(&input, builder.bytes + ELF_BUILDER_HDR + 2,
		     ELF_BUILDER_CODE - ELF_BUILDER_HDR - 2);
	for (size_t i = 0; i < CODE_SIZE; i++)
		builder.bytes[ELF_BUILDER_CODE + i] = (uint8_t)(i % 7 == 0 ? 0xe8 : i);
	elf_builder_put(&builder, input.at, input.left);
	if (uw_module_from_memory(builder.bytes, builder.size, &module) < 0)
		module = NULL;
	elf_builder_finish(&builder);
	return module;
}

static struct uw_module *open_module(struct input input, const struct machine *machine,
				     unsigned mode)
{
	struct uw_module *module = NULL;

	if (mode != 0)
		return wrap(input, machine, mode);
	if (uw_module_from_memory(input.at, input.left, &module) < 0)
		return NULL;
	return module;
}

/* Traps where a result breaks a promise. */
static void check(bool promise)
{
	if (!promise)
		__builtin_trap();
}

static void check_frames(struct uw_space *space, const struct uw_frame *frames, size_t count,
			 enum uw_stop stop)
{
	check(count >= 1 && count <= UW_DEPTH_MAX);
	check((unsigned)stop < UW_STOP_COUNT);
	check(frames[0].source == UW_SOURCE_SAMPLE && frames[0].exact);
	for (size_t i = 1; i < count; i++) {
		uint32_t tag;
		uint64_t rva;

		check(frames[i].source != UW_SOURCE_SAMPLE && frames[i].source < UW_SOURCE_COUNT);
		if (frames[i].exact)
			continue;
		check(frames[i].sp > frames[i - 1].sp ||
		      (frames[i].sp == frames[i - 1].sp && frames[i - 1].exact));
		check(uw_space_find(space, frames[i].ip - 1, &tag, &rva));
		/* Nobody calls a signal trampoline: its lookup address is ip. */
		check(tag == frames[i].tag && (rva == frames[i].rva || rva + 1 == frames[i].rva));
	}
}

/* With a history of whatever was walked before, the walk gives the same frames. */
static void check_reuse(struct uw_space *space, struct uw_history *history,
			const struct uw_regs *regs, const struct uw_stack *stack,
			const struct uw_frame *frames, size_t count, enum uw_stop stop)
{
	static struct uw_frame again[UW_DEPTH_MAX];
	enum uw_stop again_stop;
	size_t reused;

	size_t again_count = uw_walk_reuse(space, history, regs, stack, again, UW_DEPTH_MAX,
					   &again_stop, &reused);

	/* The difference that unwind.h names: known frames beyond a frame pointer step that is
	 * refused now. */
	if (stop == UW_STOP_NO_INFO && again_stop == UW_STOP_ROOT)
		check(again_count > count && reused >= again_count - count);
	else
		check(again_count == count && again_stop == stop);
	check(reused < again_count);
	for (size_t i = 0; i < count; i++)
		check(again[i].ip == frames[i].ip && again[i].rva == frames[i].rva &&
		      again[i].sp == frames[i].sp && again[i].function == frames[i].function &&
		      again[i].tag == frames[i].tag && again[i].source == frames[i].source &&
		      again[i].exact == frames[i].exact);
}

static void walk_checked(struct uw_space *space, struct uw_history *history,
			 const struct uw_regs *regs, const struct uw_stack *stack)
{
	static struct uw_frame frames[UW_DEPTH_MAX];
	enum uw_stop stop;
	size_t count = uw_walk(space, regs, stack, frames, UW_DEPTH_MAX, &stop);

	/* Walks learn where functions start, by the calls that they follow. */
	for (int learnt = 0; learnt < 2; learnt++)
		count = uw_walk(space, regs, stack, frames, UW_DEPTH_MAX, &stop);
	check_frames(space, frames, count, stop);
	check_reuse(space, history, regs, stack, frames, count, stop);
}

/* The same stack again, with one word changed at a time. */
static void walk_changed(struct uw_space *space, struct uw_history *history, struct uw_regs *regs,
			 const struct uw_stack *stack, uint8_t *bytes, unsigned fp)
{
	for (size_t at = 0; at + 8 <= stack->size && at < CHANGED_MAX; at += 8) {
		uint8_t word[8];

		memcpy(word, bytes + at, sizeof(word));
		if (at >= 16)
			memcpy(bytes + at, bytes + at - 16, sizeof(word));
		else
			memset(bytes + at, 0, sizeof(word));
		walk_checked(space, history, regs, stack);
		memcpy(bytes + at, word, sizeof(word));
		regs->value[fp] ^= at;
		walk_checked(space, history, regs, stack);
		regs->value[fp] ^= at;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {.at = data, .left = size};
	const struct machine *machine = size > 0 && data[0] & MODE_I386 ? &i386 : &x86_64;
	struct uw_space *space = uw_space_create(machine->arch);
	struct uw_regs regs = {0};
	struct uw_history *history = uw_history_create();
	uint16_t stack_size;
	uint8_t mode;

	take(&input, &mode, sizeof(mode));
	take(&input, regs.value, REGISTERS * sizeof(regs.value[0]));
	for (size_t i = 0; machine == &i386 && i < REGISTERS; i++)
		regs.value[i] = (uint32_t)regs.value[i];
	take(&input, &stack_size, sizeof(stack_size));
	stack_size %= STACK_MAX;
	uint8_t *bytes = malloc(stack_size ? stack_size : 1);
	if (!space || !bytes || !history)
		abort();
	take(&input, bytes, stack_size);
	struct uw_stack stack = (struct uw_stack){.base = regs.value[machine->sp],
						  .bytes = bytes,
						  .size = stack_size,
						  .requested = stack_size + (size_t)(mode & 0x80)};
	struct uw_module *module =
		open_module(input, machine, (mode & ~(unsigned)MODE_I386) % MODES);
	uw_space_map(space, code_start, code_start + 0x10000, 0, module, 1);
	uw_space_map(space, jit_start, jit_start + 0x10000, 0, NULL, 2);
	walk_checked(space, history, &regs, &stack);
	/* Again in the middle of the code, whatever the sampled address was. */
	regs.value[machine->ip] = code_start + ELF_BUILDER_CODE + 16;
	walk_checked(space, history, &regs, &stack);
	walk_changed(space, history, &regs, &stack, bytes, machine->fp);
	uw_module_unref(module);
	uw_history_destroy(history);
	uw_space_destroy(space);
	free(bytes);
	return 0;
}
