#include "tools/external/external_table.h"

/* Takes `count` digits and what is behind them: any of `behind`, NUL among them if it is NULL. */
static bool take_digits(const char **text, unsigned count, const char *behind, unsigned *number)
{
	*number = 0;
	for (unsigned i = 0; i < count; i++, (*text)++) {
		if (**text < '0' || **text > '9')
			return false;
		*number = *number * 10 + (unsigned)(**text - '0');
	}
	if (!behind)
		return true;
	while (*behind && *behind != **text)
		behind++;
	if (!*behind)
		return false;
	(*text)++;
	return true;
}

static bool is_leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned days_in(unsigned year, unsigned month)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	return days[month - 1] + (month == 2 && is_leap(year) ? 1u : 0u);
}

/* Since 1970-01-01. */
static uint64_t count_days(unsigned year, unsigned month, unsigned day)
{
	unsigned past = year - 1;
	uint64_t days = 365 * (uint64_t)(year - 1970) + (past / 4 - past / 100 + past / 400) -
			(1969 / 4 - 1969 / 100 + 1969 / 400);
	for (unsigned i = 1; i < month; i++)
		days += days_in(year, i);
	return days + day - 1;
}

/* Digits of the decimals; those beyond ns are cut. */
static bool take_decimals(const char *text, uint64_t *ns)
{
	uint64_t unit = 100000000;
	*ns = 0;
	if (*text == '\0')
		return true;
	if (*text++ != '.')
		return false;
	for (; *text >= '0' && *text <= '9'; text++, unit /= 10)
		*ns += (uint64_t)(*text - '0') * unit;
	return *text == '\0';
}

bool external_parse_utc(const char *text, uint64_t *ns)
{
	unsigned year, month, day, hour, minute, second;
	uint64_t decimals;
	if (!take_digits(&text, 4, "-", &year) || !take_digits(&text, 2, "-", &month) ||
	    !take_digits(&text, 2, " T", &day) || !take_digits(&text, 2, ":", &hour) ||
	    !take_digits(&text, 2, ":", &minute) || !take_digits(&text, 2, NULL, &second) ||
	    !take_decimals(text, &decimals))
		return false;
	/* 60: a leap second, the next minute's first one for CLOCK_REALTIME. */
	if (year < 1970 || year > 2553 || month < 1 || month > 12 || day < 1 ||
	    day > days_in(year, month) || hour > 23 || minute > 59 || second > 60)
		return false;
	uint64_t seconds = ((count_days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
	*ns = seconds * 1000000000 + decimals;
	return true;
}
