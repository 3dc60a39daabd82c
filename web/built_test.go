package web_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is embedded is what web/src and api/openapi.yaml say, to the byte, and tsc
// finds no fault with it: nobody reads one thing in the source and ships another.
func TestAssetsAreBuiltFromTheSource(t *testing.T) {
	fresh := t.TempDir()
	if told, err := exec.CommandContext(t.Context(), "../scripts/assets.sh", fresh).CombinedOutput(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 3 {
			t.Skipf("%s", told)
		}
		t.Fatalf("%v\n%s", err, told)
	}
	built := 0
	err := filepath.WalkDir(fresh, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		built++
		name := strings.TrimPrefix(path, fresh+"/")
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("web/%s is not what the source says (%d bytes, built anew %d, %v): make assets", name, len(got), len(want), err)
		}
		return nil
	})
	if err != nil || built == 0 {
		t.Errorf("%d files built, %v", built, err)
	}
	sources, err := filepath.Glob("assets/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(fresh, name)); err != nil && bytes.HasPrefix(text, []byte("/* Built from web/src")) {
			t.Errorf("web/%s is built from a source that is not there any more", name)
		}
	}
	t.Logf("%d files are as built", built)
}
