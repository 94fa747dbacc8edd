/* Turns a tb5 file into an input for fuzz_tbrw: the script that writes the same chunks. */
#include "tbrw/store/format.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	static unsigned char payload[TB5_PAYLOAD_MAX + 8];
	struct tb5_file_header file;
	struct tb5_chunk_header h;
	FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
	FILE *out = in ? fopen(argv[2], "wb") : NULL;

	if (!out || fread(&file, sizeof(file), 1, in) != 1) {
		fprintf(stderr, "usage: fuzz_tbrw_seed IN.tb5 OUT\n");
		return EXIT_FAILURE;
	}
	while (fread(&h, sizeof(h), 1, in) == 1 && h.length <= TB5_PAYLOAD_MAX) {
		size_t space = (size_t)(tb5_chunk_space(h.length) - sizeof(h));
		/* The script's sizes have 16 bits, and it makes up the index itself or has none. */
		uint32_t length = h.length < 0xffff ? h.length : 0xffff;
		unsigned char step[5] = {(unsigned char)h.kind, (unsigned char)h.content,
					 (unsigned char)h.stream, (unsigned char)(length >> 8),
					 (unsigned char)length};

		if (fread(payload, 1, space, in) != space)
			break;
		if (h.kind == TB5_KIND_INDEX || h.kind == TB5_KIND_END)
			continue;
		fwrite(step, sizeof(step), 1, out);
		fwrite(payload, 1, length, out);
	}
	fclose(in);
	return fclose(out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
