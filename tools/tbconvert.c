/* tbconvert: exports a result for other tools, and completes results. */
#include "tools/convert/command.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/suggest.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct command commands[] = {
	{"export", "--to FORMAT [-o FILE|-] [options] [RESULT]", "write for another tool",
	 command_export_run},
	{"finalize", "[--debug-dir DIR] [--any-owner] [-q] [RESULT]",
	 "read symbols into the result", command_finalize_run},
	{"import", "[-r DIR] [options] FILE | RESULT CSV...",
	 "make a result of another tool's file, or add external data to a result",
	 command_import_run},
	{"recover", "[-o FILE] [RESULT]", "save what is whole of a damaged or unfinished result",
	 command_recover_run},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_commands(void)
{
	puts("Usage: tbconvert COMMAND [options] [RESULT]\n"
	     "RESULT is a result directory or its tb5 file; without one, the newest result in\n"
	     "the current directory.\n\nCommands:");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("  tbconvert %s %s\n      %s\n", commands[i].name, commands[i].usage,
		       commands[i].what);
	puts("\nCOMMAND --help shows the options and formats of export and import.");
}

/* Fits a terminal of 24 lines. */
static void print_command(const struct command *command)
{
	printf("Usage: tbconvert %s %s\n    %s\n", command->name, command->usage, command->what);
	if (command->run == command_export_run)
		command_export_print_options();
	if (command->run == command_import_run)
		command_import_print_options();
}

static bool is_help(const char *argument)
{
	return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *names[COMMAND_COUNT + 1] = {NULL};
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i].name;
	char *advice = suggest_advise(name, names, COMMAND_HELP);
	diagnose("%s: no such command; %s", name, advice);
	free(advice);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	/* A reader that closes the pipe early is no failure; write errors are seen at the end. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* Addresses and names of programs are for their owner only. */
	umask(077);
	if (argc < 2) {
		diagnose("no command; see " COMMAND_HELP);
		return EXIT_USAGE;
	}
	const struct command *command = find_command(argv[1]);
	if (is_help(argv[1]) || (command && argc > 2 && is_help(argv[2]))) {
		if (command)
			print_command(command);
		else
			print_commands();
		return EXIT_SUCCESS;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("tbconvert " TBCOLLECT_VERSION);
		return EXIT_SUCCESS;
	}
	return command ? command->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}
