package admission_test

import (
	"testing"

	"waitroom/internal/admission"
)

// A code is the same however it was copied, of one event, and never kept as it is.
func TestCodesAreReadAsPeopleCopyThem(t *testing.T) {
	want, ok := admission.CodeHash("gala", "FAN7-K2QX-99")
	for _, same := range []string{"fan7k2qx99", " FAN7 K2QX 99 ", "Fan7-k2qx-99"} {
		if got, good := admission.CodeHash("gala", same); !good || got != want || !ok {
			t.Errorf("%q is another code", same)
		}
	}
	if got, _ := admission.CodeHash("other", "FAN7K2QX99"); got == want {
		t.Error("one code opens two events")
	}
	for _, none := range []string{"", "short", "----------", "naïve-code", "a code\nof two lines", string(make([]byte, 100))} {
		if _, ok := admission.CodeHash("gala", none); ok {
			t.Errorf("%q is taken for a code", none)
		}
	}
}
