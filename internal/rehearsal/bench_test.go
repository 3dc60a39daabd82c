package rehearsal

import "testing"

// BenchmarkRun rehearses a sale of 5,000 seats with 100,000 people, to the last
// payment.
func BenchmarkRun(b *testing.B) {
	c := usual(5000, 100_000, 50)
	var r Report
	for b.Loop() {
		var err error
		if r, err = Run(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(c.Audience.Fans*b.N)/b.Elapsed().Seconds(), "people/s")
	b.ReportMetric(r.Seconds*float64(b.N)/b.Elapsed().Seconds(), "sale-s/s")
}
