/* A function that the linker leaves out, for test_elf_symbols.c: its entry in the debug information
 * stays, with the address 0, and is so long that it seems to hold live_function, at 0x1000. */
int live_function(int value);
__attribute__((visibility("default"))) int live_function(int value)
{
	__asm__ volatile(".skip 0x20, 0x90");
	return value + 1;
}

static inline __attribute__((always_inline)) int dead_inlined(int value)
{
	__asm__ volatile(".skip 0x8000, 0x90");
	return value * 3;
}

__attribute__((visibility("hidden"))) int dead_function(int value);
int dead_function(int value)
{
	return dead_inlined(value) + 1;
}
