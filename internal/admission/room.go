package admission

import "time"

// Within is a count of the people inside, as the organiser's cap means it: who
// was let in and has neither checked out nor ended. A pass counts from its take
// on, silent or not, since whoever is silent may come back; with an order it
// counts as long as that is pending, even when the pass has run out meanwhile.
// It is freed when the order is paid, cancelled or expires, and without any
// order when the pass runs out or was given back a BackAfter ago. Whoever then claims again with
// the same pass is inside again: nobody else is let in until there is room.
type Within struct {
	Take   int64 // people let in when it was counted
	People int64 // of these; takes of which nothing is known count
}

// BackAfter is how long a pass still counts that was given back: claims that it
// made before are in the ledger by then, as orders that count themselves. A claim
// waits 10 s at most, and its statement may take 2 s; were this shorter, slow claims
// would be orders of people whose room somebody else has.
const BackAfter = 12 * time.Second

// room is how many more people may be inside by the organiser's cap. While
// nobody was counted yet there is none. False: there is no cap.
func (r *Release) room(door Door) (people int64, capped bool) {
	if r.sale.MaxInside == 0 {
		return 0, false
	}
	if r.within == nil {
		return 0, true
	}
	inside := r.within.People + max(0, door.Taken-r.within.Take)
	return max(0, r.sale.MaxInside-inside), true
}

// stays learns, from one count to the next, how long people are inside as the cap
// counts them: the time that all of them spent there for each who went (the
// exponential's estimate, which those still inside do not bend).
//
// While nobody has gone yet that grows without end. So it is bounded by what is
// known of the longest: were who came first the first to go, nobody would stay
// longer than the longest stay there really is.
type stays struct {
	at      time.Time // of the last count
	people  int64     // inside then
	gone    int64     // the most who were ever known to have gone
	spent   float64   // seconds, of all who were inside
	left    float64   // who went meanwhile
	came    []mark    // who would still be inside, by when they were first counted
	longest float64   // seconds
}

const (
	usualStay  = 2 * time.Minute // the first guess, for learnWeight people
	stayMemory = 500             // who went before so many weighs half
	// unseenStay is the longest time between two counts that says anything of the
	// people inside: there was no cap meanwhile, or nobody could count.
	unseenStay = 5 * time.Second
)

func (s *stays) see(w Within, at time.Time) {
	gone := max(s.gone, w.Take-w.People)
	if since := at.Sub(s.at); since > 0 && since <= unseenStay {
		s.spent += float64(s.people) * since.Seconds()
		s.left += float64(gone - s.gone)
	}
	if s.left >= stayMemory {
		s.left, s.spent = s.left/2, s.spent/2
	}
	s.at, s.people, s.gone = later(s.at, at), w.People, gone
	s.queue(w.Take)
}

// queue has those who came first go first.
func (s *stays) queue(take int64) {
	if n := len(s.came); n == 0 || s.came[n-1].taken < take {
		s.came = append(s.came, mark{s.at, take})
	}
	for len(s.came) > 0 && s.came[0].taken <= s.gone {
		s.came = s.came[1:]
	}
	if len(s.came) > 0 {
		s.longest = max(s.longest, s.at.Sub(s.came[0].at).Seconds())
	}
}

// stay is the mean of it. 0: there is no cap.
func (r *Release) stay() float64 {
	if r.sale.MaxInside <= 0 {
		return 0
	}
	guess := min(usualStay, r.sale.PassLife).Seconds()
	if r.before.Stay > 0 {
		guess = r.before.Stay
	}
	mean := (r.stays.spent + learnWeight*guess) / (r.stays.left + learnWeight)
	return max(1, min(mean, max(guess, r.stays.longest)))
}

// cappedPace is how many people a second the cap lets in while it is reached: as many
// as go. 0: there is no cap.
func (r *Release) cappedPace() float64 {
	if stay := r.stay(); stay > 0 {
		return float64(r.sale.MaxInside) / stay
	}
	return 0
}

// bounds says that the cap lets in fewer than the rate would: it is reached, or will
// be within a second, and makes room more slowly.
func (r *Release) bounds(room int64) bool {
	return float64(room) < 1+r.rate && r.cappedPace() < r.rate
}

// toCall is how many are worth calling for: who may be let in by stock and
// room, and who will take the room that others make until they come.
func (r *Release) toCall(budget, room int64) int64 {
	leave := float64(r.minute.since(r.taken)) / time.Minute.Seconds() * (r.front.come() + time.Second).Seconds()
	return min(budget, room+int64(leave))
}
