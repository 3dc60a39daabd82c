package crowd

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// hall is what a fan's browser knows of the seats: the seat map, once.
type hall struct {
	rows []run
	guid []string
}

// run is seats that stand beside each other on the plan, by pos.
type run struct {
	from, to int
	tier     string
	general  bool
}

type seatmap struct {
	Tiers []struct{ ID string }
	Rows  []struct {
		General int
		Numbers []string
		Prefix  string
		GUIDs   []string
		Tier    json.RawMessage
	}
}

type availability struct {
	Plan   string
	Bitmap string
}

func (h *hall) load(ctx context.Context, c *Crowd) error {
	public := c.URLs[0] + "/v1/public/events/" + c.Event
	deadline := time.Now().Add(20 * time.Second)
	var seats availability
	for {
		r := c.call(ctx, "GET", public+"/availability", "", "", nil)
		if r.status == 200 && r.into(&seats) && seats.Plan != "" {
			break
		}
		if time.Now().After(deadline) || !wait(ctx, 200*time.Millisecond) {
			return fmt.Errorf("crowd: availability of %s: %s", c.Event, r.code())
		}
	}
	r := c.call(ctx, "GET", public+"/seatmap."+seats.Plan+".json", "", "", nil)
	var m seatmap
	if r.status != 200 || !r.into(&m) {
		return fmt.Errorf("crowd: seat map of %s: %s", c.Event, r.code())
	}
	for _, row := range m.Rows {
		h.add(m, row.General, row.Numbers, row.Prefix, row.GUIDs, row.Tier)
	}
	return nil
}

func (h *hall) add(m seatmap, general int, numbers []string, prefix string, guids []string, tier json.RawMessage) {
	r := run{from: len(h.guid), general: general > 0}
	for i := range general {
		guids = append(guids, prefix+strconv.Itoa(i+1))
	}
	for i := len(guids); i < len(numbers); i++ {
		guids = append(guids, prefix+numbers[i])
	}
	h.guid = append(h.guid, guids...)
	r.to = len(h.guid)
	var one int
	if json.Unmarshal(tier, &one) == nil && one < len(m.Tiers) {
		r.tier = m.Tiers[one].ID
	}
	h.rows = append(h.rows, r)
}

// want is what a fan asks for: seats by name, some of a tier, or the best.
type want struct {
	Seats    []string `json:"seats,omitempty"`
	Tier     string   `json:"tier,omitempty"`
	Quantity int      `json:"quantity,omitempty"`
	Best     *best    `json:"best,omitempty"`
}

type best struct {
	Count int `json:"count"`
}

// choose picks n free seats side by side from a random place on, or as many as
// there are: single ones anywhere, else what is left of a kind that nobody
// picks. An empty answer: nothing is free.
func (h *hall) choose(r *rand.Rand, bitmap string, n int) want {
	bits, err := base64.StdEncoding.DecodeString(bitmap)
	if err != nil {
		return want{}
	}
	free := func(pos int) bool { return pos/4 < len(bits) && bits[pos/4]>>(pos%4*2)&3 == 0 }
	var loose []string
	var rest want
	start := r.IntN(len(h.rows))
	for i := range h.rows {
		row := h.rows[(start+i)%len(h.rows)]
		got := row.side(free, n)
		if len(got) == n && row.general {
			return want{Tier: row.tier, Quantity: n}
		}
		if len(got) == n {
			return want{Seats: h.names(got)}
		}
		switch {
		case row.general && len(got) > rest.Quantity:
			rest = want{Tier: row.tier, Quantity: len(got)}
		case !row.general && len(loose) < n:
			loose = append(loose, h.names(row.loose(free, n-len(loose)))...)
		}
	}
	if len(loose) == 0 {
		return rest
	}
	return want{Seats: loose}
}

// side is the first n free seats beside each other.
func (r run) side(free func(int) bool, n int) []int {
	var got []int
	for pos := r.from; pos < r.to && len(got) < n; pos++ {
		switch {
		case free(pos):
			got = append(got, pos)
		case !r.general:
			got = got[:0]
		}
	}
	return got
}

func (r run) loose(free func(int) bool, n int) []int {
	var got []int
	for pos := r.from; pos < r.to && len(got) < n; pos++ {
		if free(pos) {
			got = append(got, pos)
		}
	}
	return got
}

func (h *hall) names(pos []int) []string {
	out := make([]string, len(pos))
	for i, p := range pos {
		out[i] = h.guid[p]
	}
	return out
}
