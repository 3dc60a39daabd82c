package stack

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

func dieWithParent(a *syscall.SysProcAttr, sig syscall.Signal) { a.Pdeathsig = sig }

// standsStill returns once every thread of a child that was sent SIGSTOP has
// stopped: where the machine is busy, one that has not heard of it yet works on.
func standsStill(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
