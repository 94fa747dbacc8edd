"""What is read of perf sched timehist, and what is open there where switches are missing."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'e2e'))

import timehist  # after the path to it

ROWS = '''
           time    cpu  task name                       wait time  sch delay   run time  state
    5.001000 [0000]  make[10/7]                          0.000      0.500      1.000      S
    5.004000 [0000]  make[10/7]                          2.000      0.250      1.000      R
    5.006000 [0001]  make[10/7]                          1.500      0.000      0.500      Z
'''
SWITCHES = '''
[000] 5.000000000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=make next_pid=10 next_prio=120
[000] 5.001000000: sched:sched_switch: prev_comm=make prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=agent next_pid=20 next_prio=120
[001] 5.002000000: sched:sched_switch: prev_comm=a b prev_pid=30 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
[000] 5.003000000: sched:sched_switch: prev_comm=make prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
[001] 5.004000000: sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=30 next_prio=120
'''


def figures(times):
  return tuple(round(1e6 * value) for value in (times.run, times.ready, times.blocked, times.woken, times.given, times.missed))


threads = timehist.parse(ROWS)
timehist.add_open(threads, SWITCHES)
expected = {10: (2500, 2000, 1750, 250, 2000, 0), 20: (0, 0, 0, 0, 0, 2000)}
seen = {number: figures(times) for number, times in threads.items()}
if seen != expected or threads[10].state != 'Z':
  sys.exit(f'not what the lines say: {seen}')
