package stack

import (
	"os/exec"
	"syscall"
	"time"
)

// Child is a program of ours that runs beside us, and dies with us.
type Child struct{ of *child }

// Run starts one.
func Run(cmd *exec.Cmd) (Child, error) {
	c, err := spawn(cmd, syscall.SIGKILL)
	return Child{c}, err
}

// Ended is closed when it has ended.
func (c Child) Ended() <-chan struct{} { return c.of.done }

// Signal sends it a signal; one that has ended takes none.
func (c Child) Signal(sig syscall.Signal) error { return c.of.signal(sig) }

// Stop has it stand still, and returns once nothing of it runs. SIGCONT lets it go on.
func (c Child) Stop() error {
	if err := c.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return standsStill(c.of.cmd.Process.Pid)
}

// End asks it to end, and insists after the limit.
func (c Child) End(limit time.Duration) error { return c.of.end(syscall.SIGTERM, limit) }
