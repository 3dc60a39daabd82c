package process

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type settings struct {
	Ops
	DatabaseURL string        `env:"DATABASE_URL" required:"" secret:""`
	Interval    time.Duration `env:"INTERVAL" default:"1s"`
}

// The whole way of a setting: default, environment, flag, file.
func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte("postgres://from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want settings
		err  string
	}{
		"defaults": {
			env:  map[string]string{"DATABASE_URL": "postgres://x"},
			want: settings{Ops{":9090", 5 * time.Second, 20 * time.Second, slog.LevelInfo}, "postgres://x", time.Second},
		},
		"environment, flag and file": {
			env:  map[string]string{"DATABASE_URL_FILE": file, "INTERVAL": "2s", "LOG_LEVEL": "warn", "DRAIN_GRACE": "0s"},
			args: []string{"--interval=3s"},
			want: settings{Ops{":9090", 0, 20 * time.Second, slog.LevelWarn}, "postgres://from-file", 3 * time.Second},
		},
		"missing":                      {err: "missing: --database-url / DATABASE_URL"},
		"missing before senseless":     {env: map[string]string{"DRAIN_LIMIT": "0s"}, err: "missing: --database-url / DATABASE_URL"},
		"empty":                        {env: map[string]string{"DATABASE_URL": ""}, err: "missing: --database-url / DATABASE_URL"},
		"unknown":                      {args: []string{"--databse-url=x"}, err: "unknown flag --databse-url"},
		"an argument too many":         {env: map[string]string{"DATABASE_URL": "x"}, args: []string{"now"}, err: "unexpected argument now"},
		"not a duration":               {env: map[string]string{"DATABASE_URL": "x", "INTERVAL": "1"}, err: `INTERVAL`},
		"senseless":                    {env: map[string]string{"DATABASE_URL": "x", "DRAIN_LIMIT": "0s"}, err: "the limit must be more than 0"},
		"value and file":               {env: map[string]string{"DATABASE_URL": "x", "DATABASE_URL_FILE": file}, err: "both set"},
		"a file that is not there":     {env: map[string]string{"DATABASE_URL_FILE": file + "?"}, err: "no such file"},
		"a file for what is no secret": {env: map[string]string{"DATABASE_URL": "x", "INTERVAL_FILE": file}, want: settings{Ops{":9090", 5 * time.Second, 20 * time.Second, slog.LevelInfo}, "x", time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			var got settings
			err := parse(&got, "claimer", "", c.args, io.Discard, func(int) {})
			switch {
			case c.err == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("%v, want it to say %q", err, c.err)
			case c.err == "" && got != c.want:
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// A number that is 0 is there, by a flag and by the environment; one that nobody
// set is missing.
func TestZeroIsANumberThatWasSet(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		err  string
	}{
		"by a flag":           {args: []string{"--index=0"}},
		"as another argument": {args: []string{"--index", "0"}},
		"by the environment":  {env: map[string]string{"INDEX": "0"}},
		"by nobody":           {err: "missing: --index / INDEX"},
		"to nothing":          {env: map[string]string{"INDEX": ""}, err: "INDEX"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			var got struct {
				Index int64 `env:"INDEX" required:""`
			}
			err := parse(&got, "waitctl", "", c.args, io.Discard, func(int) {})
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%v, want it to say %q", err, c.err)
			}
		})
	}
}

// A process with a senseless setting ends with code 2 and its reason on stderr.
func TestSenselessSettingStopsTheStart(t *testing.T) {
	if os.Getenv("PROCESS_TEST_PARSE") != "" {
		os.Args = []string{"claimer"}
		Parse(&settings{}, "claimer", "")
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSenselessSettingStopsTheStart$")
	cmd.Env = append(os.Environ(), "PROCESS_TEST_PARSE=1", "DATABASE_URL=x", "DRAIN_GRACE=soon")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.Run() //nolint:errcheck // its exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(stderr.String(), "DRAIN_GRACE") {
		t.Errorf("exit %d with %q on stderr, want 2 and the setting's name", code, stderr.String())
	}
}

func TestLogIsJSONInUTC(t *testing.T) {
	var out strings.Builder
	Logger(&out, "claimer", slog.LevelInfo).Info("claimed", "order", "o1")
	var line struct{ Time, Msg, Process, Order string }
	if err := json.Unmarshal([]byte(out.String()), &line); err != nil {
		t.Fatal(err)
	}
	if line.Process != "claimer" || line.Order != "o1" || line.Msg != "claimed" || !strings.HasSuffix(line.Time, "Z") {
		t.Errorf("%+v, want process, message, key, and a time in UTC", line)
	}
}
