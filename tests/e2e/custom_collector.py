"""tbcollect --custom-collector: what a collector of the user's is told and when, and that whatever it does spoils neither the result nor
the target."""

import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

import support as s

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../docs/examples/meminfo_collector.py')
# A target that knows its truth: what it read, and that it read nothing before it was started.
TARGET = 'cat; echo started >> "$MARKS"; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; echo "on $(tty) as $AMPLXE_COLLECT_CMD$VTUNE_DATA_DIR"; exit 5'
# Says what it is told and finds, and goes on using CPU time in the background.
COLLECTOR = '''
echo "$AMPLXE_COLLECT_CMD" >> "$MARKS"
for name in COLLECT_CMD DATA_DIR HOSTNAME COLLECT_PID; do
  eval "a=\\$AMPLXE_$name; v=\\$VTUNE_$name"
  [ "$a" = "$v" ] && echo "$name=$a"
done
echo "program=$(readlink /proc/$AMPLXE_COLLECT_PID/exe)"
(: < /dev/tty) 2>/dev/null && echo "tty=yes"
if [ "$AMPLXE_COLLECT_CMD" = start ]; then
  (while :; do :; done) &
  echo "name,start_tsc.CLOCK_MONOTONIC_RAW,end_tsc" > "$AMPLXE_DATA_DIR/some-hostname-$AMPLXE_HOSTNAME.csv"
fi
'''


def script(name, text):
  path = s.scratch(name)
  with open(path, 'w', encoding='utf-8') as file:
    file.write(text)
  return f'sh {shlex.quote(path)}'


def log_of(result):
  path = os.path.join(result, 'custom-collector.log')
  return open(path, encoding='utf-8', errors='replace').read() if os.path.exists(path) else ''


def processes_of(result):
  """Processes that live and were told of this result."""
  found = []
  for pid in filter(str.isdigit, os.listdir('/proc')):
    try:
      with open(f'/proc/{pid}/environ', 'rb') as file:
        if b'AMPLXE_DATA_DIR=' + result.encode() in file.read().split(b'\0'):
          found.append(int(pid))
    except OSError:
      pass
  return found


def check_target(what, got):
  s.check(got.status == 5 and got.stdout == 'from-stdin\non not a tty as \n', f'{what}: the target is as it was',
          f'{got.status} {got.stdout!r} {got.stderr.strip()[-300:]}')
  total = s.summary(got.result)
  s.check(total['complete'] and total['target']['exit_status'] == 5 and total['cpu_time_s'] > 0, f'{what}: the result is whole')
  names = {row['Process'] for row in s.report(got.result, 'threads')} - {''}  # time of no known thread
  s.check(names <= {'sh', 'cat', 'tty'}, f'{what}: only the target is profiled', names)
  s.check(s.wait_for(lambda: not processes_of(got.result)) is not None, f'{what}: no process is left', processes_of(got.result))
  return total


def collect(command, what, uid=None, result=None):
  marks = s.scratch(f'marks-{what}')
  with open(marks, 'w', encoding='utf-8'):
    pass
  os.chmod(marks, 0o666)
  with open(marks + '.in', 'w+', encoding='utf-8') as stdin:
    stdin.write('from-stdin\n')
    stdin.seek(0)
    got = s.collect(['sh', '-c', TARGET], options=['--custom-collector', command], stdin=stdin, uid=uid, result=result,
                    env={**os.environ, 'MARKS': marks})
  return got, open(marks, encoding='utf-8').read().split()


def steps():
  collector = script('steps.sh', COLLECTOR)
  for uid in (None, s.NOBODY) if os.getuid() == 0 else (None,):
    what = 'steps' if uid is None else 'steps of nobody'
    got, marks = collect(collector, what.replace(' ', '-'), uid)
    total = check_target(what, got)
    s.check(marks == ['start', 'started', 'stop'], f'{what}: start comes before the target, stop behind', marks)
    log = log_of(got.result)
    told = dict(re.findall(r'^(\w+)=(.*)$', log, re.MULTILINE))
    started = dict(re.findall(r'^(\w+)=(.*)$', log.partition('COLLECT_CMD=stop')[0], re.MULTILINE))
    s.check(told['DATA_DIR'] == os.path.realpath(got.result) and told['HOSTNAME'] == total['host']['name'] == platform.node() and
            int(told['COLLECT_PID']) == total['target']['pid'], f'{what}: directory, host and process', told)
    s.check(started['program'].endswith('/tbcollect') and 'tty' not in log, f'{what}: the target is held, no terminal is there', started)
    s.check(total['custom_collector'] == {'command': collector, 'failed_steps': 0}, f'{what}: the summary has it', total['custom_collector'])
    modes = {name: oct(os.stat(os.path.join(got.result, name)).st_mode & 0o777) for name in os.listdir(got.result)}
    s.check(set(modes.values()) == {'0o600'} and len(modes) == 3, f'{what}: files for their owner only', modes)


def check_failed(what, got, words, failed=1):
  total = check_target(what, got)
  s.check(total['custom_collector']['failed_steps'] == failed, f'{what}: counted', total['custom_collector'])
  lines = [line for line in got.stderr.splitlines() if 'custom collector' in line]
  s.check(len(lines) == failed and all(word in lines[0] for word in words), f'{what}: said', lines)
  text = ' '.join(s.run_tool('tbreport', 'summary', got.result).stdout.split())
  s.check(not words or all(word in text for word in ('Warning: the custom collector', *words)), f'{what}: in the summary')


def failures():
  for what, command, words, failed in (
      ('exit status', 'echo why; exit 3', ['start failed (exit status 3)'], 1),
      ('large exit status', 'exit 255', ['start failed (exit status 255)'], 1),
      ('at stop', 'test $VTUNE_COLLECT_CMD = start && { sleep 1000 & }', ['stop failed (exit status 1)'], 1),
      ('not found', '/no/such/collector', ['start failed (exit status 127)'], 1),
      ('kills its group', 'sleep 1000 & kill -9 0', ['start was ended by signal 9'], 1),
      ('closes all', 'exec 0<&- 1>&- 2>&-', [], 0),
      ('prints', 'yes "from the collector" | head -c 1000000; yes error | head -c 100000 >&2', [], 0),
      ('garbage', 'head -c 300000 /dev/urandom > $AMPLXE_DATA_DIR/data-hostname-$AMPLXE_HOSTNAME.csv', [], 0),
      ('strange files', 'test $AMPLXE_COLLECT_CMD = start || exit 0; cd $AMPLXE_DATA_DIR; mkdir x-hostname-y.csv; mkfifo z-hostname-$AMPLXE_HOSTNAME.csv; ln -s /dev/zero '
       'a-hostname-$AMPLXE_HOSTNAME.csv; ln -s nowhere b-hostname-$AMPLXE_HOSTNAME.csv', [], 0)):
    got, _ = collect(command, what.replace(' ', '-'))
    check_failed(what, got, words, failed)
    s.check('from the collector' not in got.stdout + got.stderr, f'{what}: its output is not among ours')


class Hangs:
  """Collectors that take as long as they may, beside the other parts of this test."""
  commands = {'start': 'trap "" TERM; sleep 1000 & sleep 1000', 'stop': 'test $AMPLXE_COLLECT_CMD = start || sleep 1000'}

  def __init__(self):
    self.found = {}
    self.threads = [threading.Thread(target=self.run, args=(step,)) for step in self.commands]
    for thread in self.threads:
      thread.start()

  def run(self, step):
    self.found[step], _ = collect(self.commands[step], 'hang-' + step, result=s.scratch('hang-' + step))

  def hangs(self):
    for thread in self.threads:
      thread.join()
    for step in self.commands:
      check_failed(f'hangs at {step}', self.found[step], [f'{step} took more than 10 s and was killed'])


def cannot_start():
  got = s.collect(['/no/such/program'], options=['--custom-collector', script('steps.sh', COLLECTOR)],
                  env={**os.environ, 'MARKS': s.scratch('marks-none')})
  s.check(got.status == 127 and not os.path.exists(got.result), 'no target: no result is left', got.stderr.strip())
  marks = open(s.scratch('marks-none'), encoding='utf-8').read().split()
  s.check(marks == ['start', 'stop'], 'no target: the collector is stopped', marks)
  done = s.run_tool('tbcollect', '--custom-collector', '', 'true', check_status=False)
  s.check(done.returncode == 2 and '--custom-collector' in done.stderr, 'an empty command', done.stderr.strip())


def attach():
  target = subprocess.Popen(['sh', '-c', 'while :; do :; done'])
  marks, result = s.scratch('marks-attach'), s.new_result()
  try:
    done = subprocess.run([s.tool('tbcollect'), '-r', result, '-d', '0.3', '-p', str(target.pid), '--custom-collector',
                           script('steps.sh', COLLECTOR)], env={**os.environ, 'MARKS': marks}, capture_output=True, text=True)
    s.check(done.returncode == 0 and target.poll() is None, 'attach: the target goes on', done.stderr.strip())
  finally:
    target.kill()
    target.wait()
  told = dict(re.findall(r'^(\w+)=(.*)$', log_of(result), re.MULTILINE))
  s.check(open(marks, encoding='utf-8').read().split() == ['start', 'stop'] and told['COLLECT_PID'] == str(target.pid),
          'attach: steps and process', told)
  pids = {row['PID'] for row in s.report(result, 'threads')}
  s.check(pids <= {str(target.pid), ''}, 'attach: only the target is profiled', pids)
  s.check(s.wait_for(lambda: not processes_of(result)) is not None, 'attach: no process is left')


# Notes the program's CPU time, in ticks of 10 ms; its stop gives the program time to use more.
TIMES = 'cut -d " " -f 14,15 /proc/$AMPLXE_COLLECT_PID/stat; test $AMPLXE_COLLECT_CMD = start || sleep 1'


def check_long_stop(what, target, after=''):
  result = s.new_result()
  done = subprocess.run([s.tool('tbcollect'), '-r', result, '-d', '0.5', '--custom-collector', TIMES + after, *target], capture_output=True, text=True)
  total = s.summary(result)
  before, until = [sum(map(int, line.split())) / os.sysconf('SC_CLK_TCK') for line in log_of(result).splitlines()]
  s.check(total['custom_collector']['failed_steps'] == 0 and 0 < total['cpu_time_s'] <= until - before + 0.1,
          f'long stop: {what}: CPU time until then', f'{before} to {until}: {total["cpu_time_s"]} in {total["elapsed_s"]}; {done.stderr.strip()}')


def long_stop():
  """CPU time that programs use while the step stop runs is in no account: the collection is over."""
  spin = ['sh', '-c', 'while :; do :; done']
  target = subprocess.Popen(spin)
  try:
    check_long_stop('attached', ['-p', str(target.pid)])
  finally:
    target.kill()
    target.wait()
  check_long_stop('launched', spin, '; test $AMPLXE_COLLECT_CMD = start || kill $AMPLXE_COLLECT_PID')


def interrupted():
  """A signal while the collector is waited for ends that step, and reaches the target."""
  result = s.new_result()
  process = subprocess.Popen([s.tool('tbcollect'), '-r', result, '--custom-collector', 'echo ready; sleep 1000', '--', 'sleep', '1000'],
                             stderr=subprocess.PIPE, text=True, start_new_session=True)
  s.check(s.wait_for(lambda: 'ready' in log_of(result)), 'interrupted: the collector runs')
  process.send_signal(signal.SIGTERM)
  _, err = process.communicate(timeout=60)
  s.check(process.returncode == 128 + signal.SIGTERM and 'start was ended by signal 15' in err, 'interrupted: step and target end',
          f'{process.returncode} {err.strip()}')
  s.check(s.summary(result)['complete'] and not processes_of(result), 'interrupted: the result is whole, no process is left')


def interrupted_twice():
  """A stop that ignores signals is killed by the second one."""
  result = s.new_result()
  process = subprocess.Popen([s.tool('tbcollect'), '-r', result, '--custom-collector',
                              'test $VTUNE_COLLECT_CMD = start && exit; trap "" INT; echo deaf; sleep 1000', 'true'],
                             stderr=subprocess.PIPE, text=True, start_new_session=True)
  s.check(s.wait_for(lambda: 'deaf' in log_of(result)), 'interrupted twice: the collector runs')
  while process.poll() is None:
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
  _, err = process.communicate(timeout=60)
  s.check(process.returncode == 0 and 'stop was ended by signal 9' in err, 'interrupted twice: the step is killed', f'{process.returncode} {err.strip()}')
  s.check(s.wait_for(lambda: not processes_of(result)) is not None, 'interrupted twice: no process is left')


def left():
  """What start left in the background: asked to end, it writes its last row, which is imported; deaf, it is killed."""
  time_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
  name = f'left-hostname-{platform.node()}.csv'
  for what, trap in (('last row', f'echo {time_ns + 1},2 >> {name}; i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo {time_ns + 2},3 >> {name}; exit'),
                     ('deaf', '')):
    result = s.new_result()
    collector = script('left.sh', f'''
cd "$AMPLXE_DATA_DIR"
test $AMPLXE_COLLECT_CMD = start || exit 0
printf '%s\\n' tsc.CLOCK_MONOTONIC_RAW,rows.INST {time_ns},1 > {name}
(trap {shlex.quote(trap)} TERM; echo ready; while :; do sleep 0.05; done) &
''')
    got = s.collect_well(['sh', '-c', f'until grep -q ready {shlex.quote(result)}/custom-collector.log; do sleep 0.05; done'], result=result,
                         options=['--custom-collector', collector])
    s.check(s.wait_for(lambda: not processes_of(got.result)) is not None, f'left in the background: {what}: no process is left', processes_of(got.result))
    check_imported(got.result, name, ['tsc.CLOCK_MONOTONIC_RAW', 'rows.INST'], [[time_ns + i, 1 + i] for i in range(3 if trap else 1)])


def check_imported(result, name, names, rows):
  """Finalization took the file in: the result has its rows, and keeps them without the file."""
  os.remove(os.path.join(result, name))
  folder = s.scratch('exported')
  s.run_tool('tbconvert', 'export', '--to', 'csv', '-o', folder, result)
  lines = open(os.path.join(folder, name), encoding='ascii').read().splitlines()
  s.check(lines[0].split(',')[:len(names)] == names and [list(map(int, line.split(',')[:len(names)])) for line in lines[1:]] == rows,
          f'{name}: the result has its rows', lines)


def example():
  """docs/examples/meminfo_collector.py: rows of this run, by the rules of the format."""
  result = s.new_result()
  path = os.path.join(result, f'meminfo-hostname-{platform.node()}.csv')
  began = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
  got = s.collect_well(['sh', '-c', f'until [ $(wc -l < {shlex.quote(path)}) -gt 3 ]; do sleep 0.1; done'], result=result,
                       options=['--custom-collector', f'{sys.executable} {shlex.quote(EXAMPLE)}'])
  ended = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
  s.check('custom collector' not in got.stderr and log_of(got.result) == '', 'example: nothing went wrong', got.stderr + log_of(got.result))
  lines = open(path, encoding='ascii').read().splitlines()
  names = lines[0].split(',')
  s.check(names[0] == 'tsc.CLOCK_MONOTONIC_RAW' and 'MemAvailable.INST' in names and 'pgfault.COUNT' in names, 'example: columns', names)
  rows = [list(map(int, line.split(','))) for line in lines[1:]]
  times = [row[0] for row in rows]
  s.check(len(times) >= 3 and began < times[0] and times == sorted(times) and times[-1] < ended and all(len(row) == len(names) for row in rows),
          'example: rows of this run', f'{len(rows)}, the first {rows[:1]}')
  s.check(sorted(os.listdir(got.result)) == sorted([os.path.basename(path), os.path.basename(got.result) + '.tb5']),
          'example: nothing else is left', os.listdir(got.result))
  s.check(not processes_of(got.result), 'example: no process is left')
  check_imported(got.result, os.path.basename(path), names, rows)
  done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True)
  s.check(done.returncode == 1 and '--custom-collector' in done.stderr, 'example: by itself, it says how', done.stderr.strip())


def main():
  s.start()
  slow = Hangs()
  for part in (steps, failures, cannot_start, attach, long_stop, interrupted, interrupted_twice, left, example, slow.hangs):
    with s.section(part.__name__):
      part()
  s.finish()


if __name__ == '__main__':
  main()
