package httpapi

import (
	"strings"

	"waitroom/internal/admission"
	"waitroom/internal/inventory"
)

// What pages say, in plain words and in the reader's language. Scripts say the
// same: they have the same words.

// shortState is what a sale is doing in a word or two, and the tone to say it in.
func (l *tongue) shortState(s admission.SaleState) (text, tone string) {
	switch s {
	case admission.Scheduled:
		return l.Say("short.scheduled"), "soon"
	case admission.InLobby:
		return l.Say("short.lobby"), "soon"
	case admission.Drawing:
		return l.Say("short.drawing"), "soon"
	case admission.Open:
		return l.Say("short.open"), "open"
	case admission.Paused, admission.OnDoubt:
		return l.Say("short.paused"), "paused"
	case admission.Exhausted:
		return l.Say("short.exhausted"), "paused"
	}
	return l.Say("short.closed"), "over"
}

func (l *tongue) stateText(s admission.SaleState, why admission.Reason) string {
	if s == admission.OnDoubt {
		return l.Say("doubt.sentence", "why", l.reasonText(why))
	}
	if key := "state." + string(s); l.Has(key) {
		return l.Say(key)
	}
	return l.Say("state.closed")
}

func (l *tongue) reasonText(r admission.Reason) string {
	if key := "doubt." + string(r); l.Has(key) {
		return l.Say(key)
	}
	return l.Say("doubt.unknown")
}

// refusal is a problem's title. What has no words here is told in general.
func (l *tongue) refusal(p *Problem) string {
	if key := "refused." + p.Code; l.Has(key) {
		return l.Say(key)
	}
	if l.Path == "" {
		return p.Title
	}
	return l.Say("refused.internal")
}

// help is what somebody can do who was refused. A detail is the API's, in
// English, and is told where there are no words of ours.
func (l *tongue) help(p *Problem) string {
	key := "help." + p.Code
	if p.Detail != "" && (l.Path == "" || l.Has(p.Detail)) {
		return l.Say(p.Detail) // a key, or itself
	}
	switch {
	case l.Has(key):
		return l.Say(key)
	case p.RetryAfter > 0 || p.Status >= 500:
		return l.Say("help.moment")
	}
	return ""
}

// limitText says which limit a claim would pass.
func (l *tongue) limitText(limit inventory.Limit, quota int) string {
	switch limit {
	case inventory.OrderLimit:
		return l.Say("seats.limit_order")
	case inventory.AccountLimit:
		return l.Say("seats.limit_account")
	case inventory.TierLimit:
		return l.Say("seats.limit_tier")
	}
	return l.Say("seats.limit_pass", "n", quota)
}

// placeWords are the heading of a place, what else is to be said of it, and the
// label of its way back into the line, "" for none.
type placeWords struct {
	Head string
	Lead string
	Join string
}

func (l *tongue) wordsOf(view admission.View, closed bool) placeWords {
	again := l.Say("place.again")
	w := placeWords{Head: l.Say("place.waiting")}
	switch {
	case closed && view != admission.ViewLeft:
		return placeWords{Head: l.Say("place.over_head"), Lead: l.Say("place.over_lead")}
	case view == admission.ViewPassed:
		return placeWords{Head: l.Say("place.in"), Lead: l.Say("place.in_lead")}
	case view == admission.ViewCalled:
		return placeWords{Head: l.Say("place.turn")}
	case view == admission.ViewOver:
		w = placeWords{l.Say("place.lapsed"), l.Say("place.lapsed_lead"), again}
	case view == admission.ViewLeft:
		w = placeWords{l.Say("place.left"), l.Say("place.left_lead"), again}
	}
	if closed {
		w.Join = ""
		w.Lead = l.Say("place.over_short")
	}
	return w
}

// noPlace is said to somebody without a ticket of this line; had is true when
// there was one.
func (l *tongue) noPlace(closed, had bool) placeWords {
	switch {
	case closed:
		return placeWords{Head: l.Say("place.over_head"), Lead: l.Say("place.over_none")}
	case had:
		return placeWords{l.Say("place.anew"), l.Say("place.anew_lead"), l.Say("place.again")}
	}
	return placeWords{l.Say("place.none"), l.Say("place.none_lead"), l.Say("event.join")}
}

// standbySlower is how many times less often somebody on standby checks: still
// before they are called, for usually one does so at a third of the wait.
const standbySlower = 3

func (l *tongue) reachText(people int64) string {
	if people == 0 {
		return ""
	}
	return l.Say("place.reach", "n", people)
}

func (l *tongue) etaText(at admission.Position) string {
	if !at.Known || at.Ahead == 0 {
		return ""
	}
	least, most := l.Roughly(at.P50), l.Roughly(at.P90)
	if least == most {
		return l.Say("time.about", "from", least)
	}
	return l.Say("time.range", "from", least, "to", most)
}

// verdictText says plainly what waiting is worth, with both raw numbers.
func (l *tongue) verdictText(at admission.Position) string {
	verdict := at.Verdict
	if at.Exceeds {
		verdict = admission.Unlikely
	}
	if key := "verdict." + string(verdict); l.Has(key) {
		return l.Say(key) + " " + l.Say("verdict.numbers", "ahead", at.Ahead, "free", at.Stock.Free, "pending", at.Stock.Pending)
	}
	return strings.TrimSpace(l.Say("verdict.numbers", "ahead", at.Ahead, "free", at.Stock.Free, "pending", at.Stock.Pending))
}

func viewOf(s admission.Stock) countsView { return countsView{s.Free, s.Pending, s.Sold} }
