package stack_test

import (
	"bufio"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/stack"
)

// Run as another process's child, this test owns a Postgres server until it is
// killed: see the tests below.
func TestOwner(t *testing.T) {
	dir, asked := os.LookupEnv("STACK_TEST_OWNER")
	if !asked {
		t.Skip("it is a part of the tests that kill a server's owner; they start it")
	}
	s, err := stack.Postgres(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(s.URL)
	<-t.Context().Done()
}

// Run as another process's child, this test owns a folder until it is killed.
func TestFolderOwner(t *testing.T) {
	if os.Getenv("STACK_TEST_FOLDER") == "" {
		t.Skip("it is a part of the test that kills a folder's owner; that starts it")
	}
	dir, _, err := stack.TempDir("test")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(dir)
	<-t.Context().Done()
}

// A run's folder goes with the run, also when it could not say good-bye.
func TestAFolderGoesWithItsOwner(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestFolderOwner$")
	cmd.Env = append(os.Environ(), "STACK_TEST_FOLDER=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err := bufio.NewReader(out).ReadString('\n')
	dir = strings.TrimSpace(dir)
	if err != nil || !exists(dir) {
		t.Errorf("the owner said %q (%v), want its folder", dir, err)
	}
	cmd.Process.Kill() //nolint:errcheck // waited for
	cmd.Wait()         //nolint:errcheck // it was killed
	waitFor(t, "the folder is gone", func() bool { return !exists(dir) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// own starts an owner; the returned function kills it by SIGKILL.
func own(t *testing.T, dir string) (url string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestOwner$")
	cmd.Env = append(os.Environ(), "STACK_TEST_OWNER="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { cmd.Process.Kill(); cmd.Wait() } //nolint:errcheck // killed twice is killed
	t.Cleanup(kill)
	url, err = bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(url, "postgres://") {
		t.Fatalf("the owner said %q (%v), want its server's URL", url, err)
	}
	return strings.TrimSpace(url), kill
}

// However a server's owner ends, the server and its files are gone soon after.
func TestNothingIsLeftBehind(t *testing.T) {
	at, kill := own(t, "")
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	sock := u.Query().Get("host")
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	var data string
	if err := conn.QueryRow(t.Context(), `SHOW data_directory`).Scan(&data); err != nil {
		t.Fatal(err)
	}
	if len(sock) > 80 {
		t.Errorf("the socket's folder %s has %d bytes, want at most 80", sock, len(sock))
	}
	killed := time.Now()
	kill()
	waitFor(t, "the server's folders are gone", func() bool {
		_, err1 := os.Stat(sock)
		_, err2 := os.Stat(filepath.Dir(data))
		return errors.Is(err1, os.ErrNotExist) && errors.Is(err2, os.ErrNotExist)
	})
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("the server still answers after its owner was killed")
	}
	t.Logf("gone %d ms after SIGKILL of the owner", time.Since(killed).Milliseconds())
}

// What a server acknowledged is found again after its owner was killed, when
// its folder is to stay.
func TestKeptDataSurvives(t *testing.T) {
	dir := reachableDir(t)
	at, kill := own(t, dir)
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{`CREATE TABLE kept (n int)`, `INSERT INTO kept SELECT generate_series(1, 1000)`} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	kill()
	waitFor(t, "the killed owner's server is gone", func() bool { return conn.Ping(t.Context()) != nil })

	s, err := stack.Postgres(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop() //nolint:errcheck // checked below
	conn, err = pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM kept`).Scan(&n); err != nil || n != 1000 {
		t.Fatalf("%d rows after the kill (%v), want 1000", n, err)
	}
	if err := errors.Join(conn.Close(t.Context()), s.Stop()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "data", "postmaster.pid")); err == nil {
		t.Error("after Stop the data is not in order: postmaster.pid is left")
	}
}

// reachableDir is a folder that user postgres may enter: those of t.TempDir
// are ours alone when we are root.
func reachableDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "waitroom-kept-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	over := time.After(10 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}
