package stack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// ErrNoNginx: the machine has none, and nothing stands in for it.
var ErrNoNginx = errors.New("there is no nginx; install it with: apt-get install -y nginx")

// Nginx starts the machine's nginx with the configuration in a folder of the
// project, nginx.conf at its top. own are files to put in the place of the
// folder's, for a listener on that port of this machine.
func Nginx(ctx context.Context, folder string, own func(port int) map[string]string) (*Server, error) {
	bin, err := exec.LookPath("nginx")
	if err != nil {
		bin = "/usr/sbin/nginx" // not on everybody's path
	}
	from := projectFile(folder)
	switch {
	case !exists(bin):
		return nil, ErrNoNginx
	case from == "":
		return nil, fmt.Errorf("nginx: there is no %s", folder)
	}
	var unwritten error
	s, err := program{
		kind: "nginx", end: syscall.SIGTERM, // its workers would outlive a master that is killed
		cmd: func(dir string, port int) *exec.Cmd {
			unwritten = lay(dir, from, own(port))
			return exec.Command(bin, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-g", globals())
		},
		url:    func(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) },
		answer: listens,
	}.start(ctx)
	return s, errors.Join(unwritten, err)
}

// globals keep it our child, and its workers in a folder that is ours alone.
func globals() string {
	if os.Getuid() == 0 {
		return "daemon off; user root;"
	}
	return "daemon off;"
}

func lay(dir, from string, own map[string]string) error {
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		return err
	}
	for name, text := range own {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// listens asks for what is not there: whatever the answer, it is one.
func listens(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, url+"/assets/none", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	res.Body.Close() //nolint:errcheck // nothing is read
	return true
}
