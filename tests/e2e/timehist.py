"""Threads' times on and off the CPUs by `perf sched timehist`: what states of threads are compared with.

perf records the scheduler's events on all CPUs while it is entered; for root only. A row of timehist is a stretch on a
CPU, with the state that the thread left it in. The columns before it are the time off the CPUs (all of it ready, if the
thread left its stretch before in state R), and how much of it came after the wake; a new thread has only this one.

Some machines' kernels tell perf nothing while some task runs (an agent of a virtual machine's host), so that its switch to
the next one is missing. timehist gives all the time since the record before to the next one. Both records show it: one
switches to another task than the next one of that CPU switches from. How the time between is shared is open for these two
tasks, and for no other: what a task does itself is told.
"""

import collections
import os
import re
import subprocess

from scheduler import Recording

SWITCH = re.compile(r'\[(\d+)\]\s+(\d+)\.(\d{9}):.*prev_pid=(\d+) .* next_pid=(\d+)')
ROW = re.compile(r'\s*\d+\.\d+ +\[\d+\]\s+(.*\[(\d+)(?:/\d+)?\])\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+(\S+)\s*$')


class Times:
  """Seconds of one thread id."""

  def __init__(self):
    self.run = self.ready = self.blocked = self.woken = 0.0
    self.switches = 0
    self.given = 0.0  # counted as run, where another may have run
    self.missed = 0.0  # not counted, where it may have run
    self.state = None  # as its stretch before was left

  def take(self, wait, delay, run, state):
    """One row, in ms."""
    if self.state is None:
      self.ready += delay / 1e3
    elif self.state == 'R':
      self.ready += wait / 1e3
    else:
      self.blocked += (wait - delay) / 1e3
      self.woken += delay / 1e3
    self.run += run / 1e3
    self.state = state[0]
    self.switches += 1


def parse(text):
  """{thread id: Times} of timehist's output."""
  threads = collections.defaultdict(Times)
  for line in text.splitlines():
    row = ROW.match(line)
    if row:
      threads[int(row[2])].take(float(row[3]), float(row[4]), float(row[5]), row[6])
  return threads


def add_open(threads, text):
  """Adds what is open to the threads, from perf script's lines of the same switches."""
  latest = {}  # CPU: (time, the task that it switched to)
  for line in text.splitlines():
    switch = SWITCH.search(line)
    if not switch:
      continue
    cpu, now, left, entered = switch[1], int(switch[2] + switch[3]), int(switch[4]), int(switch[5])
    since, running = latest.get(cpu, (now, left))
    if running != left:
      threads[left].given += (now - since) / 1e9
      threads[running].missed += (now - since) / 1e9
    latest[cpu] = (now, entered)


def switches_of(data):
  """perf script's lines of a recording's switches."""
  lines = subprocess.run(['perf', 'script', '-f', '-i', data, '--ns', '-F', 'cpu,time,event,trace'], check=True, capture_output=True,
                         text=True, errors='replace').stdout.splitlines()
  return '\n'.join(line for line in lines if 'sched:sched_switch:' in line)


class Timehist:
  """Records while it is entered; threads has the times afterwards, lost the records that perf lost."""

  def __init__(self, data):
    self.data = data
    self.threads = {}
    self.lost = False

  def __enter__(self):
    self.recording = Recording(['perf', 'sched', 'record', '-q', '-m', '64M', '-o', self.data])
    return self

  def __exit__(self, *_):
    errors = self.recording.end()
    shown = subprocess.run(['perf', 'sched', 'timehist', '-f', '-i', self.data, '--state'], check=True,
                           capture_output=True, text=True, errors='replace')
    self.lost = 'lost' in errors.lower() or 'lost' in shown.stderr.lower()
    self.threads = parse(shown.stdout)
    add_open(self.threads, switches_of(self.data))
    os.unlink(self.data)
