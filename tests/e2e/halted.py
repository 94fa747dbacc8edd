"""A program that stands still at a moment of its own, however slow or busy the machine is: its first thread at a call of the kernel. Its
other threads run on."""

import ctypes
import os
import signal
import subprocess

import support as s

# linux/ptrace.h
TRACEME, CONT, DETACH, SYSCALL, SETOPTIONS, GETEVENTMSG = 0, 7, 17, 24, 0x4200, 0x4201
TRACESYSGOOD, TRACECLONE, EXITKILL = 1, 1 << 3, 1 << 20
EVENT_CLONE = 3
ANY_THREAD = 0x40000000  # __WALL

ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
ptrace.restype = ctypes.c_long


def ask(request, pid, data=None):
  if ptrace(request, pid, None, data) != 0:
    raise OSError(ctypes.get_errno(), f'ptrace {request}')


def let_thread_go(pid):
  tid = ctypes.c_ulong()
  ask(GETEVENTMSG, pid, ctypes.addressof(tid))
  os.waitpid(tid.value, ANY_THREAD)
  ask(DETACH, tid.value)


def start(command, is_reached):
  """Runs the command until is_reached(threads begun), asked at its calls of the kernel. None: it ended before."""
  process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=lambda: ask(TRACEME, 0))
  os.waitpid(process.pid, 0)  # at its begin
  ask(SETOPTIONS, process.pid, TRACESYSGOOD | TRACECLONE | EXITKILL)
  threads = 0
  while True:
    ask(SYSCALL, process.pid)
    _, status = os.waitpid(process.pid, ANY_THREAD)
    if not os.WIFSTOPPED(status):
      process.returncode = os.waitstatus_to_exitcode(status)
      process.stderr.close()
      return None
    if status >> 8 == signal.SIGTRAP | EVENT_CLONE << 8:
      let_thread_go(process.pid)
      threads += 1
    if is_reached(threads):
      return process


def check_stop(what, command, folder, is_reached):
  """SIGTERM in the midst of the work leaves nothing in the folder."""
  process = start(command, is_reached)
  if not process:
    s.check(False, f'{what}: was through before it could be stopped')
    return
  there = os.listdir(folder)
  process.send_signal(signal.SIGTERM)
  said = process.communicate(timeout=60)[1].decode()
  left = os.listdir(folder)
  s.check(there and not left and process.returncode == -signal.SIGTERM and ': stopped; no' in said.rstrip().rpartition('\n')[2],
          f'{what}: stopped in its midst, it leaves nothing', f'{there} {left} {process.returncode} {said.strip()}')
