"""What the programs of a process tree used, by the kernel's own account (se.sum_exec_runtime): the truth that accounts by
program are compared with.

bpftrace reads it at each switch away from a task, when the kernel has just brought it up to date; the last one is at the
task's end. (taskstats has it without the time since the task's last tick or switch: nothing of most short ones.) A task
counts under the last name that it had, as a program that a shell started does. For root only.
"""

import collections
import os
import re
import signal
import subprocess

PROGRAM = '''
tracepoint:sched:sched_switch { $t = (struct task_struct *)curtask;
  @used[$t->pid, $t->start_time, $t->comm] = $t->se.sum_exec_runtime; }
tracepoint:sched:sched_process_fork { printf("fork %d %d\\n", args->parent_pid, args->child_pid); }
BEGIN { printf("ready\\n"); }
'''
FORK = re.compile(r'fork (\d+) (\d+)')
USED = re.compile(r'@used\[(\d+), (\d+), (.*)\]: (\d+)')


class Account:
  """Records while it is entered."""

  def __init__(self, output):
    self.output = output
    self.parents = {}
    self.tasks = collections.defaultdict(dict)  # id: {start: [(CPU time, name)]}

  def __enter__(self):
    with open(self.output, 'w', encoding='utf-8') as file:
      self.bpftrace = subprocess.Popen(['bpftrace', '-e', PROGRAM], stdout=file, stderr=subprocess.DEVNULL,
                                       env={**os.environ, 'BPFTRACE_MAP_KEYS_MAX': '200000'})
    while 'ready' not in self.text():
      try:
        status = self.bpftrace.wait(0.1)
      except subprocess.TimeoutExpired:
        continue
      raise OSError(f'bpftrace cannot read the accounts of tasks: status {status}')
    return self

  def text(self):
    with open(self.output, encoding='utf-8', errors='replace') as file:
      return file.read()

  def __exit__(self, *_):
    self.bpftrace.send_signal(signal.SIGINT)
    self.bpftrace.wait()
    text = self.text()
    if 'Lost' in text:
      raise OSError('bpftrace did not tell of all forks')
    for parent, child in FORK.findall(text):
      self.parents[int(child)] = int(parent)
    for task, start, name, ns in USED.findall(text):
      self.tasks[int(task)].setdefault(int(start), []).append((int(ns), name))
    os.unlink(self.output)

  def within(self, task, root):
    """Whether the task is the root or comes from it."""
    while task != root and task in self.parents:
      task = self.parents[task]
    return task == root

  def used(self, root):
    """{program: (CPU time, tasks)} of the root and of all that come from it; OSError where an id was given twice."""
    programs = {}
    for task, lives in self.tasks.items():
      if not self.within(task, root):
        continue
      if len(lives) > 1:
        raise OSError(f'id {task} was given to {len(lives)} tasks')
      ns, name = max(next(iter(lives.values())))
      seconds, tasks = programs.get(name, (0.0, 0))
      programs[name] = (seconds + ns / 1e9, tasks + 1)
    return programs
