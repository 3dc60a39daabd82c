package bench

import "testing"

// A phone in a crowd is sent little: an arena's layout in 30 kB and at most 3 for a
// thousand seats, and what is free when half is sold in 4.
func TestSizesAreWithinTheirBounds(t *testing.T) {
	all, err := sizes(t.Context(), "", Effort{}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		t.Log(f)
		most := 1.0
		if f.Name == "availability_size_at_worst_vs_entropy" {
			most = 1.22
		}
		if f.Ratio > most || f.Value <= 0 {
			t.Errorf("%s is %.2f times what it may be, want %.2f at most", f.Name, f.Ratio, most)
		}
	}
}
