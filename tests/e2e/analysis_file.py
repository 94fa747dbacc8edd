"""Custom analyses (-c FILE): each setting does what it says, on programs of the distribution; events beside CPU time are
counted as the program's own account and perf count them; what is wrong with a file is said before the program starts."""

import os
import subprocess

import support
from support import check, collect, collect_well, report, run_tool, scratch, section, summary

ROOT = os.path.dirname(os.path.abspath(__file__)) + '/../..'
PAGES = 20000
PERIOD = 10
# Touches pages one by one, then says how many faults its process had.
TOUCH = f'''
import mmap, resource
memory = mmap.mmap(-1, {PAGES} * mmap.PAGESIZE)
for page in range({PAGES}):
    memory[page * mmap.PAGESIZE] = 1
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_minflt + usage.ru_majflt)
'''
# Waits for a socket, a pipe and a moment, 50 ms each.
WAIT = '''
import os, socket, threading, time
time.sleep(0.05)
here, there = socket.socketpair()
threading.Timer(0.05, lambda: there.send(b'x')).start()
here.recv(1)
end, start = os.pipe()
threading.Timer(0.05, lambda: os.write(start, b'x')).start()
os.read(end, 1)
'''


def write(text):
  """A file that anybody may read."""
  path = scratch('my.analysis')
  with open(path, 'w', encoding='ascii') as file:
    file.write(text)
  os.chmod(path, 0o644)
  return path


def python(program):
  return ['/usr/bin/python3', '-I', '-c', program]


def analysed(text, command, options=(), **others):
  return collect_well(command, options=['-c', write(text), *options], **others)


def counted(rows, event):
  return sum(int(row[event]) for row in rows)


def check_faults(uid):
  """The events that a sample stands for are lost at most once on each CPU, at the end."""
  got = analysed(f'event = page-faults/period={PERIOD}/\n', python(TOUCH), uid=uid)
  told = int(got.stdout)
  seen = summary(got.result)['events']['page-faults']
  # The process's account begins before its exec and ends before its end; an ordinary user's event leaves out what the kernel touches.
  least = 0.98 * told - 500 if uid is None else PAGES
  check(least <= seen <= 1.02 * told + 500, 'faults as in the account of the process', f'{seen}, {told} told, at least {least:.0f} expected')
  total = summary(got.result, '--event', 'page-faults')
  rows = report(got.result, 'hotspots', '--event', 'page-faults')
  lost = total['samples_lost'] * PERIOD
  sum_of_samples = counted(rows, 'page-faults')
  check(seen - lost - PERIOD * os.cpu_count() <= sum_of_samples <= seen, 'the samples stand for all of them',
        f'{sum_of_samples} of {seen}, {lost} lost')
  check(sum_of_samples == PERIOD * total['samples'], 'each for a period', f'{total["samples"]} samples')
  threads = report(got.result, 'threads', '--event', 'page-faults')
  check(counted(threads, 'page-faults') == sum_of_samples, 'so do the threads', str(threads))
  check(summary(got.result)['cpu_time_s'] > 0 and summary(got.result)['samples'] > 0, 'CPU time is sampled beside them')
  whole = total['stacks']['complete']
  check(whole >= 0.95 * total['samples'], 'their stacks are whole', f'{whole} of {total["samples"]}')
  folded = run_tool('tbconvert', 'export', '--to', 'folded', '--event', 'page-faults', '-o', '-', got.result).stdout
  count = sum(int(line.rsplit(' ', 1)[1]) for line in folded.splitlines())
  check(count in (total['samples'], sum_of_samples), 'exported too', f'{count}')


def check_only_event():
  got = analysed('sampling = off\nevent = page-faults\n', python(TOUCH))
  total = summary(got.result)
  check(total['event']['name'] == 'page-faults', 'an event alone is shown without --event', str(total['event']))
  # Drawn by frequency: the kernel sets the period anew while it runs.
  check(total['samples'] > 0 and total['event']['count'] <= 1.2 * total['events']['page-faults'] + 1000, 'with its numbers',
        f'{total["samples"]} samples of {total["event"]["count"]}, {total["events"]}')
  done = run_tool('tbreport', '--event', 'cycles', got.result, check_status=False)
  check(done.returncode == 1 and 'no samples of the event cycles; use page-faults' in done.stderr, 'another one is refused', done.stderr)


def perf_counts(events, command):
  data = scratch('perf.data')
  subprocess.run(['perf', 'record', '-q', *(word for event in events for word in ('-e', event)), '-c', '1', '-o', data, '--', *command],
                 check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
  text = subprocess.run(['perf', 'script', '-i', data, '-F', 'event'], check=True, capture_output=True, text=True).stdout
  lines = [line.strip().rstrip(':') for line in text.splitlines()]
  return {event: lines.count(event) for event in events}


def check_tracepoints():
  events = ['sched:sched_process_exec', 'sched:sched_process_fork']
  command = ['/bin/sh', '-c', '/bin/true; /bin/true | /bin/cat; /bin/echo x; exit 0']
  got = analysed(''.join(f'event = {event}\n' for event in events), command)
  expected = perf_counts(events, command)
  seen = summary(got.result)['events']
  check(seen == expected, 'tracepoints as perf record counts them', f'{seen}, perf {expected}')
  for event in events:
    samples = summary(got.result, '--event', event)['samples']
    check(samples == expected[event], f'each {event} has a sample', f'{samples} of {expected[event]}')


def check_without_samples():
  got = analysed('sampling = off\nswitches = on\n', python('x = sum(i * i for i in range(3000000))'))
  total = summary(got.result)
  used = sum(float(row['CPU Time']) for row in report(got.result, 'threads'))
  check(total['samples'] == 0 and total['sampling']['times'] == 'off', 'no samples', str(total['sampling']))
  # The scheduler's account of the program, and the threads' by the switches.
  check(abs(used - total['cpu_time_s']) <= 0.02 * used + 0.02 + got.steal, 'the CPU time is known all the same', f'{used:.4f} s of {total["cpu_time_s"]:.4f}')


def types(result):
  return {row['Type']: float(row['Wait Time']) for row in report(result, 'waits', '--group-by', 'type')}


def check_waits(source):
  settings = f'waits = on\nwait-source = {source}\nwait-threshold = 5ms\n'
  every = types(analysed(settings, python(WAIT)).result)
  some = analysed(settings + 'io-waits = off\nstacks = off\n', python(WAIT))
  left = types(some.result)
  check('Socket' in every and every['Socket'] >= 0.04, 'waits for sockets', str(every))
  check('Socket' not in left and 'Stream' not in left, 'io-waits = off leaves them out', str(left))
  check(left.get('Pipe', 0) >= 0.04 and left.get('Sleep', 0) >= 0.04, 'and keeps the others', str(left))
  states = summary(some.result)['stacks']
  check(states['none'] == summary(some.result)['samples'], 'stacks = off', str(states))


def check_refused():
  """Nothing has started by then."""
  mark = scratch('started')
  for text, status, words in (
      ('interval = 1ms\nintervall = 1ms\n', 2, "my.analysis:2: unknown key 'intervall': did you mean 'interval'?"),
      ('# x\nsampling = off\n', 2, 'my.analysis:2: sampling = off, and nothing else is on'),
      ('waits = on\nswitches = off\n', 2, 'my.analysis:2: switches = off, and waits are on'),
      ('event = no-such-event\n', 2, "my.analysis:1: unknown event 'no-such-event'"),
      ('event = context-switches:u\n', 1, 'cannot count context-switches in user mode')):
    got = collect(['/usr/bin/touch', mark], options=['-c', write(text)])
    check(got.status == status and words in got.stderr and got.stderr.count('\n') == 1, f'refused: {words}', f'{got.status}: {got.stderr}')
    check(not os.path.exists(mark) and not os.path.exists(got.result), 'before anything starts')


def check_examples():
  folder = f'{ROOT}/docs/examples'
  for name in sorted(os.listdir(folder)):
    if name.endswith('.analysis') and (os.getuid() == 0 or name != 'execs.analysis'):
      got = collect(['/bin/true'], options=['-c', f'{folder}/{name}'])
      check(got.status == 0, f'{name} is a custom analysis', got.stderr)
      check(run_tool('tbreport', got.result).stdout.count(f'Analysis:                 {name[:-9]}\n') == 1, 'and names the result', name)


def main():
  support.start()
  is_root = os.getuid() == 0
  for uid, who in [(None, '')] + ([(support.NOBODY, ', as an ordinary user')] if is_root else []):
    with section('page faults' + who):
      check_faults(uid)
  for source in ('observer', 'bpf') if is_root else ('observer',):
    with section(f'waits, by {source}'):
      check_waits(source)
  if is_root:
    with section('tracepoints'):
      check_tracepoints()
  for name, checks in (('one event', check_only_event), ('without samples', check_without_samples), ('refused', check_refused),
                       ('examples', check_examples)):
    with section(name):
      checks()
  support.finish()


main()
