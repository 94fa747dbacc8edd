"""Threads' times on and off the CPUs by `perf sched timehist`: what states of threads are compared with.

perf records the scheduler's events on all CPUs while it is entered; for root only. A row of timehist is a stretch on a
CPU, with the state that the thread left it in: the columns before it are blocked time (or, if the thread left its
stretch before in state R, ready time) and the time from its wake to the CPU.
"""

import collections
import os
import re
import subprocess

from scheduler import Recording

ROW = re.compile(r'\s*\d+\.\d+ +\[\d+\]\s+(.*\[(\d+)(?:/\d+)?\])\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+(\S+)\s*$')


class Times:
  """Seconds of one thread id."""

  def __init__(self):
    self.run = self.ready = self.blocked = self.woken = 0.0
    self.switches = 0
    self.state = None  # as its stretch before was left

  def take(self, wait, delay, run, state):
    """One row, in ms."""
    if self.state == 'R':
      self.ready += (wait + delay) / 1e3
    elif self.state is not None:
      self.blocked += wait / 1e3
      self.woken += delay / 1e3
    else:
      self.ready += delay / 1e3
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


class Timehist:
  """Records while it is entered; threads has the times afterwards, lost the records that perf lost."""

  def __init__(self, data):
    self.data = data
    self.threads = {}
    self.lost = False

  def __enter__(self):
    self.recording = Recording(['perf', 'sched', 'record', '-q', '-m', '8M', '-o', self.data])
    return self

  def __exit__(self, *_):
    errors = self.recording.end()
    shown = subprocess.run(['perf', 'sched', 'timehist', '-f', '-i', self.data, '--state'], check=True,
                           capture_output=True, text=True, errors='replace')
    self.lost = 'lost' in errors.lower() or 'lost' in shown.stderr.lower()
    self.threads = parse(shown.stdout)
    os.unlink(self.data)
