"""Whether the callers on a result's stacks called: each return address follows a call, and where the call names its target, the
frame inside lies in the function there, or in one that the function jumps to.

Independent of our unwinder: stacks by `tbconvert export --to pprof --inline off`, code and functions from the ELF files by the
formats' specifications (profile.proto; those of call_targets.py).
"""

import collections
import functools
import gzip
import os
import re
import struct

import call_targets as targets
import support as s
from call_targets import varint

SEAM = re.compile(r'^\[(Skipped|Guessed|Unknown) ')
# Returned to, but called by nobody: the kernel and the Go runtime write the return address.
UNCALLED = ('__restore_rt', '__restore', '[signal handler called]', '__kernel_rt_sigreturn', '__kernel_sigreturn', 'runtime.sigreturn',
            'runtime.sigreturn.abi0', 'runtime.sigreturn__sigaction', 'runtime.sigreturn__sigaction.abi0', 'runtime.goexit', 'runtime.goexit.abi0')
# Before they go to a handler they write its frame over their own, with the return address below it (libgcc/unwind-dw2.c,
# uw_install_context): a moment in which memory says that they were called where their caller's caller was.
INSTALLING = ('_Unwind_RaiseException', '_Unwind_ForcedUnwind', '_Unwind_Resume', '_Unwind_Resume_or_Rethrow')
INSTALLED = 'in a frame that a handler takes'
NO_FILE = 'in no file'
ANSWERS = (targets.NAMED, targets.POINTER, targets.CHOSEN, targets.ELSEWHERE, targets.NO_FUNCTION, NO_FILE, INSTALLED)

Frame = collections.namedtuple('Frame', 'path address name')


def fields(data):
  """(number, value) of a message's fields: numbers, or bytes."""
  at = 0
  while at < len(data):
    tag, at = varint(data, at)
    if tag & 7 == 0:
      value, at = varint(data, at)
    else:
      assert tag & 7 == 2, tag
      size, at = varint(data, at)
      value, at = data[at:at + size], at + size
    yield tag >> 3, value


def numbers(value):
  """Of a repeated field, packed or not."""
  if isinstance(value, int):
    return [value]
  found, at = [], 0
  while at < len(value):
    number, at = varint(value, at)
    found.append(number)
  return found


def read_stacks(result):
  """[(frames, innermost first; samples)]"""
  path = s.scratch(os.path.basename(result) + '.calls.pb.gz')
  s.run_tool('tbconvert', 'export', '--to', 'pprof', '--inline', 'off', '-o', path, result)
  with gzip.open(path) as file:
    message = list(fields(file.read()))
  os.unlink(path)
  texts = [value.decode(errors='replace') for number, value in message if number == 6]
  functions = {dict(fields(value))[1]: texts[dict(fields(value)).get(2, 0)] for number, value in message if number == 5}
  mappings = {dict(fields(value))[1]: texts[dict(fields(value)).get(5, 0)] for number, value in message if number == 3}
  frames = {}
  for number, value in message:
    if number == 4:
      location = dict(fields(value))
      line = dict(fields(location[4])) if 4 in location else {}
      frames[location[1]] = Frame(mappings.get(location.get(2, 0), ''), location.get(3, 0), functions.get(line.get(1, 0), ''))
  stacks = collections.Counter()
  for number, value in message:
    if number == 2:
      sample = list(fields(value))
      chain = tuple(one for field, part in sample if field == 1 for one in numbers(part))
      stacks[chain] += next(numbers(part)[0] for field, part in sample if field == 2)
  return [([frames[one] for one in chain], count) for chain, count in stacks.items()]


@functools.lru_cache(maxsize=None)
def open_file(path):
  try:
    return targets.File(path)
  except (OSError, ValueError, struct.error):
    return None


class Check:
  """What stacks say of calls: pairs of frames by what may have been run, and what cannot be."""

  def __init__(self, stacks):
    self.pairs = collections.Counter()
    self.wrong = collections.Counter()
    self.judged = {}
    for frames, count in stacks:
      self.look_at_stack(frames, count)

  def look_at_stack(self, frames, count):
    for inner, outer in zip(frames, frames[1:]):
      if SEAM.match(outer.name):
        break  # what lies further out is not verified
      if SEAM.match(inner.name) or inner.name in UNCALLED or outer.name in UNCALLED:
        continue
      pair = (inner, outer)
      if pair not in self.judged:
        self.judged[pair] = self.judge(inner, outer)
      self.count(pair, self.judged[pair], count)

  def count(self, pair, answer, count):
    if answer in ANSWERS:
      self.pairs[answer] += count
    else:
      self.wrong[f'{answer}: {pair[0].name} ({pair[0].address:#x}) under {pair[1].name} ({pair[1].address:#x} of {pair[1].path})'] += count

  def judge(self, inner, outer):
    """One of ANSWERS, or what is wrong."""
    file = open_file(outer.path) if outer.path.startswith('/') else None
    code = file.code(outer.address + 1 - 8, 8) if file else b''
    if len(code) < 8:
      return NO_FILE
    if code[-5] == 0xe8:
      target = (outer.address + 1 + struct.unpack('<i', code[-4:])[0]) & (1 << 64) - 1
      answer = file.runs(target, inner.address if inner.path == outer.path else None)
      if answer != targets.NOT:
        return answer
    if targets.is_indirect_call(code):
      return targets.POINTER
    if code[-5] == 0xe8 and inner.name in INSTALLING:
      return INSTALLED
    return 'another was called' if code[-5] == 0xe8 else 'no call'


def check_calls(what, result, least=1):
  """Fails where a frame's caller did not call it, or fewer than `least` pairs of frames could be looked at. What is not known by name is
  counted apart: nobody can tell what a pointer, the loader or another file's function had run; so a frame missing there is not seen."""
  found = Check(read_stacks(result))
  looked_at = sum(found.pairs.values()) - found.pairs[NO_FILE]
  s.check(not found.wrong and looked_at >= least, f'{what}: callers called',
          f'{sum(found.pairs.values())} pairs of frames: ' + ', '.join(f'{count} {answer}' for answer, count in found.pairs.most_common())
          + ''.join(f'; {count} {text}' for text, count in found.wrong.most_common(6)))


def check_false_stacks(what, result):
  """The check itself: of stacks that lack a frame it finds at least half (75 % of python3's were seen); the others lack one beside a call
  by a pointer, or have a caller left that calls the same function."""
  whole = [(frames, count) for frames, count in read_stacks(result) if len(frames) >= 6 and not any(SEAM.match(frame.name) for frame in frames)]
  total = sum(count for _, count in whole)
  found = sum(count for frames, count in whole if Check([(frames[:2] + frames[3:], count)]).wrong)
  s.check(total > 0 and found >= 0.5 * total, f'{what}: stacks that lack a frame are found', f'{found} of {total}')
