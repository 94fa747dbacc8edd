#!/bin/sh
# The first process of the machine that kernel61.py boots: runs the tools, and writes what each command says to
# the second serial line, between a line "== NAME" and a line "== STATUS". The kernel ends with it (panic=-1).
export PATH=/usr/bin:/build/collector:/build/tools
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs -o mode=1777 tmpfs /tmp
exec >/dev/ttyS1 2>&1 </dev/null

# Through a file: on a terminal, which the line is, there would be progress bars.
say() {
	echo "== $1"
	shift
	"$@" >/tmp/said 2>&1
	status=$?
	cat /tmp/said
	echo "== $status"
}

as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "$@"
}

# collect NAME COMMAND: emulated, a walk takes a hundred times as long, so that there is no budget.
collect() {
	result=$1
	shift
	say "$result" "$@" --overhead-limit 0 -r "/tmp/$result" -- $program
	say "$result summary" tbreport summary --format json "/tmp/$result"
	say "$result text" tbreport summary "/tmp/$result"
	say "$result folded" tbconvert export --to folded -o - "/tmp/$result"
	say "$result threads" tbreport threads --format csv "/tmp/$result"
}

targets=/build/tests/targets
tbcollect=/build/collector/tbcollect
# Debian's kernels refuse perf_event to ordinary users altogether (3).
echo 2 >/proc/sys/kernel/perf_event_paranoid

say kernel cat /proc/sys/kernel/osrelease
program="$targets/target-chain 2000"
collect bpf $tbcollect -v -i 10ms --unwind bpf
collect auto $tbcollect -v -i 10ms
collect copy as_nobody $tbcollect -v -i 10ms
say refused as_nobody $tbcollect -r /tmp/refused --unwind bpf -- $program
program="$targets/target-deep_locals 1500"
collect deep $tbcollect -v -i 10ms --unwind bpf
program="$targets/target-untouched 3000 2"
say apart $program
collect untouched as_nobody $tbcollect -v -i 10ms
program="$targets/target-threads 300"
collect threads $tbcollect -i 1ms
program="$targets/target-births 2000"
collect births as_nobody $tbcollect -i 10ms
# One thread that is in the kernel for the most part, and says itself what it used.
program="sh /tmp/opens.sh"
cat >/tmp/opens.sh <<'END'
i=0
while [ $i -lt 60000 ]; do : </dev/null; i=$((i+1)); done
times
END
collect opens $tbcollect -i 10ms
program="$targets/target-waiting mutex=10x30 queue=10x30"
say waits $tbcollect -v -c locks-and-waits --wait-source bpf --waker-stacks all --overhead-limit 0 -r /tmp/waits -- $program
say "waits report" tbreport waits --format csv /tmp/waits
say end true
