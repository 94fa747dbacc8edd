"""Launching: the program's streams, directory, environment, signals, terminal and exit status are its own."""

import contextlib
import os
import resource
import pty
import re
import select
import signal
import subprocess
import sys
import time

import support as s


def streams():
  script = 'cat; echo to-stderr >&2; pwd; echo "$MARK"; echo "args:$1:$2"; exit 5'
  result = s.new_result()
  done = subprocess.run([s.tool('tbcollect'), '-q', '-r', result, '--', 'sh', '-c', script, 'sh', 'a b', '-x'],
                        input='from-stdin\n', capture_output=True, text=True, cwd='/usr/lib',
                        env={**os.environ, 'MARK': 'a=b c'})
  s.check(done.stdout == 'from-stdin\n/usr/lib\na=b c\nargs:a b:-x\n',
          'streams, directory, environment, arguments', repr(done.stdout))
  s.check('to-stderr' in done.stderr, 'standard error is the program\'s', repr(done.stderr[-200:]))
  s.check(done.returncode == 5, 'the exit status is the program\'s', done.returncode)
  s.check(s.summary(result)['target']['exit_status'] == 5, 'the result knows it too')


def open_files():
  """The program inherits no descriptor of the collector's."""
  got = s.collect_well(['ls', '-l', '/proc/self/fd'])
  numbers = [int(n) for n in re.findall(r' (\d+) -> ', got.stdout)]
  s.check({0, 1, 2} <= set(numbers) <= {0, 1, 2, 3}, 'no descriptor leaks into the program', numbers)


def end_by_signal():
  for name, number in (('KILL', 9), ('SEGV', 11), ('TERM', 15)):
    got = s.collect(['sh', '-c', f'kill -{name} $$'])
    s.check(got.status == 128 + number, f'status after SIG{name}', got.status)
    s.check(s.summary(got.result)['complete'], f'the result after SIG{name} is complete')


def cannot_start():
  plain = s.scratch('not-a-program')
  with open(plain, 'w', encoding='utf-8') as file:
    file.write('text\n')
  os.chmod(plain, 0o644)
  for command, status in ((['/no/such/program'], 127), (['no-such-program-in-path'], 127), ([plain], 126),
                          ([s.Run.work], 126)):
    got = s.collect(command)
    s.check(got.status == status, f'{os.path.basename(command[0])}: exit status {status}', got.status)
    lines = got.stderr.strip().splitlines()
    s.check(len(lines) == 1 and lines[0].startswith('tbcollect: ') and os.path.basename(command[0]) in lines[0],
            f'{os.path.basename(command[0])}: one clear line', lines)
    s.check(not os.path.exists(got.result), f'{os.path.basename(command[0])}: no result is left')


def usage():
  for arguments in ([], ['--no-such-option'], ['-i', '0', '--', 'true'], ['-i', '5h', '--', 'true'], ['-p', 'x'],
                    ['-p', '1', '--', 'true']):
    done = subprocess.run([s.tool('tbcollect'), *arguments], capture_output=True, text=True, cwd=s.Run.work)
    s.check(done.returncode == 2 and done.stderr.startswith('tbcollect: '), f'usage: {arguments}',
            f'{done.returncode}: {done.stderr.strip()[:120]}')
  done = subprocess.run([s.tool('tbcollect'), '--help'], capture_output=True, text=True)
  s.check(done.returncode == 0 and '--interval' in done.stdout, '--help')
  for tool, name, meant in (('tbreport', 'hotspotz', 'hotspots'), ('tbconvert', 'exprot', 'export'),
                            ('tbconvert', 'exprot --help', 'export')):
    done = s.run_tool(tool, *name.split(), check_status=False)
    s.check(done.returncode == 2 and len(done.stderr.splitlines()) == 1 and meant in done.stderr,
            f'{tool}: {name} is no name', f'{done.returncode}: {done.stderr.strip()}')
  for arguments in (['tbreport', 'hotspots', '--help'], ['tbconvert', '--help'], ['tbconvert', 'export', '--help'],
                    ['tbconvert', 'recover', '-h']):
    done = s.run_tool(*arguments, check_status=False)
    s.check(done.returncode == 0 and 'RESULT' in done.stdout and not done.stderr, ' '.join(arguments), done.stderr)
  hostile = 'x\x1b]0;owned\x07\u202ey\x9b'
  for arguments in (['tbcollect', '--', hostile], ['tbcollect', '-i', hostile, 'true'], ['tbreport', hostile],
                    ['tbreport', '--format', hostile], ['tbconvert', hostile], ['tbconvert', 'export', '--to', hostile]):
    done = s.run_tool(*arguments, check_status=False)
    s.check('x\\x1b]0;owned\\x07\\u202ey\\u009b' in done.stderr and len(done.stderr.splitlines()) == 1,
            f'{" ".join(map(ascii, arguments))}: nothing that a terminal obeys', ascii(done.stderr))
  done = subprocess.run([s.tool('tbcollect'), '--version'], capture_output=True, text=True)
  s.check(done.returncode == 0 and re.search(r'\d+\.\d+', done.stdout), '--version', done.stdout.strip())


def default_directory():
  where = s.scratch('where')
  os.mkdir(where)
  for expected in ('r000hs', 'r001hs'):
    subprocess.run([s.tool('tbcollect'), '-q', 'true'], cwd=where, check=True)
    s.check(os.path.isfile(os.path.join(where, expected, expected + '.tb5')), f'default result: {expected}',
            sorted(os.listdir(where)))
  done = subprocess.run([s.tool('tbreport'), 'summary', '--format', 'json'], cwd=where, capture_output=True, text=True)
  s.check(done.returncode == 0 and '"samples"' in done.stdout, 'tbreport takes the newest result by itself',
          done.stderr.strip())


def command_lines():
  """Processes of one name: one row by name, rows with what tells them apart by number."""
  program = s.target('split')
  got = s.collect_well(['sh', '-c', f'{program} 400 & {program} 500 & wait'], what='two of one name')
  rows = [row for row in s.report(got.result, 'hotspots', '--group-by', 'process') if row['Process'] == 'target-split']
  s.check(len(rows) == 1 and rows[0]['Processes'] == '2', 'by process: one row', rows)
  rows = [row for row in s.report(got.result, 'hotspots', '--group-by', 'pid') if row['Process'] == 'target-split']
  lines = sorted(row['Command Line'] for row in rows)
  s.check(lines == [f'{program} 400', f'{program} 500'], 'by pid: their command lines', lines)
  done = s.run_tool('tbreport', got.result, 'hotspots', '--filter', 'module=target-splt')
  s.check('did you mean target-split?' in done.stderr, 'a filter that nothing meets says so', done.stderr.strip())


def start_signals_target(count):
  result = s.new_result()
  process = subprocess.Popen([s.tool('tbcollect'), '-q', '-r', result, '--', s.target('signals'), str(count)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
  s.read_line_with(process.stdout, 'ready')
  return process, result


def signals():
  """To tbcollect alone, as kill(1) sends them; what a terminal sends to both is in job_control."""
  for number, key in ((signal.SIGINT, 'interrupts'), (signal.SIGTERM, 'terminations')):
    process, result = start_signals_target(1)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    s.check(s.number(s.truth(out), key) == 1, f'{number.name} is forwarded once', out.split())
    s.check(process.returncode == 7, f'{number.name}: the status is the program\'s',
            f'{process.returncode} {err.strip()[-200:]}')
    s.check(s.summary(result)['complete'], f'{number.name}: the result is complete')


class Terminal:
  """An interactive shell on a terminal of its own."""

  def __init__(self):
    self.text = ''
    self.pid, self.fd = pty.fork()
    if self.pid == 0:
      os.environ.update(PS1='$ ', TERM='dumb', HISTFILE='/dev/null')
      os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])

  def send(self, text):
    os.write(self.fd, text.encode())

  def expect(self, pattern, timeout=20):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
      match = re.search(pattern, self.text)
      if match:
        self.text = self.text[match.end():]
        return True
      if select.select([self.fd], [], [], 0.1)[0]:
        try:
          self.text += os.read(self.fd, 4096).decode(errors='replace')
        except OSError:
          return False
    return False

  def job_runs(self):
    """Whether a job has the terminal and none of its processes is stopped."""
    group, states = os.tcgetpgrp(self.fd), []
    for pid in filter(str.isdigit, os.listdir('/proc')):
      with contextlib.suppress(OSError), open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as file:
        state, _, of = file.read().rpartition(')')[2].split()[:3]
        states += [state] if int(of) == group else []
    return group != self.pid and states and 'T' not in states

  def close(self):
    os.close(self.fd)
    os.kill(self.pid, signal.SIGKILL)
    os.waitpid(self.pid, 0)


def job_control():
  terminal = Terminal()
  result = s.new_result()
  terminal.send(f'{s.tool("tbcollect")} -q -r {result} -- {s.target("signals")} 1\r')
  s.check(terminal.expect(r'ready 1'), 'terminal: the program starts')
  terminal.send('\x1a')
  s.check(terminal.expect(r'Stopped'), 'terminal: Ctrl-Z stops it', repr(terminal.text[-200:]))
  terminal.send('fg\r')
  s.check(s.wait_for(terminal.job_runs), 'terminal: fg lets it run on')
  terminal.send('\x03')
  s.check(terminal.expect(r'interrupts 1\r'), 'terminal: Ctrl-C after fg reaches it once', repr(terminal.text[-200:]))
  terminal.send('echo status=$?\r')
  s.check(terminal.expect(r'status=7'), 'terminal: its status comes through', repr(terminal.text[-200:]))

  result = s.new_result()
  terminal.send(f'{s.tool("tbcollect")} -q -r {result} -- sh -c \'read line; echo "got:$line"\'\r')
  s.check(s.wait_for(terminal.job_runs), 'terminal: a second program starts')
  terminal.send('typed\r')
  s.check(terminal.expect(r'got:typed'), 'terminal: the program reads from it', repr(terminal.text[-200:]))
  terminal.close()


def unreadable():
  """A result that this user may not read is named with the reason."""
  got = s.collect_well(['true'])
  data = os.path.join(got.result, os.path.basename(got.result) + '.tb5')
  uid = s.NOBODY if os.getuid() == 0 else None
  for path in (data, got.result):
    mode = os.stat(path).st_mode
    os.chmod(path, 0)
    for command in (('tbreport',), ('tbconvert', 'finalize')):
      done = s.run_tool(*command, got.result, check_status=False, uid=uid)
      lines = done.stderr.splitlines()
      s.check(done.returncode == 1 and len(lines) == 1 and 'no permission to read' in lines[0],
              f'{" ".join(command)}: no permission for {os.path.basename(path)}', f'{done.returncode} {lines}')
    os.chmod(path, mode)


def too_short():
  """A program that ends before its first sample: the summary says so, and what to do."""
  for _ in range(5):  # A tick may hit any program; seldom five times.
    got = s.collect_well(['true'], interval='1s')
    if s.summary(got.result)['samples'] == 0:
      break
  lines = s.run_tool('tbreport', 'summary', got.result).stdout.splitlines()
  advice = [line for line in lines if line.startswith('Advice:')]
  s.check(len(advice) == 1 and 'no samples' in advice[0] and '--interval' in advice[0], 'no sample: advice', advice)
  cost = [line for line in lines if line.startswith('Collector Cost:')]
  s.check(len(cost) == 1 and '%' not in cost[0], 'no sample: no share of next to nothing', cost)


def duration():
  """-d ends the collection; the program ends as it likes."""
  result = s.new_result()
  began = time.monotonic()
  with s.Stealing() as host:
    done = subprocess.run([s.tool('tbcollect'), '-q', '-i', '1ms', '-d', '1', '-r', result, '--', s.target('chain'), '2500'],
                          capture_output=True, text=True)
  total = s.summary(result)
  # The program alone takes 2.5 s.
  s.check(0.99 <= total['elapsed_s'] <= 2.4, '-d 1: the collection lasts a second', total['elapsed_s'])
  s.check_samples('-d 1: its samples', total, steal=host.steal)
  s.check(done.returncode == 0 and 'process_ns' in done.stdout, '-d 1: the program runs to its own end',
          f'{done.returncode} after {time.monotonic() - began:.1f} s: {done.stdout[-100:]!r}')


def setuid():
  """A program that the kernel does not let us follow is named, once."""
  if os.getuid() != 0:
    s.skip('setuid', 'only root can make a setuid program')
    return
  program = s.scratch('setuid-chain')
  subprocess.run(['cp', s.target('chain'), program], check=True)
  os.chmod(program, 0o4755)
  got = s.collect(['sh', '-c', f'{program} 200; {program} 200; {s.target("chain")} 200'], uid=s.NOBODY)
  s.check(got.status == 0, 'setuid: the tree runs', f'{got.status} {got.stderr.strip()[-300:]}')
  text = got.stderr + s.run_tool('tbreport', 'summary', got.result).stdout
  named = [line for line in text.splitlines() if 'setuid-chain' in line and 'follow' in line.lower()]
  s.check(named, 'setuid: the program that is not followed is named', named or text[-500:])
  s.check(len([line for line in got.stderr.splitlines() if 'setuid-chain' in line]) <= 1, 'setuid: once')
  count = s.samples_of(s.folded(got.result), 'chain_40')
  s.check(200 - s.by_chance(200) <= count, 'setuid: the rest of the tree is followed', count)
  # Root is not let either, but for what stays root.
  for owner, followed in ((0, True), (s.NOBODY, False)):
    os.chown(program, owner, 0)
    os.chmod(program, 0o4755)
    got = s.collect(['sh', '-c', f'{program} 100; :'])
    named = [line for line in s.run_tool('tbreport', 'summary', got.result).stdout.splitlines()
             if 'setuid-chain' in line and 'set-user-ID' in line]
    count, apart = s.samples_of(s.folded(got.result), 'chain_40'), s.unattributed(got.result)
    s.check((count > 50, apart < 0.05, len(named)) == ((True, True, 0) if followed else (False, False, 1)),
            f'setuid: root runs what is set-user-ID to {owner}', f'{count} samples, {apart} s besides, {named}')
  # Its time is in no account, whichever thread made way for it.
  text = ('import os, threading\n'
          f'threading.Thread(target=os.execv, args=("{program}", ["{program}", "1500"])).start()\n'
          'threading.Event().wait()\n')
  got = s.collect([sys.executable, '-c', text])
  total, apart = s.summary(got.result), s.unattributed(got.result)
  s.check(got.status == 0 and total['cpu_time_s'] < 0.5 < 1.4 < apart, 'setuid: run by another thread than the first',
          f'status {got.status}, {total["cpu_time_s"]} s in accounts, {apart} s besides')


def processes():
  """Whom the collection follows: what is counted, what is left out, what runs on after the program."""
  burn = 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done'
  got = s.collect_well(['sh', '-c', f'sh -c "{burn.replace("$", chr(92) + "$")}"; exec sh -c ":"'], 'a child and an exec')
  total = s.summary(got.result)
  s.check((total['processes'], total['threads']) == (2, 2), 'a child and two execs: two processes, two threads',
          (total['processes'], total['threads']))
  got = s.collect_well(['sh', '-c', f'({burn}); :'], '--no-children', options=['--no-children'])
  rows = [row for row in s.report(got.result, 'threads') if row['TID']]
  s.check(len(rows) == 1 and s.unattributed(got.result) < 0.02, '--no-children: neither a row nor time of the child',
          f'{[(row["PID"], row["CPU Time"]) for row in rows]}, {s.unattributed(got.result)} s besides')
  got = s.collect_well(['sh', '-c', 'sleep 20 >/dev/null 2>&1 & echo $!'], 'a program that leaves another')
  pid = got.stdout.strip()
  said = [line for line in got.stderr.splitlines() if f'({pid})' in line and 'not sampled' in line]
  warned = [line for line in s.run_tool('tbreport', 'summary', got.result).stdout.splitlines()
            if line.startswith('Warning:') and f'({pid})' in line]
  s.check(len(said) == 1 and len(warned) == 1 and 'tbcollect -p PID samples it' in said[0], 'what runs on is named', f'{got.stderr.strip()} | {warned}')
  s.check('not sampled' not in s.collect(['sh', '-c', 'true; true']).stderr, 'nothing runs on: not a word')


def short_processes():
  """All time in processes that end before their first sample: it is counted all the same, at least what the program
  itself finds that it and its children have used before its end."""
  program = ('import os, resource\n'
             'for _ in range(12): os.spawnv(os.P_WAIT, "/bin/true", ["true"])\n'
             'used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]\n'
             'print(sum(each.ru_utime + each.ru_stime for each in used))')
  got = s.collect_well([sys.executable, '-S', '-c', program], 'short processes', interval='1s')
  least = float(got.stdout) - 0.001  # What is said has three digits.
  said = float(re.search(r'tbcollect: ([\d.]+) s of CPU time', got.stderr).group(1))
  headline = re.search(r'^CPU Time: +([\d.]+) s', s.run_tool('tbreport', 'summary', got.result).stdout, re.M)
  s.check(said >= least and abs(float(headline.group(1)) - said) <= 0.001, 'short processes: their time is in the headline',
          f'{got.stderr.strip()} | {headline.group(0)}')
  total = s.summary(got.result)
  parts = total['cpu_time_s'] + total['of_no_known_thread_s']
  s.check(abs(parts - said) <= 0.001, 'short processes: the parts in JSON add up to the headline', f'{parts} {said}')


def headless():
  """The first thread's events end with it; collecting goes on, and does not spin."""
  got = s.collect_well([s.target('headless'), '1500'])
  total = s.summary(got.result)
  s.check(total['samples'] >= 50, 'headless: samples after the first thread ended', total['samples'])
  # Spinning it would take as long as the program: its first thread's end is at the start.
  s.check(total['collector']['cpu_s'] < 0.5, 'headless: the collector sleeps', total['collector']['cpu_s'])


def started_oddly():
  """Without standard streams, and with signals ignored, as supervisors start programs."""
  result = s.new_result()
  subprocess.run(['sh', '-c', f'exec {s.tool("tbcollect")} -v -r {result} -- {s.target("split")} 100 <&- >&- 2>&-'],
                 timeout=60)
  s.check(s.summary(result)['complete'], 'closed streams: nothing of ours gets into the result')
  for number in (signal.SIGCHLD, signal.SIGPIPE):
    done = subprocess.run([s.tool('tbcollect'), '-q', '-r', s.new_result(), '--', 'sh', '-c', 'exit 3'], timeout=60,
                          restore_signals=False, preexec_fn=lambda n=number: signal.signal(n, signal.SIG_IGN))
    s.check(done.returncode == 3, f'{signal.Signals(number).name} ignored: the status comes through', done.returncode)
  result = s.new_result()
  done = subprocess.run([s.tool('tbcollect'), '-i', '0.1ms', '-r', result, '--', s.target('split'), '1500'], timeout=60,
                        capture_output=True, text=True,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20480, 20480)))
  s.check(done.returncode == 1 and 'too large' in done.stderr.lower(), 'file size limit: said in a line',
          f'{done.returncode} {done.stderr.strip()}')


def without_sys():
  """In a bare root directory, which has no /sys, it collects from all CPUs all the same."""
  if os.getuid() != 0:
    s.skip('without /sys', 'only root can mount')
    return
  result = s.new_result()
  with s.Stealing() as host:
    done = subprocess.run(['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /sys && exec "$@"', 'sh', s.tool('tbcollect'),
                           '-q', '-i', '1ms', '-r', result, '--', s.target('split'), '200'],
                          timeout=60, capture_output=True, text=True)
  s.check(done.returncode == 0, 'without /sys: collects', f'{done.returncode} {done.stderr.strip()}')
  if done.returncode == 0:
    total = s.summary(result)
    s.check_samples('without /sys: CPU time by samples', total, steal=host.steal)


s.start()
for part in (streams, open_files, end_by_signal, cannot_start, usage, default_directory, command_lines, signals,
             job_control, duration, too_short, unreadable, setuid, processes, short_processes, headless, started_oddly,
             without_sys):
  with s.section(part.__name__):
    part()
s.finish()
