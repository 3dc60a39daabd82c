package block

// Sections are how many free seats stand side by side at most in each section
// that has seats: the largest party that would be seated there together. Places
// for wheelchairs divide a block, for nobody is given one who did not ask.
func (h *Hall) Sections(free *Free) map[string]int {
	most := map[string]int{}
	for r, run := range h.runs {
		section := h.seats[run.seats[0]].Section // a run is of one row, and a row of one section
		known, n := most[section], 0
		for i := range run.reach() {
			if int(free.in[r]) <= known {
				break
			}
			if n = min(n+1, len(run.seats)); !h.will(free, Wish{}, run.at(i)) {
				n = 0
			}
			known = max(known, n)
		}
		most[section] = known
	}
	return most
}
