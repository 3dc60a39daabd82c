package negative

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// example puts the example's contract and ledgers into a new folder, edited.
func (b *bench) example(edits ...edit) (string, error) {
	dir, err := os.MkdirTemp(b.dir, "case-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"endpoints.tsv", "attempts.tsv", "retry.env", "report.json"} {
		text, err := os.ReadFile(filepath.Join(b.root, "internal/webhooks/ledgertest/testdata/example", name))
		if err != nil {
			return "", err
		}
		for _, e := range edits {
			if e.file != name {
				continue
			}
			if !bytes.Contains(text, []byte(e.old)) {
				return "", fmt.Errorf("%s has no %q to edit", name, e.old)
			}
			text = bytes.Replace(text, []byte(e.old), []byte(e.with), 1)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// answer is how a program ended, and what it said or wrote.
type answer struct {
	exit int
	text string
}

// ask runs one of a program's three words on a folder.
func ask(ctx context.Context, program, word, dir string) (answer, error) {
	cmd := exec.CommandContext(ctx, program, "webhooks", word, "--dir", dir)
	out, err := cmd.Output()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		return answer{}, err
	}
	a := answer{cmd.ProcessState.ExitCode(), string(out)}
	if word == "plan" { // the report is what it says
		report, err := os.ReadFile(filepath.Join(dir, "report.json"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return answer{}, err
		}
		a.text = string(report)
	}
	return a, nil
}

// plan lets a mutant make a report, and the sound program judge it.
func (b *bench) plan(ctx context.Context, m mutant) (r result, err error) {
	program, applied, err := b.apply(ctx, m)
	if err != nil {
		return r, err
	}
	r.applied = applied
	var edits []edit
	if m.edit != (edit{}) {
		edits = append(edits, m.edit)
	}
	dir, err := b.example(edits...)
	if err != nil {
		return r, err
	}
	var answers [4]answer
	for i, do := range []struct{ program, word string }{{b.sound, "plan"}, {program, "plan"}, {b.sound, "health"}, {b.sound, "probe"}} {
		if answers[i], err = ask(ctx, do.program, do.word, dir); err != nil {
			return r, err
		}
	}
	sound, wrong, health, probe := answers[0], answers[1], answers[2], answers[3]
	r.differs = sound != wrong
	if health.exit != 0 && probe.exit != 0 { // each by itself
		r.caught = fmt.Sprintf("health %d, probe %d", health.exit, probe.exit)
	}
	return r, nil
}

// known are reports of which is known what health has to say.
func known() map[string]struct {
	edit edit
	exit int
} {
	return map[string]struct {
		edit edit
		exit int
	}{
		"clean":    {exit: 0},
		"tampered": {edit{"report.json", `"backoff_s": 171`, `"backoff_s": 143`}, 2},
		"green":    {edit{"report.json", `"ok": false`, `"ok": true`}, 2},
		"unusable": {edit{"retry.env", "WEBHOOK_ADMIT_SLACK_S=5\n", ""}, 3},
	}
}

// judge lets a mutant judge reports of which is known what they are.
func (b *bench) judge(ctx context.Context, m mutant) (r result, err error) {
	program, applied, err := b.apply(ctx, m)
	if err != nil {
		return r, err
	}
	r.applied = applied
	var by []string
	for _, name := range []string{"clean", "tampered", "green", "unusable"} {
		k := known()[name]
		dir, err := b.example(k.edit)
		if err != nil {
			return r, err
		}
		sound, err := ask(ctx, b.sound, "health", dir)
		if err != nil {
			return r, err
		}
		if sound.exit != k.exit {
			return r, fmt.Errorf("the sound program's health of the %s report is %d, want %d: %s", name, sound.exit, k.exit, sound.text)
		}
		wrong, err := ask(ctx, program, "health", dir)
		if err != nil {
			return r, err
		}
		probe, err := ask(ctx, b.sound, "probe", dir)
		if err != nil {
			return r, err
		}
		r.differs = r.differs || sound != wrong
		if wrong.exit != k.exit {
			by = append(by, fmt.Sprintf("the %s report: %d, want %d", name, wrong.exit, k.exit))
		}
		if wrong.exit == 0 && probe.exit != 0 {
			by = append(by, "the probe")
		}
	}
	r.caught = strings.Join(by, "; ")
	return r, nil
}
