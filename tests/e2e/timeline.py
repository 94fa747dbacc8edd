"""timeline and wall on a program that tells when it burns and when it sleeps: the parts of time, and each thread's account of its life,
against the program's own clocks and the sums of the other reports."""

import json

import support
from support import check, check_ratio, collect_well, report, section

TURNS, BURN_S, SLEEP_S, BUCKET_MS = 4, 0.15, 0.1, 2
FIRST_S = 0.03  # no clock beside it, and not taken for one of the others
PROGRAM = f"""
import json, threading, time
edges = []
def edge(): edges.append((time.monotonic(), time.thread_time()))
time.sleep({FIRST_S})
for turn in range({TURNS}):
  edge()
  while time.monotonic() < edges[-1][0] + {BURN_S}: pass
  edge()
  time.sleep({SLEEP_S})
edge()
print(json.dumps({{'edges': edges, 'tid': threading.get_native_id()}}))
"""
STATES = ('Running Time', 'Ready Time', 'Wait Time', 'Stopped Time', 'Unknown Time')
ROUNDING_S = 1e-6  # threads has six digits


def parts_of(result, **where):
  """[(start, end, {state: seconds})] of a row of the timeline, in order of time."""
  rows = report(result, 'timeline', '--bucket', f'{BUCKET_MS}ms')
  return [(float(row['Start Time']), float(row['End Time']), {state: float(row[state]) for state in STATES})
          for row in rows if all(row[key] == value for key, value in where.items())]


def within(parts, start, end, state):
  """Seconds in a state of the parts that lie between two times."""
  return sum(times[state] for first, last, times in parts if first >= start and last <= end)


def check_sums(result):
  """Each row's parts add up to the thread's times, and all rows to the first one, part by part."""
  threads = [row for row in report(result, 'threads') if row['TID']]
  every = []
  for row in threads:
    parts = parts_of(result, TID=row['TID'])
    every.append(parts)
    off = {state: sum(times[state] for _, _, times in parts) - float(row[state]) for state in STATES}
    check(all(abs(value) <= ROUNDING_S for value in off.values()), f'timeline: parts of {row["Thread"]} add up', off)
  total = parts_of(result, Thread='[All]')
  worst = max(abs(whole[2][state] - sum(parts[i][2][state] for parts in every)) for i, whole in enumerate(total) for state in STATES)
  check(worst <= len(every) * 1e-9, 'timeline: the first row is the sum of the others', f'{worst:.9f} s at most, {len(total)} parts')
  longest = max(sum(times.values()) - (end - start) for parts in every for start, end, times in parts)
  check(longest <= 5e-9, 'timeline: no thread does more in a part than the part is long', f'{longest:.9f} s')


def zero_of(parts, edges):
  """The timeline's zero by the program's clock: the place of the first sleep by which the most time of waits lies in sleeps."""
  sleeps = [edges[2 * turn + 1][0] - edges[1][0] for turn in range(TURNS)]
  starts = [start for start, end, times in parts if times['Wait Time'] > 0]
  first = max(starts, key=lambda at: sum(within(parts, at + start, at + start + SLEEP_S, 'Wait Time') for start in sleeps))
  return edges[1][0] - first


def check_places(result, told, steal):
  """What the thread did is in the parts in which it did it."""
  parts, edges, part_s = parts_of(result, TID=str(told['tid'])), told['edges'], BUCKET_MS / 1000
  more = 5 * part_s  # of 100 ms: it may be preempted between its clock and its call
  zero = zero_of(parts, edges)
  for turn in range(TURNS):
    (begins, used), (sleeps, burnt), (ends, _) = edges[2 * turn:2 * turn + 3]
    ran = within(parts, begins - zero - more, sleeps - zero + more, 'Running Time')
    waited, ready = (within(parts, sleeps - zero - more, ends - zero + more, state) for state in ('Wait Time', 'Ready Time'))
    check(0.97 * (burnt - used) - 2 * part_s <= ran <= 1.03 * (burnt - used) + 2 * part_s + steal, f'timeline: turn {turn} runs where it burns',
          f'{ran:.4f} s, {burnt - used:.4f} s by its clock')
    check(SLEEP_S - 2 * part_s <= waited + ready and waited <= ends - sleeps + 2 * part_s, f'timeline: turn {turn} waits where it sleeps',
          f'{waited:.4f} s, and {ready:.4f} s ready, of {ends - sleeps:.4f} s')


def account_of(result, tid):
  """A thread's life, and its parts: {name: seconds}."""
  account, inside = {}, False
  for row in report(result, 'wall'):
    name = row['Function Stack']
    depth = len(name) - len(name.lstrip(' '))
    inside = depth > 1 and inside or depth == 1 and f'(TID {tid})' in name
    if inside and depth <= 2:
      account['life' if depth == 1 else name.strip()] = float(row['Wall Time:Total'])
  return account.pop('life'), account


def check_wall(result, told):
  """A thread's tree adds up to its life, and its parts to the thread's times."""
  row, = [row for row in report(result, 'threads') if row['TID'] == str(told['tid'])]
  life, parts = account_of(result, told['tid'])
  check(abs(life - float(row['Lifetime'])) <= ROUNDING_S, 'wall: a thread\'s tree is its life', f'{life:.6f} s of {row["Lifetime"]}')
  check(abs(sum(parts.values()) - life) <= 1e-8, 'wall: the parts add up to it', parts)
  check(abs(parts['[Running]'] - float(row['Running Time'])) <= ROUNDING_S, 'wall: [Running] is the thread\'s', row['Running Time'])
  # BPF times a wait at the wake, the switches at the CPU: what is ready to the one may be a wait to the other.
  ready, waited = parts['[Ready]'], sum(time for part, time in parts.items() if part not in ('[Running]', '[Ready]'))
  woken = sum(float(wait['Ready Time']) for wait in report(result, 'waits'))
  check(abs(ready - float(row['Ready Time'])) <= woken + ROUNDING_S, 'wall: [Ready] is the thread\'s',
        f'{ready:.6f} s of {row["Ready Time"]}, of which {woken:.6f} s after waits')
  check(abs(ready + waited - float(row['Ready Time']) - float(row['Wait Time'])) <= 2 * ROUNDING_S, 'wall: the rest is its waits', parts)
  first = 1.2 * FIRST_S
  slept = sum(told['edges'][2 * turn + 2][0] - told['edges'][2 * turn + 1][0] for turn in range(TURNS))
  check(0.97 * (TURNS * SLEEP_S + FIRST_S) <= parts['[Sleep]'] <= slept + first, 'wall: [Sleep] is what it slept', f'{parts["[Sleep]"]:.4f} s of {slept + first:.4f} s')
  rows = report(result, 'wall')
  own = sum(float(line['Wall Time:Self']) for line in rows)
  check_ratio('wall: all rows\' own times are the total', own, float(rows[0]['Wall Time:Total']), 0.0001)


support.start()
for source in ('concurrency', 'locks-and-waits'):
  with section(source):
    collected = collect_well(['/usr/bin/python3', '-c', PROGRAM], options=['-c', source])
    told = json.loads(collected.stdout)
    check_sums(collected.result)
    check_places(collected.result, told, collected.steal)
    if source == 'locks-and-waits':
      check_wall(collected.result, told)
support.finish()
