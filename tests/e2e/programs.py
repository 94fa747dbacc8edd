"""Real programs of the distribution: shares of functions and modules against perf on the same work, at 1 ms."""

import os
import random
import signal
import sqlite3
import subprocess

import support as s
from call_check import check_calls, check_false_stacks
from comparison import compare

PYTHON_WORK = '''
import re
def primes(limit):
    sieve = bytearray([1]) * limit
    for i in range(2, int(limit ** 0.5) + 1):
        if sieve[i]:
            sieve[i * i::i] = bytes(len(range(i * i, limit, i)))
    return sum(sieve)
def words(count):
    table = {}
    for i in range(count):
        key = "w%d" % (i * 7919 % 5003)
        table[key] = table.get(key, 0) + len(key)
    return sorted(table.items(), key=lambda item: (-item[1], item[0]))[0]
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
for _ in range(ROUNDS):
    primes(300000); words(60000); fib(21)
    re.sub("[aeiou]+x?", lambda m: m.group(0).upper(), "the quick brown fox jumps " * 2000)
'''


def against_perf(what, command, complete=99.5, **options):
  """Also wants so many percent of the stacks complete. perf runs before and behind."""
  before = s.perf_record(command, **options)
  got = s.collect_well(command, what=what, **options)
  after = s.perf_record(command, **options)
  total = s.summary(got.result)
  share = s.points(total['stacks']['complete'], s.with_stack(total))
  s.check(share >= complete, f'{what}: {complete} % of the stacks are complete', f'{share:.2f} %: {total["stacks"]}')
  check_calls(what, got.result, least=500)
  compare(what, got.result, before, after=after)
  return got.result


def python3():
  script = s.scratch('work.py')
  with open(script, 'w', encoding='utf-8') as file:
    file.write(PYTHON_WORK.replace('ROUNDS', '360'))
  result = against_perf('python3', ['/usr/bin/python3', '-I', script], env={**os.environ, 'PYTHONHASHSEED': '0'})
  check_false_stacks('python3', result)


def xz():
  data = s.scratch('words')
  dice = random.Random(1)
  vocabulary = [''.join(dice.choice('abcdefghijklmnop') for _ in range(dice.randint(2, 9))) for _ in range(5000)]
  with open(data, 'w', encoding='ascii') as file:
    for _ in range(100):
      file.write(' '.join(dice.choice(vocabulary) for _ in range(25000)))
  against_perf('xz -T2', ['xz', '-T2', '--block-size=2MiB', '-k', '-f', '-6', data])


def sqlite():
  path = s.scratch('rows.db')
  dice = random.Random(2)
  with sqlite3.connect(path) as database:
    database.execute('create table rows (id integer primary key, name text, kind integer, value real)')
    database.executemany('insert into rows (name, kind, value) values (?, ?, ?)',
                         ((f'name{dice.randrange(50000)}', dice.randrange(100), dice.random()) for _ in range(200000)))
  query = ('select kind, count(*), avg(value), max(name) from rows group by kind order by 3;'
           'select count(*) from rows where name like "%77%";'
           'select name, sum(value) from rows group by name order by 2 desc limit 5;'
           'select count(*) from (select distinct name, kind from rows);')
  against_perf('sqlite3', ['sqlite3', path, query * 18])


def compiler():
  source = s.scratch('work.c')
  with open(source, 'w', encoding='ascii') as file:
    for i in range(700):
      file.write(f'''int table{i}[64];
int work{i}(int n, const char *text) {{
  int sum = {i};
  for (int i = 0; i < n; i++) {{
    switch (text[i] % 7) {{
    case 0: sum += table{i}[i & 63] * text[i]; break;
    case 1: sum ^= sum << 3; break;
    case 2: for (int j = 0; j < i; j++) sum += table{i}[j & 31] / (j + 1); break;
    default: sum -= text[i];
    }}
  }}
  return sum;
}}
''')
  command = ['gcc', '-O2', '-c', source, '-o', s.scratch('work.o')]
  against_perf('gcc -O2', command, complete=97)


def redis():
  port = '27391'
  server = subprocess.Popen(['redis-server', '--port', port, '--save', '', '--appendonly', 'no', '--dir', s.Run.work],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
  try:
    ready = s.wait_for(lambda: subprocess.run(['redis-cli', '-p', port, 'ping'], capture_output=True).stdout == b'PONG\n')
    s.check(ready, 'redis: the server runs')
    load = subprocess.Popen(['redis-benchmark', '-p', port, '-q', '-P', '16', '-n', '100000000', '-r', '10000',
                             '-t', 'set'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    result, data = s.new_result(), s.scratch('redis.data')
    # Both at once: the load of a server is never the same twice.
    # Until it has used enough for the samples that are wanted, at intervals that do not keep step.
    collector = subprocess.Popen([s.tool('tbcollect'), '-v', '-i', '1ms', '-r', result, '-p', str(server.pid)], stderr=subprocess.PIPE, text=True)
    s.read_line_with(collector.stderr, s.COLLECTS)
    perf = subprocess.Popen(['perf', 'record', '-q', *s.perf_event(os.getuid() == 0), '-c', '1013000', '-o', data, '-p', str(server.pid)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    enough = s.cpu_seconds(server.pid) + 6
    s.check(s.wait_for(lambda: s.cpu_seconds(server.pid) >= enough, timeout=s.HANGS_S), 'redis: works')
    for process in (collector, perf):
      process.send_signal(signal.SIGINT)
    _, errors = collector.communicate(timeout=120)
    perf.wait(timeout=120)
    s.check(collector.returncode == 0, 'redis: attaches', errors.strip()[-300:])
    load.kill()
    load.wait()
    alive = subprocess.run(['redis-cli', '-p', port, 'ping'], capture_output=True).stdout == b'PONG\n'
    s.check(alive, 'redis: the server runs on')
    compare('redis', result, data)
    threads = {row['Thread'] for row in s.report(result, 'threads')}
    s.check('redis-server' in threads and len(threads) >= 4, 'redis: its threads', sorted(threads))
  finally:
    server.terminate()
    server.wait()


s.start()
for part in (python3, xz, sqlite, compiler, redis):
  with s.section(part.__name__):
    part()
s.finish()
