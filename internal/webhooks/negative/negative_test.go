package negative

import (
	"strings"
	"testing"
)

// bare has the three words of waitctl webhooks, and is built in no time.
const bare = "./internal/webhooks/negative/testdata/bare"

// Every judgement that is put back to what it was is applied, differs and is
// caught.
func TestEveryMutantIsCaught(t *testing.T) {
	var out strings.Builder
	ok, err := run(t.Context(), bare, mutants(), judges(), &out)
	if err != nil || !ok || !strings.HasSuffix(out.String(), "NEGATIVE 17 applied, 17 caught, 0 vacuous\n") {
		t.Errorf("%t, %v\n%s", ok, err, out.String())
	}
}

// What makes no difference on its case proves nothing, and what was not built
// even less.
func TestAMutantWithoutTeethIsNoProof(t *testing.T) {
	var out strings.Builder
	noDifference := mutant{name: "dead_letter", says: "over_dead_letter is set, and would be false anyway"}
	ok, err := run(t.Context(), bare, []mutant{noDifference}, nil, &out)
	if err != nil || ok || !strings.HasSuffix(out.String(), "NEGATIVE 1 applied, 0 caught, 1 vacuous\n") {
		t.Errorf("%t, %v\n%s", ok, err, out.String())
	}
	notBuilt := mutant{name: "dead-letter"}
	if ok, err := run(t.Context(), bare, []mutant{notBuilt}, nil, &out); ok || err == nil || !strings.Contains(err.Error(), "1 tags built 0 files") {
		t.Errorf("%t, %v; want that nothing was built", ok, err)
	}
	noCase := mutant{name: "redirect", edit: edit{"attempts.tsv", "not there", "x"}}
	if ok, err := run(t.Context(), bare, []mutant{noCase}, nil, &out); ok || err == nil || !strings.Contains(err.Error(), "to edit") {
		t.Errorf("%t, %v; want that the case is none", ok, err)
	}
	if ok, err := run(t.Context(), bare, nil, nil, &out); ok || err != nil {
		t.Errorf("%t, %v of nothing", ok, err)
	}
}
