"""What perf says of the scheduler, added up by program: names that change, ids that are used again, and what is not of the tree."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'e2e'))

import scheduler  # after the path to it

LINES = '''
[000] 5.000000000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=tbcollect
[000] 5.008000000: sched:sched_process_fork: comm=tbcollect pid=7 child_comm=tbcollect child_pid=10
[000] 5.009000000: sched:sched_switch: prev_comm=tbcollect prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=tbcollect
[001] 5.010000000: sched:sched_switch: prev_comm=other prev_pid=8 prev_prio=120 prev_state=R ==> next_comm=other
[000] 5.011000000: sched:sched_process_fork: comm=make it pid=10 child_comm=make it child_pid=11
[000] 5.012000000: sched:sched_switch: prev_comm=make it prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=make it
[000] 5.012100000: sched:sched_switch: prev_comm=make it prev_pid=11 prev_prio=120 prev_state=R ==> next_comm=make it
[000] 5.012500000: sched:sched_switch: prev_comm=cc1 prev_pid=11 prev_prio=120 prev_state=X ==> next_comm=make it
[001] 5.012600000: sched:sched_process_fork: comm=make it pid=10 child_comm=make it child_pid=12
[001] 5.012600000: sched:sched_switch: prev_comm=other prev_pid=8 prev_prio=120 prev_state=R ==> next_comm=make it
[001] 5.013100000: sched:sched_switch: prev_comm=cc1 prev_pid=12 prev_prio=120 prev_state=X ==> next_comm=other
[001] 5.013200000: sched:sched_process_fork: comm=other pid=8 child_comm=other child_pid=11
[001] 5.020000000: sched:sched_switch: prev_comm=other prev_pid=11 prev_prio=120 prev_state=X ==> next_comm=other
'''

recorded = scheduler.Account('unused')
for line in LINES.splitlines():
  recorded.take(line)
used = {name: (round(1e9 * seconds), tasks) for name, (seconds, tasks) in recorded.used(10).items()}
if used != {'make it': (3000000, 1), 'cc1': (1000000, 2)}:
  sys.exit(f'not what the lines say: {used}')
