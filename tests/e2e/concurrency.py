"""-c concurrency on programs that know their own times: how many threads run and are ready over time, and each
thread's time in each state; launched and attached to, by root and by an ordinary user."""

import json
import os
import signal
import subprocess
import time

import support
from support import check, check_ratio, collect_well, report, section, summary, target, wait_for

WAITING = 'waiting'
# Processes one after the other with the same id, as long as nobody else gets it: each burns a while, then sleeps for a while. Prints the
# id, and for how many of them.
REUSED = """
import json, os, time
def life():
  pid = os.fork()
  if pid == 0:
    while time.process_time() < 0.03: pass
    time.sleep(0.05)
    os._exit(0)
  os.waitpid(pid, 0)
  return pid
first, lives = life(), 1
for i in range(10):
  with open('/proc/sys/kernel/ns_last_pid', 'w') as file: file.write(str(first - 1))
  lives += life() == first
print(json.dumps({'pid': first, 'lives': lives}))
"""


def truths(text):
  """The lines that the target printed."""
  return [json.loads(line) for line in text.splitlines() if line.startswith('{')]


def elapsed_by_count(rows, column):
  return {int(row[column]): float(row['Elapsed Time']) for row in rows}


def check_phases(uid):
  """0, 1 and as many threads as there are CPUs. Other programs may keep a CPU from a thread, which is then ready."""
  got = collect_well([target(WAITING), 'phases'], options=['-c', 'concurrency'], uid=uid)
  phases = truths(got.stdout)
  total = summary(got.result)
  rows = report(got.result, 'utilization')
  running = elapsed_by_count(rows, 'Simultaneously Utilized Logical CPUs')
  check_ratio('the rows of utilization add up to the elapsed time', sum(running.values()), total['elapsed_s'], 0.1)
  burnt = sum(phase['cpu_s'] for phase in phases)
  used = sum(count * elapsed for count, elapsed in running.items())
  check(burnt * 0.98 <= used <= burnt * 1.02 + 0.02 + got.steal, 'running threads times elapsed is what they burnt',
        f'{used:.4f} s, {burnt:.4f} s burnt, {got.steal:.2f} stolen')
  threads = elapsed_by_count(report(got.result, 'utilization', '--by', 'threads'), 'Simultaneously Running Threads')
  for phase in phases:
    # At the last count others come and go beside the phase's threads. What blocks elsewhere (pages read from disk) is in no phase.
    seen = sum(elapsed for count, elapsed in threads.items() if count == phase['phase'] or count > phase['phase'] >= 2)
    others = sum(other['together_s'] for other in phases if other is not phase)
    least, most = 0.98 * phase['together_s'], total['elapsed_s'] - 0.98 * others
    check(least <= seen <= most, f'{phase["phase"]} threads run or are ready', f'{seen:.4f} s, {least:.4f} to {most:.4f} s expected')


def known_threads(result):
  return [row for row in report(result, 'threads') if row['TID']]


def rows_by_tid(result):
  return {int(row['TID']): row for row in known_threads(result)}


def check_sleep(uid):
  got = collect_well([target(WAITING), 'sleep=20x10'], options=['-c', 'concurrency'], uid=uid)
  told, = truths(got.stdout)
  row = rows_by_tid(got.result)[told['tid']]
  wait, ready, slept = float(row['Wait Time']), float(row['Ready Time']), told['time_s']
  # It may be ready, and not run, in its calls and between them.
  check(wait <= 1.005 * slept and wait + ready >= 0.98 * slept, 'a thread that sleeps waits as long',
        f'{wait:.4f} s blocked, {ready:.4f} s ready, {slept:.4f} s in its calls')


def check_crowd(uid):
  """Four threads for each CPU: what is not run is ready."""
  got = collect_well([target(WAITING), 'crowd=1x100'], options=['-c', 'concurrency'], uid=uid)
  told, = truths(got.stdout)
  workers = [row for row in known_threads(got.result) if int(row['TID']) != int(row['PID'])]
  check(len(workers) == told['threads'], 'all threads are there', f'{len(workers)} of {told["threads"]}')
  ready, ran = sum(float(row['Ready Time']) for row in workers), sum(float(row['CPU Time']) for row in workers)
  check(ready > 2 * ran, 'threads that outnumber the CPUs by four are ready most of their time', f'{ready:.3f} s ready, {ran:.3f} s run')
  check_ratio('they ran as long as they say', ran, told['cpu_s'], 2, got.steal)
  counts = elapsed_by_count(report(got.result, 'utilization', '--by', 'threads'), 'Simultaneously Running Threads')
  average = sum(count * elapsed for count, elapsed in counts.items()) / sum(counts.values())
  expected = (ready + ran + sum(float(row['CPU Time']) + float(row['Ready Time']) for row in known_threads(got.result)
                                if int(row['TID']) == int(row['PID']))) / sum(counts.values())
  # A thread runs while the host has its CPU, but uses none.
  check_ratio('the mean concurrency is that of the threads', average, expected, 0.5, got.steal / sum(counts.values()))


def states_of(pid):
  """The states of its threads, as stat has them."""
  for tid in os.listdir(f'/proc/{pid}/task'):
    with open(f'/proc/{pid}/task/{tid}/stat', encoding='ascii', errors='replace') as file:
      yield file.read().rpartition(')')[2].split()[0]


def check_attached():
  """Threads that wait all the time have no switch: their state comes from /proc."""
  with subprocess.Popen([target(WAITING), 'idlers=50x60000'], stdout=subprocess.DEVNULL) as program:
    wait_for(lambda: len(os.listdir(f'/proc/{program.pid}/task')) == 51 and set(states_of(program.pid)) == {'S'})
    result = support.new_result()
    subprocess.run([support.tool('tbcollect'), '-c', 'concurrency', '-p', str(program.pid), '-d', '0.5', '-r', result], check=True,
                   capture_output=True)
    program.kill()
  total = summary(result)
  rows = known_threads(result)
  check(len(rows) == 51, 'all threads are there', len(rows))
  # A thread's life here begins when it is attached to: one by one, and while the host has the CPU not at all.
  off = [(row['Wait Time'], row['Lifetime']) for row in rows if abs(float(row['Wait Time']) - float(row['Lifetime'])) > 0.01]
  check(not off and max(float(row['Lifetime']) for row in rows) >= 0.98 * total['elapsed_s'], 'each waited all the time', off[:3])


def check_killed():
  """kill -9 while threads wait: their last state ends with them."""
  result = support.new_result()
  with subprocess.Popen([support.tool('tbcollect'), '-c', 'concurrency', '-r', result, '--', target(WAITING), 'idlers=20x60000'],
                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as collector:
    program = support.child_of(collector)
    # A thread that is there may still be ready for its first turn.
    wait_for(lambda: len(os.listdir(f'/proc/{program}/task')) == 21 and set(states_of(program)) == {'S'})
    began = time.monotonic()
    time.sleep(0.3)
    os.kill(program, signal.SIGKILL)
    waited = time.monotonic() - began
    collector.communicate(timeout=support.HANGS_S)
  check(collector.returncode == 137, 'the status is the program\'s', collector.returncode)
  waits = [float(row['Wait Time']) for row in known_threads(result) if int(row['TID']) != program]
  check(len(waits) == 20 and min(waits) >= 0.98 * waited - 0.01, 'what they waited up to the kill is there',
        f'{len(waits)} threads, {min(waits, default=0):.3f} s at least, {waited:.3f} s between')


def check_stopped():
  """Threads that sleep are stopped meanwhile: told apart by BPF, for root."""
  result = support.new_result()
  with subprocess.Popen([support.tool('tbcollect'), '-v', '-c', 'concurrency', '-r', result, '--', target(WAITING), 'idlers=8x600'],
                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as collector:
    program = support.child_of(collector)

    def all_are(states):
      """Every thread of the program is in one of the states."""
      found = []
      for thread in os.listdir(f'/proc/{program}/task'):
        with open(f'/proc/{program}/task/{thread}/stat', encoding='utf-8', errors='replace') as file:
          found.append(file.read().rpartition(')')[2].split()[0])
      return len(found) == 9 and set(found) <= set(states)
    wait_for(lambda: all_are('S'))
    before = time.monotonic()
    os.kill(program, signal.SIGSTOP)
    wait_for(lambda: all_are('T'))
    began = time.monotonic()
    time.sleep(0.2)
    ended = time.monotonic()
    os.kill(program, signal.SIGCONT)
    errors = collector.communicate(timeout=support.HANGS_S)[1]
  after = time.monotonic()
  stopped, least, most = summary(result)['states']['stopped_s'], 9 * (ended - began), 9 * (after - before)
  if ', by BPF' not in errors:
    support.skip('stopped threads', 'switches are not recorded by BPF here')
  else:
    check(least <= stopped <= most, 'nine stopped threads', f'{stopped:.3f} s, {least:.3f} to {most:.3f} s expected')


def check_reused_ids(options):
  """Each life has its own row, its own time on a CPU and its own sleep."""
  if not os.access('/proc/sys/kernel/ns_last_pid', os.W_OK):
    support.skip('ids that are used again', 'the kernel lets nobody choose them')
    return
  got = collect_well(['/usr/bin/python3', '-c', REUSED], options=options)
  told, = truths(got.stdout)
  rows = [row for row in known_threads(got.result) if int(row['TID']) == told['pid']]
  check(len(rows) == told['lives'] > 1, 'each life of an id has a row', f'{len(rows)} of {told["lives"]}')
  waited, ready, ran = [[float(row[column]) for row in rows] for column in ('Wait Time', 'Ready Time', 'CPU Time')]
  # A sleep begins in its call, before the thread leaves its CPU: it may be preempted there.
  slept = [wait + before for wait, before in zip(waited, ready)]
  check(min(slept) >= 0.049, 'each life has its sleep', f'{min(waited):.4f} to {max(waited):.4f} s, and {min(ready):.4f} to {max(ready):.4f} s ready')
  check_ratio('their sleeps add up', sum(waited), 0.05 * told['lives'], 10, got.steal)
  # A life's own clock begins a little after it.
  check(min(ran) >= 0.029 and sum(ran) <= 1.15 * 0.03 * told['lives'] + got.steal, 'each life has its time on a CPU',
        f'{min(ran):.4f} to {max(ran):.4f} s')


def check_many():
  """10,000 threads that all wait."""
  got = collect_well([target(WAITING), 'idlers=10000x300'], options=['-c', 'concurrency'], interval='10ms')
  told, = truths(got.stdout)
  rows = known_threads(got.result)
  check(len(rows) == told['threads'] + 1, 'all threads are there', f'{len(rows)} of {told["threads"] + 1}')
  times = [float(row[column]) for row in rows for column in ('CPU Time', 'Wait Time', 'Ready Time')]
  check(min(times) >= 0 and max(times) <= summary(got.result)['elapsed_s'] * 1.001, 'no time is negative, or longer than the run',
        f'{min(times):.6f} to {max(times):.4f} s')


def main():
  support.start()
  users = [(None, '')] + ([(support.NOBODY, ', as an ordinary user')] if os.getuid() == 0 else [])
  for uid, who in users:
    for name, checks in (('phases', check_phases), ('sleep', check_sleep), ('crowd', check_crowd)):
      with section(name + who):
        checks(uid)
  for name, options in (('concurrency', ('-c', 'concurrency')), ('the observer', ('-c', 'locks-and-waits', '--wait-source', 'observer'))):
    with section(f'ids that are used again, {name}'):
      check_reused_ids(options)
  for name, checks in (('attached', check_attached), ('killed', check_killed), ('stopped', check_stopped), ('many threads', check_many)):
    with section(name):
      checks()
  support.finish()


main()
