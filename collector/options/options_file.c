#include "collector/options/options_file.h"

#include "collector/events/event_choice.h"
#include "collector/options/analysis_file.h"
#include "collector/options/option_values.h"
#include "collector/options/options.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct custom {
	struct options *options;
	const char *path;
	struct failure *failure;
	struct analysis_file file;
};

static const struct analysis_setting *find(const struct custom *custom, enum analysis_key key)
{
	return analysis_file_find(&custom->file, key);
}

__attribute__((format(printf, 3, 4))) static int
refuse(const struct custom *custom, const struct analysis_setting *setting, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return failure_set(custom->failure, FAILURE_EXIT_USAGE, "%s:%u: %s", custom->path,
			   setting->line, text);
}

/* Takes on or off. -1: it is neither. */
static int take_switch(const struct custom *custom, enum analysis_key key, bool *value)
{
	const struct analysis_setting *setting = find(custom, key);
	if (!setting)
		return 0;
	if (strcmp(setting->value, "on") != 0 && strcmp(setting->value, "off") != 0)
		return refuse(custom, setting, "bad value '%.64s' of %s: it is on or off",
			      setting->value, analysis_key_name(key));
	*value = strcmp(setting->value, "on") == 0;
	return 0;
}

/* Hands a value to the option of the same name. */
static int take_option(const struct custom *custom, enum analysis_key key)
{
	struct failure failure = {0};
	const struct analysis_setting *setting = find(custom, key);
	if (!setting || option_values_take_named(custom->options, analysis_key_name(key),
						 setting->value, &failure) == 0)
		return 0;
	return refuse(custom, setting, "%s", failure.text);
}

static int take_base(struct custom *custom)
{
	char names[256];
	const struct analysis_setting *setting = find(custom, ANALYSIS_KEY_BASE);
	const struct analysis *base = setting ? analysis_find(setting->value) : analysis_at(0);
	if (base)
		custom->options->custom = *base;
	if (base || !setting)
		return 0;
	analysis_list(names, sizeof(names));
	return refuse(custom, setting, "unknown base '%.64s': there is %s", setting->value, names);
}

static int take_sampling(const struct custom *custom)
{
	const struct analysis_setting *setting = find(custom, ANALYSIS_KEY_SAMPLING);
	const char *value = setting ? setting->value : "on";
	if (strcmp(value, "off") == 0)
		custom->options->sampling = OPTIONS_SAMPLING_OFF;
	else if (strcmp(value, "random") == 0)
		custom->options->sampling = OPTIONS_SAMPLING_RANDOM;
	else if (strcmp(value, "fixed") == 0)
		custom->options->sampling = OPTIONS_SAMPLING_FIXED;
	else if (strcmp(value, "on") != 0)
		return refuse(custom, setting,
			      "bad value '%.64s' of sampling: it is on, off, random or fixed",
			      value);
	return 0;
}

static int take_waker_stacks(const struct custom *custom)
{
	const struct analysis_setting *setting = find(custom, ANALYSIS_KEY_WAKER_STACKS);
	if (!setting)
		return 0;
	if (strcmp(setting->value, "on") != 0 && strcmp(setting->value, "sampled") != 0)
		return refuse(custom, setting,
			      "bad value '%.64s' of waker-stacks: it is sampled or on",
			      setting->value);
	custom->options->all_wakers = strcmp(setting->value, "on") == 0;
	return 0;
}

/* Waits are parts of the threads' states. */
static int take_states(struct custom *custom)
{
	struct analysis *analysis = &custom->options->custom;
	const struct analysis_setting *switches = find(custom, ANALYSIS_KEY_SWITCHES);
	if (take_switch(custom, ANALYSIS_KEY_WAITS, &analysis->waits) < 0 ||
	    take_switch(custom, ANALYSIS_KEY_SWITCHES, &analysis->switches) < 0)
		return -1;
	if (switches && !analysis->switches && analysis->waits)
		return refuse(custom, switches,
			      "switches = off, and waits are on: waits are made of switches; set "
			      "waits = off, or leave this out");
	analysis->switches |= analysis->waits;
	return 0;
}

static int take_stacks(const struct custom *custom)
{
	bool has_stacks = true;
	bool has_io = true;
	if (take_switch(custom, ANALYSIS_KEY_STACKS, &has_stacks) < 0 ||
	    take_switch(custom, ANALYSIS_KEY_IO_WAITS, &has_io) < 0)
		return -1;
	custom->options->unwind = has_stacks ? OPTIONS_UNWIND_AUTO : OPTIONS_UNWIND_NONE;
	custom->options->without_io_waits = !has_io;
	return 0;
}

static bool is_added(const struct options *options, const struct event_choice *choice)
{
	for (uint32_t i = 0; i < options->event_count; i++)
		if (strcmp(options->events[i].name, choice->name) == 0)
			return true;
	return false;
}

static int take_event(const struct custom *custom, const struct analysis_setting *setting)
{
	struct options *options = custom->options;
	struct event_choice choice;
	struct failure failure = {0};
	if (event_choice_parse(&choice, setting->value, &failure) < 0)
		return refuse(custom, setting, "%s", failure.text);
	if (is_added(options, &choice))
		return refuse(custom, setting, "the event %s is given already: leave one out",
			      choice.name);
	if (options->event_count == PROFILE_EVENTS_MAX)
		return refuse(custom, setting,
			      "more than %d events: collect the others in another run",
			      (int)PROFILE_EVENTS_MAX);
	options->events[options->event_count++] = choice;
	return 0;
}

static int take_events(const struct custom *custom)
{
	for (size_t i = 0; i < custom->file.count; i++)
		if (custom->file.settings[i].key == ANALYSIS_KEY_EVENT &&
		    take_event(custom, &custom->file.settings[i]) < 0)
			return -1;
	return 0;
}

/* A setting that says something about what is off. */
static int check_use(const struct custom *custom, enum analysis_key key, bool is_of_use,
		     const char *advice)
{
	const struct analysis_setting *setting = find(custom, key);
	if (!setting || is_of_use)
		return 0;
	return refuse(custom, setting, "%s = %.64s says nothing here: %s", analysis_key_name(key),
		      setting->value, advice);
}

static int check_waits(const struct custom *custom)
{
	static const enum analysis_key keys[] = {
		ANALYSIS_KEY_WAIT_THRESHOLD,
		ANALYSIS_KEY_WAIT_SOURCE,
		ANALYSIS_KEY_WAKER_STACKS,
		ANALYSIS_KEY_IO_WAITS,
	};
	const struct options *options = custom->options;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (check_use(custom, keys[i], options->custom.waits,
			      "waits are off; set waits = on") < 0)
			return -1;
	enum wakers_conflict conflict = option_values_wakers(options);
	if (conflict == WAKERS_UNSEEN)
		return refuse(custom, find(custom, ANALYSIS_KEY_WAKER_STACKS),
			      "waker-stacks = on, and the observer sees no wakers: leave this out, "
			      "or set wait-source = bpf");
	if (conflict == WAKERS_WITHOUT_STACKS)
		return refuse(custom, find(custom, ANALYSIS_KEY_WAKER_STACKS),
			      "waker-stacks = on, and stacks are off: leave out one of them");
	return 0;
}

static int check(const struct custom *custom)
{
	const struct options *options = custom->options;
	bool is_sampled = options->sampling != OPTIONS_SAMPLING_OFF;
	bool has_stacks = is_sampled || options->custom.waits || options->event_count > 0;
	if (check_waits(custom) < 0 ||
	    check_use(custom, ANALYSIS_KEY_INTERVAL, is_sampled, "sampling is off") < 0 ||
	    check_use(custom, ANALYSIS_KEY_STACKS, has_stacks,
		      "sampling is off, and nothing else has stacks; set waits = on, or an event") <
		    0)
		return -1;
	if (!is_sampled && !options->custom.switches && options->event_count == 0)
		return refuse(custom, find(custom, ANALYSIS_KEY_SAMPLING),
			      "sampling = off, and nothing else is on: set switches or waits = on, "
			      "or an event");
	return 0;
}

/* The file's name without directories and its last suffix. */
static void name_analysis(struct options *options, const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	snprintf(options->custom_name, sizeof(options->custom_name), "%s", name);
	char *dot = strrchr(options->custom_name, '.');
	if (dot && dot != options->custom_name)
		*dot = '\0';
	options->custom.name = options->custom_name;
	options->custom.suffix = "cu";
	options->analysis = &options->custom;
}

static int take_all(struct custom *custom)
{
	static const enum analysis_key of_options[] = {
		ANALYSIS_KEY_INTERVAL,
		ANALYSIS_KEY_WAIT_THRESHOLD,
		ANALYSIS_KEY_WAIT_SOURCE,
	};
	struct options *options = custom->options;
	if (analysis_file_read(custom->path, &custom->file, custom->failure) < 0 ||
	    take_base(custom) < 0 || take_sampling(custom) < 0 || take_states(custom) < 0 ||
	    take_waker_stacks(custom) < 0 || take_stacks(custom) < 0 || take_events(custom) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(of_options) / sizeof(of_options[0]); i++)
		if (take_option(custom, of_options[i]) < 0)
			return -1;
	if (check(custom) < 0)
		return -1;
	/* --switches may turn off what no waits need. */
	options->switches = options->custom.switches;
	options->has_switches = true;
	options->custom.switches = options->custom.waits;
	name_analysis(options, custom->path);
	return 0;
}

int options_file_apply(struct options *options, const char *path, struct failure *failure)
{
	struct custom *custom = calloc(1, sizeof(*custom));
	if (!custom)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	custom->options = options;
	custom->path = path;
	custom->failure = failure;
	int result = take_all(custom);
	free(custom);
	return result;
}
