package stack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// child is a server's process. It dies with us: the kernel sees to it on
// Linux, whatever way we end.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// spawn starts cmd in a process group of its own, so that a terminal's Ctrl-C
// reaches us alone and we end it in order. The kernel sends onDeath to it when
// the *thread* that forked it ends, so that thread is kept until the child is
// gone.
func spawn(cmd *exec.Cmd, onDeath syscall.Signal) (*child, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr, onDeath)
	c := &child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait() //nolint:errcheck // how it ended is in its log
			close(c.done)
		}
	}()
	return c, <-started
}

// signal sends it a signal; one that has ended takes none.
func (c *child) signal(sig syscall.Signal) error { return c.cmd.Process.Signal(sig) }

// end asks with sig and insists after the limit.
func (c *child) end(sig syscall.Signal, limit time.Duration) error {
	c.cmd.Process.Signal(sig) //nolint:errcheck // it may have ended already
	over := time.NewTimer(limit)
	defer over.Stop()
	select {
	case <-c.done:
		return nil
	case <-over.C:
	}
	c.cmd.Process.Kill() //nolint:errcheck // it may have ended already
	<-c.done
	return fmt.Errorf("%s: did not end within %s and was killed", c.cmd.Path, limit)
}

// TempDir makes a folder that is removed when the returned function is called or
// this process ends, however that is.
func TempDir(name string) (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp("", "waitroom-"+name+"-"); err != nil {
		return "", nil, err
	}
	if remove, err = sweep(dir); err != nil {
		return "", nil, errors.Join(err, os.Remove(dir))
	}
	return dir, remove, nil
}

// sweep removes paths when the returned function is called or this process
// ends, even by SIGKILL: a shell waits for the end of a pipe that only we hold.
func sweep(paths ...string) (func() error, error) {
	cmd := exec.Command("/bin/sh", append([]string{
		"-c", `cat >/dev/null; for i in 1 2 3 4 5; do rm -rf -- "$@" 2>/dev/null && exit; sleep 1; done`, "sweep",
	}, paths...)...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	held, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	done := make(chan error, 1)
	go func() {
		done <- cmd.Wait()
		// A pipe that nothing refers to is closed by the collector.
		runtime.KeepAlive(held)
	}()
	return sync.OnceValue(func() error {
		held.Close()
		return <-done
	}), nil
}

// tail is the end of a log, for an error that has to say why.
func tail(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		f.Seek(max(0, size-2000), io.SeekStart) //nolint:errcheck // then it is the whole log
	}
	text, _ := io.ReadAll(f)
	return string(text)
}
