#include "collector/states/switch_lead.h"

/* Between two accounts, and until another thread is followed. */
#define ACCOUNT_NS 50000000u
#define FOLLOW_NS  1000000000u

/* Means of fewer say little. */
#define TIMES_LEAST 64u

/* The sums are halved there: the mean follows the machine. */
#define TIMES_MOST 65536u

/* No switch takes longer, on whatever machine. */
#define LEAD_NS_MAX 40000

void switch_lead_in(struct switch_lead *lead, uint32_t tid, uint64_t time_ns)
{
	if (tid != lead->tid)
		return;
	lead->in_ns = time_ns;
	lead->times++;
}

void switch_lead_out(struct switch_lead *lead, uint32_t tid, uint64_t time_ns)
{
	if (tid != lead->tid)
		return;
	if (lead->in_ns == 0 || time_ns < lead->in_ns) {
		switch_lead_forget(lead);
		return;
	}
	lead->ran_ns += time_ns - lead->in_ns;
	lead->in_ns = 0;
}

bool switch_lead_asks(const struct switch_lead *lead, uint32_t tid, uint64_t time_ns)
{
	if (lead->failed_ns > 0 && time_ns - lead->failed_ns < ACCOUNT_NS)
		return false;
	if (lead->tid == 0)
		return true;
	uint64_t since_ns = tid == lead->tid ? lead->asked_ns : lead->since_ns;
	return time_ns > since_ns &&
	       time_ns - since_ns >= (tid == lead->tid ? ACCOUNT_NS : FOLLOW_NS);
}

/* A thread that switches seldom has nothing to correct. Returns whether there were enough. */
static bool learn(struct switch_lead *lead, uint64_t account_ns, uint64_t account_times)
{
	if (lead->times < TIMES_LEAST || account_times < TIMES_LEAST)
		return false;
	/* Negative by chance: only the sum tells. */
	int64_t more_ns =
		(int64_t)(account_ns / account_times) - (int64_t)(lead->ran_ns / lead->times);
	if (more_ns > LEAD_NS_MAX || more_ns < -LEAD_NS_MAX)
		return true;
	lead->sum_ns += more_ns * (int64_t)lead->times;
	lead->sum_times += lead->times;
	if (lead->sum_times >= TIMES_MOST) {
		lead->sum_ns /= 2;
		lead->sum_times /= 2;
	}
	return true;
}

void switch_lead_account(struct switch_lead *lead, uint32_t tid, uint64_t time_ns,
			 uint64_t account_ns, uint64_t account_times)
{
	bool goes_on = tid == lead->tid && account_ns >= lead->account_ns &&
		       account_times >= lead->account_times;
	lead->asked_ns = time_ns;
	/* Records come in bursts: the account may be no further yet. */
	if (goes_on &&
	    !learn(lead, account_ns - lead->account_ns, account_times - lead->account_times))
		return;
	lead->tid = tid;
	lead->since_ns = lead->in_ns = time_ns;
	lead->account_ns = account_ns;
	lead->account_times = account_times;
	lead->ran_ns = lead->times = 0;
}

void switch_lead_fail(struct switch_lead *lead, uint64_t time_ns)
{
	lead->failed_ns = time_ns;
}

void switch_lead_forget(struct switch_lead *lead)
{
	lead->tid = 0;
	lead->in_ns = 0;
}

uint64_t switch_lead_ns(const struct switch_lead *lead)
{
	bool is_known = lead->sum_times >= TIMES_LEAST && lead->sum_ns > 0;
	return is_known ? (uint64_t)lead->sum_ns / lead->sum_times : 0;
}
