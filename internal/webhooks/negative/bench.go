package negative

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Where judgements stand that can be put back.
var judged = []string{"internal/webhooks/plan/rule", "internal/webhooks/health"}

// bench has the sound program, and builds the others.
type bench struct {
	root, dir, program string
	sound              string
	files              map[string]bool // of judged, as the sound one is built
}

func open(ctx context.Context, program string) (*bench, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	dir, err := os.MkdirTemp("", "webhooks-negative-")
	if err != nil {
		return nil, err
	}
	b := &bench{root: filepath.Dir(strings.TrimSpace(string(mod))), dir: dir, program: program}
	if b.files, err = b.built(ctx, nil); err == nil {
		b.sound, err = b.build(ctx, "sound", nil)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return b, nil
}

// complete wants every mutant that there is in the source to be on a list.
func (b *bench) complete() error {
	listed := map[string]bool{}
	for _, m := range append(mutants(), judges()...) {
		for _, tag := range m.with() {
			listed[tag] = true
		}
	}
	for _, pkg := range judged {
		files, err := filepath.Glob(filepath.Join(b.root, pkg, "*_mutant.go"))
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			first, _, _ := bytes.Cut(text, []byte("\n"))
			tag, is := strings.CutPrefix(string(first), "//go:build ")
			if !is || !listed[tag] {
				return fmt.Errorf("%s is on no list: %s", file, first)
			}
		}
	}
	return nil
}

// with are its build tags.
func (m mutant) with() (tags []string) {
	for _, t := range m.tags {
		tags = append(tags, "mutant_"+t)
	}
	if tags == nil {
		return []string{"mutant_" + m.name}
	}
	return tags
}

// built is what the compiler is given of the judged packages.
func (b *bench) built(ctx context.Context, tags []string) (map[string]bool, error) {
	args := []string{"list", "-tags", strings.Join(tags, ","), "-f", `{{$p := .Name}}{{range .GoFiles}}{{$p}}/{{.}} {{end}}`}
	for _, pkg := range judged {
		args = append(args, "./"+pkg)
	}
	text, err := b.goes(ctx, args...)
	files := map[string]bool{}
	for _, f := range strings.Fields(text) {
		files[f] = true
	}
	return files, err
}

// build builds a program with tags.
func (b *bench) build(ctx context.Context, name string, tags []string) (string, error) {
	path := filepath.Join(b.dir, name)
	_, err := b.goes(ctx, "build", "-ldflags=-s -w", "-tags", strings.Join(tags, ","), "-o", path, b.program)
	return path, err
}

func (b *bench) goes(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.root
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, complaints.String())
	}
	return out.String(), nil
}

// apply builds a mutant, and proves that of the judgements exactly its own were
// exchanged: for each tag one file out, and its twin in.
func (b *bench) apply(ctx context.Context, m mutant) (program string, applied string, err error) {
	files, err := b.built(ctx, m.with())
	if err != nil {
		return "", "", err
	}
	var in []string
	for f := range files {
		if b.files[f] {
			continue
		}
		twin := strings.TrimSuffix(f, "_mutant.go") + ".go"
		if twin == f || files[twin] || !b.files[twin] {
			return "", "", fmt.Errorf("%s is built, and not in place of a judgement", f)
		}
		in = append(in, f)
	}
	if len(in) != len(m.with()) || len(files) != len(b.files) {
		return "", "", fmt.Errorf("%d tags built %d files in place of others: %s", len(m.with()), len(in), in)
	}
	slices.Sort(in)
	applied = strings.Join(in, " ")
	if len(in) > 2 {
		applied = fmt.Sprintf("%d files", len(in))
	}
	program, err = b.build(ctx, strings.ReplaceAll(m.name, " ", "_"), m.with())
	return program, applied, err
}
