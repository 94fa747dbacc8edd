"""What the programs of a process tree used, by the scheduler's switches: the truth that accounts by program are
compared with.

perf records each switch and fork on all CPUs: what a task used is the time from each switch to it to the next one on
that CPU. (sched_stat_runtime has the kernel's own account, but is not told to perf while a sampler's timer holds
perf: a tenth was missing.) A task counts under the last name that it had, as a program that a shell started does. For
root only, like the events.
"""

import collections
import os
import re
import signal
import subprocess

SWITCH = re.compile(r'\[(\d+)\]\s+(\d+)\.(\d{9}):.*sched_switch: prev_comm=(.*) prev_pid=(\d+) prev_prio=')
FORK = re.compile(r'sched_process_fork: comm=.* pid=(\d+) child_comm=.* child_pid=(\d+)')


class Recording:
  """perf at work, from the moment that this is made until it is ended."""

  def __init__(self, command):
    """command: a way to record that takes the options of perf record."""
    control, acknowledge = os.pipe(), os.pipe()
    self.perf = subprocess.Popen([*command, '-D', '-1', '--control', f'fd:{control[0]},{acknowledge[1]}'],
                                 pass_fds=(control[0], acknowledge[1]), stderr=subprocess.PIPE, text=True)
    os.close(control[0])
    os.close(acknowledge[1])
    os.write(control[1], b'enable\n')
    ready = os.read(acknowledge[0], 8)
    self.ends = (control[1], acknowledge[0])
    if not ready.startswith(b'ack'):
      raise OSError(f'perf cannot record the scheduler: {self.perf.communicate()[1].strip()}')

  def end(self):
    """What perf said."""
    self.perf.send_signal(signal.SIGINT)
    _, errors = self.perf.communicate()
    for end in self.ends:
      os.close(end)
    return errors


class Account:
  """Records while it is entered."""

  def __init__(self, data):
    self.data = data
    self.since = {}  # CPU: time of its last switch
    self.latest = {}  # id: the task that has it now, ids being used again
    self.names, self.charged, self.parents = {}, collections.Counter(), {}

  def __enter__(self):
    events = ['-e', 'sched:sched_switch', '-e', 'sched:sched_process_fork']
    self.recording = Recording(['perf', 'record', '-q', '-a', '-m', '4M', *events, '-o', self.data])
    return self

  def __exit__(self, *_):
    errors = self.recording.end()
    if 'lost' in errors or self.recording.perf.returncode not in (0, -signal.SIGINT):
      raise OSError(f'perf did not record all of the scheduler: {errors.strip()}')
    text = subprocess.run(['perf', 'script', '-f', '-i', self.data, '--ns', '-F', 'cpu,time,event,trace'], check=True, capture_output=True,
                          text=True, errors='replace').stdout
    for line in text.splitlines():
      self.take(line)
    os.unlink(self.data)

  def task(self, number):
    """The task that has the id at this moment of the recording: (id, how many had it before)."""
    return self.latest.setdefault(int(number), (int(number), 0))

  def take(self, line):
    switch, fork = SWITCH.search(line), FORK.search(line)
    if switch:
      cpu, now, task = switch[1], int(switch[2] + switch[3]), self.task(switch[5])
      self.names[task] = switch[4]
      self.charged[task] += now - self.since.get(cpu, now)
      self.since[cpu] = now
    elif fork:
      number, before = self.task(fork[2])
      self.latest[number] = (number, before + 1)
      self.parents[self.latest[number]] = self.task(fork[1])

  def within(self, task, root):
    """Whether the task is the root or comes from it."""
    while task[0] != root and task in self.parents:
      task = self.parents[task]
    return task[0] == root

  def used(self, root):
    """{program: (CPU time, tasks)} of the root and of all that come from it."""
    programs = {}
    for task, ns in self.charged.items():
      if self.within(task, root):
        seconds, tasks = programs.get(self.names[task], (0.0, 0))
        programs[self.names[task]] = (seconds + ns / 1e9, tasks + 1)
    return programs
