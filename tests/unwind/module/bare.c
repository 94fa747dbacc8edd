/* A program without .eh_frame, for its .debug_frame: frames of several shapes; no C library, or,
 * with BARE_STARTED, one that starts it. */

extern long bare_sum(const long *values, long count);
extern long bare_recurse(long depth);
extern void _start(void);

__attribute__((noinline)) long bare_sum(const long *values, long count)
{
	volatile long room[40];
	long sum = 0;

	for (long i = 0; i < count; i++) {
		room[i % 40] = values[i];
		sum += room[(i * 7) % 40] * room[i % 40];
	}
	return sum;
}

__attribute__((noinline)) long bare_recurse(long depth)
{
	long values[8];

	for (long i = 0; i < 8; i++)
		values[i] = depth * i;
	if (depth > 0)
		values[depth % 8] += bare_recurse(depth - 1);
	return bare_sum(values, 8) + values[depth % 8];
}

#ifdef BARE_STARTED
int main(void)
#else
void _start(void)
#endif
{
	for (;;)
		bare_recurse(20);
}
