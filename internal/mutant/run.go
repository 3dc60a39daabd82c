package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Run seeds each mutant and lets its tests judge it. It is true if all were
// built, and caught. One that could not be tried is an error: what was not
// tried proves nothing.
func Run(ctx context.Context, root string, seeded []Mutant, out io.Writer) (bool, error) {
	root, err := filepath.Abs(root) // or go takes what is laid over for another file
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // temporary
	b := bench{root: root, dir: dir, sound: map[string]bool{}}
	caught := 0
	for _, m := range seeded {
		by, err := b.try(ctx, m)
		if err != nil {
			return false, fmt.Errorf("%s: %w", m.Name, err)
		}
		verdict := "NOT CAUGHT"
		if len(by) > 0 {
			verdict, caught = "caught by "+strings.Join(by, " "), caught+1
		}
		fmt.Fprintf(out, "%-4s %-32s %s: %s\n", m.Promise, m.Name, m.Says, verdict)
	}
	fmt.Fprintf(out, "MUTANTS %d applied, %d caught\n", len(seeded), caught)
	return len(seeded) > 0 && caught == len(seeded), nil
}

// bench tries mutants.
type bench struct {
	root, dir string
	sound     map[string]bool // tests that pass without any mutant
}

// try names the tests that fail with the mutant.
func (b *bench) try(ctx context.Context, m Mutant) (caught []string, err error) {
	overlay, err := b.lay(m)
	if err != nil {
		return nil, err
	}
	if err := b.applied(ctx, m, overlay); err != nil {
		return nil, err
	}
	if err := b.passes(ctx, m); err != nil {
		return nil, err
	}
	_, failed, err := b.test(ctx, m, overlay)
	return failed, err
}

// lay writes the mutant's source, and what go lays over the product's.
func (b *bench) lay(m Mutant) (overlay string, err error) {
	text, err := m.seed(b.root)
	if err != nil {
		return "", err
	}
	source := filepath.Join(b.dir, m.Name+".go")
	list, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(b.root, m.File): source},
	})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(b.dir, m.Name+".json")
	return overlay, errors.Join(os.WriteFile(source, text, 0o600), os.WriteFile(overlay, list, 0o600))
}

// applied has the compiler build the edited package with the mutant and without,
// and wants different code.
func (b *bench) applied(ctx context.Context, m Mutant, overlay string) error {
	code := func(with ...string) (string, error) {
		args := append([]string{"list", "-export", "-f", "{{.BuildID}}"}, with...)
		out, err := b.goes(ctx, append(args, "./"+filepath.Dir(m.File))...)
		_, content, _ := strings.Cut(strings.TrimSpace(string(out)), "/") // actionID/contentID
		return content, err
	}
	sound, err := code()
	if err != nil {
		return err
	}
	mutant, err := code("-overlay", overlay)
	if err != nil {
		return err
	}
	if sound == "" || mutant == sound {
		return fmt.Errorf("the same code was built with it and without: %q", sound)
	}
	return nil
}

// passes wants the tests to pass without a mutant: else they catch nothing.
func (b *bench) passes(ctx context.Context, m Mutant) error {
	key := m.Pkg + " " + m.Tests
	if b.sound[key] {
		return nil
	}
	passed, failed, err := b.test(ctx, m, "")
	if err != nil {
		return err
	}
	if want := strings.Count(m.Tests, "|") + 1; len(passed) != want || len(failed) > 0 {
		return fmt.Errorf("without it, of %d tests %q pass and %q fail", want, passed, failed)
	}
	b.sound[key] = true
	return nil
}

// test runs the mutant's tests: each whole, or not at all. No test that fails and
// an exit that is not 0 is no verdict (it did not compile, say).
func (b *bench) test(ctx context.Context, m Mutant, overlay string) (passed, failed []string, err error) {
	args := []string{"test", "-json", "-count=1", "-timeout", "4m", "-run", "^(" + m.Tests + ")$"}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	out, gone := b.goes(ctx, append(args, "./"+m.Pkg)...)
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		var line struct{ Action, Test string }
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("what go test says: %w", err)
		}
		switch whole := line.Test != "" && !strings.Contains(line.Test, "/"); {
		case whole && line.Action == "pass":
			passed = append(passed, line.Test)
		case whole && line.Action == "fail":
			failed = append(failed, line.Test)
		}
	}
	if gone != nil && len(failed) == 0 {
		return nil, nil, gone
	}
	return passed, failed, nil
}

func (b *bench) goes(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "RAPID_NOFAILFILE=true") // a seeded failure is none to keep
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, complaints.String())
	}
	return out.Bytes(), nil
}
