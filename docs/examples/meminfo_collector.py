#!/usr/bin/env python3
"""A custom collector: memory in use and page faults of the whole machine, ten times a second.

    tbcollect --custom-collector docs/examples/meminfo_collector.py -- ./myapp
    tbreport counters

It is run once for each step, with the step in AMPLXE_COLLECT_CMD, and has to return at once: the step start
leaves a writer in the background. VTune runs it in the same way (vtune -custom-collector=...).
"""

import fcntl
import os
import subprocess
import sys
import time

INTERVAL_S = 0.1
INSTANT = ('MemAvailable', 'Dirty', 'AnonPages')  # kB, of /proc/meminfo
TOTAL = ('pgfault', 'pgmajfault')  # since boot, of /proc/vmstat


def told(name):
  """What the profiler tells us; newer versions of VTune have names of their own."""
  return os.environ.get('AMPLXE_' + name) or os.environ.get('VTUNE_' + name) or ''


# The file's name has to end in the host's, or the data counts as another machine's.
CSV = os.path.join(told('DATA_DIR'), f'meminfo-hostname-{told("HOSTNAME")}.csv')
STATE = os.path.join(told('DATA_DIR'), '.meminfo-state')  # the last step


def read_values(path):
  with open(path, encoding='ascii') as file:
    return {line.split()[0].rstrip(':'): line.split()[1] for line in file}


def set_state(step):
  with open(STATE + '.new', 'w', encoding='ascii') as file:
    file.write(step)
  os.rename(STATE + '.new', STATE)


def state():
  try:
    with open(STATE, encoding='ascii') as file:
      return file.read()
  except FileNotFoundError:
    return 'stop'


def write(csv):
  """One table: a time, a column for each counter; COUNT is for totals, INST for values of a moment."""
  columns = [name + '.INST' for name in INSTANT] + [name + '.COUNT' for name in TOTAL]
  csv.write(','.join(['tsc.CLOCK_MONOTONIC_RAW'] + columns) + '\n')
  while (step := state()) != 'stop':
    if step != 'pause':
      values = read_values('/proc/meminfo') | read_values('/proc/vmstat')
      now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
      csv.write(','.join([str(now)] + [values.get(name, '') for name in INSTANT + TOTAL]) + '\n')
      csv.flush()
    time.sleep(INTERVAL_S)


def start():
  set_state('start')
  csv = open(CSV, 'w', encoding='ascii')
  fcntl.flock(csv, fcntl.LOCK_EX)  # kept by the writer until it ends
  subprocess.Popen([sys.executable, __file__, 'write'], stdin=subprocess.DEVNULL, stdout=csv, pass_fds=[csv.fileno()])


def stop():
  set_state('stop')
  with open(CSV, encoding='ascii') as csv:
    fcntl.flock(csv, fcntl.LOCK_EX)  # waits for the writer's last row
  os.remove(STATE)


def main():
  step = told('COLLECT_CMD')
  if sys.argv[1:] == ['write']:
    write(sys.stdout)
  elif not told('DATA_DIR') or not told('HOSTNAME'):
    sys.exit('meminfo_collector.py: start it with tbcollect --custom-collector')
  elif step == 'start':
    start()
  elif step == 'stop':
    stop()
  elif step in ('pause', 'resume'):
    set_state(step)
  else:
    sys.exit(f'meminfo_collector.py: unknown step {step!r}')


if __name__ == '__main__':
  main()
