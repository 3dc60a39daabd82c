// Package course is the course of a sale, second by second, and how it is
// drawn: the same for a sale that was watched and for one that was rehearsed.
package course

// Sample is one second of a sale.
type Sample struct {
	T        float64 `json:"t"` // seconds since the opening
	State    string  `json:"state"`
	Reason   string  `json:"reason,omitempty"` // why it is closed in doubt
	Wave     int64   `json:"wave"`
	Line     int64   `json:"line"` // people not called yet
	Front    int64   `json:"front"`
	AtDoor   int64   `json:"at_door"`
	Inside   int64   `json:"inside"`
	LetIn    float64 `json:"let_in_s"`
	Rate     float64 `json:"rate"`
	Claims   float64 `json:"claims_s"`
	Free     int64   `json:"free"`
	Pending  int64   `json:"pending"`
	Sold     int64   `json:"sold"`
	HeldBack int64   `json:"held_back"`
	Share    float64 `json:"share"`
	Tickets  float64 `json:"tickets"`
}

// Plots are the usual ones.
func Plots(samples []Sample) []Plot {
	plots := []Plot{
		{Title: "Seats", Curves: []Curve{
			{"free", "#2e7d32", func(s Sample) float64 { return float64(s.Free) }},
			{"in carts", "#ef6c00", func(s Sample) float64 { return float64(s.Pending) }},
			{"sold", "#1565c0", func(s Sample) float64 { return float64(s.Sold) }},
		}},
		{Title: "People let in a second, against the rate in force", Curves: []Curve{
			{"let in", "#6a1b9a", func(s Sample) float64 { return s.LetIn }},
			{"rate", "#9e9e9e", func(s Sample) float64 { return s.Rate }},
			{"claims", "#00838f", func(s Sample) float64 { return s.Claims }},
		}},
		{Title: "People in the line", Curves: []Curve{{"waiting", "#37474f", func(s Sample) float64 { return float64(s.Line) }}}},
		{Title: "People at the door and inside", Curves: []Curve{
			{"at the door", "#c62828", func(s Sample) float64 { return float64(s.AtDoor) }},
			{"inside", "#2e7d32", func(s Sample) float64 { return float64(s.Inside) }},
		}},
	}
	for i := range plots {
		plots[i].draw(thinned(samples))
	}
	return plots
}

// mostDrawn is as many points as the plot is wide.
const mostDrawn = plotWidth

// thinned leaves out what lies between two pixels.
func thinned(samples []Sample) (some []Sample) {
	step := len(samples)/mostDrawn + 1
	for i := 0; i < len(samples); i += step {
		some = append(some, samples[i])
	}
	return some
}
