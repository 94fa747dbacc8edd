"""What the check of callers takes for called: each kind of tail call, and what is none."""

import os
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'e2e'))

import call_targets as t  # after the path to it

FRAME = 'push %rbp; .cfi_def_cfa_offset 16; '
GONE = 'pop %rbp; .cfi_def_cfa_offset 8; '
# Functions in the order of the file. Those called shared can be replaced by other files' and have a stub.
FUNCTIONS = {
    'leaf': 'nop; ret',
    'shared_leaf': 'nop; ret',
    'other': 'nop; call leaf; ret',
    'always': 'jmp leaf',
    'behind_return': 'test %edi, %edi; jns 1f; ret; 1: jmp leaf',
    'on_condition': 'test %edi, %edi; je leaf; ret',
    'by_stub': 'test %edi, %edi; js 1f; leave; ret; 1: jmp shared_leaf@PLT',
    'by_stub_on_condition': 'test %edi, %edi; jne shared_leaf@PLT; ret',
    'shared_chain': FRAME + GONE + 'jmp by_stub',
    'chain': 'cmp $1, %edi; jg shared_chain@PLT; ret',
    'ping': 'test %edi, %edi; jne pong; jmp chain',
    'pong': 'jmp ping',
    'to_cold': FRAME + 'test %edi, %edi; jne cold; ' + GONE + 'ret',
    'cold': '.cfi_def_cfa_offset 16; call other; ' + GONE + 'jmp leaf',
    'runs_on': 'test %edi, %edi',
    'run_on': 'jmp leaf',
    'switch': FRAME + 'jmp *%rax; .cfi_remember_state; ' + GONE + 'ret; .cfi_restore_state; nop; nop; nop; nop; jmp *(%rdi,%rax,8)',
    'slow_path_first': 'test %edi, %edi; je 1f; ' + FRAME + 'call leaf; ' + GONE + 'ret; 1: mov (%rdi), %rax; jmp *8(%rax)',
    'by_pointer': FRAME + GONE + 'nop; nop; nop; nop; nop; nop; nop; nop; jmp *%rax',
    'abroad': 'test %edi, %edi; jns 1f; ret; 1: jmp puts@PLT',
    'with_lsda': '.cfi_personality 0x9b, DW.ref.__gxx_personality_v0; .cfi_lsda 0x1b, leaf; jmp leaf',
}
# Of calls of the first, whether the second one, or one of another file, may have been run.
EXPECTED = [
    ('leaf', 'leaf', t.NAMED), ('leaf', 'other', t.NOT), ('other', 'leaf', t.NOT), ('leaf', None, t.NOT), ('other', None, t.NOT),
    ('always', 'leaf', t.NAMED), ('behind_return', 'leaf', t.NAMED), ('on_condition', 'leaf', t.NAMED), ('behind_return', 'other', t.NOT),
    ('by_stub', 'shared_leaf', t.NAMED), ('by_stub_on_condition', 'shared_leaf', t.NAMED), ('by_stub', 'leaf', t.NOT),
    ('chain', 'by_stub', t.NAMED), ('chain', 'shared_leaf', t.NAMED), ('ping', 'shared_leaf', t.NAMED), ('ping', 'leaf', t.NOT),
    ('to_cold', 'cold', t.NAMED), ('to_cold', 'leaf', t.NAMED), ('to_cold', 'other', t.NOT), ('runs_on', 'leaf', t.NAMED),
    ('switch', 'leaf', t.NOT), ('switch', None, t.NOT), ('slow_path_first', 'leaf', t.POINTER), ('by_pointer', 'leaf', t.POINTER),
    ('by_pointer', None, t.POINTER), ('abroad', None, t.ELSEWHERE), ('abroad', 'leaf', t.ELSEWHERE), ('with_lsda', 'leaf', t.NAMED),
]


def build(folder, options):
  path = os.path.join(folder, 'functions')
  with open(path + '.s', 'w', encoding='ascii') as file:
    for name, code in FUNCTIONS.items():
      visible = '' if name.startswith('shared') else f'.hidden {name}; '
      file.write(f'.globl {name}; {visible}.type {name}, @function; {name}: .cfi_startproc; {code}; .cfi_endproc; .size {name}, .-{name}\n')
    file.write('.data; .hidden DW.ref.__gxx_personality_v0; .globl DW.ref.__gxx_personality_v0; DW.ref.__gxx_personality_v0: .quad 0\n')
    file.write('.section .note.GNU-stack, "", @progbits\n')
  subprocess.run(['cc', *options, '-shared', '-o', path + '.so', path + '.s'], check=True)
  text = subprocess.run(['nm', path + '.so'], check=True, capture_output=True, text=True).stdout
  return path + '.so', {words[2]: int(words[0], 16) for line in text.splitlines() if len(words := line.split()) == 3}


def expect(seen, expected, what):
  if seen != expected:
    sys.exit(f'{what}: {seen!r}, expected {expected!r}')


def other_encoding(path, file, start):
  """The file with FDEs whose addresses are said to have 8 bytes."""
  rest, _, _ = file.cie(file.offset(file.table[file.starts.index(start)]))
  with open(path, 'rb') as before:
    data = bytearray(before.read())
  expect(data[rest - 1], 0x1b, 'encoding')
  data[rest - 1] = 0x1c
  with open(path + '.8', 'wb') as after:
    after.write(data)
  return t.File(path + '.8')


def check(path, symbols):
  file = t.File(path)
  for called, inner, answer in EXPECTED:
    expect(file.runs(symbols[called], symbols[inner] + 1 if inner else None), answer, f'{inner} by a call of {called}')
  jump, slot = next((found[0] - 6, found[1]) for low, high in file.stubs for at in range(low, high, 8)
                    if (found := file.stub(at)) and file.slots.get(found[1]) == symbols['shared_leaf'])
  rest = struct.unpack('<Q', file.code(slot, 8))[0]
  for inside, answer in ((jump, t.NAMED), (rest, t.NAMED), (file.lazy + 6, t.NAMED), (symbols['leaf'], t.NOT)):
    expect(file.runs(jump, inside), answer, f'{inside:#x} by a call of a stub')
  unknown = other_encoding(path, file, symbols['leaf'])
  expect(unknown.function(symbols['leaf']), None, 'a function by FDEs of another encoding')
  expect(unknown.runs(symbols['leaf'], symbols['other']), t.NO_FUNCTION, 'a call of such a function')


# Stubs of one part, and of two (.plt.sec; linkers that know no such stubs warn).
for how in ([], ['-Wl,-z,ibtplt']):
  with tempfile.TemporaryDirectory() as work:
    check(*build(work, how))
print(f'{len(EXPECTED)} calls are judged as they were')
