"""What perf says of the scheduler, added up by program: names that change, ids that are used again, and what is not of the tree."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'e2e'))

import scheduler  # after the path to it

LINES = '''
sched:sched_stat_runtime: comm=tbcollect pid=7 runtime=9000000 [ns]
sched:sched_process_fork: comm=tbcollect pid=7 child_comm=tbcollect child_pid=10
sched:sched_stat_runtime: comm=tbcollect pid=10 runtime=1000000 [ns]
sched:sched_stat_runtime: comm=make it pid=10 runtime=2000000 [ns]
sched:sched_process_fork: comm=make it pid=10 child_comm=make it child_pid=11
sched:sched_stat_runtime: comm=make it pid=11 runtime=100000 [ns]
sched:sched_stat_runtime: comm=cc1 pid=11 runtime=400000 [ns]
sched:sched_process_fork: comm=make it pid=10 child_comm=make it child_pid=12
sched:sched_stat_runtime: comm=cc1 pid=12 runtime=500000 [ns]
sched:sched_process_fork: comm=other pid=8 child_comm=other child_pid=11
sched:sched_stat_runtime: comm=other pid=11 runtime=7000000 [ns]
'''

recorded = scheduler.Account('unused')
for line in LINES.splitlines():
  recorded.take(line)
used = {name: (round(1e9 * seconds), tasks) for name, (seconds, tasks) in recorded.used(10).items()}
if used != {'make it': (3000000, 1), 'cc1': (1000000, 2)}:
  sys.exit(f'not what the lines say: {used}')
