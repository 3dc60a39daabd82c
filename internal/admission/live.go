package admission

import "time"

// Live is what this replica knows at this instant, and how old the oldest of
// its figures is: the holder's, by the clocks of both, or the stock's. A line
// that nobody has released has no figures but the stock.
func (l *Line) Live(now time.Time) (Standing, time.Duration) {
	s := l.standing(now)
	oldest := s.Stock.At
	if _, seen := l.door.last(); seen.Before(oldest) {
		oldest = seen
	}
	if at := time.UnixMilli(s.Figures.At); s.released && at.Before(oldest) {
		oldest = at
	}
	return s, max(0, now.Sub(oldest))
}
