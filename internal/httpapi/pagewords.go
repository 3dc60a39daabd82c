package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"waitroom/internal/admission"
	"waitroom/internal/inventory"
	"waitroom/web"
)

// What pages say, in plain words. Scripts say the same: they get it from words.

// shortState is what a sale is doing in a word or two, and the tone to say it in.
func shortState(s admission.SaleState) (text, tone string) {
	switch s {
	case admission.Scheduled:
		return "Soon", "soon"
	case admission.InLobby:
		return "Lobby open", "soon"
	case admission.Drawing:
		return "Being drawn", "soon"
	case admission.Open:
		return "On sale", "open"
	case admission.Paused, admission.OnDoubt:
		return "Paused", "paused"
	case admission.Exhausted:
		return "Nothing free just now", "paused"
	}
	return "The sale is over", "over"
}

func stateText(s admission.SaleState, reason admission.Reason) string {
	switch s {
	case admission.Scheduled:
		return "The sale has not begun yet."
	case admission.InLobby:
		return "The lobby is open: whoever comes now gets a place by lot."
	case admission.Drawing:
		return "The lobby has closed; the draw is on its way."
	case admission.Open:
		return "The sale is open."
	case admission.Paused:
		return "Paused by the organiser. Places are kept."
	case admission.OnDoubt:
		return "Paused for a moment: " + reasonText(reason) + ". Places are kept."
	case admission.Exhausted:
		return "Everything is sold or in carts. Tickets do come back; the line goes on then."
	}
	return "The sale is over."
}

func reasonText(r admission.Reason) string {
	switch r {
	case admission.NoStock:
		return "the seats are being counted"
	case admission.NoClaimers:
		return "no seats can be taken just now"
	case admission.NotDrawn:
		return "the draw waits for its public value"
	case admission.NoRate:
		return "the organiser has not set its pace yet"
	}
	return "a part of the system does not answer"
}

func verdictWords(v admission.Verdict) string {
	switch v {
	case admission.Likely:
		return "There should be tickets for you."
	case admission.Possible:
		return "There may be tickets for you, if some in carts come back."
	}
	return "The queue ahead already exceeds the remaining tickets. You may stay: tickets do come back."
}

// helpText is what somebody can do who was refused.
func helpText(p *Problem) string {
	switch {
	case p.Detail != "":
		return p.Detail
	case p.Code == "no_such_order":
		return "An order opens in the browser that it was made in."
	case p.Code == "foreign_origin":
		return "Please start again from the event’s page."
	case p.RetryAfter > 0 || p.Status >= 500:
		return "Please try again in a moment."
	}
	return ""
}

// limitText says which limit a claim would pass.
func limitText(limit inventory.Limit, quota int) string {
	switch limit {
	case inventory.OrderLimit:
		return "That is more than one order may have."
	case inventory.AccountLimit:
		return "That is more than one person may have, with what you have already."
	case inventory.TierLimit:
		return "That is more than one person may have at this price, with what you have already."
	}
	return fmt.Sprintf("That is more than your pass allows: %d in all.", quota)
}

// words are for the scripts that keep a page true: by state, by reason of a
// doubt, and by verdict.
func words() (string, error) {
	all := map[string]string{}
	for _, s := range []admission.SaleState{
		admission.Scheduled, admission.InLobby, admission.Drawing, admission.Open, admission.Paused, admission.Exhausted, admission.Closed,
	} {
		all[string(s)] = stateText(s, admission.NoReason)
	}
	for _, r := range []admission.Reason{admission.NoStock, admission.NoClaimers, admission.NoRate, admission.NotDrawn, admission.NoReason} {
		all[string(admission.OnDoubt)+string(r)] = stateText(admission.OnDoubt, r)
	}
	for _, v := range []admission.Verdict{admission.Likely, admission.Possible, admission.Unlikely} {
		all[string(v)] = verdictWords(v)
	}
	all["reach"], all["again"] = reachWords, backAgain
	text, err := json.Marshal(all)
	return string(text), err
}

// placeWords are the heading of a place, what else is to be said of it, and the
// label of its way back into the line, "" for none.
type placeWords struct {
	Head string
	Lead string
	Join string
}

const again = "Join the line again"

func wordsOf(view admission.View, closed bool) placeWords {
	w := placeWords{Head: "You are in the line"}
	switch {
	case closed && view != admission.ViewLeft:
		return placeWords{Head: "The sale is over", Lead: "Nobody is let in and nothing is taken any more. What is in carts may still be paid."}
	case view == admission.ViewPassed:
		return placeWords{Head: "You are in", Lead: "Choose your seats: they are yours once you have taken them and paid."}
	case view == admission.ViewCalled:
		return placeWords{Head: "It is your turn"}
	case view == admission.ViewOver:
		w = placeWords{"Your time to choose is over", "You can wait once more, from the end of the line.", again}
	case view == admission.ViewLeft:
		w = placeWords{"You gave your place up", "Whoever is behind you has moved up; thank you. If you change your mind, you start from the end of the line.", again}
	}
	if closed {
		w.Join = ""
		w.Lead = "The sale is over."
	}
	return w
}

// noPlace is said to somebody without a ticket of this line; had is true when
// there was one.
func noPlace(closed, had bool) placeWords {
	switch {
	case closed:
		return placeWords{Head: "The sale is over", Lead: "Nobody is let in any more."}
	case had:
		return placeWords{"The line was started anew", "The organiser began this line again from its start. Please join once more.", again}
	}
	return placeWords{
		"You are not in this line",
		"Join it, and your place is kept in this browser. If you have just joined, then this browser does not keep cookies, and the line cannot know you again.",
		"Join the line",
	}
}

// What is said to latecomers, and to those behind the stock.
const (
	lateText   = "You were called a while ago. Your place is kept, and you can still go in: while others are at the door, every fifth to go in is one of those who come late, the lowest number first."
	mayStandby = "You can stay on standby: your place is kept, this page checks less often, and it tells you as soon as there may be tickets for you again."
	onStandby  = "You are on standby. Your place is kept; this page checks less often, and tells you as soon as there may be tickets for you again."
	backAgain  = "There may be tickets for you again."
	// standbySlower is how many times less often somebody on standby checks: still
	// before they are called, for usually one does so at a third of the wait.
	standbySlower = 3
)

const reachWords = "What is left may do for about the first {n} in the line."

func reachText(people int64) string {
	if people == 0 {
		return ""
	}
	return strings.ReplaceAll(reachWords, "{n}", web.Num(people))
}

const atDoor = "You are at the door. Who came first goes in first: press the button once more."

func etaText(at admission.Position) string {
	if !at.Known || at.Ahead == 0 {
		return ""
	}
	least, most := web.Roughly(at.P50), web.Roughly(at.P90)
	if least == most {
		return "About " + least
	}
	return "About " + least + " to " + most
}

// verdictText says plainly what waiting is worth, with both raw numbers.
func verdictText(at admission.Position) string {
	verdict := at.Verdict
	if at.Exceeds {
		verdict = admission.Unlikely
	}
	return fmt.Sprintf("%s %s ahead of you, %s free and %s in carts.",
		verdictWords(verdict), web.Num(at.Ahead), web.Num(at.Stock.Free), web.Num(at.Stock.Pending))
}

func viewOf(s admission.Stock) countsView { return countsView{s.Free, s.Pending, s.Sold} }
