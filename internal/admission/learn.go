package admission

import "time"

// learnWeight is how many people a first guess counts for (R6, R7).
const learnWeight = 20

// What is expected of a sale of which nothing is known yet.
const (
	usualShare   = 0.4
	usualTickets = 3.0
)

// From this stock on it can go before the first answer comes; below it there is
// too little of it to be that careful with.
const largeStock = 100

// doubt is how much more the share may be than was expected.
const doubt = 1.3

// expects is the first guess of share and tickets: what people are told.
func (s Sale) expects() (share, tickets float64) {
	share, tickets = usualShare, min(usualTickets, s.most())
	if s.SharePrior > 0 && s.SharePrior <= 1 {
		share = s.SharePrior
	}
	if s.TicketsPrior >= 1 && s.TicketsPrior <= mostGuessed {
		tickets = s.TicketsPrior
	}
	return share, tickets
}

// fears is the first guess that the stock is guarded with: for a large one of
// which the organiser knows nothing, that everybody takes all they may (R6).
func (s Sale) fears(stock int64) (share, tickets float64) {
	share, tickets = s.expects()
	share = min(1, doubt*share)
	if stock >= largeStock && s.SharePrior == 0 {
		share = 1
	}
	if stock >= largeStock && s.TicketsPrior == 0 {
		tickets = s.most()
	}
	return share, tickets
}

// most is how many tickets one person may buy.
func (s Sale) most() float64 { return float64(max(1, min(s.OrderLimit, s.PassQuota))) }

// learnt is what those let in have shown so far: how many want to buy, how
// many tickets, how soon (R6).
type learnt struct {
	wanted, asked int64
	thinking      time.Duration // from pass to claim, of those who wanted

	wants, gones ages // who asked for tickets, and who left without

	// Worked out by refresh.
	want    float64   // share of all let in who have asked by now, at their age
	open    float64   // share who did neither yet
	survive []float64 // of those who will ask: who have not by that age (1 − F)

	// Of those who gave no sign of life and asked for nothing: who gave the
	// pass back, and whose pass ran out.
	left, ranOut int64
}

// ages counts people by the age of their pass in seconds.
type ages []float64

// oldest is the age from which ages are not told apart any more.
const oldest = 3600

func (a *ages) add(age time.Duration, people float64) {
	i := min(max(0, int(age/time.Second)), oldest)
	for len(*a) <= i {
		*a = append(*a, 0)
	}
	(*a)[i] += people
}

func (a ages) at(i int) float64 {
	if i < len(a) {
		return a[i]
	}
	return 0
}

// asks counts somebody who asked for tickets, whether there were any: to learn
// "found nothing" as "did not buy" lets in twice the people.
func (l *learnt) asks(p *pass, tickets int64, at time.Time) {
	l.unleave(p)
	if p.early {
		return
	}
	if !p.wanted {
		p.wanted = true
		l.wanted++
		l.thinking += max(0, at.Sub(p.at))
		l.wants.add(at.Sub(p.at), 1)
	}
	if more := tickets - p.asked; more > 0 {
		p.asked += more
		l.asked += more
	}
}

// leaves counts somebody who is gone and asked for nothing.
func (l *learnt) leaves(p *pass, at time.Time) {
	if !p.early && !p.wanted && p.gone == nil {
		age := at.Sub(p.at)
		p.gone = &age
		l.gones.add(age, 1)
	}
}

// unleave takes that back.
func (l *learnt) unleave(p *pass) {
	if p.gone != nil {
		l.gones.add(*p.gone, -1)
		p.gone = nil
	}
}

// refresh works out the shares from all ages: those inside now, and those of
// them who have likely gone without a word.
//
// Who leaves does so sooner than who buys asks. Counting only those who have
// done either, a sale's first seconds show leavers alone, and let in twice the
// people. So each age has its own shares, of those who reached it: Aalen and
// Johansen's estimate (1978) with the first guess as learnWeight people who
// never do either; once everybody has, it is (wanted + 20 s₀) / (all + 20).
//
// The same for the time to a claim, of those who will claim (Kaplan and Meier,
// 1958), with a claim a minute as the first guess.
func (l *learnt) refresh(inside, quiet ages, share float64) {
	n := max(len(l.wants), len(l.gones), len(inside), len(quiet), 60)
	all, will := make(ages, n+1), make(ages, n+1)
	for a := n - 1; a >= 0; a-- {
		all[a] = all[a+1] + l.wants.at(a) + l.gones.at(a) + quiet.at(a) + inside.at(a)
		will[a] = will[a+1] + l.wants.at(a) + share*inside.at(a)
	}
	l.want, l.open, l.survive = 0, 1, append(l.survive[:0], 1)
	for a := range n {
		wants, ends := l.wants.at(a), l.wants.at(a)+l.gones.at(a)+quiet.at(a)
		l.want += l.open * wants / (all[a] + learnWeight)
		l.open -= l.open * ends / (all[a] + learnWeight)
		l.survive = append(l.survive, l.survive[a]*(1-(wants+learnWeight/60.0)/(will[a]+learnWeight)))
	}
}

// share is ŝ: of those let in, who want to buy.
func (l *learnt) share(prior float64) float64 {
	if len(l.survive) == 0 {
		return prior
	}
	// Those who did neither yet: the first guess counts for as many of them as
	// all who did neither, what was seen so far for the rest.
	return l.want + l.open*(l.open*prior+l.want)
}

// seen is how many have shown what they want.
func (l *learnt) seen() int64 {
	var gone float64
	for _, n := range l.gones {
		gone += n
	}
	return l.wanted + int64(gone)
}

// tickets is k̂: what each who wants to buy asks for, found or not.
func (l *learnt) tickets(prior float64) float64 {
	return (float64(l.asked) + learnWeight*prior) / (float64(l.wanted) + learnWeight)
}

// mean is the mean time from a pass to its claim.
func (l *learnt) mean() time.Duration {
	const first, weight = 30 * time.Second, 10
	return (l.thinking + weight*first) / time.Duration(l.wanted+weight)
}

// weight is how much of a person a pass without any sign of life still counts
// for: its chance to claim yet, against that of one just let in (R4).
func (l *learnt) weight(age time.Duration, share float64) float64 {
	if len(l.survive) == 0 {
		return 1
	}
	yet := l.survive[min(max(0, int(age/time.Second)), len(l.survive)-1)]
	seen := float64(l.left+learnWeight/2) / float64(l.left+l.ranOut+learnWeight)
	return yet / (share*yet + (1-share)*(1-seen*(1-yet)))
}

// guess is ŝ and k̂, as the stock is guarded with.
func (r *Release) guess() (share, tickets float64) {
	s0, k0 := r.sale.fears(r.stock.Free + r.stock.Pending + r.stock.Sold)
	if r.before.Seen >= wellKnown {
		s0, k0 = r.before.Share, r.before.Tickets
	}
	return r.learnt.share(s0), r.learnt.tickets(k0)
}

// wellKnown is how many people an earlier holder must have seen to be believed.
const wellKnown = 200

// expects is ŝ and k̂, as they are told.
func (r *Release) expects() (share, tickets float64) {
	s0, k0 := r.sale.expects()
	if r.before.Seen > 0 {
		s0, k0 = r.before.Share, r.before.Tickets
	}
	return r.learnt.share(s0), r.learnt.tickets(k0)
}
