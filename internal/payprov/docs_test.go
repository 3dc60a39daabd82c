package payprov_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"waitroom/internal/payprov"
)

// Every line of shell in the docs does what is written below it.
func TestTheDocsAreTrue(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed; the docs' lines are not tried:", err)
	}
	docs, err := os.ReadFile("../../docs/PAYPROV.md")
	if err != nil {
		t.Fatal(err)
	}
	_, base := start(t, payprov.Config{})
	script, blocks := "", regexp.MustCompile("(?s)```sh\n(.*?)```\n```text\n(.*?)```\n").FindAllStringSubmatch(string(docs), -1)
	for _, block := range blocks {
		script += block[1] + "echo '=== ended'\n"
	}
	sh := exec.CommandContext(t.Context(), "sh", "-c", script)
	sh.Env = append(os.Environ(), "PAY="+base, "KEY="+key, "NO_PROXY=*")
	out, err := sh.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := strings.Split(string(out), "=== ended\n")
	if len(blocks) < 8 || len(said) != len(blocks)+1 {
		t.Fatalf("%d blocks, %d answers", len(blocks), len(said)-1)
	}
	for i, block := range blocks {
		want := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(block[2])), "…", ".*")
		if got := strings.TrimSpace(said[i]); !regexp.MustCompile(fmt.Sprintf("^%s$", want)).MatchString(got) {
			t.Errorf("%s\nsaid:\n%s\nthe docs say:\n%s", block[1], got, block[2])
		}
	}
}
